"""Compares two versions of a page, ignoring decisions that an export wrote into it or took out again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from proof.model.flags import LINE_BREAK
from proof.text.variants import VariantPolicy


@dataclass(frozen=True, slots=True)
class Choice:
    """The possible `readings` at the place of a decision, which begins at `offset` of line `line`, or at the end of a
    page that has no such line. The readings of a `layout` flag are whole lines or line endings."""

    line: int
    offset: int
    readings: frozenset[str]
    layout: bool = False


@dataclass(frozen=True, slots=True)
class _Option:
    """The `readings` that may replace `length` code points."""

    length: int
    readings: tuple[re.Pattern[str], ...]


def differs(before: Mapping[int, str], now: Sequence[str], choices: Iterable[Choice], policy: VariantPolicy) -> bool:
    """Whether the lines of a page differ from its earlier lines (`before`, by number) by more than the choices.

    Compares both pages code point by code point: `ends[start]` are all offsets up to which the new page can correspond
    to the first `start` code points of the old page."""
    numbers = sorted(before)
    old, new = _joined(before[number] for number in numbers), _joined(now)
    starts = accumulate((len(before[number]) + len(LINE_BREAK) for number in numbers), initial=0)
    options = _options(old, dict(zip(numbers, starts, strict=False)), choices, policy)
    ends: defaultdict[int, set[int]] = defaultdict(set, {0: {0}})
    for start in range(len(old) + 1):
        for option in options[start]:
            for end in list(ends[start]):
                matches = (reading.match(new, end) for reading in option.readings)
                ends[start + option.length] |= {match.end() for match in matches if match}
        if start < len(old):
            ends[start + 1] |= {end + 1 for end in ends[start] if new.startswith(old[start], end)}
    return len(new) not in ends[len(old)]


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + LINE_BREAK for line in lines)


def _options(
    old: str, start_of: Mapping[int, int], choices: Iterable[Choice], policy: VariantPolicy
) -> defaultdict[int, list[_Option]]:
    """The options at each code point of the old page; `start_of` has the starts of its lines, by number. At the same
    point, a line inserted before another one comes first, and a line inserted after it last."""
    options: defaultdict[int, list[_Option]] = defaultdict(list)
    for choice in sorted(choices, key=lambda choice: choice.layout * (1 if choice.offset else -1)):
        has_line = choice.line in start_of
        start = start_of[choice.line] + choice.offset if has_line else len(old)
        readings = choice.readings
        if choice.layout and not readings <= {"", LINE_BREAK}:
            lines = {reading.strip(LINE_BREAK) for reading in readings} - {""}
            is_after = has_line and choice.offset > 0
            readings = frozenset({LINE_BREAK + line if is_after else line + LINE_BREAK for line in lines} | {""})
        in_old = [reading for reading in readings if old.startswith(reading, start)]
        if in_old:
            patterns = tuple(re.compile(policy.pattern(reading)) for reading in sorted(readings))
            options[start].append(_Option(max(map(len, in_old)), patterns))
    return options
