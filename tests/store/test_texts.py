"""Places of decisions follow the changes of their texts: a decision is exported once, and listed if its place is
lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from proof.model.flags import Flag, Kind, numbered
from proof.model.result import PageResult
from proof.store import CheckedResult, Store, TextInfo
from proof.store.decision_records import State, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.text_changes import ExportEdits
from proof.store.texts import sha_of
from proof.text.edit import Edit, edited
from proof.text.positions import Span
from tests import build
from tests.build import PLACE, check, check_at, decide, demand, page, queued, run_info
from tests.standing import standing_decisions
from tests.store.conftest import on_both

LINES = ("上射揖坐", "東面于北耦大夫", "與進者相左")


FOUND = ((1, 3, "", "揖"), (2, 3, "北", "比"))


@pytest.fixture
def decided(store: Store) -> Store:
    """A store with two accepted suggestions: an insertion, and another character for 北."""
    check(store, page(*LINES, flags=FOUND))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    return store


def wanted(store: Store) -> dict[str, tuple[str, bool]]:
    """The decided reading of each place, by transcribed reading, and whether the text has it."""
    places = [decided.place for decided in store.texts.decided_places("KR1")]
    return {place.transcribed: (place.decided_reading, place.reads == place.decided_reading) for place in places}


def content(store: Store) -> str:
    return store.texts.content_of_version(store.texts.decided_places("KR1")[0].present)


def write(store: Store) -> str:
    """Record the export of all pending decisions; returns the text."""
    before = content(store)
    edits = {
        decided.place.flag: Edit(decided.place.start, decided.place.extent, decided.place.decided_reading)
        for decided in store.texts.decided_places("KR1")
        if decided.place.reads != decided.place.decided_reading and decided.version == decided.present
    }
    after = edited(before, edits.values())
    written = ExportEdits(tuple(edits.values()), edits)
    store.texts.record_export(PLACE.text, before, after, "traditional", written, lambda: True)
    return after


@on_both
def test_a_decision_is_exported_once_however_often_the_text_is_exported_and_checked(decided: Store) -> None:
    first = write(decided)
    assert "上射揖揖坐" in first
    for _ in range(5):
        check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2]))
        assert write(decided) == first
        assert decided.decisions.displaced("KR1") == []


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


@on_both
def test_an_exported_decision_is_not_asked_again(decided: Store) -> None:
    write(decided)
    again = ((2, 3, "比", "北"), (1, 2, "揖揖", "揖"), (3, 0, "與", "興"))
    check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2], flags=again))
    assert [flag.flag.transcribed for flag in queued(decided)] == ["揖揖", "與"]


@on_both
def test_of_several_findings_at_a_place_none_is_asked_once_one_is_decided(store: Store) -> None:
    twice = page(*LINES, flags=((1, 3, "", "揖"), (1, 3, "", "坐")))
    twice = replace(twice, flags=numbered(twice.flags))
    check(store, twice)
    assert len(queued(store)) == 2
    decide(store, queued(store)[0].number, Verdict.TAKE)
    for _ in range(2):
        assert [flag.state for flag in queued(store)] == [State.CORRECTED]
        check(store, twice)


def test_an_undone_decision_is_not_asked_if_another_finding_at_its_place_is_decided(store: Store) -> None:
    for suggested, taken_back in (("", True), ("日", False)):
        check(store, page("上射坐", flags=((1, 1, "射", suggested),)))
        [open_flag] = queued(store, states=(State.OPEN,))
        decide(store, open_flag.number, Verdict.TAKE)
        if taken_back:
            decide(store, open_flag.number, Verdict.UNDO)
    check(store, page("上射坐", flags=((1, 1, "射", ""),)))
    assert queued(store, states=(State.OPEN,)) == []


@on_both
@pytest.mark.parametrize(
    ("among", "seen"),
    [(False, True), (True, True), (True, False)],
    ids=["another page", "a page among the columns of another", "one among columns of which one was not found"],
)
def test_a_flag_moves_to_the_page_that_has_its_characters(decided: Store, among: bool, seen: bool) -> None:
    text = content(decided)
    starts = [text.index(line) for line in LINES]
    last = (1, 3, "北", "比")
    first, second = page(LINES[0], flags=FOUND[:1]), page(LINES[1], flags=(last,), name="p2")
    spans = [Span(start, len(line)) for start, line in zip(starts, LINES, strict=False)]
    lines = {1: spans[0], 2: spans[2]} if among else {1: spans[0]}
    if among:
        first = page(LINES[0], LINES[2], flags=FOUND[:1])
    if not seen:
        first = replace(first, columns=first.columns[1:])
    places = (replace(PLACE, lines=lines), replace(PLACE, position=1, lines={1: spans[1]}))
    check_at(decided, text, list(zip(places, (first, second), strict=True)))
    assert [(flag.flag.page, flag.flag.line, flag.state) for flag in queued(decided)] == [
        ("p1", 1, State.CORRECTED),
        ("p2", 1, State.CORRECTED),
    ]


def test_a_place_beside_a_correction_by_an_editor_is_kept(store: Store) -> None:
    """Only the decision tells which of two equal neighbouring characters is new."""
    check(store, page("上射坐", LINES[2], flags=((1, 1, "", "射"), (1, 1, "射", "躬"))))
    missing, kept = queued(store)
    decide(store, missing.number, Verdict.TAKE)
    decide(store, kept.number, Verdict.KEEP)
    check(store, page("上射射坐", LINES[2]))
    assert store.decisions.displaced("KR1") == []
    assert wanted(store) == {"": ("射", True), "射": ("射", True)}


def test_a_place_is_lost_if_its_line_was_doubled_and_one_copy_corrected(store: Store) -> None:
    check(store, page("上射坐", LINES[2], flags=((1, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上躬坐", "上射坐", LINES[2]))
    assert [lost.transcribed for lost in store.decisions.displaced("KR1")] == ["射"]


def test_an_export_elsewhere_does_not_bring_a_lost_place_back(store: Store) -> None:
    """Two lines are doubled, with a character missing in one copy; the export inserts it and corrects the other
    copy."""
    lines = ("夫曰請降天地司射", "鄭注適次由前而北")
    check(store, page(*lines, flags=((1, 4, "天地", ""),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page(lines[0], "鄭注次由前而北", *lines, flags=((2, 2, "", "適"), (4, 5, "前", "列"))))
    assert [lost.transcribed for lost in store.decisions.displaced("KR1")] == ["天地"]
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    assert "\n".join((*lines, lines[0], "鄭注適次由列而北")) in write(store)
    assert [lost.transcribed for lost in store.decisions.displaced("KR1")] == ["天地"]


def test_a_place_stays_in_its_line_if_another_line_with_the_decided_reading_was_doubled(store: Store) -> None:
    check(store, page("上躬坐", "上射坐", LINES[2], flags=((2, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上躬坐", "上躬坐", "上射坐", LINES[2]))
    assert store.decisions.displaced("KR1") == []
    assert wanted(store) == {"射": ("躬", False)}


def test_a_move_does_not_count_as_exported_if_its_line_was_doubled(store: Store) -> None:
    line, moved = "上若有大夫士與為耦則以", ((1, 3, "", "士與"), (1, 5, "士與", ""))
    check(store, page(line, LINES[2], flags=moved))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    check(store, page(line, line, LINES[2]))
    assert {decided.place.reads for decided in store.texts.decided_places("KR1")} == {"", "士與"}
    assert len(store.decisions.displaced("KR1")) == 2


def test_a_move_does_not_count_as_exported_if_the_characters_between_were_changed(store: Store) -> None:
    check(store, page("上若有大夫士與為耦", flags=((1, 3, "", "士與"), (1, 5, "士與", ""))))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    check(store, page("上若有大士與為耦"))
    assert write(store) == "<pb:p1>\n上若有士與大為耦\n"


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


@pytest.mark.parametrize("times", [1, 2], ids=["once", "in lines that were doubled since"])
def test_an_exported_decision_is_recovered_as_exported(decided: Store, tmp_path: Path, times: int) -> None:
    """A decision that was exported before its line was doubled is in both copies."""
    write(decided)
    now = page(*("上射揖揖坐", "東面于比耦大夫") * times, LINES[2])
    check(decided, now)
    with recovered(decided, tmp_path, now, {"decision": 2}) as new:
        assert wanted(new) == wanted(decided) == {"": ("揖", True), "北": ("比", True)}
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
    write(store)
    asked = page("上某揖坐", *LINES[1:], flags=((1, 1, "某", "射"),))
    with recovered(store, tmp_path, asked, {"decision": 1}) as new:
        [made] = new.decisions.last_of_flags("KR1")
        new.decisions.decide(demand(made.flag, Verdict.UNDO, 1))
        check(new, asked, key="unchanged ")
        assert write(new) == content(store).replace("某", "射")
        new.decisions.decide(demand(made.flag, Verdict.UNDO, 2))
        assert write(new) == content(store)
        check(new, asked, key="unchanged ")
        assert not queued(new, states=(State.OPEN,))
        assert wanted(new) == wanted(store)


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
        assert wanted(new) == wanted(store) == {"": ("也", False)}


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
        assert wanted(new) == wanted(decided) == {"": ("揖", False), "北": ("比", False)}


@on_both
def test_outdated_content_is_not_recorded_over_newer_content(decided: Store) -> None:
    versions = decided.texts
    before, after = content(decided), write(decided)
    newer = f"{after}又\n"
    assert versions.record_content(PLACE.text, newer, "", lambda: True)
    assert not versions.record_content(PLACE.text, before, "", lambda: False)
    versions.record_export(PLACE.text, before, f"{before}也", "", ExportEdits(()), lambda: False)
    assert versions.content(PLACE.text) == newer
    decided.texts.move("KR1", PLACE.text, "other.txt")
    assert not versions.record_content(PLACE.text, newer + "也", "traditional", lambda: True)
    assert versions.paths() == {"other.txt"}


@on_both
def test_flags_that_change_places_on_a_page_keep_their_ids(decided: Store) -> None:
    names = {flag.flag.id for flag in queued(decided)}
    moved = page(LINES[1], LINES[0], LINES[2], flags=((1, 3, "北", "比"), (2, 3, "", "揖")))
    check(decided, moved)
    assert {flag.flag.id for flag in queued(decided)} == names


@on_both
def test_a_lost_place_after_the_end_of_its_page_stays_lost(decided: Store) -> None:
    first, only = replace(PLACE, lines={1: Span(0, len(LINES[0]))}), page(LINES[0], flags=FOUND[:1])
    for line_of_another_page in (LINES[1], "", "又"):
        check_at(decided, f"{LINES[0]}\n{line_of_another_page}\n", [(first, only)], key="unchanged ")
    assert [lost.transcribed for lost in decided.decisions.displaced("KR1")] == ["北"]


@on_both
def test_a_lost_place_returns_with_its_page_after_another_page_was_exported_and_moved(store: Store) -> None:
    last = len(LINES[1])
    first = replace(PLACE, lines={1: Span(0, 3), 2: Span(4, 3)})
    second = replace(PLACE, position=1, lines={1: Span(8, last)})
    pages = (
        page("上射坐", "上射坐", flags=((1, 1, "射", "躬"),)),
        page(LINES[1], flags=((1, 3, "北", "比"),), name="p2"),
    )
    text = f"上射坐\n上射坐\n{LINES[1]}\n"
    check_at(store, text, [(first, pages[0]), (second, pages[1])], key="unchanged ")
    one_of_two, written = queued(store)
    decide(store, written.number, Verdict.TAKE)
    line = write(store).split("\n")[2]
    first = replace(PLACE, position=1, lines={1: Span(8, 3), 2: Span(12, 3)})
    second = replace(PLACE, lines={1: Span(0, last)})
    check_at(store, f"{line}\n上射坐\n上射坐\n", [(second, pages[1]), (first, pages[0])], key="unchanged ")
    decide(store, one_of_two.number, Verdict.TAKE)
    assert store.decisions.displaced("KR1") == []
    assert write(store) == f"{line}\n上躬坐\n上射坐\n"


def check_pages_that_share_a_line(store: Store, *flags: tuple[Flag, ...]) -> None:
    """Check two pages of a text without page marks, saved one after the other, which share the second line."""
    content = "\n".join(LINES)
    spans = {n: Span(content.index(source), len(source)) for n, source in enumerate(LINES, 1)}
    sha = sha_of(content)
    text = TextInfo(PLACE.text, sha, "inline", "traditional", content)
    run = store.begin_run(replace(run_info(), texts=(text,)))
    for position, (lines, found) in enumerate(zip(((1, 2), (2, 3)), flags, strict=True)):
        place = replace(PLACE, position=position, sha=sha, lines={n: spans[n] for n in lines})
        result = replace(page(name=f"p{position + 1}"), flags=tuple(found))
        store.save_pages(run, [CheckedResult(place, "", result)])
    store.finish_run(run, whole=True)


def of_line_2(offset: int, here: str, there: str, name: str) -> Flag:
    return page(*LINES, flags=((2, offset, here, there),), name=name).flags[0]


@on_both
def test_two_pages_that_share_a_line_keep_their_flags(store: Store) -> None:
    for _ in range(2):
        check_pages_that_share_a_line(store, (of_line_2(1, "面", "靣", "p1"),), (of_line_2(5, "大", "太", "p2"),))
        assert [(shown.flag.page, shown.flag.transcribed) for shown in queued(store)] == [("p1", "面"), ("p2", "大")]


@on_both
@pytest.mark.parametrize("before", ["p1", "p2"])
def test_a_flag_in_a_shared_line_moves_to_the_page_on_which_it_is_found(store: Store, before: str) -> None:
    """Another check may begin the page elsewhere in the line; a decided flag is not asked again."""
    for name in (before, "p1" if before == "p2" else "p2"):
        found = (of_line_2(3, "北", "比", name),)
        check_pages_that_share_a_line(store, *((found, ()) if name == "p1" else ((), found)))
        if name == before:
            decide(store, queued(store)[0].number, Verdict.KEEP)
        assert [(shown.flag.page, shown.state) for shown in queued(store)] == [(name, State.KEPT)]
