"""What of the material of a check was of no use is told, and is no success; what it meets twice is told."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sample import lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]
CHECK = ("check", "text.txt", "--images", "images", "--engine", "null")


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """A text of three pages, and images that are called as a telephone calls them."""
    lay_out(tmp_path, 3, images="images")
    for number, image in enumerate(sorted((tmp_path / "images").iterdir())):
        image.rename(image.with_name(f"IMG_{number + 7}.png"))
    return tmp_path


def findings(folder: Path) -> list[str]:
    """The codes of the findings about a run."""
    record = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    return [finding["code"] for finding in record["findings"]]


def test_images_that_belong_to_no_page_are_no_success(phone: Path, run: Run) -> None:
    ran = run(*CHECK)
    assert ran.returncode == 1
    assert (
        f"3 images in {phone}/images belong to no page: call each as its page is called (WYG0103-0192c.png or "
        "10-1a.png), name them in an image list, or match them by hand with `proof pair`"
    ) in ran.stderr
    assert "3 pages, none seen on images, 3 without an image: 0 places flagged" in ran.stdout
    assert findings(phone) == ["images-of-no-page"]


def test_a_name_that_is_proposed_is_found(phone: Path, run: Run) -> None:
    for number, name in ((7, "WYG0103-0192c.png"), (8, "10-1b.png")):
        (phone / "images" / f"IMG_{number}.png").rename(phone / "images" / name)
    ran = run(*CHECK)
    assert "no image: 1 page (WYG0103-0193a)" in ran.stderr
    assert f"one image in {phone}/images belongs to none of these pages; `proof pair` lists" in ran.stderr


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("010-1a,WYG,IMG_7.png\n010-1b,WYG,IMG_8.png\n", "no line understood"),
        ("", "no line understood"),
        ("010-1a00\tWYG 010-1a\tscan_1.png\n", "names scan_1.png for one of these pages"),
        ("010-1a00\tWYG\ta/1.png\n010-1b00\tWYG\ta/2.png\n", "names 2 images of these pages, such as a/1.png"),
    ],
)
def test_an_image_list_of_no_use_is_no_success(phone: Path, run: Run, lines: str, message: str) -> None:
    (phone / "il").mkdir()
    (phone / "il" / "csv.txt").write_text(lines, encoding="utf-8")
    ran = run(*CHECK, "--imglist", "il/csv.txt")
    assert ran.returncode == 1
    [line] = [line for line in ran.stderr.splitlines() if "il/csv.txt" in line]
    assert message in line


def test_a_pdf_that_cannot_be_read_is_no_success(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 1)
    shutil.rmtree(tmp_path / "images")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "text.pdf").write_bytes(b"%PDF-1.4 and no more")
    ran = run(*CHECK)
    assert ran.returncode == 1
    assert "text.pdf: is not a PDF, or is damaged" in ran.stderr


def test_a_page_that_stands_in_two_texts_is_said(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 2)
    shutil.copy(tmp_path / "text.txt", tmp_path / "copy.txt")
    output = run("check", "text.txt", "copy.txt", "--images", "images", "--engine", "null").stderr
    first, second = tmp_path / "text.txt", tmp_path / "copy.txt"
    assert f"2 pages are in several texts, such as WYG0103-0192c in {first} and in {second}" in output
    assert "stand in several texts" not in run("check", "text.txt", "--engine", "null").stderr


def test_images_of_one_name_in_two_folders_are_said(run: Run, tmp_path: Path) -> None:
    lay_out(tmp_path, 2)
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "images" / "WYG0103-0192d.png", tmp_path / "other")
    output = run("check", "text.txt", "--images", "images", "--images", "other", "--engine", "null").stderr
    first, second = (tmp_path / folder / "WYG0103-0192d.png" for folder in ("images", "other"))
    assert f"for one page several images match: {first} is used, not {second}" in output
