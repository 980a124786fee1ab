"""Reads one column of the image as one line of text: aligns them, and looks again where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, inf

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy
from proof.ocr.page_record import CutStrip
from proof.ocr.readings import HalfFolioReadings
from proof.text.model import Cell, Column, Row, Run
from proof.verify.align import SKIP_GLYPH_NATS, Pairing, Step, align
from proof.verify.glyphs import Glyph, Window, column_glyphs, merged, without_splinters
from proof.verify.likeness import WordLikeness

SUSPECT_NATS = (1.0, 1.0)
"""Nats by which another reading of a glyph must be more probable than the text for a second look at it, and for a
third."""

BAD_CUT_NATS = 12.0
"""Cost of an alignment above which the runs of the column may have been cut in the wrong places."""

BAD_NOTE_CUT_NATS = 4.0
"""The same in a column without rules, where notes of two or three characters occur in main text; in any column, the
cost above which other lengths of its notes, and missing main text beside them, are tried."""

MIN_SUSPECT_PRESENCE = 0.2
"""Probability that there is a glyph above which one without a cell, or exchanged with another, is looked at again."""

WINDOW_CELLS = 2.2
"""Cells on either side of a suspect that a further look includes."""

ZOOMS = (1.5, 1.25)
"""Factors by which the strips of a second and a third look are lengthened: at another pitch the recogniser makes other
errors. The second look removes specks, the third shows the page as it is, so that a reading that depends on the
preparation of the image loses probability."""

MIN_LINE_AGREEMENT = 0.7
"""Agreement of a column with its line, 0 to 1, from which other runs are tried for the line: its characters as notes,
missing main text, notes of other lengths."""

SMALL_NOTE_SIZES = (2, 3)
"""Numbers of characters of a note that a transcriber may have written in full width."""

LACKING = "□"
"""Text of a cell for a character that the line may lack."""

MAX_UNCLEAR_CERTAINTY = 0.6
"""Certainty (probability of the best reading times that of a glyph) below which a glyph is unclear."""

MIN_SURE_CERTAINTY = 0.9
"""Certainty above which a glyph is surely read."""

OUTERMOST_GLYPHS = 2
"""Glyphs at either end of a half-row among which a surplus glyph may be half of a character of main text, cut in
two."""

SAME_CUT_CELLS = 0.4
"""Distance, in cells, within which two cuts are the same."""

BETTER_NATS = 2.0
"""Nats by which another way of cutting must be cheaper to be preferred."""

GUTTER_SHARE = 0.1
"""Part of the width of a column on either side of its middle that neither half-row of a note fills."""

EXCHANGED_COST_SHARE = 0.4
"""Cost with the halves of a column's notes exchanged, relative to the cost before, below which they are exchanged."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column of the image, aligned with a line of the transcription.

    `line` is None where the transcription has none for this column. `cells` are the line's glyph cells without blank
    ones; `pairings` refer to them and to `glyphs` by number. `cost` is that of the alignment, in nats. `way` is how the
    column was cut, `strips` are the strips that were read. `swapped`: the halves of its notes are exchanged on the
    image.
    """

    area: ColumnArea
    line: Column | None
    cells: tuple[Cell, ...]
    glyphs: tuple[Glyph, ...]
    pairings: tuple[Pairing, ...]
    cost: float
    way: CutBy
    strips: tuple[CutStrip, ...] = ()
    swapped: bool = False

    @property
    def read(self) -> str:
        """The best readings of all glyphs except faint ones."""
        return "".join(g.best for g in self.glyphs if g.probable)

    @property
    def sure_share(self) -> float:
        """The number of surely read glyphs for each cell from the first glyph to the last, without faint ones."""
        heights = [glyph.y for glyph in self.glyphs if glyph.probable]
        sure = [glyph for glyph in self.glyphs if not glyph.silent and _certainty(glyph) > MIN_SURE_CERTAINTY]
        extent = max(heights) - min(heights) if sure else 0.0
        return len(sure) / (extent / sure[0].pitch + 1) if sure else 0.0

    @property
    def agreement(self) -> float:
        """How well line and column agree: 1 where they are equal, near 0 where they are different texts."""
        size = max(len(self.cells), sum(g.probable for g in self.glyphs))
        return 1.0 if size == 0 else max(0.0, 1.0 - self.cost / (SKIP_GLYPH_NATS * size))


class ColumnReader:
    """Reads columns of one half-folio.

    `likeness` decides where to look again and how to cut a column. It ignores the project's own variants, so that a
    change of these causes no new reading. `final` is the likeness with which the column is aligned in the end.
    """

    def __init__(self, readings: HalfFolioReadings, likeness: WordLikeness, final: WordLikeness | None = None) -> None:
        self._readings = readings
        self._likeness = likeness
        self._final = final or likeness
        self._rows = readings.rows

    def judged(self, column: ReadColumn) -> ReadColumn:
        """A column, aligned again with the `final` likeness if that knows other forms of any of its characters."""
        final, likeness = self._final, self._likeness
        if final is likeness or all(final.forms(cell.text) == likeness.forms(cell.text) for cell in column.cells):
            return column
        return self._aligned(column, final)

    def read_all(self, areas: Sequence[ColumnArea], lines: Sequence[Column | None]) -> list[ReadColumn]:
        """Read every column as its line. An engine that reads in batches gets the strips of all columns first."""
        if self._readings.engine.at_once > 1:
            strips: list[CutStrip] = []
            sought: list[tuple[str, ...]] = []
            for area, line in zip(areas, lines, strict=True):
                cut = self._readings.cut(area, line, CutBy.BEST)
                strips += cut
                sought += [self._sought(area, line, CutBy.BEST, strip) for strip in cut]
            self._readings.read(strips, sought)
        return [self.read(area, line) for area, line in zip(areas, lines, strict=True)]

    def read(self, area: ColumnArea, line: Column | None) -> ReadColumn:
        """Read `area` as `line`; where the alignment is expensive, try other cuts and look again."""
        best = self._attempt(area, line, CutBy.BEST)
        if line is None or not line.cells:
            return best
        if best.cost > (BAD_CUT_NATS if area.pitch is None else BAD_NOTE_CUT_NATS):
            best = self._cut_otherwise(best, line)
        if area.pitch is not None:
            best = self._with_notes(best)
        if best.cost > BAD_NOTE_CUT_NATS:
            best = self._with_main_text(best)
        if best.cost > BAD_NOTE_CUT_NATS:
            best = self._with_other_lengths(best, line)
        best = self._again(best)
        if area.pitch is not None:
            best = self._with_half_notes(best)
        if best.cost > BAD_CUT_NATS:
            best = self._other_way_round(best)
        return best

    def _cut_otherwise(self, best: ReadColumn, line: Column) -> ReadColumn:
        """The best reading of the column among the other ways of cutting it."""
        ways = [] if best.area.pitch is None else [CutBy.STRICT]
        ways += [CutBy.COUNTED, CutBy.SEEN, *([CutBy.LOW_NOTES] if len(line.runs) > 1 else [])]
        return self._best_cut(best, line, [(line, way) for way in ways])

    def _best_cut(self, best: ReadColumn, line: Column, cuts: Iterable[tuple[Column, CutBy]]) -> ReadColumn:
        """The best reading of the column as `line` over `cuts`, each a line and the way to cut the column as it. Equal
        cuts are read once."""
        pitch = best.area.cell(self._rows)
        tried = [best.strips]
        for cut_as, way in cuts:
            strips = self._readings.cut(best.area, cut_as, way)
            if any(_same_cuts(strips, other, SAME_CUT_CELLS * pitch) for other in tried):
                continue
            tried.append(strips)
            other = self._read_strips(best.area, line, way, strips)
            if other.cost < best.cost - BETTER_NATS:
                best = other
        return best

    def _with_notes(self, best: ReadColumn) -> ReadColumn:
        """The column with a few full-width characters of its line read as a note, where one of them has no glyph:
        numbers in small script are often transcribed in full width. Skipped where the column shows another text."""
        if best.agreement < MIN_LINE_AGREEMENT:
            return best
        for number in [pairing.cells[0] for pairing in best.pairings if pairing.step is Step.EXTRA_CELL]:
            for line in _as_notes(best, number):
                other = self._attempt(best.area, line, CutBy.BEST)
                if other.cost < best.cost - BETTER_NATS:
                    best = other
        return best

    def _with_half_notes(self, best: ReadColumn) -> ReadColumn:
        """The column with a full-width character of its line read as one half of a note whose other half is missing.
        Tried where two unclear glyphs are in its place: two small numbers, of which one was left out."""
        for number in _in_two(best):
            for line in _as_half_notes(best, number):
                other = self._attempt(best.area, line, CutBy.BEST)
                if not _has_half_over(other):
                    continue
                other = self._again(other)
                # a missing half costs as much as any surplus glyph, though both halves are surely read
                if other.cost - SKIP_GLYPH_NATS < best.cost:
                    best = other
        return best

    def _with_main_text(self, best: ReadColumn) -> ReadColumn:
        """The column with a cell of main text added before its first or after its last note. Without the cell, a
        character that the line lacks would be cut in two, as surplus glyphs of the note."""
        line = best.line
        if line is None or best.agreement < MIN_LINE_AGREEMENT:
            return best
        over = self._over_at_ends(best)
        for at, end in ((0, 0), (-1, len(line.source))):
            if line.runs and line.runs[at].note and over[at]:
                lacking = Run(False, (Cell(LACKING, end, 0, Row.MAIN),))
                runs = (lacking, *line.runs) if at == 0 else (*line.runs, lacking)
                other = self._attempt(best.area, replace(line, parsed=runs), CutBy.BEST)
                if other.cost < best.cost - BETTER_NATS and not _is_matched(other, 0 if at == 0 else len(runs) - 1):
                    best = other
        return best

    def _with_other_lengths(self, best: ReadColumn, line: Column) -> ReadColumn:
        """The column cut as if a note of its line were a row longer or shorter. Tried where the note has a surplus
        glyph or a character without one: an omission or an insertion in a note moves its end."""
        if best.agreement < MIN_LINE_AGREEMENT or best.area.notes is not None:
            return best
        best = self._best_cut(best, line, [(other, CutBy.COUNTED) for other in _of_other_lengths(best, line)])
        return self._with_half_row(best, line)

    def _with_half_row(self, best: ReadColumn, line: Column) -> ReadColumn:
        """The column with a surplus glyph of main text behind a note as the end of its right half, where the ink of the
        glyph is in that half of the column. Costs do not tell the two apart: either has one surplus glyph."""
        for pairing in best.pairings:
            glyph = best.glyphs[pairing.glyphs[0]] if pairing.step is Step.EXTRA_GLYPH else None
            run = best.strips[glyph.strip].run - 1 if glyph is not None and glyph.row is Row.MAIN else -1
            if glyph is None or run < 0 or not line.runs[run].note or not self._is_in_right_half(best.area, glyph):
                continue
            strips = self._readings.cut(best.area, _with_longer_note(line, run), CutBy.COUNTED)
            other = self._read_strips(best.area, line, CutBy.COUNTED, strips)
            if other.cost < best.cost + BETTER_NATS:
                return other
        return best

    def _is_in_right_half(self, area: ColumnArea, glyph: Glyph) -> bool:
        """Whether, at the height of a glyph, its column has ink in the right half and none in the left."""
        ((top, bottom),) = self._readings.spans(area, Row.RIGHT, [glyph.y])
        middle, gutter = (area.left + area.right) / 2, GUTTER_SHARE * (area.right - area.left)
        left, right = (
            self._readings.ink_cells(area.number, edge, top, other, bottom, bottom - top)
            for edge, other in ((area.left, middle - gutter), (middle + gutter, area.right))
        )
        return bool(right and not left)

    def _over_at_ends(self, column: ReadColumn) -> tuple[bool, bool]:
        """Whether a surplus glyph is among the outermost ones of the first two strips, and of the last two."""
        over = {number for pairing in column.pairings if not pairing.cells for number in pairing.glyphs}
        rows: list[list[bool]] = [[] for _ in column.strips]
        for number, glyph in enumerate(column.glyphs):
            rows[glyph.strip].append(number in over or glyph.silent)
        return any(any(row[:OUTERMOST_GLYPHS]) for row in rows[:2]), any(
            any(row[-OUTERMOST_GLYPHS:]) for row in rows[-2:]
        )

    def _attempt(self, area: ColumnArea, line: Column | None, way: CutBy) -> ReadColumn:
        return self._read_strips(area, line, way, self._readings.cut(area, line, way))

    def _read_strips(
        self, area: ColumnArea, line: Column | None, way: CutBy, strips: tuple[CutStrip, ...]
    ) -> ReadColumn:
        glyphs = self._glyphs(area, line, way, strips, range(len(strips)))
        return self._aligned(ReadColumn(area, line, (), glyphs, (), 0.0, way, strips))

    def _sought(self, area: ColumnArea, line: Column | None, way: CutBy, strip: CutStrip) -> tuple[str, ...]:
        """The characters to look for on a strip, in all forms that the engine knows: those of its run, or of the whole
        line where the runs were delimited by the image or by a person."""
        if line is None:
            return ()
        limits_known = way is CutBy.SEEN or area.notes is not None or strip.run >= len(line.runs)
        cells = line.cells if limits_known else line.runs[strip.run].cells
        texts = dict.fromkeys(cell.text for cell in cells if cell.glyph)
        return tuple(dict.fromkeys(form for text in texts for form in self._likeness.forms(text)))

    def _glyphs(
        self, area: ColumnArea, line: Column | None, way: CutBy, strips: Sequence[CutStrip], numbers: Sequence[int]
    ) -> tuple[Glyph, ...]:
        sought = [self._sought(area, line, way, strip) for strip in strips]
        read = self._readings.read(strips, sought)
        glyphs = column_glyphs(self._readings, strips, read, area.cell(self._rows), numbers)
        return without_splinters(glyphs, area.top - area.raised, area.bottom)

    def _aligned(self, column: ReadColumn, likeness: WordLikeness | None = None, limit: float = inf) -> ReadColumn:
        cells = tuple(cell for cell in column.line.cells if cell.glyph) if column.line else ()
        pairings, cost = align(cells, column.glyphs, likeness or self._likeness, limit)
        return replace(column, cells=cells, pairings=tuple(pairings), cost=cost)

    def _again(self, column: ReadColumn) -> ReadColumn:
        """The column after further looks around the glyphs that disagree with the text; probabilities are the mean of
        all looks."""
        for looks, (zoom, suspect) in enumerate(zip(ZOOMS, SUSPECT_NATS, strict=True), 1):
            windows = self._windows(column, suspect)
            if not windows:
                break
            strips = [self._readings.window(column.strips[w.strip], w.top, w.bottom, zoom, looks > 1) for w in windows]
            seen = self._glyphs(column.area, column.line, column.way, strips, [w.strip for w in windows])
            column = self._aligned(replace(column, glyphs=merged(column.glyphs, seen, windows, looks)))
        return column

    def _windows(self, column: ReadColumn, suspect: float) -> list[Window]:
        """The windows to look at again, around the suspects of a column; overlapping windows are joined."""
        windows: list[Window] = []
        for glyph in sorted(self._suspects(column, suspect), key=lambda g: (g.strip, g.y)):
            reach = WINDOW_CELLS * glyph.pitch
            top, bottom = glyph.y - reach, glyph.y + reach
            if windows and windows[-1].strip == glyph.strip and top < windows[-1].bottom:
                windows[-1] = replace(windows[-1], bottom=bottom)
            else:
                windows.append(Window(glyph.strip, top, bottom))
        return windows

    def _suspects(self, column: ReadColumn, suspect: float) -> list[Glyph]:
        """The glyphs that disagree with the line; for a cell without a glyph, a glyph beside it."""
        suspects: list[Glyph] = []
        glyphs = column.glyphs
        for number, pairing in enumerate(column.pairings):
            if pairing.step is Step.EXTRA_CELL:
                neighbours = (*column.pairings[:number][-1:], *column.pairings[number + 1 :][:1])
                beside = next((neighbour.glyphs[0] for neighbour in neighbours if neighbour.glyphs), None)
                suspects += [] if beside is None else [glyphs[beside]]
            elif pairing.step is Step.MATCH:
                glyph = glyphs[pairing.glyphs[0]]
                if not glyph.silent and self._disagrees(column.cells[pairing.cells[0]], glyph) > suspect:
                    suspects.append(glyph)
            else:
                suspects += [glyphs[j] for j in pairing.glyphs if glyphs[j].presence > MIN_SUSPECT_PRESENCE]
        return suspects

    def _disagrees(self, cell: Cell, glyph: Glyph) -> float:
        """Nats by which the best reading of a glyph is more probable than the transcribed character."""
        log_prob = self._likeness(cell.text, glyph)
        return 0.0 if log_prob is None else glyph.log_prob(glyph.best) - log_prob

    def _other_way_round(self, column: ReadColumn) -> ReadColumn:
        """The column with the halves of its notes exchanged, if the transcription then fits far better."""
        order = _halves_exchanged(column.glyphs)
        if order is None:
            return column
        limit = EXCHANGED_COST_SHARE * column.cost
        other = self._aligned(replace(column, glyphs=order, swapped=True), limit=limit)
        return other if other.cost < limit else column


def on_its_ink(column: ReadColumn, readings: HalfFolioReadings) -> ReadColumn:
    """The column with top and bottom of each glyph taken from its ink: a recogniser places glyphs too low, by up to a
    fifth of a cell. Faint glyphs keep theirs."""
    glyphs = list(column.glyphs)
    for number, strip in enumerate(column.strips):
        on_strip = [n for n, glyph in enumerate(glyphs) if glyph.strip == number and (glyph.silent or glyph.probable)]
        on_strip.sort(key=lambda n: glyphs[n].y)
        spans = readings.spans(column.area, strip.row, [glyphs[n].y for n in on_strip])
        for n, (top, bottom) in zip(on_strip, spans, strict=True):
            glyphs[n] = replace(glyphs[n], top=max(top, strip.top), bottom=min(bottom, strip.bottom))
    return replace(column, glyphs=tuple(glyphs))


def _is_matched(column: ReadColumn, run: int) -> bool:
    """Whether a glyph in the strips of a run is matched with any cell of the line."""
    matched = (number for pairing in column.pairings if pairing.cells for number in pairing.glyphs)
    return any(column.strips[column.glyphs[number].strip].run == run for number in matched)


def _as_notes(column: ReadColumn, number: int) -> list[Column]:
    """Variants of a column's line in which the cell of that number and one or two beside it form a note."""
    line, cell = column.line, column.cells[number]
    if line is None or cell.row is not Row.MAIN:
        return []
    lines = []
    for at, run in enumerate(line.runs):
        place = next((n for n, candidate in enumerate(run.cells) if candidate == cell), None)
        if run.note or place is None:
            continue
        for size in SMALL_NOTE_SIZES:
            for first in range(max(0, place - size + 1), min(place, len(run.cells) - size) + 1):
                parts = (run.cells[:first], run.cells[first : first + size], run.cells[first + size :])
                lines.append(replace(line, parsed=(*line.runs[:at], *_noted(*parts), *line.runs[at + 1 :])))
    return lines


