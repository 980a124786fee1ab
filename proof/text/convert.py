"""From one transcription format to another, as far as the other can hold it; what is lost is listed.

The script stays as it is. A page-marked format can only be made of another page-marked one: what has no pages has
to be laid out on the columns of the images first.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from proof.errors import UsageError
from proof.model.refs import PageId
from proof.text.encoding import Decoded
from proof.text.kanripo import BASE_PAGE
from proof.text.layers import NOTES, BlockKind, Layer, LayerStretch, TextBlock
from proof.text.model import Page, Script
from proof.text.note_layers import note_parts
from proof.text.read import detect_format, parse_transcription
from proof.text.transcription import Format, Transcription
from proof.text.zhushu import MARK

_SUBCOMMENTARY = frozenset({Layer.SUBCOMMENTARY, Layer.LEMMA})
_SIGNS = {
    Format.KANRIPO: "page mark that it can hold",
    Format.MIRROR: "page mark that it can hold",
    Format.INLINE: "note, which it writes in 【…】",
    Format.ZHUSHU: "subcommentary (疏), which it begins with [疏]",
    Format.PLAIN: "Chinese text",
    Format.CRITICAL: "front matter, note, footnote or heading with an anchor",
}
"""By what each format is recognised."""
_BASE_BREAK = re.compile(rf"{BASE_PAGE.pattern}|¶")
_VOICE = "疏曰"
"""With what a subcommentary begins where notes have no other sign of it."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A text in another format. `losses` says in words what the format could not hold, with how many there were."""

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
    """`edition` in the format `target`; the same format gives the text itself.

    `work` is the id of the work for Kanripo page marks where the edition has none; `references` leads from page
    ids to image file names for the mirror's page marks. Every character that the new format reads in another layer
    is among the losses. Raises UsageError where pages are wanted and there are none, or one of the two is missing,
    and where the text has nothing by which the new format could be recognised.
    """
    if target is edition.format:
        return Converted(edition.text, target, ())
    losses: Counter[str] = Counter()
    if target in (Format.KANRIPO, Format.MIRROR):
        if not edition.paged:
            raise UsageError(
                f"{edition.path} has no pages, so it cannot become {target}: lay it out on the columns of its images "
                "first"
            )
        marks = _kanripo_marks(edition, work) if target is Format.KANRIPO else _mirror_marks(edition, references or {})
        losses += _lost_names(edition) if target is Format.KANRIPO else Counter()
        return _read_again(edition, _paged(edition, target, marks, losses), target, losses)
    draft = _Draft()
    writer = {Format.INLINE: _inline, Format.ZHUSHU: _zhushu, Format.CRITICAL: _critical, Format.PLAIN: _plain}[target]
    writer(draft, _running(edition, losses), edition, losses)
    _count_lost(edition, target, losses)
    words = Counter(draft.text[start:end].strip("○:：") for start, end in draft.added)
    losses.update({f"signs of layers, which are words of the text now ({sign})": words[sign] for sign in words})
    return _read_again(edition, draft.text, target, losses, draft.added)


def _read_again(
    edition: Transcription, text: str, target: Format, losses: Counter[str], added: Sequence[tuple[int, int]] = ()
) -> Converted:
    """The text as converted, held to what reading it gives: a file whose format nobody can tell serves nobody.
    `added`: from where to where in it stand signs of layers that the new format can only hold as words."""
    if detect_format(text) is not target:
        raise UsageError(
            f"{edition.path} as {target} could not be recognised again: it has no {_SIGNS[target]}; "
            "choose another format"
        )
    again = parse_transcription(Decoded(text, "utf-8", False), edition.path, target)
    before, after = _characters(edition), _characters(again, added)
    if [char for char, _ in before] == [char for char, _ in after]:
        moved = Counter(
            (earlier, later) for (_, earlier), (_, later) in zip(before, after, strict=True) if earlier is not later
        )
        losses.update(
            {f"layers of characters ({earlier} becomes {later})": moved[earlier, later] for earlier, later in moved}
        )
    else:
        earlier, later = Counter(char for char, _ in before), Counter(char for char, _ in after)
        losses["characters that it reads otherwise"] += max((earlier - later).total(), (later - earlier).total(), 1)
    return Converted(text, target, _told(losses))


