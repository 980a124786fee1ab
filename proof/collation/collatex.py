"""A collation in the JSON of CollateX: an alignment table for its tools and viewers.

The table is an array of segments. Each is an array with the tokens of every witness in the order of `witnesses`, the
base first. A token has its text `t`, its key `n`, which forms of one word share, and `start`, the code point in its
witness's file. See https://collatex.net/doc/ ('JSON' under output).

Every witness is in the table from its start to its end. A witness whose parts have another order is left out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from proof.collation.blocks import AlignedPart
from proof.collation.collation import Collation
from proof.collation.differences import Ranges
from proof.collation.tokens import WitnessTokens
from proof.collation.witnesses import CommonBase

Token = dict[str, Any]
TableRow = list[list[Token]]
"""The tokens of the base and of each witness in one segment."""


def has_base_order(collation: Collation) -> bool:
    """Whether the parts of the witness have the order of the base."""
    return all(block.b1 <= following.b0 for block, following in pairwise(collation.blocks))


def alignment_table(collations: Sequence[Collation], names: Sequence[str]) -> tuple[list[str], Iterator[TableRow]]:
    """The names of the witnesses in the table, and its rows. `names` are those of the base and of each witness. All
    collations have the same base."""
    base_name, *witness_names = names
    named = [pair for pair in zip(witness_names, collations, strict=True) if has_base_order(pair[1])]
    if not named:
        base = collations[0].base
        return [base_name], iter([[_tokens(base, 0, len(base))]])
    return [base_name, *(name for name, _ in named)], _rows([collation for _, collation in named])


def _rows(collations: Sequence[Collation]) -> Iterator[TableRow]:
    """The rows of the table, without empty ones."""
    common = CommonBase.of(collations)
    base = common.tokens
    pieces = [list(_pieces(collation, common, number)) for number, collation in enumerate(collations)]
    readers = [_Reader(collation.witness, own) for collation, own in zip(collations, pieces, strict=True)]
    for start, end in _segments(pieces, len(base)):
        row = [_tokens(base, start // 2, end // 2), *(reader.read(start, end) for reader in readers)]
        if any(row):
            yield row


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of the base from place `start` to `end`, aligned with `b0:b1` of the witness. `divisible`: the two are
    aligned character by character, or the witness has nothing.

    Places of the base are counted in halves, so that gaps have places too: character i is place 2i + 1, the gap before
    it place 2i.
    """

    start: int
    end: int
    b0: int
    b1: int
    divisible: bool

    @classmethod
    def of(cls, a0: int, a1: int, b0: int, b1: int) -> _Piece:
        start, end = (2 * a0 + 1, 2 * a1) if a1 > a0 else (2 * a0, 2 * a0 + 1)
        return cls(start, end, b0, b1, b0 == b1 or a1 - a0 == b1 - b0)


def _pieces(collation: Collation, common: CommonBase, number: int) -> Iterator[_Piece]:
    """The whole of both texts in order, as pieces of the common base. Characters that were not compared with this
    witness, since it lacks their layer, count as missing in it."""
    numbers = common.numbers[number]
    at, b = 0, 0  # the end of the last piece in the common base, and in the witness
    for a0, a1, b0, b1 in _stretches(collation):
        if a0 == a1 or a1 - a0 != b1 - b0:
            parts = [Ranges(a0, a1, b0, b1)]
        else:  # aligned character by character: divided at characters that were not compared
            cuts = [a0, *(index for index in range(a0 + 1, a1) if numbers[index] != numbers[index - 1] + 1), a1]
            parts = [Ranges(start, end, b0 + start - a0, b0 + end - a0) for start, end in pairwise(cuts)]
        for part in parts:
            start, end = common.span(number, part.a0, part.a1) if part.a1 > part.a0 else (at, at)
            if start > at:
                yield _Piece.of(at, start, part.b0, part.b0)
            yield _Piece.of(start, end, part.b0, part.b1)
            at, b = end, part.b1
    if at < len(common.tokens):
        yield _Piece.of(at, len(common.tokens), b, b)


def _stretches(collation: Collation) -> Iterator[Ranges]:
    """The whole of both texts in order: the aligned stretches, and between the blocks those that only one text has."""
    a, b = 0, 0
    a_length, b_length = len(collation.base), len(collation.witness)
    for block in (*collation.blocks, AlignedPart(a_length, a_length, b_length, b_length, ())):
        if block.a0 > a:
            yield Ranges(a, block.a0, b, b)
        if block.b0 > b:
            yield Ranges(block.a0, block.a0, b, block.b0)
        yield from (Ranges(op.a0, op.a1, op.b0, op.b1) for op in block.ops)
        a, b = block.a1, block.b1


def _segments(pieces: Sequence[list[_Piece]], length: int) -> Iterator[tuple[int, int]]:
    """The segments of the base, as places: cut wherever a piece of any witness ends, but not within an indivisible
    piece."""
    all_pieces = [piece for witness_pieces in pieces for piece in witness_pieces]
    cuts = sorted({0, 2 * length + 1} | {place for piece in all_pieces for place in (piece.start, piece.end)})
    forbidden: set[int] = set()
    for piece in all_pieces:
        if not piece.divisible:
            forbidden.update(cuts[bisect_right(cuts, piece.start) : bisect_left(cuts, piece.end)])
    return pairwise([cut for cut in cuts if cut not in forbidden])


class _Reader:
    """Reads a witness segment by segment, from its start to its end."""

    def __init__(self, witness: WitnessTokens, pieces: list[_Piece]) -> None:
        self._witness = witness
        self._pieces = pieces
        self._at = 0

    def read(self, start: int, end: int) -> list[Token]:
        """The tokens of the next segment."""
        tokens: list[Token] = []
        while self._at < len(self._pieces) and self._pieces[self._at].start < end:
            piece = self._pieces[self._at]
            if piece.divisible and piece.b1 > piece.b0:
                first = max(start, piece.start) // 2 - piece.start // 2
                last = min(end, piece.end) // 2 - piece.start // 2
                tokens += _tokens(self._witness, piece.b0 + first, piece.b0 + last)
            else:
                tokens += _tokens(self._witness, piece.b0, piece.b1)
            if piece.end > end:
                break
            self._at += 1
        return tokens


def _tokens(witness: WitnessTokens, start: int, end: int) -> list[Token]:
    characters = zip(witness.texts(start, end), witness.keys[start:end], witness.starts[start:end], strict=True)
    return [{"t": text, "n": key, "start": at} for text, key, at in characters]
