"""What was decided follows its characters through a text that is edited, and stands of no other that is like them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import select

from proof.export.decided import Unused, decided_in
from proof.export.script import AmbiguousScriptError, FormChoice
from proof.export.source import correct
from proof.model.flags import Evidence, Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.comments import CommentRequest, CommentState
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, RefusedDecisionError, State, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import FlagRow
from proof.store.page_states import PageState
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

    def say(self, flag: int, text: str = "此字可疑") -> None:
        page = self.store.queue.pages(WORK)[0].number
        key = f"comment-{flag}-{text}"
        self.store.comments.say(CommentRequest(WORK, page, flag, text, "甲", key, state=CommentState.PROBLEM))

    def said(self, flag: int) -> list[str]:
        """What the desk shows beside a flag."""
        [queued] = self.store.queue.flags(WORK, [flag])
        place = (queued.page.number, queued.flag.id)
        return [one.text for one in self.store.comments.of_flags([place]).get(place, [])]

    def spoken_of(self) -> list[int | None]:
        """The flags to which the open problems lead."""
        return [one.flag for one in self.store.comments.problems(work=WORK)]

    def decide(self, flag: int, verdict: Verdict, version: int = 0, note: str = "") -> Decision:
        demand = DecisionRequest(WORK, flag, verdict, version, "甲", f"request-{flag}-{version}", note=note)
        return self.store.decisions.decide(demand)

    def type(self, flag: int, reading: str) -> Decision:
        demand = DecisionRequest(WORK, flag, Verdict.TYPED, 0, "甲", f"request-{flag}-typed", reading=reading)
        return self.store.decisions.decide(demand)

    def by_hand(self, line: int, offset: int, reading: str = "此") -> Decision:
        page = self.store.queue.pages(WORK)[0].number
        wanted = ManualCorrection(WORK, page, line, offset, 1, reading, "甲", f"by-hand-{line}-{offset}")
        return self.store.manual_corrections.correct(wanted)

    def export(self, *choices: str) -> list[str]:
        """Correct the text in place; gives its lines."""
        edition = read_edition(self.path)
        decided = decided_in(self.store, edition)
        chosen = [FormChoice.parse(one) for one in choices]
        corrected = correct(decided.edition, decided.corrections, before=decided.applied, choices=chosen)
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


@pytest.mark.parametrize("now", [["戊己庚辛", "壬癸子丑", "甲乙北丙丁"], ["甲乙北丙丁", "戊己庚辛", "壬癸子丑"]])
@pytest.mark.parametrize("meanwhile", [["戊己庚辛", "壬癸子丑"], ["乾坤屯蒙需訟", "戊己庚辛", "壬癸子丑"]])
def test_a_correction_by_hand_is_back_with_its_line_that_was_gone_for_a_while(
    project: Project, now: list[str], meanwhile: list[str]
) -> None:
    project.check(["甲乙北丙丁", "戊己庚辛", "壬癸子丑"])
    project.by_hand(1, 2)
    project.check(meanwhile)
    assert project.told() == [Unused.GONE]
    project.check(now)
    assert project.told() == []
    assert project.export() == [line.replace("北", "此") for line in now]


def test_a_correction_by_hand_whose_line_is_back_twice_is_in_neither(project: Project) -> None:
    project.check(["甲乙北丙丁", "戊己庚辛"])
    project.by_hand(1, 2)
    project.check(["戊己庚辛"])
    now = ["戊己庚辛", "甲乙北丙丁", "甲乙北丙丁"]
    project.check(now)
    assert project.export() == now
    assert project.told() == [Unused.GONE]


@pytest.mark.parametrize(("at", "now"), [(0, "北甲乙己丁丙西"), (5, "北乙丙丁己西")], ids=["first", "last"])
def test_what_was_decided_at_an_end_of_a_line_stays_decided_where_its_only_neighbour_is_another(
    project: Project, at: int, now: str
) -> None:
    line = "北乙丙丁丙西"
    flags = project.check([line, "戊己"], [(1, 0), (1, 5)])
    for offset in (0, 5):
        project.decide(flags[1, offset], Verdict.KEEP)
    found = project.check([now, "戊己"], [(1, 0), (1, len(now) - 1)])
    assert {project.state(flag) for flag in found.values()} == {State.KEPT}


@pytest.mark.parametrize("other", ["子丑寅卯辰", "子丑寅卯北"])
@pytest.mark.parametrize("verdict", [Verdict.COPY, Verdict.TAKE])
def test_what_was_decided_at_the_end_of_a_line_is_back_with_it_whatever_stood_at_its_number_meanwhile(
    project: Project, other: str, verdict: Verdict
) -> None:
    line = "甲乙丙丁北"
    flags = project.check([line, other, "戊己庚"], [(1, 4)])
    project.decide(flags[1, 4], verdict)
    for _ in range(2):
        project.check([other, "戊己庚"])
        project.check([other, "戊己庚壬"])
    found = project.check([other, "戊己庚", line], [(3, 4)])
    assert project.state(found[3, 4]) == (State.COPY if verdict is Verdict.COPY else State.CORRECTED)
    assert project.export()[0] == other


def test_who_decides_late_beside_what_was_corrected_decides_the_flag_that_is_seen(project: Project) -> None:
    """The last characters of a line, of which nothing but what was corrected stands before the last."""
    flags = project.check(["甲乙北丙西", "戊己"], [(1, 2), (1, 4)])
    project.decide(flags[1, 2], Verdict.TAKE)
    written = project.export()
    assert written == ["甲乙比丙西", "戊己"]
    found = project.check(written, [(1, 4)])
    project.decide(flags[1, 4], Verdict.KEEP)
    assert project.state(found[1, 4]) == State.KEPT


ALIKE = ["甲乙北丙丁", "甲乙北丙丁", "戊己"]
"""Lines of which two are the same, so that only their order tells their places apart."""


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.TAKE])
def test_what_was_decided_of_one_of_two_lines_alike_stands_of_no_other_when_the_text_is_read_in_another_way(
    project: Project, verdict: Verdict
) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.decide(flags[2, 2], verdict)
    now = ["上下", *ALIKE]
    for setting in (0, 9, 0):  # no line is of that number: what is found is the same
        flags = project.check(now, [(2, 2), (3, 2)], missing=setting)
        assert project.state(flags[2, 2]) == State.OPEN
        assert project.state(flags[3, 2]) == (State.KEPT if verdict is Verdict.KEEP else State.CORRECTED)
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    assert project.state(flags[1, 2]) == State.OPEN
    assert project.export() == (ALIKE if verdict is Verdict.KEEP else [ALIKE[0], "甲乙比丙丁", "戊己"])


@pytest.mark.parametrize("line", [1, 2])
def test_what_was_said_of_a_place_goes_with_it_as_decisions_do(project: Project, line: int) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.say(flags[line, 2])
    was = flags[line, 2]
    flags = project.check(["上下", *ALIKE], [(2, 2), (3, 2)])
    here, other = flags[line + 1, 2], flags[4 - line, 2]
    assert (project.said(here), project.said(other)) == (["此字可疑"], [])
    assert project.spoken_of() == [here]
    project.say(here, "再看")
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    assert flags[line, 2] == was
    assert (project.said(was), project.said(flags[3 - line, 2])) == (["此字可疑", "再看"], [])


def test_what_was_said_of_a_place_is_beside_it_in_a_store_that_is_made_anew_from_the_journal(
    project: Project, tmp_path: Path
) -> None:
    flags = project.check(ALIKE[1:], [(1, 2)])
    project.say(flags[1, 2])
    now = ["上下", *ALIKE[1:]]
    project.check(now, [(2, 2)])
    (tmp_path / "new").mkdir()
    fresh = Project(tmp_path / "new")
    flags = fresh.check(now, [(2, 2)])
    assert project.store.journal is not None
    fresh.store.recover(project.store.journal.path)
    assert fresh.said(flags[2, 2]) == ["此字可疑"]
    fresh.store.recover(project.store.journal.path)
    assert fresh.spoken_of() == [flags[2, 2]]


def test_who_decides_a_flag_of_a_page_that_was_checked_again_meanwhile_decides_its_place(project: Project) -> None:
    late = project.check(ALIKE, [(1, 2), (2, 2)])[2, 2]
    now = ["上下", *ALIKE]
    flags = project.check(now, [(2, 2), (3, 2)])
    project.decide(late, Verdict.TAKE)
    assert [project.state(flags[place]) for place in ((2, 2), (3, 2))] == [State.OPEN, State.CORRECTED]
    taken_back = DecisionRequest(WORK, late, Verdict.UNDO, 1, "甲", "taken-back")
    project.store.decisions.decide(taken_back)
    assert project.state(flags[3, 2]) == State.OPEN, "what a check carried over is taken back with it"
    project.store.acts.redo(WORK, "甲", "done-again")
    assert project.state(flags[3, 2]) == State.CORRECTED
    assert project.export() == ["上下", ALIKE[0], "甲乙比丙丁", "戊己"]


def test_a_page_whose_text_was_changed_is_to_be_proofread_again_and_says_so(project: Project) -> None:
    project.check(["甲乙北丙丁", "戊己"])
    page = project.store.queue.pages(WORK)[0].number
    say = project.store.page_states.set
    say(WORK, page, PageState.PROOFREAD, 0, "甲", "proofread")
    project.check(["甲乙北丙丁", "戊庚"])
    [now] = project.store.queue.pages(WORK)
    assert (now.state, now.changed) == (PageState.NOT_PROOFREAD, True)
    assert project.store.queue.in_state(WORK, PageState.PROOFREAD) == []
    assert project.store.history.awaiting(WORK) == ([], 0)
    with pytest.raises(RefusedDecisionError, match="second person"):
        say(WORK, page, PageState.VALIDATED, 1, "乙", "validated")
    say(WORK, page, PageState.PROOFREAD, 1, "乙", "proofread-again", overrules=False)
    [now] = project.store.queue.pages(WORK)
    assert (now.state, now.changed) == (PageState.PROOFREAD, False)
    project.store.acts.undo(WORK, "乙", "taken-back")
    [now] = project.store.queue.pages(WORK)
    assert (now.state, now.changed) == (PageState.NOT_PROOFREAD, True), "what stands again is older than the change"


@pytest.mark.parametrize("script", ["traditional", "simplified"])
def test_a_page_into_which_its_corrections_were_written_stays_proofread(tmp_path: Path, script: str) -> None:
    project = Project(tmp_path, script)
    flags = project.check(["甲乙北丙丁北戊", "己庚"], [(1, 2)])
    project.decide(flags[1, 2], Verdict.TAKE)
    project.by_hand(1, 5, "國")
    page = project.store.queue.pages(WORK)[0].number
    project.store.page_states.set(WORK, page, PageState.PROOFREAD, 0, "甲", "proofread")
    written = project.export()
    assert written[0] == ("甲乙比丙丁國戊" if script == "traditional" else "甲乙比丙丁国戊")
    project.check(written)
    [now] = project.store.queue.pages(WORK)
    assert (now.state, now.changed) == (PageState.PROOFREAD, False)


@pytest.mark.parametrize(
    ("typed", "written"), [("\U00020000", "\U00020000"), ("後", "后"), ("\ue000", "\ue000"), ("⿰金本", "⿰金本")]
)
def test_what_was_typed_and_has_no_simplified_form_is_written_as_it_was_typed(
    tmp_path: Path, typed: str, written: str
) -> None:
    """Also where a check carried it over."""
    project = Project(tmp_path, "simplified")
    flags = project.check(["甲乙北丙丁"], [(1, 2)])
    project.type(flags[1, 2], typed)
    now = ["上下", "甲乙北丙丁"]
    project.check(now, [(2, 2)])
    assert project.export() == ["上下", f"甲乙{written}丙丁"]


@pytest.mark.parametrize("form", ["干", "乾"])
def test_a_form_that_was_asked_about_is_asked_about_once(tmp_path: Path, form: str) -> None:
    """Whether the text is checked between two exports, or not."""
    project = Project(tmp_path, "simplified")
    flags = project.check(["甲乙北丙丁北戊"], [(1, 2), (1, 5)])
    project.type(flags[1, 2], "乾")
    project.decide(flags[1, 5], Verdict.TAKE)
    with pytest.raises(AmbiguousScriptError):
        project.export()
    written = project.export(f"乾={form}")
    assert written == [f"甲乙{form}丙丁比戊"]
    assert project.export() == written
    assert project.export(f"乾@{PAGE}:1:2={form}") == written
    project.check(written)
    assert project.export() == written


def test_what_was_taken_back_before_its_line_was_moved_is_done_again_where_it_stands_now(project: Project) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.decide(flags[2, 2], Verdict.TAKE)
    project.store.acts.undo(WORK, "甲", "taken-back")
    now = ["上下", *ALIKE]
    flags = project.check(now, [(2, 2), (3, 2)])
    project.store.acts.redo(WORK, "甲", "done-again")
    assert [project.state(flags[place]) for place in ((2, 2), (3, 2))] == [State.OPEN, State.CORRECTED]
    assert project.export() == ["上下", ALIKE[0], "甲乙比丙丁", "戊己"]


def test_what_is_decided_of_a_flag_that_is_not_found_any_more_is_written_where_it_was_seen(project: Project) -> None:
    """Also where a line like its own stands now in the place of that."""
    late = project.check(ALIKE, [(1, 2), (2, 2)])[2, 2]
    project.check(["上下", *ALIKE], [(2, 2)])
    project.decide(late, Verdict.TAKE)
    assert project.export() == ["上下", ALIKE[0], "甲乙比丙丁", "戊己"]


def test_what_was_decided_of_a_page_that_was_gone_stands_of_the_same_line_when_it_is_back(project: Project) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.decide(flags[2, 2], Verdict.TAKE)
    texts = (TextInfo(str(project.path), "sha", "kanripo", "traditional"),)
    run = project.store.begin_run(RunInfo(WORK, "書", texts, EngineIdentity("none", "1", "none", "0")))
    project.store.finish_run(run, whole=True)
    flags = project.check(["上下", *ALIKE], [(2, 2), (3, 2)])
    assert [project.state(flags[place]) for place in ((2, 2), (3, 2))] == [State.OPEN, State.CORRECTED]
    assert project.export() == ["上下", ALIKE[0], "甲乙比丙丁", "戊己"]


ELSEWHERE = ["甲乙某丙丁戊己庚", "辛壬癸", "子丑寅某辰巳"]
"""Another text of the lines of the next test: as another branch of its repository has them."""


@pytest.mark.parametrize("above", [[], ["上下"]], ids=["as it was", "with a line above"])
@pytest.mark.parametrize("other", ["written", "another"])
@pytest.mark.parametrize("verdict", [Verdict.TAKE, Verdict.COPY])
def test_what_was_decided_stands_again_where_an_earlier_text_is_put_back(
    project: Project, above: list[str], other: str, verdict: Verdict
) -> None:
    lines, found = ["甲乙北丙丁西己庚", "辛壬癸", "子丑寅卯辰巳"], [(1, 2), (1, 5)]
    for number in project.check(lines, found).values():
        project.decide(number, verdict)
    project.by_hand(3, 3)
    wanted = project.export()
    project.check(wanted if other == "written" else ELSEWHERE)
    stands = State.CORRECTED if verdict is Verdict.TAKE else State.COPY
    flags = project.check([*above, *lines], [(line + len(above), offset) for line, offset in found])
    assert {project.state(number) for number in flags.values()} == {stands}
    assert project.export() == [*above, *wanted]
    assert project.told() == []


def test_what_was_decided_stands_in_no_line_that_is_like_the_one_that_was_changed(project: Project) -> None:
    flags = project.check(["甲乙北丙丁", "戊己庚"], [(1, 2)])
    project.decide(flags[1, 2], Verdict.TAKE)
    project.check(["甲乙某丙丁", "戊己庚"])
    for now, line in ((["甲乙某丙丁", "甲乙北丙丁", "戊己庚"], 2), (["甲乙北丙丁", "戊己庚"], 1)):
        found = project.check(now, [(line, 2)])
        assert project.state(found[line, 2]) == State.OPEN
        assert project.export() == now
        assert project.told() == [Unused.GONE]


def test_a_line_that_is_gone_keeps_no_export_back_though_another_is_like_it(project: Project) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.decide(flags[1, 2], Verdict.KEEP)
    project.decide(flags[2, 2], Verdict.TAKE)
    project.check(ALIKE[1:], [(1, 2)])
    assert project.export() == ALIKE[1:]
    assert project.told() == [Unused.GONE]


def test_what_was_decided_of_one_of_two_lines_alike_is_not_written_into_the_other_of_a_text_that_was_changed(
    project: Project,
) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.decide(flags[2, 2], Verdict.TAKE)
    now = ["上下", *ALIKE]
    project.path.write_text(f"<pb:{PAGE}>¶\n" + "".join(f"{line}¶\n" for line in now), encoding="utf-8")
    assert project.export() == now
    assert project.told() == [Unused.MOVED]
    project.path.write_text(f"<pb:{PAGE}>¶\n" + "".join(f"{line}¶\n" for line in ALIKE), encoding="utf-8")
    assert project.export() == [ALIKE[0], "甲乙比丙丁", "戊己"]


def test_who_decides_a_flag_otherwise_after_a_check_has_carried_it_over_decides_its_place(project: Project) -> None:
    first = project.check(ALIKE, [(1, 2), (2, 2)])[2, 2]
    project.decide(first, Verdict.KEEP)
    flags = project.check(["上下", *ALIKE], [(2, 2), (3, 2)])
    project.decide(first, Verdict.TAKE, 1)
    assert project.state(flags[3, 2]) == State.CORRECTED
    assert project.export() == ["上下", ALIKE[0], "甲乙比丙丁", "戊己"]


def test_who_decides_a_flag_whose_place_another_has_decided_since_is_told(project: Project) -> None:
    late = project.check(ALIKE, [(1, 2), (2, 2)])[2, 2]
    flags = project.check(["上下", *ALIKE], [(2, 2), (3, 2)])
    theirs = DecisionRequest(WORK, flags[3, 2], Verdict.KEEP, 0, "乙", "request-of-another")
    project.store.decisions.decide(theirs)
    with pytest.raises(ConflictError, match="乙") as refused:
        project.decide(late, Verdict.TAKE)
    assert (refused.value.flag, [one.verdict for one in refused.value.decisions]) == (late, [Verdict.KEEP])
    assert project.export() == ["上下", *ALIKE]


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.TAKE, Verdict.COPY, Verdict.UNSURE])
def test_who_decides_a_flag_whose_place_was_decided_under_another_and_written_since_is_told(
    project: Project, verdict: Verdict
) -> None:
    lines = ["甲乙北丙丁", "戊己"]
    late = project.check(lines, [(1, 2)])[1, 2]
    flags = project.check(["上下", *lines], [(2, 2)])
    theirs = DecisionRequest(WORK, flags[2, 2], Verdict.TAKE, 0, "乙", "request-of-another")
    project.store.decisions.decide(theirs)
    written = project.export()
    project.check(written)
    with pytest.raises(ConflictError, match="乙") as refused:
        project.decide(late, verdict)
    assert (refused.value.flag, [one.verdict for one in refused.value.decisions]) == (late, [Verdict.TAKE])
    project.store.acts.undo(WORK, "乙", "taken-back")
    assert project.decide(late, verdict).state is not State.OPEN, "nothing of another stands there any more"


def test_who_has_seen_what_stands_of_a_flag_that_is_gone_may_still_decide_otherwise(project: Project) -> None:
    lines = ["甲乙北丙丁", "戊己"]
    first = project.check(lines, [(1, 2)])[1, 2]
    flags = project.check(["上下", *lines], [(2, 2)])
    project.decide(flags[2, 2], Verdict.TAKE)
    assert project.check(lines, [(1, 2)]) == {(1, 2): first}
    project.check(project.export())
    assert project.decide(first, Verdict.COPY, 1).state is State.COPY


@pytest.mark.parametrize("line", [1, 2])
@pytest.mark.parametrize("now", [ALIKE[1:], [ALIKE[0], *ALIKE]], ids=["one is gone", "one more"])
def test_where_nobody_can_tell_which_of_two_lines_alike_is_gone_or_new_it_is_asked_again(
    project: Project, line: int, now: list[str]
) -> None:
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    project.decide(flags[line, 2], Verdict.TAKE)
    flags = project.check(now, [(n, 2) for n, source in enumerate(now, 1) if source == ALIKE[0]])
    assert {project.state(flag) for flag in flags.values()} == {State.OPEN}
    assert project.export() == now
    assert project.told() == [Unused.GONE]
    flags = project.check(ALIKE, [(1, 2), (2, 2)])
    assert {project.state(flag) for flag in flags.values()} <= {State.OPEN, State.CORRECTED}


def test_which_of_a_run_of_the_same_character_is_gone_nobody_can_tell(project: Project) -> None:
    flags = project.check(["丂甲北北北北甲乙"], [(1, 2)])
    project.decide(flags[1, 2], Verdict.TAKE)
    now = ["上下", "丂甲北北北甲乙"]
    project.check(now)
    assert project.export() == now
    assert project.told() == [Unused.GONE]


def test_a_correction_by_hand_whose_line_is_gone_keeps_no_export_back(project: Project) -> None:
    project.check(ALIKE)
    project.by_hand(2, 2)
    project.check(ALIKE[1:])
    assert project.export() == ALIKE[1:]
    assert project.told() == [Unused.GONE]


def test_what_is_taken_back_after_a_line_was_moved_is_done_again_over_what_another_had_decided_before(
    project: Project,
) -> None:
    """What stood before came back as it was taken back: nobody has changed it since."""
    flags = project.check(["甲乙北丙丁"], [(1, 2)])
    theirs = DecisionRequest(WORK, flags[1, 2], Verdict.KEEP, 0, "乙", "request-of-another")
    project.store.decisions.decide(theirs)
    project.decide(flags[1, 2], Verdict.TAKE, 1)
    here = project.check(["上下", "甲乙北丙丁"], [(2, 2)])[2, 2]
    for n in range(2):
        project.store.acts.undo(WORK, "甲", f"taken-back-{n}")
        assert project.state(here) == State.KEPT
        version = len(project.store.decisions.history(here))
        meanwhile = DecisionRequest(WORK, here, Verdict.COPY, version, "乙", f"meanwhile-{n}")
        project.store.decisions.decide(meanwhile)
        project.store.acts.undo(WORK, "乙", f"back-meanwhile-{n}")
        project.store.acts.redo(WORK, "甲", f"done-again-{n}")
        assert project.state(here) == State.CORRECTED
    assert project.export() == ["上下", "甲乙比丙丁"]


JOINED, PARTED = ["甲乙北丙丁戊己庚辛", "壬癸北子丑"], ["甲乙北丙", "丁戊己庚辛", "壬癸北子丑"]


@pytest.mark.parametrize(("before", "now"), [(PARTED, JOINED), (JOINED, PARTED), (PARTED, ["".join(PARTED)])])
def test_what_was_decided_stands_where_its_line_was_joined_to_another_or_parted(
    project: Project, before: list[str], now: list[str]
) -> None:
    norths = [(n, line.index("北")) for n, line in enumerate(before, 1) if "北" in line]
    flags = project.check(before, norths)
    project.decide(flags[norths[0]], Verdict.TAKE)
    project.by_hand(len(before), before[-1].index("子"))
    places = [(n, at) for n, line in enumerate(now, 1) for at, one in enumerate(line) if one == "北"]
    found = project.check(now, places)
    assert [project.state(found[place]) for place in places] == [State.CORRECTED, State.OPEN]
    assert project.told() == []
    assert "/".join(project.export()) == "/".join(now).replace("北", "比", 1).replace("子", "此")


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
