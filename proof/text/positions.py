"""Mapping positions from one version of a text to the next.

`PositionMap` maps code points of the old version to those of the new one: exactly if the edits are known, as after an
export, else by comparison, first of lines and then of characters. A comparison maps only the characters that all
shortest edit paths keep: it is unknown which one of a run of equal characters was added or removed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from proof.text.edit import Edit, edited

MAX_COMPARED_PAIRS = 16_000_000
"""Maximum number of pairs of characters to compare in a changed passage. Larger passages are not mapped."""

MAX_SEARCHED_CODE_POINTS = 1_000_000_000
"""Maximum number of code points to search for joined or split lines; this takes some seconds."""

MIN_PIECE_LENGTH = 4
"""Minimum length of a line that is recognised as a part of a longer one; a shorter one may occur there by chance."""

MIN_SIMILARITY_PERCENT = 70
"""Minimum similarity, in percent (Indel), of a line to the line that it was before it was moved and changed."""

MAX_CHANCE_LENGTH = 2
"""Maximum number of equal characters between two longer changes that are taken to be equal by chance."""

MIN_KEPT_SHARE = 0.5
"""Minimum share of the shorter of two lines that both have in common if one is the other, changed. With less it is
another line, and the common characters are equal by chance (西階上 in 司射自西階上北面告于大 and in
遂適西階上命賓御于公)."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Block(NamedTuple):
    """`length` equal code points that start at `old` in the old version and at `new` in the new one."""

    old: int
    new: int
    length: int

    @property
    def old_end(self) -> int:
        return self.old + self.length

    @property
    def new_end(self) -> int:
        return self.new + self.length


class Span(NamedTuple):
    """`length` code points that begin at `start`."""

    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length

    def union(self, other: Span) -> Span:
        """From the first to the last code point of both."""
        start = min(self.start, other.start)
        return Span(start, max(self.end, other.end) - start)

    def is_within(self, other: Span) -> bool:
        """Whether the other span has all of it."""
        return other.start <= self.start and self.end <= other.end

    def overlaps(self, other: Span) -> bool:
        """Whether the two share a character, or one is a gap within the other."""
        return self.start < other.end and other.start < self.end

    def meets(self, other: Span) -> bool:
        """Whether the two overlap, or both are the same gap."""
        return self == other or self.overlaps(other)

    def touches(self, other: Span) -> bool:
        """Whether the two share a character or are beside each other."""
        return other.start <= self.end and self.start <= other.end


