"""Remarks on oddities in text files. `proof.commands.remarks` turns them into sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import unique
from pathlib import Path

from proof.locale.marking import _
from proof.model.notices import MessageCode, Notice, Value

QUOTED_CHARACTERS = 20
"""Maximum number of characters of the file that a remark quotes."""

_PASSED_OVER = _("ignored")
_AS_TEXT = _("read as text")
_AS_PAGE = _("read as a page")
_AS_READ = _("reading continues")
_NOT_TEXT = _("not read as text")
_BY_CHARACTER = _("read character by character")
_NOT_CHECKED = _("not checked")
_ENDS_THERE = _("it ends there")
_WITHOUT_IMAGE = _("read as a page without an image")


@unique
class RemarkCode(MessageCode):
    """The oddities of files that can be read in spite of them, each with how it is read."""

    def __init__(self, sentence: str, done: str) -> None:
        super().__init__(sentence, done=done)

    # page marks
    MARK_UNCLOSED = _("the page mark %(page)s is not closed"), _AS_PAGE
    MARK_MALFORMED = _("this resembles a page mark but is not one: %(text)s"), _("read as text, begins no page")
    MARK_NOT_READ = _("a page mark is where no text is expected: %(text)s"), _("begins no page")
    MARK_WITHOUT_IMAGE = _("the page mark %(page)s names no image"), _WITHOUT_IMAGE
    MARK_WITHOUT_FOLIO = _("the page mark %(page)s names no half-folio such as 10a"), _AS_PAGE
    QUADRANT_IMPOSSIBLE = _("the page mark %(page)s names a quadrant that is none of a, b, c, d"), _WITHOUT_IMAGE
    IMAGE_UNKNOWN = _("the page mark %(page)s names an image, but not in a known form (WYG0103-0192c)"), _AS_PAGE
    PAGE_IMPLIED = (
        _("there is text before the first page mark, which begins the left half of a leaf"),
        _("read as its right half, page %(page)s"),
    )
    PAGE_CONTINUED = (
        _("there is text before the first page mark"),
        _("read as page %(page)s, which the head of the file names"),
    )
    PAGE_AGAIN = _("page %(page)s already began at line %(first)s"), _("its columns continue the numbers from there")
    PAGES_MISSING = _("page %(page)s follows %(before)s: pages missing between them: %(number)s"), _AS_READ
    PAGES_BACK = _("page %(page)s follows %(before)s: the pages go back"), _AS_READ
    NO_PAGES = _("no page mark follows the head"), _("read as a text without pages")
    # lines
    LINES_ON_NO_PAGE = _("lines before the first page mark: %(number)s"), _("they belong to no page and are not read")
    NO_COLUMN = _("page %(page)s has no column"), _("read as an empty page")
    MANY_COLUMNS = _("page %(page)s has %(number)s columns, more than a half-folio: is a page mark missing?"), _AS_READ
    NO_PILCROW = _("a line has no pilcrow, although nearly all lines have one"), _("read as a column")
    DRAWER_OPEN = _("the drawer %(text)s has no :END:"), _AS_TEXT
    ANNOTATION = _("there is a tab after text: %(text)s"), _NOT_TEXT
    HEADING = _("a heading of the outline has no pilcrow: %(text)s"), _NOT_TEXT
    FORME_WORK = _("a running head is marked as such: %(text)s"), _NOT_TEXT
    FORE_EDGE = _("a line is the fore-edge of the print: %(text)s"), _NOT_TEXT
    TEMPLATE_PART = _("the template %(name)s has more than its first part: %(text)s"), _NOT_TEXT
    VARIANT_FORM = _("the markup of variants -{ }- has more than the form that is shown: %(text)s"), _NOT_TEXT
    VARIANTS_OPEN = _("the markup of variants is nested or not closed, expected -{ and }-: %(text)s"), _AS_TEXT
    APPARATUS_UNPLACED = (
        _("line %(place)s of the file: an app names no anchors of the text in from and to: %(text)s"),
        _NOT_TEXT,
    )
    NOTE_OF_APPARATUS = _("a note of the apparatus: %(text)s"), _NOT_TEXT
    # within a column
    NOTES_UNDIVIDED = _("no note has a slash between its half-rows"), _("each is cut in the middle")
    NOTE_NESTED = _("page %(page)s, column %(column)s: a note is within a note"), _("read as part of it")
    NOTE_BEFORE_NEXT = _("page %(page)s, column %(column)s: a note is not closed where the next begins"), _ENDS_THERE
    NOTE_OPEN = _("page %(page)s, column %(column)s: a note is not closed in this column"), _("it ends with the column")
    NOTE_NOT_OPENED = (
        _("page %(page)s, column %(column)s: a note is closed that was not opened in this column"),
        _("its beginning is derived from the length of its half-rows"),
    )
    SLASH_AGAIN = _("page %(page)s, column %(column)s: a note has a second slash"), _PASSED_OVER
    SLASH_OUTSIDE = _("page %(page)s, column %(column)s: a slash is outside a note"), _PASSED_OVER
    PILCROW_WITHIN = _("page %(page)s, column %(column)s: a pilcrow is within the column"), _PASSED_OVER
    INVISIBLE = _("page %(page)s, column %(column)s: %(what)s is invisible"), _PASSED_OVER
    ENTITY_UNKNOWN = _("page %(page)s, column %(column)s: the entity %(what)s is not known"), _BY_CHARACTER
    ENTITY_OPEN = _("page %(page)s, column %(column)s: the entity %(what)s has no end"), _BY_CHARACTER
    ENTITY_FAMILY = (
        _("page %(page)s, column %(column)s: the entity %(what)s is of an unknown family"),
        _("read as one character"),
    )
    DESCRIPTION_INCOMPLETE = (
        _("page %(page)s, column %(column)s: the ideographic description %(what)s is not complete"),
        _BY_CHARACTER,
    )
    COMPOSITION_OPEN = _("page %(page)s, column %(column)s: the bracket of %(what)s is not closed"), _BY_CHARACTER
    SELECTOR_ALONE = (
        _("page %(page)s, column %(column)s: the variation selector %(what)s follows no character"),
        _PASSED_OVER,
    )
    # running editions
    PRIVATE_CHARACTER = _("%(what)s is a private-use character: expected one that Unicode defines"), _AS_TEXT
    BRACKET_NOT_OPENED = _("a note is closed that was not opened: expected 【 before 】"), _PASSED_OVER
    BRACKET_OPEN = _("a note is not closed: expected 】 before the next 【 or the end of the line"), _ENDS_THERE
    SUBCOMMENTARY_OPEN = (
        _("a bracket of [疏] is missing"),
        _("read as [疏] at the beginning of a line, elsewhere as text"),
    )
    SUBCOMMENTARY_ALONE = _("no paragraph of the classic precedes [疏]"), _AS_READ
    FRONT_MATTER_OPEN = (
        _("the front matter has no end: expected a line --- before this line"),
        _("the text begins here"),
    )
    FRONT_MATTER_BROKEN = (
        _("the front matter is broken: expected ---, then lines such as title: 儀禮, then ---"),
        _NOT_TEXT,
    )
    SMALL_NOT_OPENED = _("</small> without <small>: expected the commentary to be opened first"), _PASSED_OVER
    SMALL_NESTED = _("<small> within <small> (line %(first)s): expected </small> first"), _PASSED_OVER
    SMALL_OPEN = (
        _("<small> is not closed: expected </small> before the end of the file"),
        _("the commentary goes to the end"),
    )
    FOOTNOTE_TWICE = _("footnote [^%(label)s] is referred to twice"), _("it belongs to the first place")
    FOOTNOTE_UNUSED = _("nothing refers to footnote [^%(label)s]"), _("it belongs to no place")
    FOOTNOTE_MISSING = _("footnote [^%(label)s] is missing: expected a line that begins [^%(label)s]:"), _PASSED_OVER
    # a text on its images
    ON_NO_IMAGE = _("on no image: %(text)s (characters: %(number)s)"), _NOT_CHECKED
    IMAGES_BEFORE = _("images before the text begins: %(number)s"), _NOT_CHECKED
    IMAGES_AFTER = _("images after the text ends: %(number)s"), _NOT_CHECKED


OF_SEQUENCE = frozenset({RemarkCode.PAGES_MISSING, RemarkCode.PAGES_BACK})
"""Remarks that a check replaces by its own, which are based on folios and images together."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem within a column. `what` are the affected characters, if any."""

    code: RemarkCode
    what: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark about a line of the file at `path`, counted from 1; 0 for the file as a whole."""

    path: Path
    line: int
    notice: Notice

    @classmethod
    def of(cls, path: Path, line: int, code: RemarkCode, **values: Value) -> Remark:
        return cls(path, line, Notice.of(code, **values))


def quotation(text: str) -> str:
    """The beginning of a text of the file, as a remark quotes it."""
    return text[:QUOTED_CHARACTERS]


class Remarks(list[Remark]):
    """The remarks on the file at `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def add(self, line: int, code: RemarkCode, **values: Value) -> None:
        """Add a remark about a line of the file, counted from 1."""
        self.append(Remark.of(self.path, line, code, **values))

    def add_notices(self, notices: Iterable[tuple[int, Notice]]) -> None:
        """Add notices with their lines: those of the reader that extracted the text."""
        self += (Remark(self.path, line, notice) for line, notice in notices)

    def by_line(self) -> tuple[Remark, ...]:
        """The remarks in the order of their lines."""
        return tuple(sorted(self, key=lambda remark: remark.line))
