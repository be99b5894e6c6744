"""The extracted text of a body is the text that a reader sees."""

import pickle
import time
from pathlib import Path

import pytest

from fetchers.reading.extract import EXTRACTOR_VERSION, Extracted, extract
from fetchers.triage.signals import SIGNALS_VERSION


def html(body: str, content_type: str = "text/html; charset=utf-8") -> Extracted:
    return extract(body.encode(), content_type)


def text(body: str) -> str:
    return html(body).text


# Visible text


@pytest.mark.parametrize(
    ("page", "seen"),
    [
        ("<b>foo</b>bar <i>b</i>az", "foobar baz"),
        ("H<sub>2</sub>O, 10<sup>6</sup>", "H2O, 106"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("<p>a<p>b<div>c</div>d", "a\nb\nc\nd"),
        ("a<br>b<br/>c<hr>d", "a\nb\nc\nd"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<dl><dt>a<dd>b</dl>", "a\nb"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a\tb\n1\t2"),
        ("<table><tr><td><p>a</p></td><td>b</td></tr></table>", "a\nb"),
        ("<h1>a</h1>b<section>c</section>", "a\nb\nc"),
        ("a  b\n\t c&nbsp;d", "a b c d"),
        ("<pre>a\n  b\n</pre>c\nd", "a\nb\nc d"),
        ("<pre>a\n<pre>b\nc</pre>d\ne</pre>f\ng", "a\nb\nc\nd\ne\nf g"),
        ("<textarea>a\nb</textarea>", "a\nb"),
        ("co\u00adoperate a<wbr>b", "co\u00adoperate ab"),
        ("&lt;p&gt; &amp;amp; &#x41;", "<p> &amp; A"),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("<button>Send</button>now", "Send now"),
        ("<details><summary>a</summary>b</details>", "a\nb"),
        ("<span aria-hidden=true>a</span>", "a"),
        ("<svg><title>no</title><desc>no</desc><text>yes</text></svg>", "yes"),
        ("<math><mi>x</mi><annotation>no</annotation></math>", "x"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢\n漢kan\n漢(kan)"),
        ("a<img alt='no'>b", "ab"),
        ("<plaintext>a <b>c", "a <b>c"),
        ("a\0b&#0;c", "ab\ufffdc"),
        ("<svg><![CDATA[a<b]]></svg>", "a<b"),
        ("a\x1eb\x1fc\x1cd\n\x1de", "a\nb\tc d\ne"),
    ],
)
def test_blocks_are_lines_and_cells_are_separated_by_tabs(page: str, seen: str) -> None:
    assert text(page) == seen


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>no</script>",
        "<style>no</style>",
        "<template>no</template>",
        "<noscript>no</noscript>",
        "<!-- no -->",
        "<div hidden>no <p>no</p></div>",
        "<div hidden><div hidden>no</div></div>",
        "<p style='color:red; DISPLAY : none !important'>no</p>",
        "<p style=visibility:hidden id=x>no</p>",
        "<a style=display:none id=x>no</a>",
        "<p hidden id=x>no</p>",
        "<p style='position: absolute; left: -9999px'>no</p>",
        "<p style='top:-999em;position:fixed !important'>no</p>",
        "<p style='text-indent:-9999px'>no</p>",
        "<p style='position:absolute;clip:rect(0 0 0 0);width:1px'>no</p>",
        "<p style='clip: rect(1px, 1px, 1px, 1px); position:absolute'>no</p>",
        "<p style='font-size:0'>no</p>",
        "<p style='color:red;font-size: 0px;'>no</p>",
        "<datalist><option>no</datalist>",
        "<iframe>no</iframe>",
        "<video>no</video>",
        "<canvas>no</canvas>",
        "<p><title>no</title></p>",
    ],
)
def test_hidden_text_is_not_read(hidden: str) -> None:
    assert text(f"<p>a</p>{hidden}<p>b</p>") == "a\nb"


