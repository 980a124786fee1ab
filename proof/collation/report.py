"""Writing the files of a collation: JSON lines of flags, a summary, CollateX, and a spreadsheet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from proof.atomic import whole_file
from proof.collation.apparatus import apparatus_of
from proof.collation.collatex import collatex
from proof.collation.collation import Collation, Passage
from proof.collation.differences import Difference, SystematicPair
from proof.collation.findings import flags
from proof.collation.note_layout import NoteLayout
from proof.collation.sigla import names_of
from proof.collation.table import write_spreadsheet
from proof.report.tables import flag_record
from proof.text.addresses import Addresses
from proof.text.transcription import Transcription
from proof.text.witnesses import line_of


def summary(collation: Collation) -> dict[str, Any]:
    """A collation in figures and lists, as JSON takes it."""
    edition, witness = collation.base.edition, collation.witness.edition
    addresses, there = Addresses(edition), Addresses(witness)
    unplaced = [place for place in collation.placements if not place.placed]
    return {
        "base": str(edition.path),
        "witness": str(witness.path),
        "siglum": witness.siglum,
        "characters": {"base": len(collation.base), "witness": len(collation.witness)},
        "differences": dict(Counter(difference.category.value for difference in collation.differences)),
        "set as notes": [_note(collation, layout) for layout in collation.notes],
        "rules": dict(Counter(difference.rule for difference in collation.differences if difference.rule)),
        "places": [_difference(addresses, difference) for difference in collation.differences],
        "systematic": [_pair(addresses, there, pair) for pair in collation.systematic],
        "paragraphs": {"placed": len(collation.placements) - len(unplaced), "not placed": len(unplaced)},
        "not placed": [
            _line(edition, place.start)
            | {"found": round(place.share, 3)}
            | ({"in witness": _line(witness, place.witness_start)} if place.witness_start is not None else {})
            | ({"said again": round(place.again, 3)} if place.again else {})
            for place in unplaced
        ],
        "only in base": [_passage(edition, passage) for passage in collation.only_base],
        "only in witness": [_passage(witness, passage) for passage in collation.only_witness],
        "not compared": [layer.value for layer in collation.left_out],
        "quality": [asdict(quality) for quality in collation.quality],
        "apparatus": {"base": apparatus_summary(edition), "witness": apparatus_summary(witness)},
    }


def _difference(addresses: Addresses, difference: Difference) -> dict[str, Any]:
    """A difference with its address in the base: page (where the base has pages), line and offset."""
    at = addresses.of(difference.start)
    where = {"page": at.page, "line": at.line, "offset": at.offset} if at else {}
    fields = where | {"base": difference.base, "witness": difference.witness}
    fields |= {"class": difference.category.value, "rule": difference.rule}
    return {name: value for name, value in fields.items() if value != "" or name in ("base", "witness")}


def apparatus_summary(edition: Transcription) -> dict[str, Any]:
    """The collation notes of an edition counted by verb, and those that were not understood."""
    notes = apparatus_of(edition)
    return {
        "notes": len(notes),
        "verbs": dict(Counter(note.verb for note in notes if note.understood).most_common()),
        "not understood": [f"{in_file(edition, note.start)}: {note.text}" for note in notes if not note.understood],
    }


def _line(edition: Transcription, start: int) -> dict[str, Any]:
    file, line = line_of(edition, start)
    return {"file": file, "line": line}


def in_file(edition: Transcription, start: int) -> str:
    """The file and line of a code point, as messages name them."""
    return "{}:{}".format(*line_of(edition, start))


def _pair(base: Addresses, witness: Addresses, pair: SystematicPair) -> dict[str, Any]:
    return {
        "base": pair.base,
        "witness": pair.witness,
        "side": pair.side.value,
        "confirmed": pair.confirmed,
        "places": _addressed(base, pair.places),
        "witness places": _addressed(witness, pair.witness_places),
    }


def _addressed(addresses: Addresses, places: Sequence[int]) -> list[tuple[str, int, int]]:
    known = (addresses.of(place) for place in places)
    return [(address.page, address.line, address.offset) for address in known if address is not None]


def _note(collation: Collation, layout: NoteLayout) -> dict[str, Any]:
    """The same words that are text in one of the two and a note in the other."""
    words = {"text": collation.base.text(layout.a0, layout.a1), "note in": layout.note.value}
    return _line(collation.base.edition, layout.start) | words


def _passage(edition: Transcription, passage: Passage) -> dict[str, Any]:
    fields = _line(edition, passage.start) | {"characters": passage.length, "text": passage.text}
    return fields | ({"said again": passage.again} if passage.again else {})


_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
"""A value as JSON, whole: `json.dump` does not use the encoder in C and is ten times slower."""


def _in_lines(record: dict[str, Any]) -> str:
    """A record as JSON, a line each for its fields and for the items of those that are lists."""
    fields = (
        "[\n  " + ",\n  ".join(map(_json, value)) + "\n ]" if isinstance(value, list) and value else _json(value)
        for value in record.values()
    )
    return "{\n " + ",\n ".join(f"{_json(name)}: {field}" for name, field in zip(record, fields, strict=True)) + "\n}"


def _write_list(file: IO[str], items: Iterable[str]) -> None:
    """A list in JSON of items that are JSON, a line each."""
    file.write("[")
    for number, item in enumerate(items):
        file.write((",\n" if number else "\n") + item)
    file.write("\n]\n")


def write_collation(collations: Sequence[Collation], folder: Path) -> None:
    """Write `flags.jsonl`, `places.csv` (a line a place, a column a witness), `collation.json` and `collatex.json` into
    `folder`.

    Raises OutputError where they cannot be written.
    """
    with whole_file(folder / "flags.jsonl") as file:
        for flag in flags(*collations):
            reading = (reading.siglum for reading in flag.evidence.witnesses if reading.reading == flag.suggested)
            file.write(_json(flag_record(flag) | {"witness": "、".join(reading)}) + "\n")
    with whole_file(folder / "collation.json") as file:
        _write_list(file, map(_in_lines, map(summary, collations)))
    with whole_file(folder / "collatex.json") as file:
        base = collations[0].base.edition
        sigla = names_of([base, *(collation.witness.edition for collation in collations)], ending=True)
        witnesses, rows = collatex(collations, sigla)
        file.write(f'{{"witnesses": {_json(witnesses)}, "table": ')
        _write_list(file, map(_json, rows))
        file.write("}\n")
    write_spreadsheet(collations, folder / "places.csv")
