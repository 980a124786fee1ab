"""Scans bound into a PDF: a page of it is an image like any other, found, drawn, hashed and shown."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pypdfium2 as pdfium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from proof.errors import ImageError
from proof.images.find import FoundBy, ImageIndex
from proof.images.imglist import find_image_lists
from proof.images.load import load_image, sha256_of
from proof.images.pdf import PdfPage, draw, file_name, page_labels, stem_of
from proof.locale.notices import in_english
from proof.model.refs import Folio
from proof.report.crops import load_picture
from proof.text.model import Page

SIZE = (301, 422)


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


def text_page(folio: str) -> Page:
    return Page(f"WYG_010-{folio}", Folio.match(folio), None, "010", 1, ())


@pytest.mark.parametrize("resolution", [72, 200, 299, 300, 601])
def test_a_bilevel_scan_comes_out_with_its_own_pixels(tmp_path: Path, resolution: int) -> None:
    file = bound(tmp_path / "scan.pdf", 3, resolution=resolution)
    image = load_image(tmp_path / "scan.pdf#2")
    assert image.size == SIZE
    assert np.array_equal(image.pixels, np.asarray(scan(2).convert("L")))
    assert image.sha256 == sha256_of(PdfPage(file, 2).path)


def test_a_photograph_comes_out_nearly_so(tmp_path: Path) -> None:
    bound(tmp_path / "scan.pdf", 2, "L")
    pixels = load_image(tmp_path / "scan.pdf#2").pixels.astype(int)
    assert np.abs(pixels - np.asarray(scan(2, "L"))).mean() < 4


def test_a_page_that_lies_on_its_side_is_turned_upright_at_its_own_resolution(tmp_path: Path) -> None:
    bound(tmp_path / "scan.pdf", 1)
    document = pdfium.PdfDocument(tmp_path / "scan.pdf")
    document[0].set_rotation(90)
    document.save(tmp_path / "turned.pdf")
    document.close()
    image = load_image(tmp_path / "turned.pdf#1")
    assert image.size == SIZE[::-1]
    assert np.array_equal(image.pixels, np.rot90(np.asarray(scan(1).convert("L")), -1))


def test_a_page_without_a_scan_is_drawn_finely_enough_to_read(tmp_path: Path) -> None:
    document = pdfium.PdfDocument.new()
    document.new_page(420, 595)
    document.save(tmp_path / "set.pdf")
    document.close()
    width, height = load_image(tmp_path / "set.pdf#1").size
    assert (width, height) == (1750, 2480)  # 300 dots an inch


def test_what_shows_a_page_is_what_the_check_measured_it_on(tmp_path: Path) -> None:
    path = PdfPage(bound(tmp_path / "scan.pdf", 3), 3).path
    shown = load_picture(path)
    assert shown is not None
    assert shown.size == load_image(path).size
    assert np.array_equal(np.asarray(shown.convert("L")), load_image(path).pixels)


def test_pages_have_hashes_of_their_own_that_follow_the_file(tmp_path: Path) -> None:
    bound(tmp_path / "a.pdf", 3)
    (tmp_path / "b.pdf").write_bytes((tmp_path / "a.pdf").read_bytes())
    bound(tmp_path / "c.pdf", 2)
    hashes = [sha256_of(tmp_path / f"a.pdf#{number}") for number in (1, 2, 3)]
    assert len(set(hashes)) == 3
    assert sha256_of(tmp_path / "b.pdf#2") == hashes[1]
    assert sha256_of(tmp_path / "c.pdf#2") != hashes[1]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.pdf#1", None, "no such file"),
        ("bad.pdf#1", b"%PDF-1.7 and nothing more", "is not a PDF, or is damaged"),
        ("empty.pdf#1", b"", "is not a PDF, or is damaged"),
    ],
)
def test_a_bad_pdf_is_named(tmp_path: Path, name: str, content: bytes | None, told: str) -> None:
    if content is not None:
        (tmp_path / name.removesuffix("#1")).write_bytes(content)
    with pytest.raises(ImageError, match=told) as raised:
        load_image(tmp_path / name)
    assert name.removesuffix("#1") in str(raised.value)
    assert load_picture(tmp_path / name) is None


@pytest.mark.parametrize("number", [0, 4, 99999999999])
def test_a_page_that_the_pdf_does_not_have_is_named(tmp_path: Path, number: int) -> None:
    bound(tmp_path / "scan.pdf", 3)
    with pytest.raises(ImageError, match=rf"scan.pdf#{number}: there is no such page: the PDF has 3"):
        load_image(tmp_path / f"scan.pdf#{number}")


def test_a_page_beyond_the_limit_is_refused_before_it_is_drawn(tmp_path: Path) -> None:
    bound(tmp_path / "scan.pdf", 1)
    with pytest.raises(ImageError, match=r"301 x 422 pixels; the limit is 0\.1 megapixels"):
        load_image(tmp_path / "scan.pdf#1", max_megapixels=0.1)


@pytest.mark.parametrize("mode", ["1", "L"])
@pytest.mark.parametrize("rows", [1, 7, 100, 421, 422, 423])
def test_a_page_drawn_in_bands_is_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, rows: int
) -> None:
    page = PdfPage(bound(tmp_path / "scan.pdf", 2, mode), 2)
    whole = np.asarray(draw(page, 1))
    monkeypatch.setattr("proof.images.pdf.BAND", rows * SIZE[0])
    assert np.array_equal(np.asarray(draw(page, 1)), whole)


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
    said = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert float(said.stdout) < 7, "bytes a pixel; Pillow's own are four"


def test_a_pdf_cut_short_costs_its_pages_and_no_more(tmp_path: Path) -> None:
    whole = bound(tmp_path / "whole.pdf", 4, "L").read_bytes()
    for share in range(1, 20):
        (tmp_path / "cut.pdf").write_bytes(whole[: len(whole) * share // 20])
        with suppress(ImageError):  # and nothing else
            load_image(tmp_path / "cut.pdf#4")


def test_many_threads_draw_at_once(tmp_path: Path) -> None:
    bound(tmp_path / "scan.pdf", 5)
    wrong: list[int] = []

    def look(number: int) -> None:
        for _ in range(5):
            if not np.array_equal(load_image(tmp_path / f"scan.pdf#{number}").pixels, np.asarray(scan(number, "L"))):
                wrong.append(number)

    threads = [threading.Thread(target=look, args=(number,)) for number in (1, 2, 3, 4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- finding ----------------------------------------------------------------------------------------------


def test_an_image_list_names_pages_of_a_pdf(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    bound(tmp_path / "scans" / "wyg.pdf", 4)
    listed = tmp_path / "imglist" / "010.txt"
    listed.parent.mkdir()
    listed.write_text("010-1a00\tWYG 010-1a\twyg.pdf#3\n010-1b00\tWYG 010-1b\twyg.pdf#4\n", encoding="utf-8")
    index = ImageIndex([tmp_path / "scans"], find_image_lists(tmp_path / "010.txt"))
    image = index.find(text_page("1b"))
    assert image is not None
    assert (image.path, image.how) == (tmp_path / "scans" / "wyg.pdf#4", FoundBy.IMAGE_LIST)


def test_a_pdf_called_as_the_text_shows_it_page_for_page(tmp_path: Path) -> None:
    bound(tmp_path / "KR1d0030_010.pdf", 4)
    index = ImageIndex([tmp_path])
    images = [index.counted("KR1d0030_010", number, 4) for number in range(4)]
    assert [image and image.path.name for image in images] == [f"KR1d0030_010.pdf#{number}" for number in (1, 2, 3, 4)]
    assert not index.notices


def test_a_cover_is_not_taken_for_a_page_and_what_to_do_is_said(tmp_path: Path) -> None:
    bound(tmp_path / "010.pdf", 5)
    index = ImageIndex([tmp_path])
    assert [index.counted("010", number, 4) for number in range(4)] == [None] * 4
    assert len(index.notices) == 1
    assert "010.pdf has 5 pages, the text of that name 4" in in_english(index.notices[0])


def test_a_label_in_the_pdf_is_a_name_of_the_page(tmp_path: Path) -> None:
    file = bound(tmp_path / "wyg.pdf", 2)
    labelled = file.read_bytes().replace(
        b"/Type /Catalog", b"/Type /Catalog /PageLabels << /Nums [0 << /P (010-1a) >> 1 << /P (010-1b) >>] >>"
    )
    file.write_bytes(labelled)
    assert page_labels(file) == ["010-1a", "010-1b"]
    image = ImageIndex([tmp_path]).find(text_page("1b"))
    assert image is not None
    assert (image.path.name, image.how) == ("wyg.pdf#2", FoundBy.NAME)


def test_the_pages_of_a_pdf_come_in_their_order_among_the_images(tmp_path: Path) -> None:
    bound(tmp_path / "b.pdf", 12)
    scan(1).save(tmp_path / "a.png")
    scan(1).save(tmp_path / "c.png")
    assert [name for name, _ in ImageIndex([tmp_path]).sequence()] == ["a", *(f"b-{n}" for n in range(1, 13)), "c"]
    assigned = ImageIndex([tmp_path]).assigned("b.pdf#7")
    assert assigned is not None
    assert assigned.path == tmp_path / "b.pdf#7"


def test_a_damaged_pdf_costs_a_notice(tmp_path: Path) -> None:
    (tmp_path / "bad.pdf").write_bytes(b"nothing")
    scan(1).save(tmp_path / "a.png")
    index = ImageIndex([tmp_path])
    assert len(index) == 1
    assert "bad.pdf: is not a PDF" in in_english(index.notices[0])


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1), st.integers(0, 10**9))
def test_what_addresses_a_page_is_read_back(name: str, number: int) -> None:
    page = PdfPage(Path("scans") / f"{name}.pdf", number)
    assert PdfPage.match(page.path) == page
    assert stem_of(page.path) == f"{page.file.stem}-{number}"
    assert PdfPage.match(page.file) is None


def test_other_programs_are_told_a_file_name_and_its_reading_comes_back(tmp_path: Path) -> None:
    path = PdfPage(bound(tmp_path / "scan.pdf", 2), 2).path
    assert file_name(path) == "scan-2.png"  # as `pdftoppm -png scan.pdf scan` calls it
    assert stem_of(Path(file_name(path))) == stem_of(path)
    assert file_name(tmp_path / "WYG0103-0192c.png") == "WYG0103-0192c.png"
