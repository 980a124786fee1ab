"""The naive verifier: a page is transcribed by a page pipeline, and its text compared with that. Benchmarks give its
figures beside those of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rapidfuzz.distance import Levenshtein

from proof.images.find import ImageIndex
from proof.images.load import load_image
from proof.ocr.page import PageEngine
from proof.quality.benchmark import Finding
from proof.text.model import Page, is_han
from proof.text.transcription import Transcription
from proof.verify.page import half_folio

Character = tuple[str, float]
"""A Han character as read, and its probability."""


def transcribed(
    text: Transcription, index: ImageIndex, engine: PageEngine, fold: Callable[[str], str]
) -> Iterator[tuple[Page, list[Finding]]]:
    """The pages of a text that have an image, each with the differences of its Han characters from those that are read.
    `fold` is the key under which two characters are the same. Raises ImageError, EngineError."""
    for page in text.pages:
        image = index.find(page)
        if image is None:
            continue
        reading = engine.read_page(half_folio(load_image(image.path), image.quadrant).pixels)
        characters = [
            (character.text, character.probability)
            for line in reading.lines
            for character in line.characters
            if is_han(character.text)
        ]
        yield page, _differences(page, characters, fold)


def _differences(page: Page, read: list[Character], fold: Callable[[str], str]) -> list[Finding]:
    cells = [(column, cell) for column in page.columns for cell in column.cells if is_han(cell.text)]
    if not cells:
        return []
    here, there = (
        "".join(map(fold, texts)) for texts in ([cell.text for _, cell in cells], [text for text, _ in read])
    )
    differences = []
    for op in Levenshtein.editops(here, there):
        kind, at, to = op.tag, op.src_pos, op.dest_pos
        column, cell = cells[min(at, len(cells) - 1)]
        offset = cell.offset if at < len(cells) else cell.offset + cell.length
        suggested, probability = ("", None) if kind == "delete" else read[to]
        length = 0 if kind == "insert" else cell.length
        place = (page.id, column.number, offset, length)
        differences.append(Finding(*place, suggested, probability or 0.5, True, _KINDS[kind], probability))
    return differences


_KINDS = {"replace": "substitution", "delete": "insertion", "insert": "omission"}
