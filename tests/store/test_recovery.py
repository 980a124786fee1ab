"""Decisions that are recovered from the journal at the present places of their characters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proof.model.flags import Kind
from proof.model.result import PageResult
from proof.store import Store
from proof.store.decision_records import State, Verdict
from proof.store.manual_corrections import ManualCorrection
from tests import build
from tests.build import PLACE, check, decide, demand, page, queued, standing_decisions
from tests.store.exported import LINES, content, decided_readings, export


@contextmanager
def recovered(old: Store, folder: Path, now: PageResult, rebuilt: dict[str, int]) -> Iterator[Store]:
    """A new store with a check of the page `now`, into which the decisions were recovered from the journal of `old`."""
    assert old.journal is not None
    with Store.open(folder / "new" / "proof.sqlite") as new:
        check(new, now)
        done = new.recover(old.journal.path)
        assert (done.rebuilt, done.unplaced) == (rebuilt, ())
        yield new
        assert new.recover(old.journal.path).rebuilt == {}


def test_a_lost_place_does_not_return_if_a_possibly_identical_place_was_decided_since(
    store: Store, tmp_path: Path
) -> None:
    """A line is doubled, flagged and decided again, and one of the two is deleted; which one is unknown."""
    once, twice = ("上射坐", LINES[2]), ("上射坐", "上射坐", LINES[2])
    asked = ((1, 1, "射", "躬"),)
    check(store, page(*once, flags=asked))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page(*twice, flags=asked))
    [again] = queued(store)
    decide(store, again.number, Verdict.KEEP)
    for lines in (once, (*once, "又"), once):
        check(store, page(*lines))
        assert len(store.decisions.displaced("KR1")) == 2
    with recovered(store, tmp_path, page(*once, flags=asked), {"decision": 2}) as new:
        assert len(new.decisions.displaced("KR1")) == 2
        check(new, page(*once, "又", flags=asked))
        assert len(new.decisions.displaced("KR1")) == 2
        assert [flag.state for flag in queued(new)] == [State.OPEN]


@pytest.mark.parametrize("times", [1, 2], ids=["once", "in lines that were doubled since"])
def test_an_exported_decision_is_recovered_as_exported(decided: Store, tmp_path: Path, times: int) -> None:
    """A decision that was exported before its line was doubled is in both copies."""
    export(decided)
    now = page(*("上射揖揖坐", "東面于比耦大夫") * times, LINES[2])
    check(decided, now)
    with recovered(decided, tmp_path, now, {"decision": 2}) as new:
        assert decided_readings(new) == decided_readings(decided) == {"": ("揖", True), "北": ("比", True)}
        lost = 2 if times == 2 else 0
        assert len(new.decisions.displaced("KR1")) == len(decided.decisions.displaced("KR1")) == lost


def test_a_lost_place_is_recovered_as_lost(store: Store, tmp_path: Path) -> None:
    """Of a doubled line it is unknown which copy was meant, even if one of the two is changed later."""
    check(store, page("上射坐", LINES[2], flags=((1, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上射坐", "上射坐", LINES[2], flags=((3, 0, "與", "興"),)))
    decide(store, next(flag.number for flag in queued(store) if flag.flag.transcribed == "與"), Verdict.TAKE)
    changed = page("上也射坐", "上射坐", LINES[2])
    check(store, changed)
    with recovered(store, tmp_path, changed, {"decision": 2}) as new:
        displaced = [[lost.transcribed for lost in each.decisions.displaced("KR1")] for each in (store, new)]
        assert displaced == [["射"], ["射"]]


def test_a_finding_and_an_undone_correction_by_hand_at_its_place_are_both_recovered(
    store: Store, tmp_path: Path
) -> None:
    asked = page(*LINES, flags=((1, 1, "射", "躬"),))
    check(store, page(*LINES))
    by_hand = store.manual_corrections.correct(ManualCorrection("KR1", 1, 1, 1, 1, "某", "甲", "request-0001"))
    decide(store, by_hand.flag, Verdict.UNDO)
    check(store, asked)
    decide(store, queued(store)[0].number, Verdict.TAKE)
    with recovered(store, tmp_path, asked, {"decision": 3}) as new:
        assert [decision.reading for decision in standing_decisions(new, "KR1")] == ["躬"]


def test_a_correction_by_hand_that_is_redone_answers_a_finding_at_its_place(store: Store, tmp_path: Path) -> None:
    check(store, page(*LINES))
    store.manual_corrections.correct(ManualCorrection("KR1", 1, 1, 1, 1, "某", "甲", "request-0001"))
    export(store)
    asked = page("上某揖坐", *LINES[1:], flags=((1, 1, "某", "射"),))
    with recovered(store, tmp_path, asked, {"decision": 1}) as new:
        [made] = standing_decisions(new, "KR1")
        new.decisions.decide(demand(made.flag, Verdict.UNDO, 1))
        check(new, asked, key="unchanged ")
        assert export(new) == content(store).replace("某", "射")
        new.decisions.decide(demand(made.flag, Verdict.UNDO, 2))
        assert export(new) == content(store)
        check(new, asked, key="unchanged ")
        assert not queued(new, states=(State.OPEN,))
        assert decided_readings(new) == decided_readings(store)


def test_a_decision_on_missing_characters_does_not_answer_a_layout_finding_at_its_place(
    store: Store, tmp_path: Path
) -> None:
    """The page has another layout when the decision is recovered, and then the first one again."""
    asked = page(*LINES, flags=(build.flag(1, 3, "", "某"), build.flag(1, 3, "", "揖", id="another")))
    divided = build.flag(1, 3, "", "¶", id="division", kind=Kind.LAYOUT)
    check(store, asked)
    decide(store, queued(store)[0].number, Verdict.TYPED, reading="也")
    with recovered(store, tmp_path, page(*LINES, flags=(divided,)), {"decision": 1}) as new:
        assert [shown.flag.suggested for shown in queued(new, states=(State.OPEN,))] == ["¶"]
        check(new, asked)
        assert not queued(new, states=(State.OPEN,))
        assert decided_readings(new) == decided_readings(store) == {"": ("也", False)}


def test_a_place_lost_in_a_changed_column_stays_lost_when_the_unchanged_page_is_checked_again(
    store: Store, tmp_path: Path
) -> None:
    check(store, page("上射坐", LINES[2], flags=((1, 2, "", "揖"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    changed = page("上射某也", LINES[2])
    check(store, changed)
    with recovered(store, tmp_path, changed, {"decision": 1}) as new:
        check(new, changed, key="unchanged ")
        check(new, changed, key="unchanged ")
        assert [lost.reading for lost in new.decisions.displaced("KR1")] == ["揖"]


def test_a_text_that_was_renamed_and_then_rewritten_is_recognised_by_its_content_when_renamed(
    decided: Store, tmp_path: Path
) -> None:
    rewritten = page(*"一二三四五六七八", *LINES, *"九十甲乙丙丁戊己")
    decided.texts.move("KR1", PLACE.text, "renamed.txt")
    check(decided, rewritten, text="renamed.txt")
    assert decided.journal is not None
    with Store.open(tmp_path / "new" / "proof.sqlite") as new:
        check(new, rewritten, text="renamed.txt")
        new.recover(decided.journal.path)
        assert decided_readings(new) == decided_readings(decided) == {"": ("揖", False), "北": ("比", False)}
