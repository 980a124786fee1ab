"""What a reader remarks about a file: a code with values at a line. Sentences are made of them where they are shown
(`proof.report.remarks`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

Value = str | int


class Code(StrEnum):
    """What can be odd about a file that is read all the same."""

    # page marks
    MARK_UNCLOSED = "mark-unclosed"
    MARK_MALFORMED = "mark-malformed"
    MARK_NOT_READ = "mark-not-read"
    MARK_WITHOUT_IMAGE = "mark-without-image"
    MARK_WITHOUT_FOLIO = "mark-without-folio"
    QUADRANT_IMPOSSIBLE = "quadrant-impossible"
    IMAGE_UNKNOWN = "image-unknown"
    PAGE_IMPLIED = "page-implied"
    PAGE_CONTINUED = "page-continued"
    PAGE_AGAIN = "page-again"
    PAGES_MISSING = "pages-missing"
    PAGES_BACK = "pages-back"
    NO_PAGES = "no-pages"
    # lines
    LINES_ON_NO_PAGE = "lines-on-no-page"
    NO_COLUMN = "no-column"
    MANY_COLUMNS = "many-columns"
    NO_PILCROW = "no-pilcrow"
    DRAWER_OPEN = "drawer-open"
    ANNOTATION = "annotation"
    HEADING = "heading"
    FORME_WORK = "forme-work"
    FORE_EDGE = "fore-edge"
    TEMPLATE_PART = "template-part"
    NOTE_OF_APPARATUS = "note-of-apparatus"
    # within a column
    NOTES_UNDIVIDED = "notes-undivided"
    NOTE_NESTED = "note-nested"
    NOTE_BEFORE_NEXT = "note-before-next"
    NOTE_OPEN = "note-open"
    NOTE_NOT_OPENED = "note-not-opened"
    SLASH_AGAIN = "slash-again"
    SLASH_OUTSIDE = "slash-outside"
    PILCROW_WITHIN = "pilcrow-within"
    INVISIBLE = "invisible"
    ENTITY_UNKNOWN = "entity-unknown"
    ENTITY_OPEN = "entity-open"
    ENTITY_FAMILY = "entity-family"
    DESCRIPTION_INCOMPLETE = "description-incomplete"
    COMPOSITION_OPEN = "composition-open"
    SELECTOR_ALONE = "selector-alone"
    # running editions
    PRIVATE_CHARACTER = "private-character"
    BRACKET_NOT_OPENED = "bracket-not-opened"
    BRACKET_OPEN = "bracket-open"
    SUBCOMMENTARY_OPEN = "subcommentary-open"
    SUBCOMMENTARY_ALONE = "subcommentary-alone"
    FRONT_MATTER_OPEN = "front-matter-open"
    FRONT_MATTER_BROKEN = "front-matter-broken"
    SMALL_NOT_OPENED = "small-not-opened"
    SMALL_NESTED = "small-nested"
    SMALL_OPEN = "small-open"
    FOOTNOTE_TWICE = "footnote-twice"
    FOOTNOTE_UNUSED = "footnote-unused"
    FOOTNOTE_MISSING = "footnote-missing"
    # a text on its images
    ON_NO_IMAGE = "on-no-image"
    IMAGES_BEFORE = "images-before"
    IMAGES_AFTER = "images-after"


OF_SEQUENCE = frozenset({Code.PAGES_MISSING, Code.PAGES_BACK})
"""What a check finds itself, from folios and images together."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong within a column; `what` are the characters that it is about, where it is about some."""

    code: Code
    what: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark about a line of the file at `path`, counted from 1; 0 where it is about the file as a whole.

    `values` are what its sentence names, each with its name.
    """

    path: Path
    line: int
    code: Code
    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, path: Path, line: int, code: Code, **values: Value) -> Remark:
        return cls(path, line, code, tuple(values.items()))
