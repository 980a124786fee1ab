"""Mapping positions from one version of a text to the next.

`PositionMap` maps code points of one version to those of the next: exactly, if the edits are known, as after an export;
else by comparison, first of lines and then of characters. A comparison maps only characters that all shortest edit
paths keep: of a run of equal characters it cannot be known which one was added or removed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from proof.text.edit import Edit, edited

MAX_COMPARED_PAIRS = 16_000_000
"""Pairs of characters of a changed passage that are compared, at most; characters of larger ones are not mapped."""

MAX_SEARCHED_CODE_POINTS = 1_000_000_000
"""Code points, at most, that are searched for lines that were joined or split: some seconds."""

MIN_PIECE_LENGTH = 4
"""Characters that a line has, at least, to be told as a part of a longer one; fewer may stand there by chance."""

MIN_ALIKE_PERCENT = 70
"""Similarity, in percent (Indel), from which on one line may be another that was moved and changed."""

MAX_CHANCE_LENGTH = 2
"""Number of equal characters, at most, that are taken to be equal by chance between two longer changes."""


MIN_KEPT_SHARE = 0.5
"""Characters of a line that are in the new version, as a share of the shorter of the two lines, from which on the new
line is the old one, changed; with fewer it is another line, and what they have in common stands there by chance (西階上
in 司射自西階上北面告于大 and 遂適西階上命賓御于公)."""


_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Block(NamedTuple):
    """`length` equal code points, from `old` on in the old version, from `new` on in the new one."""

    old: int
    new: int
    length: int


class Span(NamedTuple):
    """`length` code points from `start` on."""

    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length


class PositionMap:
    """Maps places in `old` to places in `new`. `blocks` are in the order of `old` and do not overlap; `written` maps
    edits to the places of what they wrote."""

    def __init__(self, old: str, new: str, blocks: Iterable[Block], written: dict[Edit, Span] | None = None) -> None:
        self._old, self.new = old, new
        self._blocks = _joined(sorted(block for block in blocks if block.length))
        self._starts = [block.old for block in self._blocks]
        self._written = written or {}
        self._replaced = {Span(*edit.place): span for edit, span in reversed(self._written.items())}

    @classmethod
    def of_edits(cls, old: str, edits: Iterable[Edit]) -> PositionMap:
        """The map from `old` to the result of these edits. Raises UsageError as `edited`."""
        ordered = sorted(edits, key=attrgetter("place"))
        blocks, written, reached, at = [], dict[Edit, Span](), 0, 0
        for edit in ordered:
            kept = edit.start - reached
            blocks.append(Block(reached, at, kept))
            at += kept
            written[edit] = Span(at, len(edit.replacement))
            at, reached = at + len(edit.replacement), edit.end
        blocks.append(Block(reached, at, len(old) - reached))
        return cls(old, edited(old, ordered), blocks, written)

    @classmethod
    def of_comparison(cls, old: str, new: str) -> PositionMap:
        """The map from `old` to `new`, by comparison."""
        if old == new:
            return cls(old, new, [Block(0, 0, len(old))])
        return cls(old, new, _compared(old, new))

    @cached_property
    def _line_counts(self) -> tuple[Counter[str], Counter[str]]:
        return Counter(self._old.split("\n")), Counter(self.new.split("\n"))

    def line_stands(self, at: int) -> bool:
        """Whether the new version has the line of a code point at least as often as the old one."""
        before, after = self._line_counts
        line = self.line(at)
        return after[line] >= before[line]

    def line(self, at: int) -> str:
        """The line of a code point in the old version."""
        return self._old[slice(*self._line_of(at))]

    def begins_line(self, at: int) -> bool:
        """Whether a line of the old version begins at a code point."""
        return _begins_line(self._old, at)

    def _line_of(self, at: int) -> tuple[int, int]:
        """Start and end of the line of a code point in the old version."""
        end = self._old.find("\n", at)
        return self._old.rfind("\n", 0, at) + 1, end if end >= 0 else len(self._old)

    def distance(self, at: int) -> int:
        """A measure of the distance between the line of a code point and `new`: lower by two for each character of the
        line that `new` keeps. For comparing versions of the line in `old` against the same `new`."""
        begin, end = self._line_of(at)
        first = max(bisect_right(self._starts, begin) - 1, 0)
        standing = 0
        for block in self._blocks[first:]:
            if block.old >= end:
                break
            standing += max(0, min(end, block.old + block.length) - max(begin, block.old))
        return end - begin - 2 * standing

    def where(self, start: int, length: int) -> Span | None:
        """The place of these characters in the new version, if they are together and unchanged; else None. With length
        0: the point between its two neighbours, or at the end of its line if one of these is a line ending."""
        if length:
            block = self._block(start)
            if block is None or start + length > block.old + block.length:
                return None
            return Span(start + block.new - block.old, length)
        before, behind = self._character(start - 1), self._character(start)
        if before is not None and behind is not None and before + 1 == behind:
            return Span(behind, 0)
        if behind is not None and _begins_line(self._old, start) and _begins_line(self.new, behind):
            return Span(behind, 0)
        if before is not None and _ends_line(self._old, start) and _ends_line(self.new, before + 1):
            return Span(before + 1, 0)
        return Span(0, 0) if not self._old and not self.new else None

    def written(self, edit: Edit) -> Span | None:
        """The place of what an edit wrote; None for an edit that the map was not made of."""
        return self._written.get(edit)

    def instead(self, start: int, length: int) -> Span | None:
        """The place of what replaced these characters: all between their neighbours, within one line; None if one of
        the neighbours cannot be mapped."""
        known = self._replaced.get(Span(start, length))
        if known is not None:
            return known
        end = start + length
        before, behind = self._character(start - 1), self._character(end)
        left = before + 1 if before is not None else None
        right = behind
        if left is None and right is not None and _begins_line(self._old, start):
            left = self.new.rfind("\n", 0, right) + 1
        if right is None and left is not None and _ends_line(self._old, end):
            right = line_end(self.new, left)
        if left is None or right is None or left > right or "\n" in self.new[left:right]:
            return None
        return Span(left, right - left)

    def _block(self, at: int) -> Block | None:
        number = bisect_right(self._starts, at) - 1
        if number < 0 or at < 0:
            return None
        block = self._blocks[number]
        return block if at < block.old + block.length else None

    def _character(self, at: int) -> int | None:
        """The place of one character in the new version."""
        block = self._block(at)
        return None if block is None else at + block.new - block.old


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _ends_line(text: str, at: int) -> bool:
    return at == len(text) or text[at] in "\r\n"


def line_end(text: str, at: int) -> int:
    """The end of the line of a code point, before its line ending."""
    line_feed = text.find("\n", at)
    end = len(text) if line_feed < 0 else line_feed
    return end - 1 if end > at and text[end - 1] == "\r" else end


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, with those joined that are adjacent in both versions."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and (last.old + last.length, last.new + last.length) == (block.old, block.new):
            joined[-1] = last._replace(length=last.length + block.length)
        else:
            joined.append(block)
    return joined


class _Line(NamedTuple):
    """A line, or a piece of one, that begins at the code point `start`."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _lines(text: str, other: str) -> list[_Line]:
    """The lines of `text`, cut where a part of them is a whole line of `other`, as where lines were joined or split.
    Such a part occurs once in each."""
    lines = text.split("\n")
    lacking = {line for line in set(other.split("\n")).difference(lines) if len(line) >= MIN_PIECE_LENGTH}
    cuts: set[int] = set()
    if len(lacking) * (len(text) + len(other)) <= MAX_SEARCHED_CODE_POINTS:
        for line in (line.removesuffix("\r") for line in lacking):
            at = text.find(line)
            if at >= 0 and at == text.rfind(line) and other.find(line) == other.rfind(line):
                cuts |= {at, at + len(line)}
    inside = sorted(cuts)
    pieces, start = [], 0
    for line in lines:
        end = start + len(line)
        bounds = [start, *inside[bisect_right(inside, start) : bisect_left(inside, end)], end]
        pieces += [_Line(begin, text[begin:stop]) for begin, stop in pairwise(bounds)]
        start = end + 1
    return pieces


