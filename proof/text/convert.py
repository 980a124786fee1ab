"""Conversion of a transcription to another format, with a list of the features that are lost.

The script does not change. Only page-marked texts can be converted to a page-marked format; others must be aligned with
the images of their pages first.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from proof.errors import UsageError
from proof.locale.marking import _
from proof.model.half_folios import juan_key
from proof.model.refs import PageId
from proof.text.critical import front_matter
from proof.text.encoding import Decoded
from proof.text.kanripo import BASE_PAGE
from proof.text.layers import NOTES, BlockKind, Layer, TextBlock
from proof.text.model import Page, Script
from proof.text.note_layers import note_parts
from proof.text.read import detect_format, parse_transcription
from proof.text.transcription import PAGED, Format, Transcription
from proof.text.zhushu import MARK

_SUBCOMMENTARY = frozenset({Layer.SUBCOMMENTARY, Layer.LEMMA})
_REQUIRED_SIGNS = {
    Format.KANRIPO: "page mark that it can hold",
    Format.MIRROR: "page mark that it can hold",
    Format.INLINE: "note, which it writes in 【…】",
    Format.ZHUSHU: "subcommentary (疏), which it begins with [疏]",
    Format.PLAIN: "Chinese text",
    Format.CRITICAL: "front matter, note, footnote or heading with an anchor",
}
"""The marks by which each format is recognised."""

_BASE_BREAK = re.compile(rf"{BASE_PAGE.pattern}|¶")
"""A page break or line break of the base edition."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A text in another format. `losses` names the lost features, each with its count."""

    text: str
    format: Format
    losses: tuple[str, ...]


def convert(
    edition: Transcription,
    target: Format,
    *,
    work: str = "",
    references: Mapping[str, str] | None = None,
) -> Converted:
    """Convert `edition` to the format `target`; its own format gives the text itself.

    `work` is the id of the work for Kanripo page marks if the edition has none; `references` maps page ids to names of
    image files for the page marks of the mirror. The losses include all characters that change their layer. Raises
    UsageError if pages, the id of the work or references are needed and missing, or if the result has no mark by which
    its format can be recognised."""
    if target is edition.format:
        return Converted(edition.text, target, ())
    losses: Counter[str] = Counter()
    if target in PAGED:
        if not edition.paged:
            raise UsageError(
                _(
                    "%(path)s has no pages, so it cannot become %(target)s: align it with the columns of its "
                    "images first"
                ),
                path=edition.path,
                target=target,
            )
        if target is Format.KANRIPO:
            marks = _kanripo_marks(edition, work, losses)
        else:
            marks = _mirror_marks(edition, references or {})
        return _verified(edition, [_paged(edition, target, marks, losses)], target, losses)
    passages = _passages(edition)
    writer = {Format.INLINE: _inline, Format.ZHUSHU: _zhushu, Format.CRITICAL: _critical, Format.PLAIN: _plain}[target]
    parts = list(writer(passages, edition))
    losses += _running_losses(edition, target, passages)
    return _verified(edition, parts, target, losses)


class _Sign(str):
    """Inserted words that mark the next layer in a format without other markup for it. They are not text of the
    source."""

    __slots__ = ()


