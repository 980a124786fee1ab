"""The flags as lines of JSON and as a spreadsheet."""

from __future__ import annotations

import csv
import json
from typing import IO, Any

from proof.locale.notices import as_record
from proof.model.flags import Flag

COLUMNS = (
    "page",
    "ref",
    "line",
    "offset",
    "length",
    "kind",
    "transcribed",
    "suggested",
    "score",
    "raised",
    "reason",
    "rule",
    "context",
    "x",
    "y",
    "w",
    "h",
    "id",
    "moved",
)
"""The columns of `flags.csv`."""

FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
"""Characters that a spreadsheet may take for the start of a formula."""

LINE_BREAKS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Characters that some programs take for line ends, though JSON allows them within a line."""


def flag_record(flag: Flag) -> dict[str, Any]:
    """The record of a flag in `flags.jsonl`; its notices are replaced by records with sentence, code and values."""
    record, evidence = flag.as_dict(), flag.evidence
    for name, notice in (("ink", evidence.ink), ("notice", evidence.notice)):
        if notice:
            record["evidence"][name] = as_record(notice)
    return record


def json_line(flag: Flag) -> str:
    """A line of `flags.jsonl`."""
    return json.dumps(flag_record(flag), ensure_ascii=False).translate(LINE_BREAKS) + "\n"


def spreadsheet(file: IO[str]) -> csv.DictWriter[str]:
    """Write the header of `flags.csv` and return the writer for its rows. Open `file` as UTF-8 with a byte-order mark,
    which spreadsheets need."""
    writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    return writer


def row(flag: Flag) -> dict[str, object]:
    """A row of `flags.csv`. Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    box = flag.bbox.rounded() if flag.bbox else [""] * 4
    cells = flag.as_dict() | {
        "raised": "yes" if flag.raised else "no",
        "reason": flag.evidence.reason,
        "rule": flag.evidence.rule,
        "context": flag.context,
        "moved": flag.moved,
        **dict(zip("xywh", box, strict=True)),
    }
    return {name: harmless(cell) for name, cell in cells.items()}


def harmless(cell: object) -> object:
    """A cell; text that a spreadsheet would run as a formula has an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in FORMULA else cell
