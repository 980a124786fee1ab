"""A page from a reading file of other software: lines with the place of every character."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from proof.errors import EngineError
from proof.model.geometry import Box
from proof.model.notices import Notice

UNSTATED = 0.95
"""Probability of a character for which the file gives no confidence."""

_NO_INK = ("P", "Z", "Cc", "Cf")


class ReadingFileError(EngineError):
    """A reading file cannot be used, so its page is not checked. `line` counts from 1 in the file."""

    def __init__(self, path: Path, line: int | None, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        self.path, self.line = path, line


@dataclass(frozen=True, slots=True)
class GivenCharacter:
    """One character with its box in pixels of the image and its probability, 0 to 1; `alternatives` are other readings
    with their probabilities."""

    text: str
    box: Box
    probability: float = UNSTATED
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ExternalLine:
    """The characters of a line, from top to bottom if it is `vertical`, else from left to right. `placed`: the file
    gives the place of each one; otherwise they are spread evenly along the line."""

    characters: tuple[GivenCharacter, ...]
    box: Box
    vertical: bool
    placed: bool


@dataclass(frozen=True, slots=True)
class ExternalPage:
    """The reading of one image in a file: `image` is the image's name there, `size` its width and height, 0 if not
    given. `notices` report what was left out."""

    source: Path
    image: str
    size: tuple[float, float]
    lines: tuple[ExternalLine, ...]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of text with its box: a glyph, or a word. `confidences` are those of its characters."""

    text: str
    box: Box
    confidence: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    confidences: tuple[float, ...] = ()


def line_of(
    text: str, box: Box, pieces: Sequence[TextPiece], vertical: bool | None, confidence: float | None
) -> ExternalLine:
    """A line from its text and its pieces in the file.

    If the two differ the text holds, since people correct that, and the pieces only give the places. Without a text the
    pieces are the text.
    """
    if vertical is None:
        vertical = box.h >= box.w
    known = [character for piece in pieces for character in _spread(piece, vertical)]
    whole = text or "".join(character.text for character in known)
    if not known:
        known, placed = _spread(TextPiece(whole, box, confidence), vertical), False
    else:
        placed = any(len(piece.text) == 1 for piece in pieces)
        if "".join(whole.split()) != "".join(character.text for character in known):
            known = _corrected("".join(whole.split()), known, vertical)
    inked = tuple(character for character in known if _has_ink(character.text))
    return ExternalLine(inked, box, vertical, placed)


def _has_ink(text: str) -> bool:
    return not all(unicodedata.category(character).startswith(_NO_INK) for character in text)


def _spread(piece: TextPiece, vertical: bool) -> list[GivenCharacter]:
    """The characters of a piece, spread along its box in equal cells. An ideographic space takes a cell, others
    none."""
    cells = _characters(piece.text)
    characters = []
    for number, text in enumerate(cells):
        if text.isspace():
            continue
        sure = piece.confidences[number] if len(piece.confidences) == len(cells) else piece.confidence
        box = part_of(piece.box, number / len(cells), (number + 1) / len(cells), vertical)
        others = piece.alternatives if len(cells) == 1 else ()
        characters.append(GivenCharacter(text, box, UNSTATED if sure is None else min(max(sure, 0.0), 1.0), others))
    return characters


def _characters(text: str) -> list[str]:
    """Code points, each with the selectors and marks that follow it."""
    characters: list[str] = []
    for character in text:
        if character.isspace() and character != "\u3000":
            continue
        if characters and unicodedata.category(character).startswith("M"):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _corrected(text: str, known: Sequence[GivenCharacter], vertical: bool) -> list[GivenCharacter]:
    """The characters of a corrected `text`, with the places of the characters that they replace."""
    wanted = _characters(text)
    corrected: list[GivenCharacter] = []
    matcher = SequenceMatcher(None, [character.text for character in known], wanted, autojunk=False)
    for how, a, b, c, d in matcher.get_opcodes():
        if how == "equal":
            corrected += known[a:b]
        elif how == "replace" and b - a == d - c:
            corrected += [GivenCharacter(new, old.box) for old, new in zip(known[a:b], wanted[c:d], strict=True)]
        elif c < d:
            replaced = [character.box for character in known[a:b]]
            room = Box.around(replaced) if replaced else _between(known, a, vertical)
            corrected += _spread(TextPiece("".join(wanted[c:d]), room), vertical)
    return corrected


def _between(known: Sequence[GivenCharacter], place: int, vertical: bool) -> Box:
    """The place of a character that no piece has: between its neighbours."""
    if place == 0:
        return part_of(known[0].box, -1.0, 0.0, vertical)
    if place == len(known):
        return part_of(known[-1].box, 1.0, 2.0, vertical)
    above, below = known[place - 1].box, known[place].box
    return part_of(above, 0.8, 1.0, vertical).union(part_of(below, 0.0, 0.2, vertical))


def part_of(box: Box, start: float, end: float, vertical: bool) -> Box:
    """The part of a box from `start` to `end` (0 to 1) along its line."""
    if vertical:
        return Box(box.x, box.y + start * box.h, box.w, (end - start) * box.h)
    return Box(box.x + start * box.w, box.y, (end - start) * box.w, box.h)
