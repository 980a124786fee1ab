"""Runs of missing or surplus characters: a run is one flag, decided as a whole.

A run that the end of a half-row or of a column divides has two places in the text, so two flags. They refer to each
other and are decided together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from proof.model.flags import MAX_CONTEXT_CHARACTERS, PLACEHOLDER, Evidence, Flag, Kind, context_of
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.text.column import SPECIAL
from proof.text.model import Cell, Column
from proof.verify.align import Pairing, Step
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph, room_between
from proof.verify.line_assignment import LineFault
from proof.verify.places import (
    Place,
    are_printed,
    glyph_of,
    omission_place,
    place_of_both,
    placeholder_place,
    placeholders,
    source_before,
    source_of,
)

RUN_KINDS = (Kind.OMISSION, Kind.INSERTION)
"""The kinds of flags that are joined to runs."""

UNREAD = "□"
"""Stands in a suggestion for a glyph that was not read."""

MARKUP = "()（）/／"
"""Marks between the half-rows of a note and main text."""


class Member(NamedTuple):
    """A step of the alignment and its flag."""

    pairing: Pairing
    flag: Flag


def with_joined_runs(column: ReadColumn, flags: Sequence[Flag | None]) -> list[Flag]:
    """The flags of a column, given by pairing, with one for each run of missing or of surplus characters."""
    joined: list[Flag] = []
    both = zip(column.pairings, flags, strict=True)
    for skipped, group in groupby(both, key=lambda pair: pair[0].step in (Step.EXTRA_GLYPH, Step.EXTRA_CELL)):
        block = list(group)
        flagged = [Member(pairing, flag) for pairing, flag in block if flag is not None]
        if skipped:
            joined += _surplus(column, [member for member in flagged if member.pairing.cells])
            joined += _missing(column, block[0][0].before, [member for member in flagged if not member.pairing.cells])
        else:
            joined += [flag for _, flag in flagged]
    return joined


def _missing(column: ReadColumn, before: int, members: Sequence[Member]) -> list[Flag]:
    """The flags about consecutive glyphs without a transcription, before the cell of number `before`. The raised ones
    are joined to one run, together with the glyphs between them that are probably there."""
    raised = [number for number, (_, flag) in enumerate(members) if flag.raised]
    if len(raised) < 2:
        return [flag for member in members if (flag := _missing_alone(column, before, member)) is not None]
    first, end = raised[0], raised[-1] + 1
    run = [member for member in members[first:end] if (glyph := _glyph(column, member)).silent or glyph.probable]
    beside = [flag for _, flag in (*members[:first], *members[end:])]
    start, stop = source_before(column, before)
    if SPECIAL.search(source_of(column), start, stop) is None:
        parts = [run]
    else:
        parts = [list(part) for _, part in groupby(run, key=lambda member: _glyph(column, member).row)]
    read = [_missing_run(column, before, part) for part in parts if any(flag.raised for _, flag in part)]
    return [*beside, *(flag for flag in read if flag is not None)]


def _glyph(column: ReadColumn, member: Member) -> Glyph:
    return column.glyphs[member.pairing.glyphs[0]]


def _missing_alone(column: ReadColumn, before: int, member: Member) -> Flag | None:
    """The flag about one missing character. If its equal stands beside it, the flag is placed on that one."""
    pairing, flag = member
    glyph = _glyph(column, member)
    signs = placeholders(column, before, glyph.row)
    if signs and flag.suggested:
        return _in_place_of(column, signs, flag, [flag.suggested], flag.bbox, flag.evidence)
    both = place_of_both(column, pairing.before, glyph)
    return flag if both is None else _at(source_of(column), flag, both, flag.bbox, flag.evidence)


def _missing_run(column: ReadColumn, before: int, run: Sequence[Member]) -> Flag | None:
    """One flag for missing characters of one row; None where the text has printed signs for them."""
    glyphs = [_glyph(column, member) for member in run]
    flags = [flag for _, flag in run]
    readings = [flag.suggested or UNREAD for flag in flags]
    strongest = max(flags, key=lambda flag: flag.score)
    box, evidence = _union(flags), _evidence_of(flags, readings, strongest.evidence)
    signs = placeholders(column, before, glyphs[0].row)
    if signs:
        return _in_place_of(column, signs, strongest, readings, box, evidence)
    place = omission_place(column, before, glyphs, "".join(readings))
    return _at(source_of(column), strongest, place, box, evidence)


def _in_place_of(
    column: ReadColumn, signs: Sequence[Cell], flag: Flag, readings: Sequence[str], box: Box | None, evidence: Evidence
) -> Flag | None:
    """The flag about missing characters for which the text has placeholders; None where the signs are printed so."""
    if are_printed(signs, readings):
        return None
    place = placeholder_place(column, signs, readings)
    others = evidence.alternatives if place.suggested == "".join(readings) else ()
    return _at(
        source_of(column), flag, place, box, replace(evidence, reason=PLACEHOLDER, ink=None, alternatives=others)
    )


def _evidence_of(flags: Sequence[Flag], readings: Sequence[str], strongest: Evidence) -> Evidence:
    """The evidence for a run: probability and alternatives are those of its least probable character."""
    if len(flags) == 1:
        return strongest
    probabilities = [flag.evidence.p_best for flag in flags if flag.evidence.p_best is not None]
    unread = next((flag.evidence.ink for flag in flags if not flag.suggested), None)
    notice = next((flag.evidence.notice for flag in flags if flag.evidence.notice), None)
    least = min(range(len(flags)), key=lambda number: flags[number].evidence.p_best or 0.0)
    others = [
        ("".join((*readings[:least], text, *readings[least + 1 :])), probability)
        for text, probability in flags[least].evidence.alternatives
    ]
    return replace(
        strongest, p_best=min(probabilities, default=None), alternatives=tuple(others), ink=unread, notice=notice
    )


def _surplus(column: ReadColumn, members: Sequence[Member]) -> list[Flag]:
    """The flags about consecutive transcribed characters without glyphs, joined to runs that markup in the text
    divides."""
    runs: list[list[Member]] = []
    source = source_of(column)
    for member in members:
        if runs and runs[-1][-1].pairing.cells[0] + 1 == member.pairing.cells[0]:
            start, end = source_before(column, member.pairing.cells[0])
            if SPECIAL.search(source, start, end) is None:
                runs[-1].append(member)
                continue
        runs.append([member])
    return [_surplus_run(column, run) for run in runs]


def _surplus_run(column: ReadColumn, run: Sequence[Member]) -> Flag:
    """One flag for surplus characters and the source between them."""
    flags = [flag for _, flag in run]
    if len(flags) == 1:
        return flags[0]
    first, last = flags[0], flags[-1]
    end = last.offset + last.length
    above, below = glyph_of(column, run[0].pairing.cells[0] - 1), glyph_of(column, run[-1].pairing.cells[0] + 1)
    ink = Notice.of(NoticeCode.ROOM, number=round(max(room_between(above, below) - 1, 0), 1))
    place = Place(first.offset, end - first.offset, Kind.INSERTION, source_of(column)[first.offset : end], "")
    # only the ends of the run have a neighbouring glyph that says where on the image they would stand
    ends = [flag for flag, beside in ((first, above), (last, below)) if beside is not None] or [first]
    strongest = max(flags, key=lambda flag: flag.score)
    return _at(source_of(column), strongest, place, _union(ends), replace(strongest.evidence, ink=ink))


def _union(flags: Sequence[Flag]) -> Box | None:
    """The smallest box around the boxes of the flags; None if they have none."""
    boxes = [flag.bbox for flag in flags if flag.bbox is not None]
    return Box.around(boxes) if boxes else None


def _at(source: str, flag: Flag, place: Place, box: Box | None, evidence: Evidence) -> Flag:
    """The flag moved to another place of its line, whose text is `source`."""
    return replace(
        flag,
        kind=place.kind,
        offset=place.offset,
        length=place.length,
        transcribed=place.transcribed,
        suggested=place.suggested,
        bbox=box,
        evidence=evidence,
        context=context_of(source, place.offset, place.length),
    )


def joined_in_lines(flags: Iterable[Flag], lines: Sequence[Column]) -> list[Flag]:
    """The flags of a page of a file without columns. A run that continues in the next column of the image is one place
    there, so its flags are joined."""
    sources = {line.number: line.source for line in lines}
    joined: list[Flag] = []
    last = -1
    for flag in flags:
        source = sources.get(flag.line, "")
        if last >= 0 and _meet(joined[last], flag, source):
            joined[last] = _joined(joined[last], flag, source)
            continue
        joined.append(flag)
        if flag.raised and flag.kind in RUN_KINDS:
            last = len(joined) - 1
    return joined


def _meet(first: Flag, second: Flag, source: str) -> bool:
    """Whether two runs of one kind meet in the source of their line, with only punctuation and blanks between them."""
    end = first.offset + first.length
    same = (first.page, first.line, first.kind) == (second.page, second.line, second.kind) and second.raised
    between = source[end : second.offset]
    return same and end <= second.offset and not any(map(str.isalnum, between)) and not SPECIAL.search(between)


def _joined(first: Flag, second: Flag, source: str) -> Flag:
    """One flag from two about parts of one run."""
    end = second.offset + second.length
    suggested = first.suggested + second.suggested
    if not first.length and not second.length:
        end = first.offset  # one place will do, before any punctuation
    elif first.kind is Kind.OMISSION:
        suggested = first.suggested + source[first.offset + first.length : second.offset] + second.suggested
    strongest = first if first.score >= second.score else second
    probabilities = [flag.evidence.p_best for flag in (first, second) if flag.evidence.p_best is not None]
    evidence = replace(strongest.evidence, p_best=min(probabilities, default=None), alternatives=(), ink=None)
    place = Place(first.offset, end - first.offset, first.kind, source[first.offset : end], suggested)
    return _at(source, strongest, place, _union((first, second)), evidence)


def linked(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags of a page, those that are decided together linked in pairs: text that moved within a column or to the
    next one (衍 in one place, 脫 in the other; the nearest first), a column that moved, and the two parts of a run that
    continues in the next half-row or column."""
    results = [replace(flag, moved="") for flag in flags]
    pairs = sorted(
        (abs(insertion.line - omission.line), abs(insertion.offset - omission.offset), a, b)
        for a, insertion in enumerate(results)
        if insertion.kind is Kind.INSERTION
        for b, omission in enumerate(results)
        if omission.kind is Kind.OMISSION
        and omission.suggested == insertion.transcribed
        and insertion.page == omission.page
        and abs(insertion.line - omission.line) <= 1
    )
    pairs += sorted(
        (abs(first.line - second.line), 0, a, b)
        for a, first in enumerate(results)
        for b, second in enumerate(results)
        if first.evidence.reason == second.evidence.reason == LineFault.MOVED.value
        and first.transcribed
        and first.transcribed == second.suggested
        and first.page == second.page
    )
    divided = sorted(
        (first.line, first.offset, a, b)
        for a, first in enumerate(results)
        for b, second in enumerate(results)
        if first.raised and second.raised and _continues(first, second)
    )
    for _, _, a, b in (*pairs, *divided):
        if not (results[a].moved or results[b].moved):
            results[a], results[b] = replace(results[a], moved=results[b].id), replace(results[b], moved=results[a].id)
    return tuple(results)


def _continues(flag: Flag, following: Flag) -> bool:
    """Whether a run of missing or surplus characters continues in `following`: nothing but marks and blanks
    stands between them."""
    if flag.kind is not following.kind or flag.kind not in RUN_KINDS or flag.page != following.page:
        return False
    if "]" not in flag.context or "[" not in following.context:
        return False
    after = flag.context.rpartition("]")[2]
    if flag.line == following.line:
        between = following.offset - flag.offset - flag.length
        return 0 < between <= len(after) and _is_markup(after[:between])
    before = following.context.partition("[")[0]
    return (
        following.line == flag.line + 1
        and _is_markup(after)
        and len(after) < MAX_CONTEXT_CHARACTERS
        and _is_markup(before)
    )


def _is_markup(text: str) -> bool:
    return all(character in MARKUP or character.isspace() for character in text)
