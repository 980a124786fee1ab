"""Where places stand once a text has changed: exactly after edits, and by comparison only where nothing else can be
meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.text.edit import Edit
from proof.text.positions import PositionMap, Span, composed

OLD = "上射揖坐\n東面于北耦\n與大夫\n"


@pytest.mark.parametrize(
    ("new", "place", "expected"),
    [
        (OLD, (7, 1), (7, 1)),
        ("上射揖進坐\n東面于北耦\n與大夫\n", (8, 1), (9, 1)),
        ("東面于北耦\n上射揖坐\n與大夫\n", (8, 1), (3, 1)),
        ("上射揖坐東面于北耦\n與大夫\n", (8, 1), (7, 1)),
        ("上射揖坐\n東面\n于北耦\n與大夫\n", (8, 1), (9, 1)),
        ("上射揖坐\n東面于比耦\n與大夫\n", (8, 1), None),
        ("上射揖坐\n與大夫\n", (8, 1), None),
        ("上射揖揖坐\n東面于北耦\n與大夫\n", (2, 1), None),
        ("上射揖坐\n東面于北耦\n東面于北耦\n與大夫\n", (8, 1), None),
    ],
    ids=["same", "longer", "moved", "joined", "parted", "replaced", "gone", "one of two", "doubled"],
)
def test_a_character_is_followed_to_where_it_stands_and_nowhere_else(
    new: str, place: tuple[int, int], expected: tuple[int, int] | None
) -> None:
    place_now = PositionMap.of_comparison(OLD, new).where(*place)
    assert place_now == (Span(*expected) if expected else None)


@pytest.mark.parametrize(
    ("new", "at", "expected"),
    [
        ("上射揖坐\n東面于北耦\n與大夫\n", 3, 3),
        ("又上射揖坐\n東面于北耦\n與大夫\n", 3, 4),
        ("又上射揖坐\n東面于北耦\n與大夫\n", 0, None),
        ("東面于北耦\n上射揖坐\n與大夫\n", 5, 0),
        ("東面于北耦\n上射揖坐\n與大夫\n", 4, 10),
        ("上射揖又坐\n東面于北耦\n與大夫\n", 3, None),
    ],
)
def test_a_gap_is_followed_between_what_it_lies_between(new: str, at: int, expected: int | None) -> None:
    place = PositionMap.of_comparison(OLD, new).where(at, 0)
    assert place == (Span(expected, 0) if expected is not None else None)


def test_a_gap_is_followed_beside_characters_that_an_edit_replaced() -> None:
    """Only a comparison does not tell on which side of them it lies; an insertion leaves two gaps."""
    map_ = PositionMap.of_edits(OLD, [Edit(1, 2, "躬"), Edit(8, 0, "之"), Edit(8, 1, "比")])
    assert map_.new == "上躬坐\n東面于之比耦\n與大夫\n"
    assert [map_.where(at, 0) for at in (1, 2, 3, 8, 9)] == [Span(1, 0), None, Span(2, 0), None, Span(9, 0)]


def test_of_two_equal_lines_neither_is_followed_where_either_may_have_been_moved_over_another() -> None:
    map_ = PositionMap.of_comparison(
        "上射揖坐\n東面于北耦\n東面于北耦\n與大夫\n", "東面于北耦\n上射揖坐\n東面于北耦\n與大夫\n"
    )
    assert map_.where(5, 1) is map_.where(11, 1) is None
    assert map_.where(0, 4) == Span(6, 4)


def test_what_took_a_place_is_what_stands_between_its_neighbours() -> None:
    map_ = PositionMap.of_comparison(OLD, "上射揖坐\n東面于比耦\n與大夫\n")
    assert map_.instead(8, 1) == Span(8, 1)
    assert PositionMap.of_comparison(OLD, "上射揖坐\n又面于北耦\n與大夫\n").instead(5, 1) == Span(5, 1)
    assert PositionMap.of_comparison(OLD, "上射揖坐\n與大夫\n").instead(8, 1) is None


@pytest.mark.parametrize(
    ("new", "place", "expected"),
    [
        ("上射揖坐\n東面又又耦\n與大夫\n", (8, 1), (7, 2)),
        ("上射揖坐\n與大夫\n", (8, 1), (5, 0)),
        ("又上射揖坐\n東面于北耦\n與大夫\n", (0, 0), (0, 1)),
        ("上射揖坐\n東面于北耦\n", (12, 1), (11, 0)),
        ("東面于北耦\n上射揖坐\n與大夫\n", (5, 0), None),
    ],
    ids=["with a neighbour", "gone with its line", "at the beginning", "at the end", "between lines that moved"],
)
def test_what_stands_around_a_place_reaches_to_the_nearest_characters_that_are_left(
    new: str, place: tuple[int, int], expected: tuple[int, int] | None
) -> None:
    around = PositionMap.of_comparison(OLD, new).around(Span(*place))
    assert around == (Span(*expected) if expected else None)


TEXTS = st.text("甲乙丙\n", max_size=30)


@st.composite
def edits(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> tuple[str, list[Edit]]:
    """A text and edits of it that touch each other nowhere."""
    text = draw(texts)
    drawn, at = [], 0
    while at <= len(text) and draw(st.booleans()):
        start = draw(st.integers(at, len(text)))
        length = draw(st.integers(0, min(2, len(text) - start)))
        drawn.append(Edit(start, length, draw(st.text("丁戊", max_size=3))))
        at = start + length + 1
    return text, drawn


@given(edits())
def test_after_edits_every_character_is_where_they_leave_it(text_and_edits: tuple[str, list[Edit]]) -> None:
    old, made = text_and_edits
    map_ = PositionMap.of_edits(old, made)
    for at, character in enumerate(old):
        place = map_.where(at, 1)
        assert (place is None) == any(edit.start <= at < edit.end for edit in made)
        assert place is None or map_.new[place.start] == character
    for edit in made:
        written = map_.instead(edit.start, edit.length)
        assert written is not None
        assert map_.new[written.start : written.end] == edit.replacement


@given(edits(), st.data())
def test_edits_after_edits_are_one_change_that_keeps_what_both_keep(
    text_and_edits: tuple[str, list[Edit]], data: st.DataObject
) -> None:
    old, first = text_and_edits
    to_middle = PositionMap.of_edits(old, first)
    _, second = data.draw(edits(st.just(to_middle.new)))
    to_new = PositionMap.of_edits(to_middle.new, second)
    both = PositionMap.of_edits(old, composed(old, first, second))
    assert both.new == to_new.new
    for at in range(len(old)):
        middle = to_middle.where(at, 1)
        assert both.where(at, 1) == (None if middle is None else to_new.where(*middle))


@given(TEXTS, TEXTS)
def test_a_comparison_never_says_of_two_characters_that_they_are_one_or_of_one_that_it_is_another(
    old: str, new: str
) -> None:
    map_ = PositionMap.of_comparison(old, new)
    places_now = {at: map_.where(at, 1) for at in range(len(old))}
    places = [place.start for place in places_now.values() if place is not None]
    assert len(places) == len(set(places))
    assert all(place is None or new[place.start] == old[at] for at, place in places_now.items())


@pytest.mark.parametrize(
    ("new", "mapped"),
    [
        ("與大夫\n司射自西北面告于上射揖進坐\n反位\n", ["司射自西北面告", "于上射揖進坐"]),
        ("與大夫\n于上射揖進坐司射自西北面告\n反位\n", ["司射自西北面告", "于上射揖進坐"]),
        ("與大夫\n反位\n司射自西\n北面告\n于上射揖進坐\n", ["北面告", "于上射揖進坐"]),
        ("與大夫\n又司射自西北面告\n反位\n司射自西北面告于下\n", []),
    ],
    ids=["joined over a mark", "in another order", "split", "one of two"],
)
def test_a_line_that_stands_whole_in_a_longer_one_is_followed_there(new: str, mapped: list[str]) -> None:
    old = "與大夫\n第二葉之下半葉甲乙丙丁戊己庚辛壬癸\n司射自西北面告\n反位\n于上射揖進坐\n"
    comparison = PositionMap.of_comparison(old, new)
    for line in mapped:
        assert comparison.where(old.index(line), len(line)) == Span(new.index(line), len(line))
    if not mapped:
        assert comparison.where(old.index("司射"), 2) != Span(new.rindex("司射"), 2)


@pytest.mark.parametrize(
    ("moved", "expected"),
    [("東面于北耦坐", 3), ("面于北耦坐", 2), ("面于北耦坐\n進也\n東面于北耦", None), ("南西于北階立", None)],
    ids=["unchanged", "changed", "one of two", "another line"],
)
def test_a_line_that_was_moved_and_changed_is_followed_where_no_other_is_as_alike(
    moved: str, expected: int | None
) -> None:
    old, new = "與大夫\n東面于北耦坐\n上射揖\n命賓御\n反位\n", f"與大夫\n上射揖\n命賓御\n{moved}\n反位\n"
    place = PositionMap.of_comparison(old, new).where(old.index("北"), 1)
    assert place == (None if expected is None else Span(new.index(moved) + expected, 1))


def test_a_character_is_not_followed_into_another_line_that_has_a_few_characters_in_common() -> None:
    old = "第二葉\n司射自西階上北面告于大\n夫曰請降\n反位\n"
    other, changed = ("第二葉\n遂適西階上命賓御于公\n諸公卿則\n反位\n", "第二葉\n自西階上北面\n夫曰請降\n反位\n")
    assert PositionMap.of_comparison(old, other).where(old.index("階"), 1) is None
    assert PositionMap.of_comparison(old, changed).where(old.index("階"), 1) == Span(changed.index("階"), 1)
