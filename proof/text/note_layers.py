"""The layers of columns and their notes, recognised by the words that begin a part of a note or an indented column.

A note often holds several layers, with or without an ideographic space between them: the commentary, a gloss on sounds
(`射食亦反`), the subcommentary (`疏曰`) and a remark of the editor (`今按`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from proof.text.column import SPECIAL, Bounds, run_spans
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock
from proof.text.model import HAN, Column, Page

_FURTHER_SOUNDS = rf"(?:又音{HAN}|又如字|[又劉刘]{HAN}{{2}}反|下同|[後后]皆[倣仿]此)*+"
"""The end of a gloss: other readings, and that the same holds for the following text."""

_SOUND = rf"(?:依注)?+(?:音{HAN}|如字|{HAN}{{2}}[反切]){_FURTHER_SOUNDS}"
"""The sound in a gloss: that of a homophone (`音`), the usual one (`如字`), or one by fanqie (`反`, `切`)."""

_GLOSSES = re.compile(rf"(?:{HAN}{_SOUND})++")
_CLOSING_GLOSSES = re.compile(rf"(?:{HAN}{_SOUND})++$")
_CLOSING_GLOSS_CODE_POINTS = 12
"""Number of code points before the words of another author that are searched for a gloss."""

_MAX_UNSURE_GLOSS_CODE_POINTS = 3
"""Maximum length of an opening gloss that is left in the commentary."""

_AUTHOR_WORDS = re.compile(
    r"(?P<sub>[疏䟽][曰云]|賈疏[曰云]?|贾疏[曰云]?)|(?P<editor>今[按案]|愚[按案]|謹[按案]|谨[按案])|(?P<gloss>釋文[曰云]?|释文[曰云]?)"
)
_EDITOR_FIRST = re.compile(r"[案按]")
"""Words of the editor that count only at the start of a note."""

_LAYER_OF_GROUP = {"sub": Layer.SUBCOMMENTARY, "editor": Layer.EDITOR, "gloss": Layer.GLOSS}


class NotePart(NamedTuple):
    """A part of a note in one layer; `start` and `end` are code points of the note."""

    layer: Layer
    start: int
    end: int


def note_parts(note: str, layer: Layer = Layer.COMMENTARY) -> list[NotePart]:
    """The parts of a note by layer. A part that does not begin with the words of an author has the layer of the part
    before it, the first part the `layer` of the note. Ideographic spaces between parts belong to no layer."""
    parts: list[NotePart] = []
    current = layer
    for stretch in re.finditer(r"[^\u3000]+", note):
        for start, end, author_layer in _pieces_by_author(note, *stretch.span()):
            if author_layer is not None:
                current = author_layer
            elif start == 0 and _EDITOR_FIRST.match(note):
                current = Layer.EDITOR
            if current is Layer.COMMENTARY:
                parts += _with_glosses_apart(note, start, end)
            else:
                parts.append(NotePart(current, start, end))
    return parts


def _last_layer(parts: list[NotePart], layer: Layer) -> Layer:
    """The layer in which a note continues in the next column: that of its last part that is no gloss, else `layer`."""
    return next((part.layer for part in reversed(parts) if part.layer is not Layer.GLOSS), layer)


def _pieces_by_author(note: str, start: int, end: int) -> Iterator[tuple[int, int, Layer | None]]:
    """The pieces of a part of a note: start, end, and the layer of the author whose words begin the piece, or None. A
    piece begins at the start of the part, and at the words of an author right after a gloss."""
    piece_start, author_layer = start, None
    for match in _AUTHOR_WORDS.finditer(note, start, end):
        before = note[max(piece_start, match.start() - _CLOSING_GLOSS_CODE_POINTS) : match.start()]
        if match.start() > start and not _CLOSING_GLOSSES.search(before):
            continue
        if match.start() > piece_start:
            yield piece_start, match.start(), author_layer
        piece_start, author_layer = match.start(), _LAYER_OF_GROUP[match.lastgroup or "sub"]
    if piece_start < end:
        yield piece_start, end, author_layer


def _with_glosses_apart(note: str, start: int, end: int) -> list[NotePart]:
    """A piece of commentary, with the glosses at its start and end as parts of their own."""
    if _GLOSSES.fullmatch(note, start, end):
        return [NotePart(Layer.GLOSS, start, end)]
    opening = _GLOSSES.match(note, start, end)
    head = opening.end() if opening and len(opening[0]) > _MAX_UNSURE_GLOSS_CODE_POINTS else start
    closing = _CLOSING_GLOSSES.search(note, head, end)
    tail = closing.start() if closing and closing.start() > head else end
    parts = [
        NotePart(Layer.GLOSS, start, head),
        NotePart(Layer.COMMENTARY, head, tail),
        NotePart(Layer.GLOSS, tail, end),
    ]
    return [part for part in parts if part.end > part.start]


_INDENTATION = re.compile(r"[ \u3000]+")
_INDENTED_AUTHORS = (
    (re.compile(r"[鄭郑](?:注|氏)"), Layer.COMMENTARY),
    (re.compile(r"[釋释]曰|[疏䟽]曰"), Layer.SUBCOMMENTARY),
    (re.compile(r"[釋释]文|[陸陆]氏"), Layer.GLOSS),
)
"""Words that begin an indented column of commentary in full width, and its layer."""


def column_blocks(pages: Iterable[Page]) -> tuple[TextBlock, ...]:
    """The columns of pages as blocks of running text, in the order of the file."""
    columns = sorted(((page.id, column) for page in pages for column in page.columns), key=lambda item: item[1].start)
    layers = _ColumnLayers()
    return tuple(
        TextBlock(
            BlockKind.COLUMN,
            column.start,
            column.start + len(column.source),
            column.file_line,
            tuple(layers.stretches(column)),
            page=page,
            number=column.number,
        )
        for page, column in columns
    )


class _ColumnLayers:
    """Assigns layers to consecutive columns. A note continues in the next column, and so does an indented commentary in
    full width (` 鄭注…`)."""

    def __init__(self) -> None:
        self.main = Layer.CANON
        self.open_note: Layer | None = None
        """The layer of a note at the end of the column before; None if that ended with main text."""

    def stretches(self, column: Column) -> list[LayerStretch]:
        self._begin(column)
        stretches: list[LayerStretch] = []
        runs = run_spans(column)
        for is_note, spans in runs:
            if is_note:
                stretches += self._note(column, spans)
                continue
            stretches += _stretches(column, spans, self.main)
            if any(not column.source[start:end].isspace() for start, end in spans):
                self.open_note = None
        if not runs or not runs[-1].is_note:
            self.open_note = None
        return stretches

    def _begin(self, column: Column) -> None:
        indentation = _INDENTATION.match(column.source)
        if indentation is None:
            self.main = Layer.CANON
            return
        rest = column.source[indentation.end() :]
        self.main = next((layer for pattern, layer in _INDENTED_AUTHORS if pattern.match(rest)), self.main)

    def _note(self, column: Column, spans: Sequence[Bounds]) -> list[LayerStretch]:
        """The stretches of a note by its parts. A continued remark of the editor is one part."""
        layer = self.open_note or Layer.COMMENTARY
        text = "".join(column.source[start:end] for start, end in spans)
        if self.open_note is Layer.EDITOR:
            parts = [NotePart(Layer.EDITOR, 0, len(text))]
        else:
            parts = note_parts(text, layer) or [NotePart(Layer.COMMENTARY, 0, len(text))]
        self.open_note = _last_layer(parts, layer)
        return [
            stretch
            for part in parts
            for stretch in _stretches(column, _within(column.source, spans, part.start, part.end), part.layer)
        ]


def _within(source: str, spans: Iterable[Bounds], start: int, end: int) -> Iterator[Bounds]:
    """The parts of the spans between code points `start` and `end` of their joined text. A cell of several code points
    is not divided: it belongs where it begins."""
    at = 0
    for span_start, span_end in spans:
        if SPECIAL.search(source, span_start, span_end) is not None:
            if start <= at < end:
                yield span_start, span_end
        else:
            first, last = max(span_start, span_start + start - at), min(span_end, span_start + end - at)
            if first < last:
                yield first, last
        at += span_end - span_start


def _stretches(column: Column, spans: Iterable[Bounds], layer: Layer) -> list[LayerStretch]:
    """The spans as stretches; adjacent ones are joined."""
    joined: list[Bounds] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return [LayerStretch(layer, column.start + start, column.source[start:end]) for start, end in joined]
