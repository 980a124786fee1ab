"""Findings of a check that are matched with the flags of earlier checks, and decisions that answer them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proof.model.flags import Evidence, Flag, Kind, with_ids
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter
from proof.store import CheckedResult, Store, TextInfo
from proof.store.carried_places import ExportEdits
from proof.store.column_changes import ColumnChange
from proof.store.decision_records import State, Verdict
from proof.store.editions import CarriedDecision
from proof.store.manual_corrections import ManualCorrection
from proof.store.texts import sha_of
from proof.text.edit import Edit, edited
from proof.text.model import Row
from proof.text.positions import Span
from proof.text.read import read_transcription
from tests.build import PLACE, WORK, by_hand, check, check_at, check_files, decide, flag, key, page, queued, run_info
from tests.store.conftest import on_both
from tests.store.exported import FOUND, LINES, content, export

Found = tuple[int, str, str]
"""A finding in column 1: its offset, what the text has, and what is suggested."""


@on_both
def test_an_exported_decision_is_not_asked_again(decided: Store) -> None:
    export(decided)
    again = ((2, 3, "比", "北"), (1, 2, "揖揖", "揖"), (3, 0, "與", "興"))
    check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2], flags=again))
    assert [flag.flag.transcribed for flag in queued(decided)] == ["與"]


@on_both
def test_what_is_left_of_a_column_is_not_asked_though_an_equal_one_was_added_elsewhere(store: Store) -> None:
    """The added column 日月盈昃 is split in the export that adds an equal one, and another export follows."""

    def export_and_check(*flags: tuple[int, int, str, str]) -> None:
        lines = export(store).split("\n")[1:-1]
        check(store, page(*lines, flags=flags))

    def change(line: int, offset: int, kind: ColumnChange, text: str = "") -> None:
        verdict = Verdict.TYPED if text else Verdict.DELETE
        wanted = ManualCorrection(WORK, 1, line, offset, 0, text, "甲", key(), verdict, change=kind)
        store.manual_corrections.correct(wanted)

    check(store, page("上射坐", "東面北"))
    change(1, 0, ColumnChange.ADD_AFTER, "日月盈昃")
    export_and_check()
    change(1, 0, ColumnChange.ADD_BEFORE, "日月盈昃")
    change(2, 1, ColumnChange.SPLIT)
    export_and_check()
    by_hand(store, 5, 0, "西")
    export_and_check((3, 0, "日", "大"))
    assert content(store).split("\n")[1:-1] == ["日月盈昃", "上射坐", "日", "月盈昃", "西面北"]
    assert queued(store, states=(State.OPEN,)) == []


@on_both
def test_of_several_findings_at_a_place_none_is_asked_once_one_is_decided(store: Store) -> None:
    twice = page(*LINES, flags=((1, 3, "", "揖"), (1, 3, "", "坐")))
    twice = replace(twice, flags=with_ids(twice.flags))
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


@pytest.mark.parametrize("suggested", ["比", "北", "此"], ids=["what was suggested", "what was deleted", "another"])
def test_where_a_character_was_deleted_it_is_not_asked_whether_one_is_missing(store: Store, suggested: str) -> None:
    check(store, page("東面于北耦大夫", flags=((1, 3, "北", "比"),)))
    decide(store, queued(store)[0].number, Verdict.DELETE)
    export(store)
    check(store, page("東面于耦大夫", flags=((1, 3, "", suggested),)))
    assert queued(store, states=(State.OPEN,)) == []
    check(store, page("東面于耦大夫", flags=((1, 3, "", "比也"),)))
    assert [flag.flag.suggested for flag in queued(store, states=(State.OPEN,))] == ["比也"]


@pytest.mark.parametrize(
    ("column", "decided", "exported", "again", "asked"),
    [
        ("位大夫從", [(1, "大", ""), (2, "夫", "")], "位從", [(1, "", "大夫")], []),
        (
            "耦曰子與某子射",
            [(1, "曰", "某"), (3, "與", ""), (5, "子", ""), (6, "射", "")],
            "耦某子某",
            [(1, "", "曰子與"), (3, "某", "射")],
            [],
        ),
        ("曰請天司", [(1, "請", "")], "曰天司", [(1, "天", "請"), (2, "司", "同")], ["天", "司"]),
    ],
    ids=["two characters as one", "what the other characters are taken for", "beside an error that nobody decided"],
)
def test_what_is_only_as_before_the_decisions_is_not_asked_again(
    store: Store, column: str, decided: list[Found], exported: str, again: list[Found], asked: list[str]
) -> None:
    check(store, page(column, flags=[(1, *found) for found in decided]))
    for flag_number in [shown.number for shown in queued(store)]:
        decide(store, flag_number, Verdict.TAKE)
    assert exported in export(store)
    check(store, page(exported, flags=[(1, *found) for found in again]))
    assert [shown.flag.transcribed for shown in queued(store, states=(State.OPEN,))] == asked


def test_what_is_left_of_a_typed_reading_is_not_asked_again_after_a_part_of_it_was_changed(store: Store) -> None:
    check(store, page("上射坐", flags=((1, 1, "射", "夫"),)))
    decide(store, queued(store)[0].number, Verdict.TYPED, reading="大夫射某")
    export(store)
    again = ((1, 1, "大夫揖某", ""), (1, 2, "夫", "射"), (1, 5, "坐", "座"))
    check(store, page("上大夫揖某坐", flags=again))
    assert [shown.flag.transcribed for shown in queued(store, states=(State.OPEN,))] == ["大夫揖某", "坐"]


def test_a_deleted_column_does_not_answer_whether_the_next_one_lacks_its_first_character(store: Store) -> None:
    column = replace(
        flag(1, 0, "上射揖坐", "", source="上射揖坐"), kind=Kind.LAYOUT, evidence=Evidence("column doubled")
    )
    check(store, page("上射揖坐", "東面于", flags=(column,)))
    number = queued(store)[0].number
    decide(store, number, Verdict.TAKE)
    before = content(store)
    line = Edit(before.index("上射揖坐"), len("上射揖坐\n"), "")
    written = ExportEdits((line,), {number: 0})
    store.texts.record_export(PLACE.text, before, edited(before, [line]), "traditional", written, lambda: True)
    check(store, page("東面于", flags=((1, 0, "", "射"),)))
    assert [shown.flag.suggested for shown in queued(store, states=(State.OPEN,))] == ["射"]


def test_a_check_that_began_before_an_export_finds_the_characters_that_it_saw(store: Store) -> None:
    text, place = "天天天天\n", replace(PLACE, lines={1: Span(0, 4)})
    check_at(store, text, [(place, page("天天天天", flags=((1, 1, "天", ""),)))])
    decide(store, queued(store)[0].number, Verdict.TAKE)
    run = store.begin_run(replace(run_info(), texts=(TextInfo(PLACE.text, sha_of(text), "kanripo", "", text),)))
    assert export(store) == "天天天\n"
    result = page("天天天天", flags=((1, 2, "天", "地"),))
    store.save_pages(run, [CheckedResult(replace(place, sha=sha_of(text)), "", result)])
    store.finish_run(run, whole=True)
    [found] = queued(store, states=(State.OPEN,))
    decide(store, found.number, Verdict.TAKE)
    assert export(store) == "天地天\n"


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


@on_both
def test_flags_that_change_places_on_a_page_keep_their_ids(decided: Store) -> None:
    names = {flag.flag.id for flag in queued(decided)}
    moved = page(LINES[1], LINES[0], LINES[2], flags=((1, 3, "北", "比"), (2, 3, "", "揖")))
    check(decided, moved)
    assert {flag.flag.id for flag in queued(decided)} == names


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


@pytest.mark.parametrize("is_collated_first", [True, False])
@pytest.mark.parametrize(("at", "missing"), [("北", "揖三讓"), ("　與", "三讓與")])
def test_what_the_image_shows_is_not_asked_again_as_a_difference_of_an_edition(
    store: Store, tmp_path: Path, is_collated_first: bool, at: str, missing: str
) -> None:
    """A missing column of the image, and a passage of the edition that is missing at the end of the line before, or
    behind a character with which both the column and the next one begin."""
    path, lines = tmp_path / "KR1d0030_010.txt", ("東面于北", "　與進者")
    path.write_text("<pb:KR1d0030_WYG_010-1a>¶\n" + "".join(f"{line}¶\n" for line in lines), encoding="utf-8")
    edition = read_transcription(path)
    column = flag(2, 0, "", "　與三讓", kind=Kind.LAYOUT, evidence=Evidence("column missing", column=2))
    collated = Evidence("collation")
    differences = [
        (edition.text.index(at) + len(at), flag(1, 4, "", missing, evidence=collated)),
        (edition.text.index("北"), flag(1, 3, "北", "比", evidence=collated)),
    ]
    name = "KR1d0030_WYG_010-1a"
    for flags in ((), (column,)) if is_collated_first else ((column,),):
        check_files(store, [(path, page(*lines, flags=[replace(each, page=name) for each in flags], name=name))])
        if is_collated_first is not bool(flags):
            store.collated.save(WORK, str(path), edition, differences)
    assert [queued_flag.flag.suggested for queued_flag in queued(store, raised=True)] == ["比", "　與三讓"]


def test_a_difference_in_a_line_on_two_pages_is_at_the_flag_of_the_page_that_shows_it(
    store: Store, tmp_path: Path
) -> None:
    path, line = tmp_path / "text.txt", "東面于北耦大夫"
    path.write_text(f"{line}\n", encoding="utf-8")
    characters = [CheckedCharacter(1, n, 1, Row.MAIN, text, Box(0, n, 1, 1), text, 1.0) for n, text in enumerate(line)]
    first = replace(page(line, flags=[(1, 1, "面", "西")], name="p1"), characters=tuple(characters[:3]))
    second = replace(page(line, name="p2"), characters=tuple(characters[3:]))
    places = [replace(PLACE, position=n, text=str(path), lines={1: Span(0, len(line))}) for n in range(2)]
    check_at(store, f"{line}\n", list(zip(places, (first, second), strict=True)), text=str(path))
    difference = (1, flag(1, 1, "面", "西", evidence=Evidence("collation")))
    saved = store.collated.save(WORK, str(path), read_transcription(path), [difference])
    assert (saved.own, saved.at_flags) == (0, 1)
    decide(store, queued(store)[0].number, Verdict.KEEP)
    carried = CarriedDecision(1, 1, Verdict.TYPED, "北", "", "", {})
    reasons = store.carried.make(WORK, str(path), read_transcription(path), [[carried]], "乙", dry_run=False)
    assert reasons == ["something was decided there already"]
