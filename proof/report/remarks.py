"""The remarks of readers as sentences, in the reader's language: each kind once, or all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proof.locale.marking import Say, _
from proof.text.remarks import Code, Remark


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is odd, with the values of the remark, and what the reader did about it."""

    what: str
    done: str


_IN_COLUMN = _("passed over")
_AS_TEXT = _("taken as text")
_AS_PAGE = _("taken as a page")
_AS_READ = _("read on all the same")
_NOT_TEXT = _("not taken as text")

SENTENCES: Mapping[Code, Sentence] = {
    Code.MARK_UNCLOSED: Sentence(_("the page mark %(page)s is not closed"), _AS_PAGE),
    Code.MARK_MALFORMED: Sentence(_("this is like a page mark and none: %(text)s"), _("taken as text, begins no page")),
    Code.MARK_NOT_READ: Sentence(_("a page mark stands where no text is: %(text)s"), _("begins no page")),
    Code.MARK_WITHOUT_IMAGE: Sentence(_("the page mark %(page)s names no image"), _("taken as a page without image")),
    Code.MARK_WITHOUT_FOLIO: Sentence(_("the page mark %(page)s names no half-folio such as 10a"), _AS_PAGE),
    Code.QUADRANT_IMPOSSIBLE: Sentence(
        _("the page mark %(page)s names a quadrant that is none of a, b, c, d"), _("taken as a page without image")
    ),
    Code.IMAGE_UNKNOWN: Sentence(
        _("the page mark %(page)s names an image in no form that is known (WYG0103-0192c)"), _AS_PAGE
    ),
    Code.PAGE_IMPLIED: Sentence(
        _("text stands before the first page mark, which begins the left half of a leaf"),
        _("taken as its right half, page %(page)s"),
    ),
    Code.PAGE_CONTINUED: Sentence(
        _("text stands before the first page mark"), _("taken as page %(page)s, which the head of the file names")
    ),
    Code.PAGE_AGAIN: Sentence(
        _("page %(page)s began at line %(first)s already"), _("its columns are counted on from there")
    ),
    Code.PAGES_MISSING: Sentence(
        _("page %(page)s follows %(before)s: pages missing between them: %(number)s"), _AS_READ
    ),
    Code.PAGES_BACK: Sentence(_("page %(page)s follows %(before)s: the pages go back"), _AS_READ),
    Code.NO_PAGES: Sentence(_("no page mark follows the head"), _("read as a text without pages")),
    Code.LINES_ON_NO_PAGE: Sentence(
        _("lines before the first page mark: %(number)s"), _("they are on no page and not read")
    ),
    Code.NO_COLUMN: Sentence(_("page %(page)s has no column"), _("read as an empty page")),
    Code.MANY_COLUMNS: Sentence(
        _("page %(page)s has %(number)s columns, more than a half-folio: is a page mark missing?"), _AS_READ
    ),
    Code.NO_PILCROW: Sentence(_("a line has no pilcrow where nearly all have one"), _("taken as a column")),
    Code.DRAWER_OPEN: Sentence(_("the drawer %(text)s has no :END:"), _AS_TEXT),
    Code.ANNOTATION: Sentence(_("a tab stands behind text: %(text)s"), _NOT_TEXT),
    Code.HEADING: Sentence(_("a heading of the outline has no pilcrow: %(text)s"), _NOT_TEXT),
    Code.FORME_WORK: Sentence(_("a running head is marked as such: %(text)s"), _NOT_TEXT),
    Code.FORE_EDGE: Sentence(_("a line is the fore-edge of the print: %(text)s"), _NOT_TEXT),
    Code.TEMPLATE_PART: Sentence(_("the template %(name)s holds more than its first part: %(text)s"), _NOT_TEXT),
    Code.NOTE_OF_APPARATUS: Sentence(_("a note of the apparatus: %(text)s"), _NOT_TEXT),
    Code.NOTES_UNDIVIDED: Sentence(_("no note has a slash between its half-rows"), _("each is cut in the middle")),
    Code.NOTE_NESTED: Sentence(
        _("page %(page)s, column %(column)s: a note stands within a note"), _("read as part of it")
    ),
    Code.NOTE_BEFORE_NEXT: Sentence(
        _("page %(page)s, column %(column)s: a note is not closed where the next begins"), _("it ends there")
    ),
    Code.NOTE_OPEN: Sentence(
        _("page %(page)s, column %(column)s: a note is not closed in this column"), _("it ends with the column")
    ),
    Code.NOTE_NOT_OPENED: Sentence(
        _("page %(page)s, column %(column)s: a note is closed that was not opened in this column"),
        _("its beginning is told from the length of its half-rows"),
    ),
    Code.SLASH_AGAIN: Sentence(_("page %(page)s, column %(column)s: a second slash stands within a note"), _IN_COLUMN),
    Code.SLASH_OUTSIDE: Sentence(_("page %(page)s, column %(column)s: a slash stands outside a note"), _IN_COLUMN),
    Code.PILCROW_WITHIN: Sentence(_("page %(page)s, column %(column)s: a pilcrow stands in the column"), _IN_COLUMN),
    Code.INVISIBLE: Sentence(_("page %(page)s, column %(column)s: %(what)s is invisible"), _IN_COLUMN),
    Code.ENTITY_UNKNOWN: Sentence(
        _("page %(page)s, column %(column)s: the entity %(what)s is not known"), _("read character by character")
    ),
    Code.ENTITY_OPEN: Sentence(
        _("page %(page)s, column %(column)s: the entity %(what)s has no end"), _("read character by character")
    ),
    Code.ENTITY_FAMILY: Sentence(
        _("page %(page)s, column %(column)s: the entity %(what)s is of no family that is known"),
        _("read as one character"),
    ),
    Code.DESCRIPTION_INCOMPLETE: Sentence(
        _("page %(page)s, column %(column)s: the ideographic description %(what)s is not complete"),
        _("read character by character"),
    ),
    Code.SELECTOR_ALONE: Sentence(
        _("page %(page)s, column %(column)s: the variation selector %(what)s follows no character"), _IN_COLUMN
    ),
    Code.PRIVATE_CHARACTER: Sentence(
        _("%(what)s is in a private area: expected a character that Unicode knows"), _AS_TEXT
    ),
    Code.COMPOSITION_OPEN: Sentence(
        _("page %(page)s, column %(column)s: the bracket of %(what)s is not closed"), _("read character by character")
    ),
    Code.BRACKET_NOT_OPENED: Sentence(_("a note is closed that was not opened: expected 【 before 】"), _IN_COLUMN),
    Code.BRACKET_OPEN: Sentence(
        _("a note is not closed: expected 】 before the next 【 or the end of the line"), _("it ends there")
    ),
    Code.SUBCOMMENTARY_OPEN: Sentence(
        _("a bracket of [疏] is missing"), _("taken as [疏] at the beginning of a line, elsewhere as text")
    ),
    Code.SUBCOMMENTARY_ALONE: Sentence(_("no paragraph of the classic stands before [疏]"), _AS_READ),
    Code.FRONT_MATTER_OPEN: Sentence(
        _("the front matter has no end: expected a line --- before this line"), _("the text begins here")
    ),
    Code.FRONT_MATTER_BROKEN: Sentence(
        _("the front matter is broken: expected ---, then lines such as title: 儀禮, then ---"), _NOT_TEXT
    ),
    Code.SMALL_NOT_OPENED: Sentence(
        _("</small> without <small>: expected the commentary to be opened first"), _IN_COLUMN
    ),
    Code.SMALL_NESTED: Sentence(_("<small> within <small> (line %(first)s): expected </small> first"), _IN_COLUMN),
    Code.SMALL_OPEN: Sentence(
        _("<small> is not closed: expected </small> before the end of the file"), _("the commentary goes to the end")
    ),
    Code.FOOTNOTE_TWICE: Sentence(_("footnote [^%(label)s] is referred to twice"), _("it belongs to the first place")),
    Code.FOOTNOTE_UNUSED: Sentence(_("nothing refers to footnote [^%(label)s]"), _("it belongs to no place")),
    Code.FOOTNOTE_MISSING: Sentence(
        _("footnote [^%(label)s] is missing: expected a line that begins [^%(label)s]:"), _IN_COLUMN
    ),
    Code.ON_NO_IMAGE: Sentence(_("on no image: %(text)s (characters: %(number)s)"), _("not checked")),
    Code.IMAGES_BEFORE: Sentence(_("images before the text begins: %(number)s"), _("not checked")),
    Code.IMAGES_AFTER: Sentence(_("images after the text ends: %(number)s"), _("not checked")),
}


