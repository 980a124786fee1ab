"""A collation as a table with a row for each place and a column for each witness: an HTML page and a spreadsheet.

The page can be opened offline: it includes its style and script, and links to the image files.
"""

from __future__ import annotations

import csv
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import numpy as np

from proof.atomic import whole_file
from proof.collation.classes import LACUNA, RANK, Class
from proof.collation.collation import Collation
from proof.collation.differences import MOVED, Difference, aligned_pairs
from proof.collation.note_layout import NOTE, NoteLayout
from proof.collation.sigla import names_of
from proof.collation.tokens import Indices, WitnessTokens
from proof.collation.witnesses import CommonBase, witness_names
from proof.images.pdf import PdfPage
from proof.locale.languages import translations
from proof.locale.templates import templates_in, write_page
from proof.report.tables import harmless
from proof.text.addresses import Address, Addresses

CONTEXT_CHARACTERS = 6
"""Number of characters shown before and after a place."""

HIDDEN_CLASSES = frozenset({Class.SCRIPT, Class.LAYOUT})
"""Classes that are hidden until the reader selects them."""

Images = Mapping[str, Path]
"""The image files of pages by page id."""


@dataclass(frozen=True, slots=True)
class TableReading:
    """The text of a witness at a place, with the characters before and after it; `text` is None if the witness lacks
    the whole part. `shown` is the text, shortened if it is long. `category` is empty if it reads as the base."""

    before: str = ""
    text: str | None = None
    behind: str = ""
    shown: str = ""
    category: str = ""
    evidence: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A place of the base: its address (`page` is empty in a text without pages), the link to its image or an empty
    string, and a reading for each witness."""

    address: Address
    image: str
    base: TableReading
    readings: tuple[TableReading, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """The classes of its differences."""
        return tuple(dict.fromkeys(reading.category for reading in self.readings if reading.category))


def class_names(gettext: Callable[[str], str]) -> dict[str, str]:
    """The translated names of the classes."""
    return {
        Class.ERROR: gettext("error"),
        Class.READING: gettext("other reading"),
        Class.ORTHOGRAPHY: gettext("orthography"),
        Class.TABOO: gettext("taboo form"),
        Class.SCRIPT: gettext("other script"),
        Class.UNENCODED: gettext("unencoded character"),
        Class.LAYOUT: gettext("layout of notes and titles"),
        Class.SYSTEMATIC: gettext("systematic"),
        Class.PASSAGE: gettext("passage in one text only"),
        Class.MOVED: gettext("moved"),
        Class.UNLIKE: gettext("not parallel"),
        Class.PARALLEL: gettext("parallel text"),
    }


def evidence_names(gettext: Callable[[str], str]) -> dict[str, str]:
    """The translated names of the rules. Lists of variants are shown by their own names."""
    return {
        "unlisted": "",
        "two-standards": "",
        "one-shape": gettext("written alike"),
        "borrowing": gettext("a known borrowing"),
        "homophones": gettext("sound alike"),
        "opencc-one-to-many": gettext("one simplified character"),
        "simplified-in-traditional": gettext("a simplified form in a traditional text"),
        "look-alike": gettext("look alike; elsewhere only the other has these neighbours"),
        "look-alike-rare": gettext("look alike; one of them is rare"),
        "look-alike-shape": gettext("look alike"),
        MOVED: gettext("is at another place"),
        "doubled": gettext("written twice"),
        "said-again": gettext("repeats another passage"),
        "particle": gettext("a particle"),
        "phrase": gettext("a phrase"),
        "title": gettext("title of a juan"),
        "heading": gettext("a heading"),
        "label": gettext("announces commentary"),
        NOTE: gettext("text in one, note in the other"),
        "no-code-point": gettext("no code point"),
        LACUNA: gettext("illegible"),
        "composed": gettext("composed of parts"),
        "apparatus": gettext("according to the apparatus"),
        "project": gettext("the project's own pair"),
        "house": gettext("sorted by hand"),
    }


def rows(collations: Sequence[Collation], images: Images, folder: Path) -> list[TableRow]:
    """The places at which any witness differs from the base, in the order of the base, which all collations share.
    Links to `images` are relative to `folder`."""
    common = CommonBase.of(collations)
    base = common.tokens
    addresses = Addresses(base.edition)
    places: dict[tuple[int, int], dict[int, list[Difference | NoteLayout]]] = defaultdict(lambda: defaultdict(list))
    for number, collation in enumerate(collations):
        items: list[Difference | NoteLayout] = [*collation.differences, *collation.note_layouts]
        for item in items:
            places[common.span(number, item.a0, item.a1)][number].append(item)
    aligned = [_aligned(common, number, collation) for number, collation in enumerate(collations)]
    table = []
    for (a0, a1), differing in sorted(places.items()):
        first = next(iter(differing.values()))[0]
        address = addresses.of(first.start) or Address("", 0, 0)
        readings = tuple(
            _differing(collation.witness, differing[number])
            if number in differing
            else _agreeing(collation.witness, aligned[number], a0, a1)
            for number, collation in enumerate(collations)
        )
        image = _link(images[address.page], folder) if address.page in images else ""
        table.append(TableRow(address, image, _reading(base, a0, a1), readings))
    return table


def _link(image: Path, folder: Path) -> str:
    """The relative link from an HTML page in a folder to an image, or to a page of a PDF."""
    scan = PdfPage.match(image)
    path = os.path.relpath((scan.file if scan else image).resolve(), folder.resolve())
    return quote(path) + (f"#page={scan.number}" if scan else "")


def _aligned(common: CommonBase, number: int, collation: Collation) -> Indices:
    """The index in the witness of each character of the common base; -1 if the witness does not have it."""
    aligned = np.full(len(common.tokens), -1, dtype=np.int64)
    base_indices, witness_indices = aligned_pairs(collation.blocks)
    aligned[np.asarray(common.numbers[number], dtype=np.int64)[base_indices]] = witness_indices
    return aligned


def _differing(witness: WitnessTokens, items: Sequence[Difference | NoteLayout]) -> TableReading:
    """The reading of a witness at a place where it differs from the base: in the words, or else in the layout."""
    differences = [item for item in items if isinstance(item, Difference)]
    if not differences:
        reading = _reading(witness, items[0].b0, items[0].b1)
        return replace(reading, category=Class.LAYOUT.value, evidence=NOTE)
    heaviest = max(differences, key=lambda difference: RANK.index(difference.category))
    reading = _reading(witness, differences[0].b0, differences[-1].b1)
    notes = tuple(dict.fromkeys(note.text for difference in differences for note in difference.notes))
    return replace(reading, category=heaviest.category.value, evidence=heaviest.rule, notes=notes)


def _agreeing(witness: WitnessTokens, aligned: Indices, a0: int, a1: int) -> TableReading:
    """The reading of a witness that does not differ at characters `a0:a1` of the base: the same words, or nothing of
    this part."""
    if a1 > a0:
        first, last = int(aligned[a0]), int(aligned[a1 - 1])
        return TableReading() if min(first, last) < 0 else _reading(witness, first, last + 1)
    before = int(aligned[a0 - 1]) if a0 else -1
    after = int(aligned[a1]) if a1 < len(aligned) else -1
    if max(before, after) < 0:
        return TableReading()
    at = after if after >= 0 else before + 1
    return _reading(witness, at, at)


def _reading(witness: WitnessTokens, start: int, end: int) -> TableReading:
    """Characters `start:end` of a witness with those before and after them."""
    before = witness.text(max(0, start - CONTEXT_CHARACTERS), start)
    after = witness.text(end, end + CONTEXT_CHARACTERS)
    return TableReading(before, witness.text(start, end), after, witness.shown(start, end))


def write_spreadsheet(collations: Sequence[Collation], path: Path) -> None:
    """Write the table as CSV: the address of each place, the reading of the base, and that of each witness with the
    class of its difference, both blank if it lacks the part. Raises OutputError."""
    names = witness_names(collations)
    with whole_file(path, encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow(["page", "line", "offset", "base", *(part for name in names for part in (name, "class"))])
        for row in rows(collations, {}, path.parent):
            cells = (
                ("", "") if reading.text is None else (reading.text or "∅", reading.category or "same")
                for reading in row.readings
            )
            line = (*astuple(row.address), row.base.text or "∅", *chain.from_iterable(cells))
            table.writerow(map(harmless, line))


def write_table(
    collations: Sequence[Collation], path: Path, *, language: str = "en", images: Images | None = None
) -> None:
    """Write the HTML page. `images` are those of the base. Raises OutputError if it cannot be written, UsageError for
    an unknown language."""
    catalogue = translations(language)
    environment = templates_in(language)
    base = collations[0].base.edition
    base_name, *names = names_of([base, *(collation.witness.edition for collation in collations)], ending=True)
    table = rows(collations, images or {}, path.parent)
    write_page(
        environment,
        "collate",
        path,
        language=language,
        title=base.title or base.path.stem,
        base=base_name,
        names=names,
        scripts=[collation.witness.edition.script.tag for collation in collations],
        base_script=base.script.tag,
        rows=table,
        alone=[
            (name, collation.only_base, collation.only_witness)
            for name, collation in zip(names, collations, strict=True)
        ],
        counts=Counter(category for row in table for category in row.categories),
        classes=class_names(catalogue.gettext),
        evidence=evidence_names(catalogue.gettext),
        unshown=HIDDEN_CLASSES,
    )
