"""PDF files, object by object, as PDFium and qpdf read them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument

from proof.exports.pdf_file import Name, PdfFile


def test_values_of_every_kind_are_read_by_others(tmp_path: Path) -> None:
    pdf = PdfFile()
    font = pdf.reserve()
    pdf.add_page((100.5, 200), {"Font": {"F": font}}, ["BT /F 12 Tf 10 100 Td (word) Tj ET"])
    pdf.add({"Type": Name("Font"), "Subtype": Name("Type1"), "BaseFont": Name("Helvetica")}, font)
    file = tmp_path / "made.pdf"
    file.write_bytes(pdf.to_bytes("a (bracket\\ and 書"))
    with PdfDocument(file) as document:
        assert document.get_metadata_value("Title") == "a (bracket\\ and 書"
        assert document[0].get_size() == (100.5, 200)
        assert document[0].get_textpage().get_text_range() == "word"
    if qpdf := shutil.which("qpdf"):
        subprocess.run([qpdf, "--check", file], check=True, capture_output=True)  # noqa: S603


def test_a_value_that_pdf_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        PdfFile().add(None)
