"""Checks one page: from its image and its text to its flags."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from proof.errors import ImageError
from proof.images.find import PageImage
from proof.images.load import LoadedImage
from proof.layout.half_folio import ColumnArea, Layout
from proof.layout.opening import Half, opening_halves
from proof.layout.orientation import Lie, in_image, reoriented
from proof.layout.overrides import LayoutOverrideShape
from proof.layout.photograph import page_columns
from proof.layout.plate import quadrant_boxes
from proof.model.flags import Evidence, Flag, with_ids
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Engine
from proof.ocr.external.folder import ExternalEngine
from proof.ocr.null import NullEngine
from proof.ocr.page import PageEngine, PageReading
from proof.ocr.page_record import PageRecord, PageSheet
from proof.ocr.readings import HalfFolioReadings, cutting_fingerprint
from proof.text.model import Column, Page
from proof.text.variants import VariantPolicy, policy_of
from proof.verify import line_assignment
from proof.verify.checked_result import checked_characters, checked_column, in_file_lines
from proof.verify.columns import ColumnReader, ReadColumn, on_its_ink
from proof.verify.external import ExternalColumns, ExternalLikeness, ExternalPages
from proof.verify.findings import FlagMaker, PageContext
from proof.verify.glyph_ink import GlyphInk
from proof.verify.legibility import MIN_DETAIL_PX, Legibility
from proof.verify.likeness import WordLikeness
from proof.verify.line_assignment import Assignment, LineFault
from proof.verify.page_findings import (
    COLUMNS_MISSING,
    figure_flags,
    layout_flag,
    line_flags,
    mismatch,
    unreadable,
    untranscribed_page_flags,
    without_illegible_notes,
    without_unlike_columns,
)
from proof.verify.pairing import MIN_CHARACTERS, page_shown
from proof.verify.partial import (
    PartOfPage,
    beyond_the_sides,
    cut_by_edges,
    is_cut_off,
)
from proof.verify.passages import lines_of, linked
from proof.verify.running_text import are_mostly_columns, is_running
from proof.verify.slices import read_slice
from proof.verify.unruled import check_unruled

MIN_TURNED_PERCENT = 50.0
"""Similarity of the text read on a turned image and its page, in percent, from which the image shows the page."""

MIN_HALF_IMAGE_PERCENT = 75.0
"""The same for half of an image, in percent: half of a page reaches 67 at most."""

MIN_PAGE_INK = 0.0004
"""Share of a page covered by ink below which the page is blank."""

TURNED = {
    Lie.HALF: NoticeCode.UPSIDE_DOWN,
    Lie.RIGHT: NoticeCode.ON_RIGHT_SIDE,
    Lie.LEFT: NoticeCode.ON_LEFT_SIDE,
    Lie.MIRRORED: NoticeCode.IMAGE_MIRRORED,
}
"""The notice for each orientation of an image."""

HALVES = {"a": NoticeCode.IN_RIGHT_HALF, "b": NoticeCode.IN_LEFT_HALF}
"""The notice for a page that is in one half of an opening, by half."""

MIN_TEXT_COLUMN_SHARE = 0.6
"""Number of characters read in a column, as a share of its cells, from which it is no figure."""

MIN_SURE_SHARE = 0.5
"""Surely read glyphs of a column for each of the cells that they take, from which it is no figure either, however short
it is. Of 122 columns of the sample and a plate one has less, with a seal; those of a figure have 0.1."""

MIN_AGREEMENT = 0.5
"""Agreement of a column with its line, 0 to 1, below which the line may belong to another column."""

MIN_COLUMN_INK = 0.002
"""Share of a column covered by ink from which it holds text; a single character covers some 0.01."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks pages. `columns` and `rows` are those of a full page. `fallback` makes the page pipeline for pages without
    ruled columns; it is called for the first such page. Columns are read with the likeness `reading` and judged with
    `likeness`; the project's variants change only the latter. Thread-safe."""

    engine: Engine
    policy: VariantPolicy
    columns: int
    rows: int
    threshold: float
    fallback: Callable[[], PageEngine]
    reading: WordLikeness
    likeness: WordLikeness

    @classmethod
    def of(
        cls,
        engine: Engine,
        policy: VariantPolicy,
        columns: int,
        rows: int,
        threshold: float,
        fallback: Callable[[], PageEngine],
        drawn: DrawnReadings | None = None,
    ) -> Checker:
        """A checker with the likenesses of `policy`. `drawn` are the engine's readings of a project's own font."""
        likeness = _likeness(policy, engine, drawn)
        reading = likeness if policy.project_file is None else _likeness(policy_of(policy.script), engine, drawn)
        return cls(engine, policy, columns, rows, threshold, fallback, reading, likeness)

    def check(
        self,
        page: Page,
        ref: str,
        page_image: PageImage,
        image: LoadedImage,
        neighbours: Sequence[tuple[int, Page]],
        layout_override: LayoutOverrideShape | None = None,
    ) -> PageResult:
        """Check one page against its image, without earlier readings. `image` is the whole file, of which a plate's or
        an opening's part is cut out here. The other parameters are those of `readings` and `judge`. Raises
        ImageError."""
        return self.judge(page, ref, page_image, self.readings(page_image, lambda: image, layout_override), neighbours)

    def readings(
        self,
        page_image: PageImage,
        open_image: Callable[[], LoadedImage],
        layout_override: LayoutOverrideShape | None = None,
        stored: PageRecord | None = None,
    ) -> HalfFolioReadings:
        """The readings of the half-folio of `page_image`, from the `stored` record, or, if it lacks them, from the
        engine and the image, which `open_image` loads whole. `layout_override` is that of a person."""

        def half() -> LoadedImage:
            return half_folio(open_image(), page_image.quadrant, self.columns)

        def layout(part: LoadedImage) -> Layout:
            return page_columns(part.pixels, self.columns, self.rows, _origin(part), layout_override)

        override = json.dumps(layout_override.as_json()) if layout_override else ""
        key = "\x1f".join((cutting_fingerprint(), page_image.quadrant, str(self.columns), str(self.rows), override))
        layout_key = hashlib.sha256(key.encode()).hexdigest()[:16]
        return HalfFolioReadings(
            self.engine, self.rows, half, layout, stored, layout_key, has_override=layout_override is not None
        )

    def judge(
        self,
        page: Page,
        ref: str,
        page_image: PageImage,
        readings: HalfFolioReadings,
        neighbours: Sequence[tuple[int, Page]],
    ) -> PageResult:
        """The result of comparing a page with the readings of its half-folio. `neighbours` are the pages around it, for
        the pairing gate. Raises ImageError."""
        started = time.perf_counter()
        sheet = readings.sheet
        # what is known before the page is judged; every judgement completes it
        empty_result = PageResult(
            page=page.id,
            ref=ref,
            status=Status.CHECKED,
            image=page_image.path,
            image_sha=sheet.sha256,
            image_size=sheet.size,
            image_box=sheet.box,
            skew=sheet.outline.skew,
            notices=(*page_image.notices, *sheet.notices, *self._reading_notices(page_image, sheet)),
        )
        must_be_legible = any(line.cells for line in page.columns) and not readings.has_override
        is_coarse = must_be_legible and sheet.detail < MIN_DETAIL_PX
        if must_be_legible and sheet.inked < MIN_PAGE_INK:
            result = unreadable(empty_result, "page blank", Notice(NoticeCode.IMAGE_BLANK))
        elif is_coarse:
            notice = Notice.of(NoticeCode.TOO_COARSE, number=int(sheet.detail), least=MIN_DETAIL_PX)
            result = unreadable(empty_result, "image too coarse", notice)
        elif sheet.outline.ruled:
            result = self._in_columns(page, readings, empty_result, neighbours, self._reader(page_image, readings))
        else:
            result = self._without_columns(page, page_image, readings, empty_result, neighbours)
        is_pale = any(notice.code is NoticeCode.PAGE_PALE for notice in sheet.notices)
        if is_pale and _shows_no_known_page(result):
            # on an empty pale leaf the contrast of the text that shows through from behind is raised, too
            result = unreadable(empty_result, "page blank", Notice(NoticeCode.IMAGE_BLANK))
        elif not is_coarse and not readings.has_override and self._may_be_an_opening(page_image, result):
            result = self._in_a_half(page, readings, empty_result) or result
        if _shows_no_known_page(result) and sheet.outline.ruled and not is_coarse:
            result = self._reoriented(page, readings, empty_result) or result
        return replace(result, seconds=time.perf_counter() - started)

    def _without_columns(
        self,
        page: Page,
        page_image: PageImage,
        readings: HalfFolioReadings,
        empty_result: PageResult,
        neighbours: Sequence[tuple[int, Page]],
    ) -> PageResult:
        """The result of a page without detected columns, from the turned image if that shows the page, else read line
        by line."""
        turned = self._reoriented(page, readings, empty_result)
        if turned is not None:
            return turned
        name, lines = self._lines(page_image, readings)
        return check_unruled(page, name, lines, readings.sheet, empty_result, self.policy, neighbours, self.threshold)

    def _may_be_an_opening(self, page_image: PageImage, result: PageResult) -> bool:
        """Whether an image may show two pages: it has surplus columns, or shows another page."""
        if page_image.quadrant or isinstance(self.engine, NullEngine):
            return False
        surplus = {COLUMNS_MISSING, LineFault.MISSING}
        return result.status is Status.MISMATCH or any(flag.evidence.reason in surplus for flag in result.flags)

    def _reoriented(self, page: Page, readings: HalfFolioReadings, empty_result: PageResult) -> PageResult | None:
        """The result of a page whose image is turned, or a single finding where it is mirrored; None where no
        orientation of the image shows the page."""
        if isinstance(self.engine, NullEngine) or readings.has_override:
            return None
        for lie in Lie:
            turned = self._turned(readings, lie)
            reader, likeness = self._read_alone_as(page, turned)
            if likeness < MIN_TURNED_PERCENT:
                continue
            if lie is Lie.MIRRORED:
                return unreadable(empty_result, "image mirrored", Notice(TURNED[lie]))
            return self._with_layout_finding(
                page, turned, empty_result, reader, Evidence("image turned", notice=Notice(TURNED[lie]))
            )
        return None

    def _in_a_half(self, page: Page, readings: HalfFolioReadings, empty_result: PageResult) -> PageResult | None:
        """The result of a page in the half of an opening that shows it, better than the whole image does; None where
        neither half does."""
        halves = opening_halves(readings.image.pixels, self.columns) or {}
        likeness_of_whole = self._read_alone_as(page, readings)[1] if halves else 0.0
        for name, half in halves.items():
            place = _origin(readings.image)
            origin = place[0] + half.box.x, place[1] + half.box.y

            def layout(part: LoadedImage, half: Half = half, origin: tuple[float, float] = origin) -> Layout:
                return page_columns(half.pixels, self.columns, self.rows, origin)

            half_readings = readings.with_layout(f"half {name}", layout)
            reader, likeness = self._read_alone_as(page, half_readings)
            if likeness >= max(MIN_HALF_IMAGE_PERCENT, likeness_of_whole):
                evidence = Evidence("image of two pages", notice=Notice(HALVES[name]))
                return self._with_layout_finding(page, half_readings, empty_result, reader, evidence)
        return None

    def _read_alone_as(self, page: Page, readings: HalfFolioReadings) -> tuple[ColumnReader, float]:
        """The reader for a half-folio, and how similar the text that it reads there is to the page, in percent; 0 where
        it reads next to nothing."""
        reader = ColumnReader(readings, self.reading, self.likeness)
        areas = readings.outline.columns if readings.outline.ruled else ()
        read = "".join(reader.read(area, None).read for area in areas)
        return reader, page_shown(read, page, (), self.policy.fold).likeness if len(read) >= MIN_CHARACTERS else 0.0

    def _with_layout_finding(
        self,
        page: Page,
        readings: HalfFolioReadings,
        empty_result: PageResult,
        reader: ColumnReader,
        evidence: Evidence,
    ) -> PageResult:
        """The result of a page in these readings, with a finding (`evidence`) about the layout of the image."""
        result = self._in_columns(page, readings, replace(empty_result, skew=readings.outline.skew), (), reader)
        return replace(result, flags=with_ids([layout_flag(empty_result, 0, None, evidence), *result.flags]))

    def _turned(self, readings: HalfFolioReadings, lie: Lie) -> HalfFolioReadings:
        """The readings of the half-folio with its image turned."""

        def layout(part: LoadedImage) -> Layout:
            turned = reoriented(part.pixels, lie)
            return in_image(page_columns(turned.pixels, self.columns, self.rows), turned, _origin(part))

        return readings.with_layout(lie.value, layout)

    def read_alone(self, page_image: PageImage, readings: HalfFolioReadings) -> tuple[str, ...]:
        """The text of an image, column by column, read without a transcription. Raises ImageError."""
        if not readings.outline.ruled:
            _, lines = self._lines(page_image, readings)
            return tuple(line.text for line in lines.lines)
        reader = self._reader(page_image, readings)
        return tuple(reader.read(area, None).read for area in readings.outline.columns)

    def _reader(self, page_image: PageImage, readings: HalfFolioReadings) -> ColumnReader:
        """The reader of the columns: the engine, or a reading file of other software."""
        if isinstance(self.engine, ExternalEngine):
            return ExternalColumns(readings, self.likeness, self.engine.page_of(page_image.path, readings.sheet.size))
        return ColumnReader(readings, self.reading, self.likeness)

    def _reading_notices(self, page_image: PageImage, sheet: PageSheet) -> tuple[Notice, ...]:
        """The notices about a reading file that other software wrote."""
        return (
            self.engine.page_of(page_image.path, sheet.size).notices if isinstance(self.engine, ExternalEngine) else ()
        )

    def _lines(self, page_image: PageImage, readings: HalfFolioReadings) -> tuple[str, PageReading]:
        """The lines of a page without ruled columns, and the name of the page pipeline that read them."""
        if isinstance(self.engine, ExternalEngine):
            external_page = self.engine.page_of(page_image.path, readings.sheet.size)
            pages = ExternalPages(external_page, self.engine.identity, _origin(readings.sheet))
            return pages.identity.name, pages.read_page(readings.image.pixels)
        return readings.lines(self.fallback)

    def _in_columns(
        self,
        page: Page,
        readings: HalfFolioReadings,
        empty_result: PageResult,
        neighbours: Sequence[tuple[int, Page]],
        reader: ColumnReader,
    ) -> PageResult:
        """The result of a page with detected columns."""
        part, columns, assignment = self._columns_on_image(page, readings, reader)
        page, outline = part.page, part.outline or readings.outline
        paired = page_shown("".join(column.read for column in columns), page, neighbours, self.policy.fold)
        if not paired.fits:
            return mismatch(empty_result, paired)
        columns = [on_its_ink(column, readings) for column in columns]
        legible = Legibility(readings.sheet.detail, readings.sheet.note_detail, readings.glyph_sizes)
        unlike: set[int] = set()
        if any(line.cells for line in page.columns):
            flags, unlike = self._flags(part, columns, assignment, readings, empty_result, legible)
        else:
            flags = untranscribed_page_flags(empty_result, columns)
        checked = [column for number, column in enumerate(columns) if number not in unlike]
        result = replace(
            empty_result,
            characters_checked=sum(legible.reads(cell.row) for column in checked for cell in column.cells),
            columns=tuple(checked_column(outline, column) for column in columns if column.line is not None),
            characters=tuple(checked_characters(outline, columns, self.likeness)),
            flags=linked(
                with_ids(sorted(flags, key=lambda flag: (flag.line, flag.offset))), lines_of(columns), self.policy
            ),
        )
        return in_file_lines(result, page, outline, columns, self.policy) if assignment.parts else result

    def _flags(
        self,
        part: PartOfPage,
        columns: Sequence[ReadColumn],
        assignment: Assignment,
        readings: HalfFolioReadings,
        empty_result: PageResult,
        legible: Legibility,
    ) -> tuple[list[Flag], set[int]]:
        """The flags of a transcribed page, and the indices of the columns that are unlike their lines."""
        page, outline, height = part.page, part.outline or readings.outline, readings.sheet.height
        maybe_figures = [
            column.area for column in columns if not column.cells and column.glyphs and not _is_text(column, self.rows)
        ]
        figure_numbers = readings.figures(maybe_figures)
        figures = [index for index, column in enumerate(columns) if column.area.number in figure_numbers]
        context = PageContext(page.id, empty_result.ref, outline, self.threshold, page.marks_notes)
        flag_maker = self._flag_maker(context, readings, legible)
        flags_of_columns: list[list[Flag]] = []
        for index, column in enumerate(columns):
            column_flags = [] if index in figures else flag_maker.flags(column)
            flags_of_columns.append(
                [flag for flag in column_flags if not is_cut_off(flag, column, outline, height, self.rows)]
            )
        flags, unlike = without_unlike_columns(empty_result, columns, flags_of_columns)
        flags = without_illegible_notes(empty_result, page, flags, legible)
        troubles = tuple(trouble for trouble in assignment.troubles if trouble.column not in figures)
        assignment = replace(assignment, troubles=troubles)
        flags += line_flags(empty_result, page, outline, columns, assignment, self.columns, self.policy)
        flags += figure_flags(empty_result, outline, [columns[index] for index in figures])
        for notice in part.notices:
            flags.append(layout_flag(empty_result, 0, None, Evidence(reason="page in part", notice=notice)))
        return flags, unlike

    def _flag_maker(self, context: PageContext, readings: HalfFolioReadings, legible: Legibility) -> FlagMaker:
        ink = GlyphInk(readings, self.likeness.shapes)
        return FlagMaker(
            context,
            self.policy,
            self.likeness,
            self.likeness.drawn_as,
            self.likeness.self_reading,
            legible,
            ink.form_preference,
            ink.size,
        )

    def _columns_on_image(
        self, page: Page, readings: HalfFolioReadings, reader: ColumnReader
    ) -> tuple[PartOfPage, list[ReadColumn], Assignment]:
        """The part of a page that is on its image, its columns as read, and the assignment of lines to them."""
        part = PartOfPage(page)
        columns, assignment = self._read(page, readings, reader)
        if assignment.parts:  # the ends of running text are free
            return part, columns, assignment
        outline = readings.outline
        cut_part = cut_by_edges(page, outline, columns, readings.sheet.height, self.rows)
        if cut_part is not None:
            part = cut_part
            columns, assignment = self._read(part.page, readings, reader)
        part, assignment = beyond_the_sides(part, outline, columns, assignment)
        return part, columns, assignment

    def _read(
        self, page: Page, readings: HalfFolioReadings, reader: ColumnReader
    ) -> tuple[list[ReadColumn], Assignment]:
        """The lines assigned to columns, and read: in order first, by the text read in the columns where that fails,
        and as running text where the lines are not the columns."""
        areas, text = readings.outline.columns, page.columns
        is_slice = page.running or is_running(
            text, self.rows, sum(readings.has_ink(area, MIN_COLUMN_INK) for area in areas)
        )
        columns: Sequence[ReadColumn] = ()
        if not is_slice or (not page.running and are_mostly_columns(text, self.rows)):
            columns, assignment = self._read_assigned(text, areas, reader)
            is_slice = is_slice and not assignment.parts
        if is_slice:
            bounded = not page.running
            columns, assignment = read_slice(
                text, areas, reader, self.rows, self.reading, bounded=bounded, joined=page.joined
            )
        return [reader.judged(column) for column in columns], assignment

    def _read_assigned(
        self, text: Sequence[Column], areas: Sequence[ColumnArea], reader: ColumnReader
    ) -> tuple[list[ReadColumn], Assignment]:
        assignment = line_assignment.in_order(text, len(areas))
        columns = reader.read_all(areas, assignment.lines)
        may_be_of_other_line = any(column.agreement < MIN_AGREEMENT for column in columns)
        lacks_line = any(column.line is None and column.shows_text for column in columns)
        if not may_be_of_other_line and not lacks_line and not assignment.troubles:
            return columns, assignment
        # what a column reads without its line, unless the line fits
        unaided = [
            column if column.agreement >= MIN_AGREEMENT else reader.read(column.area, None) for column in columns
        ]
        reads = [column.read for column in unaided]
        without_text = {number for number, column in enumerate(unaided) if not column.shows_text}
        assignment_by_text = line_assignment.assign(text, reads, self.reading.policy.fold, without_text)
        if assignment_by_text.lines == assignment.lines:
            return columns, assignment_by_text
        reread = [
            column if line is column.line else reader.read(area, line)
            for column, area, line in zip(columns, areas, assignment_by_text.lines, strict=True)
        ]
        return reread, assignment_by_text