def _compared(old: str, new: str) -> Iterator[Block]:
    """The blocks that two versions share: lines that occur once in each, even if moved; equal lines beside these; and
    equal characters of the passages between, and of lines that were moved and changed."""
    before, after = _lines(old, new), _lines(new, old)
    pairs = _same_lines([line.text for line in before], [line.text for line in after])
    for here, there in pairs.items():
        yield Block(before[here].start, after[there].start, len(before[here].text))
        if old.startswith("\n", before[here].end) and new.startswith("\n", after[there].end):
            yield Block(before[here].end, after[there].end, 1)
    changed = list(_passages(len(before), len(after), pairs))
    changed += _moved_and_changed(before, after, pairs, changed)
    for olds, news in changed:
        here, there = before[olds.start].start, after[news.start].start
        for block in _compared_characters(old[here : before[olds[-1]].end], new[there : after[news[-1]].end]):
            yield Block(here + block.old, there + block.new, block.length)


def _same_lines(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """The indices of equal lines, those of the new version by those of the old one: lines that occur once in each
    version, and the lines before and behind these in the same order, if their number did not change. A line that pairs
    with one line from before and with another from behind is left out: which of them was moved cannot be known."""
    once, there = Counter(before), Counter(after)
    place = {text: number for number, text in enumerate(after) if there[text] == 1}
    anchors = {
        number: place[text] for number, text in enumerate(before) if once[text] == 1 and text in place and text.strip()
    }
    taken = set(anchors.values())
    beside: list[tuple[int, int]] = []
    for step in (1, -1):
        for anchor, target in [(-1, -1), *anchors.items(), (len(before), len(after))]:
            here, other = anchor + step, target + step
            while (
                0 <= here < len(before)
                and 0 <= other < len(after)
                and here not in anchors
                and other not in taken
                and before[here] == after[other]
                and (once[before[here]] == there[after[other]] or not before[here].strip())
            ):
                beside.append((here, other))
                here, other = here + step, other + step
    pairs = set(beside)
    olds, news = Counter(here for here, _ in pairs), Counter(other for _, other in pairs)
    return anchors | {here: other for here, other in pairs if olds[here] == 1 and news[other] == 1}


def _passages(before: int, after: int, pairs: dict[int, int]) -> Iterator[tuple[range, range]]:
    """The ranges of lines, in both versions, between consecutive pairs of equal lines."""
    taken = set(pairs.values())
    here = 0
    while here < before:
        if here in pairs:
            here += 1
            continue
        end = here
        while end < before and end not in pairs:
            end += 1
        begin = pairs[here - 1] + 1 if here else 0
        stop = begin
        while stop < after and stop not in taken:
            stop += 1
        if stop == begin and end < before:  # what stood before was moved: what stood behind tells
            stop = pairs[end]
            begin = stop
            while begin > 0 and begin - 1 not in taken:
                begin -= 1
        if stop > begin:
            yield range(here, end), range(begin, stop)
        here = end


def _moved_and_changed(
    before: Sequence[_Line], after: Sequence[_Line], pairs: dict[int, int], passages: Iterable[tuple[range, range]]
) -> Iterator[tuple[range, range]]:
    """The lines, as ranges of one in both versions, that were moved and changed: those without a passage to compare
    that are more alike to each other than to any other line."""
    olds, news = [line.text for line in before], [line.text for line in after]
    known = {number for passage, _ in passages for number in passage} | pairs.keys()
    taken = {number for _, passage in passages for number in passage} | set(pairs.values())
    free = {number for number in range(len(news)) if number not in taken and news[number].strip()}
    lost = [number for number in range(len(olds)) if number not in known and olds[number].strip()] if free else []
    if (len(lost) + len(free)) * (len(olds) + len(news)) > MAX_COMPARED_PAIRS:
        return
    for number in lost:
        there = _most_alike(olds[number], news)
        if there is not None and there in free and _most_alike(news[there], olds) == number:
            yield range(number, number + 1), range(there, there + 1)


def _most_alike(line: str, lines: Sequence[str]) -> int | None:
    """The index of the line that is most similar; None if two are equally so, or none is similar enough."""
    best = process.extract(line, lines, scorer=fuzz.ratio, score_cutoff=MIN_ALIKE_PERCENT, limit=2)
    return best[0][2] if len(best) == 1 or (best and best[0][1] > best[1][1]) else None


def _compared_characters(old: str, new: str) -> Iterator[Block]:
    """The blocks that two passages share: the characters that all shortest edit paths keep."""
    if len(old) * len(new) > MAX_COMPARED_PAIRS or not old or not new:
        return
    pairs = [(here, there) for here, there in enumerate(_kept_by_all(old, new)) if there >= 0]
    yield from _in_same_lines(_without_chance(pairs, len(old), len(new)), old, new)


def _in_same_lines(blocks: Iterable[Block], old: str, new: str) -> Iterator[Block]:
    """The parts of blocks that are in lines of `old` that became lines of `new`."""
    parts = list(chain.from_iterable(_by_line(block, old) for block in blocks))
    lines = [(_line_at(old, part.old), _line_at(new, part.new)) for part in parts]
    kept: Counter[tuple[Span, Span]] = Counter()
    for part, pair in zip(parts, lines, strict=True):
        kept[pair] += part.length - old.startswith("\n", part.old + part.length - 1)
    for part, pair in zip(parts, lines, strict=True):
        if kept[pair] >= MIN_KEPT_SHARE * min(line.length for line in pair):
            yield part


def _by_line(block: Block, old: str) -> Iterator[Block]:
    """A block, divided behind each line ending."""
    at = block.old
    for line in _LINE.findall(old, at, at + block.length):
        yield Block(at, at - block.old + block.new, len(line))
        at += len(line)


def _line_at(text: str, at: int) -> Span:
    """The line of a code point, without its line ending."""
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return Span(begin, (end if end >= 0 else len(text)) - begin)


def _kept_by_all(old: str, new: str) -> list[int]:
    """For each character of `old` the index in `new` to which all alignments of least edit distance map it; -1 if they
    differ or drop it."""
    here, there = code_points(old), code_points(new)
    from_front = _distances(here, there)
    from_back = _distances(here[::-1], there[::-1])[::-1, ::-1]
    least = from_front[-1, -1]
    kept = []
    for number in range(len(here)):
        equal = here[number] == there
        through = from_front[number, :-1] + from_back[number + 1, 1:]
        matches = np.flatnonzero(equal & (through == least))
        replaced = bool(np.any(~equal & (through + 1 == least)))
        dropped = bool(np.any(from_front[number] + from_back[number + 1] + 1 == least))
        kept.append(int(matches[0]) if len(matches) == 1 and not replaced and not dropped else -1)
    return kept


def code_points(text: str) -> NDArray[np.uint32]:
    """The code points of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _distances(here: NDArray[np.uint32], there: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The edit distances of all prefixes of two texts, as a table of (len(here) + 1, len(there) + 1)."""
    steps = np.arange(len(there) + 1, dtype=np.int32)
    table = np.empty((len(here) + 1, len(there) + 1), dtype=np.int32)
    table[0] = steps
    for number, character in enumerate(here, 1):
        above = table[number - 1]
        row = above + 1
        row[1:] = np.minimum(row[1:], above[:-1] + (there != character))
        table[number] = np.minimum.accumulate(row - steps) + steps
    return table


def _without_chance(same: Sequence[tuple[int, int]], old: int, new: int) -> Iterator[Block]:
    """Equal characters as blocks, without short ones between two longer changes, which are equal by chance."""
    blocks = _joined(Block(old_place, new_place, 1) for old_place, new_place in same)
    for number, block in enumerate(blocks):
        before = blocks[number - 1] if number else Block(0, 0, 0)
        behind = blocks[number + 1] if number + 1 < len(blocks) else Block(old, new, 0)
        changed = (
            max(block.old - before.old - before.length, block.new - before.new - before.length),
            max(behind.old - block.old - block.length, behind.new - block.new - block.length),
        )
        if block.length > MAX_CHANCE_LENGTH or min(changed) <= block.length:
            yield block
