"""Places that are carried through changes of their texts, or lost."""

from __future__ import annotations

import pytest

from proof.store import Store
from proof.store.carried_places import DecidedFlag, ExportEdits, Place, TextChange, effects_of
from proof.store.decision_records import State, Verdict
from proof.text.edit import Edit, edited
from tests.build import check, decide, page, queued
from tests.store.exported import LINES, decided_places, decided_readings, export


def test_a_place_beside_a_correction_by_an_editor_is_kept(store: Store) -> None:
    """Only the decision tells which of two equal neighbouring characters is new."""
    check(store, page("上射坐", LINES[2], flags=((1, 1, "", "射"), (1, 1, "射", "躬"))))
    missing, kept = queued(store)
    decide(store, missing.number, Verdict.TAKE)
    decide(store, kept.number, Verdict.KEEP)
    check(store, page("上射射坐", LINES[2]))
    assert store.decisions.displaced("KR1") == []
    assert decided_readings(store) == {"": ("射", True), "射": ("射", True)}


def test_what_was_kept_of_a_gap_stays_beside_a_character_that_an_export_replaced(store: Store) -> None:
    check(store, page("上射坐", LINES[2], flags=((1, 1, "", "揖"), (1, 1, "射", "躬"), (1, 2, "", "而"))))
    before, character, after = queued(store)
    decide(store, before.number, Verdict.KEEP)
    decide(store, character.number, Verdict.TAKE)
    decide(store, after.number, Verdict.UNSURE)
    assert "\n上躬坐\n" in export(store)
    assert store.decisions.displaced("KR1") == []


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
    assert "\n".join((*lines, lines[0], "鄭注適次由列而北")) in export(store)
    assert [lost.transcribed for lost in store.decisions.displaced("KR1")] == ["天地"]


@pytest.mark.parametrize("lines", ["天地玄黃\n宇宙洪荒\n日月盈昃\n", "宇宙洪荒天地玄黃日月盈昃\n"])
def test_parts_of_a_text_that_an_export_moves_go_with_it_and_the_place_of_its_deletion_does_not(lines: str) -> None:
    moved = "宇宙洪荒\n" if "\n宇" in lines else "宇宙洪荒"
    start = lines.index("宇")
    written = ExportEdits((Edit(start, len(moved), ""), Edit(lines.index("日"), 0, moved)))
    change = TextChange(lines, edited(lines, written.edits), version=1, written=written)
    parts = {1: "宙", 2: "洪荒", 3: "宇宙洪荒"}
    places = [
        Place(n, lines.index(part), len(part), part, part, part, content=lines, version=1) for n, part in parts.items()
    ]
    carried = change.carried(places)
    assert {n: change.content[place.start :][:2] for n, place in carried.items()} == {1: "宙洪", 2: "洪荒"}


def test_a_place_stays_in_its_line_if_another_line_with_the_decided_reading_was_doubled(store: Store) -> None:
    check(store, page("上躬坐", "上射坐", LINES[2], flags=((2, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上躬坐", "上躬坐", "上射坐", LINES[2]))
    assert store.decisions.displaced("KR1") == []
    assert decided_readings(store) == {"射": ("躬", False)}


def test_a_move_does_not_count_as_exported_if_its_line_was_doubled(store: Store) -> None:
    line, moved = "上若有大夫士與為耦則以", ((1, 3, "", "士與"), (1, 5, "士與", ""))
    check(store, page(line, LINES[2], flags=moved))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    check(store, page(line, line, LINES[2]))
    assert {decided.flag.place.reads for decided in decided_places(store)} == {"", "士與"}
    assert len(store.decisions.displaced("KR1")) == 2


def test_a_move_does_not_count_as_exported_if_the_characters_between_were_changed(store: Store) -> None:
    check(store, page("上若有大夫士與為耦", flags=((1, 3, "", "士與"), (1, 5, "士與", ""))))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    check(store, page("上若有大士與為耦"))
    assert export(store) == "<pb:p1>\n上若有士與大為耦\n"


@pytest.mark.parametrize("written", ["上若有士與大夫為耦", "下若有士與大夫為耦"])
def test_a_move_that_an_editor_made_as_it_was_decided_is_taken_back(store: Store, written: str) -> None:
    check(store, page("上若有大夫士與為耦", flags=((1, 3, "", "士與"), (1, 5, "士與", ""))))
    flags = queued(store)
    for flag in flags:
        decide(store, flag.number, Verdict.TAKE)
    check(store, page(written))
    assert store.decisions.displaced("KR1") == []
    for flag in flags:
        decide(store, flag.number, Verdict.UNDO)
    assert export(store) == f"<pb:p1>\n{written.replace('士與大夫', '大夫士與')}\n"


@pytest.mark.parametrize("decided", [(3, 4), (0, 1)], ids=["later", "earlier"])
@pytest.mark.parametrize(
    ("state", "suggested", "reads", "replaces"),
    [
        (State.CORRECTED, "東", "", True),
        (State.CORRECTED, "東", "東", True),
        (State.KEPT, "西", "", True),
        (State.KEPT, "酉", "", True),
        (State.KEPT, "東", "", False),
        (State.SKIPPED, "西", "", False),
    ],
    ids=["put in next", "put in", "not missing", "its reading is not missing", "another is not missing", "skipped"],
)
def test_a_deletion_that_was_taken_back_gives_way_to_what_was_decided_later_at_its_gap(
    state: State, suggested: str, reads: str, replaces: bool, decided: tuple[int, int]
) -> None:
    gap = Place(flag=1, start=2, extent=0, reads="", transcribed="西", decided_reading="西", former=7)
    undone = DecidedFlag(1, 2, State.OPEN, "酉", gap, gap)
    reading = suggested if state is State.CORRECTED else ""
    place = Place(flag=2, start=2, extent=len(reads), reads=reads, transcribed="", decided_reading=reading)
    other = DecidedFlag(*decided, state, suggested, place, place)
    effects = effects_of([undone, other], f"夫之{reads}北耦")
    assert effects.kept == ({1} if replaces and decided > (1, 2) else set())
    assert effects.restored == {1: "西"}


def test_a_surplus_character_that_was_put_back_stays_where_an_unread_glyph_is_said_not_to_be_missing() -> None:
    gap = Place(flag=1, start=2, extent=0, reads="", transcribed="西", decided_reading="西", former=7)
    undone = DecidedFlag(1, 2, State.OPEN, "", gap, gap)
    place = Place(flag=2, start=2, extent=0, reads="", transcribed="", decided_reading="")
    unread = DecidedFlag(3, 4, State.KEPT, "", place, place)
    assert effects_of([undone, unread], "夫之北耦").kept == set()
