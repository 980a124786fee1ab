"""The most suspicious places of a run with the text around them, for a printed list."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from proof.locale.languages import translations
from proof.locale.marking import Say
from proof.model.flags import Flag, other_half, questions
from proof.model.result import PageResult
from proof.report.reasons import kind_name, why
from proof.report.source import StoredRun
from proof.report.tally import in_order


@dataclass(frozen=True, slots=True)
class SuspiciousPlace:
    """A raised flag: its kind and reason in words, and the source text of its column before and after it."""

    flag: Flag
    kind: str
    why: str
    before: str
    after: str


def places(source: StoredRun, most: int, language: str = "en") -> list[SuspiciousPlace]:
    """The `most` raised flags of the highest scores, in page order; of equal scores the earlier ones. Raises UsageError
    for an unknown language."""
    say = translations(language).gettext
    if not most:
        return []
    # `nlargest` and `sorted` are stable: the order of pages decides between equal scores
    highest = heapq.nlargest(most, enumerate(_raised_flags(source)), key=lambda entry: entry[1].flag.score)
    return [_place(raised, say) for _, raised in sorted(highest, key=itemgetter(0))]


class _RaisedFlag(NamedTuple):
    """A raised flag and the result of its page."""

    result: PageResult
    flag: Flag


def _raised_flags(source: StoredRun) -> Iterator[_RaisedFlag]:
    """The raised flags of a run, in page order; a character that moved has one."""
    for result in source.results(raised=True):
        for flag in in_order(questions(result.flags)):
            if flag.raised:
                yield _RaisedFlag(result, flag)


def _place(raised: _RaisedFlag, say: Say) -> SuspiciousPlace:
    result, flag = raised
    other = other_half(flag, result.flags)
    return SuspiciousPlace(flag, kind_name(flag.kind, say, other), why(flag, say, other), *around(result, flag))


def around(result: PageResult, flag: Flag) -> tuple[str, str]:
    """The source text of a flag's column before and after the flag; empty if the column is unknown."""
    column = result.column_of(flag)
    source = column.source if column else ""
    return source[: flag.offset], source[flag.offset + flag.length :]
