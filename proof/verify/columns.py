"""Reads a column of the image as a line of text: aligns the two, and reads glyphs again where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from math import exp, inf
from operator import attrgetter

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy
from proof.layout.strips import MARGIN_CELLS
from proof.ocr.page_record import CutStrip
from proof.ocr.readings import HalfFolioReadings
from proof.text.model import Cell, Column, Row, Run, is_han
from proof.verify.align import SKIP_GLYPH_NATS, Pairing, Step, align, skip_cost
from proof.verify.glyphs import SPLINTERS, Glyph, Window, column_glyphs, merged
from proof.verify.likeness import WordLikeness

SUSPECT_NATS = 1.0
"""Nats by which the best reading of a glyph must be more probable than the transcribed character for the glyph to be
read again."""

BAD_CUT_NATS = 8.0
"""Cost of an alignment above which the runs of the column may have been cut in the wrong places, and other lengths of
its notes, and missing main text beside them, are tried."""

MIN_SUSPECT_PRESENCE = 0.2
"""Presence above which a glyph without a cell, or one that is exchanged with another, is read again."""

WINDOW_CELLS = 2.2
"""Cells on either side of a suspect glyph that are read again with it."""

ZOOMS = (1.5, 1.25)
"""Factors by which strips are lengthened for a second and a third reading, since the recogniser makes other errors at
another pitch. Specks are removed for the second reading, not for the third, so that a reading that depends on the
preparation of the image becomes less probable."""

MIN_LINE_AGREEMENT = 0.7
"""Minimum agreement of a column with its line, 0 to 1, for which other runs are tried for the line: its characters as
notes, missing main text, notes of other lengths."""

SMALL_NOTE_SIZES = (2, 3)
"""Numbers of characters of a note that a transcriber may have written in full width. If such notes are not tried, 25
flags more are false in 91 texts with notes."""

MISSING_TEXT = "□"
"""Text of a cell for a character that the line may lack."""

MIN_SURE_CERTAINTY = 0.9
"""Certainty (probability of the best reading times presence) above which a glyph is surely read."""

SAME_CUT_CELLS = 0.4
"""Distance, in cells, below which the edges of two cuts count as the same. If such cuts were read, too, one
photographed page of 26 would have a false flag more, and two others three fewer."""

MIN_GAIN_NATS = 2.0
"""Nats by which another cut of a column must be cheaper to be preferred."""

MAX_END_DISTANCE_CELLS = 2.0
"""Distance of a doubtful glyph from the end of a note, in cells, up to which this end may be wrong. If no end is
moved, one flag more is false on one of nine pages without rules."""

EXCHANGED_COST_SHARE = 0.4
"""Cost with the halves of a column's notes exchanged, relative to the cost before, below which they are exchanged."""