def _verified(edition: Transcription, parts: Sequence[str], target: Format, losses: Counter[str]) -> Converted:
    """The converted text, parsed again to count every character that is in another layer than in the source, without
    those of a `_Sign`. Raises UsageError if its format is not recognised."""
    text = "".join(parts)
    if detect_format(text) is not target:
        raise UsageError(
            _("%(path)s as %(target)s could not be recognised again: it has no %(signs)s; choose another format"),
            path=edition.path,
            target=target,
            signs=_REQUIRED_SIGNS[target],
        )
    in_signs: set[int] = set()
    start = 0
    for part in parts:
        if isinstance(part, _Sign):
            losses[f"signs of layers, which are words of the text now ({part.strip('○:：')})"] += 1
            in_signs.update(range(start, start + len(part)))
        start += len(part)
    result = parse_transcription(Decoded(text, "utf-8", False), edition.path, target)
    before, after = _characters_with_layers(edition), _characters_with_layers(result, in_signs)
    if [character for character, _ in before] == [character for character, _ in after]:
        for (_old, old_layer), (_new, new_layer) in zip(before, after, strict=True):
            if new_layer is not old_layer:
                losses[f"layers of characters ({old_layer} becomes {new_layer})"] += 1
    else:
        old, new = Counter(character for character, _ in before), Counter(character for character, _ in after)
        losses["characters that it reads otherwise"] += max((old - new).total(), (new - old).total(), 1)
    return Converted(text, target, tuple(f"{loss}: {count}" for loss, count in losses.items() if count))


