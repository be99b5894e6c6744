"""Reads the text of PDF files."""

import pypdfium2
from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

MAX_TEXT = 20_000_000  # characters of a document
_MAX_PAGE = 1_000_000  # characters of a page

READER = str(pypdfium2.PDFIUM_INFO)


def read_pdf(body: bytes) -> tuple[str, str, str]:
    """Read a PDF file. Returns its text, its title and its problem.

    The text has the lines of the file, and an empty line between pages. The problem is "",
    "encrypted pdf", "unreadable pdf", or "scanned pdf" if the file has no text.
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
            continue  # the other pages may be readable
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
        page.close()  # closes its text page too
    # PDFium writes U+FFFE for the hyphen of a word that is broken at the end of a line.
    text = text.replace("\ufffe", "-").replace("\r\n", "\n").replace("\0", "")
    return text.strip()
