"""Characters are found by their parts, in whatever form these are typed."""

from __future__ import annotations

import pytest

from proof.text.components import is_unencoded, made_of


@pytest.mark.parametrize("parts", ["金本", "釒本", "本金", "⿰釒本", "[金*本]"])
def test_a_character_is_found_by_its_parts_however_they_are_written(parts: str) -> None:
    assert made_of(parts)[0] == "鉢"


@pytest.mark.parametrize("parts", ["", "金", "&KR0058;", "⿰金", "龘龘龘"])
def test_one_part_or_what_nothing_has_finds_nothing(parts: str) -> None:
    assert made_of(parts) == []


def test_names_descriptions_and_stopgaps_are_not_encoded_characters_are() -> None:
    assert all(map(is_unencoded, ["&KR0058;", "&#x2A6A5;", "[金*本]", "⿰金本", "〓", "\ue123"]))
    assert not any(map(is_unencoded, ["鉢", "𫝊", "葛\U000e0100", "。"]))
