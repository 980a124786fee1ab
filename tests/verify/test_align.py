"""Characters to glyphs: 訛 衍 脫 倒 come out as what they are, and nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.ocr.belief import Belief
from proof.text.model import Cell, Row
from proof.verify.align import BAND_CELLS, SKIP_CELL_NATS, Pairing, Step, _cheapest, _Costs, align
from proof.verify.glyphs import Glyph
from tests.verify.columns import exact, glyph_at

WORDS = "天地玄黃宇宙洪荒"
MATCH = Step.MATCH


def cells(text: str, row: Row = Row.MAIN) -> list[Cell]:
    return [Cell(character, place, 1, row) for place, character in enumerate(text)]


def shown_glyph(character: str, place: int = 0, presence: float = 1.0, row: Row = Row.MAIN) -> Glyph:
    """A glyph that is surely read; without a character one of which nothing was read."""
    return glyph_at(place, {character: -0.01} if character else {}, presence, row)


def glyphs(text: str) -> list[Glyph]:
    return [shown_glyph(character, place) for place, character in enumerate(text)]


def paired(transcribed: str, shown: list[Glyph]) -> list[tuple[Step, tuple[int, ...], tuple[int, ...]]]:
    return [(pairing.step, pairing.cells, pairing.glyphs) for pairing in align(cells(transcribed), shown, exact)[0]]


@pytest.mark.parametrize(
    ("transcribed", "shown", "expected"),
    [
        ("天地玄黃", "天地玄黃", []),
        # a wrong character stays in its place
        ("天地玄黃", "天也玄黃", []),
        # a character left out leaves its glyph over before the cell that follows
        ("天玄黃", "天地玄黃", [Pairing(Step.EXTRA_GLYPH, (), (1,), 1)]),
        # neighbours changed round are one step
        ("天玄地黃", "天地玄黃", [Pairing(Step.SWAP, (1, 2), (1, 2), 1)]),
    ],
)
def test_cells_are_paired_with_the_glyphs_that_show_them(transcribed: str, shown: str, expected: list[Pairing]) -> None:
    pairings, cost = align(cells(transcribed), glyphs(shown), exact)
    assert [pairing for pairing in pairings if pairing.step is not Step.MATCH] == expected
    assert (cost < 0.1) is (transcribed == shown)


@pytest.mark.parametrize("dirt", [(0,), (5,), (5, 6), (9,)])
def test_a_surplus_passage_goes_on_over_dirt(dirt: tuple[int, ...]) -> None:
    """Pieces of ink of which nothing was read stand between the glyphs of 天地."""
    shown = [shown_glyph("天"), *(shown_glyph("", place + 1) for place in range(len(dirt))), shown_glyph("地", 3)]
    steps = [step for step, _, _ in paired("天日月星辰山川河海風地", shown)]
    assert steps.count(Step.EXTRA_CELL) == 9


def test_a_change_of_places_needs_both_to_fit_the_other_way_round_and_one_row() -> None:
    assert Step.SWAP not in [step for step, _, _ in paired("天照地黃", glyphs("天地玄黃"))]
    written = [*cells("天", Row.RIGHT), Cell("地", 2, 1, Row.LEFT)]
    shown = [shown_glyph("地", 0, row=Row.RIGHT), shown_glyph("天", 0, row=Row.LEFT)]
    assert Step.SWAP not in [pairing.step for pairing in align(written, shown, exact)[0]]


def test_a_surplus_character_beside_dirt_is_not_exchanged_with_its_neighbour() -> None:
    shown = [shown_glyph(""), *(shown_glyph(text, place) for place, text in enumerate("天地黃", 1))]
    assert (Step.EXTRA_CELL, (1,), ()) in paired("天雷地黃", shown)


def test_a_doubled_character_does_not_stand_on_a_trace_of_its_neighbour() -> None:
    """子曰 transcribed as 子曰曰: the engine reads a little of 曰 between the two glyphs."""
    trace = glyph_at(1, {"曰": log(0.001)}, 0.03)
    found = paired("子曰曰", [shown_glyph("子"), trace, shown_glyph("曰", 1)])
    assert [step for step, _, _ in found].count(Step.EXTRA_CELL) == 1
    assert (Step.EXTRA_GLYPH, (), (1,)) in found
    faint = glyph_at(1, {"曰": log(0.2)}, 0.3)
    assert Step.EXTRA_CELL not in [
        step for step, _, _ in paired("子曰曰", [shown_glyph("子"), faint, shown_glyph("曰", 2)])
    ]


def test_a_wrong_character_near_a_faint_glyph_stays_in_its_place() -> None:
    """正金正水 transcribed as 正金是水: the first 正 is not taken for a surplus glyph before an exchanged 金正."""
    shown = [glyph_at(0, {"正": log(0.47)}, 0.42), *(shown_glyph(text, n) for n, text in enumerate("金正水", 1))]
    assert {step for step, _, _ in paired("正金是水", shown)} == {Step.MATCH}


@given(st.text(WORDS, max_size=25), st.text(WORDS, max_size=25))
def test_every_character_and_every_glyph_is_used_once_and_in_order(transcribed: str, shown: str) -> None:
    pairings, cost = align(cells(transcribed), glyphs(shown), exact)
    assert [i for pairing in pairings for i in pairing.cells] == list(range(len(transcribed)))
    assert [j for pairing in pairings for j in pairing.glyphs] == list(range(len(shown)))
    assert cost <= (len(transcribed) + len(shown)) * SKIP_CELL_NATS + 1e-6


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Cell], list[Glyph]]:
    """A column and a slightly different one, in two half-rows, of which the engine is more or less sure."""
    text = draw(st.text(WORDS, max_size=16))
    shown = list(text)
    for at, change in draw(st.lists(st.tuples(st.integers(0, 15), st.sampled_from("-+/~")), max_size=3)):
        match change:
            case "-":
                del shown[at : at + 1]
            case "+":
                shown.insert(at, WORDS[at % len(WORDS)])
            case "/":
                shown[at : at + 1] = WORDS[-1 - at % len(WORDS)]
            case _:
                shown[at : at + 2] = reversed(shown[at : at + 2])
    half = draw(st.integers(0, 16))
    rows = [Row.RIGHT if place < half else Row.LEFT for place in range(40)]
    written = [replace(cell, row=rows[place]) for place, cell in enumerate(cells(text))]
    found = []
    for place, character in enumerate(shown):
        glyph = shown_glyph(character, place, draw(st.sampled_from((1.0, 0.9, 0.2))), rows[place])
        others = draw(st.dictionaries(st.sampled_from(WORDS), st.floats(-12, 0), max_size=3))
        believed = {} if draw(st.integers(0, 9)) == 0 else {**glyph.believed, **others}
        found.append(replace(glyph, believed=Belief(believed)))
    return written, found


@pytest.mark.slow
@given(columns())
def test_what_is_not_weighed_would_have_cost_more(column: tuple[list[Cell], list[Glyph]]) -> None:
    written, shown = column
    _, cheapest = _cheapest(_Costs(written, shown, exact, BAND_CELLS), inf)
    assert align(written, shown, exact)[1] == cheapest


@settings(max_examples=40)
@given(columns(), st.floats(0.1, 4.0))
def test_what_would_cost_too_much_is_no_alignment(column: tuple[list[Cell], list[Glyph]], share: float) -> None:
    written, shown = column
    pairings, cost = align(written, shown, exact)
    found = align(written, shown, exact, limit=share * cost)
    assert found == ((pairings, cost) if cost <= share * cost else ([], inf))


def test_a_character_that_the_engine_does_not_know_is_the_glyph_that_it_wavers_about() -> None:
    """Of two glyphs for a character that the engine was never taught, the one that it reads with certainty is over."""
    unsure = glyph_at(1, {"倨": log(0.26), "居": log(0.2)})

    def unknown(character: str, shown: Glyph) -> float | None:
        return None if character == "僝" else exact(character, shown)

    for shown, over in (
        ([shown_glyph("鳩", 0), unsure, shown_glyph("功", 2)], 2),
        ([shown_glyph("鳩", 0), shown_glyph("功", 1), unsure], 1),
    ):
        pairings, _ = align(cells("鳩僝"), shown, unknown)
        assert [pairing.glyphs for pairing in pairings if pairing.step is Step.EXTRA_GLYPH] == [(over,)]


@pytest.mark.parametrize(
    ("first", "second", "over"),
    [
        # it may be written for either: what the engine believes of what is wholly improbable does not tell
        (-14.0, -20.0, 1),
        (-20.0, -20.0, 1),
        (-28.0, -20.0, 1),
        # it looks like the first
        (-12.0, -30.0, 2),
    ],
)
def test_a_wrong_character_beside_one_left_out_stands_after_it_unless_it_looks_like_what_is_before(
    first: float, second: float, over: int
) -> None:
    """何 for 山 or for 川, of which the engine believes this much."""

    def likeness(character: str, glyph: Glyph) -> float:
        if character != "何":
            return exact(character, glyph) or 0.0
        return {"山": first, "川": second}.get(glyph.best, -20.0)

    pairings, _ = align(cells("天何玄"), glyphs("天山川玄"), likeness)
    assert [pairing.glyphs for pairing in pairings if pairing.step is Step.EXTRA_GLYPH] == [(over,)]
    assert (MATCH, (1,), (3 - over,)) in [(pairing.step, pairing.cells, pairing.glyphs) for pairing in pairings]