def _of_other_lengths(column: ReadColumn, line: Column) -> list[Column]:
    """Variants of a column's line with one note a row longer where there are surplus glyphs, or a row shorter where
    characters have no glyph."""
    over = {column.strips[column.glyphs[j].strip].run for p in column.pairings if not p.cells for j in p.glyphs}
    lacking = {column.cells[p.cells[0]] for p in column.pairings if p.step is Step.EXTRA_CELL}
    lines = []
    for at, run in enumerate(line.runs):
        if not run.note:
            continue
        if over & {at - 1, at, at + 1}:
            lines.append(_with_longer_note(line, at))
        size = run.height
        if size > 1 and lacking & set(run.cells):
            shorter = replace(run, right=run.right[: size - 1], left=run.left[: size - 1])
            lines.append(replace(line, parsed=(*line.runs[:at], shorter, *line.runs[at + 1 :])))
    return lines


def _with_longer_note(line: Column, at: int) -> Column:
    """The line with its run of that index, a note, a row longer."""
    run = line.runs[at]
    more = (Cell(LACKING, 0, 0, Row.RIGHT),) * (run.height + 1 - len(run.right))
    return replace(line, parsed=(*line.runs[:at], replace(run, right=(*run.right, *more)), *line.runs[at + 1 :]))


