"""The 注疏 format: a paragraph with the classic and its commentary together, then one that begins with `[疏]`.

The subcommentary quotes the first and last words of its passages: `[疏]“賓與”至“以興”。○注“辭辭其坐奠觶”。○釋曰:`.
These tell where the commentary begins in the paragraph before. If they do not, the paragraph is not divided."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, numbered_lines
from proof.text.model import han_in, is_han
from proof.text.remarks import RemarkCode, Remarks
from proof.text.transcription import Format, Transcription

MARK = re.compile(r"\[疏\]")
_UNCLOSED = re.compile(r"\[疏(?!\])|(?<!\[)疏\]")
"""A mark with one bracket missing, recognised at the beginning of a line."""

_ANNOUNCEMENT = re.compile(r"○(?:釋|释)[曰云][:：]?")
_QUOTED = re.compile(r"(?P<note>注)?[“「](?P<first>[^“”「」]+)[”」](?:至[“「](?P<last>[^“”「」]+)[”」])?")


@dataclass(frozen=True, slots=True)
class _Lemma:
    """The first and last words of the passage of a subcommentary. `is_commentary`: the passage is of the commentary."""

    is_commentary: bool
    first: str
    last: str


def parse_zhushu(decoded: Decoded, path: Path) -> Transcription:
    """Parse a decoded file."""
    blocks: list[TextBlock] = []
    remarks = Remarks(path)
    for number, begin, line in numbered_lines(decoded.text):
        if not line.strip():
            continue
        for _ in _UNCLOSED.finditer(line):
            remarks.add(number, RemarkCode.SUBCOMMENTARY_OPEN)
        if (mark := MARK.match(line) or _UNCLOSED.match(line)) is None:
            stretches: tuple[LayerStretch, ...] = (LayerStretch(Layer.UNDIVIDED, begin, line),)
        else:
            stretches, lemmas = _subcommentary(line, begin, mark.end())
            if blocks and blocks[-1].stretches[0].layer is Layer.UNDIVIDED:
                blocks[-1] = _divided(blocks[-1], lemmas)
            else:
                remarks.add(number, RemarkCode.SUBCOMMENTARY_ALONE)
        blocks.append(TextBlock(BlockKind.PARAGRAPH, begin, begin + len(line), number, stretches))
    return Transcription.of_blocks(decoded, Format.ZHUSHU, blocks, remarks)


def _subcommentary(line: str, begin: int, after_mark: int) -> tuple[tuple[LayerStretch, ...], list[_Lemma]]:
    """The stretches and lemmas of a line that begins at code point `begin` with a mark."""
    announcement = _ANNOUNCEMENT.search(line)
    if announcement is None:
        return (LayerStretch(Layer.SUBCOMMENTARY, begin + after_mark, line[after_mark:]),), []
    head = line[after_mark : announcement.start()]
    lemmas = [
        _Lemma(quoted["note"] is not None, han_in(quoted["first"]), han_in(quoted["last"] or quoted["first"]))
        for quoted in _QUOTED.finditer(head)
    ]
    stretches = (
        LayerStretch(Layer.LEMMA, begin + after_mark, head),
        LayerStretch(Layer.SUBCOMMENTARY, begin + announcement.end(), line[announcement.end() :]),
    )
    return tuple(stretch for stretch in stretches if stretch.source), lemmas


def _divided(block: TextBlock, lemmas: list[_Lemma]) -> TextBlock:
    """The paragraph divided where the commentary begins, if the lemmas determine exactly one place."""
    (whole,) = block.stretches
    places = [index for index, char in enumerate(whole.source) if is_han(char)]
    han = "".join(whole.source[index] for index in places)
    canon = next((lemma for lemma in lemmas if not lemma.is_commentary), None)
    commentary = next((lemma for lemma in lemmas if lemma.is_commentary), None)
    if commentary is None or not commentary.first:
        return block
    starts = [start for start in range(1, len(han)) if han.startswith(commentary.first, start)]
    if canon is not None:
        starts = [start for start in starts if han[:start].endswith(canon.last)] or starts
    if len(starts) != 1 or not han.endswith(commentary.last):
        return block
    # punctuation after the last character of the classic belongs to the classic
    cut, commentary_start = places[starts[0] - 1] + 1, places[starts[0]]
    while cut < commentary_start and whole.source[cut] in "。,，;；:：”』」》、!！?？":
        cut += 1
    return replace(
        block,
        stretches=(
            LayerStretch(Layer.CANON, whole.start, whole.source[:cut]),
            LayerStretch(Layer.COMMENTARY, whole.start + cut, whole.source[cut:]),
        ),
    )
