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
FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
"""What a spreadsheet may take for the beginning of a formula."""
BREAKS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""What some readers take for the end of a line, though JSON does not."""


def flag_record(flag: Flag) -> dict[str, Any]:
    """A flag as a line of `flags.jsonl`: notices of its evidence with their sentence and their code."""
    record, evidence = flag.as_dict(), flag.evidence
    added = {"ink": evidence.ink, "notice": evidence.notice}
    return record | {
        "evidence": record["evidence"] | {name: as_record(value) for name, value in added.items() if value}
    }


def json_line(flag: Flag) -> str:
    """A line of `flags.jsonl`."""
    return json.dumps(flag_record(flag), ensure_ascii=False).translate(BREAKS) + "\n"


def spreadsheet(file: IO[str]) -> csv.DictWriter[str]:
    """Begin `flags.csv`: it opens right in a spreadsheet when the file is UTF-8 with a byte-order mark."""
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
    return {name: harmless(cell) if isinstance(cell, str) else cell for name, cell in cells.items()}


def harmless(cell: str) -> str:
    """`cell` as a spreadsheet shows it and does not run it."""
    return f"'{cell}" if cell[:1] in FORMULA else cell
