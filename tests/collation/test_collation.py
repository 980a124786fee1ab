"""Witnesses against each other: what differs, what is variant or error, and what the apparatus says of it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from proof.collation.classes import Class
from proof.collation.collation import Collation, collate
from proof.collation.differences import WORD_CLASSES, aligned_in
from proof.collation.findings import flags
from proof.collation.report import apparatus_summary, write_collation
from proof.collation.table import rows
from proof.errors import UsageError
from proof.exports.apparatus import ApparatusPlace, apparatus
from proof.model.flags import Kind
from proof.text.read import read_transcription
from proof.text.transcription import Format, Transcription
from tests.build import transcription
from tests.sampling import cross_section

pytestmark = pytest.mark.slow

CANON = "司射東面于大夫之西比耦大夫與大夫命上射曰某御于子命下射曰子與某子射卒遂比衆耦衆耦立于大夫之南西面北上"
OTHER = "賓主人射則司射擯升降卒射即席而反位卒事司馬命張侯弟子脫束遂繫左下綱"


def edition(text: str, name: str = "text.txt", form: Format = Format.INLINE) -> Transcription:
    return transcription(text, name, form)


def seed(shared: Path, number: str) -> Transcription:
    return read_transcription(next((shared / "seeds").glob(f"{number}_*")))


@pytest.fixture(scope="module")
def damaged(shared: Path) -> Collation:
    """鄉射禮 in the 注疏 layout against the critical edition."""
    return collate(seed(shared, "002"), seed(shared, "000"))


def test_the_mirror_against_its_source_has_the_known_errors_and_no_other(shared: Path) -> None:
    collation = collate(seed(shared, "003"), read_transcription(shared / "kanripo/KR1d0030/KR1d0030_010.txt"))
    errors = {
        (flag.ref, flag.line, flag.transcribed, flag.suggested, flag.kind) for flag in flags(collation) if flag.raised
    }
    with (shared / "gold/seed-003.tsv").open(encoding="utf-8") as file:
        known = list(csv.DictReader(file, delimiter="\t"))
    assert errors == {
        (
            row["ref"].removesuffix(".png"),
            int(row["line"]),
            row["seed"],
            row["witness"],
            Kind.OMISSION if row["what"] == "omission" else Kind.SUBSTITUTION,
        )
        for row in known
    }
    allowed = {Class.ERROR, Class.READING, Class.ORTHOGRAPHY, Class.SCRIPT, Class.UNENCODED}
    assert {difference.category for difference in collation.differences} <= allowed
    assert all(
        difference.rule
        for difference in collation.differences
        if difference.category not in (Class.ERROR, Class.READING)
    )


def test_the_footnotes_that_name_the_damaged_readings_are_carried_to_their_findings(damaged: Collation) -> None:
    """Of twelve notes four are on readings that the other text has."""
    carried = {
        (difference.base, difference.witness): difference.notes[0].text
        for difference in damaged.differences
        if difference.notes
    }
    assert carried == {
        ("备", "儁"): "儁：原作備，據嚴本校勘記改。",
        ("进", "雖"): "雖：原作進，據嚴本校勘記改。",
        ("躬", "射"): "射：原作躬，據嚴本校勘記改。",
        ("射", "躬"): "躬：原作射，據嚴本校勘記改。",
    }
    text, raised = damaged.base.edition.text, [flag for flag in flags(damaged) if flag.raised]
    for difference in damaged.differences:
        if difference.notes:
            assert (difference.category, difference.rule) == (Class.ERROR, "apparatus")
            assert text[difference.start : difference.start + difference.length] == difference.base
            (flag,) = [flag for flag in raised if difference.notes[0].text in (flag.evidence.note or "")]
            assert (flag.transcribed, flag.suggested) == (difference.base, difference.witness)


SEEDS = ("000", "001", "002", "003", "004")


@pytest.mark.parametrize(("first", "second"), cross_section(list(combinations(SEEDS, 2)), 5))
def test_the_order_of_the_witnesses_does_not_change_what_is_found(shared: Path, first: str, second: str) -> None:
    there, back = collate(seed(shared, first), seed(shared, second)), collate(seed(shared, second), seed(shared, first))
    assert aligned_in(there.blocks) == {mine: theirs for theirs, mine in aligned_in(back.blocks).items()}
    assert {
        (difference.base, difference.a0, difference.witness, difference.b0, difference.category)
        for difference in there.differences
    } == {
        (difference.witness, difference.b0, difference.base, difference.a0, difference.category)
        for difference in back.differences
    }
    assert {(pair.base, pair.witness, pair.places, pair.confirmed) for pair in there.systematic} == {
        (pair.witness, pair.base, pair.witness_places, pair.confirmed) for pair in back.systematic
    }
    assert (there.only_base, there.only_witness) == (back.only_witness, back.only_base)


def test_a_passage_that_one_side_lacks_is_one_finding_and_nothing_is_paired_with_unlike_text(shared: Path) -> None:
    collation = collate(seed(shared, "004"), seed(shared, "000"))
    chosen_differences = [
        difference
        for difference in collation.differences
        if difference.category not in (Class.SCRIPT, Class.ORTHOGRAPHY)
    ]
    words = {
        (difference.base, difference.witness)
        for difference in chosen_differences
        if difference.category in WORD_CLASSES
    }
    missing, other = {("传丈专反下传同", ""), ("下宾厌同", "")}, {("", "坐"), ("今", "古"), ("", "酒"), ("谓", "卻")}
    assert words == missing | other
    (unlike,) = [difference for difference in chosen_differences if difference.category is Class.UNLIKE]
    assert (unlike.base, unlike.witness) == ("右迎宾记立者东面北上宾党", "主人獻賔")
    short = [
        difference
        for difference in chosen_differences
        if difference.category is Class.PASSAGE and 0 < len(difference.base) <= 8
    ]
    between = [("右张侯记", ""), ("右速宾记", "")]
    assert [(difference.base, difference.witness) for difference in short] == between, (
        "what lies between two parts is told, however short"
    )
    assert not collation.only_base or {passage.text for passage in collation.only_base} <= {
        difference.base if len(difference.base) <= 40 else f"{difference.base[:18]}…{difference.base[-18:]}"
        for difference in chosen_differences
    }


def test_every_character_is_answered_by_its_like_or_stands_in_a_difference(shared: Path) -> None:
    """Of two editions of 論衡: whatever another comparison would find is in some row."""
    folder = shared / "kanripo" / "branches" / "KR3j0080"
    name = sorted(path.name for path in (folder / "WYG").glob("*_00[1-9].txt"))[0]
    collation = collate(read_transcription(folder / "WYG" / name), read_transcription(folder / "SBCK" / name))
    a, b = collation.base, collation.witness
    answered = aligned_in(collation.blocks)
    alike = {at: to for at, to in answered.items() if a.character(at) == b.character(to)}
    rows = collation.differences
    in_rows = {at for row in rows for at in range(row.a0, row.a1)}, {to for row in rows for to in range(row.b0, row.b1)}
    assert set(range(len(a))) - alike.keys() <= in_rows[0]
    assert set(range(len(b))) - set(alike.values()) <= in_rows[1]


def test_every_paragraph_is_placed_in_some_witness(shared: Path) -> None:
    base = seed(shared, "004")
    juan = [read_transcription(shared / f"kanripo/KR1d0085/KR1d0085_{number:03}.txt") for number in range(7, 13)]
    collations = [collate(base, witness) for witness in (seed(shared, "000"), *juan)]
    best = {
        place.start: max(c.placements[index].share for c in collations if len(c.placements) > index)
        for index, place in enumerate(collations[2].placements)
    }
    assert len(best) == 7
    assert min(best.values()) > 0.9
    assert not any(place.is_placed for place in collations[-1].placements)


@pytest.mark.parametrize(("page", "linked"), [("", 2), ("<pb:KR1_WYG_010-1b>\n", 0)])
def test_what_moved_over_the_end_of_a_column_is_one_question_but_not_over_that_of_a_page(
    page: str, linked: int
) -> None:
    base = f"<pb:KR1_WYG_010-1a>\n司射適西階西倚扑升自西階東面請射于公公許\n{page}遂適西階上命賓御于公諸公卿則以耦告\n"
    other = base.replace("公許\n", "許\n").replace("命賓御", "命公賓御").replace("以耦", "耦")
    raised = flags(collate(transcription(base), transcription(other)))
    names = {flag.id: flag.moved for flag in raised}
    assert sum(names.get(moved) == name for name, moved in names.items()) == linked
    assert len(raised) == 3


@pytest.mark.parametrize("moved", ["another paragraph", "a part of it"])
def test_what_stands_in_another_order_is_one_row_in_every_file(shared: Path, tmp_path: Path, moved: str) -> None:
    """Two paragraphs that changed places, and some seventy characters that went from one paragraph into another."""
    source = [line for line in seed(shared, "000").text.splitlines() if len(line) > 120]
    lines = source[:6]
    if moved == "another paragraph":
        moved_part, lines[2:4] = min(lines[2:4], key=len), lines[3:1:-1]
    else:
        moved_part, lines[1] = lines[1][-75:], lines[1][:-75]
        lines[4] += moved_part
    collation = collate(edition("\n".join(source[:6])), edition("\n".join(lines), "witness.txt"))
    (row,) = collation.of(Class.MOVED)
    assert abs(row.size - len(collate(edition(moved_part), edition(moved_part)).base)) <= 3, (
        "what is alike at its ends goes with it"
    )
    assert (row.base, row.rule, row.kind) == (row.witness, "moved", Kind.TRANSPOSITION)
    write_collation([collation], tmp_path)
    assert [flag.raised for flag in flags(collation) if flag.transcribed == row.base] == [False]
    (record,) = json.loads((tmp_path / "collation.json").read_text(encoding="utf-8"))
    assert [place["base"] for place in record["places"] if place["class"] == "moved"] == [row.base]
    assert [row.base.text is not None for row in rows([collation], {}, tmp_path) if "moved" in row.categories] == [True]


@pytest.mark.parametrize(
    ("changed", "kind", "base", "witness"),
    [
        (CANON.replace("西比耦", "西北耦"), Kind.SUBSTITUTION, "北", "比"),
        (CANON.replace("西比耦", "西耦"), Kind.OMISSION, "", "比"),
        (CANON.replace("西比耦", "西比比耦"), Kind.INSERTION, "比", ""),
        (CANON.replace("下射曰子", "下曰射子"), Kind.TRANSPOSITION, "曰射", "射曰"),
    ],
)
def test_an_error_of_each_kind(changed: str, kind: Kind, base: str, witness: str) -> None:
    text = edition(f"　　{changed}")
    collation = collate(text, edition(f"　　{CANON}"))
    (flag,) = [flag for flag in flags(collation) if flag.raised]
    assert (flag.kind, flag.transcribed, flag.suggested) == (kind, base, witness)
    line = text.text.splitlines()[flag.line - 1]
    mended = line[: flag.offset] + flag.suggested + line[flag.offset + flag.length :]
    assert mended == f"　　{CANON}"


def test_words_that_are_text_in_one_and_a_note_in_the_other_stand_in_every_form(tmp_path: Path) -> None:
    page = "<pb:KR1_WYG_010-1a>¶\n{}(耦謂/比偶){}¶\n"
    base = edition(page.format(CANON[:20], CANON[20:]), form=Format.KANRIPO)
    other = page.format(CANON[:24], CANON[24:]).replace(CANON[16:20], f"({CANON[16:20]})")
    witness = edition(other, form=Format.KANRIPO)
    collation = collate(base, witness)
    (layout,) = collation.note_layouts
    write_collation([collation], tmp_path)
    lines = (tmp_path / "places.csv").read_text(encoding="utf-8-sig").splitlines()
    words = collation.base.text(layout.a0, layout.a1)
    assert f"KR1_WYG_010-1a,1,{CANON.index(words)},{words},{words},layout" in lines


def test_a_place_that_differs_in_two_ways_is_of_the_heavier_class(damaged: Collation, tmp_path: Path) -> None:
    """拜賜 is layout, 明日 behind it an omission of the base."""
    (row,) = [row for row in rows([damaged], {}, tmp_path) if row.readings[0].text == "拜賜明日"]
    assert row.categories == ("error",)
    (flag,) = [flag for flag in flags(damaged) if flag.suggested == "拜賜明日"]
    assert flag.raised
    for collation in (damaged, replace(damaged, differences=damaged.differences[::-1])):
        items = apparatus(damaged.base.edition, (), [collation])
        with_readings = (item for item in items if isinstance(item, ApparatusPlace))
        assert [item.category for item in with_readings if "明日" in item.readings[0][1]] == ["error"]


def test_a_text_without_words_is_refused() -> None:
    with pytest.raises(UsageError, match="has no text to collate"):
        collate(edition("　　。。"), edition(f"　　{CANON}"))


def test_the_collation_is_written_as_flags_table_and_summary(damaged: Collation, tmp_path: Path) -> None:
    write_collation([damaged], tmp_path)
    records = [json.loads(line) for line in (tmp_path / "flags.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"备", "进"} <= {flag["transcribed"] for flag in records if flag["raised"]}
    with (tmp_path / "places.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:4] == ["page", "line", "offset", "base"]
    assert len(rows) > 500
    (summary,) = json.loads((tmp_path / "collation.json").read_text(encoding="utf-8"))
    assert summary["apparatus"]["witness"]["verbs"]["原作"] == 6
    assert {pair["base"] for pair in summary["systematic"]} >= {"聄", "筩"}


def test_notes_that_were_not_understood_are_listed_with_their_place() -> None:
    text = "<pb:KR1_WYG_010-1a>¶\n大射儀(案此篇文/義甚明)比(案比今注疏/本訛作北)¶\n"
    summary = apparatus_summary(edition(text, form=Format.KANRIPO))
    assert summary == {"notes": 2, "verbs": {"訛作": 1}, "not understood": ["text.txt:2: 案此篇文義甚明"]}


def test_a_passage_that_is_said_again_is_reported_as_that(tmp_path: Path) -> None:
    """The witness has the passage once; the base has it, and quotes it in a paragraph of its own."""
    base = edition(f"{CANON}\n{OTHER}\n{CANON}\n")
    collation = collate(base, edition(f"{CANON}\n{OTHER}\n", "witness.txt"))
    first, second, again = collation.placements
    assert first.is_placed
    assert second.is_placed
    assert again.is_repetition
    assert again.witness_start == 0
    (passage,) = collation.only_base
    assert (passage.length, passage.repeated_count) == (len(CANON), len(CANON))
    write_collation([collation], tmp_path)
    (record,) = json.loads((tmp_path / "collation.json").read_text(encoding="utf-8"))
    at = {"file": "text.txt", "line": 3}, {"file": "witness.txt", "line": 1}
    assert record["not placed"] == [at[0] | {"found": 0.0, "in witness": at[1], "said again": 1.0}]
