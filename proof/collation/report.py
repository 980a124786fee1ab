"""Writing the files of a collation: flags as JSON lines, a summary, CollateX, and a spreadsheet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from proof.atomic import whole_file
from proof.collation.apparatus import apparatus_of
from proof.collation.collatex import alignment_table
from proof.collation.collation import Collation, ParallelPlace, Passage
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
    """A collation as counts and lists for JSON."""
    base, witness = collation.base.edition, collation.witness.edition
    base_addresses, witness_addresses = Addresses(base), Addresses(witness)
    unplaced = [place for place in collation.placements if not place.is_placed]
    return {
        "base": str(base.path),
        "witness": str(witness.path),
        "siglum": witness.siglum,
        "characters": {"base": len(collation.base), "witness": len(collation.witness)},
        "differences": dict(Counter(difference.category.value for difference in collation.differences)),
        "set as notes": [_note(collation, layout) for layout in collation.note_layouts],
        "rules": dict(Counter(difference.rule for difference in collation.differences if difference.rule)),
        "places": [_difference(base_addresses, difference) for difference in collation.differences],
        "systematic": [_pair(base_addresses, witness_addresses, pair) for pair in collation.systematic],
        "paragraphs": {"placed": len(collation.placements) - len(unplaced), "not placed": len(unplaced)},
        "not placed": [_unplaced(base, witness, place) for place in unplaced],
        "only in base": [_passage(base, passage) for passage in collation.only_base],
        "only in witness": [_passage(witness, passage) for passage in collation.only_witness],
        "not compared": [layer.value for layer in collation.uncompared_layers],
        "quality": [asdict(quality) for quality in collation.quality],
        "apparatus": {"base": apparatus_summary(base), "witness": apparatus_summary(witness)},
    }


def _unplaced(base: Transcription, witness: Transcription, place: ParallelPlace) -> dict[str, Any]:
    fields = _line(base, place.start) | {"found": round(place.share, 3)}
    if place.witness_start is not None:
        fields["in witness"] = _line(witness, place.witness_start)
    if place.repeated_share:
        fields["said again"] = round(place.repeated_share, 3)
    return fields


def _difference(addresses: Addresses, difference: Difference) -> dict[str, Any]:
    """A difference with its address in the base: page (if the base has pages), line and offset."""
    address = addresses.of(difference.start)
    fields = asdict(address) if address else {}
    fields |= {"base": difference.base, "witness": difference.witness}
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
    of_places = map(addresses.of, places)
    return [(address.page, address.line, address.offset) for address in of_places if address is not None]


def _note(collation: Collation, layout: NoteLayout) -> dict[str, Any]:
    """Words that are main text in one of the two and a note in the other."""
    words = {"text": collation.base.text(layout.a0, layout.a1), "note in": layout.note.value}
    return _line(collation.base.edition, layout.start) | words


def _passage(edition: Transcription, passage: Passage) -> dict[str, Any]:
    fields = _line(edition, passage.start) | {"characters": passage.length, "text": passage.text}
    return fields | ({"said again": passage.repeated_count} if passage.repeated_count else {})


_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
"""A value as JSON. `json.dump` does not use the encoder in C and is ten times slower."""


def _in_lines(record: dict[str, Any]) -> str:
    """A record as JSON with a line for each field and for each item of a field that is a list."""
    fields = []
    for name, value in record.items():
        is_list = isinstance(value, list) and value
        text = "[\n  " + ",\n  ".join(map(_json, value)) + "\n ]" if is_list else _json(value)
        fields.append(f"{_json(name)}: {text}")
    return "{\n " + ",\n ".join(fields) + "\n}"


def _write_list(file: IO[str], items: Iterable[str]) -> None:
    """Write a JSON list of items that are JSON, each on a line."""
    file.write("[")
    for number, item in enumerate(items):
        file.write((",\n" if number else "\n") + item)
    file.write("\n]\n")


def write_collation(collations: Sequence[Collation], folder: Path) -> None:
    """Write `flags.jsonl`, `places.csv` (a row for each place, a column for each witness), `collation.json` and
    `collatex.json` into `folder`. Raises OutputError if they cannot be written."""
    with whole_file(folder / "flags.jsonl") as file:
        for flag in flags(*collations):
            sigla = (reading.siglum for reading in flag.evidence.witnesses if reading.reading == flag.suggested)
            file.write(_json(flag_record(flag) | {"witness": "、".join(sigla)}) + "\n")
    with whole_file(folder / "collation.json") as file:
        _write_list(file, map(_in_lines, map(summary, collations)))
    with whole_file(folder / "collatex.json") as file:
        base = collations[0].base.edition
        names = names_of([base, *(collation.witness.edition for collation in collations)], ending=True)
        witnesses, rows = alignment_table(collations, names)
        file.write(f'{{"witnesses": {_json(witnesses)}, "table": ')
        _write_list(file, map(_json, rows))
        file.write("}\n")
    write_spreadsheet(collations, folder / "places.csv")
