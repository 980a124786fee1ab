"""The format with inline commentary: running text with notes in `【…】`, without page marks; `<!-- … -->` are comments
of the web site.

A paragraph begins with ideographic spaces. `右射` on a line of its own, or before a space, is the title at the end of a
section. A sentence may continue in the next line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, numbered_lines
from proof.text.note_layers import note_parts
from proof.text.remarks import Remark, RemarkCode
from proof.text.transcription import Format, Transcription

MARK = re.compile(r"【[^【】\n]{2,}】")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CLOSING = re.compile(r"右[^\u3000【】]{1,14}")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")


def parse_inline(decoded: Decoded, path: Path) -> Transcription:
    """Parse a decoded file."""
    text = decoded.text
    comments = [comment.span() for comment in _COMMENT.finditer(text)]
    blocks: list[TextBlock] = []
    remarks: list[Remark] = []
    for number, begin, line in numbered_lines(text):
        end = begin + len(line)
        remark = partial(Remark.of, path, number)
        stretches = [
            stretch
            for left, right in _outside(begin, end, comments)
            for stretch in _line_stretches(text, left, right, remarks, remark)
        ]
        if not stretches:
            continue
        heading = all(stretch.layer is Layer.HEADING for stretch in stretches)
        kind = BlockKind.HEADING if heading else BlockKind.PARAGRAPH
        blocks.append(TextBlock(kind, begin, end, number, tuple(stretches), level=int(heading)))
    return Transcription.of_blocks(decoded, path, Format.INLINE, blocks, remarks)


def _outside(start: int, end: int, comments: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of a line outside the web site's comments."""
    parts = []
    for left, right in comments:
        if right <= start or left >= end:
            continue
        if left > start:
            parts.append((start, left))
        start = right
    if start < end:
        parts.append((start, end))
    return parts


def _line_stretches(
    text: str, start: int, end: int, remarks: list[Remark], remark: Callable[..., Remark]
) -> list[LayerStretch]:
    """The stretches of one line. A note that is not closed ends with its line. Remarks, made with `remark`, are added
    to `remarks`."""
    stretches: list[LayerStretch] = []
    at = start
    for private in _PRIVATE.finditer(text, start, end):
        remarks.append(remark(RemarkCode.PRIVATE_CHARACTER, what=f"U+{ord(private[0]):04X}"))
    while at < end:
        opening = _find(text, "【", at, end)
        stray = _find(text, "】", at, opening)
        if stray < opening:
            remarks.append(remark(RemarkCode.BRACKET_NOT_OPENED))
            stretches += _main(text, at, stray)
            at = stray + 1
            continue
        stretches += _main(text, at, opening)
        if opening == end:
            break
        closing, again = _find(text, "】", opening, end), _find(text, "【", opening + 1, end)
        if closing > again or closing == end:
            remarks.append(remark(RemarkCode.BRACKET_OPEN))
        stop = min(closing, again)
        body = text[opening + 1 : stop]
        stretches += [
            LayerStretch(layer, opening + 1 + left, body[left:right]) for layer, left, right in note_parts(body)
        ]
        at = stop + 1 if stop < end and text[stop] == "】" else stop
    return stretches


def _find(text: str, char: str, start: int, end: int) -> int:
    at = text.find(char, start, end)
    return end if at < 0 else at


def _main(text: str, start: int, end: int) -> list[LayerStretch]:
    """Main text between notes, divided at ideographic spaces: `右射 記君與射…` ends a section in the middle of a
    line."""
    stretches = []
    for part in re.finditer(r"[^\u3000]+", text[start:end]):
        layer = Layer.HEADING if _CLOSING.fullmatch(part[0]) and _stands_alone(text, start, end, part) else Layer.CANON
        stretches.append(LayerStretch(layer, start + part.start(), part[0]))
    return stretches


def _stands_alone(text: str, start: int, end: int, part: re.Match[str]) -> bool:
    """Whether a space or the end of the line follows; before a note it would be text of the classic."""
    after = start + part.end()
    return after >= len(text) or text[after] in "\u3000\r\n"
