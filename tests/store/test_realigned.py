"""What was decided follows its characters through a text that is edited, and stands of no other that is like them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

from proof.export.decided import Unused, decided_in
from proof.export.source import correct
from proof.model.flags import Evidence, Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.decision_records import Decision, DecisionRequest, State, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import FlagRow
from proof.store.queue_records import Order, QueueFilter
from proof.store.saving import CheckedResult
from proof.text.edition import read_edition
from proof.text.realigned import RealignedLines
from proof.verify.page_findings import numbered

WORK, PAGE = "KR1", "KR1_WYG_010-1a"
TWICE = "升自西階北面升自西階北面升自西階"
"""A line with two places that are alike: what stands around each 北 is the same."""
Found = Sequence[tuple[int, int]]


class Project:
    """A text of one page, and the store of its checks."""

    def __init__(self, folder: Path, script: str = "traditional") -> None:
        self.path, self.script = folder / "KR1_010.txt", script
        self.store = Store.open(folder / "proof.sqlite")

    def check(self, lines: Sequence[str], found: Found = (), missing: int = 0) -> dict[tuple[int, int], int]:
        """Check the text of these lines; an image shows 比 at the places that are `found`, by line and offset, and not
        the line of number `missing`. Gives their flags by number."""
        self.path.write_text(f"<pb:{PAGE}>¶\n" + "".join(f"{line}¶\n" for line in lines), encoding="utf-8")
        texts = (TextInfo(str(self.path), "sha", "kanripo", self.script),)
        run = self.store.begin_run(RunInfo(WORK, "書", texts, EngineIdentity("none", "1", "none", "0")))
        columns = tuple(CheckedColumn(n, Box(0, 0, 9, 99), line) for n, line in enumerate(lines, 1) if n != missing)
        flags = numbered(flag(lines[line - 1], line, offset) for line, offset in found)
        result = PageResult(PAGE, "ref", Status.CHECKED, columns=columns, flags=flags)
        self.store.save_pages(run, [CheckedResult(PagePlace(0, str(self.path)), f"{lines} {found} {missing}", result)])
        self.store.finish_run(run, whole=True)
        with self.store._reading() as session:
            rows = session.scalars(select(FlagRow).where(FlagRow.stale.is_(False), FlagRow.ordinal >= 0))
            return {(row.line, row.offset): row.id for row in rows}

    def decide(self, flag: int, verdict: Verdict, version: int = 0, note: str = "") -> Decision:
        demand = DecisionRequest(WORK, flag, verdict, version, "甲", f"request-{flag}-{version}", note=note)
        return self.store.decisions.decide(demand)

    def by_hand(self, line: int, offset: int, reading: str = "此") -> Decision:
        page = self.store.queue.pages(WORK)[0].number
        wanted = ManualCorrection(WORK, page, line, offset, 1, reading, "甲", f"by-hand-{line}-{offset}")
        return self.store.manual_corrections.correct(wanted)

    def export(self) -> list[str]:
        """Correct the text in place; gives its lines."""
        edition = read_edition(self.path)
        decided = decided_in(self.store, edition)
        corrected = correct(decided.edition, decided.corrections, before=decided.applied)
        self.path.write_bytes(corrected.data)
        return [line.removesuffix("¶") for line in corrected.text.splitlines()[1:]]

    def told(self) -> list[Unused]:
        return [one.reason for one in decided_in(self.store, read_edition(self.path)).left_out]

    def state(self, flag: int) -> str:
        with self.store._reading() as session:
            return session.get_one(FlagRow, flag).state


def flag(source: str, line: int, offset: int) -> Flag:
    said, context = (source[offset], "比"), context_of(source, offset, 1)
    return Flag(PAGE, "ref", line, offset, 1, Kind.SUBSTITUTION, *said, 5.0, True, None, Evidence("posterior"), context)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize("other", [(1, 10), (2, 4)], ids=["in its line", "in another"])
@pytest.mark.parametrize("verdict", [None, Verdict.KEEP])
def test_a_place_that_is_like_one_that_was_corrected_stays_what_it_is(
    project: Project, other: tuple[int, int], verdict: Verdict | None
) -> None:
    lines = [f"甲乙丙{TWICE}", f"丁{TWICE[:6]}"] if other[0] == 1 else [TWICE[:6], TWICE[:6]]
    first, second = ((1, 7), (1, 13)) if other[0] == 1 else ((1, 4), (2, 4))
    flags = project.check(lines, [first, second])
    project.decide(flags[first], Verdict.TAKE)
    if verdict:
        project.decide(flags[second], verdict)
    written = project.export()
    assert "".join(written).count("比") == 1
    now = project.check(written, [second])
    assert project.state(now[second]) == (State.KEPT if verdict else State.OPEN)
    assert project.export() == written
    assert project.told() == []


def test_a_decision_that_is_in_the_text_is_carried_to_no_line_like_that_which_was_put_in_since(
    project: Project,
) -> None:
    flags = project.check(["甲乙丙", TWICE[:6]], [(2, 4)])
    project.decide(flags[2, 4], Verdict.TAKE)
    written = project.export()
    project.check(written)
    lines = [written[0], "丁戊己", written[1], TWICE[:6]]
    now = project.check(lines, [(4, 4)])
    assert project.state(now[4, 4]) == State.OPEN
    assert project.export() == lines


def test_what_was_decided_of_a_place_that_is_gone_is_not_written_where_another_like_it_stands_now(
    project: Project,
) -> None:
    """Whether the text was checked again since, or not."""
    lines = ["甲升自西階北面", "乙升自西階北面"]
    flags = project.check(lines, [(1, 5)])
    project.decide(flags[1, 5], Verdict.TAKE)
    project.path.write_text(f"<pb:{PAGE}>¶\n{lines[1]}¶\n", encoding="utf-8")
    assert project.export() == lines[1:]
    assert project.told() == [Unused.MOVED]
    project.check(lines[1:])
    assert project.export() == lines[1:]
    assert project.told() == [Unused.GONE]


@pytest.mark.parametrize(
    ("now", "line", "offset"),
    [
        (["上下", "甲乙北丙丁", "戊己"], 2, 2),
        (["戊己", "甲乙北丙丁"], 2, 2),
        (["甲庚乙北丙丁", "戊己"], 1, 3),
        (["甲乙北丙辛", "戊己"], 1, 2),
    ],
    ids=["a line above", "lines moved", "a character before", "another character near"],
)
def test_a_correction_by_hand_follows_its_character(project: Project, now: list[str], line: int, offset: int) -> None:
    project.check(["甲乙北丙丁", "戊己"])
    project.by_hand(1, 2)
    project.check(now)
    [stands] = decided_in(project.store, read_edition(project.path)).corrections
    assert (stands.line, stands.offset, stands.replacement, stands.person) == (line, offset, "此", "甲")
    assert project.export() == [one.replace("北", "此") for one in now]
    project.check(["甲乙北丙丁", "戊己"])
    project.store.acts.undo(WORK, "甲", "taken-back")
    assert project.export() == ["甲乙北丙丁", "戊己"]


def test_a_correction_by_hand_that_followed_its_character_comes_back_there_from_the_journal(
    project: Project, tmp_path: Path
) -> None:
    project.check(["甲乙北丙丁", "戊己"])
    project.by_hand(1, 2)
    now = ["上下", "甲乙北丙丁", "戊己"]
    project.check(now)
    (tmp_path / "new").mkdir()
    fresh = Project(tmp_path / "new")
    fresh.check(now)
    assert project.store.journal is not None
    done = fresh.store.recover(project.store.journal.path)
    assert (sum(done.rebuilt.values()), done.unplaced) == (2, ())
    assert fresh.export() == ["上下", "甲乙此丙丁", "戊己"]
    assert fresh.told() == []


def test_a_correction_by_hand_is_seen_again_with_its_page(project: Project) -> None:
    project.check(["甲乙北丙丁"])
    project.by_hand(1, 2)
    texts = (TextInfo(str(project.path), "sha", "kanripo", "traditional"),)
    for _ in range(2):  # the page is not in its text for a while
        run = project.store.begin_run(RunInfo(WORK, "書", texts, EngineIdentity("none", "1", "none", "0")))
        project.store.finish_run(run, whole=True)
    project.check(["甲乙北丙丁"])
    [number], _ = project.store.queue.find(WORK, QueueFilter(raised=None), Order.PAGE)
    assert [one.reading for one in project.store.queue.flags(WORK, [number])] == ["此"]


def test_a_note_goes_with_its_decision_through_checks_and_taking_back(project: Project) -> None:
    flags = project.check(["甲乙北丙丁"], [(1, 2)])
    project.decide(flags[1, 2], Verdict.TAKE, note="據嚴本")
    project.store.acts.undo(WORK, "甲", "taken-back")
    project.store.acts.redo(WORK, "甲", "done-again")
    kept = DecisionRequest(WORK, flags[1, 2], Verdict.KEEP, 3, "乙", "request-of-another")
    project.store.decisions.decide(kept)
    project.store.acts.undo(WORK, "乙", "taken-back-too")
    project.check(["上下", "甲乙北丙丁"], [(2, 2)])
    [stands] = decided_in(project.store, read_edition(project.path)).corrections
    assert (stands.note, stands.person) == ("據嚴本", "甲")


@pytest.mark.parametrize(("reading", "simplified"), [("後", "后"), ("國學禮樂書" * 8, "国学礼乐书" * 8)])
def test_a_reading_in_the_other_script_is_known_once_it_is_in_the_text(
    tmp_path: Path, reading: str, simplified: str
) -> None:
    """However long: each of its characters may be written in more than one form."""
    project = Project(tmp_path, "simplified")
    project.check(["甲乙北丙丁"])
    project.by_hand(1, 2, reading)
    written = project.export()
    assert written == [f"甲乙{simplified}丙丁"]
    project.check(written)
    decided = decided_in(project.store, read_edition(project.path))
    assert ([one.replacement for one in decided.applied], decided.left_out) == ([simplified], ())


def test_what_was_decided_of_a_line_that_a_check_did_not_find_on_the_image_is_written(project: Project) -> None:
    lines = ["甲乙", "北丁戊", "比己庚", "甲乙", "比己庚"]
    flags = project.check(lines, [(2, 0)])
    project.decide(flags[2, 0], Verdict.TAKE)
    project.check(lines, missing=2)
    assert project.export() == [lines[0], "比丁戊", *lines[2:]]


def test_places_are_where_their_characters_are() -> None:
    lines = RealignedLines({1: "甲乙丙", 2: "丁戊", 3: "己庚"}, {1: "己庚", 3: "甲丙", 4: "丁辛壬戊"})
    assert [lines.now(1, 0, 1), lines.now(1, 1, 1), lines.now(1, 2, 0)] == [(3, 0), None, (3, 1)]
    assert lines.instead(1, 1, 1, "") == ((3, 1), "")
    assert [lines.now(2, 0, 2), lines.now(2, 1, 1)] == [None, (4, 3)]
    assert lines.now(3, 1, 1) == (1, 1)
