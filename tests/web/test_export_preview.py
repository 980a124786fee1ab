"""The desk shows what an export would write and what not, as `proof export --dry-run` says it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from proof.cli import main
from proof.settings.config import Settings
from proof.store.decision_records import Verdict
from proof.web import create_app
from tests.build import decide, queued
from tests.web.drawn import Served, fill

OTHER = "KR9"


@pytest.fixture
def decided(served: Served, tmp_path: Path) -> Served:
    """A work with its text: a reading is taken with an authority and a remark, a place is left unsure, one is kept."""
    store = served.store
    fill(store, tmp_path, work=OTHER)
    (tmp_path / "config.toml").write_text(f'[project]\ntexts = ["{OTHER}.txt"]\nout = "."\n', encoding="utf-8")
    first, second, third = (flag.number for flag in queued(store, OTHER)[:3])
    decide(store, first, Verdict.TAKE, work=OTHER, authority="他校", note="見類篇")
    decide(store, second, Verdict.UNSURE, work=OTHER)
    decide(store, third, Verdict.KEEP, "乙", work=OTHER)
    return served


def preview(client: FlaskClient, query: str = "") -> Any:
    """What the API says of an export."""
    answered = client.get(f"/api/v1/works/{OTHER}/export-preview{query}")
    assert answered.status_code == 200, answered.text
    return answered.json


def test_what_would_be_written_and_what_not_is_said_with_the_reason(decided: Served) -> None:
    answer = preview(decided.client)
    assert (answer["written"], answer["not_written"], answer["in_text"], answer["unread"]) == (1, 1, 0, [])
    unsure, taken = answer["items"]
    assert (unsure["written"], unsure["reason"]) == (False, "left unsure")
    assert (taken["before"][-2:], taken["old"], taken["new"], taken["after"][:2]) == ("射人", "告", "吿", "具于")
    assert (taken["written"], taken["authority"], taken["note"], taken["person"]) == (True, "他校", "見類篇", "甲")
    assert decided.store.queue.has(OTHER, taken["flag"])


def test_the_page_names_the_image_in_words_and_shows_no_mark_of_a_line_end(decided: Served) -> None:
    fourth = queued(decided.store, OTHER)[3]
    decide(decided.store, fourth.number, Verdict.TAKE, work=OTHER)
    page = decided.client.get(f"/works/{OTHER}/export", headers={"Accept-Language": "en"}).text
    assert "from the image · 甲" in page
    assert "from 他校 · 見類篇 · 甲" in page
    assert "¶" not in page


def test_the_desk_and_a_dry_run_say_the_same(
    decided: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = preview(decided.client)
    assert main(["export", str(tmp_path / f"{OTHER}.txt"), "--config", str(tmp_path), "--dry-run"]) == 0
    output = capsys.readouterr()
    line = "page {page}, column {line}, offset {offset}: {old} → {new} ({person})"
    lines = [line.format(**item) for item in answer["items"] if item["written"]]
    assert output.out.splitlines() == lines
    left_out = [item for item in answer["items"] if not item["written"]]
    assert all(unused["old"] != unused["new"] for unused in left_out), "what is open is listed with what was suggested"
    assert all(f"not written, {unused['reason']}" in output.err for unused in left_out)
    assert all(f"  {line.format(**unused)}" in output.err for unused in left_out)


def test_a_dry_run_says_places_and_changes_in_the_language_of_the_terminal(
    decided: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = queued(decided.store, OTHER)[3]
    decide(decided.store, first.number, Verdict.DELETE, work=OTHER)
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert main(["export", str(tmp_path / f"{OTHER}.txt"), "--config", str(tmp_path), "--dry-run"]) == 0
    output = capsys.readouterr()
    assert "：告 → 吿 (甲)" in output.out
    assert " → （無） (甲)" in output.out
    assert "page" not in output.out + output.err
    assert "nothing" not in output.out + output.err


def test_a_project_that_was_moved_shows_what_is_written_into_its_own_text(decided: Served, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("config.toml", f"{OTHER}.txt"):
        (tmp_path / name).rename(moved / name)
    client = create_app(Settings.load(moved), store=decided.store).test_client()
    answer = preview(client)
    assert (answer["written"], answer["not_written"], answer["unread"]) == (1, 1, [])


def test_a_text_that_cannot_be_read_costs_itself_and_is_named(served: Served) -> None:
    client = served.client
    answer: Any = client.get("/api/v1/works/dasheyi/export-preview").json
    assert answer["items"] == []
    [unread] = answer["unread"]
    assert "text.txt" in unread
    assert "text.txt" in client.get("/works/dasheyi/export").text
