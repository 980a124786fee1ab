"""What a user meets at the shell, on the sample's pages and with the real recogniser."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import proof
from proof.cli import main
from proof.commands.cells import cell_len
from proof.errors import FontError
from proof.facsimile.fonts import find_faces
from proof.images.load import load_image
from proof.layout.half_folio import find_layout
from proof.ocr.registry import names
from tests.conftest import PATIENCE

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
PROOF = [sys.executable, "-m", "proof"]
Material = Callable[[int], Path]
Ran = subprocess.CompletedProcess[str]
Run = Callable[..., Ran]
Demo = tuple[Path, Ran]


def command(*arguments: str, folder: Path, **environment: str) -> Ran:
    """A command line as a process of its own, in `folder`."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(  # noqa: S603
        [*PROOF, *arguments],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def statuses(out: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((out / "summary.json").read_text(encoding="utf-8"))["pages"]
    return found


def test_it_ends_well_and_says_where_the_report_lies(demo: Demo) -> None:
    folder, ran = demo
    assert ran.returncode == 0, ran.stderr
    assert "report: proof-demo/out/report.html" in ran.stdout
    assert "\n+ 司射东面于大夫之西比耦大夫" in ran.stdout
    assert "proof serve --config proof-demo\n" in ran.stdout
    assert ran.stdout.endswith("proof export --dry-run --config proof-demo\n")
    for name in ("report.html", "flags.csv", "flags.jsonl", "summary.json"):
        assert (folder / "out" / name).stat().st_size > 0


def test_it_prints_each_planted_error_with_both_readings(demo: Demo) -> None:
    _, ran = demo
    key = (ROOT / "pages" / "planted.tsv").read_text(encoding="utf-8")
    planted = [row for row in csv.DictReader(io.StringIO(key), delimiter="\t") if row["origin"] == "planted"]
    assert len(planted) >= 6
    for row in planted:
        text, image = (row[side] or "\u3000" for side in ("transcribed", "reading"))
        lines = [line for line in ran.stdout.splitlines() if line.split()[:2] == [row["page"], row["line"]]]
        assert any(f"[{text}]" in line and f"[{image}]" in line for line in lines), row


def test_its_table_fits_eighty_columns(demo: Demo) -> None:
    _, ran = demo
    table = ran.stdout[: ran.stdout.index("21 pages, ")].splitlines()
    assert len(table) > 12
    assert max(cell_len(line) for line in table) <= 80


def test_hidden_variants_are_counted(demo: Demo) -> None:
    folder, ran = demo
    hidden = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["totals"]["hidden"]
    assert f"hidden: {hidden['variant']} variant" in ran.stdout


def test_the_reports_can_be_written_in_another_language(demo: Demo, tmp_path: Path, run: Run) -> None:
    folder = shutil.copytree(demo[0], tmp_path, dirs_exist_ok=True)
    flags = (folder / "out" / "flags.jsonl").read_bytes()
    ran = run("report", "--lang", "zh-Hant")
    assert ran.returncode == 0, ran.stderr
    assert '<html lang="zh-Hant"' in (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert (folder / "out" / "flags.jsonl").read_bytes() == flags


def test_quiet_prints_nothing_but_what_went_wrong(material: Material, run: Run) -> None:
    folder = material(2)
    line = ("check", "text.txt", "--images", "images", "--out", "out", "--quiet")
    ran = run(*line)
    assert (ran.stdout, ran.stderr) == ("", "")
    (folder / "images" / "WYG0103-0192d.png").write_bytes(b"")
    ran = run(*line)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.count("\n") == 1
    assert "WYG0103-0192d.png: is empty" in ran.stderr


def test_progress_on_a_terminal_tells_pages_pace_and_time_left(material: Material) -> None:
    folder = material(4)
    ours, theirs = pty.openpty()
    line = [*PROOF, "check", "text.txt", "--images", "images", "--out", "out", "--workers", "1"]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(line, cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=theirs) as process:  # noqa: S603
        os.close(theirs)
        shown = read_terminal(ours)
        process.communicate(timeout=PATIENCE)
    for words in ("of 4 pages", "pages/s", " left", "4 of 4 pages"):
        assert words in shown


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
writer.AT_LATEST = 0.0
run()
"""
"""The program, whose third page takes for ever, and which writes each as it comes."""


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(material: Material, run: Run) -> None:
    folder = material(5)
    line = ["check", "text.txt", "--images", "images", "--out", "out", "--workers", "1"]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", HELD, *line],
        cwd=folder,
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_pages(folder / "proof.sqlite", 1)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert out == ""
    assert "Traceback" not in said
    done = pages_in(folder / "proof.sqlite")
    assert 1 <= done <= 2
    assert f"stopped: {done} of 5 pages are done; the same command goes on from there" in said
    partly = run("report")
    assert partly.returncode == 0
    assert "the last check was interrupted" in partly.stderr
    assert len(statuses(folder / "out")) == done
    again = run(*line)
    assert again.returncode == 0
    assert f"{done} reused" in again.stderr
    assert set(statuses(folder / "out").values()) == {"checked"}
    assert len(statuses(folder / "out")) == 5


def wait_for_pages(store: Path, count: int) -> None:
    """Waits until a store holds so many pages."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if store.exists() and pages_in(store) >= count:
            return
        time.sleep(0.02)
    raise AssertionError(f"{store} never held {count} pages")


def pages_in(store: Path) -> int:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            count: int = connection.execute("SELECT count(*) FROM pages").fetchone()[0]
        except sqlite3.OperationalError:  # its tables are still being made
            return 0
    return count


def test_render_draws_pages_and_tells_where_every_character_stands(material: Material, run: Run) -> None:
    try:
        find_faces()
    except FontError as error:
        pytest.skip(f"{error}: this test draws pages")
    folder = material(4)
    ran = run("render", "text.txt", "--out", "drawn", "--wear", "none", "--scale", "0.5")
    assert ran.returncode == 0, ran.stderr
    assert len(list((folder / "drawn").glob("WYG*.png"))) == 4
    boxes = [json.loads(line) for line in (folder / "drawn" / "boxes.jsonl").read_text("utf-8").splitlines()]
    assert {box["page"] for box in boxes} == {path.stem for path in (folder / "drawn").glob("WYG*.png")}
    drawing = ("--columns", "10", "--rows", "24", "--scale", "0.5", "--wear", "none")
    ran = run("render", "text.txt", "--out", "ten", *drawing)
    assert ran.returncode == 0
    layout = find_layout(load_image(next((folder / "ten").glob("*.png"))).pixels, 0)
    assert len(layout.columns) == 10
    ran = run("render", "text.txt", "--out", "plates", "--scale", "0.5", "--plates", "--seed", "3")
    assert sorted(path.name for path in (folder / "plates").glob("*.png")) == ["WYG0103-0192.png", "WYG0103-0193.png"]


def test_engines_are_listed_with_what_they_lack(run: Run) -> None:
    ran = run("engines")
    assert ran.returncode == 0
    for name in names():
        assert name in ran.stdout


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert command("--version", folder=tmp_path).stdout.strip() == f"proof, version {proof.__version__}"


def test_what_is_not_expected_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("proof.commands.engines.availability", broken)
    with pytest.raises(ZeroDivisionError):
        main(["engines"])


def test_a_reader_that_goes_away_is_no_error_to_speak_of(tmp_path: Path) -> None:
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = f"{sys.executable} -m proof --help | true"
    ran = subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", line], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""


def test_a_terminal_without_chinese_gets_numbers(tmp_path: Path) -> None:
    ran = command("--help", folder=tmp_path, PYTHONIOENCODING="latin-1")
    assert ran.returncode == 0
    assert "\\u5927\\u5c04\\u5100" in ran.stdout