class PositionMap:
    """Maps places in `old` to places in `new`. `blocks` do not overlap; `written` are the places of
    the replacements of `edits`, in their order."""

    def __init__(
        self, old: str, new: str, blocks: Iterable[Block], edits: Sequence[Edit] = (), written: Sequence[Span] = ()
    ) -> None:
        self._old, self.new = old, new
        self._blocks = _joined(sorted(block for block in blocks if block.length))
        self._starts = [block.old for block in self._blocks]
        self.written = written
        places = [Span(*edit.place) for edit in edits]
        self._replaced = dict(zip(reversed(places), reversed(written), strict=True))

    @classmethod
    def of_edits(cls, old: str, edits: Sequence[Edit]) -> PositionMap:
        """The map from `old` to the result of these edits. Raises UsageError as `edited`."""
        blocks, written, old_at, new_at = [], dict[int, Span](), 0, 0
        for number, edit in sorted(enumerate(edits), key=lambda numbered: numbered[1].place):
            kept = edit.start - old_at
            blocks.append(Block(old_at, new_at, kept))
            new_at += kept
            written[number] = Span(new_at, len(edit.replacement))
            old_at, new_at = edit.end, new_at + len(edit.replacement)
        blocks.append(Block(old_at, new_at, len(old) - old_at))
        return cls(old, edited(old, edits), blocks, edits, [written[number] for number in range(len(edits))])

    @classmethod
    def of_comparison(cls, old: str, new: str) -> PositionMap:
        """The map from `old` to `new`, by comparison."""
        if old == new:
            return cls(old, new, [Block(0, 0, len(old))])
        return cls(old, new, _compared(old, new))

    def blocks_through(self, later: PositionMap) -> Iterator[Block]:
        """The blocks of the map from `old` to what `later` maps `new` to."""
        return chain.from_iterable(map(later._parts, self._blocks))

    @cached_property
    def _line_counts(self) -> tuple[Counter[str], Counter[str]]:
        return Counter(self._old.split("\n")), Counter(self.new.split("\n"))

    def line_stands(self, at: int) -> bool:
        """Whether the new version has the line of a code point at least as often as the old one."""
        old_counts, new_counts = self._line_counts
        line = self.line(at)
        return new_counts[line] >= old_counts[line]

    def line(self, at: int) -> str:
        """The line of a code point in the old version."""
        line = _line_at(self._old, at)
        return self._old[line.start : line.end]

    def begins_line(self, at: int) -> bool:
        """Whether a line of the old version begins at a code point."""
        return _begins_line(self._old, at)

    def distance(self, at: int) -> int:
        """The distance between the line of a code point and `new`: the length of the line, less two for each of its
        characters that `new` has. It serves to compare several old versions of a line with one new version."""
        line = _line_at(self._old, at)
        return line.length - 2 * sum(span.length for span in self.kept(*line))

    def kept(self, start: int, length: int) -> Iterator[Span]:
        """The places in the new version of those of these characters that it has."""
        return (Span(part.new, part.length) for part in self._parts(Block(start, start, length)))

    def _parts(self, block: Block) -> Iterator[Block]:
        """The parts of a block, whose new code points are old ones here, that the new version has."""
        for own in self._blocks[max(bisect_right(self._starts, block.new) - 1, 0) :]:
            if own.old >= block.new_end:
                break
            first, last = max(block.new, own.old), min(block.new_end, own.old_end)
            if first < last:
                yield Block(first - block.new + block.old, first - own.old + own.new, last - first)

    def where(self, start: int, length: int) -> Span | None:
        """The place of these characters in the new version if they are together and unchanged, else None. With length
        0: the place between the same two characters, beside a replaced one where the edit is known, or at the start or
        end of the same line."""
        if not length:
            gap = self._gap(start)
            return Span(gap, 0) if gap is not None else None
        block = self._block(start)
        if block is None or start + length > block.old_end:
            return None
        return Span(start + block.new - block.old, length)

    def beside_neighbour(self, start: int, length: int) -> Span | None:
        """`where`, if a neighbour of these characters is kept beside them, too; with length 0, both, together."""
        if not length:
            between = self.between(start, 0)
            return between if between is not None and not between.length else None
        with_last, with_next = self.where(start - 1, length + 1), self.where(start, length + 1)
        if with_last is not None:
            return Span(with_last.start + 1, length)
        return Span(with_next.start, length) if with_next is not None else None

    def _gap(self, at: int) -> int | None:
        """The place of the gap before code point `at` in the new version."""
        before, after = self._character(at - 1), self._character(at)
        if before is not None and after is not None and before + 1 == after:
            return after
        if at in self._beside_edits:
            return self._beside_edits[at]
        if after is not None and _begins_line(self._old, at) and _begins_line(self.new, after):
            return after
        if before is not None and _ends_line(self._old, at) and _ends_line(self.new, before + 1):
            return before + 1
        return 0 if not self._old and not self.new else None

    def instead(self, start: int, length: int) -> Span | None:
        """The place of the text that replaced these characters within one line: what is `between` their neighbours."""
        between = self.between(start, length)
        return None if between is None or "\n" in self.new[between.start : between.end] else between

    def between(self, start: int, length: int) -> Span | None:
        """The place of everything between the neighbours of these characters; None if a neighbour cannot be mapped."""
        replacement = self._replaced.get(Span(start, length))
        if replacement is not None:
            return replacement
        end = start + length
        before, right = self._character(start - 1), self._character(end)
        left = before + 1 if before is not None else None
        if left is None and right is not None and _begins_line(self._old, start):
            left = self.new.rfind("\n", 0, right) + 1
        if right is None and left is not None and _ends_line(self._old, end):
            right = line_end(self.new, left)
        if left is None or right is None or left > right:
            return None
        return Span(left, right - left)

    def around(self, span: Span) -> Span | None:
        """The text between the nearest characters before and after these that the new version has; None if their order
        has changed."""
        index = bisect_left(self._starts, span.start) - 1
        left = self._blocks[index] if index >= 0 else Block(0, 0, 0)
        right = next((block for block in self._blocks[max(index, 0) :] if block.old_end > span.end), None)
        start = left.new - left.old + min(left.old_end, span.start)
        end = len(self.new) if right is None else right.new + max(span.end - right.old, 0)
        return Span(start, end - start) if start <= end else None

    @cached_property
    def _beside_edits(self) -> dict[int, int]:
        """The places in the new version of the gaps before and after the characters that edits replaced; without those
        that another edit filled. A gap at the beginning of a line that is deleted with the ending before it goes there,
        too."""
        gaps: dict[int, int] = {}
        for old, new in self._replaced.items():
            gaps |= {old.start: new.start, old.end: new.end} if old.length else {}
            line = self._old.find("\n", old.start, old.end) + 1
            if not new.length and 0 < line < old.end:
                gaps[line] = new.start
        return {gap: new for gap, new in gaps.items() if Span(gap, 0) not in self._replaced}

    def _block(self, at: int) -> Block | None:
        number = bisect_right(self._starts, at) - 1
        if number < 0 or at < 0:
            return None
        block = self._blocks[number]
        return block if at < block.old_end else None

    def _character(self, at: int) -> int | None:
        """The place of one character in the new version."""
        block = self._block(at)
        return None if block is None else at + block.new - block.old


