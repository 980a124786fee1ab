"""Findings about columns and pages as a whole, and how the findings of a page are numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.model.result import PageResult, Status
from proof.verify.columns import ReadColumn
from proof.verify.pairing import Carried

LAYOUT_SCORE = 9.0
"""The score of a finding about a column or a page: it stands above any single character."""


def mismatch(blank: PageResult, paired: Carried) -> PageResult:
    """One finding for a page whose image carries another page."""
    name = str(paired.other.folio or paired.other.id) if paired.other else ""
    evidence = Evidence(reason="image mismatch", notice=paired.message)
    flag = layout_flag(blank, 0, None, evidence, suggested=name)
    return replace(blank, status=Status.MISMATCH, message=paired.message, flags=numbered([flag]))


def unreadable(blank: PageResult, reason: str, message: Notice) -> PageResult:
    """One finding for a page whose image cannot be read as it is; `message` says what to do."""
    flag = layout_flag(blank, 0, None, Evidence(reason=reason, notice=message))
    return replace(blank, status=Status.MISMATCH, message=message, flags=numbered([flag]))


def layout_flag(
    blank: PageResult, line: int, box: Box | None, evidence: Evidence, transcribed: str = "", suggested: str = ""
) -> Flag:
    """A finding about a column (`line` from 1) or the page (0)."""
    return Flag(
        page=blank.page,
        ref=blank.ref,
        line=line,
        offset=0,
        length=0,
        kind=Kind.LAYOUT,
        transcribed=transcribed,
        suggested=suggested,
        score=LAYOUT_SCORE,
        raised=True,
        bbox=box,
        evidence=evidence,
        context=evidence.reason,
    )


def numbered(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags with their stable ids; equal findings in equal surroundings are counted apart."""
    seen: Counter[tuple[str, int, Kind, str]] = Counter()
    done = []
    for flag in flags:
        key = (flag.page, flag.line, flag.kind, flag.context)
        done.append(replace(flag, id=flag_id(*key, seen[key])))
        seen[key] += 1
    return tuple(done)


def untranscribed(blank: PageResult, columns: Sequence[ReadColumn]) -> list[Flag]:
    """One finding for a page that was left out, if its image shows any text."""
    read = "".join(column.read for column in columns)
    return [layout_flag(blank, 0, None, Evidence(reason="page not transcribed", note=read))] if read else []
