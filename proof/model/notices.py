"""Notices: remarks as codes with values. `proof.locale.notices` makes sentences of them in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Union

Value = Union[str, int, float, "Notice"]


class NoticeCode(StrEnum):
    """Codes of the remarks about images, pages and runs."""

    AS_TOLD = "as-told"  # an error in its own words: see `Notice.of_error`
    # image files and lists
    INVERTED = "inverted"
    SEVERAL_FILES = "several-files"
    LISTED_TWICE = "listed-twice"
    PAGES_IN_SEVERAL_TEXTS = "pages-in-several-texts"
    IMAGES_IN_SEVERAL_PLACES = "images-in-several-places"
    PDF_OTHER_LENGTH = "pdf-other-length"
    NO_IMAGES_IN = "no-images-in"
    IMAGES_OF_NO_PAGE = "images-of-no-page"
    IMAGES_LEFT_OVER = "images-left-over"
    LIST_NOT_UNDERSTOOD = "list-not-understood"
    LISTED_FILES_MISSING = "listed-files-missing"
    FOLDER_UNREADABLE = "folder-unreadable"
    LINK_OUTWARD = "link-outward"
    LINK_BROKEN = "link-broken"
    # sources of images
    EDITION_WITHOUT_ADDRESS = "edition-without-address"
    FILE_WITHOUT_EDITION = "file-without-edition"
    CANVAS_EMPTY = "canvas-empty"
    CANVAS_SEVERAL = "canvas-several"
    COLLECTION_WITHIN = "collection-within"
    # readings by other software
    SEVERAL_READINGS = "several-readings"
    LINE_WITHOUT_PLACE = "line-without-place"
    # layout
    NOT_RULED = "not-ruled"
    LEVEL_LINES = "level-lines"
    READ_BY_PAGE_PIPELINE = "read-by-page-pipeline"
    PAGE_ASKEW = "page-askew"
    PAGE_AT_AN_ANGLE = "page-at-an-angle"
    PAGE_NOT_FLAT = "page-not-flat"
    PAGE_CURVED = "page-curved"
    PAGE_IN_SHADE = "page-in-shade"
    PAGE_PALE = "page-pale"
    TOP_CUT_OFF = "top-cut-off"
    BOTTOM_CUT_OFF = "bottom-cut-off"
    UPPER_REGISTER_MISSING = "upper-register-missing"
    LOWER_REGISTER_MISSING = "lower-register-missing"
    LEFT_HALF_MISSING = "left-half-missing"
    RIGHT_HALF_MISSING = "right-half-missing"
    LEFT_COLUMNS_MISSING = "left-columns-missing"
    RIGHT_COLUMNS_MISSING = "right-columns-missing"
    TOO_COARSE = "too-coarse"
    NOTES_TOO_SMALL = "notes-too-small"
    # ink
    ROOM = "room"
    PART_OF_CELL = "part-of-cell"
    INK_UNREAD = "ink-unread"
    LIKER_AS_DRAWN = "liker-as-drawn"
    # places of a line
    FOR_EITHER = "for-either"
    # pairing of images and pages
    HARDLY_READ = "hardly-read"
    IMAGE_BLANK = "image-blank"
    IMAGE_MIRRORED = "image-mirrored"
    UPSIDE_DOWN = "upside-down"
    ON_RIGHT_SIDE = "on-right-side"
    ON_LEFT_SIDE = "on-left-side"
    IN_RIGHT_HALF = "in-right-half"
    IN_LEFT_HALF = "in-left-half"
    COLUMNS_BESIDE = "columns-beside"
    COLUMNS_NOT_SHOWN = "columns-not-shown"
    COLUMNS_UNLIKE = "columns-unlike"
    NOT_IN_COLUMNS = "not-in-columns"
    CARRIES_LATER = "carries-later"
    CARRIES_EARLIER = "carries-earlier"
    CARRIES_OTHER = "carries-other"
    # the sequence of pages
    SEQUENCE = "sequence"
    UNNUMBERED = "unnumbered"
    JUAN_BACK = "juan-back"
    JUAN_ON_SAME_IMAGE = "juan-on-same-image"
    VOLUME_WITHIN_JUAN = "volume-within-juan"
    SAME_PAGE = "same-page"
    HALF_FOLIOS_MISSING = "half-folios-missing"
    PAGES_BACK = "pages-back"
    FOLIO_STAYS = "folio-stays"
    IMAGE_STAYS = "image-stays"
    UNEQUAL_STEPS = "unequal-steps"
    # image files that cannot be used
    PART_OUTSIDE = "part-outside"
    NO_MEMORY_TO_DECODE = "no-memory-to-decode"
    IMAGE_DAMAGED = "image-damaged"
    HEADER_DAMAGED = "header-damaged"
    FILE_UNREADABLE = "file-unreadable"
    FILE_MISSING = "file-missing"
    FILE_IS_FOLDER = "file-is-folder"
    FILE_IRREGULAR = "file-irregular"
    FILE_EMPTY = "file-empty"
    FILE_TOO_LARGE = "file-too-large"
    IMAGE_BOMB = "image-bomb"
    IMAGE_UNKNOWN_KIND = "image-unknown-kind"
    IMAGE_TOO_LARGE = "image-too-large"
    SEVERAL_FRAMES = "several-frames"
    IMAGE_TOO_SMALL = "image-too-small"
    PDF_PAGE_MISSING = "pdf-page-missing"
    PDF_PAGE_TOO_LARGE = "pdf-page-too-large"
    PDF_UNDRAWABLE = "pdf-undrawable"
    PDF_LOCKED = "pdf-locked"
    PDF_DAMAGED = "pdf-damaged"
    NO_HALVES = "no-halves"
    NO_QUARTERS = "no-quarters"
    # pages that failed
    NO_MEMORY = "no-memory"
    CHECK_BROKE = "check-broke"
    WORKERS_DIED = "workers-died"
    ASSIGNED_GONE = "assigned-gone"


@dataclass(frozen=True, slots=True)
class Notice:
    """A remark. `values` are the named values of its sentence; a value may be a notice."""

    code: NoticeCode
    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, code: NoticeCode, **values: Value) -> Notice:
        return cls(code, tuple(values.items()))

    @classmethod
    def of_error(cls, error: BaseException) -> Notice:
        """The notice of an error if it has one (`ImageError`), else its own words."""
        notice = getattr(error, "notice", None)
        return notice if isinstance(notice, Notice) else cls.of(NoticeCode.AS_TOLD, text=str(error))

    def as_json(self) -> dict[str, Any]:
        """The notice for JSON."""
        values = {name: value.as_json() if isinstance(value, Notice) else value for name, value in self.values}
        return {"code": self.code.value, "values": values}

    @classmethod
    def of_json(cls, parts: Mapping[str, Any]) -> Notice:
        """The notice that `as_json` made."""
        values = {name: cls.of_json(v) if isinstance(v, Mapping) else v for name, v in parts["values"].items()}
        return cls.of(NoticeCode(parts["code"]), **values)
