"""The corrected text as paragraphs with changes and notes at their places, from which HTML and DOCX are made."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from proof.exports.collation_notes import CollationNote, CollationNotes, juan_in_words, leaf_in_words
from proof.exports.corrections import PlacedCorrection
from proof.exports.source import CorrectedSource
from proof.text.layers import SET_SMALL, BlockKind, TextBlock
from proof.text.positions import Span
from proof.text.transcription import Footnote

MAX_LAST_COLUMN_SHARE = 0.5
"""Length of a column, relative to the longest of its page, below which a paragraph ends with it, or it is a title."""


class Change(StrEnum):
    """What the corrections did to the characters of a run."""

    KEPT = "kept"
    INSERTED = "inserted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class NotedRun:
    """Characters with the same `change`, which `person` made; `note` is the collation note behind them, or a footnote
    that the edition has itself."""

    text: str
    change: Change = Change.KEPT
    commentary: bool = False
    person: str = ""
    note: CollationNote | Footnote | None = None


@dataclass(slots=True)
class NotedParagraph:
    """A paragraph of a running text, or columns of a page up to one that is not full; `label` names the leaf that
    begins here, `level` is the level of a heading (0: none)."""

    label: str = ""
    level: int = 0
    runs: list[NotedRun] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place of the source, from code point `start` to `end`, with a change, a note or both."""

    start: int
    end: int
    old: str
    new: str
    person: str
    note: CollationNote | Footnote | None

    def runs(self, commentary: bool) -> Iterator[NotedRun]:
        changes = [(self.old, Change.KEPT)]
        if self.old != self.new:
            changes = [(self.old, Change.DELETED), (self.new, Change.INSERTED)]
        yield from (NotedRun(text, change, commentary, self.person) for text, change in changes if text)
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
    longest: dict[str, float] = {}
    """The length of the longest column of each page."""
    for block in corrected.edition.blocks:
        longest[block.page] = max(longest.get(block.page, 0), _length(block))
    last: TextBlock | None = None
    for block in corrected.edition.blocks:
        is_heading = block.kind is BlockKind.HEADING
        begins_page = block.page and (last is None or last.page != block.page)
        follows_end = (
            last is None or last.kind is BlockKind.HEADING or _length(last) < MAX_LAST_COLUMN_SHARE * longest[last.page]
        )
        if is_heading or begins_page or follows_end or not block.page:
            label = labels.get(block.page, "") if begins_page else ""
            paragraphs.append(NotedParagraph(label, block.level if is_heading else 0))
        paragraphs[-1].runs += walk.block(block)
        last = block
    if paragraphs:
        paragraphs[-1].runs += walk.rest()
    return [paragraph for paragraph in paragraphs if paragraph.runs or paragraph.label]


def _length(block: TextBlock) -> float:
    """The length of a column in characters of the main text; two characters of a note stand side by side."""
    return sum(len(part.source) / (2 if part.layer in SET_SMALL else 1) for part in block.stretches)


def _places(corrected: CorrectedSource, notes: CollationNotes) -> list[_Place]:
    """All places, in the order of the source. The note on a moved character is at the place of its insertion."""
    note_of = {id(note.placed): note for note in notes.notes}
    written = {id(change) for change in corrected.placed}
    as_one = [note.placed for note in notes.notes if not (note.placed.is_applied or id(note.placed) in written)]
    places = [_of_change(change, note_of.pop(id(change), None)) for change in _apart(corrected.placed, as_one)]
    for note in note_of.values():
        edit, kept = note.placed.edit, note.placed.written
        of_text = _Place(edit.start, edit.end, kept, kept, "", note)
        places.append(of_text if note.placed.is_applied else _of_change(note.placed, note))
    for footnote in corrected.edition.footnotes:
        at = len(corrected.edition.text) if footnote.anchor is None else footnote.anchor
        places.append(_Place(at, at, "", "", "", footnote))
    return sorted(places, key=lambda place: (place.start, place.end))


def _of_change(change: PlacedCorrection, note: CollationNote | None) -> _Place:
    return _Place(change.edit.start, change.edit.end, change.removed, change.written, change.correction.person, note)


def _apart(changes: Iterable[PlacedCorrection], as_one: Sequence[PlacedCorrection]) -> Iterator[PlacedCorrection]:
    """The changes without those that are noted `as_one`."""
    spans = [Span(*one.edit.place) for one in as_one]
    yield from (change for change in changes if not any(span.overlaps(Span(*change.edit.place)) for span in spans))


class _Walk:
    """Walks through the source and yields the runs of its stretches, with each of the `places` once, in their order."""

    def __init__(self, text: str, places: Iterable[_Place]) -> None:
        self._text, self._places, self._at = text, deque(places), 0

    def block(self, block: TextBlock) -> Iterator[NotedRun]:
        """The runs of a column, a paragraph or a heading."""
        commentary = False
        for stretch in block.stretches:
            commentary = stretch.layer in SET_SMALL
            self._at = max(self._at, stretch.start)
            yield from self._to(stretch.end, commentary, last=stretch is block.stretches[-1])
        while self._places and self._places[0].start <= block.end:
            yield from self._place(commentary)

    def rest(self) -> Iterator[NotedRun]:
        """The runs of the places behind the last block."""
        while self._places:
            yield from self._place(False)

    def _to(self, end: int, commentary: bool, *, last: bool) -> Iterator[NotedRun]:
        """The runs of a stretch up to its `end`, with the places in it; an insertion at its end belongs to it if it is
        the `last` stretch of its block."""
        while self._places:
            place = self._places[0]
            if place.start > end or (place.start == end and not (last and place.end == place.start)):
                break
            if place.start > self._at:
                yield NotedRun(self._text[self._at : place.start], commentary=commentary)
            yield from self._place(commentary)
        if end > self._at:
            yield NotedRun(self._text[self._at : end], commentary=commentary)
            self._at = end

    def _place(self, commentary: bool) -> Iterator[NotedRun]:
        place = self._places.popleft()
        self._at = max(self._at, place.end)
        yield from place.runs(commentary)