def _characters(edition: Transcription, without: Sequence[tuple[int, int]] = ()) -> list[tuple[str, Layer]]:
    ends = [end for _, end in without]

    def left_out(place: int) -> bool:
        at = bisect_right(ends, place)
        return at < len(without) and without[at][0] <= place

    return [
        (cell.text, stretch.layer)
        for stretch in edition.stretches()
        for cell in stretch.cells()
        if not left_out(cell.start)
    ]


def _told(losses: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{what}: {count}" for what, count in losses.items() if count)


@dataclass(slots=True)
class _Draft:
    """A text as it is written; `added` are the places of what is no text of the source."""

    text: str = ""
    added: list[tuple[int, int]] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    def put(self, text: str, *, added: bool = False) -> None:
        if added:
            self.added.append((self._length, self._length + len(text)))
        self._parts.append(text)
        self._length += len(text)

    def close(self) -> None:
        self.text = "".join(self._parts)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a passage in one layer; `sign` is what stood before it and said so, where that is words (○釋曰)."""

    layer: Layer
    text: str
    sign: str = ""


@dataclass(slots=True)
class _Passage:
    """A heading or a paragraph of running text. `pieces` are its layers in order, neighbours of one layer joined."""

    heading: int = 0
    anchor: str = ""
    pieces: list[_Piece] = field(default_factory=list)

    def add(self, layer: Layer, text: str, sign: str = "") -> None:
        if self.pieces and self.pieces[-1].layer is layer and not sign:
            last = self.pieces.pop()
            self.pieces.append(replace(last, text=last.text + text))
        elif text:
            self.pieces.append(_Piece(layer, text, sign))


def _running(edition: Transcription, losses: Counter[str]) -> list[_Passage]:
    """The edition as paragraphs. Columns run on; a column in full width of the classic that follows a commentary
    begins a paragraph, as the printed page has it."""
    passages: list[_Passage] = []
    before: Layer | None = None
    labels = _labels(edition)
    for block in edition.blocks:
        stretches = [stretch for stretch in block.stretches if stretch.source.strip()]
        if not stretches:
            continue
        if block.kind is not BlockKind.COLUMN or _begins(before, stretches[0], passages):
            passages.append(_Passage(block.level if block.kind is BlockKind.HEADING else 0, block.anchor))
        at = block.start
        for stretch in stretches:
            words = _with_labels(stretch, labels)
            words = re.sub(r"[ \u3000\r]+", "", words) if edition.paged else words.strip("\r")
            between = edition.text[at : stretch.start] if edition.format is Format.ZHUSHU else ""
            passages[-1].add(stretch.layer, words, MARK.sub("", between))
            before, at = stretch.layer, stretch.end
    losses["column and page breaks"] += sum(block.kind is BlockKind.COLUMN for block in edition.blocks)
    return passages


def _begins(before: Layer | None, first: LayerStretch, passages: list[_Passage]) -> bool:
    return not passages or (first.layer is Layer.CANON and before is not None and before is not Layer.CANON)


def _labels(edition: Transcription) -> dict[int, str]:
    return {note.anchor: f"[^{note.label}]" for note in edition.footnotes if note.anchor is not None}


def _with_labels(stretch: LayerStretch, labels: Mapping[int, str]) -> str:
    """The stretch and the footnote reference that stands at its end, if one does."""
    return stretch.source + labels.get(stretch.end, "")


def _inline(draft: _Draft, passages: list[_Passage], edition: Transcription, losses: Counter[str]) -> None:
    """Notes in brackets. A subcommentary that does not say of itself that it is one begins with 疏曰."""
    for passage in passages:
        draft.put("\u3000\u3000")
        before: Layer | None = None
        for piece in [*passage.pieces, _Piece(Layer.CANON, "")]:
            within = before in NOTES
            if piece.layer not in NOTES:
                draft.put("】" if within else "")
                draft.put(_bare(piece.text))
            else:
                alike = {before, piece.layer} == {Layer.LEMMA, Layer.SUBCOMMENTARY}
                draft.put(("" if alike else "\u3000") if within else "【")
                if piece.layer in _SUBCOMMENTARY and before not in _SUBCOMMENTARY and not _says_so(piece, edition):
                    draft.put(_VOICE, added=True)
                if piece.sign:
                    draft.put(piece.sign, added=True)
                draft.put(_bare(piece.text))
            before = piece.layer
        draft.put("\n")
    draft.close()


def _says_so(piece: _Piece, edition: Transcription) -> bool:
    """Whether a subcommentary would be known as one by its first words; in notes it is by these alone."""
    if edition.format is not Format.ZHUSHU:
        return True
    return any(layer is Layer.SUBCOMMENTARY for layer, _, _ in note_parts(_bare(piece.text))[:1])


def _bare(text: str) -> str:
    """Without footnote references, and without what would be read as the mark of a note."""
    return re.sub(r"\[\^[^\]]+\]", "", text).replace("【", "〔").replace("】", "〕")


def _zhushu(draft: _Draft, passages: list[_Passage], edition: Transcription, losses: Counter[str]) -> None:
    lines: list[str] = []
    for passage in passages:
        text = ""
        subcommentary = False
        for piece in passage.pieces:
            bare = _bare(piece.text)
            if piece.layer in _SUBCOMMENTARY:
                if not subcommentary:
                    lines += [text] if text else []
                    text = "[疏]"
                text += bare
                subcommentary = True
                continue
            if subcommentary:
                lines.append(text)
                text, subcommentary = "", False
            text += bare
        lines += [text] if text else []
    losses["boundaries between classic and commentary"] += sum(
        piece.layer is Layer.COMMENTARY for passage in passages for piece in passage.pieces
    )
    draft.put("".join(f"{line}\n" for line in lines))
    draft.close()


def _plain(draft: _Draft, passages: list[_Passage], edition: Transcription, losses: Counter[str]) -> None:
    """The words alone, a passage a line."""
    for passage in passages:
        draft.put("".join(_bare(piece.text) for piece in passage.pieces) + "\n")
    draft.close()


def _critical(draft: _Draft, passages: list[_Passage], edition: Transcription, losses: Counter[str]) -> None:
    draft.put(f"---\ntitle: {json.dumps(edition.title or edition.path.stem, ensure_ascii=False)}\n---\n")
    for passage in passages:
        draft.put("\n")
        if passage.heading:
            draft.put("#" * max(3, passage.heading) + " ")
        for number, piece in enumerate(passage.pieces):
            draft.put("<small>" if piece.layer in NOTES else "")
            if piece.sign:
                draft.put(piece.sign, added=True)
            draft.put(piece.text.lstrip("\u3000") if number == 0 else piece.text)
            draft.put("</small>" if piece.layer in NOTES else "")
        draft.put((f" {{#{passage.anchor}}}" if passage.heading and passage.anchor else "") + "\n")
    if edition.footnotes:
        draft.put("\n" + "".join(f"[^{note.label}]: {note.text}\n" for note in edition.footnotes))
    layers = {piece.layer for passage in passages for piece in passage.pieces} & NOTES
    if len(layers) > 1:
        losses["which commentary a note is (" + "、".join(sorted(layers)) + ")"] += 1
    draft.close()


def _count_lost(edition: Transcription, target: Format, losses: Counter[str]) -> None:
    """What the running formats do not hold."""
    losses["page marks"] += len(edition.marks)
    if target is not Format.CRITICAL:
        losses["footnotes"] += len(edition.footnotes)
        losses["anchors and levels of headings"] += sum(block.kind is BlockKind.HEADING for block in edition.blocks)
    if edition.format is Format.CRITICAL:
        losses["front matter but its title"] += edition.text.startswith("---")
    if edition.format is Format.INLINE:
        losses["remarks of the web site"] += edition.text.count("<!--")
    if edition.paged:
        losses["spaces of indentation and raising"] += sum(
            char in " \u3000" for stretch in edition.stretches() for char in stretch.source
        )


def _lost_names(edition: Transcription) -> Counter[str]:
    """How juan are called, where a Kanripo page mark has but a number for them."""
    numbers = _juan_numbers(edition)
    lost = {juan: number for juan, number in numbers.items() if juan and juan != number}
    return Counter({f"names of juan ({juan} becomes {number})": 1 for juan, number in lost.items()})


def _juan_numbers(edition: Transcription) -> dict[str, str]:
    """The number of each juan as page marks write it: the one that its name says, or else its place in the text."""
    return {
        juan: _chinese_number(juan) or str(place).zfill(3) for place, juan in enumerate(_juan_names(edition), start=1)
    }


def _kanripo_marks(edition: Transcription, work: str) -> Callable[[Page], str]:
    work = work or edition.work
    if not work:
        raise UsageError(f"{edition.path} does not say which work it is: name its id, such as KR1d0030")
    if re.fullmatch(r"[A-Za-z0-9]+", work) is None:
        raise UsageError(f"{work!r} is no id of a work: letters and digits, such as KR1d0030")
    numbers = _juan_numbers(edition)

    def mark(page: Page) -> str:
        juan = numbers[page.juan]
        edition_name = page.ref.edition if page.ref else "WYG"
        if page.folio is None:
            raise UsageError(f"{edition.path}:{page.file_line}: the page mark names no half-folio")
        return f"<pb:{work}_{edition_name}_{juan}-{page.folio}>¶"

    return mark


def _juan_names(edition: Transcription) -> list[str]:
    return list(dict.fromkeys(page.juan for page in edition.pages))


def _chinese_number(juan: str) -> str:
    """`卷十` as `010`; empty where it is no plain number."""
    digits = {char: value for value, char in enumerate("零一二三四五六七八九")}
    total, digit = 0, 0
    for char in juan.removeprefix("卷"):
        if char in digits:
            digit = digits[char]
        elif char in "十百":
            total += (digit or 1) * (10 if char == "十" else 100)
            digit = 0
        else:
            return ""
    return str(total + digit).zfill(3) if total + digit else ""


def _mirror_marks(edition: Transcription, references: Mapping[str, str]) -> Callable[[Page], str]:
    page_word = "页" if edition.script is Script.SIMPLIFIED else "頁"

    def mark(page: Page) -> str:
        reference = references.get(page.id)
        if reference is None:
            raise UsageError(f"no image is known for page {page.id}: give the image list of the edition")
        known = PageId.match(page.id)
        juan = page.juan or (known.juan if known else "")
        image = Path(reference).name
        image += "" if Path(image).suffix else ".png"
        return f"{juan.replace(' ', '') or '卷'} 第 {page.folio or page.id} {page_word} {image}"

    return mark


def _paged(edition: Transcription, target: Format, mark: Callable[[Page], str], losses: Counter[str]) -> str:
    """Page marks translated, columns as they stand; blanks in the target's own kind."""
    blank, ending = ("\u3000", "¶\n") if target is Format.KANRIPO else (" ", "\n")
    lines: list[str] = []
    if target is Format.KANRIPO and edition.title:
        lines.append(f"#+TITLE: {edition.title}\n")
    starts = sorted(
        [(start, page, None) for start, page in edition.marks.items()]
        + [(block.start, None, block) for block in edition.blocks],
        key=lambda item: item[0],
    )
    for _, page, block in starts:
        if page is not None:
            lines.append(mark(page) + "\n")
        elif block is not None:
            column = _column(edition, block, blank)
            losses["page and line breaks of the base edition"] += len(_BASE_BREAK.findall(column))
            lines.append(_BASE_BREAK.sub("", column) + ending)
    first = next(iter(edition.marks), 0)
    losses["lines before the first page mark"] += edition.text[:first].count("\n")
    if target is Format.MIRROR:
        losses["ids of pages"] += len(edition.marks)
    else:
        losses["image references"] += sum(page.ref is not None for page in edition.marks.values())
    return "".join(lines)


def _column(edition: Transcription, block: TextBlock, blank: str) -> str:
    return re.sub(r"[ \u3000]", blank, edition.text[block.start : block.end])
