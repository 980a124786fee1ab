"""The journal has every act of the store, and a store is recovered from it with each act once."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import URL, Connection, event
from sqlalchemy.orm import Session

from proof.errors import OutputError, UsageError
from proof.layout.overrides import LayoutOverrideShape
from proof.store import Store
from proof.store.carried_places import ExportEdits
from proof.store.comments import CommentRequest, CommentState
from proof.store.decision_records import ConflictError, DecisionRequest, RefusedDecisionError, Verdict
from proof.store.journal import TEXT, Journal, Line, all_lines, identity, read_journal
from proof.store.lookup import Sessions
from proof.store.manual_corrections import ManualCorrection
from proof.store.page_states import PageState
from proof.text.edit import Edit, edited
from tests.build import PLACE, check, decide, page, standing_decisions
from tests.sampling import examples
from tests.web.drawn import WORK, fill

pytestmark = pytest.mark.slow

HINT = LayoutOverrideShape(((100, 100), (900, 100), (900, 750), (100, 750)), (0.5,), (None, ((0.0, 0.4),)))


def keep(flag: int, key: str, person: str = "甲") -> DecisionRequest:
    return DecisionRequest(WORK, flag, Verdict.KEEP, 0, person, key)


def work_on(store: Store) -> None:
    """One act of each kind, or more."""
    decide = store.decisions.decide
    decide(DecisionRequest(WORK, 1, Verdict.TAKE, 0, "甲", "request-0001", note="note"))
    decide(DecisionRequest(WORK, 1, Verdict.UNDO, 1, "甲", "request-0002"))
    decide(DecisionRequest(WORK, 1, Verdict.TYPED, 2, "乙", "request-0003", reading="某"))
    store.decisions.decide_all(
        [DecisionRequest(WORK, n, Verdict.KEEP, 0, "甲", f"request-b{n:03}", batch="b") for n in (2, 3)]
    )
    store.manual_corrections.correct(ManualCorrection(WORK, 1, 1, 0, 1, "某", "甲", "request-0004"))
    store.page_states.set(WORK, 1, PageState.PROOFREAD, 0, "甲", "request-0005")
    store.page_states.set(WORK, 1, PageState.VALIDATED, 1, "乙", "request-0006")
    store.layout_overrides.set(WORK, 2, HINT, "", "", version=0, person="甲", key="request-0007")
    store.layout_overrides.set(WORK, 2, None, "", "", version=1, person="乙", key="request-0008")
    store.rules.set(WORK, "己", "已", True, "甲")
    store.rules.set(WORK, "己", "已", False, "乙")
    problem, resolved = CommentState.PROBLEM, CommentState.RESOLVED
    first = store.comments.add(CommentRequest(WORK, 1, 1, "看不清", "甲", "request-c001", problem, "乙"))
    store.comments.add(CommentRequest(WORK, 1, 1, "是某", "乙", "request-c002", resolved, seen=first.id))
    store.comments.add(CommentRequest(WORK, 2, None, "缺半葉", "甲", "request-c003", problem))


def test_of_four_who_decide_one_flag_at_once_the_lines_have_the_order_of_the_acts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a slow disk, while every writer keeps opening the store, which appends the acts that the journal lacks."""
    append = Journal.append

    def slowly(self: Journal, lines: list[Line], reading: Sessions) -> None:
        time.sleep(0.03 if "甲" in str(lines) else 0)
        append(self, lines, reading)

    monkeypatch.setattr(Journal, "append", slowly)
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)

    def decide(person: str) -> None:
        for number in range(12):
            with Store.open(tmp_path / "proof.sqlite") as store:
                seen = len(store.decisions.history(1))
                asked = DecisionRequest(
                    WORK, 1, Verdict.UNDO if seen % 2 else Verdict.KEEP, seen, person, f"{person}-{number:06d}"
                )
                with suppress(ConflictError):
                    store.decisions.decide(asked)

    deciding = [threading.Thread(target=decide, args=(person,)) for person in "甲乙丙丁"]
    for thread in deciding:
        thread.start()
    for thread in deciding:
        thread.join()
    with Store.open(tmp_path / "proof.sqlite") as store:
        made = [decision.version for decision in store.decisions.history(1)]
        assert made == list(range(1, len(made) + 1))
        assert len(made) >= 12
        assert store.faults() == []


def acts(store: Store) -> set[str]:
    with Session(store.engine) as session:
        return {identity(line) for line in all_lines(session)}


