"""Parts of two texts find each other in whatever order, and the alignment rebuilds both."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proof.collation.blocks import AlignedPart, align, moved, repeated
from tests.timing import seconds_of

pytestmark = pytest.mark.slow

WORDS = [chr(0x4E00 + number) for number in range(600)]


def passage(seed: int, length: int) -> str:
    chosen = random.Random(seed)  # noqa: S311
    return "".join(chosen.choice(WORDS) for _ in range(length))


def check(a: str, b: str, blocks: list[AlignedPart]) -> None:
    """What must hold of any alignment."""
    assert all(before.a1 <= after.a0 for before, after in pairwise(blocks))
    for block in blocks:
        x, y = block.a0, block.b0
        for op in block.ops:
            assert (op.a0, op.b0) == (x, y)
            assert not op.equal or a[op.a0 : op.a1] == b[op.b0 : op.b1]
            x, y = op.a1, op.b1
        assert (x, y) == (block.a1, block.b1)


def apart(blocks: list[AlignedPart]) -> bool:
    """Whether no part of the second is in two."""
    return all(before.b1 <= after.b0 for before, after in pairwise(sorted(blocks, key=lambda block: block.b0)))


EITHER = st.text("甲乙丙丁戊己庚辛", max_size=120)


@given(EITHER, EITHER)
@example("乙甲乙甲乙甲乙乙甲", "甲甲乙甲甲甲甲甲甲乙甲乙乙甲乙甲甲")
@example("乙乙乙甲甲乙甲乙乙甲乙甲乙乙", "乙乙乙甲乙甲乙乙甲乙乙甲甲甲")
@settings(max_examples=200, deadline=None)
def test_an_alignment_rebuilds_both_sides_whichever_comes_first(a: str, b: str) -> None:
    """No part of either is in two blocks, nor among what is said again."""
    blocks = align(a, b)
    check(a, b, blocks)
    assert sorted((block.swapped() for block in align(b, a)), key=lambda block: block.a0) == blocks
    assert apart(blocks)
    again = repeated(a, b, blocks)
    check(a, b, again)
    taken = [at for block in blocks for op in block.ops if op.equal for at in range(op.a0, op.a1)]
    taken += [at for part in again for at in range(part.a0, part.a1)]
    assert len(taken) == len(set(taken))


def test_a_chain_does_not_span_what_a_better_one_has() -> None:
    """The second text is parts of the first, some of them overlapping, in another order."""
    for seed in range(100):
        chance = random.Random(seed)  # noqa: S311
        a = passage(seed, 400)
        parts = [a[start : start + chance.randrange(8, 60)] for start in range(0, 400, 25)]
        chance.shuffle(parts)
        b = "".join(parts)
        blocks = align(a, b)
        check(a, b, blocks)
        assert apart(blocks), seed


def test_of_parts_in_another_order_the_shorter_moved_whichever_text_comes_first() -> None:
    first, second, three, four = passage(1, 80), passage(2, 90), passage(3, 70), passage(4, 70)
    a, b = first + three + second + four, second + first + four + three
    there, back = moved(a, b, align(a, b)), moved(b, a, align(b, a))
    assert [a[block.a0 : block.a1] for block in there] in ([first, three], [three, second], [first, four])
    assert there == sorted((block.swapped() for block in back), key=lambda block: block.a0)
    assert moved(a, a, align(a, a)) == []


def test_a_long_commentary_in_the_witness_does_not_cut_the_text() -> None:
    first, own, second = passage(1, 80), passage(5, 1500), passage(2, 90)
    (block,) = align(first + second, first + own + second)
    assert block.equal_count == 170
    assert [op.b1 - op.b0 for op in block.ops if not op.equal] == [1500]


def test_every_quotation_of_what_the_witness_has_once_is_found() -> None:
    """A subcommentary between two parts of the text quotes the first of them, and one of its sayings twice more."""
    first, second = passage(1, 120), passage(2, 120)
    between = (
        passage(5, 50) + first[20:80] + passage(6, 40) + first[30:50] + passage(7, 30) + first[30:50] + passage(8, 20)
    )
    a, b = first + between + second, first + second
    (block,) = align(a, b)
    repetitions = repeated(a, b, [block])
    assert [(part.a0, part.a1, part.b0) for part in repetitions] == [(170, 230, 20), (270, 290, 30), (320, 340, 30)]
    assert not repeated(b, a, [block.swapped()]), "the witness says nothing again"


def test_time_stays_near_linear() -> None:
    def seconds(length: int, enough: float = 0.0) -> float:
        a = passage(1, length)
        b = list(a)
        for place in range(50, length, 100):
            b[place] = "㐀"
        other = "".join(b)
        (block,) = align(a, other)
        assert block.equal_count == length - len(range(50, length, 100))
        return seconds_of(lambda: align(a, other), enough)

    most = 40 * seconds(20_000)
    assert seconds(200_000, most / 2) < most  # a full matrix would take a hundred times as long
