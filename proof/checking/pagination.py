"""Pagination of a running edition: which part of the text each image of a sequence shows.

An edition without page marks is aligned with the readings of all images in their order: equal stretches are found and
extended (`proof.collation.blocks`, near linear), and those that have the same order in both are kept. Every page then
gets its part of the text, each character with its place in the file. The text may begin before the first image and end
after the last, images may be missing, and the images may show text that the edition leaves out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise

from proof.collation.blocks import align, in_same_order
from proof.collation.tokens import CharacterTable
from proof.errors import TextError
from proof.locale.marking import _
from proof.model.refs import Folio, ImageRef, PageId
from proof.text.addresses import Addresses
from proof.text.layers import NOTES, Layer, WitnessCell
from proof.text.model import Cell, Column, Page, Row, Run
from proof.text.remarks import Remark, RemarkCode
from proof.text.transcription import Transcription

MIN_ABSENT_CHARACTERS = 12
"""Minimum length of a passage that is missing on the images for it to be on no page (a commentary that the print leaves
out). Shorter ones are compared with the image, and flagged."""

MAX_SURPLUS_CHARACTERS = 80
"""Maximum length of a passage that is compared with the image, and flagged, because the images show the text before it
and behind it next to each other: some four columns."""

MAX_SURPLUS_SHARE = 0.1
"""Maximum share of such passages in a text; one with more of them is another edition than the images."""

MAX_DISTANCE_OF_NEIGHBOURS = 2
"""Maximum distance, in characters of the images, between the text before and behind such a passage."""

MIN_FOUND_CHARACTERS = 4
"""Minimum number of aligned characters of an image that shows this text."""

PARAGRAPHS_PER_PAGE = 20
"""Number of paragraphs of a page, in a text that has neither page marks nor images."""

MAX_QUOTED_CHARACTERS = 12
"""Maximum number of characters that a remark quotes from a passage that is on no image."""


@dataclass(frozen=True, slots=True)
class ReadImage:
    """The columns read on one image; `id` is the name of the image without its ending."""

    id: str
    columns: tuple[str, ...]


def paginate(edition: Transcription, images: Sequence[ReadImage], fold: Callable[[str], str]) -> Transcription:
    """The edition as a transcription with one page for each image, in the order of the images.

    The columns of a page are the lines of the file that have characters on it, with only these characters; `number` and
    `file_line` are both the line of the file, and offsets count in that line. Images before the first and after the
    last that shows the text are no pages; one in between that shows none of it is a page without columns. `fold` maps
    variant forms and both scripts to one character. Raises TextError if no image shows the text.
    """
    table = CharacterTable(fold)
    stretches = (stretch for stretch in edition.stretches() if stretch.layer is not Layer.APPARATUS)
    cells = [cell for stretch in stretches for cell in stretch.cells()]
    text = "".join(table.key(cell.text) for cell in cells)
    columns_of_images = [["".join(map(table.key, column)) for column in image.columns] for image in images]
    readings = ["".join(columns) for columns in columns_of_images]
    image_of = [number for number, reading in enumerate(readings) for _ in reading]
    places = _places(text, "".join(readings))
    image_of_cell = [None if place is None else image_of[place] for place in places]
    count = Counter(number for number in image_of_cell if number is not None)
    with_text = [number for number, size in count.items() if size >= MIN_FOUND_CHARACTERS]
    if not with_text:
        raise TextError(edition.path, None, _("none of the %(number)s images shows this text"), number=len(images))
    addresses = Addresses(edition)
    first, last = min(with_text), max(with_text)
    cells_of_image: dict[int, list[tuple[Layer, WitnessCell]]] = {number: [] for number in range(first, last + 1)}
    for cell, image in zip(cells, image_of_cell, strict=True):
        if image is not None and count[image] >= MIN_FOUND_CHARACTERS:
            cells_of_image[image].append((Layer.CANON, cell))
    joints = _joints(image_of_cell, places, [list(map(len, columns)) for columns in columns_of_images])
    paged = tuple(
        _page(images[number].id, _columns(edition, addresses, cells_of_page), (number in joints, number + 1 in joints))
        for number, cells_of_page in cells_of_image.items()
    )
    remarks = _remarks(edition, image_of_cell, cells, addresses)
    for number, code in ((first, RemarkCode.IMAGES_BEFORE), (len(images) - 1 - last, RemarkCode.IMAGES_AFTER)):
        if number:
            remarks.append(Remark.of(edition.path, 0, code, number=number))
    return replace(edition, pages=paged, remarks=(*edition.remarks, *remarks))


def without_images(edition: Transcription) -> Transcription:
    """The edition as a transcription where there are no images: every `PARAGRAPHS_PER_PAGE` paragraphs are a page,
    named by the file and the page's number; its columns are the lines of the file. Commentary becomes notes, so that
    the language model reads it apart from the text."""
    addresses = Addresses(edition)
    pages = []
    for number, start in enumerate(range(0, len(edition.blocks), PARAGRAPHS_PER_PAGE), start=1):
        cells = [
            (stretch.layer, cell)
            for block in edition.blocks[start : start + PARAGRAPHS_PER_PAGE]
            for stretch in block.stretches
            for cell in stretch.cells()
        ]
        name = f"{edition.path.stem}-{number}"
        columns = _columns(edition, addresses, cells)
        pages.append(Page(name, None, None, "", edition.blocks[start].file_line, columns, running=True))
    return replace(edition, pages=tuple(pages))


def _joints(
    image_of_cell: Sequence[int | None], places: Sequence[int | None], columns: Sequence[Sequence[int]]
) -> set[int]:
    """The images whose text directly follows that of the image before: the first character of the one stands behind the
    last of the other in the text, in the first or the last column. `columns` are the lengths of the columns of each
    image, `places` those of `_places`."""
    starts = [0, *accumulate(sum(lengths) for lengths in columns)]
    joints = set()
    for (before, place_before), (image, place) in pairwise(zip(image_of_cell, places, strict=True)):
        if before is None or image is None or image != before + 1:
            continue
        assert place_before is not None
        assert place is not None
        if starts[image] - place_before <= columns[before][-1] or place - starts[image] < columns[image][0]:
            joints.add(image)
    return joints


def _places(text: str, shown: str) -> list[int | None]:
    """For every character of the text the index of the character on the images (`shown`) that it is aligned with, or
    that is at its place if the images lack it; None if it is on no image."""
    places: list[int | None] = [None] * len(text)
    for block in in_same_order(align(text, shown)):
        for op in block.ops:
            in_text, on_images = op.a1 - op.a0, op.b1 - op.b0
            surplus = in_text - on_images
            if surplus >= MIN_ABSENT_CHARACTERS:
                before = _before_surplus(text[op.a0 : op.a1], shown[op.b0 : op.b1])
                places[op.a0 : op.a0 + before] = range(op.b0, op.b0 + before)
                places[op.a1 - on_images + before : op.a1] = range(op.b0 + before, op.b1)
                continue
            for offset in range(in_text):
                places[op.a0 + offset] = min(op.b0 + offset * on_images // in_text, block.b1 - 1)
    _fill_gaps(places)
    return places


def _before_surplus(text: str, shown: str) -> int:
    """The number of characters on the images (`shown`) that stand before the surplus part of a longer text: as many as
    leave the most characters equal before and behind it."""
    surplus = len(text) - len(shown)
    before = accumulate((first == there for first, there in zip(text, shown, strict=False)), initial=0)
    behind = accumulate(
        (last == there for last, there in zip(text[: surplus - 1 : -1], shown[::-1], strict=True)), initial=0
    )
    equal = [sum(counts) for counts in zip(before, reversed([*behind]), strict=True)]
    return equal.index(max(equal))


def _fill_gaps(places: list[int | None]) -> None:
    """Place the characters of gaps between characters that stand near each other on the images."""
    near, surplus = [], []
    for before, behind in pairwise((index, place) for index, place in enumerate(places) if place is not None):
        length, distance = behind[0] - before[0] - 1, behind[1] - before[1]
        if not length:
            continue
        if length < MIN_ABSENT_CHARACTERS and distance <= length + MIN_ABSENT_CHARACTERS:
            near.append((before, behind))
        elif length <= MAX_SURPLUS_CHARACTERS and distance <= MAX_DISTANCE_OF_NEIGHBOURS:
            surplus.append((before, behind))
    if sum(end - start - 1 for (start, _), (end, _) in surplus) > MAX_SURPLUS_SHARE * len(places):
        surplus = []
    for (start, first), (end, last) in (*near, *surplus):
        places[start + 1 : end] = [min(first + number, last) for number in range(1, end - start)]


def _columns(
    edition: Transcription, addresses: Addresses, cells: Iterable[tuple[Layer, WitnessCell]]
) -> tuple[Column, ...]:
    """The lines of the file in which the cells stand, with only these cells; cells of commentary become notes."""
    columns = []
    for number, line in groupby(cells, key=lambda item: _line(addresses, item[1])):
        start, end = addresses.line("", number)
        runs = []
        for note, group in groupby(line, key=lambda item: item[0] in NOTES):
            row = Row.RIGHT if note else Row.MAIN
            runs.append(Run(note, tuple(Cell(cell.text, cell.start - start, cell.length, row) for _, cell in group)))
        columns.append(Column(number, edition.text[start:end], start, number, tuple(runs)))
    return tuple(columns)


def _line(addresses: Addresses, cell: WitnessCell) -> int:
    """The number of the file's line in which a cell stands, from 1."""
    address = addresses.of(cell.start)
    assert address is not None, "every character stands in a line"
    return address.line


def _page(name: str, columns: tuple[Column, ...], joined: tuple[bool, bool]) -> Page:
    parts = PageId.match(name)
    folio: Folio | None = parts.folio if parts else None
    first = columns[0].file_line if columns else 0
    return Page(
        name, folio, ImageRef.match(name), parts.juan if parts else "", first, columns, running=True, joined=joined
    )


def _remarks(
    edition: Transcription, image_of_cell: Sequence[int | None], cells: Sequence[WitnessCell], addresses: Addresses
) -> list[Remark]:
    """A remark for every passage that is on no image."""
    remarks: list[Remark] = []
    start = 0
    for is_on_no_image, group in groupby(image_of_cell, key=lambda image: image is None):
        size = sum(1 for _ in group)
        if is_on_no_image:
            quoted = "".join(cell.text for cell in cells[start : start + min(size, MAX_QUOTED_CHARACTERS)])
            if size > MAX_QUOTED_CHARACTERS:
                quoted += "…"
            line = _line(addresses, cells[start])
            remarks.append(Remark.of(edition.path, line, RemarkCode.ON_NO_IMAGE, text=quoted, number=size))
        start += size
    return remarks