def noted(store: Store) -> set[str]:
    """The identities of the acts in the journal of a store, without its lines about texts."""
    assert store.journal is not None
    return {identity(line) for line in store.journal.read().lines if line["act"] != TEXT}


def standing(store: Store) -> list[tuple[object, ...]]:
    """The present state, without row numbers."""
    said = standing_decisions(store, WORK)
    decisions: list[tuple[object, ...]] = sorted((d.page, d.uid, d.version, d.state, d.reading) for d in said)
    pages = [(place.page, place.state, place.version, place.open) for place in store.queue.pages(WORK)]
    comments = [
        (comment.name, comment.uid, comment.text, comment.state, comment.assigned)
        for comment in store.comments.of_work(WORK)
    ]
    problems = [(problem.name, problem.flag, problem.assigned) for problem in store.comments.problems(work=WORK)]
    rules = [(str(rule),) for rule in store.rules.of_work(WORK)]
    return [*decisions, *pages, *sorted(store.layout_overrides.of_work(WORK)), *rules, *comments, *problems]


@pytest.fixture(scope="module")
def worked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worked")
    with Store.open(folder / "proof.sqlite") as store:
        fill(store, folder)
        work_on(store)
    return folder


@pytest.fixture
def worked(worked_once: Path, tmp_path: Path) -> Path:
    """A store with acts of people, and its journal."""
    return shutil.copytree(worked_once, tmp_path / "old") / "proof.sqlite"


def fresh(worked: Path, folder: Path) -> Store:
    """A new store after a check, with the journal of another store."""
    folder.mkdir()
    shutil.copy(worked.with_suffix(".decisions.jsonl"), folder / "proof.decisions.jsonl")
    store = Store.open(folder / "proof.sqlite")
    fill(store, folder)
    return store


def test_the_journal_holds_what_the_store_holds_and_nobody_else_may_read_it(worked: Path) -> None:
    with Store.open(worked) as store:
        assert store.journal is not None
        assert noted(store) == acts(store)
        assert len(acts(store)) == 16
        assert stat.S_IMODE(store.journal.path.stat().st_mode) == 0o600
        assert "argon2" not in store.journal.path.read_text(encoding="utf-8")


def test_all_comes_back_from_the_journal_alone_and_once(worked: Path, tmp_path: Path) -> None:
    with Store.open(worked) as old, fresh(worked, tmp_path / "new") as store:
        assert acts(store) == set()
        assert standing(store) != standing(old)
        done = store.recover()
        assert (sum(done.rebuilt.values()), done.present, done.unplaced, done.damaged) == (16, 0, (), ())
        assert standing(store) == standing(old)
        assert acts(store) == acts(old)
        assert [str(decision) for decision in store.decisions.history(1)] == [
            str(decision) for decision in old.decisions.history(1)
        ]
        again = store.recover()
        assert (again.rebuilt, again.present) == ({}, 16)
        assert acts(store) == acts(old)
        store.decisions.decide(DecisionRequest(WORK, 1, Verdict.UNDO, 3, "乙", "request-0009"))


def test_an_older_store_put_back_gets_what_it_lacks(worked: Path, tmp_path: Path) -> None:
    older = tmp_path / "older" / "proof.sqlite"
    older.parent.mkdir()
    with Store.open(older) as target:
        fill(target, tmp_path)
        target.decisions.decide(DecisionRequest(WORK, 1, Verdict.TAKE, 0, "甲", "request-0001", note="note"))
    shutil.copy(worked.with_suffix(".decisions.jsonl"), older.with_suffix(".decisions.jsonl"))
    with Store.open(worked) as store, Store.open(older) as target:
        assert target.recover().present == 1
        assert standing(target) == standing(store)


def test_what_was_decided_since_holds_and_what_it_replaced_is_told(worked: Path, tmp_path: Path) -> None:
    with fresh(worked, tmp_path / "new") as store:
        store.decisions.decide(DecisionRequest(WORK, 1, Verdict.COPY, 0, "丙", "request-0010"))
        store.decisions.decide(DecisionRequest(WORK, 2, Verdict.COPY, 0, "丙", "request-0011"))
        done = store.recover()
        assert done.superseded == 4
        assert [decision.verdict for decision in store.decisions.history(1)] == [Verdict.COPY]
        assert done.unplaced == ()


