"""Where the places of a page's lines are once its text was changed: by its characters, whatever lines they stand in."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping

from rapidfuzz.distance import Indel, Levenshtein

Place = tuple[int, int]
"""The number of a line, and code points from its beginning."""


class RealignedLines:
    """The lines of a page, by their numbers, as they were and as they are now."""

    def __init__(self, before: Mapping[int, str], now: Mapping[int, str]) -> None:
        once, there = Counter(before.values()), Counter(now.values())
        numbers = {source: number for number, source in now.items()}
        whole = ((number, source) for number, source in before.items() if once[source] == there[source] == 1)
        self._lines = {number: numbers[source] for number, source in whole}
        found = set(self._lines.values())
        self._before = _Joined({number: source for number, source in before.items() if number not in self._lines})
        self._now = _Joined({number: source for number, source in now.items() if number not in found})
        self._same = list(self._blocks())

    def _blocks(self) -> Iterator[tuple[int, int, int]]:
        """What stands as it stood, from where to where, and where it now begins: whole lines, and between these what is
        the same in lines that were changed."""
        before, now = self._before, self._now
        lines = [one for one in Levenshtein.opcodes(before.lines, now.lines) if one.tag == "equal"]
        ends = len(before.lines), len(now.lines)
        reached = 0, 0
        for same in (*lines, None):
            first = ends if same is None else (same.src_start, same.dest_start)
            (start, end), (start_now, end_now) = before.span(reached[0], first[0]), now.span(reached[1], first[1])
            for one in Indel.opcodes(before.text[start:end], now.text[start_now:end_now]):
                if one.tag == "equal":
                    yield start + one.src_start, start + one.src_end, start_now + one.dest_start
            if same is not None:
                reached = same.src_end, same.dest_end
                yield *before.span(same.src_start, same.src_end), now.span(*first[1:], first[1])[0]

    def now(self, line: int, offset: int, length: int) -> Place | None:
        """Where `length` characters from a place on are now; None where one of them is gone. Of no character: the place
        behind what stood before it, or before what stood behind it."""
        if line in self._lines:  # wherever it was moved
            return self._lines[line], offset
        at = self._before.at(line, offset)
        if at is None:
            return None
        if length:
            found = self._block(at, at + length)
            return None if found is None else self._now.place(found)
        behind, before = self._block(at, at + 1), self._block(at - 1, at)
        if behind is not None:
            return self._now.place(behind)
        return None if before is None else self._now.place(before + 1)

    def instead(self, line: int, offset: int, length: int, text: str) -> tuple[Place, str] | None:
        """What stands now in place of `length` characters, and where: what is between what stood before them and what
        stood behind; where one of these is gone `text`, if that is beside the other. None where they are there, or
        nothing tells."""
        begin = self._before.at(line, offset)
        if begin is None or line in self._lines:
            return None
        end = begin + length  # another line than its own tells nothing: its own may be missing
        before = self._block(begin - 1, begin) if offset else None
        behind = self._block(end, end + 1) if self._before.text[end] != "\n" else None
        if before is None and behind is None:
            return None
        start = before + 1 if before is not None else (behind or 0) - len(text)
        there = self._now.text[max(start, 0) : start + len(text) if behind is None else behind]
        told = (before is not None and behind is not None) or there == text != ""
        if not told or "\n" in there or there == self._before.text[begin : begin + length]:
            return None
        return self._now.place(start), there

    def _block(self, start: int, end: int) -> int | None:
        """Where what stood from `start` to `end` begins now, if it stands together."""
        number = bisect_right(self._same, start, key=lambda one: one[0]) - 1
        if number < 0 or end > self._same[number][1]:
            return None
        first, _, there = self._same[number]
        return there + start - first


class _Joined:
    """Lines as one text, each with a line ending."""

    def __init__(self, lines: Mapping[int, str]) -> None:
        self.lines = list(lines.values())
        self._numbers = list(lines)
        self._starts: list[int] = []
        start = 0
        for source in self.lines:
            self._starts.append(start)
            start += len(source) + 1
        self._begin = dict(zip(self._numbers, self._starts, strict=True))
        self.text = "".join(f"{source}\n" for source in self.lines)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """From where to where the lines of these numbers stand, counted from 0."""
        ends = [*self._starts, len(self.text)]
        return ends[first], ends[last]

    def at(self, line: int, offset: int) -> int | None:
        begin = self._begin.get(line)
        return None if begin is None else begin + offset

    def place(self, at: int) -> Place:
        number = bisect_right(self._starts, at) - 1
        return self._numbers[number], at - self._starts[number]
