"""What a user meets at the shell, on the sample's pages and with the real recogniser."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import proof
from proof.cli import main
from proof.commands.cells import cell_len
from proof.images.load import load_image
from proof.layout.half_folio import find_layout
from proof.ocr.registry import names
from tests.conftest import PATIENCE, Material, Run

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
SURROUNDINGS = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}
Ran = subprocess.CompletedProcess[str]
Demo = tuple[Path, Ran]


def shell(line: str, folder: Path, **environment: str) -> Ran:
    """A line of a shell in `folder`, in which `proof` is the program."""
    surroundings = SURROUNDINGS | environment
    command = ["/bin/sh", "-c", line.replace("proof", f"{sys.executable} -m proof")]
    return subprocess.run(  # noqa: S603
        command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def summary(out: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return record


def test_the_demo_ends_well_and_says_where_the_report_lies_and_how_to_go_on(demo: Demo) -> None:
    folder, ran = demo
    assert ran.returncode == 0, ran.stderr
    assert "report: proof-demo/out/report.html" in ran.stdout
    assert "\n+ 司射东面于大夫之西比耦大夫" in ran.stdout
    assert "proof serve --config proof-demo\n" in ran.stdout
    assert ran.stdout.endswith("proof export --dry-run --config proof-demo\n")
    assert f"hidden: {summary(folder / 'out')['totals']['hidden']['variant']} variant" in ran.stdout
    for name in ("report.html", "flags.csv", "flags.jsonl", "summary.json"):
        assert (folder / "out" / name).stat().st_size > 0


def test_the_demo_prints_each_planted_error_with_both_readings_in_eighty_columns(demo: Demo) -> None:
    _, ran = demo
    table = ran.stdout[: ran.stdout.index("21 pages, ")].splitlines()
    assert len(table) > 12
    assert max(cell_len(line) for line in table) <= 80
    key = (ROOT / "pages" / "planted.tsv").read_text(encoding="utf-8")
    planted = [row for row in csv.DictReader(io.StringIO(key), delimiter="\t") if row["origin"] == "planted"]
    assert len(planted) >= 6
    for row in planted:
        text, image = (row[side] or "\u3000" for side in ("transcribed", "reading"))
        lines = [line for line in table if line.split()[:2] == [row["page"], row["line"]]]
        assert any(f"[{text}]" in line and f"[{image}]" in line for line in lines), row


def test_quiet_prints_nothing_but_what_went_wrong(material: Material, run: Run) -> None:
    folder = material(2)
    (folder / "images" / "WYG0103-0192d.png").write_bytes(b"")
    ran = run("check", "text.txt", "--images", "images", "--out", "out", "--quiet")
    assert (ran.returncode, ran.stdout) == (1, "")
    [line] = ran.stderr.splitlines()
    assert "WYG0103-0192d.png: is empty" in line


HELD = """
import threading
from proof.checking import executor, writer
from proof.cli import run

check_page = executor.check_page

def held(task, *rest):
    if task.number == 2:
        threading.Event().wait()
    return check_page(task, *rest)

executor.check_page = held
writer.MAX_WAIT_SECONDS = 0.0
run()
"""
"""The program, whose third page takes for ever, and which writes each as it comes."""


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(material: Material, run: Run) -> None:
    """On a terminal, which is told pages, pace and time left."""
    folder = material(3)
    line = ["check", "text.txt", "--images", "images", "--out", "out", "--workers", "1"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", HELD, *line], cwd=folder, env=SURROUNDINGS, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    with ThreadPoolExecutor(1) as pool:
        terminal = pool.submit(read_terminal, ours)
        wait_for_a_page(folder / "proof.sqlite")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        output = terminal.result(PATIENCE)
    assert (process.returncode, out) == (130, b""), output
    assert "Traceback" not in output
    done = pages_in(folder / "proof.sqlite")
    assert 1 <= done <= 2
    for words in ("of 3 pages", "pages/s", " left"):
        assert words in output
    assert f"stopped: {done} of 3 pages are done; the same command continues from there" in " ".join(output.split())
    partly = run("report")
    assert partly.returncode == 0
    assert "the last check was interrupted" in partly.stderr
    assert len(summary(folder / "out")["pages"]) == done
    again = run(*line)
    assert again.returncode == 0
    assert f"{done} reused" in again.stderr
    assert list(summary(folder / "out")["pages"].values()) == ["checked"] * 3


def read_terminal(handle: int) -> str:
    """All that is written to a terminal until it is closed."""
    shown = b""
    while True:
        try:
            piece = os.read(handle, 65536)
        except OSError:  # closed at the other end
            piece = b""
        if not piece:
            os.close(handle)
            return shown.decode("utf-8", "replace")
        shown += piece


def wait_for_a_page(store: Path) -> None:
    """Waits until a store holds a page."""
    end = time.monotonic() + PATIENCE
    while not (store.exists() and pages_in(store)):
        assert time.monotonic() < end, f"{store} never held a page"
        time.sleep(0.02)


def pages_in(store: Path) -> int:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            count: int = connection.execute("SELECT count(*) FROM pages").fetchone()[0]
        except sqlite3.OperationalError:  # its tables are still being made
            return 0
    return count


@pytest.mark.usefixtures("kai")
def test_render_draws_pages_and_tells_where_every_character_stands(material: Material, run: Run) -> None:
    folder = material(3)
    ran = run("render", "text.txt", "--out", "drawn", "--wear", "none", "--scale", "0.5")
    assert ran.returncode == 0, ran.stderr
    drawn = {path.stem for path in (folder / "drawn").glob("WYG*.png")}
    boxes = [json.loads(line) for line in (folder / "drawn" / "boxes.jsonl").read_text("utf-8").splitlines()]
    assert len(drawn) == 3
    assert {box["page"] for box in boxes} == drawn
    ran = run(
        *("render", "text.txt", "--out", "ten", "--columns", "10", "--column-length", "24"),
        *("--scale", "0.5", "--wear", "none"),
    )
    assert ran.returncode == 0
    assert len(find_layout(load_image(next((folder / "ten").glob("*.png"))).pixels, 0).columns) == 10
    ran = run("render", "text.txt", "--out", "plates", "--scale", "0.5", "--plates", "--seed", "3")
    assert sorted(path.name for path in (folder / "plates").glob("*.png")) == ["WYG0103-0192.png", "WYG0103-0193.png"]


def test_engines_are_listed_and_what_is_not_expected_is_not_swallowed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run("engines")
    assert ran.returncode == 0
    assert all(name in ran.stdout for name in names())

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("proof.commands.engines.availability", broken)
    with pytest.raises(ZeroDivisionError):
        main(["engines"])


def test_the_version_is_that_of_the_package_and_a_reader_that_goes_away_no_error_to_speak_of(tmp_path: Path) -> None:
    assert shell("proof --version", tmp_path).stdout == f"proof, version {proof.__version__}\n"
    assert shell("proof --help | true", tmp_path).stderr == ""


def test_a_terminal_without_chinese_gets_numbers(tmp_path: Path) -> None:
    ran = shell("proof --help", tmp_path, PYTHONIOENCODING="latin-1")
    assert ran.returncode == 0
    assert "\\u5927\\u5c04\\u5100" in ran.stdout
