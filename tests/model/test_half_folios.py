"""Half-folios: parsing of labels, names, and enumeration."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import UsageError
from proof.model.half_folios import half_folio_name, half_folios_from, parse_half_folio, parse_label
from proof.model.refs import Folio

NAMED = {
    "010-1a": "010-1a",
    "10-12B": "010-12b",
    "KR1d0030_WYG_010-1a": "010-1a",
    "卷十 第一葉上": "010-1a",
    "卷十第十二葉左": "010-12b",
    "第十卷 第一葉 b面": "010-1b",
    "卷十,三叶后半叶": "010-3b",
    "卷十,三叶后": "010-3b",
    "卷十\uff0c第一葉上": "010-1a",
    "卷十\uff1a1b": "010-1b",
    "卷十・三葉下": "010-3b",
    "卷10 3b": "010-3b",
    "10, f. 3v": "010-3b",
    "10: fol. 3r": "010-3a",
    "卷二十一 五葉右": "021-5a",
}
OPEN = "|1a|第一葉上|f. 1r|p. 3|1011a|卷十一葉上|12|封面|卷十|010-1a-1b|1b-2a|第十頁"


def test_a_label_with_juan_leaf_and_side_is_parsed_and_any_other_is_not() -> None:
    parsed = {label: parse_label(label) for label in NAMED}
    assert {label: place and half_folio_name(place) for label, place in parsed.items()} == NAMED
    assert [label for label in OPEN.split("|") if parse_label(label)] == []


@given(st.integers(1, 999), st.integers(1, 999), st.sampled_from("ab"))
def test_the_name_of_a_half_folio_is_parsed_again(juan: int, leaf: int, side: str) -> None:
    place = (str(juan), Folio(leaf, side))
    assert parse_label(half_folio_name(place)) == parse_half_folio(half_folio_name(place)) == place


@given(st.text())
def test_any_text_can_be_parsed_as_a_label(label: str) -> None:
    place = parse_label(label)
    assert place is None or half_folio_name(place)


@pytest.mark.parametrize("text", ["", "1a", "010", "010-1", "010-1c"])
def test_any_other_form_than_juan_and_half_folio_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="such as 010-1a"):
        parse_half_folio(text)


@pytest.mark.parametrize(
    ("text", "first", "counted"),
    [
        (
            "010-1a 010-1b 010-2a 010-2b 011-1a 011-2a",  # juan 10 ends with leaf 2, leaf 1 of juan 11 has no left half
            "010-2a",
            "010-2a 010-2b 011-1a 011-2a 011-2b 011-3a",
        ),
        ("", "010-1b", "010-1b 010-2a 010-2b"),
        ("009-1a", "010-1b", "010-1b 010-2a 010-2b"),
    ],
)
def test_half_folios_are_enumerated_as_in_the_text(text: str, first: str, counted: str) -> None:
    places = half_folios_from(parse_half_folio(first), [parse_half_folio(place) for place in text.split()])
    assert [half_folio_name(place) for place in islice(places, len(counted.split()))] == counted.split()
