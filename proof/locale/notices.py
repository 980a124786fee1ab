"""Notices as sentences, in the reader's language: the one table of what each code says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proof.locale.marking import Say, _
from proof.model.notices import Notice, NoticeCode


@dataclass(frozen=True, slots=True)
class NoticeSentence:
    """What a code says, with the values of the notice; `one` is said instead where the value `number` is 1."""

    many: str
    one: str = ""

    def of(self, values: Mapping[str, object]) -> str:
        """The message of the catalogues for these values."""
        return self.one if self.one and values.get("number") == 1 else self.many


_S = NoticeSentence

NOTICES: Mapping[NoticeCode, NoticeSentence] = {
    NoticeCode.AS_TOLD: _S("%(text)s"),
    NoticeCode.INVERTED: _S(_("light characters on a dark ground: the image was inverted")),
    NoticeCode.SEVERAL_FILES: _S(_("several files would do: %(file)s is used, not %(others)s")),
    NoticeCode.LISTED_TWICE: _S(
        _("%(where)s: %(page)s is listed twice with different files; the one of line %(first)s is used")
    ),
    NoticeCode.PAGES_IN_SEVERAL_TEXTS: _S(
        _(
            "%(number)s pages stand in several texts, such as %(page)s in %(one)s and in %(other)s: each is checked by "
            "itself; if that is not meant, take one of the texts out of project.texts"
        ),
        _(
            "%(page)s stands in %(one)s and in %(other)s: each is checked by itself; if that is not meant, take one of "
            "the texts out of project.texts"
        ),
    ),
    NoticeCode.IMAGES_IN_SEVERAL_PLACES: _S(
        _("for %(number)s pages several images would do: of one, %(file)s is used, not %(others)s"),
        _("for one page several images would do: %(file)s is used, not %(others)s"),
    ),
    NoticeCode.PDF_OTHER_LENGTH: _S(
        _(
            "%(file)s has %(pages)s pages, the text of that name %(expected)s: say in an image list which page shows "
            "which half-folio (001-1a00, WYG 001-1a, %(file)s#3, separated by tabs)"
        )
    ),
    NoticeCode.NO_IMAGES_IN: _S(_("%(folder)s holds no image (PNG, JPEG, TIFF, WebP, JPEG 2000, GIF, BMP or PDF)")),
    NoticeCode.IMAGES_OF_NO_PAGE: _S(
        _(
            "%(number)s images in %(folder)s belong to no page: call each as its page is called (%(example)s), name "
            "them in an image list, or match them by hand with `proof pair`"
        ),
        _(
            "one image in %(folder)s belongs to no page: call it as its page is called (%(example)s), name it in an "
            "image list, or match it by hand with `proof pair`"
        ),
    ),
    NoticeCode.IMAGES_LEFT_OVER: _S(
        _("%(number)s images in %(folder)s belong to none of these pages"),
        _("one image in %(folder)s belongs to none of these pages"),
    ),
    NoticeCode.LIST_NOT_UNDERSTOOD: _S(
        _(
            "%(path)s: no line understood: a line of an image list has the place, the edition's page and the file, "
            "separated by tabs (010-1a00, WYG 010-1a, WYG/0192c.png)"
        )
    ),
    NoticeCode.LISTED_FILES_MISSING: _S(
        _("%(path)s names %(number)s images of these pages, such as %(file)s, and none lies in the image folders"),
        _("%(path)s names %(file)s for one of these pages, which lies in none of the image folders"),
    ),
    NoticeCode.FOLDER_UNREADABLE: _S(_("%(path)s: the folder cannot be read (%(error)s)")),
    NoticeCode.LINK_OUTWARD: _S(_("%(path)s: a link out of the image folders, to %(target)s: passed over")),
    NoticeCode.LINK_BROKEN: _S(_("%(path)s: cannot be followed (%(error)s): passed over")),
    NoticeCode.EDITION_WITHOUT_ADDRESS: _S(
        _("%(where)s: %(info)s has no address for edition %(edition)s; it has %(known)s")
    ),
    NoticeCode.FILE_WITHOUT_EDITION: _S(
        _("%(where)s: %(info)s has no address for a file without an edition; it has %(known)s")
    ),
    NoticeCode.CANVAS_EMPTY: _S(_("%(canvas)s shows no image")),
    NoticeCode.CANVAS_SEVERAL: _S(_("%(canvas)s shows %(number)s images; the one that covers it is taken")),
    NoticeCode.COLLECTION_WITHIN: _S(
        _("%(address)s: a collection within the collection is not followed; name it itself")
    ),
    NoticeCode.SEVERAL_READINGS: _S(_("several readings would do: %(file)s is used, not %(others)s")),
    NoticeCode.LINE_WITHOUT_PLACE: _S(_("%(where)s: the line has no %(what)s and is passed over")),
    NoticeCode.NOT_RULED: _S(_("no ruled columns were found")),
    NoticeCode.LEVEL_LINES: _S(
        _("%(number)s level lines across the columns (a table or registers)"),
        _("%(number)s level line across the columns (a table or registers)"),
    ),
    NoticeCode.READ_BY_PAGE_PIPELINE: _S(_("%(why)s; read by the page pipeline of %(engine)s")),
    NoticeCode.PAGE_ASKEW: _S(_("the page lies askew by %(degrees)s degrees: it was straightened and read")),
    NoticeCode.PAGE_AT_AN_ANGLE: _S(
        _("the page was photographed at an angle: its perspective was undone and it was read")
    ),
    NoticeCode.PAGE_NOT_FLAT: _S(
        _("the page does not lie flat: it was photographed at an angle or is curved, and was flattened and read")
    ),
    NoticeCode.PAGE_CURVED: _S(_("the page is curved: it was flattened and read")),
    NoticeCode.PAGE_IN_SHADE: _S(_("the page lies in the shade: it was brightened and read")),
    NoticeCode.PAGE_PALE: _S(_("the page is very pale: its ink was strengthened and it was read")),
    NoticeCode.TOP_CUT_OFF: _S(
        _("the top of the page is cut off: some %(number)s characters of each column are not on this image"),
        _("the top of the page is cut off: about one character of each column is not on this image"),
    ),
    NoticeCode.BOTTOM_CUT_OFF: _S(
        _("the bottom of the page is cut off: some %(number)s characters of each column are not on this image"),
        _("the bottom of the page is cut off: about one character of each column is not on this image"),
    ),
    NoticeCode.UPPER_REGISTER_MISSING: _S(
        _("the upper register of the page is not on this image: %(number)s of its %(of)s columns")
    ),
    NoticeCode.LOWER_REGISTER_MISSING: _S(
        _("the lower register of the page is not on this image: %(number)s of its %(of)s columns")
    ),
    NoticeCode.LEFT_HALF_MISSING: _S(
        _("the left half of the page is not on this image: %(number)s of its %(of)s columns")
    ),
    NoticeCode.RIGHT_HALF_MISSING: _S(
        _("the right half of the page is not on this image: %(number)s of its %(of)s columns")
    ),
    NoticeCode.LEFT_COLUMNS_MISSING: _S(
        _("the left side of the page is not on this image: %(number)s of its %(of)s columns"),
        _("the left side of the page is not on this image: one of its %(of)s columns"),
    ),
    NoticeCode.RIGHT_COLUMNS_MISSING: _S(
        _("the right side of the page is not on this image: %(number)s of its %(of)s columns"),
        _("the right side of the page is not on this image: one of its %(of)s columns"),
    ),
    NoticeCode.TOO_COARSE: _S(
        _(
            "this image is too coarse or out of focus: a character shows what %(number)s pixels of height hold, and "
            "needs %(least)s; use a sharper scan"
        )
    ),
    NoticeCode.NOTES_TOO_SMALL: _S(
        _(
            "the notes on this image are too small to be read: a character of them shows what %(number)s pixels of "
            "height hold, and needs %(least)s; the main text was checked, for the notes use a finer scan"
        )
    ),
    NoticeCode.ROOM: _S(_("room for %(number)s characters")),
    NoticeCode.PART_OF_CELL: _S(_("%(number)s of a cell")),
    NoticeCode.INK_UNREAD: _S(_("ink that the engine did not read")),
    NoticeCode.LIKER_AS_DRAWN: _S(_("liker %(text)s as a font draws it")),
    NoticeCode.FOR_EITHER: _S(
        _(
            "something is missing here beside a wrong character: for which of those on the image it was written, the "
            "image does not tell"
        )
    ),
    NoticeCode.HARDLY_READ: _S(_("hardly anything can be read on this image")),
    NoticeCode.IMAGE_BLANK: _S(_("this image is blank: name the image that carries this page")),
    NoticeCode.IMAGE_MIRRORED: _S(_("this image is mirrored: turn it over and check the page again")),
    NoticeCode.UPSIDE_DOWN: _S(_("upside down")),
    NoticeCode.ON_RIGHT_SIDE: _S(_("on its right side")),
    NoticeCode.ON_LEFT_SIDE: _S(_("on its left side")),
    NoticeCode.IN_RIGHT_HALF: _S(_("it is in the right half")),
    NoticeCode.IN_LEFT_HALF: _S(_("it is in the left half")),
    NoticeCode.COLUMNS_BESIDE: _S(
        _("%(number)s columns: the image shows another page as well, or the text of this one is not whole")
    ),
    NoticeCode.COLUMNS_NOT_SHOWN: _S(
        _(
            "%(number)s columns, of which nothing was found (%(which)s): look on the page view whether they stand on "
            "the image, and set its columns right there"
        )
    ),
    NoticeCode.COLUMNS_UNLIKE: _S(
        _(
            "%(number)s columns (%(which)s): they were found wrongly, or their text is another; set the columns of "
            "this page right in the page view"
        )
    ),
    NoticeCode.NOT_IN_COLUMNS: _S(
        _(
            "no columns were found on this image, and what was read line by line differs from the text at "
            "%(number)s of %(of)s characters: set its columns in the page view, or check this page by eye"
        )
    ),
    NoticeCode.CARRIES_LATER: _S(
        _("this image carries %(page)s, %(number)s pages on"), _("this image carries %(page)s, one page on")
    ),
    NoticeCode.CARRIES_EARLIER: _S(
        _("this image carries %(page)s, %(number)s pages back"), _("this image carries %(page)s, one page back")
    ),
    NoticeCode.CARRIES_OTHER: _S(_("this image carries none of the pages around this one")),
    NoticeCode.SEQUENCE: _S(_("after %(one)s comes %(other)s: %(what)s")),
    NoticeCode.UNNUMBERED: _S(_("a page without number")),
    NoticeCode.JUAN_BACK: _S(_("a juan starts, but the images go back")),
    NoticeCode.JUAN_ON_SAME_IMAGE: _S(_("a juan starts on the image of the page before")),
    NoticeCode.VOLUME_WITHIN_JUAN: _S(_("the images change volume, or from quadrants to plates, within a juan")),
    NoticeCode.SAME_PAGE: _S(_("the same page twice")),
    NoticeCode.HALF_FOLIOS_MISSING: _S(
        _("%(number)s half-folios are missing between them"), _("one half-folio is missing between them")
    ),
    NoticeCode.PAGES_BACK: _S(_("the pages go back by %(number)s")),
    NoticeCode.FOLIO_STAYS: _S(_("the folio stays while the images advance by %(number)s")),
    NoticeCode.IMAGE_STAYS: _S(_("one image for two pages, the folios advance by %(number)s")),
    NoticeCode.UNEQUAL_STEPS: _S(_("the folios advance by %(folios)s, the images by %(images)s")),
    NoticeCode.PART_OUTSIDE: _S(
        _("%(path)s: the part %(part)s lies outside the image of %(width)s x %(height)s pixels")
    ),
    NoticeCode.NO_MEMORY_TO_DECODE: _S(
        _("%(path)s: there is not enough memory to decode it; set a lower images.max_megapixels")
    ),
    NoticeCode.IMAGE_DAMAGED: _S(_("%(path)s: is cut short or damaged (%(error)s); fetch or export the file again")),
    NoticeCode.HEADER_DAMAGED: _S(
        _("%(path)s: is cut short or damaged: its header cannot be read; fetch or export the file again")
    ),
    NoticeCode.FILE_UNREADABLE: _S(_("%(path)s: cannot be read (%(error)s)")),
    NoticeCode.FILE_MISSING: _S(_("%(path)s: there is no such file")),
    NoticeCode.FILE_IS_FOLDER: _S(_("%(path)s: is a folder: name its files, such as %(path)s/*.png")),
    NoticeCode.FILE_IRREGULAR: _S(_("%(path)s: is not a regular file")),
    NoticeCode.FILE_EMPTY: _S(_("%(path)s: is empty; fetch or export the file again")),
    NoticeCode.FILE_TOO_LARGE: _S(
        _(
            "%(path)s: has %(size)s MB, more than any image of %(limit)s megapixels; scale it down or raise "
            "images.max_megapixels"
        )
    ),
    NoticeCode.IMAGE_BOMB: _S(_("%(path)s: has more than %(limit)s megapixels (%(error)s); scale it down")),
    NoticeCode.IMAGE_UNKNOWN_KIND: _S(
        _("%(path)s: is not an image of a known kind; convert it to PNG, JPEG, TIFF, WebP, JPEG 2000, GIF or BMP")
    ),
    NoticeCode.IMAGE_TOO_LARGE: _S(
        _(
            "%(path)s: has %(width)s x %(height)s pixels, that is %(size)s megapixels; the limit is %(limit)s: scale "
            "it down or raise images.max_megapixels"
        )
    ),
    NoticeCode.SEVERAL_FRAMES: _S(
        _("%(path)s: holds %(frames)s frames; save the one that is this page as a file of its own")
    ),
    NoticeCode.IMAGE_TOO_SMALL: _S(
        _("%(path)s: has only %(width)s x %(height)s pixels; a page needs at least %(least)s a side: use a larger scan")
    ),
    NoticeCode.PDF_PAGE_MISSING: _S(_("%(path)s: there is no such page: the PDF has %(pages)s, counted from 1")),
    NoticeCode.PDF_PAGE_TOO_LARGE: _S(
        _(
            "%(path)s: has %(width)s x %(height)s pixels; the limit is %(limit)s megapixels: scale it down or raise "
            "images.max_megapixels"
        )
    ),
    NoticeCode.PDF_UNDRAWABLE: _S(_("%(path)s: cannot be drawn (%(error)s); export the PDF again")),
    NoticeCode.PDF_LOCKED: _S(_("%(path)s: asks for a password; save it without one")),
    NoticeCode.PDF_DAMAGED: _S(_("%(path)s: is not a PDF, or is damaged (%(error)s); export or fetch it again")),
    NoticeCode.NO_HALVES: _S(
        _(
            "%(path)s: no plate of four half-folios and no opening of two was found here; give a file for each "
            "half-folio instead"
        )
    ),
    NoticeCode.NO_QUARTERS: _S(
        _("%(path)s: no plate of four half-folios was found here; give a file for each half-folio instead")
    ),
    NoticeCode.NO_MEMORY: _S(_("there is not enough memory for this page")),
    NoticeCode.CHECK_BROKE: _S(_("%(path)s: the check broke on this page (%(error)s); please report it")),
    NoticeCode.WORKERS_DIED: _S(
        _("%(number)s workers of the cluster died while they checked this page; check it on one machine to see why")
    ),
    NoticeCode.ASSIGNED_GONE: _S(
        _("%(image)s: this image was assigned by %(person)s and is in no image folder now; assign another")
    ),
}


def in_words(notice: Notice, say: Say) -> str:
    """A notice in the language that `say` speaks."""
    values = {name: in_words(value, say) if isinstance(value, Notice) else value for name, value in notice.values}
    message = NOTICES[notice.code].of(values)
    return (message if notice.code is NoticeCode.AS_TOLD else say(message)) % values


def in_english(notice: Notice) -> str:
    """A notice as files for other programs, logs and the command line have it."""
    return in_words(notice, str)


def as_record(notice: Notice) -> dict[str, Any]:
    """A notice as JSON for other programs: its `text` in English, its `code` and its `values`."""
    return {"text": in_english(notice), **notice.as_json()}
