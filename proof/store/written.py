"""Whether a page reads as before, but for decisions that were written into it or taken out of it again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from proof.model.flags import LINE_BREAK
from proof.text.variants import VariantPolicy


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page; `seen` if its column was found on the image. Another line may also have been there before."""

    source: str
    seen: bool = True


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


def differs(before: Mapping[int, str], now: Sequence[Line], choices: Iterable[Choice], policy: VariantPolicy) -> bool:
    """Whether a page differs from the page before by more than the choices. `before` has the lines by their numbers;
    where a number is left out, any line may have been.

    Reads both pages side by side: `reached` has, for each code point of the old one, those of the new one up to which
    they agree."""
    old, begins = _joined([before[number] for number in sorted(before)])
    new, lines = _joined([line.source for line in now])
    begin_of = dict(zip(sorted(before), begins, strict=False))
    left_out = {
        begin_of[number]: min(number - last - 1, len(now)) for last, number in pairwise([0, *sorted(before)])
    }  # of however many lines, no more can be there than there are
    following = dict(pairwise(lines))
    unseen = {begin: following[begin] for begin, line in zip(lines, now, strict=False) if not line.seen}
    options = _options(old, begin_of, choices, policy)
    reached: defaultdict[int, set[int]] = defaultdict(set, {0: {0}})
    for at in range(len(old) + 1):
        ends = reached[at]
        for _ in range(left_out.get(at, 0)):
            ends |= {following[end] for end in ends if end in following}
        _pass_over(unseen, ends)
        for option in options[at]:
            found = {match.end() for end in ends for text in option.readings if (match := text.match(new, end))}
            _pass_over(unseen, found)
            reached[at + option.length] |= found
        if at < len(old):
            reached[at + 1] |= {end + 1 for end in ends if new.startswith(old[at], end)}
    return len(new) not in reached[len(old)]


def _joined(lines: Sequence[str]) -> tuple[str, list[int]]:
    """Lines as one text, and where each begins and the last one ends."""
    return "".join(line + LINE_BREAK for line in lines), list(accumulate((len(line) + 1 for line in lines), initial=0))


def _pass_over(unseen: Mapping[int, int], ends: set[int]) -> None:
    """Add the ends of lines that were not seen where their begins are reached."""
    for begin, end in unseen.items():
        if begin in ends:
            ends.add(end)


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
