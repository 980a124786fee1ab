"""A place whose text was changed has one word, the last, whichever of its flags somebody decides, undoes or redoes."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import select

from proof.model.flags import Evidence, Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.result import CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.acts import ChangedError, NothingLeftError, Undone
from proof.store.decision_records import ConflictError, Decision, DecisionRequest, State, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import ColumnRow, FlagRow
from proof.store.saving import CheckedResult
from proof.store.standing import Event, standing
from proof.verify.page_findings import numbered

WORK, PAGE, LINE = "KR1", "KR1_WYG_010-1a", "大夫之西北耦東面于堂下"
ABOVE = ("新行一", "又一行庚")
READINGS = {Verdict.TAKE: "比", Verdict.TYPED: "此", Verdict.KEEP: "北"}


class Desk:
    """A page with one flag in a line above which others are put in and taken out; or, not `flagged`, with a character
    that somebody corrected by hand."""

    def __init__(self, store: Store, *, flagged: bool = True) -> None:
        self.store, self.keys, self.flagged = store, count(10_000_000), flagged
        self.above(0)

    def by_hand(self, person: str, reading: str) -> Decision:
        """The character is corrected where it stands by now."""
        with self.store._reading() as session:
            columns = select(ColumnRow.page_id, ColumnRow.number).where(ColumnRow.source == LINE)
            page, line = session.execute(columns).one()
        return self.store.manual_corrections.correct(
            ManualCorrection(WORK, page, line, 4, 1, reading, person, self.key())
        )

    def above(self, lines: int | None) -> None:
        """The page is read again with so many lines above; with None, without the line itself."""
        sources = [*ABOVE[:lines], LINE] if lines is not None else list(ABOVE)
        kind, why = Kind.SUBSTITUTION, Evidence("posterior")
        flag = Flag(PAGE, "ref", (lines or 0) + 1, 4, 1, kind, "北", "比", 5.0, True, None, why, context_of(LINE, 4, 1))
        found = [flag] if self.flagged and lines is not None else []
        columns = tuple(CheckedColumn(n, Box(0, 0, 9, 99), source) for n, source in enumerate(sources, 1))
        texts = (TextInfo("KR1_010.txt", "sha", "kanripo", "traditional"),)
        run = self.store.begin_run(RunInfo(WORK, "書", texts, EngineIdentity("none", "1", "none", "0")))
        result = PageResult(PAGE, "ref", Status.CHECKED, columns=columns, flags=numbered(found))
        self.store.save_pages(run, [CheckedResult(PagePlace(0, "KR1_010.txt"), "", result)])
        self.store.finish_run(run, whole=True)

    @property
    def seen(self) -> FlagRow:
        with self.store._reading() as session:
            return session.scalars(select(FlagRow).where(FlagRow.stale.is_(False))).one()

    @property
    def stands(self) -> tuple[str, str]:
        flag = self.seen
        return (flag.state, flag.reading) if flag.state != State.OPEN else (flag.state, "")

    def decide(self, flag: int, verdict: Verdict, person: str, version: int | None = None) -> Decision:
        if version is None:
            with self.store._reading() as session:
                version = session.get_one(FlagRow, flag).version
        reading = READINGS[verdict] if verdict is Verdict.TYPED else ""
        asked = DecisionRequest(WORK, flag, verdict, version, person, self.key(), reading)
        return self.store.decisions.decide(asked)

    def undo(self, person: str, **options: bool) -> Undone:
        return self.store.acts.undo(WORK, person, self.key(), **options)

    def redo(self, person: str) -> Undone:
        return self.store.acts.redo(WORK, person, self.key())

    def makers(self) -> list[tuple[str, str]]:
        """What stands, as an export sees it, and who made it so."""
        found = [one for one in self.store.decisions.standing(WORK) if one.flag == self.seen.id]
        makers = self.store.decisions.makers(found)
        return [(one.reading, makers[one.id]) for one in found]

    def key(self) -> str:
        return f"key-{next(self.keys)}"


@pytest.fixture
def desk(store: Store) -> Desk:
    return Desk(store)


def test_nothing_is_done_again_where_another_decided_the_place_under_a_later_flag(desk: Desk) -> None:
    """Nor does it stand over theirs where the text goes back to what it was."""
    desk.decide(desk.seen.id, Verdict.TAKE, "甲")
    desk.undo("甲")
    desk.above(1)
    desk.decide(desk.seen.id, Verdict.KEEP, "乙")
    with pytest.raises(ChangedError) as refused:
        desk.redo("甲")
    assert refused.value.people == ("乙",)
    assert (desk.stands, desk.makers()) == (("kept", "北"), [("北", "乙")])
    desk.above(0)
    assert (desk.stands, desk.makers()) == (("kept", "北"), [("北", "乙")])


def test_nothing_is_taken_back_under_the_word_of_another(desk: Desk) -> None:
    first = desk.seen.id
    desk.decide(first, Verdict.TAKE, "甲")
    desk.above(1)
    desk.decide(desk.seen.id, Verdict.KEEP, "乙")
    with pytest.raises(ChangedError):
        desk.undo("甲")
    with pytest.raises(NothingLeftError):
        desk.undo("甲", leave=True)
    with pytest.raises(ConflictError) as refused:  # from a desk that shows the page as it was
        desk.decide(first, Verdict.UNDO, "甲")
    assert refused.value.decisions[-1].person == "乙"
    assert desk.stands == ("kept", "北")


def test_what_is_done_again_is_seen_where_another_took_their_own_back_meanwhile(desk: Desk) -> None:
    desk.decide(desk.seen.id, Verdict.TAKE, "甲")
    desk.undo("甲")
    desk.above(1)
    desk.decide(desk.seen.id, Verdict.KEEP, "乙")
    desk.undo("乙")
    desk.redo("甲")
    assert (desk.stands, desk.makers()) == (("corrected", "比"), [("比", "甲")])


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.TAKE, Verdict.TYPED])
def test_what_was_decided_after_another_took_theirs_back_comes_back_with_the_text(desk: Desk, verdict: Verdict) -> None:
    desk.decide(desk.seen.id, Verdict.TAKE, "甲")
    desk.undo("甲")
    desk.above(1)
    made = desk.decide(desk.seen.id, verdict, "乙")
    desk.above(0)
    assert desk.stands == (made.state, made.reading)
    assert desk.makers() == [(READINGS[verdict], "乙")]


def test_what_stood_before_is_seen_again_where_a_later_flag_shows_the_place(desk: Desk) -> None:
    """And each step is done again as it was decided."""
    desk.decide(desk.seen.id, Verdict.TAKE, "甲")
    desk.above(1)
    desk.decide(desk.seen.id, Verdict.KEEP, "甲")
    desk.above(2)
    ways: list[tuple[Callable[[str], Undone], tuple[str, str]]] = [
        (desk.undo, ("corrected", "比")),
        (desk.undo, ("open", "")),
        (desk.redo, ("corrected", "比")),
        (desk.redo, ("kept", "北")),
    ]
    for way, stands in (*ways, *ways):
        way("甲")
        assert desk.stands == stands


def test_the_last_word_is_that_of_who_said_it_though_another_said_the_same_before(desk: Desk) -> None:
    desk.above(1)
    desk.above(0)
    desk.decide(desk.seen.id, Verdict.TAKE, "甲")
    desk.above(1)
    desk.decide(desk.seen.id, Verdict.TAKE, "乙")
    desk.above(0)
    assert desk.makers() == [("比", "乙")]


def test_the_last_word_is_found_again_though_the_line_was_gone_meanwhile(desk: Desk) -> None:
    """Under the flag that it had first, whatever flags it had since."""
    desk.decide(desk.seen.id, Verdict.KEEP, "甲")
    desk.above(None)
    desk.above(2)
    desk.decide(desk.seen.id, Verdict.TAKE, "乙")
    desk.above(1)
    for lines in (0, 2, 1, 0):
        desk.above(None)
        desk.above(lines)
        assert (desk.stands, desk.makers()) == (("corrected", "比"), [("比", "乙")])


def test_what_was_taken_back_while_the_line_was_gone_comes_back_so(desk: Desk) -> None:
    desk.decide(desk.seen.id, Verdict.TYPED, "甲")
    desk.decide(desk.seen.id, Verdict.KEEP, "甲")
    desk.above(1)
    desk.above(None)
    desk.undo("甲")
    desk.above(1)
    assert desk.stands == ("corrected", "此")


@pytest.fixture
def corrected(store: Store) -> Desk:
    desk = Desk(store, flagged=False)
    desk.by_hand("丙", "此")
    return desk


def test_a_correction_by_hand_stands_where_its_line_stands_however_often_that_is_moved(corrected: Desk) -> None:
    for lines in (1, 2, 0, 1, 0):
        corrected.above(lines)
        flag = corrected.seen
        assert (flag.line, flag.offset, flag.context) == (lines + 1, 4, context_of(LINE, 4, 1))
        assert corrected.makers() == [("此", "丙")]


def test_a_correction_by_hand_is_not_done_again_where_another_corrected_its_place_meanwhile(corrected: Desk) -> None:
    corrected.undo("丙")
    corrected.above(1)
    corrected.by_hand("乙", "彼")
    with pytest.raises(ChangedError) as refused:
        corrected.redo("丙")
    assert refused.value.people == ("乙",)
    corrected.above(0)
    assert corrected.makers() == [("彼", "乙")]


def test_who_is_refused_is_told_who_decided_and_not_that_a_check_carried_it_over(corrected: Desk) -> None:
    corrected.above(1)
    with pytest.raises(ConflictError, match="丙") as refused:
        corrected.by_hand("乙", "彼")
    assert [one.person for one in refused.value.decisions] == ["丙"]


@pytest.mark.parametrize("moved", [(1,), (1, 0), (1, 2, 0, 1), (2, 1, 2, 0)])
def test_a_correction_by_hand_comes_back_out_of_the_journal_where_its_line_stands(
    tmp_path: Path, moved: tuple[int, ...]
) -> None:
    """A line that is back where it was left no act."""
    with Store.open(tmp_path / "proof.sqlite") as store, Store.open(tmp_path / "new.sqlite") as new:
        desk, again = Desk(store, flagged=False), Desk(new, flagged=False)
        desk.by_hand("丙", "此")
        for lines in moved:
            desk.above(lines)
            desk.decide(desk.seen.id, Verdict.TYPED if lines else Verdict.TAKE, "甲")
        again.above(moved[-1])
        assert store.journal is not None
        new.recover(store.journal.path)
        assert (again.stands, again.makers()) == (desk.stands, desk.makers())
        assert (again.seen.line, again.seen.context) == (moved[-1] + 1, context_of(LINE, 4, 1))
        assert new.faults() == []


class Place:
    """What was said of the place, in one list, whichever flag it was said of: which of it stands tells what is seen."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.events: list[Event] = []
        self.said: dict[int, tuple[str, str]] = {}
        self.shown: dict[int, tuple[int, int]] = {}
        if not desk.flagged:
            desk.by_hand("丙", "此")
            self.add("丙", None, desk.stands)
        self.hold()

    def left(self, number: int) -> tuple[str, str]:
        """How the place stands after that event, by its number from 1; 0 is before all."""
        return self.said[self.events[number - 1].id] if number else ("open", "")

    def hold(self) -> None:
        assert self.desk.stands == self.left(standing(self.events))
        flag = self.desk.seen
        self.shown[flag.id] = flag.version, len(self.events)

    def add(self, person: str, about: int | None, stands: tuple[str, str]) -> None:
        self.events.append(Event(len(self.events) + 1, about, person))
        self.said[len(self.events)] = stands

    def moves(self, lines: int, *, gone: bool) -> None:
        if gone:  # for a while; a flag that nobody decided is not known to be the same then
            self.desk.above(None)
            self.shown.clear()
        self.desk.above(lines)
        self.hold()

    def decides(self, person: str, verdict: Verdict, flag: int) -> None:
        """On the flag that is seen, or on one that a desk still shows."""
        version, known = self.shown[flag]
        try:
            made = self.desk.decide(flag, verdict, person, version)
        except ConflictError:
            assert flag != self.desk.seen.id
            return
        changed = standing(self.events) != standing(self.events, known)
        assert not changed or {event.person for event in self.events[known:]} <= {person}
        self.add(person, None, (made.state.value, made.reading))
        self.hold()

    def acts(self, person: str, *, again: bool) -> None:
        """What a person did last, and nobody changed since, is taken back or done again: that, and nothing else."""
        try:
            (self.desk.redo if again else self.desk.undo)(person)
        except ChangedError as refused:
            assert person not in refused.people  # noqa: PT017
            return
        except NothingLeftError:
            assert self.wanted(person, again=again) is None
            return
        about = self.wanted(person, again=again)
        assert about is not None
        self.add(person, about, self.left(standing(self.events, about - 1)))
        self.hold()

    def wanted(self, person: str, *, again: bool) -> int | None:
        settled: set[int | None] = set()
        for event in reversed(self.events):
            if event.person != person or event.id in settled:
                continue
            steps, about = 0, event.about
            while about is not None:
                steps, about = steps + 1, self.events[about - 1].about
            if again and not steps:
                return None
            if steps % 2 != again:
                settled.add(event.about)
            elif standing(self.events) == standing(self.events, event.id):
                return event.id
        return None


@pytest.mark.slow
@pytest.mark.parametrize("flagged", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_decided_and_taken_back_a_place_shows_its_last_word(
    seed: int, flagged: bool, tmp_path: Path
) -> None:
    chance = random.Random(seed)  # noqa: S311
    with Store.open(tmp_path / "proof.sqlite") as store:
        place = Place(Desk(store, flagged=flagged))
        for _ in range(14):
            person, verdict = chance.choice("甲乙"), chance.choice(list(READINGS))
            match chance.choice(["moves", "moves", "decides", "decides", "late", "undo", "undo", "redo"]):
                case "moves":
                    place.moves(chance.randrange(3), gone=flagged and chance.random() < 0.3)
                case "decides":
                    place.decides(person, verdict, place.desk.seen.id)
                case "late":
                    place.decides(person, verdict, chance.choice(sorted(place.shown)))
                case way:
                    place.acts(person, again=way == "redo")
