"""The 注疏 format: a paragraph with the classic and its commentary together, then one that begins with `[疏]`.

The subcommentary quotes the first and last words of its passage: `[疏]“賓與”至“以興”。○注“辭辭其坐奠觶”。○釋曰:`. From
that it follows where the commentary begins in the paragraph before; otherwise the paragraph is not divided."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, numbered_lines
from proof.text.model import han_in, is_han
from proof.text.remarks import Remark, RemarkCode
from proof.text.transcription import Format, Transcription

MARK = re.compile(r"\[疏\]")
_UNCLOSED = re.compile(r"\[疏(?!\])|(?<!\[)疏\]")
"""A mark with one bracket missing, recognised at the beginning of a line."""
_SPEAKS = re.compile(r"○(?:釋|释)[曰云][:：]?")
_QUOTED = re.compile(r"(?P<note>注)?[“「](?P<first>[^“”「」]+)[”」](?:至[“「](?P<last>[^“”「」]+)[”」])?")


@dataclass(frozen=True, slots=True)
class _Lemma:
    """The first and last words of the passage of a subcommentary; `note`: the passage is of the commentary."""

    note: bool
    first: str
    last: str


def parse_zhushu(decoded: Decoded, path: Path) -> Transcription:
    """Parse a decoded file."""
    blocks: list[TextBlock] = []
    remarks: list[Remark] = []
    for number, begin, line in numbered_lines(decoded.text):
        if not line.strip():
            continue
        remarks += (Remark.of(path, number, RemarkCode.SUBCOMMENTARY_OPEN) for _ in _UNCLOSED.finditer(line))
        if (mark := MARK.match(line) or _UNCLOSED.match(line)) is None:
            stretches: tuple[LayerStretch, ...] = (LayerStretch(Layer.UNDIVIDED, begin, line),)
        else:
            stretches, lemmas = _subcommentary(line, begin, mark.end())
            if blocks and blocks[-1].stretches[0].layer is Layer.UNDIVIDED:
                blocks[-1] = _divided(blocks[-1], lemmas)
            else:
                remarks.append(Remark.of(path, number, RemarkCode.SUBCOMMENTARY_ALONE))
        blocks.append(TextBlock(BlockKind.PARAGRAPH, begin, begin + len(line), number, stretches))
    return Transcription.of_blocks(decoded, path, Format.ZHUSHU, blocks, remarks)


def _subcommentary(line: str, begin: int, after_mark: int) -> tuple[tuple[LayerStretch, ...], list[_Lemma]]:
    announcement = _SPEAKS.search(line)
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
    bare = "".join(whole.source[index] for index in places)
    canon = next((lemma for lemma in lemmas if not lemma.note), None)
    note = next((lemma for lemma in lemmas if lemma.note), None)
    if note is None or not note.first:
        return block
    cuts = [at for at in range(1, len(bare)) if bare.startswith(note.first, at)]
    if canon is not None:
        ends = [at for at in cuts if bare[:at].endswith(canon.last)]
        cuts = ends or cuts
    if len(cuts) != 1 or not bare.endswith(note.last):
        return block
    cut = whole.source.rfind(bare[cuts[0] - 1], 0, places[cuts[0]]) + 1
    opening = places[cuts[0]]
    while cut < opening and whole.source[cut] in "。,，;；:：”』」》、!！?？":
        cut += 1
    return replace(
        block,
        stretches=(
            LayerStretch(Layer.CANON, whole.start, whole.source[:cut]),
            LayerStretch(Layer.COMMENTARY, whole.start + cut, whole.source[cut:]),
        ),
    )