@pytest.mark.parametrize(
    "shown",
    [
        "<p style='--display:none'>yes</p>",
        "<p style='display:nonesuch'>yes</p>",
        "<p hidden=until-found>yes</p>",
        "<p style='opacity:0;transform:translateY(40px)'>yes</p>",
        "<p style='max-height:0;overflow:hidden'>yes</p>",
        "<p style='position:relative;left:-9999px'>yes</p>",
        "<p style='position:absolute;left:-100%'>yes</p>",
        "<p style='margin-left:-9999px;font-size:0.9em'>yes</p>",
        "<div style='font-size:0'><p class=big>yes</p></div>",
        "<div id=page2 class=hidden style='display: none;'>yes</div>",
        "<div><template shadowrootmode=open><p>yes</p><template>no</template></template></div>",
        "<iframe srcdoc='&lt;p&gt;yes&lt;/p&gt;&lt;script&gt;no&lt;/script&gt;'></iframe>",
    ],
)
def test_text_that_only_looks_hidden_is_read(shown: str) -> None:
    assert text(f"<p>a</p>{shown}<p>b</p>") == "a\nyes\nb"


def test_a_page_that_a_script_shows_is_read() -> None:
    assert text("<html hidden><body style='display:none'><p>a") == "a"


def test_noscript_is_read_only_if_there_is_no_other_text() -> None:
    assert text("<div id=root></div><noscript>Turn <b>it</b> on</noscript>") == "Turn it on"


def test_documents_inside_documents_are_read_to_a_bounded_depth() -> None:
    page = "deep"
    for _ in range(6):
        page = (
            "a<iframe srcdoc='" + page.replace("&", "&amp;").replace("'", "&#39;") + "'></iframe>"
        )
    assert text(page) == "a\na\na"


def test_title_and_words() -> None:
    got = html("<svg><title>no</title></svg><title> The\n title </title><p>one two 세 단어")
    assert (got.kind, got.title) == ("html", "The title")
    assert (got.text, got.words, got.problem) == ("one two 세 단어", 4, "")
    assert got.signals.prose == 4


def test_words_of_scripts_without_spaces_are_counted() -> None:
    assert html("<p>私は本を読みました。").words > 3


def test_the_result_can_be_pickled() -> None:
    got = html("<p>a")
    assert pickle.loads(pickle.dumps(got)) == got
    assert SIGNALS_VERSION in EXTRACTOR_VERSION


# Hostile pages

DEEP = 100_000
N = 30_000


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * DEEP + "end",
        "<div>" * (DEEP * 4) + "end",
        "<span>" * DEEP + "end",
        "<b>" * DEEP + "end",
        "".join(f"<p><b a={n}>" for n in range(N)) + "end",
        "".join(f"<div><font color={n}></div>" for n in range(N)) + "end",
        "".join(f"<b a={n}><table><td></b></table>" for n in range(N)) + "end",
        "<div><p><ul><li><a><b>" * N + "end",
        "<div></x>" * N + "end",
        "<span><p></span></p>" * N + "end",
        "<dd><li>" * N + "end",
        "<table><tr><td>" * N + "end",
        "<table>x" * N + "</table>end",
        "<svg>" * N + "<text>end",
        "<pre>\n" * N + "end",
        "<a " * N + ">end",
        "<p " + " ".join(f'a{n}="<>"' for n in range(N)) + ">end",
        "<p>x</p " + "/".join(f"a{n}" for n in range(N)) + ">end",
        "<" * N + " end",
        "&" * N + " end",
        "<div hidden>" * N + "</div>" * N + "end",
        "<iframe srcdoc='<p>x'></iframe>" * N + "end",
        "<div><template shadowrootmode=open>" * N + "</template></div>" * N + "end",
        " " * N * 10 + "end",
        "<p>x" * N + "end",
        "<!--" * N + "--> end",
        "<script>" * N + "</script>end",
        "<select><option>" * N + "</select>end",
    ],
    ids=lambda page: page[:30],
)
def test_no_page_takes_long(page: str) -> None:
    start = time.process_time()
    assert text(page).endswith("end") or "hidden" in page or "template" in page
    assert time.process_time() - start < 4


