"""`proof fetch` at the shell: from a source to images that pages are found by."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from proof.fetch.index import alone_in
from proof.images.find import FoundBy, ImageIndex
from proof.text.read import read_transcription
from tests.conftest import PATIENCE
from tests.fetch.manifests import book_3, data
from tests.fetch.museum import Handler, Museum, etag_of, page

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
HERE = ("--to", "images", "--pause", "0", "--allow-private")
FIRST, SECOND, THIRD = (f"WYG0103/WYG0103-0192{quadrant}.png" for quadrant in "bcd")
TEXT = "".join(f"<pb:KR1d0030_WYG_{place}>¶\n射{place[-1]}禮¶\n" for place in ("010-1a", "010-1b", "011-1a", "011-1b"))


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "KR1d0030_010.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def kanripo(museum: Museum, tmp_path: Path) -> Path:
    """The image list of a repository of three half-folios, whose images the museum has."""
    folder = tmp_path / "imglist"
    folder.mkdir()
    (folder / "imginfo.cfg").write_text(f"[Versions]\nWYG={museum.url('/wyg/')}\n", encoding="utf-8")
    lines = []
    for number, (folio, file) in enumerate(zip(("1a", "1b", "2a"), (FIRST, SECOND, THIRD), strict=True)):
        lines.append(f"010-{folio}00\tWYG 010-{folio}\t{file}\n")
        museum.files[f"/wyg/{file}"] = page(number)
    path = folder / "KR1d0030_010.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def iiif(museum: Museum, labels: list[str]) -> str:
    """The address of a manifest with these labels."""
    museum.files["/manifest"] = data(book_3(labels, museum.url("/i")))
    for number in range(1, len(labels) + 1):
        museum.files[f"/i/p{number}/full/max/0/default.jpg"] = page(number, "JPEG")
    return museum.url("/manifest")


def test_a_kanripo_repository_becomes_images_of_its_pages(run: Run, tmp_path: Path, text: Path, kanripo: Path) -> None:
    ran = run("fetch", "imglist", *HERE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "images: images fetched: 3" in ran.stdout
    first = ImageIndex([tmp_path / "images"], [kanripo]).find(read_transcription(text).pages[0])
    assert first is not None
    assert (first.how, first.path.read_bytes()) == (FoundBy.IMAGE_LIST, page(0))


@pytest.mark.usefixtures("kanripo")
def test_a_dry_run_lists_addresses_and_a_part_is_fetched_alone(museum: Museum, run: Run, tmp_path: Path) -> None:
    ran = run("fetch", "imglist", *HERE, "--dry-run")
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[0] == f"1\t010-1a\t\t{FIRST}\t{museum.url('/wyg/' + FIRST)}"
    assert museum.asked == []
    assert not (tmp_path / "images").exists()
    assert run("fetch", "imglist", *HERE, "--only", "010-1a").returncode == 0
    assert museum.paths() == [f"/wyg/{FIRST}"]
    assert run("fetch", "imglist", *HERE, "--dry-run").stdout.splitlines()[0].endswith("\tthere")


def test_a_manifest_that_names_half_folios_needs_no_list(museum: Museum, run: Run, tmp_path: Path, text: Path) -> None:
    ran = run("fetch", iiif(museum, ["封面", "卷十 一葉上", "卷十 一葉下"]), *HERE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "terms: Provided by Example Library" in ran.stdout
    index = ImageIndex([tmp_path / "images"])
    images = [index.find(each) for each in read_transcription(text).pages]
    assert [image and image.path.read_bytes() for image in images] == [page(2, "JPEG"), page(3, "JPEG"), None, None]


def test_another_manifest_gets_a_list_in_the_texts_order(museum: Museum, run: Run, tmp_path: Path, text: Path) -> None:
    (tmp_path / "config.toml").write_text('[project]\ntexts = ["KR1d0030_010.txt"]\n', encoding="utf-8")
    where = iiif(museum, ["cover", "p. 1", "p. 2", "p. 3", "p. 4"])
    ran = run("fetch", where, *HERE)
    assert "--numbers 5- --first 010-1a --list FILE" in ran.stderr
    asked = len(museum.asked)
    ran = run("fetch", where, *HERE, "--numbers", "2-", "--first", "010-1a", "--list", "wyg.txt")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(museum.asked) == asked
    index = ImageIndex([tmp_path / "images"], [tmp_path / "wyg.txt"])
    shown = run("fetch", where, *HERE, "--numbers", "3", "--first", "010-1a", "--list", "x", "--dry-run").stdout
    assert shown.split("\t")[:4] == ["3", "010-1a", "p. 2", "儀禮集釋/0003.jpg"]
    for number, each in enumerate(read_transcription(text).pages, start=2):
        image = index.find(each)
        assert image is not None
        assert image.path.read_bytes() == page(number, "JPEG")


@pytest.mark.usefixtures("kanripo")
def test_two_do_not_fetch_into_one_folder_at_once(museum: Museum, run: Run, tmp_path: Path) -> None:
    with alone_in(tmp_path / "images"):
        ran = run("fetch", "imglist", *HERE)
    assert ran.returncode == 2
    assert "images: another `proof fetch` is running in this folder" in ran.stderr
    assert museum.asked == []
    assert run("fetch", "imglist", *HERE).returncode == 0


@pytest.mark.usefixtures("kanripo")
def test_what_failed_is_listed_with_why(museum: Museum, run: Run) -> None:
    museum.files[f"/wyg/{SECOND}"] = b"<html><title>Sorry</title>"
    del museum.files[f"/wyg/{THIRD}"]
    ran = run("fetch", "imglist", *HERE)
    assert ran.returncode == 1
    assert "images: images fetched: 1" in ran.stdout
    first, second = ran.stderr.splitlines()
    assert first.startswith(f"not fetched: {SECOND}: http://127.0.0.1")
    assert first.endswith("the server sends a web page (Sorry), not an image")
    assert second.endswith("the server answers 404 Not Found")


@pytest.mark.usefixtures("kanripo")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("http://example.org/m", "no folder for the images"),
        ("ftp://example.org/m --to x", "must begin with http"),
        ("nothing.json --to x", "nothing.json: cannot be read"),
        ("imglist --to x --list l.txt", "--list is for IIIF manifests"),
        ("imglist --to x --width 800", "--width is for IIIF manifests"),
        ("imglist --to x --first 010-1a", "--list FILE"),
        ("imglist --to x --only 099", "no 099"),
        ("imglist --to x --numbers 9", "no images 9"),
        ("imglist --to imglist/imginfo.cfg/x", "cannot be written"),
    ],
)
def test_wrong_usage_is_told(museum: Museum, run: Run, line: str, message: str) -> None:
    ran = run("fetch", *line.split())
    assert ran.returncode == 2
    assert message in ran.stderr
    assert museum.asked == []


@pytest.mark.slow
@pytest.mark.usefixtures("kanripo")
def test_ctrl_c_in_mid_file_is_gone_on_from(museum: Museum, run: Run, tmp_path: Path) -> None:
    second, over = f"/wyg/{SECOND}", Event()

    def stall(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(page(1))))
        handler.send_header("ETag", etag_of(page(1)))
        handler.end_headers()
        handler.wfile.write(page(1)[:20_000])
        handler.wfile.flush()
        over.wait(PATIENCE)

    museum.next[second].append(stall)
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "proof", "fetch", "imglist", *HERE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    part = tmp_path / "images" / "WYG0103" / ".WYG0103-0192c.png.part"
    until = time.monotonic() + PATIENCE
    while not (part.exists() and part.stat().st_size):
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=PATIENCE)
    over.set()
    left = part.stat().st_size
    assert process.returncode == 130
    assert "stopped, images that are there: 1 of 3; the same command continues from there" in output
    assert run("fetch", "imglist", *HERE).returncode == 0
    asked = [headers for path, headers in museum.asked if path == second]
    assert asked[1]["range"] == f"bytes={left}-"
    assert (tmp_path / "images" / SECOND).read_bytes() == page(1)
