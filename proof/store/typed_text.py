"""Checks of typed text: readings, which become part of a line of a text, and notes, which are exported.

All input passes these checks. XML 1.0 (section 2.2) forbids or discourages control characters other than tab and line
ends, and forbids lone surrogates, U+FFFE and U+FFFF. Unicode (section 23.7) reserves noncharacters for internal use.
"""

from __future__ import annotations

from collections.abc import Container
from unicodedata import category, name

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError, UnconfirmedReadingError
from proof.text.column import COMPOSITION, ENTITY, parse_column
from proof.text.remarks import RemarkCode

LONGEST_READING = 64
"""Maximum length of a reading, in code points: a correction is for a place, not for a page."""
LONGEST_COLUMN = 400
"""Maximum length of the reading of a whole column, in code points."""
LONGEST_NOTE = 2000
"""Maximum length of a note, in code points."""
LONGEST_AUTHORITY = 64
"""Maximum length of the name of an authority, in code points."""
_NOT_IN_LINE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories that are forbidden in readings and names of authorities, which are parts of a line. Private-use
and unassigned code points are allowed: they may be Han characters."""
_CONTROLS_IN_NOTES = "\t\n\r"
"""The control characters that are allowed in notes: tab and line ends."""


def check_reading(reading: str, most: int = LONGEST_READING) -> None:
    """Raise RefusedDecisionError if `reading` cannot be part of a line, or has more than `most` code points. An empty
    reading is accepted; the caller decides whether it deletes."""
    if len(reading) > most:
        raise RefusedDecisionError(
            _("a reading has at most %(most)s characters; change longer stretches in the text"), most=most
        )
    if any(char == "¶" or category(char) in _NOT_IN_LINE for char in reading):
        raise RefusedDecisionError(
            _("a reading stays within its line: no line endings, no pilcrow, no control characters")
        )
    if any(_is_noncharacter(char) for char in reading):
        raise RefusedDecisionError(
            _("a reading holds characters, and a code point that Unicode sets aside for programs is none")
        )


_MARKUP = frozenset("()（）/／<>&")
"""Markup of columns: ends of notes and of their half-rows, tags, entities."""


def check_markup(reading: str, transcribed: str = "") -> None:
    """Raise RefusedDecisionError if `reading` has markup, unless the text `transcribed` that it replaces has the same.
    A start or end of a note, a page mark or an incomplete entity would change the lines and pages of the text."""
    markup = _markup_of(reading)
    if markup and markup != _markup_of(transcribed):
        raise RefusedDecisionError(
            _("%(sign)s is markup and no character: notes, tags and page marks are changed in the text itself"),
            sign=markup,
        )


def check_column_markup(column: str) -> None:
    """Raise RefusedDecisionError if a whole column has other markup than complete notes."""
    has_other_markup = bool(set(_markup_of(column)) - set("()/"))
    problems = {problem.code for problem in parse_column(column).problems}
    if has_other_markup or problems - {RemarkCode.DESCRIPTION_INCOMPLETE}:
        check_markup(column)


def _markup_of(text: str) -> str:
    """The markup in a text, without entities and compositions, which stand for characters."""
    bare = ENTITY.sub("", COMPOSITION.sub("", text))
    return "".join(char for char in bare if char in _MARKUP)


def check_meant(reading: str, seen: Container[str] = ()) -> None:
    """Raise UnconfirmedReadingError if `reading` is probably a typing error (an incomplete ideographic description,
    Latin letters, a private-use character) and was not `seen` at the place."""
    if reading in seen:
        return
    bare = ENTITY.sub("", COMPOSITION.sub("", reading))
    for char in bare:
        if category(char) == "Co":
            question = _(
                "%(code)s is a private-use character, which other programs show as something else or not at all"
            )
            raise UnconfirmedReadingError(question, reason="private use", code=f"U+{ord(char):04X}")
    letters = "".join(char for char in bare if "LATIN" in name(char, ""))
    if letters:
        question = _("these are Latin letters: %(letters)s")
        raise UnconfirmedReadingError(question, reason="latin letters", letters=letters)
    if any(problem.code is RemarkCode.DESCRIPTION_INCOMPLETE for problem in parse_column(reading).problems):
        question = _("%(reading)s describes a character by its parts, and a part is missing")
        raise UnconfirmedReadingError(question, reason="incomplete description", reading=reading)


def check_authority(authority: str) -> None:
    """Raise RefusedDecisionError if `authority` cannot be used in a note."""
    if len(authority) > LONGEST_AUTHORITY:
        raise RefusedDecisionError(
            _("the name of an authority has at most %(most)s characters"), most=LONGEST_AUTHORITY
        )
    if any(category(char) in _NOT_IN_LINE or _is_noncharacter(char) for char in authority):
        raise RefusedDecisionError(_("the name of an authority stays within its line"))


def check_note(note: str) -> None:
    """Raise RefusedDecisionError if `note` cannot be stored."""
    if len(note) > LONGEST_NOTE:
        raise RefusedDecisionError(_("a note has at most %(most)s characters"), most=LONGEST_NOTE)
    for at, char in enumerate(note, 1):
        if (category(char) in ("Cc", "Cs") and char not in _CONTROLS_IN_NOTES) or _is_noncharacter(char):
            raise RefusedDecisionError(
                _("no export can carry %(code)s, character %(at)s of the note; leave it out"),
                code=f"U+{ord(char):04X}",
                at=at,
            )


def _is_noncharacter(char: str) -> bool:
    return 0xFDD0 <= ord(char) <= 0xFDEF or ord(char) & 0xFFFE == 0xFFFE
