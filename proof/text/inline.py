"""The format with inline commentary: running text with notes in `【…】`, without page marks. Comments of the web site
(`<!-- … -->`) are left out.

Each line is a paragraph or a heading. `右射` on a line of its own, or before a space, is the title at the end of a
section.
"""

from __future__ import annotations

import re
from pathlib import Path

from proof.text.encoding import Decoded
from proof.text.layers import BlockKind, Layer, LayerStretch, TextBlock, numbered_lines
from proof.text.note_layers import note_parts
from proof.text.remarks import RemarkCode, Remarks
from proof.text.transcription import Format, Transcription

MARK = re.compile(r"【[^【】\n]{2,}】")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CLOSING_TITLE = re.compile(r"右[^\u3000【】]{1,14}")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")


def parse_inline(decoded: Decoded, path: Path) -> Transcription:
    """Parse a decoded file."""
    text = decoded.text
    comments = [comment.span() for comment in _COMMENT.finditer(text)]
    blocks: list[TextBlock] = []
    remarks = Remarks(path)
    for number, begin, line in numbered_lines(text):
        end = begin + len(line)
        stretches = [
            stretch
            for part_start, part_end in _outside(begin, end, comments)
            for stretch in _line_stretches(text, part_start, part_end, number, remarks)
        ]
        if not stretches:
            continue
        is_heading = all(stretch.layer is Layer.HEADING for stretch in stretches)
        kind = BlockKind.HEADING if is_heading else BlockKind.PARAGRAPH
        blocks.append(TextBlock(kind, begin, end, number, tuple(stretches), level=int(is_heading)))
    return Transcription.of_blocks(decoded, Format.INLINE, blocks, remarks)


def _outside(start: int, end: int, comments: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of a line outside the comments, which are in the order of the file."""
    parts = []
    for comment_start, comment_end in comments:
        if comment_end <= start or comment_start >= end:
            continue
        if comment_start > start:
            parts.append((start, comment_start))
        start = comment_end
    if start < end:
        parts.append((start, end))
    return parts


def _line_stretches(text: str, start: int, end: int, number: int, remarks: Remarks) -> list[LayerStretch]:
    """The stretches of a part of line `number`. A note that is not closed ends with it. Adds to `remarks`."""
    stretches: list[LayerStretch] = []
    at = start
    for private in _PRIVATE.finditer(text, start, end):
        remarks.add(number, RemarkCode.PRIVATE_CHARACTER, what=f"U+{ord(private[0]):04X}")
    while at < end:
        opening = _find(text, "【", at, end)
        stray = _find(text, "】", at, opening)
        if stray < opening:
            remarks.add(number, RemarkCode.BRACKET_NOT_OPENED)
            stretches += _main_stretches(text, at, stray)
            at = stray + 1
            continue
        stretches += _main_stretches(text, at, opening)
        if opening == end:
            break
        closing, next_opening = _find(text, "】", opening, end), _find(text, "【", opening + 1, end)
        is_closed = closing < next_opening
        note_end = min(closing, next_opening)
        if not is_closed:
            remarks.add(number, RemarkCode.BRACKET_OPEN)
        note = text[opening + 1 : note_end]
        stretches += [
            LayerStretch(part.layer, opening + 1 + part.start, note[part.start : part.end]) for part in note_parts(note)
        ]
        at = note_end + 1 if is_closed else note_end
    return stretches


def _find(text: str, char: str, start: int, end: int) -> int:
    at = text.find(char, start, end)
    return end if at < 0 else at


def _main_stretches(text: str, start: int, end: int) -> list[LayerStretch]:
    """Main text between notes, divided at ideographic spaces: `右射 記君與射…` ends a section within a line."""
    stretches = []
    for part in re.finditer(r"[^\u3000]+", text[start:end]):
        is_title = _CLOSING_TITLE.fullmatch(part[0]) and _ends_before_space(text, start + part.end())
        stretches.append(LayerStretch(Layer.HEADING if is_title else Layer.CANON, start + part.start(), part[0]))
    return stretches


def _ends_before_space(text: str, end: int) -> bool:
    """Whether a space or the end of the line follows. Words before a note are text of the classic."""
    return end >= len(text) or text[end] in "\u3000\r\n"