NotePlaces = tuple[tuple[float, float], ...]
"""Top and bottom of each note of a column, in pixels of the rectified page."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column of the image, aligned with a line of the transcription.

    `line` is None if the transcription has none for this column. `cells` are the cells of the line without blank ones;
    `pairings` refer to them and to `glyphs` by number. `cost` is that of the alignment, in nats. `cut_by` is how the
    column was cut, `strips` are the strips that were read. `halves_exchanged`: the halves of its notes are exchanged on
    the image.
    """

    area: ColumnArea
    line: Column | None
    cells: tuple[Cell, ...]
    glyphs: tuple[Glyph, ...]
    pairings: tuple[Pairing, ...]
    cost: float
    cut_by: CutBy
    strips: tuple[CutStrip, ...] = ()
    halves_exchanged: bool = False

    @property
    def read(self) -> str:
        """The best readings of all glyphs except faint ones."""
        return "".join(glyph.best for glyph in self.glyphs if glyph.probable)

    @property
    def shows_text(self) -> bool:
        """Whether the column has several characters between splinters of its frame, or one that is surely read."""
        text = self.read.strip(SPLINTERS)
        return len(text) > 1 or (is_han(text) and self.sure_share > 0)

    @property
    def sure_share(self) -> float:
        """The number of surely read glyphs per cell between the first and the last glyph that are not faint."""
        ys = [glyph.y for glyph in self.glyphs if glyph.probable]
        sure = [glyph for glyph in self.glyphs if _is_surely_read(glyph)]
        if not sure:
            return 0.0
        return len(sure) / ((max(ys) - min(ys)) / sure[0].pitch + 1)

    @property
    def surplus(self) -> list[Glyph]:
        """The glyphs that have no character."""
        return [self.glyphs[pairing.glyphs[0]] for pairing in self.pairings if pairing.step is Step.EXTRA_GLYPH]

    @property
    def matches(self) -> list[tuple[Cell, Glyph]]:
        """The characters with a glyph of their own, each with this glyph."""
        matches = (pairing for pairing in self.pairings if pairing.step is Step.MATCH)
        return [(self.cells[pairing.cells[0]], self.glyphs[pairing.glyphs[0]]) for pairing in matches]

    @property
    def cost_of_line(self) -> float:
        """The cost of the alignment without that of the surplus glyphs: how well the line itself is found."""
        return self.cost - sum(map(skip_cost, self.surplus))

    @property
    def contradiction(self) -> float:
        """The cost of the alignment without its surplus glyphs that are surely read, which are no evidence against the
        cut: they show what the line lacks."""
        return self.cost - sum(skip_cost(glyph) for glyph in self.surplus if _is_surely_read(glyph))

    @property
    def agreement(self) -> float:
        """The agreement of line and column: 1 if they are equal, near 0 if they are different texts."""
        size = max(len(self.cells), sum(glyph.probable for glyph in self.glyphs))
        return 1.0 if size == 0 else max(0.0, 1.0 - self.cost / (SKIP_GLYPH_NATS * size))


