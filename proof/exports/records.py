"""Corrections as JSON lines, the form in which decisions are handed over between programs.

A line has the fields of `Correction`; `page`, `line`, `offset`, `length`, `original` and `replacement` are needed. A
line of `flags.jsonl` serves too, with `accepted` beside it: its `transcribed` is the original, its `suggested` the
replacement. A flag without `accepted` is undecided and is left out.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from proof.errors import TextError
from proof.exports.corrections import Correction
from proof.model.flags import LANGUAGE, WITHOUT_IMAGE, Kind
from proof.store.authorities import IMAGE

_KINDS = {"str": str, "int": int, "bool": bool, "Kind": str}
_OF_STORE = ("start", "number", "copy_reads", "readings", "doubt")
"""What is known of a correction that comes out of a store, and is in no file of corrections."""
_FIELDS = {field.name: _KINDS[str(field.type)] for field in fields(Correction) if field.name not in _OF_STORE}
_NEEDED = ("page", "line", "offset", "length", "original", "replacement")


def read_corrections(path: Path) -> list[Correction]:
    """The corrections of a file. Raises TextError with the line that cannot be used."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        why = f"the corrections cannot be read ({error.strerror}): check its name and permissions"
        raise TextError(path, None, why) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TextError(path, line, "this is not UTF-8: save the corrections as UTF-8") from error
    return [_correction(path, number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _correction(path: Path, number: int, line: str) -> Correction:
    try:
        told = json.loads(line)
    except ValueError as error:
        raise TextError(path, number, f"expected one JSON object: {error}") from error
    except RecursionError as error:
        raise TextError(path, number, "expected one JSON object: it is nested too deep") from error
    if not isinstance(told, dict):
        raise TextError(path, number, "expected one JSON object with the fields of a correction")
    if "transcribed" in told and "original" not in told:
        told = _of_flag(told)
    values: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        if name not in told:
            if name in _NEEDED:
                raise TextError(path, number, f"expected {name!r}: {', '.join(_NEEDED)} are needed")
            continue
        value = told[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TextError(path, number, f"expected {name!r} to be of type {kind.__name__}, not {value!r}")
        values[name] = value
    if values.get("kind", Kind.SUBSTITUTION) not in set(Kind):
        raise TextError(path, number, f"expected 'kind' to be one of {', '.join(Kind)}, not {values['kind']!r}")
    if "kind" in values:
        values["kind"] = Kind(values["kind"])
    return Correction(**values)


def _of_flag(told: dict[str, Any]) -> dict[str, Any]:
    """A flag as a correction: accepted only where it says so, after the image unless it was raised without one."""
    evidence = told.get("evidence")
    of_image = isinstance(evidence, dict) and evidence.get("reason", LANGUAGE) not in WITHOUT_IMAGE
    return {
        **told,
        "original": told["transcribed"],
        "replacement": told.get("replacement", told.get("suggested")),
        "witness": told.get("witness", IMAGE if of_image else ""),
        "flag": told.get("id", ""),
        "accepted": told.get("accepted", False),
    }
