"""Corrections as JSON lines, to exchange decisions with other programs.

A line has the fields of `Correction`, two of them with other names (`_RENAMED_FIELDS`); `page`, `line`, `offset`,
`length`, `original` and `replacement` are required. A line of `flags.jsonl` with the field `accepted` is also read: its
`transcribed` is the original, its `suggested` the replacement. Without `accepted` a flag is undecided. What is not
accepted, or answers a planted error (`audit`), is left out.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from proof.errors import TextError
from proof.exports.corrections import Correction
from proof.locale.marking import Sentence, _
from proof.model.flags import LANGUAGE, WITHOUT_IMAGE
from proof.store.authorities import IMAGE
from proof.text.encoding import utf8_text


@dataclass(frozen=True, slots=True)
class _Record(Correction):
    """A line of the file."""

    accepted: bool = True
    audit: bool = False


_RECORD = TypeAdapter(_Record)
_STORE_FIELDS = frozenset({"start", "number", "copy_reads", "readings", "names", "doubt", "has_image"})
"""Fields that only the store sets; in a file of corrections they are ignored."""

_RENAMED_FIELDS = {"witness": "authority", "typed": "is_typed"}
"""Fields of a line by their names in the file, with their names in `Correction`, which the file may not use."""

_IGNORED_FIELDS = _STORE_FIELDS.union(_RENAMED_FIELDS.values())

_REQUIRED_FIELDS = tuple(field.name for field in fields(Correction) if field.default is MISSING)
"""Fields that every line must have."""


def read_corrections(path: Path) -> list[Correction]:
    """Read the accepted corrections of a file. Raises TextError, which names the faulty line."""
    lines = utf8_text(path, _("corrections")).split("\n")
    records = [_record(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    return [record for record in records if record.accepted and not record.audit]


def _record(path: Path, number: int, line: str) -> _Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        expected = _(
            "expected one JSON object a line: a correction with %(fields)s, or a line of flags.jsonl with "
            '"accepted": true beside it; a spreadsheet is not read'
        )
        raise TextError(path, number, expected, fields=", ".join(_REQUIRED_FIELDS))
    if "transcribed" in record and "original" not in record:
        record = _from_flag(record)
    record = {_RENAMED_FIELDS.get(name, name): value for name, value in record.items() if name not in _IGNORED_FIELDS}
    try:
        return _RECORD.validate_json(json.dumps(record), strict=True)
    except ValidationError as error:
        wrong = error.errors()[0]
        field_name = wrong["loc"][0]
        why = Sentence(
            _("%(field)s: %(why)s; a correction has %(fields)s"),
            field=next((name for name, own in _RENAMED_FIELDS.items() if own == field_name), field_name),
            why=wrong["msg"],
            fields=", ".join(_REQUIRED_FIELDS),
        )
        raise TextError(path, number, why) from error


def _from_flag(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a correction from a line of `flags.jsonl`. Without `accepted` it is not accepted. Its witness is
    the image, unless the line names another or the flag was raised without an image."""
    evidence = record.get("evidence")
    of_image = isinstance(evidence, dict) and evidence.get("reason", LANGUAGE) not in WITHOUT_IMAGE
    return {
        **record,
        "original": record["transcribed"],
        "replacement": record.get("replacement", record.get("suggested")),
        "witness": record.get("witness", IMAGE if of_image else ""),
        "flag": record.get("id", ""),
        "accepted": record.get("accepted", False),
    }