def test_text_after_a_tag_with_many_attributes_is_kept() -> None:
    flood = " ".join(f"a{n}" for n in range(3000))
    page = f"<p {flood}>a</p><script>if (i <n {flood}) x</script><!-- <b {flood}> --><p>b</p>"
    assert text(f"<script {flood}>no</script>{page}") == "a\nb"


def test_a_flattened_page_keeps_its_text() -> None:
    page = "".join(f"<div title='<i>{n}'><b id=x>a{n}</b><span>b</span>" for n in range(3000))
    assert text(page).split() == [f"a{n}b" for n in range(3000)]


def test_an_ordinary_long_page_is_not_flattened() -> None:
    rows = "".join(f"<tr><td>{n}<td><b>x</b><p hidden>no" for n in range(3000))
    page = f"<div><ul>{'<li><p>item<br>' * 3000}</ul><table>{rows}</table></div>"
    assert text(page).splitlines()[-1] == "2999\tx"
    assert "no" not in text(page).split()


# Characters

KOREAN = "대한민국의 수도는 서울이며 한강이 도시를 가로지른다. 똠방각하"
JAPANESE = "日本の首都は東京です。ひらがなとカタカナ、①髙"
CHINESE = "中国的首都是北京，这里有许多历史遗迹。"
GERMAN = "Der Präsident überreichte “das Gemälde” – für 5 €."


@pytest.mark.parametrize(
    ("encoding", "label", "words"),
    [
        ("cp949", "euc-kr", KOREAN),
        ("cp949", "ks_c_5601-1987", KOREAN),
        ("cp932", "shift_jis", JAPANESE),
        ("cp932", "x-sjis", JAPANESE),
        ("euc_jp", "euc-jp", "日本の首都は東京です。"),
        ("iso2022_jp", "iso-2022-jp", "日本の首都は東京です。"),
        ("gb18030", "gb2312", CHINESE + "𠀀㐀"),
        ("big5", "big5", "台灣的首都是臺北，人口約兩百六十萬。"),
        ("cp1252", "iso-8859-1", GERMAN),
        ("cp1252", "us-ascii", GERMAN),
        ("koi8_r", "koi8-r", "Столица России - Москва."),
        ("utf-8", "utf-8", KOREAN),
        ("utf-16-le", "utf-16", KOREAN),
    ],
)
def test_declared_encodings(encoding: str, label: str, words: str) -> None:
    body = f"<html><body><p>{words}".encode(encoding)
    assert extract(body, f"text/html; charset={label}").text == words
    assert extract(body, f'text/html;CHARSET = "{label.upper()}"').text == words
    if encoding == "utf-16-le":
        return
    head = f'<meta charset="{label}">'.encode()
    assert extract(head + body, "text/html").text == words
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'.encode()
    assert extract(head + body, "text/html").text == words
    head = f'<?xml version="1.0" encoding="{label}"?>'.encode()
    assert extract(head + body, "application/xhtml+xml").text == words


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    body = f"<meta charset=euc-kr><p>{KOREAN}".encode(encoding)
    assert extract(body, "text/html; charset=iso-8859-1").text == KOREAN
    plain = f"{KOREAN}".encode(encoding)
    assert extract(plain, "text/plain").text == KOREAN


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_undeclared_utf_16(encoding: str) -> None:
    assert extract(f"<p>{KOREAN}".encode(encoding), "text/html").text == KOREAN


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", KOREAN),
        ("cp949", KOREAN),
        ("cp932", JAPANESE),
        ("gb18030", CHINESE),
        ("cp1252", GERMAN),
        ("cp1252", "Le cœur déçu mais l'âme plutôt naïve, Louÿs rêva de crapaüter."),
        ("cp1252", "El pingüino hizo kilómetros bajo exhaustiva lluvia y frío; añoraba."),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
        ("cp1251", "Столица России — Москва, и река течёт через город."),
    ],
)
@pytest.mark.parametrize("label", ["", "utf-8", "nonsense", "utf-7", "idna", "utf-16", "zlib"])
def test_missing_and_wrong_declarations(encoding: str, words: str, label: str) -> None:
    body = f"<html><body><p>{words} {words}".encode(encoding)
    got = extract(body, f"text/html; charset={label}" if label else "text/html")
    assert got.text == f"{words} {words}"