def _in_two(column: ReadColumn) -> list[int]:
    """The numbers of cells matched with an unclear glyph beside another unclear one that has no cell."""
    cells = []
    for matched, extra in (*pairwise(column.pairings), *pairwise(column.pairings[::-1])):
        if matched.step is Step.MATCH and extra.step is Step.EXTRA_GLYPH:
            glyphs = [column.glyphs[pairing.glyphs[0]] for pairing in (matched, extra)]
            near = glyphs[0].strip == glyphs[1].strip and abs(glyphs[0].y - glyphs[1].y) < glyphs[0].pitch
            if near and all(not glyph.silent and _certainty(glyph) < MAX_UNCLEAR_CERTAINTY for glyph in glyphs):
                cells.append(matched.cells[0])
    return cells


def _has_half_over(column: ReadColumn) -> bool:
    """Whether a note has a surplus glyph that is surely read."""
    over = [column.glyphs[pairing.glyphs[0]] for pairing in column.pairings if pairing.step is Step.EXTRA_GLYPH]
    return any(
        glyph.row is not Row.MAIN and not glyph.silent and _certainty(glyph) > MIN_SURE_CERTAINTY for glyph in over
    )


def _certainty(glyph: Glyph) -> float:
    """The probability of the best reading of a glyph times that of its presence."""
    return exp(glyph.log_prob(glyph.best)) * glyph.presence


