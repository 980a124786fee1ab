"""From raw files to a corrected text and a backup, as a newcomer does it, from wherever the commands are run."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from proof.cli import main
from proof.settings.config import Settings
from proof.store import Store
from proof.web import create_app
from tests.sample import lay_out
from tests.web.drawn import Served

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
NOTES = "call 李 on Monday\n"


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Raw files; the commands are run in another folder."""
    folder = lay_out(tmp_path / "books", 2)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    return folder


def sample_files() -> dict[str, str]:
    """What lies in the sample's project, but for what is not its own."""
    own = [ROOT / "config.toml", *ROOT.glob("proof*.sqlite*"), *ROOT.glob("proof.decisions*"), *ROOT.glob("out/*.*")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in own if path.is_file()}


def desk(folder: Path, store: Store) -> Served:
    """The desk of a project."""
    settings = Settings.load(folder)
    return Served(settings, store, create_app(settings, store=store), "")


def works(client: FlaskClient) -> list[dict[str, Any]]:
    """The works that the desk lists, with their counts."""
    listed: list[dict[str, Any]] = json.loads(client.get("/api/v1/works").data)["items"]
    return listed


def decide(folder: Path) -> str:
    """Takes at the desk what the image reads at the first place that was raised; gives what it reads."""
    with Store.open(Settings.load(folder).store_address) as store:
        client = desk(folder, store).client
        [work] = works(client)
        base = f"/api/v1/works/{work['name']}/flags"
        flag = json.loads(client.get(base).data)["items"][0]
        body = {"verdict": "take", "version": flag["version"], "key": "request-0001"}
        assert client.post(f"{base}/{flag['number']}/decisions", json=body).status_code == 201
        return str(flag["suggested"])


def test_raw_files_are_checked_exported_and_saved_by_three_commands(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, sample = (book / "text.txt").read_bytes(), sample_files()
    text = os.path.relpath(book / "text.txt")
    assert main(["check", text, "--images", os.path.relpath(book / "images")]) == 0
    output = capsys.readouterr()
    assert f"{book}/config.toml: a new project" in output.err
    assert f"project: {book}; next: proof serve --config {book}" in output.out
    assert (book / "out" / "report.html").is_file()
    assert (book / "proof.sqlite").is_file()
    decided = decide(book)
    assert main(["export", text]) == 0
    corrected = (book / "out" / "text.txt").read_text(encoding="utf-8")
    assert corrected.count(decided) == before.decode().count(decided) + 1
    saved = book.parent / "saved.zip"
    assert main(["backup", str(saved), "--config", str(book)]) == 0
    with zipfile.ZipFile(saved) as archive:
        assert {"config.toml", "text.txt", "proof.sqlite", "proof.decisions.jsonl"} <= set(archive.namelist())
    assert (book / "text.txt").read_bytes() == before
    assert sample_files() == sample


def test_what_a_check_needs_not_be_told_twice(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(book / "text.txt"), "--images", str(book / "images"), "--column-length", "22"]) == 0
    for again in (["--config", str(book)], [str(book / "text.txt")]):
        capsys.readouterr()
        assert main(["check", *again]) == 0
        output = capsys.readouterr()
        assert "2 reused" in output.err
        assert "new project" not in output.err


def test_images_that_come_later_are_said_to_be_of_one_check_until_the_project_names_them(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(book / "text.txt")]) == 0
    capsys.readouterr()
    images = ["--images", str(book / "images"), "--threshold", "4"]
    assert main(["check", str(book / "text.txt"), *images]) == 0
    assert f"used in this check only: project.images; set it in {book}/config.toml" in capsys.readouterr().err
    with (book / "config.toml").open("a", encoding="utf-8") as file:
        file.write('images = ["images"]\n')
    assert main(["check", str(book / "text.txt"), *images]) == 0
    assert "used in this check only" not in capsys.readouterr().err


