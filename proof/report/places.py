"""The most suspicious places of a run with the text around them, for a printed list."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from operator import itemgetter

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
    """The `most` raised flags of the highest scores, in page order. Raises UsageError for the language."""
    say = translations(language).gettext
    raised = (
        (result, flag)
        for result in (source.results(raised=True) if most else ())
        for flag in in_order(questions(result.flags))
        if flag.raised
    )
    highest = heapq.nlargest(most, enumerate(raised), key=lambda place: (place[1][1].score, -place[0]))
    return [_place(result, flag, say) for _, (result, flag) in sorted(highest, key=itemgetter(0))]


def _place(result: PageResult, flag: Flag, say: Say) -> SuspiciousPlace:
    other = other_half(flag, result.flags)
    return SuspiciousPlace(flag, kind_name(flag.kind, say, other), why(flag, say, other), *around(result, flag))


def around(result: PageResult, flag: Flag) -> tuple[str, str]:
    """The source text of a flag's column before and after it; empty if the column is not known."""
    column = result.column_of(flag)
    source = column.source if column else ""
    return source[: flag.offset], source[flag.offset + flag.length :]