def _as_half_notes(column: ReadColumn, number: int) -> list[Column]:
    """Two variants of a column's line in which the cell of that number is one half of a note whose other half is
    missing."""
    line, cell = column.line, column.cells[number]
    if line is None:
        return []
    run = next((n for n, run in enumerate(line.runs) if not run.note and cell in run.cells), None)
    if run is None:
        return []
    cells = line.runs[run].cells
    at = cells.index(cell)
    lacking = Cell(LACKING, cell.offset + cell.length, 0, cell.row)
    pairs = ((cell, lacking), (replace(lacking, offset=cell.offset), cell))
    return [
        replace(line, parsed=(*line.runs[:run], *_noted(cells[:at], pair, cells[at + 1 :]), *line.runs[run + 1 :]))
        for pair in pairs
    ]


def _noted(before: tuple[Cell, ...], small: tuple[Cell, ...], after: tuple[Cell, ...]) -> list[Run]:
    """The runs of main text `before`, of a note and of main text `after`. The note's cells (`small`) are divided
    between its halves, the right one longer if their number is odd."""
    half = (len(small) + 1) // 2
    right = tuple(replace(cell, row=Row.RIGHT) for cell in small[:half])
    left = tuple(replace(cell, row=Row.LEFT) for cell in small[half:])
    main = [Run(False, cells) for cells in (before, after)]
    return [*(main[:1] if before else []), Run(True, right, left), *(main[1:] if after else [])]


