"""Collation notes as text: a list by juan and leaf, and footnotes in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from proof.errors import UsageError
from proof.exports.collation_notes import CollationNotes, juan_in_words, place_in_words
from proof.exports.source import CorrectedSource, behind
from proof.locale.marking import _
from proof.text.column import parse_column
from proof.text.edit import Edit, edited
from proof.text.lines import LINE_ENDING_SIGNS
from proof.text.numerals import numeral
from proof.text.positions import line_end
from proof.text.transcription import Format, Transcription, apparatus_notes

_NEXT_FOOTNOTE = re.compile(r"\s*(?=\[\^[^\]\n]+\]:)")
"""The white space before a footnote of the critical format."""


def house_list(collated: CollationNotes) -> str:
    """The notes as a numbered list by juan, each with leaf, column and its lemma in context, after a list of the
    witnesses with their full names."""
    script = collated.edition.script
    lines = [f"{siglum}：{name}" for siglum, name in collated.witnesses.items() if name]
    if lines:
        lines.append("")
    for juan, notes in groupby(collated.notes, key=lambda note: note.juan):
        if juan:
            lines.append(juan_in_words(juan, script))
        for note in notes:
            context = f"{note.before}〔{note.lemma}〕{note.after}"
            words = note.words.replace("\n", " ")
            lines.append(f"〔{numeral(note.number)}〕{place_in_words(note, script)}　{context}　{words}")
    return "".join(f"{line}\n" for line in lines)


def character_number(source: str, offset: int) -> int:
    """The number, from 1, of the character of a line at or after `offset`."""
    return 1 + sum(cell.offset + cell.length <= offset for cell in parse_column(source).cells if not cell.blank)


def with_footnotes(corrected: CorrectedSource, collated: CollationNotes) -> str:
    """The corrected text with a numbered footnote (of Markdown) after every place that has a note, also for the notes
    that the edition has outside its text.

    In the critical format the notes follow their paragraph, numbered after the existing ones; in other formats they
    follow the text. The result is for reading; the source itself gets no notes.
    """
    edition = corrected.edition
    highest = max((int(note.label) for note in edition.footnotes if note.label.isdecimal()), default=0)
    apparatus = apparatus_notes(edition.decoded)
    entries = [(note.start, id(note), note.text) for note in apparatus]
    entries = sorted(
        [*entries, *((note.start, id(note.placed), note.words) for note in collated.notes)], key=itemgetter(0)
    )
    labels = {key: f"[^{number}]" for number, (_, key, _) in enumerate(entries, highest + 1)}
    notes = [(start, f"{labels[key]}: {' '.join(words.splitlines())}") for start, key, words in entries]
    edits = [Edit(behind(corrected.edits, note.start), 0, labels[id(note)]) for note in apparatus]
    edits += [
        replace(placed.edit, replacement=_labelled(placed.edit.replacement, labels.get(id(placed), "")))
        for placed in corrected.placed
    ]
    # doubtful places have a note and no correction
    corrected_places = {id(placed) for placed in corrected.placed}
    doubtful = [note.placed for note in collated.notes if id(note.placed) not in corrected_places]
    edits += [Edit(placed.edit.end, 0, labels[id(placed)]) for placed in doubtful]
    try:
        return edited(edition.text, [*edits, *_note_edits(edition, notes)])
    except UsageError as error:
        raise UsageError(
            _("%(path)s: two notes are at the same place: %(error)s"), path=edition.path, error=error
        ) from error


def _labelled(replacement: str, label: str) -> str:
    """What a correction writes, with the label of its note before the line ending of a column."""
    end = len(replacement.rstrip(LINE_ENDING_SIGNS))
    return replacement[:end] + label + replacement[end:]


def _note_edits(edition: Transcription, notes: Sequence[tuple[int, str]]) -> list[Edit]:
    """The edits that insert the notes after their paragraph and its existing notes, or at the end of the text. `notes`
    are pairs of the noted place in the source and the line of the note."""
    newline = "\r\n" if "\r\n" in edition.text else "\n"
    by_place: dict[int, list[str]] = {}
    for start, note in notes:
        end = _paragraph_end(edition, start) if edition.format is Format.CRITICAL else len(edition.text)
        by_place.setdefault(end, []).append(note)
    edits = []
    for end, lines in by_place.items():
        line_start = edition.text.rfind("\n", 0, end) + 1
        follows_note = edition.text.startswith("[^", line_start)
        ends_with_newline = end == len(edition.text) and edition.text.endswith("\n")
        gap = newline if follows_note or ends_with_newline else newline * 2
        edits.append(Edit(end, 0, gap + newline.join(lines)))
    return edits


def _paragraph_end(edition: Transcription, start: int) -> int:
    """The end of the line at `start`, or of the last of the footnotes that follow it."""
    text = edition.text
    end = line_end(text, start)
    while (following := _NEXT_FOOTNOTE.match(text, end)) is not None and "\n" in following[0]:
        end = line_end(text, following.end())
    return end
