"""Backup and restore: decisions, texts and images are restored unchanged, or nothing is restored."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from proof.cli import main
from proof.errors import OutputError, UsageError
from proof.layout.overrides import LayoutOverrideShape
from proof.settings.config import SETTINGS, STORE_NAME, Settings
from proof.store import Store
from proof.store.backup import MANIFEST, BackupError, backup, restore, verify
from proof.store.decision_records import DecisionRequest, Verdict
from proof.web import create_app
from tests.build import decision_log, standing_decisions
from tests.web.drawn import WORK, fill, settings_in

pytestmark = pytest.mark.slow


def make_project(folder: Path) -> Settings:
    """Three checked pages with an image and a decision."""
    folder.mkdir()
    settings = settings_in(folder)
    with Store.open(settings.store_address) as store:
        fill(store, folder)
        store.decisions.decide(DecisionRequest(WORK, 1, Verdict.TAKE, 0, "甲", "request-0001"))
    return settings


@pytest.fixture
def project(tmp_path: Path) -> Settings:
    return make_project(tmp_path / "project")


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    backup(make_project(folder / "project"), folder / "project.zip")
    return folder / "project.zip"


@pytest.fixture
def saved(saved_once: Path, tmp_path: Path) -> Path:
    """The backup of a project, in another folder."""
    return Path(shutil.copy(saved_once, tmp_path))


def standing(settings: Settings) -> list[int]:
    """The decided flags in the store of a project."""
    with Store.open(settings.store_address) as store:
        return [decision.flag for decision in standing_decisions(store, WORK)]


def test_a_project_comes_back_whole_in_another_place_and_goes_on_there(project: Settings, tmp_path: Path) -> None:
    layout_override = LayoutOverrideShape(
        ((100, 100), (900, 100), (900, 750), (100, 750)), (0.5,), (None, ((0.0, 0.4),))
    )
    with Store.open(project.store_address) as store:
        store.layout_overrides.set(WORK, 1, layout_override, "", "", version=0, person="甲", key="layout-0001")
        store.layout_overrides.set(WORK, 2, None, "page.png", "c", version=0, person="乙", key="layout-0002")
    saved = backup(project, tmp_path / "project.zip")
    assert (saved.files, saved.left_out) == (4, ())
    assert restore(tmp_path / "project.zip", tmp_path / "elsewhere").rows == saved.rows > 20
    (tmp_path / "project").rename(tmp_path / "gone")
    settings = Settings.load(tmp_path / "elsewhere")
    assert settings.project.title == "大射儀"

    def held(store: Store) -> tuple[object, ...]:
        layouts = [store.layout_overrides.history(WORK, page) for page in (1, 2, 3)]
        return standing_decisions(store, WORK), list(store.results(work=WORK)), layouts

    with Store.open(settings.store_address) as store, Store.open(tmp_path / "gone" / STORE_NAME) as old:
        assert held(store) == held(old)
        [sha] = {place.image_sha for place in store.queue.pages(WORK)}
        client = create_app(settings, store=store).test_client()
        assert client.get(f"/iiif/{sha}/full/50,/0/default.webp").status_code == 200
        again = store.decisions.decide(DecisionRequest(WORK, 1, Verdict.UNDO, 1, "乙", "request-0002"))
        assert again.version == 2
        assert len(store.layout_overrides.of_work(WORK)) == 2
        store.layout_overrides.set(WORK, 1, None, "", "", version=1, person="丙", key="layout-0003")
        assert len(store.layout_overrides.of_work(WORK)) == 1


def test_it_holds_one_moment_while_somebody_decides_all_the_time(project: Settings, tmp_path: Path) -> None:
    """A backup has all decisions acknowledged before it began, and of later ones the first few, without a gap."""
    acknowledged: list[int] = []
    over = threading.Event()

    def decide() -> None:
        with Store.open(project.store_address) as store:
            while not over.is_set():
                number = len(acknowledged)
                flag, version = number % 5 + 2, number // 5
                verdict = Verdict.KEEP if version % 2 == 0 else Verdict.UNDO
                made = store.decisions.decide(DecisionRequest(WORK, flag, verdict, version, "乙", f"busy-{number:06d}"))
                acknowledged.append(made.id)

    deciding = threading.Thread(target=decide)
    deciding.start()
    try:
        for number in range(4):
            before = len(acknowledged)
            backup(project, tmp_path / f"{number}.zip")
            after = len(acknowledged)
            verify(tmp_path / f"{number}.zip")
            restore(tmp_path / f"{number}.zip", tmp_path / f"{number}")
            with Store.open(tmp_path / f"{number}" / STORE_NAME) as store:
                kept = sorted(decision.id for decision in decision_log(store, WORK))
                assert kept == list(range(1, len(kept) + 1))
                assert before <= len(kept) - 1 <= after + 1  # the first was there from the beginning
                last_decisions = {flag: store.decisions.history(flag)[-1:] for flag in range(2, 7)}
                standing = {decision.flag: decision.id for decision in standing_decisions(store, WORK)}
                assert all(
                    not last or (last[0].verdict is Verdict.KEEP) == (standing.get(flag) == last[0].id)
                    for flag, last in last_decisions.items()
                )
    finally:
        over.set()
        deciding.join()


def rewrite(path: Path, name: str, data: bytes, *, entry: str = "", summed: bool = False) -> None:
    """A copy of the archive with one changed file, and its checksum if `summed`, and one more file in its list."""
    with zipfile.ZipFile(path) as archive:
        held = {info: archive.read(info) for info in archive.namelist()}
    held[name] = data
    manifest = json.loads(held[MANIFEST])
    if entry:
        manifest["sha256"][entry] = "0" * 64
    if summed:
        manifest["sha256"][name] = hashlib.sha256(data).hexdigest()
    held[MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for info, content in held.items():
            archive.writestr(info, content)


def with_setting(path: Path, lines: str) -> None:
    """A copy of the archive in which the project has these settings as well."""
    with zipfile.ZipFile(path) as archive:
        config = archive.read("config.toml")
    rewrite(path, "config.toml", config + f"\n{lines}\n".encode(), summed=True)


@pytest.mark.parametrize("name", ["../escaped.txt", "/escaped.txt", "a/../../escaped.txt", "..\\escaped.txt"])
def test_a_file_that_would_lie_outside_is_refused(saved: Path, tmp_path: Path, name: str) -> None:
    rewrite(saved, name, b"x", entry=name)
    with pytest.raises(BackupError, match="outside"):
        restore(saved, tmp_path / "elsewhere")
    assert list(tmp_path.iterdir()) == [saved]


def test_a_damaged_backup_leaves_nothing_behind(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(b"PK no")
    rewrite(saved, "config.toml", b"[project]\n")
    for path, message in ((saved, "damaged"), (tmp_path / "no.zip", "no backup")):
        with pytest.raises(BackupError, match=message):
            restore(path, tmp_path / "elsewhere")
        assert not (tmp_path / "elsewhere").exists()


def test_nothing_is_overwritten(project: Settings, tmp_path: Path) -> None:
    backup(project, tmp_path / "project.zip")
    with pytest.raises(UsageError, match="already"):
        backup(project, tmp_path / "project.zip")
    with pytest.raises(UsageError, match="not empty"):
        restore(tmp_path / "project.zip", tmp_path / "project")


def test_the_commands_say_what_they_did(project: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backup", str(tmp_path / "a.zip"), "--config", str(project.folder), "--no-images"]) == 0
    assert "3 files" in capsys.readouterr().out
    assert main(["restore", str(tmp_path / "a.zip"), str(tmp_path / "b")]) == 0
    assert "proof serve --config" in capsys.readouterr().out
    assert main(["backup", "--verify", str(tmp_path / "a.zip")]) == 0
    assert "can be restored completely, 3 files" in capsys.readouterr().out
    assert (tmp_path / "a.zip").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "url",
    ["sqlite:///{outside}/stolen.sqlite", "sqlite:///../stolen.sqlite", "postgresql+psycopg://x@127.0.0.1:{port}/x"],
)
def test_no_address_that_a_backup_names_is_used_unless_it_is_said_again(
    saved: Path, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        (tmp_path / "outside").mkdir()
        address = url.format(outside=tmp_path / "outside", port=listening.getsockname()[1])
        with_setting(saved, f'[store]\nurl = "{address}"')
        (tmp_path / "in").mkdir()
        before = sorted(tmp_path.rglob("*"))
        here = tmp_path / "in" / "here"
        assert main(["restore", str(saved), str(here)]) == 0
        assert "was not filled; to fill one, name it with --store" in capsys.readouterr().err
        with pytest.raises(TimeoutError):
            listening.accept()
    assert [path for path in sorted(tmp_path.rglob("*")) if here not in (path, *path.parents)] == before
    settings = Settings.load(here)
    assert settings.store_address == here / STORE_NAME
    assert standing(settings) == [1]


def test_what_unpacks_to_more_than_it_says_is_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        info = archive.getinfo(STORE_NAME)
    for size in (0, 1, info.file_size - 1):
        sizes = [struct.pack("<II", info.compress_size, unpacked) for unpacked in (info.file_size, size)]
        changed = whole.replace(sizes[0], sizes[1])
        assert changed != whole
        (tmp_path / "bomb.zip").write_bytes(changed)
        with pytest.raises(BackupError):
            restore(tmp_path / "bomb.zip", tmp_path / "elsewhere")
        assert not (tmp_path / "elsewhere").exists()


def test_no_room_is_told_before_anything_is_unpacked(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 10, 1000))
    with pytest.raises(BackupError, match="there is room for 1,000"):
        restore(saved, tmp_path / "elsewhere")


def test_a_disk_that_is_full_costs_the_backup_alone(project: Settings, tmp_path: Path) -> None:
    there = sorted(tmp_path.rglob("*"))
    line = [sys.executable, "-m", "proof", "backup", str(tmp_path / "a.zip"), "--config", str(project.folder)]
    # what is told of the lines that it reached would not fit either
    own = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    full = subprocess.run(  # noqa: S603
        ["/bin/bash", "-c", 'ulimit -f 40; exec "$@"', "bash", *line],
        capture_output=True,
        text=True,
        check=False,
        env=own,
    )
    assert full.returncode == 2, full.stderr
    assert "Traceback" not in full.stderr
    assert f"{STORE_NAME}: " in full.stderr
    assert "the disk" in full.stderr
    assert [path for path in sorted(tmp_path.rglob("*")) if path.suffix not in (".sqlite-shm", ".sqlite-wal")] == there


def test_a_folder_that_is_called_as_the_journal_is_named(project: Settings, tmp_path: Path) -> None:
    assert project.folder is not None
    journal = project.folder / "proof.decisions.jsonl"
    journal.unlink()
    journal.mkdir()
    (project.folder / STORE_NAME).unlink()  # a store that has no decisions does not read its journal
    with pytest.raises(OutputError, match=r"proof\.decisions\.jsonl: cannot be read \(Is a directory\); allow reading"):
        backup(project, tmp_path / "project.zip")
    assert not (tmp_path / "project.zip").exists()


def test_a_backup_whose_store_lost_something_does_not_verify(saved: Path, tmp_path: Path) -> None:
    assert verify(saved).files == 4
    rewrite(saved, "proof.decisions.jsonl", b"", summed=True)
    with pytest.raises(BackupError, match="not in its journal"):
        verify(saved)
    assert not list(tmp_path.glob(".proof-*"))


@pytest.mark.parametrize("store", ["", "sqlite:///kept/other.sqlite"])
def test_a_relative_folder_is_restored_into_beside_another_project(
    project: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    """A relative store address starts from the restored folder, as in its settings, and not from the working directory,
    where there is the store of another project."""
    monkeypatch.chdir(tmp_path / "project")
    backup(project, Path("saved.zip"))
    assert main(["restore", "saved.zip", "restored/here", *(["--store", store] if store else [])]) == 0
    assert standing(Settings.load(Path("restored/here"))) == [1]
    assert sorted(path.name for path in Path().glob("*.sqlite")) == ["proof.sqlite"]
    assert verify(Path("saved.zip")).rows > 20


def test_all_that_the_settings_name_is_saved_or_told(
    project: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every setting that names a file: witnesses of all kinds, fonts, models, lists. Files outside are reported."""
    folder = tmp_path / "project"
    names = ("font.ttf", "witness.txt", "juan/1.txt", "read/a.xml", "read/more/b.xml", "lists/x.txt")
    more = (
        "text.txt",
        "imglist/j_010.txt",
        "hand.ttf",
        "models/rec.onnx",
        "models/second.onnx",
        "lm.bin",
        "variants.tsv",
    )
    for name in (*names, *more, "drawn.ttf", "../far.txt", "git/HEAD"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x", encoding="utf-8")
    changed: dict[str, Any] = {
        "project.texts": ["*.txt"],
        "project.witnesses": ["A=witness.txt", "juan", "../far.txt", "B=git@main"],
        "project.imglist": "lists",
        "serve.font": "font.ttf",
        "engine.recording": "read",
        "engine.model": "models/rec.onnx",
        "engine.second_model": "models/second.onnx",
        "language.model": "lm.bin",
        "variants.file": "variants.tsv",
        "render.font": "./hand.ttf",
        "engine.font": "drawn.ttf",
    }
    written = (folder / "config.toml").read_text(encoding="utf-8")
    for name, value in changed.items():
        section, key = name.split(".")
        head = f"[{section}]\n"
        before, _, after = written.partition(head)
        written = f"{before}\n{head}{key} = {json.dumps(value)}\n{after}"
    (folder / "config.toml").write_text(written, encoding="utf-8")
    named = {setting.name for setting in SETTINGS.values() if setting.kind.value.startswith(("path", "list of"))}
    assert named == {*changed, "project.images", "project.out", "engine.detection_model"}
    assert main(["backup", str(tmp_path / "all.zip"), "--config", str(folder)]) == 0
    output = capsys.readouterr().err.splitlines()
    assert output == [
        f"left out, outside the project's folder: {tmp_path / 'far.txt'}",
        f"left out, a repository: {folder / 'git'}",
    ]
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert {*names, *more, "drawn.ttf"} <= set(archive.namelist())
