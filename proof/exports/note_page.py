"""The corrected text and its collation notes as one HTML page, to read and to print."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from proof.exports.collation_notes import CollationNotes, in_script, juan_in_words, place_in_words
from proof.exports.noted_text import NotedParagraph
from proof.locale.templates import templates_in
from proof.text.numerals import numeral
from proof.text.transcription import Footnote


def note_page(paragraphs: Sequence[NotedParagraph], collated: CollationNotes, title: str) -> bytes:
    """The page: it opens offline. What was deleted is shown on the screen, and not in print."""
    script = collated.edition.script
    juans = [
        (juan_in_words(juan, script), [(place_in_words(note, script), note) for note in notes])
        for juan, notes in groupby(collated.notes, key=lambda note: note.juan)
    ]
    footnotes = [run.note for paragraph in paragraphs for run in paragraph.runs if isinstance(run.note, Footnote)]
    page = templates_in("en").get_template("notes.html")
    html = page.render(
        lang=script.tag,
        title=title,
        heading=in_script("校勘記", script),
        footnote_heading="附注",
        paragraphs=paragraphs,
        witnesses=collated.witnesses,
        juans=juans,
        numbers={note: number for number, note in enumerate(collated.notes, 1)},
        footnotes={note: number for number, note in enumerate(footnotes, 1)},
        numeral=numeral,
    )
    return html.encode("utf-8", "replace")
