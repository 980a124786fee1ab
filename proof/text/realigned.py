"""Where the places of a page's lines are once its text was changed: by how alike lines are, then by characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rapidfuzz.distance import Levenshtein, Postfix, Prefix

Place = tuple[int, int]
"""The number of a line, and code points from its beginning."""

Part = tuple[int, int, Place]
"""Where a part of a line begins, how long it is, and where it stands now."""

ALIKE = 0.5
"""Least similarity of a line to what became of it: half of its characters stand as they stood."""

TELLS = 2
"""Least length of a line by which it is known in a longer one."""


class RealignedLines:
    """The lines of a page, by their numbers, as they were and as they are now. Of lines that are the same, and of which
    there are more or fewer now, nobody can tell which are gone or new: what became of any of them is not known. A line
    that was joined to another, or parted, is known by what of it stands whole in one place."""

    def __init__(self, before: Mapping[int, str], now: Mapping[int, str]) -> None:
        self._before, self._now = before, now
        once, there = Counter(before.values()), Counter(now.values())
        numbers = {source: number for number, source in now.items()}
        whole = ((number, source) for number, source in before.items() if once[source] == there[source] == 1)
        self._lines = {number: numbers[source] for number, source in whole}  # wherever they were moved
        found = set(self._lines.values())
        told = {
            source for source in {*once, *there} if once[source] == there[source] or not once[source] * there[source]
        }
        self._lines |= _in_order(
            [(number, source) for number, source in before.items() if source in told and number not in self._lines],
            [(number, source) for number, source in now.items() if source in told and number not in found],
        )
        self._parts = _joined_or_parted(before, now)

    def became(self, line: int) -> int | None:
        """The number of the line that a line is now; its own where neither is known to be another. None where it is
        gone."""
        alone = line in self._before and line in self._now and line not in self._lines.values()
        return self._lines.get(line, line if alone else None)

    def now(self, line: int, offset: int, length: int) -> Place | None:
        """Where `length` characters from a place on are now; None where one of them is gone. Of no character: the place
        before what stood behind it, or behind what stood before it."""
        found = self._where(line, offset, length or 1)
        if found is None and not length:
            before = self._where(line, offset - 1, 1)
            found = (before[0], before[1] + 1) if before is not None else None
            if line in self._lines and not self._before[line]:
                found = (self._lines[line], 0)
        return found

    def _where(self, line: int, offset: int, length: int) -> Place | None:
        """Where characters of a line are now, in what became of it or of a part of it."""
        found = self._same(line, offset, length)
        if found is not None:
            return self._lines[line], found
        for start, long, (number, at) in self._parts.get(line, ()):
            if start <= offset and offset + length <= start + long:
                return number, at + offset - start
        return None

    def instead(self, line: int, offset: int, length: int, text: str) -> tuple[Place, str] | None:
        """What stands now in place of `length` characters, and where: what is between what stood before them in their
        line and what stood behind; where one of these is gone `text`, if that is beside the other. None where they are
        there, or nothing tells."""
        number, end = self._lines.get(line), offset + length
        before, behind = self._same(line, offset - 1, 1), self._same(line, end, 1)
        if number is None or (before is None and behind is None):
            return None
        start = before + 1 if before is not None else (behind or 0) - len(text)
        there = self._now[number][max(start, 0) : start + len(text) if behind is None else behind]
        told = (before is not None and behind is not None) or there == text != ""
        return ((number, start), there) if told and there != self._before[line][offset:end] else None

    def _same(self, line: int, offset: int, length: int) -> int | None:
        """Where characters of a line begin now, if they stand together in what became of it. Of a run of the same
        characters nobody can tell which one is gone or new: read from either end, a line says the same of a place or
        nothing."""
        if line not in self._lines or offset < 0:
            return None
        source, read = self._before[line], self._now[self._lines[line]]
        place = _place_in(source, read, offset, length)
        back = _place_in(source[::-1], read[::-1], len(source) - offset - length, length)
        return place if place is not None and back is not None and place == len(read) - back - length else None


def _joined_or_parted(before: Mapping[int, str], now: Mapping[int, str]) -> dict[int, list[Part]]:
    """Of lines that stand in a longer one now, or in which shorter ones stood, where their parts are: of those that
    stand but once in all lines as they were, and as they are."""
    found: dict[int, list[Part]] = {}
    for number, source in before.items():
        for other, read in now.items():
            short, long = (source, read) if len(source) < len(read) else (read, source)
            if not TELLS <= len(short) < len(long) or short not in long:
                continue
            if _is_once(short, before.values()) and _is_once(short, now.values()):
                at = long.index(short)
                part = (0, len(short), (other, at)) if short is source else (at, len(short), (other, 0))
                found.setdefault(number, []).append(part)
    return found


def _is_once(text: str, lines: Iterable[str]) -> bool:
    places = [(line.find(text), line.rfind(text)) for line in lines if text in line]
    return len(places) == 1 and places[0][0] == places[0][1]


def _place_in(source: str, read: str, offset: int, length: int) -> int | None:
    """Where characters of `source` begin in what became of it."""
    for one in Levenshtein.opcodes(source, read):
        if one.tag == "equal" and one.src_start <= offset and offset + length <= one.src_end:
            return int(one.dest_start + offset - one.src_start)
    return None


def _likeness(source: str, read: str) -> float:
    """How like a line is to what it may have become, 0 where it is not: by all its characters or, where one place of it
    became long, by those before and behind that."""
    around = min(Prefix.similarity(source, read) + Postfix.similarity(source, read), len(source))
    share = around / len(source) if source else 0.0
    return Levenshtein.normalized_similarity(source, read, score_cutoff=ALIKE) or (share / 2 if share >= ALIKE else 0.0)


def _in_order(before: Sequence[tuple[int, str]], now: Sequence[tuple[int, str]]) -> dict[int, int]:
    """What became of lines that changed, each given with its number: those pairs, in their order, that are alike most
    of all together."""
    best: list[list[tuple[float, tuple[tuple[int, int], ...]]]] = [[(0.0, ())] * (len(now) + 1)]
    for number, source in before:
        above, row = best[-1], [best[-1][0]]
        for at, (other, read) in enumerate(now):
            options = [above[at + 1], row[at]]
            likeness = _likeness(source, read)
            if likeness:
                options.append((above[at][0] + likeness, (*above[at][1], (number, other))))
            row.append(max(options, key=lambda one: one[0]))
        best.append(row)
    return dict(best[-1][-1][1])
