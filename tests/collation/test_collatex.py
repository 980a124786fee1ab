"""A collation as CollateX writes it: every witness that stands in order can be read off the table, whole."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.collation.collatex import alignment_table, has_base_order
from proof.collation.collation import collate
from proof.text.transcription import Format, Transcription
from tests.build import transcription

pytestmark = pytest.mark.slow

TEXT = "司射東面于大夫之西比耦大夫與大夫命上射曰某御于子命下射曰子與某子射卒遂比衆耦衆耦立于大夫之南西面北上"


def edition(text: str, name: str) -> Transcription:
    return transcription(f"　　{text}", name, Format.INLINE)


def slipped(seed: int) -> str:
    rng = random.Random(seed)  # noqa: S311
    return "".join(
        rng.choice((character, character, character, character, character, "", character * 2, "甲乙", "丙"))
        for character in TEXT
    )


@given(st.lists(st.integers(0, 400), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_every_witness_can_be_read_off_the_table(seeds: list[int]) -> None:
    texts = [TEXT, *(slipped(seed) for seed in seeds)]
    base, *others = [edition(text, f"{number}.txt") for number, text in enumerate(texts)]
    collations = [collate(base, witness) for witness in others]
    witnesses, table = alignment_table(collations, ["A", *(str(number) for number in range(len(seeds)))])
    held = [TEXT, *(text for text, collation in zip(texts[1:], collations, strict=True) if has_base_order(collation))]
    assert len(witnesses) == len(held)
    rows = list(table)
    for number, text in enumerate(held):
        assert "".join(token["t"] for row in rows for token in row[number]) == text


def test_what_is_equal_stands_in_one_segment_and_what_differs_in_its_own() -> None:
    _, table = alignment_table([collate(edition(TEXT, "a"), edition(TEXT.replace("西比", "西北"), "b"))], ["A", "B"])
    words = [["".join(token["t"] for token in cell) for cell in row] for row in table]
    assert words == [[TEXT[:9], TEXT[:9]], ["比", "北"], [TEXT[10:], TEXT[10:]]]


def test_witnesses_that_have_other_layers_stand_in_one_table() -> None:
    """One has the commentary and one has not: the base's characters have other numbers beside either."""
    noted = "司射東面于大夫之西比耦【耦謂比偶之為耦也】大夫與大夫命上射曰某御于子命下射曰【命者告也】子與某子射卒遂比耦"
    bare = "".join(part.rpartition("】")[2] for part in noted.split("【"))
    commented = noted.replace("御", "甲").replace("告也", "乙也")
    base = edition(noted, "base.txt")
    witnesses = [plain(bare.replace("卒遂", "乃遂"), "bare.txt"), edition(commented, "commented.txt")]
    for order in (witnesses, witnesses[::-1]):
        table = list(alignment_table([collate(base, witness) for witness in order], ["A", "B", "C"])[1])
        read = ["".join(token["t"] for row in table for token in row[number]) for number in range(3)]
        full = {"bare.txt": bare.replace("卒遂", "乃遂"), "commented.txt": commented.translate(BRACKETS)}
        assert read == [noted.translate(BRACKETS), *(full[witness.path.name] for witness in order)]
        rows = [["".join(token["t"] for token in cell) for cell in row] for row in table]
        in_table = {tuple(row) if order is witnesses else (row[0], row[2], row[1]) for row in rows}
        assert {("御", "御", "甲"), ("卒", "乃", "卒"), ("告", "", "乙")} <= in_table


BRACKETS = dict.fromkeys(map(ord, "【】"))


def plain(text: str, name: str) -> Transcription:
    marked = f"<pb:KR1_WYG_001-1a>¶\n{text}¶\n"
    return transcription(marked, name, Format.KANRIPO)
