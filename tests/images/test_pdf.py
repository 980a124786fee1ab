"""Scans bound into a PDF: a page of it is an image like any other, found, drawn, hashed and shown."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from proof.errors import ImageError
from proof.images.find import FoundBy, ImageIndex, PageImage
from proof.images.imglist import find_image_lists
from proof.images.load import load_image, load_picture, sha256_of
from proof.images.pdf import PdfPage, file_name, page_labels, stem_of
from proof.locale.notices import in_english
from proof.model.refs import Folio
from proof.text.model import Page

SIZE = (301, 422)
SECOND = Page("WYG_010-1b", Folio.match("1b"), None, "010", 1, ())


def scan(number: int, mode: str = "1") -> Image.Image:
    """A page with as many bars as its number says."""
    image = Image.new("L", SIZE, 255)
    draw = ImageDraw.Draw(image)
    for bar in range(number):
        draw.rectangle((30 + 40 * bar, 40, 49 + 40 * bar, 380), fill=0)
    return image.convert(mode)


def bound(path: Path, pages: int, mode: str = "1", resolution: int = 300) -> Path:
    first, *rest = (scan(number, mode) for number in range(1, pages + 1))
    first.save(path, save_all=True, append_images=rest, resolution=resolution)
    return path


# --- drawing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", [72, 200, 299, 300, 601])
def test_a_bilevel_scan_comes_out_with_its_own_pixels_and_is_shown_so(tmp_path: Path, resolution: int) -> None:
    path = PdfPage(bound(tmp_path / "scan.pdf", 3, resolution=resolution), 2).path
    image, shown = load_image(path), load_picture(path)
    assert image.size == SIZE
    assert np.array_equal(image.pixels, np.asarray(scan(2, "L")))
    assert image.sha256 == sha256_of(path)
    assert shown is not None
    assert np.array_equal(np.asarray(shown.convert("L")), image.pixels)


def test_a_page_that_lies_on_its_side_is_turned_upright_and_one_without_a_scan_drawn_finely(tmp_path: Path) -> None:
    document = pdfium.PdfDocument(bound(tmp_path / "scan.pdf", 1))
    document[0].set_rotation(90)
    document.new_page(420, 595)
    document.save(tmp_path / "changed.pdf")
    document.close()
    turned = load_image(tmp_path / "changed.pdf#1")
    assert np.array_equal(turned.pixels, np.rot90(np.asarray(scan(1, "L")), -1))
    assert load_image(tmp_path / "changed.pdf#2").size == (1750, 2480)  # 300 dots an inch


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        (b"%PDF-1.7 and nothing more", "is not a PDF, or is damaged"),
        (b"", "is not a PDF, or is damaged"),
    ],
)
def test_a_bad_pdf_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "bad.pdf").write_bytes(content)
    with pytest.raises(ImageError, match=rf"bad\.pdf.*{message}"):
        load_image(tmp_path / "bad.pdf#1")
    assert load_picture(tmp_path / "bad.pdf#1") is None


def test_a_page_that_is_not_there_or_beyond_the_limit_is_named(tmp_path: Path) -> None:
    bound(tmp_path / "scan.pdf", 3)
    for number in (0, 4, 99999999999):
        with pytest.raises(ImageError, match=rf"scan.pdf#{number}: there is no such page: the PDF has 3"):
            load_image(tmp_path / f"scan.pdf#{number}")
    with pytest.raises(ImageError, match=r"301 x 422 pixels; the limit is 0\.1 megapixels"):
        load_image(tmp_path / "scan.pdf#1", max_megapixels=0.1)


DRAWING = """
import re, sys
from pathlib import Path
from proof.images.pdf import PdfPage, draw
most = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = most()
drawn = draw(PdfPage(Path(sys.argv[1]), 1), 100)
print((most() - before) / drawn.width / drawn.height)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the most memory that a program had")
def test_a_large_page_is_not_in_memory_three_times(tmp_path: Path) -> None:
    Image.new("1", (6000, 8000), 1).save(tmp_path / "large.pdf", resolution=300)
    command = [sys.executable, "-c", DRAWING, str(tmp_path / "large.pdf")]
    completed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert float(completed.stdout) < 7, "bytes a pixel; Pillow's own are four"


