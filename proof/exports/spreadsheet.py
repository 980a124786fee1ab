"""Decisions as a spreadsheet: a row for each correction and for each note on a text that is kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from proof.exports.corrections import PlacedCorrection
from proof.exports.note_files import character_number
from proof.report.tables import harmless
from proof.text.addresses import Addresses
from proof.text.transcription import Transcription

COLUMNS = ("page", "column", "character", "kind", "before", "after", "copy", "authority", "remark", "person", "flag")


def spreadsheet(edition: Transcription, placed: Iterable[PlacedCorrection]) -> bytes:
    """A CSV file with a row for each correction, in the order given, in UTF-8 with a byte-order mark. The column
    `character` is the number of the character in its column of the page, from 1; `copy` is the reading of the copy if
    the text is kept against it. An apostrophe precedes text that a spreadsheet would take for a formula."""
    addresses = Addresses(edition)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for correction in (change.correction for change in placed if not change.correction.restores):
        begin, end = addresses.line(correction.page, correction.line)
        number = character_number(edition.text[begin:end], correction.offset)
        readings = (correction.replaced, correction.replacement, correction.copy_reads or "")
        row = (
            correction.page,
            correction.line,
            number,
            correction.kind.value,
            *readings,
            correction.authority,
            correction.note,
            correction.person,
            correction.flag,
        )
        writer.writerow(map(harmless, row))
    return file.getvalue().encode("utf-8-sig")
