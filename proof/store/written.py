"""Whether a page reads as before, but for decisions that were written into it or taken out of it again."""

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
    """The `readings` that a decision may leave at a place: from `offset` in the line number `line`, or at the end of a
    page that has no such line. Those of a `layout` flag are lines or line endings."""

    line: int
    offset: int
    readings: frozenset[str]
    layout: bool = False


@dataclass(frozen=True, slots=True)
class _Option:
    """The `readings` that may stand for `length` code points."""

    length: int
    readings: tuple[re.Pattern[str], ...]


def differs(before: Mapping[int, str], now: Sequence[str], choices: Iterable[Choice], policy: VariantPolicy) -> bool:
    """Whether the lines of a page differ from those `before`, which are given by their numbers, by more than the
    choices.

    Reads both pages side by side: `reached` has, for each code point of the old one, those of the new one up to which
    they agree."""
    old, new = (_joined(lines) for lines in ([before[number] for number in sorted(before)], now))
    begins = accumulate((len(before[number]) + 1 for number in sorted(before)), initial=0)
    options = _options(old, dict(zip(sorted(before), begins, strict=False)), choices, policy)
    reached: defaultdict[int, set[int]] = defaultdict(set, {0: {0}})
    for at in range(len(old) + 1):
        ends = reached[at]
        for option in options[at]:
            matches = (text.match(new, end) for end in list(ends) for text in option.readings)
            reached[at + option.length] |= {match.end() for match in matches if match}
        if at < len(old):
            reached[at + 1] |= {end + 1 for end in ends if new.startswith(old[at], end)}
    return len(new) not in reached[len(old)]


def _joined(lines: Iterable[str]) -> str:
    return "".join(line + LINE_BREAK for line in lines)


def _options(
    old: str, begin_of: Mapping[int, int], choices: Iterable[Choice], policy: VariantPolicy
) -> defaultdict[int, list[_Option]]:
    """The options at the code points of a page. A line before another one comes first there, one after it last."""
    options: defaultdict[int, list[_Option]] = defaultdict(list)
    for choice in sorted(choices, key=lambda choice: choice.layout * (1 if choice.offset else -1)):
        known = choice.line in begin_of
        start = begin_of[choice.line] + choice.offset if known else len(old)
        readings = choice.readings
        if choice.layout and not readings <= {"", LINE_BREAK}:
            bare = {reading.strip(LINE_BREAK) for reading in readings} - {""}
            after = known and choice.offset > 0
            readings = frozenset({LINE_BREAK + line if after else line + LINE_BREAK for line in bare} | {""})
        present = next((text for text in sorted(readings, key=len, reverse=True) if old.startswith(text, start)), None)
        if present is not None:
            patterns = tuple(re.compile(policy.pattern(reading)) for reading in sorted(readings))
            options[start].append(_Option(len(present), patterns))
    return options