def test_a_second_text_of_the_folder_joins_its_project(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is checked as a part of the same work, and the reports have both."""
    (book / "other.txt").write_text("卷十一 第 1a 页 WYG0103-0200a.png\n十二月己丑\n", encoding="utf-8")
    assert main(["check", str(book / "text.txt"), "--images", str(book / "images")]) == 0
    decided = decide(book)
    capsys.readouterr()
    assert main(["check", str(book / "other.txt")]) == 0
    output = capsys.readouterr()
    assert "config.toml: texts were added to it" in output.err
    assert output.out.startswith("1 page")
    assert Settings.load(book).text_files() == (book / "text.txt", book / "other.txt")
    pages = json.loads((book / "out" / "summary.json").read_text(encoding="utf-8"))["pages"]
    assert len(pages) == 3
    assert main(["report", "--config", str(book)]) == 0
    assert capsys.readouterr().out.startswith("3 pages")
    assert main(["check", "--config", str(book)]) == 0
    with Store.open(Settings.load(book).store_address) as store:
        [work] = works(desk(book, store).client)
        assert (work["name"], work["pages"], work["states"]["corrected"]) == ("text", 3, 1), decided


def test_a_check_and_a_report_say_how_much_is_decided(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["check", str(book / "text.txt"), "--images", str(book / "images")]
    assert main(check) == 0
    assert "decided" not in capsys.readouterr().out
    decide(book)
    for again in (check, ["report", "--config", str(book)]):
        assert main(again) == 0
        assert re.search(r"^decided in the whole work: 1 of \d+ flags?$", capsys.readouterr().out, re.MULTILINE)


def test_a_text_of_another_work_is_not_mixed_in(book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, work in (("one", "KR9z0001"), ("two", "KR9z0002")):
        (book / f"{name}.txt").write_text(f"<pb:{work}_X_001-1a>¶\n十二月己丑¶\n", encoding="utf-8")
    assert main(["check", str(book / "one.txt")]) == 0
    kept = (book / "config.toml").read_bytes()
    capsys.readouterr()
    assert main(["check", str(book / "two.txt")]) == 2
    assert "a project is one work, and these are KR9z0001 and KR9z0002" in capsys.readouterr().err
    assert (book / "config.toml").read_bytes() == kept


def test_what_is_no_text_is_told_and_not_made_part_of_the_project(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (book / "notes.txt").write_text(NOTES, encoding="utf-8")
    files = [str(path) for path in sorted(book.glob("*.txt"))]
    assert main(["check", *files, "--images", str(book / "images")]) == 1
    assert f"not checked: {book}/notes.txt: its format is not recognised" in capsys.readouterr().err
    assert Settings.load(book).text_files() == (book / "text.txt",)
    assert main(["check", *files]) == 1
    assert "names further texts" not in capsys.readouterr().err
    assert main(["check", "--config", str(book)]) == 0


@pytest.mark.parametrize(
    "words",
    [
        "none.txt",
        "text.txt --images nowhere",
        "notes.txt",
        "text.txt --store sqlite:///notes.txt",
    ],
)
def test_what_cannot_be_checked_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    lay_out(tmp_path, 1)
    (tmp_path / "notes.txt").write_text(NOTES, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    assert main(["check", *words.split()]) == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith("proof: ")
    assert "config.toml" not in stderr.replace("in the folder of a project", "")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("line", ["serve", "backup a.zip"])
def test_where_nothing_was_checked_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for store in ([], [] if line == "backup a.zip" else ["--store", "sqlite:///other.sqlite"]):
        assert main([*line.split(), *store]) == 2
        assert "there is no store, so nothing was checked here yet" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


def test_a_text_beside_the_sample_is_not_made_part_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    sample = sample_files()
    assert main(["check", str(ROOT / "README.md")]) == 2
    assert "the folder of the sample project" in capsys.readouterr().err
    assert sample_files() == sample