def test_a_flag_that_was_not_found_again_comes_back_as_gone_and_a_page_that_is_not_there_is_told(
    worked: Path, tmp_path: Path
) -> None:
    journal = worked.with_suffix(".decisions.jsonl")
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    lines = [line | {"uid": "gone"} if line.get("uid") and line["key"] == "request-b002" else line for line in lines]
    other = {"page": "elsewhere", "file": "elsewhere.txt"}
    lines = [line | other if line.get("key") == "request-b003" else line for line in lines]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with fresh(worked, tmp_path / "new") as store:
        done = store.recover()
        assert [act.line["key"] for act in done.unplaced] == ["request-b003"]
        assert "elsewhere" in str(done.unplaced[0])
        assert "gone" in {decision.uid for decision in standing_decisions(store, WORK)}


def test_a_line_cut_off_by_a_crash_costs_itself_alone(worked: Path, tmp_path: Path) -> None:
    journal = worked.with_suffix(".decisions.jsonl")
    with journal.open("ab") as file:
        file.write('{"format": 1, "act": "decision", "work": "大'.encode()[:-1])
    with Store.open(worked) as store:
        store.decisions.decide(keep(4, "request-0012"))
        assert store.journal is not None
        read = store.journal.read()
        assert len(read.damaged) == 1
        assert {identity(line) for line in read.lines if line["act"] != TEXT} == acts(store)


def test_a_journal_that_an_editor_saved_is_read_whole(worked: Path) -> None:
    """With a byte-order mark and the line endings of another system."""
    journal = worked.with_suffix(".decisions.jsonl")
    before = read_journal(journal)
    journal.write_bytes(b"\xef\xbb\xbf" + journal.read_bytes().replace(b"\n", b"\r\n"))
    assert read_journal(journal) == before


def test_a_store_of_before_the_journal_begins_one_with_all_that_it_holds(worked: Path) -> None:
    worked.with_suffix(".decisions.jsonl").unlink()
    with Store.open(worked) as store:
        assert store.journal is not None
        assert noted(store) == acts(store)
        store.journal.path.unlink()
        store.decisions.decide(keep(4, "request-0012"))
        assert noted(store) == acts(store)
    with Store.open("sqlite://") as memory, pytest.raises(UsageError, match="no journal"):
        memory.recover()


@pytest.mark.parametrize("call", ["write", "fsync", "open"])
def test_what_cannot_be_written_down_is_told_and_written_down_with_what_is_done_next(
    worked: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with Store.open(worked) as store:
        before = noted(store)
        real: Callable[..., object] = getattr(os, call)

        def full(*arguments: object, **named: object) -> object:
            if call != "open" or str(arguments[0]).endswith(".jsonl"):
                raise OSError(28, "No space left on device")
            return real(*arguments, **named)

        demand = keep(4, "request-0012")
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            with pytest.raises(OutputError, match="No space left"):
                store.decisions.decide(demand)
        assert noted(store) == before
        assert store.faults() == ["1 acts are not in its journal"]
        assert store.decisions.decide(demand).repeated
        store.decisions.decide(keep(5, "request-0013"))
        assert noted(store) == acts(store)
        assert len(acts(store)) == len(before) + 2


def failing_commit(store: Store, demand: DecisionRequest, *, after: bool = False) -> None:
    """A decision whose commit fails; `after`: the commit succeeded, but an error was raised after it."""

    def fails(connection: Connection) -> None:
        if after:
            connection.connection.commit()
        raise OSError(5, "Input/output error")

    event.listen(store._writers, "commit", fails)
    try:
        with pytest.raises(OSError, match="Input/output"):
            store.decisions.decide(demand)
    finally:
        event.remove(store._writers, "commit", fails)


def one_more(store: Store, request: DecisionRequest) -> None:
    """Another decision follows the one of the request."""
    store.decisions.decide(replace(request, verdict=Verdict.UNSURE, version=1, key="request-0021"))


def sent_again(store: Store, request: DecisionRequest) -> None:
    assert store.decisions.decide(request).repeated
    store.rules.set(WORK, "甲", "乙", True, "甲")


@pytest.mark.parametrize(
    ("after", "then"),
    [
        (False, None),
        (False, lambda store, request: store.decisions.decide(request)),
        (True, one_more),
        (True, sent_again),
    ],
    ids=["failed", "failed and sent again", "came through and was built on", "came through and sent again"],
)
def test_of_an_act_whose_commit_failed_the_journal_gives_back_what_the_store_has(
    worked: Path, tmp_path: Path, *, after: bool, then: Callable[[Store, DecisionRequest], object] | None
) -> None:
    request = DecisionRequest(WORK, 5, Verdict.TAKE, 0, "甲", "request-0020")
    with Store.open(worked) as store:
        before = acts(store)
        failing_commit(store, request, after=after)
        assert (acts(store) == before) is not after
        if then:
            then(store, request)
        assert store.faults() == []
        before, decisions = acts(store), standing(store)
    with fresh(worked, tmp_path / "new") as store:
        assert store.recover().unplaced == ()
        assert (acts(store), standing(store)) == (before, decisions)


def test_what_a_crash_left_out_is_in_the_journal_when_the_store_is_opened(worked: Path) -> None:
    journal = worked.with_suffix(".decisions.jsonl")
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:-2]), encoding="utf-8")
    with Store.open(worked, complete=False) as store:
        assert store.faults() == ["2 acts are not in its journal"]
    with Store.open(worked) as store:
        assert store.faults() == []
        assert noted(store) == acts(store)


