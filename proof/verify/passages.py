"""Runs of missing or surplus characters. A run is one flag, decided as a whole.

A run that the end of a half-row or of a column divides has two places in the text, and therefore two flags. They refer
to each other and are decided together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

from proof.model.flags import PLACEHOLDER, Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.text.column import SPECIAL
from proof.text.contexts import context_of
from proof.text.model import Cell, Column, Row
from proof.text.variants import VariantPolicy
from proof.verify.align import Pairing, Step
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph, room_between
from proof.verify.line_assignment import LineFault
from proof.verify.places import (
    Place,
    are_printed,
    glyph_of,
    omission_place,
    place_of_equal_neighbour,
    placeholder_place,
    placeholders,
    source_before,
    source_of,
    with_row_marks,
)

RUN_KINDS = (Kind.OMISSION, Kind.INSERTION)
"""The kinds of flags that are joined to runs."""

UNREAD = "□"
"""The sign in a suggestion for a glyph that was not read."""

MARKUP = "()（）/／"
"""Marks between the half-rows of a note and main text."""


MIN_MOVED_CHARACTERS = 8
"""Minimum length of a passage that moved if it is missing anywhere on the page."""

MIN_READ_CHARACTERS = 5
"""Minimum length of a passage that moved if some of its characters are read otherwise where it belongs."""

MAX_MISREAD_SHARE = 1 / 3
"""Maximum share of the characters of such a passage that are read otherwise."""


class Member(NamedTuple):
    """A step of the alignment and its flag."""

    pairing: Pairing
    flag: Flag


def with_joined_runs(column: ReadColumn, flags: Sequence[Flag | None], marks_notes: bool = False) -> list[Flag]:
    """The flags of a column, with one flag for each run of missing or of surplus characters. `flags` has the flag of
    each pairing, None if it has none. `marks_notes`: a missing note is suggested with its markup."""

    def is_skipped(entry: tuple[Pairing, Flag | None]) -> bool:
        return entry[0].step in (Step.EXTRA_GLYPH, Step.EXTRA_CELL)

    joined: list[Flag] = []
    for skipped, group in groupby(zip(column.pairings, flags, strict=True), key=is_skipped):
        entries = list(group)
        members = [Member(pairing, flag) for pairing, flag in entries if flag is not None]
        if skipped:
            first_pairing = entries[0][0]
            joined += _surplus(column, [member for member in members if member.pairing.cells])
            missing = [member for member in members if not member.pairing.cells]
            joined += _missing(column, first_pairing.before, missing, marks_notes)
        else:
            joined += [member.flag for member in members]
    return joined


def _missing(column: ReadColumn, before: int, members: Sequence[Member], marks_notes: bool) -> list[Flag]:
    """The flags about consecutive glyphs without a transcription, before the cell of number `before`. The raised flags
    are joined to one run, together with those between them about glyphs that are probably there."""
    raised = [number for number, (_, flag) in enumerate(members) if flag.raised]
    if len(raised) < 2:
        return [flag for member in members if (flag := _missing_alone(column, before, member)) is not None]
    first, end = raised[0], raised[-1] + 1
    run = [member for member in members[first:end] if _glyph(column, member).probable]
    outside = [flag for _, flag in (*members[:first], *members[end:])]
    start, stop = source_before(column, before)
    marks_rows = False
    if SPECIAL.search(source_of(column), start, stop) is None:
        parts = [run]
        marks_rows = marks_notes and all(cell.row is Row.MAIN for cell in column.cells[max(0, before - 1) : before + 1])
    else:
        parts = [list(part) for _, part in groupby(run, key=lambda member: _glyph(column, member).row)]
    joined = [_missing_run(column, before, part, marks_rows) for part in parts if any(flag.raised for _, flag in part)]
    return [*outside, *(flag for flag in joined if flag is not None)]


def _glyph(column: ReadColumn, member: Member) -> Glyph:
    return column.glyphs[member.pairing.glyphs[0]]


def _missing_alone(column: ReadColumn, before: int, member: Member) -> Flag | None:
    """The flag about one missing character. If an equal character stands beside it, the flag is placed on that. None if
    the text has a printed sign for it."""
    pairing, flag = member
    glyph = _glyph(column, member)
    signs = placeholders(column, before, glyph.row)
    if signs and flag.suggested:
        return _flag_on_placeholders(column, signs, flag, [flag.suggested], flag.bbox, flag.evidence)
    both = place_of_equal_neighbour(column, pairing.before, glyph)
    return flag if both is None else _moved_to(source_of(column), flag, both, flag.bbox, flag.evidence)


def _missing_run(column: ReadColumn, before: int, run: Sequence[Member], marks_rows: bool) -> Flag | None:
    """One flag for missing characters; None if the text has printed signs for them. With `marks_rows` they are
    suggested with the markup of the notes in which they stand, otherwise they are of one row."""
    glyphs = [_glyph(column, member) for member in run]
    flags = [flag for _, flag in run]
    readings = [flag.suggested or UNREAD for flag in flags]
    strongest = max(flags, key=lambda flag: flag.score)
    rows = [glyph.row if marks_rows else Row.MAIN for glyph in glyphs]
    box, evidence = _union(flags), _evidence_of(flags, readings, rows, strongest.evidence)
    signs = placeholders(column, before, glyphs[0].row)
    if signs:
        return _flag_on_placeholders(column, signs, strongest, readings, box, evidence)
    place = omission_place(column, before, glyphs, with_row_marks(readings, rows))
    return _moved_to(source_of(column), strongest, place, box, evidence)


def _flag_on_placeholders(
    column: ReadColumn, signs: Sequence[Cell], flag: Flag, readings: Sequence[str], box: Box | None, evidence: Evidence
) -> Flag | None:
    """The flag about missing characters for which the text has placeholders; None if these signs are printed."""
    if are_printed(signs, readings):
        return None
    place = placeholder_place(column, signs, readings)
    alternatives = evidence.alternatives if place.suggested == "".join(readings) else ()
    evidence = replace(evidence, reason=PLACEHOLDER, ink=None, alternatives=alternatives)
    return _moved_to(source_of(column), flag, place, box, evidence)


def _evidence_of(flags: Sequence[Flag], readings: Sequence[str], rows: Sequence[Row], strongest: Evidence) -> Evidence:
    """The evidence for a run. Its probability and its alternatives are those of its least probable character; in the
    alternatives the other characters are as they are read. `rows` are those whose markup the run has."""
    if len(flags) == 1:
        return strongest
    probabilities = [flag.evidence.p_best for flag in flags if flag.evidence.p_best is not None]
    unread_ink = next((flag.evidence.ink for flag in flags if not flag.suggested), None)
    notice = next((flag.evidence.notice for flag in flags if flag.evidence.notice), None)
    least = min(range(len(flags)), key=lambda number: flags[number].evidence.p_best or 0.0)
    alternatives = tuple(
        (with_row_marks([*readings[:least], text, *readings[least + 1 :]], rows), probability)
        for text, probability in flags[least].evidence.alternatives
    )
    p_best = min(probabilities, default=None)
    return replace(strongest, p_best=p_best, alternatives=alternatives, ink=unread_ink, notice=notice)


def _surplus(column: ReadColumn, members: Sequence[Member]) -> list[Flag]:
    """The flags about consecutive transcribed characters without glyphs, joined to runs. Markup in the text divides
    runs."""
    runs: list[list[Member]] = []
    source = source_of(column)
    for member in members:
        cell = member.pairing.cells[0]
        follows = bool(runs) and runs[-1][-1].pairing.cells[0] + 1 == cell
        if follows and SPECIAL.search(source, *source_before(column, cell)) is None:
            runs[-1].append(member)
        else:
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
    # only the flags at the ends of the run have a neighbouring glyph, from which their places on the image are known
    ends = [flag for flag, neighbour in ((first, above), (last, below)) if neighbour is not None] or [first]
    strongest = max(flags, key=lambda flag: flag.score)
    return _moved_to(source_of(column), strongest, place, _union(ends), replace(strongest.evidence, ink=ink))


def _union(flags: Sequence[Flag]) -> Box | None:
    """The smallest box around the boxes of the flags; None if they have none."""
    boxes = [flag.bbox for flag in flags if flag.bbox is not None]
    return Box.around(boxes) if boxes else None


def _moved_to(source: str, flag: Flag, place: Place, box: Box | None, evidence: Evidence) -> Flag:
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
    """The flags of a page whose file has no columns. A run that continues in the next column of the image is one place
    in the file, so its flags are joined."""
    sources = {line.number: line.source for line in lines}
    joined: list[Flag] = []
    last = -1
    for flag in flags:
        source = sources.get(flag.line, "")
        if last >= 0 and _meet(joined[last], flag, source):
            joined[last] = _joined_pair(joined[last], flag, source)
            continue
        joined.append(flag)
        if flag.raised and flag.kind in RUN_KINDS:
            last = len(joined) - 1
    return joined


def _meet(first: Flag, second: Flag, source: str) -> bool:
    """Whether two runs of one kind meet in the source of their line, with only punctuation and blanks between them."""
    end = first.offset + first.length
    between = source[end : second.offset]
    is_same_kind = (first.page, first.line, first.kind) == (second.page, second.line, second.kind)
    is_in_order = end <= second.offset
    has_text_between = any(map(str.isalnum, between)) or SPECIAL.search(between) is not None
    return second.raised and is_same_kind and is_in_order and not has_text_between


def _joined_pair(first: Flag, second: Flag, source: str) -> Flag:
    """One flag from two about parts of one run."""
    end = second.offset + second.length
    suggested = first.suggested + second.suggested
    if not first.length and not second.length:
        end = first.offset  # both are inserted at one place, before any punctuation between them
    elif first.kind is Kind.OMISSION:
        suggested = first.suggested + source[first.offset + first.length : second.offset] + second.suggested
    strongest = first if first.score >= second.score else second
    probabilities = [flag.evidence.p_best for flag in (first, second) if flag.evidence.p_best is not None]
    evidence = replace(strongest.evidence, p_best=min(probabilities, default=None), alternatives=(), ink=None)
    place = Place(first.offset, end - first.offset, first.kind, source[first.offset : end], suggested)
    return _moved_to(source, strongest, place, _union((first, second)), evidence)


def lines_of(columns: Iterable[ReadColumn]) -> list[Column]:
    """The lines of those columns that have one."""
    return [column.line for column in columns if column.line is not None]


def linked(flags: Iterable[Flag], lines: Iterable[Column], policy: VariantPolicy) -> tuple[Flag, ...]:
    """The flags of a page with these `lines`. Those that are decided together are linked in pairs: text that moved
    within a column or to the next one (衍 in one place, 脫 in the other; the nearest first), a column that moved, and
    the two parts of a run that continues in the next half-row or column. Text that moved is suggested as it is
    written."""
    results = [replace(flag, moved="") for flag in flags]
    sources = {line.number: line.source for line in lines}
    numbers = sorted(sources)  # a file may have blank lines between them

    def position(flag: Flag) -> int:
        return bisect_left(numbers, flag.line)

    def pairs(are_linked: Callable[[Flag, Flag], bool]) -> list[tuple[int, int]]:
        return [
            (a, b) for a, first in enumerate(results) for b, second in enumerate(results) if are_linked(first, second)
        ]

    def distance(pair: tuple[int, int]) -> tuple[int, int]:
        first, second = (results[number] for number in pair)
        return abs(position(first) - position(second)), abs(first.offset - second.offset)

    moved_text = sorted(pairs(partial(_are_moved_text, policy, position)), key=distance)
    moved_columns = sorted(pairs(_are_moved_column), key=lambda pair: distance(pair)[0])
    divided = sorted(
        pairs(partial(_are_divided_run, sources, position)),
        key=lambda pair: (results[pair[0]].line, results[pair[0]].offset),
    )
    for a, b in (*moved_text, *moved_columns, *divided):
        if not (results[a].moved or results[b].moved):
            results[a], results[b] = replace(results[a], moved=results[b].id), replace(results[b], moved=results[a].id)
            if results[a].kind is not results[b].kind:
                suggested = results[b].suggested
                indentation = suggested[: len(suggested) - len(suggested.lstrip())]
                results[b] = replace(results[b], suggested=indentation + results[a].transcribed)
    return tuple(results)


def _are_moved_text(policy: VariantPolicy, position: Callable[[Flag], int], insertion: Flag, omission: Flag) -> bool:
    """Whether an insertion is the text that an omission or a missing column lacks, in the same line or in the one
    before or after; a passage anywhere on the page. `position` gives the place of a flag's line among those of the
    page."""
    is_missing = omission.kind is Kind.OMISSION or omission.evidence.reason == LineFault.MISSING.value
    if insertion.kind is not Kind.INSERTION or not is_missing:
        return False
    is_passage = insertion.length >= MIN_MOVED_CHARACTERS
    are_near = insertion.page == omission.page and (is_passage or abs(position(insertion) - position(omission)) <= 1)
    return are_near and _is_reading_of(policy, insertion.transcribed, omission.suggested.strip())


def _is_reading_of(policy: VariantPolicy, text: str, read: str) -> bool:
    """Whether `read` may be what the recogniser reads of this text: the same in any variant form, or all but a few
    characters of a passage."""
    if text in policy.spellings("", read):
        return True
    misread = sum(policy.fold(a) != policy.fold(b) for a, b in zip(text, read, strict=False))
    return len(text) == len(read) >= MIN_READ_CHARACTERS and misread <= MAX_MISREAD_SHARE * len(read)


def _are_moved_column(first: Flag, second: Flag) -> bool:
    """Whether two findings are about one column that moved: its place in the text, and its place on the image."""
    if not first.evidence.reason == second.evidence.reason == LineFault.MOVED.value or first.page != second.page:
        return False
    return first.transcribed != "" and first.transcribed == second.suggested


def _are_divided_run(sources: Mapping[int, str], position: Callable[[Flag], int], flag: Flag, following: Flag) -> bool:
    """Whether a raised run of missing or surplus characters continues in `following`: between them there are only marks
    and blanks."""
    if not (flag.raised and following.raised and flag.page == following.page):
        return False
    if flag.kind is not following.kind or flag.kind not in RUN_KINDS:
        return False
    source, end = sources[flag.line], flag.offset + flag.length
    if flag.line == following.line:
        return end < following.offset and _is_markup(source[end : following.offset])
    is_at_end_of_line = position(following) == position(flag) + 1 and _is_markup(source[end:])
    return is_at_end_of_line and _is_markup(sources[following.line][: following.offset])


def _is_markup(text: str) -> bool:
    return all(character in MARKUP or character.isspace() for character in text)
