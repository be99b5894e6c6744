"""The text of PDF files."""

import pypdfium2
from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

MAX_TEXT = 20_000_000  # characters of a document
_MAX_PAGE = 1_000_000  # characters of a page

READER = str(pypdfium2.PDFIUM_INFO)


def read_pdf(body: bytes) -> tuple[str, str, str]:
    """Text (a line for a line, an empty one between pages), title and problem of a PDF file.

    The problem is "" or one of "encrypted pdf", "unreadable pdf" and "scanned pdf" (without text).
    """
    try:
        document = PdfDocument(body)
    except PdfiumError as error:
        locked = error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        return "", "", "encrypted pdf" if locked else "unreadable pdf"
    try:
        text = _text(document)
        title = document.get_metadata_dict().get("Title", "")
        problem = "" if text else "scanned pdf"
    finally:
        document.close()
    return text, " ".join(title.split()), problem


def _text(document: PdfDocument) -> str:
    pages: list[str] = []
    left = MAX_TEXT
    for number in range(len(document)):
        try:
            page = _page_text(document, number)[:left]
        except PdfiumError:
            continue  # one broken page is no reason to lose the others
        left -= len(page)
        pages.append(page)
        if left <= 0:
            break
    return "\n\n".join(page for page in pages if page)


def _page_text(document: PdfDocument, number: int) -> str:
    page = document[number]
    try:
        read = page.get_textpage()
        count = min(read.count_chars(), _MAX_PAGE)
        text = read.get_text_range(0, count, errors="replace") if count else ""
    finally:
        page.close()  # and what was read of it
    # U+FFFE stands for the hyphen of a word that a line break parts.
    text = text.replace("\ufffe", "-").replace("\r\n", "\n").replace("\0", "")
    return text.strip()
