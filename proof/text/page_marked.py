"""Reading files with page marks: their lines become pages and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proof.text import kanripo
from proof.text.column import SPAN, ColumnSpans, faults_of
from proof.text.encoding import Decoded
from proof.text.lines import lines
from proof.text.model import Page
from proof.text.page_remarks import add_page_remarks
from proof.text.pages import LineKind, PageMark, SourceLine
from proof.text.remarks import RemarkCode, Remarks, quotation
from proof.text.script import script_of
from proof.text.transcription import Format, Transcription, apparatus_notes
from proof.text.undivided_notes import divide_notes, notes_are_undivided


def parse_page_marked(decoded: Decoded, path: Path, form: Format) -> Transcription:
    """Parse a decoded file in the format `form`, or in the other page-marked format if its first page mark is of that
    one. A file with nothing but a head, such as juan `000` of some works, has no pages."""
    remarks = Remarks(path)
    gatherer = _Gatherer(decoded.text, remarks)
    pages = gatherer.pages(decoded.extraction.images if decoded.extraction is not None else {})
    if decoded.extraction is not None:
        if not decoded.extraction.own_marks:
            remarks.clear()  # the page marks are not in the file itself
        remarks.add_notices(decoded.extraction.remarks)
    if not pages:
        remarks.add(1, RemarkCode.NO_PAGES)
    if notes_are_undivided(pages):
        pages = divide_notes(pages)
        remarks.add(pages[0].file_line, RemarkCode.NOTES_UNDIVIDED)
    pilcrows = gatherer.format is Format.KANRIPO and not gatherer.base_lines
    add_page_remarks(remarks, pages, decoded.text, pilcrows=pilcrows)
    return Transcription(
        path=path,
        format=gatherer.format or form,
        script=script_of(column.source for page in pages for column in page.columns),
        decoded=decoded,
        title=gatherer.properties.get("TITLE", ""),
        work=gatherer.properties.get("ID", ""),
        pages=pages,
        footnotes=apparatus_notes(decoded),
        remarks=remarks.by_line(),
    )


@dataclass(slots=True)
class _OpenPage:
    """A page while its columns are collected. `starts` are the places of its marks; `spans` has a `SPAN` for each
    column."""

    mark: PageMark
    juan: str
    file_line: int
    starts: list[int]
    spans: bytearray = field(default_factory=bytearray)

    def closed(self, text: str, images: Mapping[int, str], *, marks_notes: bool) -> Page:
        """The finished page, whose columns are slices of `text`. `images` are the files that the text names, by the
        places of the marks. `marks_notes` as of `Page`."""
        mark, columns, starts = self.mark, ColumnSpans(text, bytes(self.spans)), tuple(self.starts)
        image = next((images[start] for start in starts if start in images), "")
        return Page(
            mark.id,
            mark.folio,
            mark.ref,
            self.juan,
            self.file_line,
            columns,
            starts=starts,
            image=image,
            marks_notes=marks_notes,
        )


@dataclass(slots=True)
class _Gatherer:
    """Collects the pages of a file line by line, with remarks on the problems of their columns.

    `base_lines`: pilcrows end lines of the base edition. `next_juan_name` is the name of a juan in the head of the
    file, until a page mark gives its number; `juan_names` maps these numbers to the names. `before` are the numbers of
    the lines before the first page mark; `note_open`: the last column leaves a note open; `marks_notes`: a column has
    a note."""

    text: str
    remarks: Remarks
    base_lines: bool = False
    format: Format | None = None
    properties: dict[str, str] = field(default_factory=dict)
    next_juan_name: str = ""
    juan_names: dict[str, str] = field(default_factory=dict)
    opened: dict[str, _OpenPage] = field(default_factory=dict)
    current: _OpenPage | None = None
    note_open: bool = False
    marks_notes: bool = False
    before: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.base_lines = kanripo.keeps_base_lines(self.text)
        for line in lines(self.text):
            self.take(line)

    def take(self, line: SourceLine) -> None:
        is_annotation_of_head = self.current is None and line.fault is RemarkCode.ANNOTATION
        if line.fault is not None and not is_annotation_of_head:
            self.remarks.add(line.number, line.fault, text=quotation(line.source.strip()))
        if line.kind is LineKind.COLUMN and self.current is not None:
            self.add_column(line, self.current)
        elif line.kind is LineKind.MARK and line.mark is not None:
            if self.format is None:  # the first page mark decides; only the mirror may have lines before it
                self.format = line.format
                if self.before and self.format is not Format.MIRROR:
                    self.remarks.add(self.before[0], RemarkCode.LINES_ON_NO_PAGE, number=len(self.before))
            self.begin_page(line, line.mark)
        elif line.kind is LineKind.COMMENT:
            name, value = kanripo.header_property(line.source) or ("", "")
            if name == "JUAN":
                self.next_juan_name = value
            elif value:
                self.properties.setdefault(name, value)
        elif line.kind is LineKind.BEFORE and line.source.strip("¶ \u3000"):
            self.before.append(line.number)

    def begin_page(self, line: SourceLine, mark: PageMark) -> None:
        if mark.work:
            self.properties.setdefault("ID", mark.work)
        if mark.fault is not None:
            self.remarks.add(line.number, mark.fault, page=mark.id)
        if self.next_juan_name:
            self.juan_names[mark.juan], self.next_juan_name = self.next_juan_name, ""
        page = self.opened.get(mark.id)
        if page is None:
            page = _OpenPage(mark, self.juan_names.get(mark.juan, mark.juan), line.number, [line.start])
            self.opened[mark.id] = page
        else:
            page.starts.append(line.start)
            self.remarks.add(line.number, RemarkCode.PAGE_AGAIN, page=mark.id, first=page.file_line)
        self.current = page

    def add_column(self, line: SourceLine, page: _OpenPage) -> None:
        page.spans += SPAN.pack(line.start, len(line.source), line.number, self.note_open)
        self.marks_notes |= "(" in line.source
        number = len(page.spans) // SPAN.size
        problems, self.note_open = faults_of(line.source, self.note_open)
        for problem in problems:
            if problem.code is not RemarkCode.PILCROW_WITHIN or not self.base_lines:
                self.remarks.add(line.number, problem.code, page=page.mark.id, column=number, what=problem.what)

    def pages(self, images: Mapping[int, str]) -> tuple[Page, ...]:
        pages = self.opened.values()
        return tuple(page.closed(self.text, images, marks_notes=self.marks_notes) for page in pages)