def _is_text(column: ReadColumn, rows: int) -> bool:
    """Whether a column without a line holds text and no figure."""
    return len(column.read) >= MIN_TEXT_COLUMN_SHARE * rows or column.sure_share >= MIN_SURE_SHARE


def _likeness(policy: VariantPolicy, engine: Engine, drawn: DrawnReadings | None) -> WordLikeness:
    if isinstance(engine, ExternalEngine):
        return ExternalLikeness(policy, engine)
    return WordLikeness(policy, engine, drawn)


def _shows_no_known_page(result: PageResult) -> bool:
    """Whether the image shows neither its page nor a neighbour, which its finding would suggest."""
    return result.status is Status.MISMATCH and not result.flags[0].suggested


def _origin(part: LoadedImage | PageSheet) -> tuple[float, float]:
    """The upper left corner of a half-folio in its image file."""
    return (part.box.x, part.box.y) if part.box else (0.0, 0.0)


def half_folio(image: LoadedImage, quadrant: str, columns: int = 8) -> LoadedImage:
    """The image of one half-folio: the whole image, a quadrant of a plate, or a half (a right, b left) of an opening
    whose halves have `columns` columns. Raises ImageError."""
    if not quadrant:
        return image
    boxes = quadrant_boxes(image.pixels)
    if boxes is not None:
        return image.crop(boxes[quadrant])
    halves = opening_halves(image.pixels, columns) if quadrant in "ab" else None
    if halves is None:
        raise ImageError(image.path, NoticeCode.NO_HALVES if quadrant in "ab" else NoticeCode.NO_QUARTERS)
    half = halves[quadrant]
    half.pixels.flags.writeable = False
    return replace(image.crop(half.box), pixels=half.pixels)
