"""The corrected text as paragraphs to read, with what was changed and the notes at their places: what HTML and DOCX are
made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proof.exports.collation_notes import CollationNote, CollationNotes, juan_in_words, leaf_in_words
from proof.exports.source import CorrectedSource
from proof.text.layers import BlockKind, Layer, TextBlock

COMMENTARY = frozenset({Layer.COMMENTARY, Layer.SUBCOMMENTARY, Layer.GLOSS, Layer.EDITOR})
"""Layers that are set smaller than the text."""


class Change(StrEnum):
    """What became of the characters of a run."""

    KEPT = "kept"
    INSERTED = "inserted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class NotedRun:
    """Characters of one kind; `person` made the change, `note` is what stands behind them."""

    text: str
    change: Change = Change.KEPT
    commentary: bool = False
    person: str = ""
    note: CollationNote | None = None


@dataclass(slots=True)
class NotedParagraph:
    """A paragraph of a running text, or a page of columns; `label` names the leaf, `level` is that of a heading."""

    label: str = ""
    level: int = 0
    runs: list[NotedRun] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place with a change, a note or both: code points of the source."""

    start: int
    end: int
    old: str
    new: str
    person: str
    note: CollationNote | None

    def runs(self, commentary: bool) -> Iterator[NotedRun]:
        changed = [(self.old, Change.DELETED), (self.new, Change.INSERTED)] if self.old != self.new else []
        changed = changed or [(self.old, Change.KEPT)]
        runs = [NotedRun(text, change, commentary, self.person) for text, change in changed if text]
        yield from runs
        if self.note is not None:
            yield NotedRun("", Change.KEPT, commentary, note=self.note)


def noted_text(corrected: CorrectedSource, notes: CollationNotes) -> list[NotedParagraph]:
    """The paragraphs of the corrected text, in its order."""
    walk = _Walk(corrected.edition.text, _places(corrected, notes))
    paragraphs: list[NotedParagraph] = []
    script = corrected.edition.script
    labels = {
        page.id: "　".join(filter(None, (juan_in_words(page.juan, script), leaf_in_words(page, script))))
        for page in corrected.edition.pages
    }
    last: TextBlock | None = None
    for block in corrected.edition.blocks:
        heading = block.kind is BlockKind.HEADING
        new_page = block.page and (last is None or last.page != block.page)
        if heading or last is None or new_page or not block.page or last.kind is BlockKind.HEADING:
            label = labels.get(block.page, "") if new_page else ""
            paragraphs.append(NotedParagraph(label, block.level if heading else 0))
        paragraphs[-1].runs += walk.block(block)
        last = block
    if paragraphs:
        paragraphs[-1].runs += walk.rest()
    return [paragraph for paragraph in paragraphs if paragraph.runs or paragraph.label]


def _places(corrected: CorrectedSource, notes: CollationNotes) -> list[_Place]:
    """All places, in the order of the source; a character that moved has its note where it belongs."""
    note_of = {id(note.placed): note for note in notes.notes}
    changed = [
        _Place(
            change.edit.start,
            change.edit.end,
            corrected.edition.text[change.edit.start : change.edit.end],
            change.edit.replacement,
            change.correction.person,
            note_of.pop(id(change), None),
        )
        for change in corrected.placed
    ]
    for note in note_of.values():
        edit = note.placed.edit
        changed.append(_Place(edit.start, edit.end, edit.replacement, edit.replacement, "", note))
    return sorted(changed, key=lambda place: (place.start, place.end))


class _Walk:
    """Goes through the source, giving every stretch its runs and every place once."""

    def __init__(self, text: str, places: Sequence[_Place]) -> None:
        self._text, self._places, self._next, self._at = text, places, 0, 0

    def block(self, block: TextBlock) -> Iterator[NotedRun]:
        """The runs of a column, a paragraph or a heading."""
        commentary = False
        for stretch in block.stretches:
            commentary = stretch.layer in COMMENTARY
            self._at = max(self._at, stretch.start)
            yield from self._to(stretch.end, commentary, last=stretch is block.stretches[-1])
        while self._next < len(self._places) and self._places[self._next].start <= block.end:
            yield from self._place(commentary)

    def rest(self) -> Iterator[NotedRun]:
        """Places behind the last block."""
        while self._next < len(self._places):
            yield from self._place(False)

    def _to(self, end: int, commentary: bool, *, last: bool) -> Iterator[NotedRun]:
        """The text up to `end`, with the places in it; what is inserted at the end belongs to it where it is the `last`
        of its block."""
        while self._next < len(self._places):
            place = self._places[self._next]
            if place.start > end or (place.start == end and not (last and place.end == place.start)):
                break
            if place.start > self._at:
                yield NotedRun(self._text[self._at : place.start], commentary=commentary)
            yield from self._place(commentary)
        if end > self._at:
            yield NotedRun(self._text[self._at : end], commentary=commentary)
            self._at = end

    def _place(self, commentary: bool) -> Iterator[NotedRun]:
        place = self._places[self._next]
        self._next += 1
        self._at = max(self._at, place.end)
        yield from place.runs(commentary)