_SAID = _("%(where)s: %(what)s; %(done)s")


def sentence(remark: Remark, say: Say) -> str:
    """A remark in the language that `say` speaks: place, what is odd, what was done."""
    where = f"{remark.path}:{remark.line}" if remark.line else str(remark.path)
    form, values = SENTENCES[remark.code], dict(remark.values)
    return say(_SAID) % {"where": where, "what": say(form.what) % values, "done": say(form.done) % values}


def sentences(remarks: Iterable[Remark], say: Say, *, each: bool = False) -> list[str]:
    """The remarks as sentences: each kind once, with its first place and how many there are, in the order in which
    kinds come; `each`: all of them."""
    kinds: dict[Code, list[Remark]] = {}
    for remark in dict.fromkeys(remarks):
        kinds.setdefault(remark.code, []).append(remark)
    if each:
        return [sentence(remark, say) for alike in kinds.values() for remark in alike]
    return [_once(alike, say) for alike in kinds.values()]


_ALIKE = _("(%(number)s such remarks)")
_ALIKE_IN_FILES = _("(%(number)s such remarks in %(files)s files)")


def _once(alike: list[Remark], say: Say) -> str:
    text = sentence(alike[0], say)
    if len(alike) == 1:
        return text
    files = len({remark.path for remark in alike})
    values = {"number": f"{len(alike):,}", "files": f"{files:,}"}
    return f"{text} {say(_ALIKE if files == 1 else _ALIKE_IN_FILES) % values}"
