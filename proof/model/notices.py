"""Notices: messages about images, texts, pages and runs. Each is a code with values; `proof.locale.notices` translates
the sentence of the code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any, Union

from proof.locale.marking import Sentence, _

Value = Union[str, int, float, "Notice"]


class MessageCode(Enum):
    """A code of notices with its `sentence`, which has placeholders for the values of a notice. The `singular` is used
    instead if the value `number` is 1. `done` says what the program did about it. The last two may be empty."""

    def __init__(self, sentence: str, singular: str = "", done: str = "") -> None:
        self.sentence, self.singular, self.done = sentence, singular, done

    @property
    def code(self) -> str:
        """The code in JSON and in the store."""
        return self.name.lower().replace("_", "-")


@unique
class NoticeCode(MessageCode):
    """Codes of notices about images, pages and runs, which are stored and reported."""

    # the message of an error without a notice: see `Notice.of_error`
    AS_TOLD = "%(text)s"
    # image files and lists
    INVERTED = _("light characters on a dark ground: the image was inverted")
    SEVERAL_FILES = _("several files match: %(file)s is used, not %(others)s")
    LISTED_TWICE = _("%(where)s: %(page)s is listed twice with different files; the one of line %(first)s is used")
    PAGES_IN_SEVERAL_TEXTS = (
        _(
            "%(number)s pages are in several texts, such as %(page)s in %(one)s and in %(other)s: each is "
            "checked separately; if this is not intended, remove one of the texts from project.texts"
        ),
        _(
            "%(page)s is in %(one)s and in %(other)s: each is checked separately; if this is not intended, "
            "remove one of the texts from project.texts"
        ),
    )
    IMAGES_IN_SEVERAL_PLACES = (
        _("for %(number)s pages several images match: of one, %(file)s is used, not %(others)s"),
        _("for one page several images match: %(file)s is used, not %(others)s"),
    )
    PDF_OTHER_LENGTH = _(
        "%(file)s has %(pages)s pages, the text of that name %(expected)s: say in an image list which page shows "
        "which half-folio (001-1a00, WYG 001-1a, %(file)s#3, separated by tabs)"
    )
    NO_IMAGES_IN = _("%(folder)s contains no image (PNG, JPEG, TIFF, WebP, JPEG 2000, GIF, BMP or PDF)")
    IMAGES_OF_NO_PAGE = (
        _(
            "%(number)s images in %(folder)s belong to no page: call each as its page is called (%(example)s), name "
            "them in an image list, or match them by hand with `proof pair`"
        ),
        _(
            "one image in %(folder)s belongs to no page: call it as its page is called (%(example)s), name it in an "
            "image list, or match it by hand with `proof pair`"
        ),
    )
    IMAGES_LEFT_OVER = (
        _("%(number)s images in %(folder)s belong to none of these pages; `proof pair` lists them"),
        _("one image in %(folder)s belongs to none of these pages; `proof pair` lists it"),
    )
    LIST_NOT_UNDERSTOOD = _(
        "%(path)s: no line understood: a line of an image list has the place, the edition's page and the file, "
        "separated by tabs (010-1a00, WYG 010-1a, WYG/0192c.png)"
    )
    LISTED_FILES_MISSING = (
        _(
            "%(path)s names %(number)s images of these pages, such as %(file)s, and none of them is in the image "
            "folders"
        ),
        _("%(path)s names %(file)s for one of these pages, which is in none of the image folders"),
    )
    FOLDER_UNREADABLE = _("%(path)s: the folder cannot be read (%(error)s)")
    LINK_OUTWARD = _("%(path)s: a link out of the image folders, to %(target)s: skipped")
    LINK_BROKEN = _("%(path)s: cannot be followed (%(error)s): skipped")
    # sources of images
    EDITION_WITHOUT_ADDRESS = _("%(where)s: %(info)s has no address for edition %(edition)s; it has %(known)s")
    FILE_WITHOUT_EDITION = _("%(where)s: %(info)s has no address for a file without an edition; it has %(known)s")
    CANVAS_EMPTY = _("%(canvas)s shows no image")
    CANVAS_SEVERAL = _("%(canvas)s shows %(number)s images; the one that covers it is taken")
    COLLECTION_WITHIN = _("%(address)s: a collection within the collection is not followed; name it itself")
    # readings by other software
    SEVERAL_READINGS = _("several readings match: %(file)s is used, not %(others)s")
    LINE_WITHOUT_PLACE = _("%(where)s: the line has no %(what)s and is skipped")
    # layout
    NOT_RULED = _("no ruled columns were found")
    LEVEL_LINES = (
        _("%(number)s level lines across the columns (a table or registers)"),
        _("%(number)s level line across the columns (a table or registers)"),
    )
    READ_BY_PAGE_PIPELINE = _("%(why)s; read by the page pipeline of %(engine)s")
    PAGE_ASKEW = _("the page is tilted by %(degrees)s degrees: it was straightened and read")
    PAGE_AT_AN_ANGLE = _("the page was photographed at an angle: its perspective was corrected, and it was read")
    PAGE_NOT_FLAT = _(
        "the page does not lie flat: it was photographed at an angle or is curved, and was flattened and read"
    )
    PAGE_CURVED = _("the page is curved: it was flattened and read")
    PAGE_IN_SHADE = _("the page is shaded: it was brightened and read")
    PAGE_PALE = _("the page is very pale: its ink was strengthened and it was read")
    TOP_CUT_OFF = (
        _("the top of the page is cut off: some %(number)s characters of each column are not on this image"),
        _("the top of the page is cut off: about one character of each column is not on this image"),
    )
    BOTTOM_CUT_OFF = (
        _("the bottom of the page is cut off: some %(number)s characters of each column are not on this image"),
        _("the bottom of the page is cut off: about one character of each column is not on this image"),
    )
    UPPER_REGISTER_MISSING = _("the upper register of the page is not on this image: %(number)s of its %(of)s columns")
    LOWER_REGISTER_MISSING = _("the lower register of the page is not on this image: %(number)s of its %(of)s columns")
    LEFT_HALF_MISSING = _("the left half of the page is not on this image: %(number)s of its %(of)s columns")
    RIGHT_HALF_MISSING = _("the right half of the page is not on this image: %(number)s of its %(of)s columns")
    LEFT_COLUMNS_MISSING = (
        _("the left side of the page is not on this image: %(number)s of its %(of)s columns"),
        _("the left side of the page is not on this image: one of its %(of)s columns"),
    )
    RIGHT_COLUMNS_MISSING = (
        _("the right side of the page is not on this image: %(number)s of its %(of)s columns"),
        _("the right side of the page is not on this image: one of its %(of)s columns"),
    )
    TOO_COARSE = _(
        "this image is too coarse or out of focus: a character shows what %(number)s pixels of height hold, and "
        "needs %(least)s; use a sharper scan"
    )
    NOTES_TOO_SMALL = _(
        "the notes on this image are too small to be read: a character of them shows what %(number)s pixels of "
        "height hold, and needs %(least)s; the main text was checked, for the notes use a finer scan"
    )
    # ink
    ROOM = _("room for %(number)s characters")
    PART_OF_CELL = _("%(number)s of a cell")
    INK_UNREAD = _("ink that the engine did not read")  # of flags that earlier checks made
    LIKER_AS_DRAWN = _("more like %(text)s as fonts draw it")
    # pairing of images and pages
    HARDLY_READ = _("hardly anything can be read on this image")
    IMAGE_BLANK = _("this image is blank: name the image that carries this page")
    IMAGE_MIRRORED = _("this image is mirrored: turn it over and check the page again")
    UPSIDE_DOWN = _("upside down")
    ON_RIGHT_SIDE = _("on its right side")
    ON_LEFT_SIDE = _("on its left side")
    IN_RIGHT_HALF = _("it is in the right half")
    IN_LEFT_HALF = _("it is in the left half")
    COLUMNS_BESIDE = _(
        "%(number)s columns: the image shows another page as well, or the text of this one is incomplete"
    )
    COLUMNS_NOT_SHOWN = _(
        "%(number)s columns, of which nothing was found (%(which)s): check in the page view whether they are "
        "on the image, and correct its columns there"
    )
    COLUMNS_UNLIKE = _(
        "%(number)s columns (%(which)s): they were found wrongly, or their text is another; set the columns of "
        "this page right in the page view"
    )
    NOT_IN_COLUMNS = _(
        "no columns were found on this image, and what was read line by line differs from the text at "
        "%(number)s of %(of)s characters: set its columns in the page view, or check this page by eye"
    )
    CARRIES_LATER = (
        _("this image carries %(page)s, %(number)s pages on"),
        _("this image carries %(page)s, one page on"),
    )
    CARRIES_EARLIER = (
        _("this image carries %(page)s, %(number)s pages back"),
        _("this image carries %(page)s, one page back"),
    )
    CARRIES_OTHER = _("this image carries none of the pages around this one")
    # the sequence of pages
    SEQUENCE = _("after %(one)s comes %(other)s: %(what)s")
    UNNUMBERED = _("a page without number")
    JUAN_BACK = _("a juan starts, but the images go back")
    JUAN_ON_SAME_IMAGE = _("a juan starts on the image of the page before")
    VOLUME_WITHIN_JUAN = _("the images change volume, or from quadrants to plates, within a juan")
    SAME_PAGE = _("the same page twice")
    HALF_FOLIOS_MISSING = (
        _("%(number)s half-folios are missing between them"),
        _("one half-folio is missing between them"),
    )
    PAGES_BACK = _("the pages go back by %(number)s")
    FOLIO_STAYS = _("the folio stays while the images advance by %(number)s")
    IMAGE_STAYS = _("one image for two pages, the folios advance by %(number)s")
    UNEQUAL_STEPS = _("the folios advance by %(folios)s, the images by %(images)s")
    # image files that cannot be used
    PART_OUTSIDE = _("%(path)s: the part %(part)s is outside the image of %(width)s x %(height)s pixels")
    NO_MEMORY_TO_DECODE = _("%(path)s: there is not enough memory to decode it; set a lower images.max_megapixels")
    IMAGE_DAMAGED = _("%(path)s: is cut short or damaged; fetch or export the file again")
    HEADER_DAMAGED = _("%(path)s: is cut short or damaged: its header cannot be read; fetch or export the file again")
    FILE_UNREADABLE = _("%(path)s: cannot be read (%(error)s)")
    FILE_MISSING = _("%(path)s: there is no such file")
    FILE_IS_FOLDER = _("%(path)s: is a folder: name its files, such as %(path)s/*.png")
    FILE_IRREGULAR = _("%(path)s: is not a regular file")
    FILE_EMPTY = _("%(path)s: is empty; fetch or export the file again")
    FILE_TOO_LARGE = _(
        "%(path)s: has %(size)s MB, more than any image of %(limit)s megapixels; scale it down or raise "
        "images.max_megapixels"
    )
    IMAGE_BOMB = _("%(path)s: has more than %(limit)s megapixels; scale it down")
    IMAGE_UNKNOWN_KIND = _(
        "%(path)s: is not an image of a known kind; convert it to PNG, JPEG, TIFF, WebP, JPEG 2000, GIF or BMP"
    )
    IMAGE_TOO_LARGE = _(
        "%(path)s: has %(width)s x %(height)s pixels, that is %(size)s megapixels; the limit is %(limit)s: scale "
        "it down or raise images.max_megapixels"
    )
    SEVERAL_FRAMES = _("%(path)s: contains %(frames)s frames; save the one of this page as a separate file")
    IMAGE_TOO_SMALL = _(
        "%(path)s: has only %(width)s x %(height)s pixels; a page needs at least %(least)s a side: use a larger scan"
    )
    PDF_PAGE_MISSING = _("%(path)s: there is no such page: the PDF has %(pages)s, counted from 1")
    PDF_PAGE_TOO_LARGE = _(
        "%(path)s: has %(width)s x %(height)s pixels; the limit is %(limit)s megapixels: scale it down or raise "
        "images.max_megapixels"
    )
    PDF_UNDRAWABLE = _("%(path)s: cannot be drawn (%(error)s); export the PDF again")
    PDF_LOCKED = _("%(path)s: asks for a password; save it without one")
    PDF_DAMAGED = _("%(path)s: is not a PDF, or is damaged (%(error)s); export or fetch it again")
    NO_HALVES = _(
        "%(path)s: no plate of four half-folios and no opening of two was found here; give a file for each "
        "half-folio instead"
    )
    NO_QUARTERS = _("%(path)s: no plate of four half-folios was found here; give a file for each half-folio instead")
    # pages that failed
    NO_MEMORY = _("there is not enough memory for this page")
    CHECK_BROKE = _("%(path)s: a fault of the program stopped the check of this page (%(error)s); please report it")
    WORKERS_DIED = _(
        "%(number)s workers of the cluster died while they checked this page; check it on one machine to see why"
    )
    ASSIGNED_GONE = _("%(image)s: this image was assigned by %(person)s and is in no image folder now; assign another")


@dataclass(frozen=True, slots=True)
class Notice:
    """A message. `values` fill the placeholders of its sentence, by name; a value may be a notice itself."""

    code: MessageCode
    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, code: MessageCode, **values: Value) -> Notice:
        return cls(code, tuple(values.items()))

    @property
    def message(self) -> str:
        """The message id in the catalogues: the sentence of the code, or its singular, in English and without
        values."""
        is_singular = self.code.singular and dict(self.values).get("number") == 1
        return self.code.singular if is_singular else self.code.sentence

    @classmethod
    def of_error(cls, error: BaseException) -> Notice:
        """The notice of an error (`ImageError`), or else one that quotes its message."""
        notice = getattr(error, "notice", None)
        return notice if isinstance(notice, Notice) else cls.of(NoticeCode.AS_TOLD, text=Sentence.of(error))

    def as_json(self) -> dict[str, Any]:
        """The notice as a JSON object, which `of_json` reads."""
        values = {name: value.as_json() if isinstance(value, Notice) else value for name, value in self.values}
        return {"code": self.code.code, "values": values}

    @classmethod
    def of_json(cls, parts: Mapping[str, Any]) -> Notice:
        """The notice from a JSON object that `as_json` made."""
        values = {
            name: cls.of_json(value) if isinstance(value, Mapping) else value for name, value in parts["values"].items()
        }
        return cls.of(NoticeCode[parts["code"].upper().replace("-", "_")], **values)