def _same_cuts(first: Sequence[CutStrip], second: Sequence[CutStrip], tolerance: float) -> bool:
    """Whether two ways of cutting gave the same strips, within `tolerance` pixels."""
    return len(first) == len(second) and all(
        a.row == b.row and abs(a.top - b.top) < tolerance and abs(a.bottom - b.bottom) < tolerance
        for a, b in zip(first, second, strict=True)
    )


def _halves_exchanged(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...] | None:
    """The glyphs with the halves of every note exchanged; None where there is no note with two."""
    strips: list[list[Glyph]] = []
    for glyph in glyphs:
        if strips and strips[-1][0].strip == glyph.strip:
            strips[-1].append(glyph)
        else:
            strips.append([glyph])
    order: list[list[Glyph]] = []
    exchanged = False
    for strip in strips:
        if order and strip[0].row is Row.LEFT and order[-1][0].row is Row.RIGHT:
            order[-1:] = [_as_row(strip, Row.RIGHT), _as_row(order[-1], Row.LEFT)]
            exchanged = True
        else:
            order.append(strip)
    return tuple(g for strip in order for g in strip) if exchanged else None


def _as_row(glyphs: Sequence[Glyph], row: Row) -> list[Glyph]:
    return [replace(glyph, row=row) for glyph in glyphs]
