"""What bad input gets: a message that names file and line; it costs its own page, and what was done stays.

Everything goes through the command line, with the real recogniser, on the sample's pages.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from proof.cli import main
from tests.sample import lay_out

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
Ran = subprocess.CompletedProcess[str]
Material = Callable[[int], Path]
Run = Callable[..., Ran]
CHECK = ("check", "text.txt", "--images", "images", "--out", "out")


def summary_of(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return read


def flags_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "flags.jsonl").read_text(encoding="utf-8").splitlines()]


def raised(out: Path, page: str) -> list[tuple[int, int, str, str]]:
    return [
        (flag["line"], flag["offset"], flag["transcribed"], flag["suggested"])
        for flag in flags_of(out)
        if flag["page"] == page and flag["raised"]
    ]


# Images. One run over twelve pages, most of them spoilt, each in another way.

SPOILT: dict[str, Callable[[Path], None]] = {}
"""What is done to the image of a page, by the page's id."""


def spoils(page: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def note(spoil: Callable[[Path], None]) -> Callable[[Path], None]:
        SPOILT[page] = spoil
        return spoil

    return note


@spoils("WYG0103-0192c")
def is_missing(image: Path) -> None:
    image.unlink()


@spoils("WYG0103-0193a")
def is_cut_short(image: Path) -> None:
    image.write_bytes(image.read_bytes()[:20_000])


@spoils("WYG0103-0193b")
def is_a_decompression_bomb(image: Path) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes(60_001) * 100)
    image.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


@spoils("WYG0103-0193c")
def is_animated(image: Path) -> None:
    with Image.open(image) as opened:
        first = opened.convert("L")
    image.unlink()
    second = first.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    first.save(image.with_suffix(".gif"), save_all=True, append_images=[second])


@spoils("WYG0103-0194b")
def is_one_pixel(image: Path) -> None:
    Image.new("L", (1, 1)).save(image)


@spoils("WYG0103-0194c")
def is_no_image(image: Path) -> None:
    image.write_text("<html>404 Not Found</html>")


@spoils("WYG0103-0195a")
def is_empty(image: Path) -> None:
    image.write_bytes(b"")


@spoils("WYG0103-0192d")
def is_cmyk(image: Path) -> None:
    with Image.open(image) as opened:
        picture = opened.convert("CMYK")
    image.unlink()
    picture.save(image.with_suffix(".tif"))


@spoils("WYG0103-0193d")
def is_of_sixteen_bits(image: Path) -> None:
    with Image.open(image) as opened:
        grey = np.asarray(opened.convert("L")).astype(np.uint16) * 257
    Image.fromarray(grey).save(image)


@spoils("WYG0103-0194a")
def has_a_palette(image: Path) -> None:
    with Image.open(image) as opened:
        opened.convert("L").quantize(8).save(image)


PAGES = 12


@dataclass(frozen=True)
class Spoilt:
    """A run over spoilt images, and one over the same pages as they were."""

    ran: Ran
    out: Path
    whole: Path
    images: Path


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Spoilt:
    folder = tmp_path_factory.mktemp("spoilt")
    images = lay_out(folder, PAGES) / "images"

    def check(out: str) -> Ran:
        words = ["check", str(folder / "text.txt"), "--images", str(images), "--out", str(folder / out)]
        with redirect_stdout(StringIO()) as said, redirect_stderr(StringIO()) as complained:
            status = main(words)
        return Ran(words, status, said.getvalue(), complained.getvalue())

    assert check("whole").returncode == 0
    for page, spoil in SPOILT.items():
        spoil(images / f"{page}.png")
    return Spoilt(check("out"), folder / "out", folder / "whole", images)


@pytest.mark.parametrize(
    ("page", "file", "said"),
    [
        ("WYG0103-0193a", "WYG0103-0193a.png", "is cut short or damaged"),
        ("WYG0103-0193b", "WYG0103-0193b.png", "has more than 100 megapixels"),
        ("WYG0103-0193c", "WYG0103-0193c.gif", "holds 2 frames"),
        ("WYG0103-0194b", "WYG0103-0194b.png", "has only 1 x 1 pixels"),
        ("WYG0103-0194c", "WYG0103-0194c.png", "is not an image of a known kind"),
        ("WYG0103-0195a", "WYG0103-0195a.png", "is empty"),
    ],
)
def test_an_image_that_cannot_be_used_fails_its_page_and_is_named(
    spoilt: Spoilt, page: str, file: str, said: str
) -> None:
    assert spoilt.ran.returncode == 1
    told = [line for line in spoilt.ran.stderr.splitlines() if line.startswith(f"{page}: failed: ")]
    assert len(told) == 1
    assert f"{spoilt.images / file}: {said}" in told[0]
    assert summary_of(spoilt.out)["pages"][page].startswith(f"failed: {spoilt.images / file}: {said}")


