"""Findings about columns and pages as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from statistics import median

from proof.layout.half_folio import Outline
from proof.model.flags import LINE_BREAK, Evidence, Flag, Kind, with_ids
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.text.column import is_character
from proof.text.contexts import context_of
from proof.text.model import Column, Page, Row, Run
from proof.text.variants import VariantPolicy
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.legibility import MIN_DETAIL_PX, Legibility, is_in_note
from proof.verify.line_assignment import Assignment, LineFault, LineTrouble
from proof.verify.pairing import PageShown
from proof.verify.places import with_row_marks

LAYOUT_SCORE = 9.0
"""The score of a finding about a column or a page, above that of any character."""

MAX_SINGLE_COLUMNS = 3
"""Maximum number of columns of an image, or of lines of its page, that have a finding each. If more columns are missing
from the text, the image shows a second page; if more lines are not on the image, columns were not detected."""

SECOND_PAGE_SHARE = 0.5
"""Number of columns that are missing from the text, relative to the lines of the page, above which an image that has
more columns than a full page shows a second page."""

UNLIKE_SHARE = 0.4
"""Share of the characters of a line that differ above which line and column do not belong together. If that is so for
several columns of a page, they were detected wrongly."""

SAME_ROW_CELLS = 0.5
"""Maximum difference of height, in cells, of the first glyphs of two columns that stand in one row."""

COLUMNS_MISSING = "columns missing"
"""The reason of the finding about an image that shows a second page."""


def mismatch(empty_result: PageResult, paired: PageShown) -> PageResult:
    """The result, with one finding, of a page whose image shows another page."""
    name = str(paired.other.folio or paired.other.id) if paired.other else ""
    return unreadable(empty_result, "image mismatch", paired.message, name)


def unreadable(empty_result: PageResult, reason: str, message: Notice | None, suggested: str = "") -> PageResult:
    """The result, with one finding, of a page that cannot be compared with its image; `message` says what to do."""
    flag = layout_flag(empty_result, 0, None, Evidence(reason=reason, notice=message), suggested=suggested)
    return replace(empty_result, status=Status.MISMATCH, message=message, flags=with_ids([flag]))


def layout_flag(
    empty_result: PageResult, line: int, box: Box | None, evidence: Evidence, transcribed: str = "", suggested: str = ""
) -> Flag:
    """A finding about a column (`line` from 1), the whole of which is `transcribed`, or about the page (0)."""
    return Flag(
        page=empty_result.page,
        ref=empty_result.ref,
        line=line,
        offset=0,
        length=len(transcribed),
        kind=Kind.LAYOUT,
        transcribed=transcribed,
        suggested=suggested,
        score=LAYOUT_SCORE,
        raised=True,
        bbox=box,
        evidence=evidence,
        context=evidence.reason,
    )


def untranscribed_page_flags(empty_result: PageResult, columns: Sequence[ReadColumn]) -> list[Flag]:
    """One finding for a page without a transcription, if its image shows any text."""
    read = "".join(column.read for column in columns)
    return [layout_flag(empty_result, 0, None, Evidence(reason="page not transcribed", note=read))] if read else []


def without_illegible_notes(empty_result: PageResult, page: Page, flags: list[Flag], legible: Legibility) -> list[Flag]:
    """The flags of a page. If its notes are too small to be read, one finding replaces the flags in notes."""
    lines = {line.number: line for line in page.columns}
    if legible.reads(Row.LEFT) or not any(run.is_note for line in lines.values() for run in line.runs):
        return flags
    notice = Notice.of(NoticeCode.NOTES_TOO_SMALL, number=int(legible.note), least=MIN_DETAIL_PX)
    finding = layout_flag(empty_result, 0, None, Evidence(reason="notes too small", notice=notice))
    return [finding, *(flag for flag in flags if flag.line not in lines or not is_in_note(flag, lines[flag.line]))]


def without_unlike_columns(
    empty_result: PageResult, columns: Sequence[ReadColumn], by_column: Sequence[list[Flag]]
) -> tuple[list[Flag], set[int]]:
    """The flags of a page, and the numbers (from 0) of its columns that do not match their lines. `by_column` holds the
    flags of each column. If there are several such columns, one finding replaces their flags."""
    unlike = {
        number
        for number, (column, flags) in enumerate(zip(columns, by_column, strict=True))
        if sum(flag.raised for flag in flags) > max(MAX_SINGLE_COLUMNS, UNLIKE_SHARE * len(column.cells))
    }
    if len(unlike) < 2:
        return [flag for flags in by_column for flag in flags], set()
    lines = (columns[number].line for number in sorted(unlike))
    which = ", ".join(str(line.number) for line in lines if line is not None)
    notice = Notice.of(NoticeCode.COLUMNS_UNLIKE, number=len(unlike), which=which)
    finding = layout_flag(empty_result, 0, None, Evidence(reason="columns unlike", notice=notice))
    others = (flag for number, flags in enumerate(by_column) if number not in unlike for flag in flags)
    return [finding, *others], unlike


def figure_flags(empty_result: PageResult, outline: Outline, drawn: Sequence[ReadColumn]) -> list[Flag]:
    """One finding for a figure that is not transcribed, if characters stand in it."""
    read = "".join(column.read for column in drawn)
    if not read:
        return []
    box = Box.around(area_box(outline, column) for column in drawn)
    return [layout_flag(empty_result, 0, box, Evidence(reason="figure not transcribed", note=read))]


def line_flags(
    empty_result: PageResult,
    page: Page,
    outline: Outline,
    columns: Sequence[ReadColumn],
    assignment: Assignment,
    full_columns: int,
    policy: VariantPolicy,
) -> list[Flag]:
    """Findings about whole columns: missing, doubled, moved (two findings: where the text has it, and where it
    belongs), halves of a note exchanged. Many columns that are not in the text, of an image with more than the
    `full_columns` of a page, or many lines that are not on the image, are one finding."""
    troubles = assignment.troubles
    missing = [trouble for trouble in troubles if trouble.fault is LineFault.MISSING]
    flags = []
    if len(columns) > full_columns and len(missing) > max(MAX_SINGLE_COLUMNS, SECOND_PAGE_SHARE * len(page.columns)):
        troubles = tuple(trouble for trouble in troubles if trouble not in missing)
        read = "".join(trouble.read for trouble in missing)
        notice = Notice.of(NoticeCode.COLUMNS_BESIDE, number=len(missing))
        flags.append(layout_flag(empty_result, 0, None, Evidence(reason=COLUMNS_MISSING, note=read, notice=notice)))
    not_on_page = [trouble.line for trouble in troubles if trouble.fault is LineFault.NOT_ON_PAGE]
    if len(not_on_page) > MAX_SINGLE_COLUMNS:
        troubles = tuple(trouble for trouble in troubles if trouble.fault is not LineFault.NOT_ON_PAGE)
        which = ", ".join(map(str, not_on_page))
        notice = Notice.of(NoticeCode.COLUMNS_NOT_SHOWN, number=len(not_on_page), which=which)
        flags.append(layout_flag(empty_result, 0, None, Evidence(reason="columns not on the page", notice=notice)))
    for trouble in troubles:
        flags += _trouble_flags(empty_result, outline, page, columns, trouble, policy)
    for column in columns:
        if column.halves_exchanged and column.line is not None:
            evidence = Evidence(reason="note halves exchanged", note=column.read)
            layout = layout_flag(empty_result, column.line.number, area_box(outline, column), evidence)
            flags += [
                _exchange_of_halves(layout, column.line, run) for run in column.line.runs if run.right and run.left
            ]
    return flags


def _exchange_of_halves(finding: Flag, line: Column, note: Run) -> Flag:
    """The finding about a line, moved to one of its notes, with the halves of the note exchanged."""
    source = line.source
    start = source.rfind("(", 0, note.right[0].offset)
    middle = source.rfind("/", start, note.left[0].offset)
    end = source.find(")", note.left[-1].offset) + 1
    if not 0 <= start < middle < end:  # marked otherwise
        return replace(finding, length=len(source), transcribed=source)
    exchanged = f"({source[middle + 1 : end - 1]}/{source[start + 1 : middle]})"
    context = context_of(source, start, end - start)
    return replace(
        finding,
        offset=start,
        length=end - start,
        transcribed=source[start:end],
        suggested=exchanged,
        context=context,
    )


def _trouble_flags(
    empty_result: PageResult,
    outline: Outline,
    page: Page,
    columns: Sequence[ReadColumn],
    trouble: LineTrouble,
    policy: VariantPolicy,
) -> list[Flag]:
    """The findings about one trouble with a line of the page."""
    column = columns[trouble.column] if trouble.column is not None else None
    box = area_box(outline, column) if column else None
    number = column.area.number if column else None
    evidence = Evidence(reason=trouble.fault.value, note=trouble.read, column=number)
    if trouble.fault is LineFault.MISSING:
        read = _with_notes(column) if column and page.marks_notes else "".join(filter(is_character, trouble.read))
        indentation = _indentation(column, columns) if column and column.glyphs else ""
        suggested = indentation + "".join(map(policy.to_source_script, read))
        return [layout_flag(empty_result, trouble.line, box, evidence, suggested=suggested)]
    line = next((line.source for line in page.columns if line.number == trouble.line), "")
    if trouble.fault is LineFault.UNDIVIDED:
        flag = layout_flag(empty_result, trouble.line, box, evidence, suggested=LINE_BREAK)
        return [replace(flag, offset=trouble.offset, context=context_of(line, trouble.offset, 0))]
    flags = [layout_flag(empty_result, trouble.line, box, evidence, transcribed=line)]
    if trouble.fault is LineFault.MOVED:
        flags.append(layout_flag(empty_result, trouble.before, box, evidence, suggested=line))
    return flags


def _indentation(column: ReadColumn, columns: Sequence[ReadColumn]) -> str:
    """The indentation of a column without a line: that of most lines whose columns have their first glyph as low. If
    there is none, and the blanks of most other lines agree with their first glyphs, it is counted in cells."""
    first_glyph = _first_glyph_cells(column)
    others = [
        (_first_glyph_cells(other), other.line.source[: len(other.line.source) - len(other.line.source.lstrip())])
        for other in columns
        if other.line is not None and other.glyphs
    ]
    equally_low = Counter(blanks for cells, blanks in others if abs(cells - first_glyph) < SAME_ROW_CELLS)
    if equally_low:
        return equally_low.most_common(1)[0][0]
    blank = next((blanks[0] for _, blanks in others if blanks), "")
    tops = [cells - len(blanks) for cells, blanks in others]
    top = median(tops) if blank else 0.0
    agree = sum(abs(other - top) < SAME_ROW_CELLS for other in tops)
    return blank * round(first_glyph - top) if 2 * agree > len(tops) else ""


def _first_glyph_cells(column: ReadColumn) -> float:
    """The distance of the first character from the top of its column, in cells; of the first glyph if none is read."""
    first = next(filter(_is_written, column.glyphs), column.glyphs[0])
    return (first.y - column.area.top) / first.pitch


def _with_notes(column: ReadColumn) -> str:
    """The reading of a column with the markup of notes around its half-rows."""
    glyphs = list(filter(_is_written, column.glyphs))
    return with_row_marks([glyph.best for glyph in glyphs], [glyph.row for glyph in glyphs])


def _is_written(glyph: Glyph) -> bool:
    """Whether a glyph is read as a character, and not as dirt."""
    return glyph.probable and is_character(glyph.best)


def area_box(outline: Outline, column: ReadColumn) -> Box:
    """The box of a column in the image file, as far as the image shows it."""
    area = column.area
    above, below = outline.cut
    top = max(area.top - area.raised, -inf if above is None else above)
    return outline.file_box(area.left, top, area.right, min(area.bottom, inf if below is None else below))