class ColumnReader:
    """Reads columns of one half-folio.

    `likeness` decides what is read again and how a column is cut. It ignores the project's own variants, so that a
    change of these causes no new readings. `final` is the likeness for the final alignment of the column.
    """

    def __init__(self, readings: HalfFolioReadings, likeness: WordLikeness, final: WordLikeness | None = None) -> None:
        self._readings = readings
        self._likeness = likeness
        self._final = final or likeness
        self._rows = readings.rows

    def judged(self, column: ReadColumn) -> ReadColumn:
        """The column, aligned again with the `final` likeness if this knows other forms of a character of its line."""
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
        """Read `area` as `line`. If the alignment is expensive, try other cuts and read suspect glyphs again."""
        best = self._attempt(area, line, CutBy.BEST)
        if line is None or not line.cells:
            return best
        if best.cost > BAD_CUT_NATS:
            best = self._with_other_cuts(best, line)
        if best.cost > BAD_CUT_NATS:
            best = self._with_unmarked_notes(best, line)
            line = best.line or line
        if area.measured_pitch is not None:
            best = self._with_notes(best)
        if best.cost > BAD_CUT_NATS:
            best = self._with_main_text(best)
        best = self._with_moved_ends(best)
        best = self._with_rereadings(best)
        if best.cost > BAD_CUT_NATS:
            best = self._with_exchanged_halves(best)
        return best

    def _with_other_cuts(self, best: ReadColumn, line: Column) -> ReadColumn:
        """The best reading of the column among the other ways of cutting it. Equal cuts are read once."""
        others = [CutBy.COUNTED, CutBy.SEEN]
        if len(line.runs) > 1:
            others.append(CutBy.LOW_NOTES)
        pitch = best.area.cell(self._rows)
        tried = [best.strips]
        for cut_by in others:
            strips = self._readings.cut(best.area, line, cut_by)
            if any(_are_same_cuts(strips, other, SAME_CUT_CELLS * pitch) for other in tried):
                continue
            tried.append(strips)
            other = self._read_strips(best.area, line, cut_by, strips)
            if other.contradiction < best.contradiction - MIN_GAIN_NATS:
                best = other
        return best

    def _with_unmarked_notes(self, best: ReadColumn, line: Column) -> ReadColumn:
        """The column with the half-rows that the image shows, where the line has their characters as main text, or as
        a note that it does not divide."""
        strips = self._readings.cut(best.area, line, CutBy.SEEN)
        if all(strip.row is Row.MAIN for strip in strips):
            return best
        seen = self._read_strips(best.area, line, CutBy.SEEN, strips)
        cells = [replace(cell, row=Row.MAIN) for cell in seen.cells]
        pairings, _ = align(cells, [replace(glyph, row=Row.MAIN) for glyph in seen.glyphs], self._likeness)
        seen_rows = {
            seen.cells[cell].offset: seen.glyphs[glyph].row
            for pairing in pairings
            for cell, glyph in zip(pairing.cells, pairing.glyphs, strict=False)
        }
        divided = {cell.offset: cell.row for run in line.runs if run.left for cell in run.cells}
        row_of_cell = seen_rows | divided
        if all(row_of_cell.get(cell.offset, cell.row) is cell.row for cell in line.cells):
            return best
        other = self._aligned(replace(seen, line=replace(line, parsed=runs_by_row(line.cells, row_of_cell))))
        return other if other.cost < best.cost - MIN_GAIN_NATS else best

    def _with_notes(self, best: ReadColumn) -> ReadColumn:
        """The column with a few full-width characters of its line read as a note, if one of them has no glyph: numbers
        in small script are often transcribed in full width. Not tried if the column shows another text."""
        if best.agreement < MIN_LINE_AGREEMENT:
            return best
        for number in [pairing.cells[0] for pairing in best.pairings if pairing.step is Step.EXTRA_CELL]:
            for line in _lines_with_note(best, number):
                other = self._attempt(best.area, line, CutBy.BEST)
                if other.cost < best.cost - MIN_GAIN_NATS:
                    best = other
        return best

    def _with_main_text(self, best: ReadColumn) -> ReadColumn:
        """The column with a cell of main text added before its first or after its last note. Without the cell, a
        character that the line lacks would be cut in two, as surplus glyphs of the note."""
        line = best.line
        if line is None or not line.runs or best.agreement < MIN_LINE_AGREEMENT:
            return best
        for note, added, offset in ((line.runs[0], 0, 0), (line.runs[-1], len(line.runs), len(line.source))):
            if note.is_note:
                missing = Run(False, (Cell(MISSING_TEXT, offset, 0, Row.MAIN),))
                longer = replace(line, parsed=(*line.runs[:added], missing, *line.runs[added:]))
                other = self._attempt(best.area, longer, CutBy.BEST)
                if other.cost < best.cost - MIN_GAIN_NATS and not _is_matched(other, added):
                    best = other
        return best

    def _with_moved_ends(self, best: ReadColumn) -> ReadColumn:
        """The column with the ends of its notes moved, as long as more of the line is found. Tried at an end near which
        a character has no glyph, or one of another row, or a glyph no character: an omission or an insertion moves the
        end of a note, and a row whose two characters nearly touch looks like main text."""
        if best.agreement < MIN_LINE_AGREEMENT or best.area.notes is not None:
            return best
        tried: set[NotePlaces] = set()
        while best.cost_of_line > BAD_CUT_NATS:
            places = [notes for notes in self._moved_ends(best) if notes not in tried]
            tried.update(places)
            others = [self._attempt(replace(best.area, notes=notes), best.line, CutBy.BEST) for notes in places]
            better = [
                other
                for other in others
                if min(best.cost - other.cost, best.cost_of_line - other.cost_of_line) > MIN_GAIN_NATS
            ]
            if not better:
                break
            best = min(better, key=attrgetter("cost"))
        return best

    def _moved_ends(self, column: ReadColumn) -> Iterator[NotePlaces]:
        """Where the notes of a column are, each time with one of them where its glyphs are, or with an end of it moved
        by a cell."""
        cell = column.area.cell(self._rows)
        by_glyphs = _places_by_glyphs(column)
        places = column.area.notes or _places_by_strips(column, MARGIN_CELLS * cell) or by_glyphs
        in_another_row = [glyph for character, glyph in column.matches if character.row is not glyph.row]
        doubtful = [glyph.y for glyph in (*column.surplus, *in_another_row, *_beside_gaps(column))]
        for number, (top, bottom) in enumerate(places):
            moved = []
            if any(abs(y - top) < MAX_END_DISTANCE_CELLS * cell for y in doubtful):
                moved += [(top + cell, bottom), (top - cell, bottom)]
            if any(abs(y - bottom) < MAX_END_DISTANCE_CELLS * cell for y in doubtful):
                moved += [(top, bottom + cell), (top, bottom - cell)]
            for place in (by_glyphs[number], *moved) if moved else ():
                changed = (*places[:number], place, *places[number + 1 :])
                ends = list(chain.from_iterable(changed))
                if ends == sorted(ends):
                    yield changed

    def _attempt(self, area: ColumnArea, line: Column | None, cut_by: CutBy) -> ReadColumn:
        return self._read_strips(area, line, cut_by, self._readings.cut(area, line, cut_by))

    def _read_strips(
        self, area: ColumnArea, line: Column | None, cut_by: CutBy, strips: tuple[CutStrip, ...]
    ) -> ReadColumn:
        glyphs = self._glyphs(area, line, cut_by, strips, range(len(strips)))
        return self._aligned(ReadColumn(area, line, (), glyphs, (), 0.0, cut_by, strips))

    def _sought(self, area: ColumnArea, line: Column | None, cut_by: CutBy, strip: CutStrip) -> tuple[str, ...]:
        """The characters whose probabilities are needed on a strip, in all forms that the engine knows: those of its
        run, or of the whole line if the image or a person delimited the runs."""
        if line is None:
            return ()
        is_not_cut_by_line = cut_by is CutBy.SEEN or area.notes is not None or strip.run >= len(line.runs)
        cells = line.cells if is_not_cut_by_line else line.runs[strip.run].cells
        texts = dict.fromkeys(cell.text for cell in cells if cell.glyph)
        return tuple(dict.fromkeys(form for text in texts for form in self._likeness.forms(text)))

    def _glyphs(
        self, area: ColumnArea, line: Column | None, cut_by: CutBy, strips: Sequence[CutStrip], numbers: Sequence[int]
    ) -> tuple[Glyph, ...]:
        sought = [self._sought(area, line, cut_by, strip) for strip in strips]
        spikes = self._readings.read(strips, sought)
        return column_glyphs(strips, spikes, area.cell(self._rows), numbers)

    def _aligned(self, column: ReadColumn, likeness: WordLikeness | None = None, limit: float = inf) -> ReadColumn:
        cells = tuple(cell for cell in column.line.cells if cell.glyph) if column.line else ()
        pairings, cost = align(cells, column.glyphs, likeness or self._likeness, limit)
        return replace(column, cells=cells, pairings=tuple(pairings), cost=cost)

    def _with_rereadings(self, column: ReadColumn) -> ReadColumn:
        """The column after its glyphs that disagree with the text were read again. Probabilities are the mean of all
        readings."""
        for rereading, zoom in enumerate(ZOOMS, 1):
            windows = self._windows(column)
            if not windows:
                break
            strips = []
            for window in windows:
                strip = column.strips[window.strip]
                strips.append(self._readings.window(strip, window.top, window.bottom, zoom, as_on_page=rereading > 1))
            reread = self._glyphs(column.area, column.line, column.cut_by, strips, [window.strip for window in windows])
            column = self._aligned(replace(column, glyphs=merged(column.glyphs, reread, windows, rereading)))
        return column

    def _windows(self, column: ReadColumn) -> list[Window]:
        """The windows that are read again, around the suspects of a column; overlapping windows are joined."""
        windows: list[Window] = []
        for glyph in sorted(self._suspects(column), key=lambda glyph: (glyph.strip, glyph.y)):
            reach = WINDOW_CELLS * glyph.pitch
            top, bottom = glyph.y - reach, glyph.y + reach
            if windows and windows[-1].strip == glyph.strip and top < windows[-1].bottom:
                windows[-1] = replace(windows[-1], bottom=bottom)
            else:
                windows.append(Window(glyph.strip, top, bottom))
        return windows

    def _suspects(self, column: ReadColumn) -> list[Glyph]:
        """The glyphs that disagree with the line by more than `SUSPECT_NATS`, or are in no match; for a cell without a
        glyph, a glyph beside it."""
        suspects: list[Glyph] = []
        glyphs = column.glyphs
        for number, pairing in enumerate(column.pairings):
            if pairing.step is Step.EXTRA_CELL:
                neighbours = column.pairings[max(0, number - 1) : number + 2]
                with_glyph = [neighbour for neighbour in neighbours if neighbour.glyphs]
                suspects += [glyphs[neighbour.glyphs[0]] for neighbour in with_glyph[:1]]
            elif pairing.step is Step.MATCH:
                glyph = glyphs[pairing.glyphs[0]]
                if self._disagreement(column.cells[pairing.cells[0]], glyph) > SUSPECT_NATS:
                    suspects.append(glyph)
            else:
                unmatched = (glyphs[index] for index in pairing.glyphs)
                suspects += [glyph for glyph in unmatched if glyph.presence > MIN_SUSPECT_PRESENCE]
        return suspects

    def _disagreement(self, cell: Cell, glyph: Glyph) -> float:
        """Nats by which the best reading of a glyph is more probable than the transcribed character."""
        log_prob = self._likeness(cell.text, glyph)
        return 0.0 if log_prob is None else glyph.log_prob(glyph.best) - log_prob

    def _with_exchanged_halves(self, column: ReadColumn) -> ReadColumn:
        """The column with the halves of its notes exchanged, if the transcription then fits far better."""
        exchanged = _halves_exchanged(column.glyphs)
        if exchanged is None:
            return column
        limit = EXCHANGED_COST_SHARE * column.cost
        other = self._aligned(replace(column, glyphs=exchanged, halves_exchanged=True), limit=limit)
        return other if other.cost < limit else column