def _characters_with_layers(edition: Transcription, ignored: Set[int] = frozenset()) -> list[tuple[str, Layer]]:
    """The characters of a text with their layers, except those at the code points `ignored`."""
    return [
        (cell.text, stretch.layer)
        for stretch in edition.stretches()
        for cell in stretch.cells()
        if cell.start not in ignored
    ]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a passage in one layer. `sign` are the words of the source that mark it (○釋曰), or empty."""

    layer: Layer
    text: str
    sign: str = ""


@dataclass(slots=True)
class _Passage:
    """A heading or a paragraph of running text; `heading` is its level, 0 for a paragraph."""

    heading: int = 0
    anchor: str = ""
    pieces: list[_Piece] = field(default_factory=list)

    def add(self, layer: Layer, text: str, sign: str = "") -> None:
        if self.pieces and self.pieces[-1].layer is layer and not sign:
            last = self.pieces.pop()
            self.pieces.append(replace(last, text=last.text + text))
        elif text:
            self.pieces.append(_Piece(layer, text, sign))


def _passages(edition: Transcription) -> list[_Passage]:
    """The edition as paragraphs. Columns are joined; a column of the classic after a commentary starts a paragraph, as
    on the printed page."""
    passages: list[_Passage] = []
    last_layer = Layer.CANON
    references: defaultdict[int, str] = defaultdict(str)
    for note in edition.footnotes:
        if note.anchor is not None:
            references[note.anchor] += f"[^{note.label}]"
    for block in edition.blocks:
        stretches = [stretch for stretch in block.stretches if stretch.source.strip()]
        if not stretches:
            continue
        returns_to_canon = stretches[0].layer is Layer.CANON and last_layer is not Layer.CANON
        if block.kind is not BlockKind.COLUMN or returns_to_canon or not passages:
            passages.append(_Passage(block.level if block.kind is BlockKind.HEADING else 0, block.anchor))
        at = block.start
        for stretch in stretches:
            words = stretch.source + references.get(stretch.end, "")
            words = re.sub(r"[ \u3000\r]+", "", words) if edition.paged else words.strip("\r")
            sign = edition.text[at : stretch.start] if edition.format is Format.ZHUSHU else ""
            passages[-1].add(stretch.layer, words, MARK.sub("", sign))
            last_layer, at = stretch.layer, stretch.end
    return passages


def _inline(passages: Iterable[_Passage], edition: Transcription) -> Iterator[str]:
    """The inline format: notes in brackets."""
    for passage in passages:
        yield "\u3000\u3000"
        for are_notes, pieces in groupby(passage.pieces, key=lambda piece: piece.layer in NOTES):
            if are_notes:
                yield "【"
                yield from _note_parts(list(pieces), edition)
                yield "】"
            else:
                yield from (_bare(piece.text) for piece in pieces)
        yield "\n"


def _note_parts(pieces: Sequence[_Piece], edition: Transcription) -> Iterator[str]:
    """The layers of a note, divided by spaces. 疏曰 is put before a subcommentary that would not be recognised by its
    own first words."""
    last: Layer | None = None
    for piece in pieces:
        if last is not None and {last, piece.layer} != _SUBCOMMENTARY:
            yield "\u3000"
        begins_subcommentary = piece.layer in _SUBCOMMENTARY and last not in _SUBCOMMENTARY
        if begins_subcommentary and not _is_recognised(piece, edition):
            yield _Sign("疏曰")
        if piece.sign:
            yield _Sign(piece.sign)
        yield _bare(piece.text)
        last = piece.layer


def _is_recognised(piece: _Piece, edition: Transcription) -> bool:
    """Whether a subcommentary within a note is recognised by its first words. In all formats but zhushu it was."""
    if edition.format is not Format.ZHUSHU:
        return True
    return any(layer is Layer.SUBCOMMENTARY for layer, _, _ in note_parts(_bare(piece.text))[:1])


def _bare(text: str) -> str:
    """The text without footnote references, and with other brackets in place of the marks of a note."""
    return re.sub(r"\[\^[^\]]+\]", "", text).replace("【", "〔").replace("】", "〕")


def _zhushu(passages: Iterable[_Passage], edition: Transcription) -> Iterator[str]:
    """The zhushu format: each paragraph is a line, each of its subcommentaries a line that begins with [疏]."""
    for passage in passages:
        for is_subcommentary, pieces in groupby(passage.pieces, key=lambda piece: piece.layer in _SUBCOMMENTARY):
            line = "[疏]" * is_subcommentary + "".join(_bare(piece.text) for piece in pieces)
            yield f"{line}\n" if line else ""


def _plain(passages: Iterable[_Passage], edition: Transcription) -> Iterator[str]:
    """The plain format: the text alone, one passage a line."""
    for passage in passages:
        yield "".join(_bare(piece.text) for piece in passage.pieces) + "\n"


def _critical(passages: Iterable[_Passage], edition: Transcription) -> Iterator[str]:
    """The critical format: front matter, headings with anchors, commentary in `<small>`, footnotes at the end."""
    yield front_matter(edition.title or edition.path.stem)
    for passage in passages:
        yield "\n"
        if passage.heading:
            yield "#" * max(3, passage.heading) + " "
        for number, piece in enumerate(passage.pieces):
            is_note = piece.layer in NOTES
            yield "<small>" * is_note
            if piece.sign:
                yield _Sign(piece.sign)
            yield piece.text.lstrip("\u3000") if number == 0 else piece.text
            yield "</small>" * is_note
        if passage.heading and passage.anchor:
            yield f" {{#{passage.anchor}}}"
        yield "\n"
    if edition.footnotes:
        yield "\n" + "".join(f"[^{note.label}]: {note.text}\n" for note in edition.footnotes)


def _running_losses(edition: Transcription, target: Format, passages: Iterable[_Passage]) -> Counter[str]:
    """The features that a running format cannot hold."""
    losses: Counter[str] = Counter()
    layers = [piece.layer for passage in passages for piece in passage.pieces]
    losses["column and page breaks"] = sum(block.kind is BlockKind.COLUMN for block in edition.blocks)
    if target is Format.ZHUSHU:
        losses["boundaries between classic and commentary"] = layers.count(Layer.COMMENTARY)
    note_layers = sorted(NOTES.intersection(layers))
    if target is Format.CRITICAL and len(note_layers) > 1:
        losses[f"which commentary a note is ({'、'.join(note_layers)})"] = 1
    losses["page marks"] = len(edition.marks)
    if target is not Format.CRITICAL:
        losses["footnotes"] = len(edition.footnotes)
        losses["anchors and levels of headings"] = sum(block.kind is BlockKind.HEADING for block in edition.blocks)
    if edition.format is Format.CRITICAL:
        losses["front matter but its title"] = int(edition.text.startswith("---"))
    if edition.format is Format.INLINE:
        losses["remarks of the web site"] = edition.text.count("<!--")
    if edition.paged:
        losses["spaces of indentation and raising"] = sum(
            char in " \u3000" for stretch in edition.stretches() for char in stretch.source
        )
    return losses


def _juan_numbers(edition: Transcription) -> dict[str, str]:
    """The number of each juan for page marks (`010`): the one in its name, or else its position in the text."""
    keys = {juan: juan_key(juan) for juan in dict.fromkeys(page.juan for page in edition.pages)}
    return {
        juan: (key if key.isdigit() and key != "0" else str(place)).zfill(3)
        for place, (juan, key) in enumerate(keys.items(), start=1)
    }


def _kanripo_marks(edition: Transcription, work: str, losses: Counter[str]) -> Callable[[Page], str]:
    """A function that writes Kanripo page marks. The names of juan, which the marks replace by numbers, are added to
    `losses`."""
    work = work or edition.work
    if not work:
        raise UsageError(_("%(path)s does not say which work it is: name its id, such as KR1d0030"), path=edition.path)
    if re.fullmatch(r"[A-Za-z0-9]+", work) is None:
        raise UsageError(
            _("%(work)s is not the id of a work: it has letters and digits, such as KR1d0030"), work=repr(work)
        )
    numbers = _juan_numbers(edition)
    losses.update(
        f"names of juan ({juan} becomes {number})" for juan, number in numbers.items() if juan not in ("", number)
    )

    def mark(page: Page) -> str:
        juan = numbers[page.juan]
        edition_name = page.ref.edition if page.ref else "WYG"
        if page.folio is None:
            raise UsageError(
                _("%(path)s:%(line)s: the page mark names no half-folio"), path=edition.path, line=page.file_line
            )
        return f"<pb:{work}_{edition_name}_{juan}-{page.folio}>¶"

    return mark


def _mirror_marks(edition: Transcription, references: Mapping[str, str]) -> Callable[[Page], str]:
    """A function that writes the page marks of the mirror."""
    page_word = "页" if edition.script is Script.SIMPLIFIED else "頁"

    def mark(page: Page) -> str:
        reference = references.get(page.id)
        if reference is None:
            raise UsageError(_("no image is known for page %(page)s: give the image list of the edition"), page=page.id)
        page_id = PageId.match(page.id)
        juan = page.juan or (page_id.juan if page_id else "")
        image = Path(reference).name if Path(reference).suffix else f"{Path(reference).name}.png"
        return f"{juan.replace(' ', '') or '卷'} 第 {page.folio or page.id} {page_word} {image}"

    return mark


def _paged(edition: Transcription, target: Format, mark: Callable[[Page], str], losses: Counter[str]) -> str:
    """The text in a page-marked format: with its page marks and blanks, and the same columns. Adds to `losses`."""
    blank, ending = ("\u3000", "¶\n") if target is Format.KANRIPO else (" ", "\n")
    lines = [f"#+TITLE: {edition.title}\n"] if target is Format.KANRIPO and edition.title else []
    items: list[tuple[int, Page | TextBlock]] = [*edition.marks.items()]
    items += [(block.start, block) for block in edition.blocks]
    for _start, item in sorted(items, key=itemgetter(0)):  # stable: a page mark comes before a column at the same place
        if isinstance(item, Page):
            lines.append(mark(item) + "\n")
            continue
        column = re.sub(r"[ \u3000]", blank, edition.text[item.start : item.end])
        losses["page and line breaks of the base edition"] += len(_BASE_BREAK.findall(column))
        lines.append(_BASE_BREAK.sub("", column) + ending)
    first = next(iter(edition.marks), 0)
    losses["lines before the first page mark"] += edition.text[:first].count("\n")
    if target is Format.MIRROR:
        losses["ids of pages"] += len(edition.marks)
    else:
        losses["image references"] += sum(page.ref is not None for page in edition.marks.values())
    return "".join(lines)
