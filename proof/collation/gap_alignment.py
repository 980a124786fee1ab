"""Alignment of the gaps between equal stretches of two sequences by edit distance (rapidfuzz)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from proof.collation.seeds import chains_of, seeds_of

MIN_LONG_GAP_CHARACTERS = 60
"""Minimum length of a gap that is searched for smaller seeds before it is aligned by edit distance."""

MAX_CHANCE_CHARACTERS = 2
"""Maximum number of consecutive equal characters among different ones that are taken to be equal by chance."""

SMALL_SEED_CHARACTERS = 3
"""Length of a seed in a long gap."""

MIN_SMALL_CHAIN_SCORE = 4.0
"""Minimum score of a chain of such seeds."""


@dataclass(frozen=True, slots=True)
class Op:
    """An operation of an alignment: `a0:a1` of the first sequence corresponds to `b0:b1` of the second. The two are
    equal, or of the same length and different, or one of them is longer or empty."""

    equal: bool
    a0: int
    a1: int
    b0: int
    b1: int

    @property
    def a_length(self) -> int:
        return self.a1 - self.a0

    @property
    def b_length(self) -> int:
        return self.b1 - self.b0


def gap_ops(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment of `a0:a1` with `b0:b1`, a gap between seeds or beside a block."""
    if a0 == a1 or b0 == b1:
        return _one_sided_ops(a0, a1, b0, b1)
    is_long = max(a1 - a0, b1 - b0) > MIN_LONG_GAP_CHARACTERS
    ops = _small_seed_ops(a, b, a0, a1, b0, b1) if is_long else []
    return ops or _edit_ops(a, b, a0, a1, b0, b1)


def _one_sided_ops(a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment if one of the two parts is empty: no operation if both are."""
    return [Op(False, a0, a1, b0, b1)] if a1 > a0 or b1 > b0 else []


def _small_seed_ops(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment of a long gap along its best chain of small seeds; empty if there is no chain."""
    chains = chains_of(seeds_of(a[a0:a1], b[b0:b1], SMALL_SEED_CHARACTERS), MIN_SMALL_CHAIN_SCORE)
    if not chains:
        return []
    ops: list[Op] = []
    x, y = a0, b0
    for offset_x, offset_y, length in chains[0]:
        seed_x, seed_y = a0 + offset_x, b0 + offset_y
        ops += _edit_ops(a, b, x, seed_x, y, seed_y)
        x, y = seed_x + length, seed_y + length
        ops.append(Op(True, seed_x, x, seed_y, y))
    return ops + _edit_ops(a, b, x, a1, y, b1)


def _edit_ops(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    """The alignment with the fewest edits. Equal characters at its two ends are always kept: they continue the equal
    ones around the gap."""
    longest = min(a1 - a0, b1 - b0)
    head = next((n for n in range(longest) if a[a0 + n] != b[b0 + n]), longest)
    tail = next((n for n in range(longest - head) if a[a1 - 1 - n] != b[b1 - 1 - n]), longest - head)
    inner_a0, inner_a1, inner_b0, inner_b1 = a0 + head, a1 - tail, b0 + head, b1 - tail
    ops = [
        Op(True, a0, inner_a0, b0, inner_b0),
        *_fewest_edits(a, b, inner_a0, inner_a1, inner_b0, inner_b1),
        Op(True, inner_a1, a1, inner_b1, b1),
    ]
    return list(joined_ops(ops))


def _fewest_edits(a: str, b: str, a0: int, a1: int, b0: int, b1: int) -> list[Op]:
    if a0 == a1 or b0 == b1:
        return _one_sided_ops(a0, a1, b0, b1)
    ops = [
        Op(code.tag == "equal", a0 + code.src_start, a0 + code.src_end, b0 + code.dest_start, b0 + code.dest_end)
        for code in Levenshtein.opcodes(a[a0:a1], b[b0:b1])
    ]
    return _without_chance(joined_ops(ops))


def _without_chance(ops: Sequence[Op]) -> list[Op]:
    """The operations, with one or two equal characters among different or one-sided ones marked as different: an edit
    distance finds such chance pairs between any two sentences."""
    clean: list[Op] = []
    for index, op in enumerate(ops):
        last = clean[-1] if clean else None
        following = ops[index + 1] if index + 1 < len(ops) else None
        is_equal = op.equal and not _is_chance(op, [beside for beside in (last, following) if beside])
        if last is not None and not last.equal and not is_equal:
            clean[-1] = Op(False, last.a0, op.a1, last.b0, op.b1)
        else:
            clean.append(Op(is_equal, op.a0, op.a1, op.b0, op.b1))
    return clean


def _is_chance(equal: Op, beside: Iterable[Op]) -> bool:
    """Whether equal characters are so few, compared with the operations beside them, that they are equal by chance."""
    edits = [op for op in beside if not op.equal]
    one_sided = sum(abs(op.a_length - op.b_length) for op in edits)
    different = sum(min(op.a_length, op.b_length) for op in edits)
    length = equal.a_length
    return length <= MAX_CHANCE_CHARACTERS and (one_sided >= 6 * length + 2 or different >= 3 * length + 1)


def joined_ops(ops: Iterable[Op]) -> tuple[Op, ...]:
    """The operations, with adjacent ones of one kind joined and empty ones left out."""
    joined: list[Op] = []
    for op in ops:
        last = joined[-1] if joined else None
        if last is not None and last.equal is op.equal:
            joined[-1] = Op(op.equal, last.a0, op.a1, last.b0, op.b1)
        elif op.a_length or op.b_length:
            joined.append(op)
    return tuple(joined)