@pytest.mark.parametrize("page", ["WYG0103-0192d", "WYG0103-0193d", "WYG0103-0194a"])
def test_cmyk_sixteen_bits_and_palettes_are_read_like_any_other_image(spoilt: Spoilt, page: str) -> None:
    assert summary_of(spoilt.out)["pages"][page] == "checked"
    assert raised(spoilt.out, page) == raised(spoilt.whole, page) != []


# Texts


def change(folder: Path, old: str, new: str) -> int:
    """Change the text; gives the line on which the change stands."""
    text = (folder / "text.txt").read_text(encoding="utf-8")
    assert old in text
    (folder / "text.txt").write_text(text.replace(old, new, 1), encoding="utf-8")
    return text.count("\n", 0, text.index(old)) + 1


def test_a_damaged_byte_is_named_with_its_line(material: Material, run: Run) -> None:
    folder = material(1)
    lines = (folder / "text.txt").read_bytes().split(b"\n")
    lines[8] = lines[8][:6] + b"\xff" + lines[8][6:]
    (folder / "text.txt").write_bytes(b"\n".join(lines))
    ran = run(*CHECK)
    assert ran.returncode == 2
    assert f"{folder / 'text.txt'}:9: byte 0xFF is damaged" in ran.stderr


def test_a_text_that_cannot_be_read_costs_no_other_text(material: Material, run: Run) -> None:
    folder = material(1)
    (folder / "bad.txt").write_bytes("卷十 第 1a 页".encode() + b"\n\xff\xff\n")
    ran = run("check", "bad.txt", *CHECK[1:])
    assert ran.returncode == 1
    assert f"not checked: {folder / 'bad.txt'}:2: " in ran.stderr
    assert list(summary_of(folder / "out")["pages"].values()) == ["checked"]


@pytest.mark.parametrize("spoil", ["bom", "crlf"])
def test_a_byte_order_mark_or_crlf_changes_no_finding(material: Material, run: Run, spoil: str) -> None:
    folder = material(2)
    run(*CHECK)
    before = (folder / "out" / "flags.jsonl").read_bytes()
    data = (folder / "text.txt").read_bytes()
    (folder / "text.txt").write_bytes(b"\xef\xbb\xbf" + data if spoil == "bom" else data.replace(b"\n", b"\r\n"))
    assert run(*CHECK).returncode == 0
    assert (folder / "out" / "flags.jsonl").read_bytes() == before
    assert raised(folder / "out", "WYG0103-0192d") == [(5, 9, "北", "比")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("讹作北据)", "讹作北据", "column 5: a note is not closed"),
        ("(唐石经及/", "唐石经及/", "column 6: a "),
        ("司射自西阶上", "司射自&NONE;阶上", "the entity &NONE; is not known"),
    ],
)
def test_broken_markup_is_told_with_its_line_and_the_page_is_checked(
    material: Material, run: Run, old: str, new: str, said: str
) -> None:
    folder = material(3)
    line = change(folder, old, new)
    ran = run(*CHECK)
    assert ran.returncode == 0
    assert re.search(
        rf"{re.escape(str(folder / 'text.txt'))}:{line}: page WYG0103-0192d, .*{re.escape(said)}", ran.stderr
    )
    assert set(summary_of(folder / "out")["pages"].values()) == {"checked"}
    assert (5, 9, "北", "比") in raised(folder / "out", "WYG0103-0192d")


def test_an_empty_page_costs_itself(material: Material, run: Run) -> None:
    folder = material(3)
    text = (folder / "text.txt").read_text(encoding="utf-8")
    mark = text.index("卷十 第 1b")
    after = text.index("\n", mark) + 1
    (folder / "text.txt").write_text(text[:after] + text[text.index("卷十 第 2a") :], encoding="utf-8")
    ran = run(*CHECK)
    line = text.count("\n", 0, mark) + 1
    assert f"{folder / 'text.txt'}:{line}: page WYG0103-0192d has no column" in ran.stderr
    pages = summary_of(folder / "out")["pages"]
    assert len(pages) == 3
    assert pages["WYG0103-0192c"] == pages["WYG0103-0193a"] == "checked"
    assert {flag["kind"] for flag in flags_of(folder / "out") if flag["page"] == "WYG0103-0192d"} <= {"layout"}


def test_ten_thousand_columns_on_a_page_cost_that_page(material: Material, run: Run) -> None:
    folder = material(3)
    line = change(folder, "卷十 第 2a", "司射适西阶西倚扑升自西阶东面请射于公\n" * 10_000 + "卷十 第 2a") - 9
    ran = run(*CHECK)
    assert ran.returncode in (0, 1)
    assert f"{folder / 'text.txt'}:{line}: page WYG0103-0192d has 100" in ran.stderr
    assert "is a page mark missing?" in ran.stderr
    pages = summary_of(folder / "out")["pages"]
    assert pages["WYG0103-0192c"] == pages["WYG0103-0193a"] == "checked"


