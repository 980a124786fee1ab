"""Glyphs are stored by character, and kept by a check that reads no image."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proof.model.result import PageResult
from proof.store import PagePlace, RunInfo, Store
from proof.store.glyphs import SHAPE_LENGTH, Shapes
from proof.store.saving import CheckedResult
from tests.store.conftest import on_both

PLACE = PagePlace(0, "KR1d0030_010.txt", "010", "1a")
WORK = "KR1d0030"


def shapes(result: PageResult) -> Shapes:
    return np.random.default_rng(1).integers(1, 90, (len(result.characters), SHAPE_LENGTH)).astype(np.int8)


@pytest.fixture
def filled(store: Store, info: RunInfo, page_result: PageResult) -> Store:
    run = store.begin_run(info)
    store.save_pages(run, [CheckedResult(PLACE, "one", page_result, shapes=shapes(page_result))])
    return store


@on_both
def test_the_occurrences_of_a_character_are_found_with_their_places(filled: Store, page_result: PageResult) -> None:
    first = page_result.characters[0]
    found = filled.glyphs.of(WORK, first.text)
    assert len(found) == found.total == sum(other.text == first.text for other in page_result.characters)
    glyph = found.glyphs[0]
    assert (glyph["line"], glyph["offset"], glyph["length"]) == (first.line, first.offset, first.length)
    assert (glyph["shape"] == shapes(page_result)[0]).all()
    assert filled.glyphs.known_on(page_result.image_sha)


@on_both
def test_how_often_characters_stand_in_a_work_is_told_without_a_page_that_is_judged_anew(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    first = page_result.characters[0]
    count = sum(other.text == first.text for other in page_result.characters)
    again = replace(page_result, page="1b", flags=())
    run = filled.begin_run(info)
    filled.save_pages(run, [CheckedResult(replace(PLACE, position=1), "two", again, shapes=shapes(again))])
    assert filled.glyphs.occurrences(WORK, {first.text, "某"}) == {first.text: 2 * count, "某": 0}
    assert filled.glyphs.occurrences(WORK, {first.text}, "1b") == {first.text: count}
    assert filled.glyphs.occurrences("another", {first.text}) == {first.text: 0}


@on_both
def test_a_check_that_reads_no_image_keeps_the_shapes_of_what_stands_where_it_stood(
    filled: Store, info: RunInfo, page_result: PageResult
) -> None:
    """After a change of the text, the glyph at that place is an occurrence of another character."""
    was = page_result.characters[0]
    changed = replace(page_result, characters=(replace(was, text="某"), *page_result.characters[1:]))
    run = filled.begin_run(info)
    filled.save_pages(run, [CheckedResult(PLACE, "two", changed)])
    found = filled.glyphs.of(WORK, "某")
    assert len(found) == 1
    assert (found.glyphs[0]["shape"] == shapes(page_result)[0]).all()