def test_bytes_that_are_valid_in_one_encoding_overrule_the_header() -> None:
    body = f"<meta charset=euc-kr><p>{KOREAN}".encode("cp949")
    assert extract(body, "text/html; charset=iso-8859-1").text == KOREAN


def test_a_few_broken_bytes_are_replaced() -> None:
    body = f"<p>{KOREAN * 10}".encode() + b"\xff<p>" + KOREAN.encode() + b"\xea\xb0"
    assert extract(body, "text/html").text == f"{KOREAN * 10}\ufffd\n{KOREAN}\ufffd"
    cut = f"<p>{KOREAN}".encode("cp949")[:-1]
    assert extract(cut, "text/html; charset=euc-kr").text == KOREAN[:-1]


@pytest.mark.parametrize(
    "body", [bytes(range(256)) * 4, b"\xed\xa0\x80<p>\xed\xb0\x80", b"\xff\xfe\x00\xd8a"]
)
@pytest.mark.parametrize(
    "media", ["text/html", "text/plain", "application/json", "text/xml", "text/csv", ""]
)
def test_the_text_of_any_bytes_can_be_encoded(body: bytes, media: str) -> None:
    got = extract(body, media)
    assert (got.text + got.title).encode() is not None


# Kinds


@pytest.mark.parametrize(
    ("body", "media", "kind"),
    [
        ("<p>a", "text/html", "html"),
        ("<p>a", "TEXT/HTML ; charset=utf-8", "html"),
        ("<html><p>a", "application/xhtml+xml", "html"),
        ("<!doctype html><p>a", "text/plain", "html"),
        ("<?xml version='1.0'?><!DOCTYPE html><html><p>a", "text/xml", "html"),
        ("<!doctype html><p>a", "application/pdf", "html"),
        ("<!doctype html><p>a", "", "html"),
        ("  <h1>a</h1>", "application/octet-stream", "html"),
        ("<p>is a paragraph", "text/plain", "text"),
        ("# a", "text/markdown", "text"),
        ("a", "", "text"),
        ("a,b\n1,2", "text/csv", "csv"),
        ('{"a": 1}', "application/json; charset=utf-8", "json"),
        ('{"a": 1}', "application/ld+json", "json"),
        ('{"a": 1}', "application/octet-stream", "json"),
        ("<rss><channel/></rss>", "application/rss+xml", "xml"),
        ("<?xml version='1.0'?><rss/>", "text/html", "xml"),
        ("<feed/>", "", "xml"),
        ("a", "application/javascript", "text"),
        ("ID3 tags, explained", "text/plain", "text"),
        ("RIFFs of the year", "text/html", "html"),
    ],
)
def test_the_header_decides_the_kind_unless_the_body_is_clearly_another(
    body: str, media: str, kind: str
) -> None:
    assert extract(body.encode(), media).kind == kind