@pytest.mark.parametrize(
    ("content", "said"), [("", "is empty"), ("司射适西阶西\n", "none of the 1 images shows this text")]
)
def test_a_text_without_pages_is_no_transcription(material: Material, run: Run, content: str, said: str) -> None:
    folder = material(1)
    (folder / "text.txt").write_text(content, encoding="utf-8")
    ran = run(*CHECK)
    assert ran.returncode == 2
    assert f"{folder / 'text.txt'}: " in ran.stderr
    assert said in ran.stderr


# Image lists


@pytest.mark.parametrize("way_out", ["../secret.png", "/etc/secret.png", "C:\\secret.png"])
def test_an_image_list_that_leaves_the_folder_costs_the_page_of_that_line(
    material: Material, run: Run, way_out: str
) -> None:
    folder = material(2)
    shutil.copy(folder / "images" / "WYG0103-0192d.png", folder / "secret.png")
    lines = ["010-1a00\tWYG 010-1a\tWYG0103-0192c.png", f"010-1b00\tWYG 010-1b\t{way_out}"]
    (folder / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = run(*CHECK, "--imglist", "list.txt")
    assert ran.returncode == 1
    pages = summary_of(folder / "out")["pages"]
    assert pages["WYG0103-0192c"] == "checked"
    assert pages["WYG0103-0192d"].startswith(f"failed: {folder / 'list.txt'}:2: {way_out} is outside the image folders")
    assert f"WYG0103-0192d: failed: {folder / 'list.txt'}:2: " in ran.stderr


# Where results go


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_read(material: Material, run: Run) -> None:
    folder = material(1)
    (folder / "file").write_text("not a folder")
    (folder / "config.toml").write_text(
        '[project]\ntexts = ["text.txt"]\nimages = ["images"]\nout = "file/out"\n', encoding="utf-8"
    )
    ran = run("check")
    assert ran.returncode == 2
    assert f"{folder / 'file' / 'out'}: cannot be written to" in ran.stderr
    assert not (folder / "proof.sqlite").exists()
    assert (folder / "file").read_text() == "not a folder"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_folder_without_leave_to_write_is_named(material: Material, run: Run) -> None:
    folder = material(1)
    (folder / "out").mkdir(mode=0o555)
    ran = run(*CHECK)
    assert ran.returncode == 2
    assert f"{folder / 'out'}: cannot be written to" in ran.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with little room: for the store and some five of twelve pages."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only the superuser can make a small disk")
    made = subprocess.run(  # noqa: S603
        [mount, "-t", "tmpfs", "-o", "size=900k", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no small disk can be made here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)  # noqa: S603, S607


def test_a_full_disk_is_named_and_what_was_done_is_kept(
    material: Material, run: Run, small_disk: Path, tmp_path: Path
) -> None:
    material(PAGES)
    line = ("check", small_disk / "text.txt", "--images", "images", "--workers", "1")
    shutil.copy(tmp_path / "text.txt", small_disk)
    ran = run(*line)
    assert ran.returncode == 2
    assert f"{small_disk}" in ran.stderr
    assert "make room" in ran.stderr
    assert not list(small_disk.rglob("*.part"))
    subprocess.run(["mount", "-o", "remount,size=50m", small_disk], check=True)  # noqa: S603, S607
    ran = run(*line)
    assert ran.returncode == 0
    reused = re.search(r"(\d+) reused", ran.stderr)
    assert reused is not None
    assert int(reused[1]) > 0
    assert set(summary_of(small_disk / "out")["pages"].values()) == {"checked"}


def test_a_file_that_may_not_grow_is_named_and_the_reports_before_it_stay(material: Material, run: Run) -> None:
    folder = material(3)
    assert run(*CHECK).returncode == 0
    before = {path.name: path.read_bytes() for path in (folder / "out").glob("[fsr]*.*")}
    change(folder, "之西北耦", "之西比耦")
    limited = f"ulimit -f 16; exec {sys.executable} -m proof report"
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", limited], cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert f"{folder}/" in ran.stderr
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("[fsr]*.*")} == before
    assert list((folder / "out").glob(".*")) == [], "nothing is left lying about"


def test_a_store_that_is_none_is_named_and_left_alone(material: Material, run: Run) -> None:
    folder = material(1)
    (folder / "proof.sqlite").write_text("a letter to my aunt, and not a database at all" * 100)
    ran = run(*CHECK)
    assert ran.returncode == 2
    assert f"{folder / 'proof.sqlite'}: " in ran.stderr
    assert (folder / "proof.sqlite").read_text().startswith("a letter to my aunt")


def test_the_spreadsheet_of_hostile_text_runs_no_formula(material: Material, run: Run) -> None:
    folder = material(1)
    change(folder, "司射适西阶西倚扑", "=1+1射适西阶西倚扑")
    assert run(*CHECK).returncode == 0
    with (folder / "out" / "flags.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) > 1
    assert not [cell for row in rows[1:] for cell in row if cell.startswith(("=", "+"))]