def composed(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> list[Edit]:
    """The edits that make of a text what the `first` edits and then the `second` ones make of it. The places of the
    second ones are those of the text that the first ones make. Raises UsageError as `edited`."""
    to_middle = PositionMap.of_edits(text, first)
    to_new = PositionMap.of_edits(to_middle.new, second)
    edits, old_at, new_at = list[Edit](), 0, 0
    for block in (*to_middle.blocks_through(to_new), Block(len(text), len(to_new.new), 0)):
        if (old_at, new_at) != (block.old, block.new):
            edits.append(Edit(old_at, block.old - old_at, to_new.new[new_at : block.new]))
        old_at, new_at = block.old_end, block.new_end
    return edits


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
        if last and (last.old_end, last.new_end) == (block.old, block.new):
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
    """The lines of `text`, cut around each part that is a whole line of `other` and occurs once in both versions: lines
    were joined or split there."""
    lines = text.split("\n")
    missing = {line for line in set(other.split("\n")).difference(lines) if len(line) >= MIN_PIECE_LENGTH}
    cuts: set[int] = set()
    if len(missing) * (len(text) + len(other)) <= MAX_SEARCHED_CODE_POINTS:
        for line in (line.removesuffix("\r") for line in missing):
            at = text.find(line)
            if at >= 0 and at == text.rfind(line) and other.find(line) == other.rfind(line):
                cuts |= {at, at + len(line)}
    sorted_cuts = sorted(cuts)
    pieces, start = [], 0
    for line in lines:
        end = start + len(line)
        bounds = [start, *sorted_cuts[bisect_right(sorted_cuts, start) : bisect_left(sorted_cuts, end)], end]
        pieces += [_Line(piece_start, text[piece_start:piece_end]) for piece_start, piece_end in pairwise(bounds)]
        start = end + 1
    return pieces


def _compared(old: str, new: str) -> Iterator[Block]:
    """The blocks that two versions share: equal lines, even if they were moved, and equal characters of the passages
    between them and of lines that were moved and changed."""
    old_lines, new_lines = _lines(old, new), _lines(new, old)
    pairs = _equal_lines([line.text for line in old_lines], [line.text for line in new_lines])
    for old_index, new_index in pairs.items():
        old_line, new_line = old_lines[old_index], new_lines[new_index]
        yield Block(old_line.start, new_line.start, len(old_line.text))
        if old.startswith("\n", old_line.end) and new.startswith("\n", new_line.end):
            yield Block(old_line.end, new_line.end, 1)
    passages = list(_changed_passages(len(old_lines), len(new_lines), pairs))
    passages += _moved_and_changed(old_lines, new_lines, pairs, passages)
    for passage in passages:
        old_start, old_end = old_lines[passage.old.start].start, old_lines[passage.old[-1]].end
        new_start, new_end = new_lines[passage.new.start].start, new_lines[passage.new[-1]].end
        blocks = list(_compared_characters(old[old_start:old_end], new[new_start:new_end]))
        yield from (Block(old_start + block.old, new_start + block.new, block.length) for block in blocks)
        begin = old_lines[passage.old[-1]].start - old_start
        is_last_line = bool(blocks) and blocks[-1].old_end > begin and len(passage.old) == len(passage.new)
        if is_last_line and old.startswith("\n", old_end) and new.startswith("\n", new_end):
            yield Block(old_end, new_end, 1)


def _equal_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The indices of equal lines in the new version by those in the old one.

    These are the lines that occur once in each version, and equal lines next to a pair of these, upward and downward,
    if both versions have them equally often. A line that is next to pairs with two different lines is left out: it is
    unknown which of the two it is."""
    old_counts, new_counts = Counter(old), Counter(new)
    new_index_of = {text: index for index, text in enumerate(new) if new_counts[text] == 1}
    unique = {
        index: new_index_of[text]
        for index, text in enumerate(old)
        if old_counts[text] == 1 and text in new_index_of and text.strip()
    }
    paired_new = set(unique.values())

    def can_be_paired(old_index: int, new_index: int) -> bool:
        if not (0 <= old_index < len(old) and 0 <= new_index < len(new)):
            return False
        text = old[old_index]
        if old_index in unique or new_index in paired_new or text != new[new_index]:
            return False
        return old_counts[text] == new_counts[text] or not text.strip()

    adjacent: set[tuple[int, int]] = set()
    for step in (1, -1):
        for old_index, new_index in [(-1, -1), *unique.items(), (len(old), len(new))]:
            pair = old_index + step, new_index + step
            while can_be_paired(*pair):
                adjacent.add(pair)
                pair = pair[0] + step, pair[1] + step
    old_uses, new_uses = Counter(index for index, _ in adjacent), Counter(index for _, index in adjacent)
    return unique | {
        old_index: new_index
        for old_index, new_index in adjacent
        if old_uses[old_index] == 1 and new_uses[new_index] == 1
    }


class _Passage(NamedTuple):
    """A range of lines of the old version that became a range of lines of the new one."""

    old: range
    new: range


def _changed_passages(old_count: int, new_count: int, pairs: dict[int, int]) -> Iterator[_Passage]:
    """The passages between consecutive pairs of equal lines."""
    paired_new = set(pairs.values())
    start = 0
    while start < old_count:
        if start in pairs:
            start += 1
            continue
        end = start
        while end < old_count and end not in pairs:
            end += 1
        new_start = pairs[start - 1] + 1 if start else 0
        new_end = new_start
        while new_end < new_count and new_end not in paired_new:
            new_end += 1
        if new_end == new_start and end < old_count:  # the line before was moved: look before the line after
            new_start = new_end = pairs[end]
            while new_start > 0 and new_start - 1 not in paired_new:
                new_start -= 1
        if new_end > new_start:
            yield _Passage(range(start, end), range(new_start, new_end))
        start = end


def _moved_and_changed(
    old_lines: Sequence[_Line], new_lines: Sequence[_Line], pairs: dict[int, int], passages: Iterable[_Passage]
) -> Iterator[_Passage]:
    """The lines that were moved and changed, as passages of one line: lines outside the other passages that are more
    similar to each other than to any other line."""
    old, new = [line.text for line in old_lines], [line.text for line in new_lines]
    old_used = {index for passage in passages for index in passage.old} | pairs.keys()
    new_used = {index for passage in passages for index in passage.new} | set(pairs.values())
    old_free = [index for index, text in enumerate(old) if index not in old_used and text.strip()]
    new_free = {index for index, text in enumerate(new) if index not in new_used and text.strip()}
    if not new_free or (len(old_free) + len(new_free)) * (len(old) + len(new)) > MAX_COMPARED_PAIRS:
        return
    for old_index in old_free:
        new_index = _most_similar(old[old_index], new)
        if new_index is not None and new_index in new_free and _most_similar(new[new_index], old) == old_index:
            yield _Passage(range(old_index, old_index + 1), range(new_index, new_index + 1))


def _most_similar(line: str, lines: Sequence[str]) -> int | None:
    """The index of the most similar line; None if two are equally similar, or none is similar enough."""
    best = process.extract(line, lines, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY_PERCENT, limit=2)
    return best[0][2] if len(best) == 1 or (best and best[0][1] > best[1][1]) else None


def _compared_characters(old: str, new: str) -> Iterator[Block]:
    """The blocks that two passages share: the characters that all shortest edit paths keep."""
    if len(old) * len(new) > MAX_COMPARED_PAIRS or not old or not new:
        return
    kept = (
        Block(old_index, new_index, 1) for old_index, new_index in enumerate(_kept_by_all(old, new)) if new_index >= 0
    )
    yield from _in_same_lines(_without_chance(_joined(kept), len(old), len(new)), old, new)


def _in_same_lines(blocks: Iterable[Block], old: str, new: str) -> Iterator[Block]:
    """The parts of blocks that are in lines of `old` that became lines of `new`."""
    parts = list(chain.from_iterable(_by_line(block, old) for block in blocks))
    lines = [(_line_at(old, part.old), _line_at(new, part.new)) for part in parts]
    kept: Counter[tuple[Span, Span]] = Counter()
    for part, pair in zip(parts, lines, strict=True):
        kept[pair] += part.length - old.startswith("\n", part.old_end - 1)
    for part, pair in zip(parts, lines, strict=True):
        if kept[pair] >= MIN_KEPT_SHARE * min(line.length for line in pair):
            yield part


def _by_line(block: Block, old: str) -> Iterator[Block]:
    """A block divided after each line ending."""
    at = block.old
    for line in _LINE.findall(old, at, block.old_end):
        yield Block(at, at - block.old + block.new, len(line))
        at += len(line)


def _line_at(text: str, at: int) -> Span:
    """The line of a code point, without its line ending."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return Span(start, (end if end >= 0 else len(text)) - start)


def _kept_by_all(old: str, new: str) -> list[int]:
    """For each character of `old` the index in `new` to which all alignments of least edit distance map it; -1 if they
    differ or drop it."""
    old_codes, new_codes = code_points(old), code_points(new)
    from_start = _distances(old_codes, new_codes)
    from_end = _distances(old_codes[::-1], new_codes[::-1])[::-1, ::-1]
    least = from_start[-1, -1]
    kept = []
    for index, code in enumerate(old_codes):
        equal = code == new_codes
        paired = from_start[index, :-1] + from_end[index + 1, 1:]
        matches = np.flatnonzero(equal & (paired == least))
        can_be_replaced = bool(np.any(~equal & (paired + 1 == least)))
        can_be_dropped = bool(np.any(from_start[index] + from_end[index + 1] + 1 == least))
        is_certain = len(matches) == 1 and not can_be_replaced and not can_be_dropped
        kept.append(int(matches[0]) if is_certain else -1)
    return kept


def code_points(text: str) -> NDArray[np.uint32]:
    """The code points of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _distances(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The edit distances of all prefixes of two texts, as a table of (len(first) + 1, len(second) + 1)."""
    steps = np.arange(len(second) + 1, dtype=np.int32)
    table = np.empty((len(first) + 1, len(second) + 1), dtype=np.int32)
    table[0] = steps
    for number, code in enumerate(first, 1):
        above = table[number - 1]
        row = above + 1
        row[1:] = np.minimum(row[1:], above[:-1] + (second != code))
        table[number] = np.minimum.accumulate(row - steps) + steps
    return table


def _without_chance(blocks: Sequence[Block], old_length: int, new_length: int) -> Iterator[Block]:
    """The blocks, without short ones between two longer changes: their characters are equal by chance."""
    with_ends = [Block(0, 0, 0), *blocks, Block(old_length, new_length, 0)]
    for before, block, after in zip(with_ends, blocks, with_ends[2:], strict=False):
        shorter_change = min(_change_between(before, block), _change_between(block, after))
        if block.length > MAX_CHANCE_LENGTH or shorter_change <= block.length:
            yield block


def _change_between(first: Block, second: Block) -> int:
    """The length of the change between two blocks, in the version in which it is longer."""
    return max(second.old - first.old_end, second.new - first.new_end)