def on_its_ink(column: ReadColumn, readings: HalfFolioReadings) -> ReadColumn:
    """The column with top and bottom of each glyph taken from its ink, since a recogniser places glyphs too low, by up
    to a fifth of a cell. Faint glyphs do not change."""
    glyphs = list(column.glyphs)
    for number, strip in enumerate(column.strips):
        on_strip = [index for index, glyph in enumerate(glyphs) if glyph.strip == number and glyph.probable]
        on_strip.sort(key=lambda index: glyphs[index].y)
        spans = readings.spans(column.area, strip.row, [glyphs[index].y for index in on_strip])
        for index, (top, bottom) in zip(on_strip, spans, strict=True):
            glyphs[index] = replace(glyphs[index], top=max(top, strip.top), bottom=min(bottom, strip.bottom))
    return replace(column, glyphs=tuple(glyphs))


def _is_matched(column: ReadColumn, run: int) -> bool:
    """Whether a glyph in the strips of a run is matched with any cell of the line."""
    matched = (number for pairing in column.pairings if pairing.cells for number in pairing.glyphs)
    return any(column.strips[column.glyphs[number].strip].run == run for number in matched)


def _lines_with_note(column: ReadColumn, number: int) -> list[Column]:
    """Variants of a column's line in which the cell of that number and one or two beside it form a note."""
    line, cell = column.line, column.cells[number]
    if line is None or cell.row is not Row.MAIN:
        return []
    lines = []
    for index, run in enumerate(line.runs):
        if run.is_note or cell not in run.cells:
            continue
        place = run.cells.index(cell)
        for size in SMALL_NOTE_SIZES:
            for first in range(max(0, place - size + 1), min(place, len(run.cells) - size) + 1):
                runs = _runs_with_note(run.cells[:first], run.cells[first : first + size], run.cells[first + size :])
                lines.append(replace(line, parsed=(*line.runs[:index], *runs, *line.runs[index + 1 :])))
    return lines


