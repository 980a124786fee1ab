"""The reading of a page from a file of other software: lines with the place of every character."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from proof.errors import AT, EngineError
from proof.locale.marking import Sentence
from proof.model.geometry import Box
from proof.model.notices import Notice

UNSTATED_PROBABILITY = 0.95
"""Probability of a character for which the file gives no confidence."""

_LEFT_OUT = ("P", "Z", "Cc", "Cf")
"""Unicode categories, or their first letters, that are left out of a line: punctuation, spaces and controls."""

_GAP_SHARE = 0.2
"""Share of its two neighbours' boxes that a character without a place of its own gets."""


class ReadingFileError(EngineError):
    """A reading file cannot be used, so its page is not checked. `line` counts from 1; None if it is not known."""

    def __init__(self, path: Path, line: int | None, message: str, /, **values: object) -> None:
        super().__init__(AT, where=f"{path}:{line}" if line else path, what=Sentence(message, **values))
        self.path, self.line = path, line


@dataclass(frozen=True, slots=True)
class GivenCharacter:
    """One character with its box in pixels of the image and its probability, 0 to 1; `alternatives` are other readings
    with their probabilities."""

    text: str
    box: Box
    probability: float = UNSTATED_PROBABILITY
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ExternalLine:
    """The characters of a line, from top to bottom if it is `vertical`, else from left to right. `placed`: the file
    gives the places of single characters; otherwise the characters are spread evenly along their word or line."""

    characters: tuple[GivenCharacter, ...]
    box: Box
    vertical: bool
    placed: bool


@dataclass(frozen=True, slots=True)
class ExternalPage:
    """The reading of one image in the file `source`, which calls it `image` and gives its `size`: width and height, 0
    if not given. `notices` report what was left out."""

    source: Path
    image: str
    size: tuple[float, float]
    lines: tuple[ExternalLine, ...]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A glyph or a word of a file, with its box and `confidence`, 0 to 1; `confidences` are those of its characters, if
    the file gives them."""

    text: str
    box: Box
    confidence: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    confidences: tuple[float, ...] = ()


def line_of(
    text: str, box: Box, pieces: Sequence[TextPiece], vertical: bool | None, confidence: float | None
) -> ExternalLine:
    """A line from its `text` and its `pieces` in the file; one of the two may be empty.

    If they differ, the text is right, since people correct it, and the pieces only give the places. `vertical` is None
    if the file does not say it; `confidence` is that of the line.
    """
    if vertical is None:
        vertical = box.h >= box.w
    characters = [character for piece in pieces for character in _spread(piece, vertical)]
    if not characters:
        characters, placed = _spread(TextPiece(text, box, confidence), vertical), False
    else:
        placed = any(len(piece.text) == 1 for piece in pieces)
        unspaced = "".join(text.split())
        if text and unspaced != "".join(character.text for character in characters):
            characters = _corrected(unspaced, characters, vertical)
    kept = tuple(character for character in characters if not _is_left_out(character.text))
    return ExternalLine(kept, box, vertical, placed)


def _is_left_out(text: str) -> bool:
    return all(unicodedata.category(character).startswith(_LEFT_OUT) for character in text)


def _spread(piece: TextPiece, vertical: bool) -> list[GivenCharacter]:
    """The characters of a piece, spread along its box in equal cells. An ideographic space takes up a cell; other
    spaces do not."""
    cells = _characters(piece.text)
    characters = []
    for number, text in enumerate(cells):
        if text.isspace():
            continue
        confidence = piece.confidences[number] if len(piece.confidences) == len(cells) else piece.confidence
        probability = UNSTATED_PROBABILITY if confidence is None else min(max(confidence, 0.0), 1.0)
        box = part_of(piece.box, number / len(cells), (number + 1) / len(cells), vertical)
        alternatives = piece.alternatives if len(cells) == 1 else ()
        characters.append(GivenCharacter(text, box, probability, alternatives))
    return characters


def _characters(text: str) -> list[str]:
    """The characters of a text, each with the variation selectors and combining marks that follow it. Spaces other than
    ideographic ones are left out."""
    characters: list[str] = []
    for character in text:
        if character.isspace() and character != "\u3000":
            continue
        if characters and unicodedata.category(character).startswith("M"):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _corrected(text: str, read: Sequence[GivenCharacter], vertical: bool) -> list[GivenCharacter]:
    """The characters of a corrected `text`, each with the place of the `read` character that it replaces."""
    texts = _characters(text)
    corrected: list[GivenCharacter] = []
    matcher = SequenceMatcher(None, [character.text for character in read], texts, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        old, new = read[old_start:old_end], texts[new_start:new_end]
        if tag == "equal":
            corrected += old
        elif len(old) == len(new):
            corrected += [GivenCharacter(text, character.box) for character, text in zip(old, new, strict=True)]
        elif new:
            box = Box.around(character.box for character in old) if old else _box_before(read, old_start, vertical)
            corrected += _spread(TextPiece("".join(new), box), vertical)
    return corrected


def _box_before(read: Sequence[GivenCharacter], number: int, vertical: bool) -> Box:
    """The box of characters that are inserted before the read character of that number."""
    if number == 0:
        return part_of(read[0].box, -1.0, 0.0, vertical)
    if number == len(read):
        return part_of(read[-1].box, 1.0, 2.0, vertical)
    before = part_of(read[number - 1].box, 1.0 - _GAP_SHARE, 1.0, vertical)
    return before.union(part_of(read[number].box, 0.0, _GAP_SHARE, vertical))


def part_of(box: Box, start: float, end: float, vertical: bool) -> Box:
    """The part of a box from `start` to `end` along its line, as shares of its length. Shares below 0 and above 1 lie
    before and behind the box."""
    if vertical:
        return Box(box.x, box.y + start * box.h, box.w, (end - start) * box.h)
    return Box(box.x + start * box.w, box.y, (end - start) * box.w, box.h)
