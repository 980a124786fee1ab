"""A collation in the JSON of CollateX: an alignment table that its tools and viewers read.

The table is an array of segments; each is an array with the tokens of every witness in the order of `witnesses`, the
base first. A token has its text `t`, its key `n` under which forms of a word are equal, and `start`, the code point in
its witness's file. See https://collatex.net/doc/ ('JSON' under output).

A table has every witness from its beginning to its end. A witness whose parts are in another order is left out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from proof.collation.blocks import AlignedPart
from proof.collation.collation import Collation
from proof.collation.tokens import WitnessTokens
from proof.collation.witnesses import CommonBase

Token = dict[str, Any]
TableRow = list[list[Token]]
"""What the base and each witness have in one segment."""


def in_order(collation: Collation) -> bool:
    """Whether the parts of the witness stand in the order of the base."""
    return all(block.b1 <= following.b0 for block, following in pairwise(collation.blocks))


def collatex(collations: Sequence[Collation], names: Sequence[str]) -> tuple[list[str], Iterator[TableRow]]:
    """The names of all witnesses that the table can hold, and its rows; `names` are those of the base and of each
    witness. All collations have the same base."""
    held = [(name, collation) for name, collation in zip(names[1:], collations, strict=True) if in_order(collation)]
    if not held:
        return [names[0]], iter([[_tokens(collations[0].base, 0, len(collations[0].base))]])
    return [names[0], *(name for name, _ in held)], _rows([collation for _, collation in held])


def _rows(collations: Sequence[Collation]) -> Iterator[TableRow]:
    """The rows of the table that is not empty."""
    common = CommonBase.of(collations)
    base = common.tokens
    spans = [list(_spans(collation, common, number)) for number, collation in enumerate(collations)]
    readers = [_Reader(collation.witness, own) for collation, own in zip(collations, spans, strict=True)]
    for start, end in _segments(spans, len(base)):
        cells = [_tokens(base, start // 2, end // 2), *(reader.read(start, end) for reader in readers)]
        if any(cells):
            yield cells


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch of the base against `b0:b1` of the witness; `divided`: the two answer one another one by one,
    or the witness has nothing there.

    Places of the base are counted in halves, so that what it lacks has a place too: character i is place 2i + 1, what
    a witness has before it place 2i.
    """

    start: int
    end: int
    b0: int
    b1: int
    divided: bool

    @classmethod
    def of(cls, a0: int, a1: int, b0: int, b1: int) -> _Span:
        start, end = (2 * a0 + 1, 2 * a1) if a1 > a0 else (2 * a0, 2 * a0 + 1)
        return cls(start, end, b0, b1, b0 == b1 or a1 - a0 == b1 - b0)


def _spans(collation: Collation, common: CommonBase, number: int) -> Iterator[_Span]:
    """The whole of both in order, by the numbers of the base that all witnesses share. Characters that were not
    compared with this witness, since it lacks their layer, count as missing in it."""
    numbers, at, b = common.numbers[number], 0, 0
    for a0, a1, b0, b1 in _stretches(collation):
        if a0 == a1 or a1 - a0 != b1 - b0:
            parts = [(a0, a1, b0, b1)]
        else:  # one by one: divided at characters that were not compared
            cuts = [a0, *(at for at in range(a0 + 1, a1) if numbers[at] != numbers[at - 1] + 1), a1]
            parts = [(start, end, b0 + start - a0, b0 + end - a0) for start, end in pairwise(cuts)]
        for start, end, first, last in parts:
            here, there = common.span(number, start, end) if end > start else (at, at)
            if here > at:
                yield _Span.of(at, here, first, first)
            yield _Span.of(here, there, first, last)
            at, b = there, last
    if at < len(common.tokens):
        yield _Span.of(at, len(common.tokens), b, b)


def _stretches(collation: Collation) -> Iterator[tuple[int, int, int, int]]:
    """The whole of both in order: what is aligned, and between the blocks what only one of them has."""
    a, b = 0, 0
    end = AlignedPart(len(collation.base), len(collation.base), len(collation.witness), len(collation.witness), ())
    for block in (*collation.blocks, end):
        if block.a0 > a:
            yield a, block.a0, b, b
        if block.b0 > b:
            yield block.a0, block.a0, b, block.b0
        yield from ((op.a0, op.a1, op.b0, op.b1) for op in block.ops)
        a, b = block.a1, block.b1


def _segments(spans: Sequence[list[_Span]], length: int) -> Iterator[tuple[int, int]]:
    """The places of the base from cut to cut: wherever a stretch of any witness ends, but nowhere within one that
    cannot be divided."""
    every = [span for witness_spans in spans for span in witness_spans]
    cuts = sorted({0, 2 * length + 1} | {place for span in every for place in (span.start, span.end)})
    within: set[int] = set()
    for span in every:
        if not span.divided:
            within.update(cuts[bisect_right(cuts, span.start) : bisect_left(cuts, span.end)])
    return pairwise([cut for cut in cuts if cut not in within])


class _Reader:
    """Reads a witness along the segments, from its beginning to its end."""

    def __init__(self, witness: WitnessTokens, spans: list[_Span]) -> None:
        self._witness = witness
        self._spans = spans
        self._at = 0

    def read(self, start: int, end: int) -> list[Token]:
        """What it has in the next segment."""
        tokens: list[Token] = []
        while self._at < len(self._spans) and self._spans[self._at].start < end:
            span = self._spans[self._at]
            if span.divided and span.b1 > span.b0:
                first = max(start, span.start) // 2 - span.start // 2
                last = min(end, span.end) // 2 - span.start // 2
                tokens += _tokens(self._witness, span.b0 + first, span.b0 + last)
            else:
                tokens += _tokens(self._witness, span.b0, span.b1)
            if span.end > end:
                break
            self._at += 1
        return tokens


def _tokens(of: WitnessTokens, start: int, end: int) -> list[Token]:
    cells = zip(of.texts(start, end), of.keys[start:end], of.starts[start:end], strict=True)
    return [{"t": text, "n": key, "start": at} for text, key, at in cells]