class Killed(BaseException):
    """The process exits immediately."""


@pytest.mark.parametrize("written", [False, True], ids=["before its line is written", "behind its line"])
def test_what_a_killed_process_committed_is_written_down_once_by_whoever_comes_next(
    worked: Path, monkeypatch: pytest.MonkeyPatch, *, written: bool
) -> None:
    """Another process already has the store open, and appends an act of its own."""
    append = Journal._write

    def kills(journal: Journal, lines: list[Line]) -> None:
        if written:
            append(journal, lines)
        raise Killed

    with Store.open(worked) as other:
        with Store.open(worked) as store, monkeypatch.context() as patch:
            patch.setattr(Journal, "_write", kills)
            with pytest.raises(Killed):
                store.decisions.decide(keep(4, "request-0012"))
        other.decisions.decide(keep(5, "request-0013", "乙"))
        assert other.faults() == []
        assert other.journal is not None
        lines = [identity(line) for line in other.journal.read().lines]
        assert len(lines) == len(set(lines))
        assert lines[-2:] == [f"{WORK}\x1frequest-0012", f"{WORK}\x1frequest-0013"]


def test_how_a_text_came_to_read_is_written_down_though_the_process_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export is no act: what it wrote is known only from its line about the text."""

    def kills(*_: object) -> None:
        raise Killed

    with Store.open(tmp_path / "proof.sqlite") as store:
        check(store, page("上射揖坐", flags=((1, 3, "", "揖"),)))
        decide(store, 1, Verdict.TAKE)
        before = store.texts.content(PLACE.text)
        written = Edit(before.index("坐"), 0, "揖")
        after = edited(before, [written])
        writing = ExportEdits((written,), {1: 0})
        with monkeypatch.context() as patch:
            patch.setattr(Journal, "_write", kills)
            with pytest.raises(Killed):
                store.texts.record_export(PLACE.text, before, after, "traditional", writing, lambda: True)
    with Store.open(tmp_path / "proof.sqlite") as store:
        assert store.journal is not None
        last = store.journal.read().lines[-1]
        assert (last["act"], last["edits"], list(last["written"].values())) == (
            TEXT,
            [[before.index("坐"), 0, "揖"]],
            [0],
        )


VERDICTS = st.sampled_from([Verdict.TAKE, Verdict.KEEP, Verdict.COPY, Verdict.SKIP, Verdict.UNDO])


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verdicts=st.lists(st.tuples(st.integers(1, 4), VERDICTS), max_size=12))
def test_whatever_was_decided_the_journal_alone_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory, verdicts: list[tuple[int, Verdict]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "old").mkdir()
    with Store.open(folder / "old" / "proof.sqlite") as old:
        fill(old, folder)
        for n, (flag, verdict) in enumerate(verdicts):
            seen = len(old.decisions.history(flag))
            with suppress(RefusedDecisionError):  # an undo of nothing
                old.decisions.decide(DecisionRequest(WORK, flag, verdict, seen, "甲", f"request-{n:04}"))
        (folder / "old" / "proof.decisions.jsonl").touch()
        with fresh(folder / "old" / "proof.sqlite", folder / "new") as store:
            assert store.recover().unplaced == ()
            assert standing(store) == standing(old)
            assert acts(store) == acts(old)


@pytest.mark.postgres
def test_a_store_on_a_server_has_its_journal_in_the_folder_of_the_project(
    new_database: Callable[[], URL], tmp_path: Path
) -> None:
    (tmp_path / "project").mkdir()
    with Store.open(new_database(), folder=tmp_path / "project") as store:
        fill(store, tmp_path)
        work_on(store)
        assert store.journal is not None
        assert store.journal.path == tmp_path / "project" / "proof.decisions.jsonl"
        assert noted(store) == acts(store)
        with fresh(tmp_path / "project" / "proof.sqlite", tmp_path / "new") as other:
            other.recover()
            assert standing(other) == standing(store)
