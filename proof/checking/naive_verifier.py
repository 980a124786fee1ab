"""The naive verifier: an engine transcribes a page, and every difference from the text is a finding. Benchmarks compare
a check with it."""

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

UNREAD_SCORE = 0.5
"""Score of a finding for which the engine gives no probability, since it read no character there."""

_KINDS = {"replace": "substitution", "delete": "insertion", "insert": "omission"}
"""The kind of error in the text, by the edit that turns the text into the reading."""


def transcribed(
    text: Transcription, index: ImageIndex, engine: PageEngine, fold: Callable[[str], str]
) -> Iterator[tuple[Page, list[Finding]]]:
    """The pages of a text that have an image, each with the differences of its Han characters from those that `engine`
    reads. Two characters are the same if `fold` gives the same key for both. Raises ImageError, EngineError,
    ImageListError."""
    for number, page in enumerate(text.pages):
        image = index.image_of(text, number)
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
    text_keys = "".join(fold(cell.text) for _, cell in cells)
    read_keys = "".join(fold(character) for character, _ in read)
    differences = []
    for edit in Levenshtein.editops(text_keys, read_keys):
        is_behind_text = edit.src_pos == len(cells)
        column, cell = cells[-1 if is_behind_text else edit.src_pos]
        suggested, probability = ("", None) if edit.tag == "delete" else read[edit.dest_pos]
        differences.append(
            Finding(
                page.id,
                column.number,
                offset=cell.offset + cell.length if is_behind_text else cell.offset,
                length=0 if edit.tag == "insert" else cell.length,
                suggested=suggested,
                score=probability or UNREAD_SCORE,
                kind=_KINDS[edit.tag],
                probability=probability,
            )
        )
    return differences