@pytest.mark.parametrize(
    ("body", "media", "problem"),
    [
        (b"", "text/html", "empty"),
        (b" \r\n\0", "application/pdf", "empty"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "not a text: image/png"),
        (b"\x89PNG\r\n\x1a\n", "text/html", "not a text: image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "", "not a text: image/jpeg"),
        (b"a", "video/mp4", "not a text: video/mp4"),
        (b"PK\x03\x04", "application/zip", "not a text: application/zip"),
        (
            b"PK\x03\x04....word/document.xml",
            "application/octet-stream",
            "not a text: application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (b"\x01\x02\x03", "", "not a text: binary data"),
        (b"a", "font/woff2", "not a text: font/woff2"),
    ],
)
def test_a_binary_body_is_reported_with_its_type(body: bytes, media: str, problem: str) -> None:
    got = extract(body, media)
    assert (got.problem, got.text, got.words) == (problem, "", 0)


def test_plain_text_is_unchanged() -> None:
    assert extract(b"a  <b>\r\n&amp; c", "text/plain").text == "a  <b>\n&amp; c"


def test_json_is_its_source_and_its_unescaped_strings() -> None:
    plain = '{"name": "Ada", "born": 1815}'
    assert extract(plain.encode(), "application/json").text == plain
    source = r'{"caf\u00e9": ["say \"yes\"", {"a": "b"}]}'
    got = extract(source.encode(), "application/json")
    assert got.text == source + '\ncafé\nsay "yes"\na\nb'
    for broken in (r'{"a\u00e9": ', r'{"\ud800": 1}', "[" * N + r'"\n"'):
        assert extract(broken.encode(), "application/json").text == broken


def test_xml_is_the_text_of_its_elements() -> None:
    source = """<?xml version="1.0" encoding="utf-8"?><?s x?><rss><channel><title>News <!-- a -->
    today</title><item><link>http://a.org/</link>
    <description>&lt;p&gt;It &lt;b&gt;rained&lt;/b&gt;.&lt;/p&gt;</description>
    <content><![CDATA[<p>Hard.</p>]]></content><a>x < y</a></item></channel></rss>"""
    got = extract(source.encode(), "text/xml")
    assert got.title == "News today"
    assert {"http://a.org/", "It rained.", "Hard."} <= set(got.text.splitlines())


def test_xml_entities_are_neither_expanded_nor_looked_up(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 20))
    source = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e0 "ha">{lines}'
        f'<!ENTITY file SYSTEM "{secret.as_uri()}">]><x>before &e19; &file; after</x>'
    )
    start = time.process_time()
    got = extract(source.encode(), "text/xml")
    assert time.process_time() - start < 1
    assert "before" in got.text
    assert "hunter2" not in got.text
    assert len(got.text) < 1000


@pytest.mark.parametrize(
    "body",
    ["<a>" * N + "end", "<a>x</b>end", "<?xml version='1.0'?>", "<a " * N, "&" * N, "<a>\0</a>"],
)
def test_broken_xml_raises_nothing(body: str) -> None:
    start = time.process_time()
    extract(body.encode(), "text/xml")
    assert time.process_time() - start < 2


# PDF


def pdf(*pages: str, more: str = "") -> bytes:
    """A PDF file with these lines of text."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, page in enumerate(pages):
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in page.splitlines())
        stream = f"BT /F 12 Tf 50 700 Td {lines} ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * n} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    objects.append("<< /Title (On  rain) >>")
    out = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        out
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Size {size} /Root 1 0 R "
            f"/Info {size - 1} 0 R {more} >>\nstartxref\n{len(out)}\n%%EOF"
        ).encode()
    )


@pytest.mark.parametrize("media", ["application/pdf", "text/html", "application/octet-stream", ""])
def test_all_pages_of_a_pdf_are_read_for_any_media_type(media: str) -> None:
    got = extract(pdf("It rained\nfor days", "then it stopped"), media)
    assert (got.kind, got.problem, got.title) == ("pdf", "", "On rain")
    assert got.text == "It rained\nfor days\n\nthen it stopped"
    assert got.words == 7


def test_pdfs_without_text_have_a_problem() -> None:
    locked = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{0}> /U <{0}> >> /ID [<00> <00>]"
    problems = {
        "scanned pdf": pdf("", ""),
        "encrypted pdf": pdf("secret", more=locked.format("00" * 32)),
        "unreadable pdf": b"%PDF-1.4 and nothing else",
    }
    for problem, body in problems.items():
        got = extract(body, "application/pdf")
        assert (got.kind, got.text, got.problem) == ("pdf", "", problem)


def test_a_damaged_pdf_raises_nothing() -> None:
    whole = pdf(*(f"page {n}" for n in range(20)))
    assert extract(whole[: len(whole) - 200], "application/pdf").kind == "pdf"
    for cut in range(20, len(whole), 171):
        extract(whole[:cut], "application/pdf")