def runs_by_row(cells: Iterable[Cell], row_of_cell: Mapping[int, Row]) -> tuple[Run, ...]:
    """The runs of cells in the rows given by their offsets; others are in the row of the one before. A note begins
    where a right half follows a left one."""
    runs: list[Run] = []
    row = Row.MAIN
    for cell in cells:
        before, row = row, row_of_cell.get(cell.offset, row)
        if not runs or runs[-1].is_note is (row is Row.MAIN) or (before is Row.LEFT and row is Row.RIGHT):
            runs.append(Run(row is not Row.MAIN, ()))
        run, placed = runs[-1], (replace(cell, row=row),)
        is_left = row is Row.LEFT
        runs[-1] = Run(run.is_note, run.right + placed * (not is_left), run.left + placed * is_left)
    return tuple(runs)


def _places_by_strips(column: ReadColumn, margin: float) -> NotePlaces:
    """The top and the bottom of each note of a column's line, by its strips, which have a `margin` in pixels; empty if
    a note has no strip."""
    places = []
    for number in (number for number, run in enumerate(column.line.runs if column.line else ()) if run.is_note):
        strips = [strip for strip in column.strips if strip.run == number and strip.row is not Row.MAIN]
        if not strips:
            return ()
        places.append((min(s.top for s in strips) + margin, max(s.bottom for s in strips) - margin))
    return tuple(places)


