"""Tables on A4 pages, as PDFium reads them."""

from __future__ import annotations

from pypdfium2 import PdfDocument

from proof.exports.pdf_table import SIMPLIFIED, TRADITIONAL, table_pdf, wrapped


def test_rows_go_on_to_further_pages_and_are_read_as_text() -> None:
    rows = [(f"版本 {number}", f"SHA-256 {'0123456789abcdef' * 4}") for number in range(60)]
    document = PdfDocument(table_pdf(TRADITIONAL, "大射儀𠔻", "校勘證書", rows, "zh-Hant"))
    assert len(document) > 1
    text = "".join(page.get_textpage().get_text_range() for page in document)
    assert all(part in text for part in ("大射儀𠔻", "校勘證書", "版本 0", "版本 59"))
    assert document.get_metadata_value("Title") == "大射儀𠔻: 校勘證書"


def test_a_row_that_is_higher_than_a_page_goes_on_on_the_next() -> None:
    people = ", ".join(f"reader-{number} (1,000)" for number in range(400))
    document = PdfDocument(table_pdf(TRADITIONAL, "大射儀", "校勘證書", [("Pages proofread by", people)], "en"))
    for number in (0, 200, 399):
        page = next(page for page in document if f"reader-{number} " in page.get_textpage().get_text_range())
        textpage = page.get_textpage()
        place, _ = textpage.search(f"reader-{number} ").get_next()
        assert textpage.get_charbox(place)[1] > 0, "it stands on the page"


def test_a_simplified_table_has_its_own_font() -> None:
    document = PdfDocument(table_pdf(SIMPLIFIED, "礼记", "校勘证书", [("字数", "1,024")], "zh-Hans"))
    assert document[0].get_textpage().get_text_range().split() == ["礼记", "校勘证书", "字数", "1,024"]


def test_lines_break_between_words_and_between_chinese_characters() -> None:
    size, width = 10.0, 60.0
    assert list(wrapped("大射儀第七之三", TRADITIONAL, size, width)) == ["大射儀第七之", "三"]
    assert list(wrapped("pages of a book", TRADITIONAL, size, width)) == ["pages of a", "book"]
    broken = list(wrapped("0123456789abcdef" * 2, TRADITIONAL, size, width))
    assert "".join(broken) == "0123456789abcdef" * 2
    assert all(TRADITIONAL.width(line, size) <= width for line in broken)
    assert list(wrapped("", TRADITIONAL, size, width)) == [""]