def test_a_pdf_cut_short_costs_its_pages_and_no_more(tmp_path: Path) -> None:
    whole = bound(tmp_path / "whole.pdf", 4, "L").read_bytes()
    for share in range(1, 20):
        (tmp_path / "cut.pdf").write_bytes(whole[: len(whole) * share // 20])
        with suppress(ImageError):  # and nothing else
            load_image(tmp_path / "cut.pdf#4")


# --- finding ----------------------------------------------------------------------------------------------


def test_an_image_list_names_pages_of_a_pdf(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "imglist").mkdir()
    path = PdfPage(bound(tmp_path / "scans" / "wyg.pdf", 4), 4).path
    lines = "010-1a00\tWYG 010-1a\twyg.pdf#3\n010-1b00\tWYG 010-1b\twyg.pdf#4\n"
    (tmp_path / "imglist" / "010.txt").write_text(lines, encoding="utf-8")
    index = ImageIndex([tmp_path / "scans"], find_image_lists(tmp_path / "010.txt"))
    assert index.find(SECOND) == PageImage(path, "", FoundBy.IMAGE_LIST)


def test_a_pdf_called_as_the_text_shows_it_page_for_page_and_a_cover_is_not_taken_for_a_page(tmp_path: Path) -> None:
    bound(tmp_path / "KR1d0030_010.pdf", 4)
    index = ImageIndex([tmp_path])
    images = [index.counted("KR1d0030_010", number, 4) for number in range(4)]
    assert [image and image.path.name for image in images] == [f"KR1d0030_010.pdf#{number}" for number in (1, 2, 3, 4)]
    assert not index.notices
    assert [index.counted("KR1d0030_010", number, 3) for number in range(3)] == [None] * 3
    [notice] = index.notices
    assert "010.pdf has 4 pages, the text of that name 3" in in_english(notice)


def test_a_label_in_the_pdf_is_a_name_of_the_page(tmp_path: Path) -> None:
    file = bound(tmp_path / "wyg.pdf", 2)
    labels = b"/Type /Catalog /PageLabels << /Nums [0 << /P (010-1a) >> 1 << /P (010-1b) >>] >>"
    file.write_bytes(file.read_bytes().replace(b"/Type /Catalog", labels))
    assert page_labels(file) == ["010-1a", "010-1b"]
    assert ImageIndex([tmp_path]).find(SECOND) == PageImage(tmp_path / "wyg.pdf#2", "", FoundBy.NAME)


def test_the_pages_of_a_pdf_come_in_their_order_among_the_images_and_a_damaged_one_costs_a_notice(
    tmp_path: Path,
) -> None:
    bound(tmp_path / "b.pdf", 12)
    scan(1).save(tmp_path / "a.png")
    scan(1).save(tmp_path / "c.png")
    (tmp_path / "bad.pdf").write_bytes(b"nothing")
    index = ImageIndex([tmp_path])
    assert [name for name, _ in index.sequence()] == ["a", *(f"b-{n}" for n in range(1, 13)), "c"]
    assert index.assigned("b.pdf#7") == PageImage(tmp_path / "b.pdf#7", "", FoundBy.ASSIGNED)
    [notice] = index.notices
    assert "bad.pdf: is not a PDF" in in_english(notice)


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1), st.integers(0, 10**9))
def test_what_addresses_a_page_is_read_back_and_told_to_other_programs_as_a_file(name: str, number: int) -> None:
    page = PdfPage(Path("scans") / f"{name}.pdf", number)
    assert PdfPage.match(page.path) == page
    assert PdfPage.match(page.file) is None
    assert stem_of(page.path) == f"{page.file.stem}-{number}"
    assert file_name(page.path) == f"{stem_of(page.path)}.png"  # as `pdftoppm -png scan.pdf scan` calls it
    assert file_name(Path("WYG0103-0192c.png")) == "WYG0103-0192c.png"
