"""Characters to glyphs: 訛 衍 脫 倒 come out as what they are, and nothing is lost on the way."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.ocr.belief import FLOOR, Belief
from proof.text.model import Cell, Row
from proof.verify.align import (
    SKIP_CELL_NATS,
    Pairing,
    Step,
    _cheapest,
    _Costs,
    _in_one_run,
    _off_specks,
    _omissions_first,
    _traced,
    align,
)
from proof.verify.glyphs import Glyph

WORDS = "天地玄黃宇宙洪荒"


def cells(text: str, row: Row = Row.MAIN) -> list[Cell]:
    return [Cell(character, place, 1, row) for place, character in enumerate(text)]


def glyph(character: str, place: int = 0, presence: float = 1.0, row: Row = Row.MAIN, strip: int = 0) -> Glyph:
    believed = {character: -0.01} if character else {}
    return Glyph(Belief(believed), presence, strip, row, 0, place * 50, 90, place * 50 + 50, place * 50 + 25, 50)


def glyphs(text: str) -> list[Glyph]:
    return [glyph(character, place) for place, character in enumerate(text)]


def exact(character: str, shown: Glyph) -> float | None:
    return shown.believed.get(character, FLOOR)


def steps(transcribed: str, shown: str) -> list[Step]:
    return [pairing.step for pairing in align(cells(transcribed), glyphs(shown), exact)[0]]


def test_a_sound_column_matches_throughout_and_costs_next_to_nothing() -> None:
    pairings, cost = align(cells("天地玄黃"), glyphs("天地玄黃"), exact)
    assert [pairing.step for pairing in pairings] == [Step.MATCH] * 4
    assert cost < 0.1


def test_a_wrong_character_stays_in_its_place() -> None:
    assert steps("天地玄黃", "天也玄黃") == [Step.MATCH] * 4


def test_a_character_too_many_has_no_glyph() -> None:
    pairings, _ = align(cells("天地地玄黃"), glyphs("天地玄黃"), exact)
    extra = [pairing for pairing in pairings if pairing.step is Step.EXTRA_CELL]
    assert [pairing.cells for pairing in extra] in ([(1,)], [(2,)])


def test_a_character_left_out_leaves_its_glyph_over_before_the_cell_that_follows() -> None:
    pairings, _ = align(cells("天玄黃"), glyphs("天地玄黃"), exact)
    extra = [pairing for pairing in pairings if pairing.step is Step.EXTRA_GLYPH]
    assert [(pairing.glyphs, pairing.before) for pairing in extra] == [((1,), 1)]


def test_neighbours_changed_round_are_one_step() -> None:
    pairings, _ = align(cells("天玄地黃"), glyphs("天地玄黃"), exact)
    assert Pairing(Step.SWAP, (1, 2), (1, 2), 1) in pairings


def test_a_change_of_places_needs_both_to_fit_the_other_way_round() -> None:
    assert Step.SWAP not in steps("天照地黃", "天地玄黃")


def test_characters_of_the_two_half_rows_of_a_note_never_change_places() -> None:
    written = [*cells("天", Row.RIGHT), Cell("地", 2, 1, Row.LEFT)]
    shown = [glyph("地", 0, row=Row.RIGHT, strip=0), glyph("天", 0, row=Row.LEFT, strip=1)]
    assert Step.SWAP not in [pairing.step for pairing in align(written, shown, exact)[0]]


def test_ink_that_was_not_read_takes_the_character_that_belongs_there() -> None:
    shown = [glyph("天", 0), glyph("", 1, presence=0.5), glyph("玄", 2)]
    pairings, _ = align(cells("天地玄"), shown, exact)
    assert [pairing.step for pairing in pairings] == [Step.MATCH] * 3


def test_a_faint_speck_is_passed_over_at_little_cost() -> None:
    shown = [glyph("天", 0), glyph("一", 1, presence=0.1), glyph("地", 2)]
    _, cost = align(cells("天地"), shown, exact)
    assert cost < SKIP_CELL_NATS / 4


@given(st.text(WORDS, max_size=25), st.text(WORDS, max_size=25))
def test_every_character_and_every_glyph_is_used_once_and_in_order(transcribed: str, shown: str) -> None:
    pairings, cost = align(cells(transcribed), glyphs(shown), exact)
    used = [i for pairing in pairings for i in pairing.cells]
    seen = [j for pairing in pairings for j in pairing.glyphs]
    assert used == list(range(len(transcribed)))
    assert seen == list(range(len(shown)))
    assert cost <= (len(transcribed) + len(shown)) * SKIP_CELL_NATS + 1e-6


@given(st.text(WORDS, min_size=1, max_size=25))
def test_a_text_costs_least_on_itself(text: str) -> None:
    _, own = align(cells(text), glyphs(text), exact)
    _, other = align(cells(text), glyphs("之" * len(text)), exact)
    assert own < other


def test_of_two_glyphs_that_are_something_else_a_character_was_taken_for_the_one_it_looks_like() -> None:
    def shown(like: int) -> list[Glyph]:
        far = [glyph("季", 0), glyph("秋", 1)]
        return [
            replace(one, believed=Belief({**one.believed, "子": -14.0 if n == like else -33.0}))
            for n, one in enumerate(far)
        ]

    for like in (0, 1):
        pairings, _ = align(cells("子"), shown(like), exact)
        assert [pairing.glyphs for pairing in pairings if pairing.step is Step.MATCH] == [(like,)]


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
        one = glyph(character, place, draw(st.sampled_from((1.0, 0.9, 0.2))), rows[place], int(place >= half))
        others = draw(st.dictionaries(st.sampled_from(WORDS), st.floats(-12, 0), max_size=3))
        believed = {} if draw(st.integers(0, 9)) == 0 else {**one.believed, **others}
        found.append(replace(one, believed=Belief(believed)))
    return written, found


@pytest.mark.slow
@given(columns())
def test_what_is_not_weighed_would_have_cost_more(column: tuple[list[Cell], list[Glyph]]) -> None:
    written, shown = column
    costs = _Costs(written, shown, exact)
    came, total = _cheapest(costs, inf)
    traced = _in_one_run(_off_specks(_traced(came, len(written), len(shown)), shown), costs)
    cheapest = _omissions_first(traced, written, shown, exact)
    assert align(written, shown, exact) == (cheapest, total)


@settings(max_examples=40)
@given(columns(), st.floats(0.1, 4.0))
def test_what_would_cost_too_much_is_no_alignment(column: tuple[list[Cell], list[Glyph]], share: float) -> None:
    written, shown = column
    pairings, cost = align(written, shown, exact)
    found = align(written, shown, exact, most=share * cost)
    assert found == ((pairings, cost) if cost <= share * cost else ([], inf))


def test_a_character_that_the_engine_does_not_know_is_the_glyph_that_it_wavers_about() -> None:
    """Of two glyphs for a character that the engine was never taught, the one that it reads with certainty is over."""
    unsure = Glyph(Belief({"倨": log(0.26), "居": log(0.2)}), 1.0, 0, Row.MAIN, 0, 50, 90, 100, 75, 50)

    def unknown(character: str, shown: Glyph) -> float | None:
        return None if character == "僝" else exact(character, shown)

    for shown, over in (([glyph("鳩", 0), unsure, glyph("功", 2)], 2), ([glyph("鳩", 0), glyph("功", 1), unsure], 1)):
        pairings, _ = align(cells("鳩僝"), shown, unknown)
        assert [pairing.glyphs for pairing in pairings if pairing.step is Step.EXTRA_GLYPH] == [(over,)]


@pytest.mark.parametrize("nats", [-14.0, -20.0, -28.0])
def test_a_wrong_character_beside_one_left_out_stands_after_it_where_it_may_be_written_for_either(nats: float) -> None:
    """何 for 山 or for 川: what the engine believes of what is wholly improbable does not tell."""
    shown = [glyph("天", 0), *(glyph(text, n) for n, text in enumerate("山川", 1)), glyph("玄", 3)]

    def likeness(character: str, one: Glyph) -> float:
        return {"山": nats, "川": -20.0}.get(one.best, -20.0) if character == "何" else exact(character, one) or 0.0

    pairings, _ = align(cells("天何玄"), shown, likeness)
    told = [
        (pairing.step, pairing.glyphs) for pairing in pairings if pairing.step is not Step.MATCH or 1 in pairing.cells
    ]
    first = [(Step.EXTRA_GLYPH, (1,)), (Step.MATCH, (2,))]
    assert told == first


def test_a_look_alike_beside_a_character_left_out_stands_for_what_it_looks_like() -> None:
    shown = [glyph("天", 0), glyph("名", 1), glyph("于", 2), glyph("玄", 3)]

    def likeness(character: str, one: Glyph) -> float:
        return {"名": -12.0, "于": -30.0}.get(one.best, -20.0) if character == "各" else exact(character, one) or 0.0

    pairings, _ = align(cells("天各玄"), shown, likeness)
    assert [(p.step, p.glyphs) for p in pairings][1:3] == [(Step.MATCH, (1,)), (Step.EXTRA_GLYPH, (2,))]


def test_ink_that_was_not_read_takes_no_character_that_may_be_written_for_what_was_read() -> None:
    """A piece of the frame stands above 首曰鳳; what is transcribed as 司鳳 lacks 首, and has 司 for 曰."""
    shown = [glyph("", 0, presence=0.5), *(glyph(text, n) for n, text in enumerate("首曰鳳", 1))]
    pairings, _ = align(cells("司鳳"), shown, exact)
    assert (Step.MATCH, (0,), (2,)) in [(p.step, p.cells, p.glyphs) for p in pairings]
