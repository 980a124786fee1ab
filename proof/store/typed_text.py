"""What people may type: readings, which go into a line of a text, and notes, which go into what is exported.

One place for every way in. XML 1.0 (section 2.2) can carry no control characters but tab and line ends, no lone
surrogates, and neither U+FFFE nor U+FFFF; Unicode (section 23.7) sets all noncharacters aside for a program's inside.
"""

from __future__ import annotations

from unicodedata import category

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError

LONGEST_READING = 64
"""Code points that a reading, and an alternative, can have: a correction is of a place, not of a page."""
LONGEST_NOTE = 2000
_BREAKING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories that no reading has. Private use and what this Python does not know yet may be Han."""
_IN_NOTES = "\t\n\r"


def check_reading(reading: str) -> None:
    """Raises RefusedDecisionError where `reading` cannot stand in a line. An empty one can: who asks says whether it
    deletes."""
    if len(reading) > LONGEST_READING:
        raise RefusedDecisionError(
            _("a reading has at most %(most)s characters; change longer stretches in the text"), most=LONGEST_READING
        )
    if any(char == "¶" or category(char) in _BREAKING for char in reading):
        raise RefusedDecisionError(
            _("a reading stays within its line: no line endings, no pilcrow, no control characters")
        )
    if any(_is_noncharacter(char) for char in reading):
        raise RefusedDecisionError(
            _("a reading holds characters, and a code point that Unicode sets aside for programs is none")
        )


def check_note(note: str) -> None:
    """Raises RefusedDecisionError where `note` cannot be kept."""
    if len(note) > LONGEST_NOTE:
        raise RefusedDecisionError(_("a note has at most %(most)s characters"), most=LONGEST_NOTE)
    for at, char in enumerate(note, 1):
        if (category(char) in ("Cc", "Cs") and char not in _IN_NOTES) or _is_noncharacter(char):
            raise RefusedDecisionError(
                _("no export can carry %(code)s, character %(at)s of the note; leave it out"),
                code=f"U+{ord(char):04X}",
                at=at,
            )


def _is_noncharacter(char: str) -> bool:
    return 0xFDD0 <= ord(char) <= 0xFDEF or ord(char) & 0xFFFE == 0xFFFE
