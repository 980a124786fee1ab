"""`proof pair`: pages and images that a person matches."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from proof.images.find import ImageIndex
from proof.images.imglist import find_image_lists
from proof.text.read import read_transcription
from tests.sample import lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def book(tmp_path: Path, run: Run) -> Path:
    """A project of three pages; the first has its image, the others' are called by number."""
    lay_out(tmp_path, 3)
    images = sorted((tmp_path / "images").iterdir())
    images[1].rename(images[1].with_name("scan 9.png"))
    images[2].rename(images[2].with_name("scan 10.png"))
    assert run("init").returncode == 0
    return tmp_path


def shown(folder: Path) -> list[str | None]:
    """The image of each page, as a check finds it."""
    text = read_transcription(folder / "text.txt")
    index = ImageIndex([folder / "images"], find_image_lists(folder / "text.txt", text.pages), text.pages)
    images = [index.find(page) for page in text.pages]
    return [image.path.name if image else None for image in images]


def test_it_lists_what_has_no_partner_and_writes_nothing(book: Path, run: Run) -> None:
    before = sorted(book.rglob("*"))
    ran = run("pair")
    assert (ran.returncode, ran.stdout) == (0, "010-1b\tscan 9.png\n010-2a\tscan 10.png\n")
    assert "2 of 3 pages have no image" in ran.stderr
    assert "2 of 3 images belong to no page" in ran.stderr
    assert "proof pair --in-order" in ran.stderr
    assert sorted(book.rglob("*")) == before


def test_in_order_pairs_the_rest_one_by_one(book: Path, run: Run) -> None:
    ran = run("pair", "--in-order")
    assert ran.returncode == 0, ran.stderr
    assert "imglist/text.txt: 2 pages" in ran.stderr
    assert shown(book) == ["WYG0103-0192c.png", "scan 9.png", "scan 10.png"]
    again = run("pair", "--in-order")
    assert again.returncode == 2
    assert "there is nothing to pair" in again.stderr


def test_pages_that_are_no_half_folios_are_paired_too(book: Path, run: Run) -> None:
    text = read_transcription(book / "text.txt")
    lines = ["".join(column.source for column in page.columns[:2]) for page in text.pages]
    (book / "text.txt").write_text("".join(f"[{n}]\n{line}\n" for n, line in enumerate(lines, 12)), encoding="utf-8")
    assert run("pair").stdout == "12\tscan 9.png\n13\tscan 10.png\n14\tWYG0103-0192c.png\n"
    ran = run("pair", "--in-order", "13=scan 9.png")
    assert ran.returncode == 0, ran.stderr
    assert shown(book) == [None, "scan 9.png", "scan 10.png"]
    assert "1 of 3 pages have no image" in run("pair").stderr


def test_the_list_in_use_is_written_on(book: Path, run: Run) -> None:
    (book / "imglist").mkdir()
    kept = "# by hand\n010-2a00\tWYG 010-2a\tscan 10.png\n"
    (book / "imglist" / "text.txt").write_text(kept, encoding="utf-8")
    assert run("pair", "010-1b=scan 9.png").returncode == 0
    assert (book / "imglist" / "text.txt").read_text(encoding="utf-8") == f"{kept}010-1b00\t\tscan 9.png\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["010-1b"], "is not a pair: write PAGE=IMAGE"),
        (["010-9b=scan 9.png"], "no page is called 010-9b"),
        (["010-1b=scan 11.png"], "scan 11.png is not an image in the image folders"),
        (["--in-order", "010-1a=scan 9.png", "010-1b=scan 10.png"], "name only the first page and its image"),
        (["--in-order", "010-1a=scan 9a.png"], "there is no image file scan 9a.png"),
    ],
)
def test_wrong_words_are_told_and_nothing_is_written(book: Path, run: Run, words: list[str], message: str) -> None:
    ran = run("pair", *words)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert not (book / "imglist").exists()


def test_a_file_that_is_no_image_list_is_left_alone(book: Path, run: Run) -> None:
    (book / "imglist").mkdir()
    (book / "imglist" / "text.txt").write_text("010-1b,scan 9.png\n", encoding="utf-8")
    ran = run("pair", "010-1b=scan 9.png")
    assert ran.returncode == 2
    assert "imglist/text.txt is not an image list" in ran.stderr
    assert (book / "imglist" / "text.txt").read_text(encoding="utf-8") == "010-1b,scan 9.png\n"


def test_without_a_project_it_asks_for_text_and_images(tmp_path: Path, run: Run) -> None:
    lay_out(tmp_path, 1)
    ran = run("pair")
    assert ran.returncode == 2
    assert "give --texts TEXT --images DIR" in ran.stderr
    assert run("pair", "--texts", "text.txt", "--images", "images").returncode == 0
