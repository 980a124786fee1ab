"""Facsimiles of a transcription: image files of its half-folios, plates or leaves, and the boxes of all characters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from proof.errors import OutputError, UsageError, os_errors_as
from proof.facsimile.leaf import StripText, Style
from proof.facsimile.render import HalfFolio, RenderedPage, TrueCharacter, render_page, render_plate
from proof.facsimile.wear import Wear, without_seal
from proof.images.imglist import place_of
from proof.locale.marking import _
from proof.model.geometry import Box
from proof.model.refs import ImageRef, PageId
from proof.ocr.engine import Pixels
from proof.text.model import Page
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class Rendering:
    """The files of a facsimile: the images in page order, and the file of boxes. `missing` are the characters that no
    font has."""

    images: tuple[Path, ...]
    boxes: Path
    missing: tuple[str, ...]


def strip_of(transcription: Transcription, page: Page) -> StripText:
    """The text on the fold strip of a page: the work's title, the juan, the leaf."""
    juan = page.juan if not page.juan.isascii() else ""
    return StripText(title=transcription.title, juan=juan, leaf=page.folio.leaf if page.folio else None)


def half_folios(
    transcription: Transcription, style: Style | None = None, wear: Wear | None = None, seed: int = 0
) -> Iterator[tuple[str, RenderedPage]]:
    """The half-folios of a transcription in page order, each with its file name (without ending).

    Only the first page of a juan has a seal. Raises FontError, and UsageError for a page that does not fit.
    """
    wear = wear or Wear()
    pages = transcription.pages
    for number, page in enumerate(pages):
        begins_juan = number == 0 or page.juan != pages[number - 1].juan
        behind = pages[number + 1 if number + 1 < len(pages) else number - 1]
        page_wear = wear if begins_juan else without_seal(wear)
        strip = strip_of(transcription, page)
        yield file_stem(page), render_page(page, style, page_wear, seed, strip=strip, behind=behind)


def plates(
    transcription: Transcription, style: Style | None = None, wear: Wear | None = None, seed: int = 0
) -> Iterator[tuple[str, RenderedPage]]:
    """The half-folios of a transcription as plates of four, each named after the volume and page of its references.
    Plates have no seals.

    Raises UsageError for a page without a reference to a quadrant, and the errors of `half_folios`.
    """
    sheets: dict[ImageRef, list[Page | None]] = {}
    for page in transcription.pages:
        quadrant = page.ref.quadrant_index if page.ref else None
        if page.ref is None or quadrant is None:
            raise UsageError(
                _("page %(page)s has no image reference with a quadrant, so no place on a plate"), page=page.id
            )
        sheets.setdefault(page.ref.plate, [None] * 4)[quadrant] = page
    for ref, sheet in sheets.items():
        strips = [
            next((strip_of(transcription, page) for page in leaf if page is not None), StripText())
            for leaf in (sheet[:2], sheet[2:])
        ]
        label = f"{ref.volume}-{ref.page}"
        yield str(ref), render_plate(sheet, style, without_seal(wear or Wear()), seed, strips=strips, label=label)


def leaves(
    transcription: Transcription, style: Style | None = None, wear: Wear | None = None, seed: int = 0
) -> Iterator[tuple[str, RenderedPage]]:
    """The half-folios of a transcription as unfolded leaves, each named by the two half-folios that it shows
    (`010-1ab`). Leaves have no seals.

    Raises UsageError for a page that is not numbered as a half-folio, and the errors of `half_folios`.
    """
    sheets: dict[str, list[Page | None]] = {}
    for page in transcription.pages:
        place, parts = place_of(page), PageId.match(page.id)
        if place is None:
            raise UsageError(_("page %(page)s is not numbered as a half-folio, so it has no leaf"), page=page.id)
        juan, folio = (f"{parts.work}_{parts.edition}_{parts.juan}", parts.folio) if parts else place
        sheets.setdefault(f"{juan}-{folio.leaf}ab", [None] * 2)["ab".index(folio.side)] = page
    for name, sheet in sheets.items():
        strip = next(strip_of(transcription, page) for page in sheet if page is not None)
        yield name, render_plate(sheet, style, without_seal(wear or Wear()), seed, strips=[strip])


def render(
    transcription: Transcription,
    out_dir: Path,
    style: Style | None = None,
    wear: Wear | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    draw: Callable[..., Iterator[tuple[str, RenderedPage]]] = half_folios,
) -> Rendering:
    """Write the images that `draw` yields for a transcription as `<name>.png`, with the true boxes of their characters
    in `boxes.jsonl`.

    `draw` is `half_folios`, `plates` or `leaves`. `progress` is called with the number of images written so far. Raises
    OutputError if the folder cannot be written, and the errors of `draw`.
    """
    missing: dict[str, None] = {}
    images: list[Path] = []
    boxes = out_dir / "boxes.jsonl"
    unwritable = _("%(folder)s: the facsimile cannot be written (%(reason)s); name another folder")
    with os_errors_as(OutputError, unwritable, folder=out_dir):
        out_dir.mkdir(parents=True, exist_ok=True)
        with boxes.open("w", encoding="utf-8") as file:
            for name, page in draw(transcription, style, wear, seed):
                path = out_dir / f"{name}.png"
                write_image(path, page.image)
                images.append(path)
                missing |= dict.fromkeys(page.missing)
                file.writelines(box_line(half, character) for half in page.halves for character in half.characters)
                if progress:
                    progress(len(images))
    return Rendering(tuple(images), boxes, tuple(missing))


def file_stem(page: Page) -> str:
    """The file name of a page without ending: its image reference, or its id with `_` instead of characters that are
    special in paths."""
    return str(page.ref) if page.ref else "".join("_" if mark in '/\\:*?"<>|\0' else mark for mark in page.id)


def write_image(path: Path, image: Pixels) -> None:
    """Write a page as PNG, with one bit a pixel if it is black and white, else with eight. Raises OSError."""
    is_grey = bool(np.any((image != 0) & (image != 255)))
    picture = Image.fromarray(image)
    (picture if is_grey else picture.convert("1")).save(path, optimize=True)


def box_line(half: HalfFolio, character: TrueCharacter) -> str:
    """The line of a character in `boxes.jsonl`; boxes are `[x, y, w, h]` in pixels, rounded to a tenth."""

    def numbers(box: Box) -> list[float]:
        return [round(value, 1) for value in (box.x, box.y, box.w, box.h)]

    record = {
        "page": character.page,
        "ref": half.ref,
        "line": character.line,
        "offset": character.offset,
        "length": character.length,
        "text": character.text,
        "row": character.row.value,
        "box": numbers(character.box),
        "cell": numbers(character.cell),
        "missing": character.missing,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"
