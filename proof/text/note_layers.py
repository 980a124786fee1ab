"""The layers of columns and their notes, recognised by the words that begin a part of a note or an indented column.

A note often holds several layers: the commentary, a gloss on sounds (`射食亦反`), the subcommentary (`疏曰`) and a
remark of the editor (`今按`), divided by an ideographic space or by nothing at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from proof.text.column import SPECIAL, Bounds, run_spans
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock
from proof.text.model import Column, Page

_HAN = "[\u3400-\u9fff\U00020000-\U0003ffff]"
_FURTHER_SOUNDS = rf"(?:又音{_HAN}|又如字|[又劉刘]{_HAN}{{2}}反|下同|[後后]皆[倣仿]此)*+"
"""What may follow in a gloss: other readings, and that they hold for the following text."""
_SOUND = rf"(?:依注)?+(?:音{_HAN}|如字|{_HAN}{{2}}[反切]){_FURTHER_SOUNDS}"
"""The sound in a gloss: that of a homophone (`音`), the usual one (`如字`), or one by fanqie (`反`, `切`)."""
_GLOSSES = re.compile(rf"(?:{_HAN}{_SOUND})++")
_CLOSING_GLOSSES = re.compile(rf"(?:{_HAN}{_SOUND})++$")
_CLOSING_GLOSS_CODE_POINTS = 12
"""Code points before the words of another author in which a gloss is looked for."""
_MAX_UNSURE_GLOSS_CODE_POINTS = 3
"""Code points of an opening gloss up to which it is left in the commentary."""
_AUTHOR_WORDS = re.compile(
    r"(?P<sub>[疏䟽][曰云]|賈疏[曰云]?|贾疏[曰云]?)|(?P<editor>今[按案]|愚[按案]|謹[按案]|谨[按案])|(?P<gloss>釋文[曰云]?|释文[曰云]?)"
)
_EDITOR_FIRST = re.compile(r"[案按]")
"""Words of the editor that count at the start of a note only."""
_LAYER_OF = {"sub": Layer.SUBCOMMENTARY, "editor": Layer.EDITOR, "gloss": Layer.GLOSS}

Part = tuple[Layer, int, int]
"""A layer with its start and end in the note."""


def note_parts(note: str, layer: Layer = Layer.COMMENTARY) -> list[Part]:
    """The layers of a note. A part that does not begin with the words of an author belongs to the subcommentary or
    editor's remark before it, otherwise to `layer`, that of the note. Ideographic spaces between parts belong to no
    layer."""
    parts: list[Part] = []
    current = layer
    for part in re.finditer(r"[^\u3000]+", note):
        for begin, stop, author_layer in _pieces_by_author(note, *part.span()):
            if author_layer is not None:
                current = author_layer
            if begin == 0 and author_layer is None and _EDITOR_FIRST.match(note):
                current = Layer.EDITOR
            if current is Layer.COMMENTARY:
                parts += _without_glosses(note, begin, stop)
            else:
                parts.append((current, begin, stop))
    return parts


def last_layer(parts: list[Part], layer: Layer) -> Layer:
    """The layer at the end of a note, which continues in the next column; `layer` for a note of glosses alone."""
    return next((part_layer for part_layer, _, _ in reversed(parts) if part_layer is not Layer.GLOSS), layer)


def is_gloss(text: str) -> bool:
    """Whether `text` consists only of glosses on sounds."""
    return _GLOSSES.fullmatch(text) is not None


def _pieces_by_author(note: str, start: int, end: int) -> Iterator[tuple[int, int, Layer | None]]:
    """The pieces of a part of a note: their start, end and layer (None if no author's words begin it). A piece begins
    at the start of the part, and at the words of an author right after a gloss."""
    begin, author_layer = start, None
    for match in _AUTHOR_WORDS.finditer(note, start, end):
        before = note[max(begin, match.start() - _CLOSING_GLOSS_CODE_POINTS) : match.start()]
        if match.start() > start and not _CLOSING_GLOSSES.search(before):
            continue
        if match.start() > begin:
            yield begin, match.start(), author_layer
        begin, author_layer = match.start(), _LAYER_OF[match.lastgroup or "sub"]
    if begin < end:
        yield begin, end, author_layer


def _without_glosses(note: str, start: int, end: int) -> list[Part]:
    """The layers of a piece of commentary, with the glosses at its start and end as parts of their own."""
    part = note[start:end]
    if is_gloss(part):
        return [(Layer.GLOSS, start, end)]
    opening = _GLOSSES.match(part)
    head = opening.end() if opening and len(opening[0]) > _MAX_UNSURE_GLOSS_CODE_POINTS else 0
    closing = _CLOSING_GLOSSES.search(part, head)
    tail = closing.start() if closing and closing.start() > head else len(part)
    pieces = [(Layer.GLOSS, 0, head), (Layer.COMMENTARY, head, tail), (Layer.GLOSS, tail, len(part))]
    return [(layer, start + begin, start + stop) for layer, begin, stop in pieces if stop > begin]


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
    """Gives consecutive columns their layers: a note continues in the next column, and so does an indented commentary
    in full width (` 鄭注…`)."""

    def __init__(self) -> None:
        self.main = Layer.CANON
        self.open_note: Layer | None = None
        """The layer of a note that was open at the end of the column before; None if there was none."""

    def stretches(self, column: Column) -> list[LayerStretch]:
        self._begin(column)
        stretches: list[LayerStretch] = []
        runs = run_spans(column)
        for note, spans in runs:
            if note:
                stretches += self._note(column, spans)
                continue
            stretches += _stretches(column, spans, self.main)
            if any(not column.source[start:end].isspace() for start, end in spans):
                self.open_note = None
        if not runs or not runs[-1].note:
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
        """The stretches of a note by its parts; a continued remark of the editor is one part."""
        layer = self.open_note or Layer.COMMENTARY
        text = "".join(column.source[start:end] for start, end in spans)
        parts = note_parts(text, layer) if self.open_note is not Layer.EDITOR else []
        parts = parts or [(Layer.EDITOR if self.open_note is Layer.EDITOR else Layer.COMMENTARY, 0, len(text))]
        self.open_note = last_layer(parts, layer)
        return [
            stretch
            for part_layer, start, end in parts
            for stretch in _stretches(column, _within(column.source, spans, start, end), part_layer)
        ]


def _within(source: str, spans: Iterable[Bounds], start: int, end: int) -> Iterator[Bounds]:
    """What of the spans is between code points `start` and `end` of their joined text. A cell of several code points is
    not divided: it is where it begins."""
    at = 0
    for first, stop in spans:
        low, high = max(first, first + start - at), min(stop, first + end - at)
        if SPECIAL.search(source, first, stop) is not None:
            low, high = first, stop if start <= at < end else first
        if low < high:
            yield low, high
        at += stop - first


def _stretches(column: Column, spans: Iterable[Bounds], layer: Layer) -> list[LayerStretch]:
    """The spans as stretches, those that touch as one."""
    joined: list[Bounds] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return [LayerStretch(layer, column.start + start, column.source[start:end]) for start, end in joined]