def _places_by_glyphs(column: ReadColumn) -> NotePlaces:
    """The top and the bottom of each note of a column's line, in the middle between its glyphs and those before and
    after it. A note without any has no height."""
    glyph_at = {cell.offset: glyph for cell, glyph in column.matches}
    runs = column.line.runs if column.line else ()
    glyphs_of = [[glyph_at[cell.offset] for cell in run.cells if cell.offset in glyph_at] for run in runs]
    ends = [column.area.top]
    for number in range(1, len(runs)):
        above = max((glyph.bottom for glyphs in glyphs_of[:number] for glyph in glyphs), default=column.area.top)
        below = min((glyph.top for glyphs in glyphs_of[number:] for glyph in glyphs), default=column.area.bottom)
        ends.append((above + below) / 2)
    ends.append(column.area.bottom)
    return tuple(place for run, place in zip(runs, pairwise(ends), strict=False) if run.is_note)


def _beside_gaps(column: ReadColumn) -> list[Glyph]:
    """The glyphs before and behind characters without a glyph."""
    beside = pairwise(column.pairings)
    gaps = [pair for pair in beside if Step.EXTRA_CELL in (pair[0].step, pair[1].step)]
    return [column.glyphs[number] for pairing in chain.from_iterable(gaps) for number in pairing.glyphs]


def _is_surely_read(glyph: Glyph) -> bool:
    return exp(glyph.log_prob(glyph.best)) * glyph.presence > MIN_SURE_CERTAINTY


def _runs_with_note(before: tuple[Cell, ...], small: tuple[Cell, ...], after: tuple[Cell, ...]) -> list[Run]:
    """The runs of main text `before`, of a note, and of main text `after`. The cells of the note (`small`) are divided
    between its halves; the right one is longer if their number is odd."""
    half = (len(small) + 1) // 2
    right = tuple(replace(cell, row=Row.RIGHT) for cell in small[:half])
    left = tuple(replace(cell, row=Row.LEFT) for cell in small[half:])
    runs = [Run(True, right, left)]
    if before:
        runs.insert(0, Run(False, before))
    if after:
        runs.append(Run(False, after))
    return runs


def _are_same_cuts(first: Sequence[CutStrip], second: Sequence[CutStrip], tolerance: float) -> bool:
    """Whether two ways of cutting gave the same strips, within `tolerance` pixels."""
    return len(first) == len(second) and all(
        a.row == b.row and abs(a.top - b.top) < tolerance and abs(a.bottom - b.bottom) < tolerance
        for a, b in zip(first, second, strict=True)
    )


def _halves_exchanged(glyphs: Sequence[Glyph]) -> tuple[Glyph, ...] | None:
    """The glyphs with the halves of every note exchanged; None if there is no note with two halves."""
    strips: list[list[Glyph]] = []
    has_exchanged = False
    for _, group in groupby(glyphs, key=lambda glyph: glyph.strip):
        strip = list(group)
        if strips and strip[0].row is Row.LEFT and strips[-1][0].row is Row.RIGHT:
            strips[-1:] = [_as_row(strip, Row.RIGHT), _as_row(strips[-1], Row.LEFT)]
            has_exchanged = True
        else:
            strips.append(strip)
    return tuple(glyph for strip in strips for glyph in strip) if has_exchanged else None


def _as_row(glyphs: Sequence[Glyph], row: Row) -> list[Glyph]:
    return [replace(glyph, row=row) for glyph in glyphs]
