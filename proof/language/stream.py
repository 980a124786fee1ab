"""A text as a sequence of tokens for the language model, each with its place on the page.

Main text and notes are separate voices: a sentence of the main text continues after a note in it, and a note continues
in the next column. Each voice is read by itself, with a `BREAK` where it is interrupted. Indentation and punctuation
are skipped, other spaces are breaks, and cells of several code points are `UNKNOWN`. All texts are converted to
traditional characters."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from proof.text.conversions import conversions
from proof.text.layers import Layer
from proof.text.model import Script
from proof.text.transcription import Transcription

BREAK = 1
"""The token where a voice is interrupted; like `UNKNOWN`, it is a code point that no text has."""

UNKNOWN = 2
"""The token of a cell of several code points."""

MARGIN_TOKENS = 8
"""Number of breaks before the first and after the last token, so that the window around every character is in the
sequence."""

Tokens = NDArray[np.uint32]
Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TokenStream:
    """The tokens of a text in reading order, with `MARGIN_TOKENS` breaks at either end.

    The place of each token is given by the index of its `page`, the index of its `line` (column) on the page, and its
    `offset` in the source of the column, in code points. In a text without pages they are the index of its block, 0,
    and its offset in the block. Breaks have -1. `pages` is the number of pages (or blocks), including empty ones."""

    tokens: Tokens
    page: Places
    line: Places
    offset: Places
    pages: int

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(slots=True)
class _Voice:
    """The tokens of one voice and their places, as in `TokenStream`."""

    tokens: array[int] = field(default_factory=lambda: array("I"))
    page: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("i"))
    offset: array[int] = field(default_factory=lambda: array("i"))

    def add(self, token: int, page: int, line: int, offset: int) -> None:
        self.tokens.append(token)
        self.page.append(page)
        self.line.append(line)
        self.offset.append(offset)

    def interrupt(self) -> None:
        """Add a break, unless the voice is empty or ends with one."""
        if self.tokens and self.tokens[-1] != BREAK:
            self.add(BREAK, -1, -1, -1)


def token_of(text: str) -> int:
    """The token of a cell: its code point, or `UNKNOWN`."""
    return ord(text) if len(text) == 1 else UNKNOWN


def stream_of(text: Transcription) -> TokenStream:
    """The characters of a text in reading order, converted to traditional ones."""
    stream = _of_pages(text) if text.pages else _of_blocks(text)
    if text.script is Script.TRADITIONAL:
        return stream
    codes, of_token = np.unique(stream.tokens, return_inverse=True)
    full = np.array([ord(conversions().full(chr(code))) for code in codes], np.uint32)
    return replace(stream, tokens=full[of_token])


def _of_pages(text: Transcription) -> TokenStream:
    main, notes = _Voice(), _Voice()
    for number, page in enumerate(text.pages):
        for line, column in enumerate(page.columns):
            has_begun = False  # blanks before the first character of a column are indentation
            for run in column.runs:
                voice = notes if run.is_note else main
                for cell in run.cells:
                    if cell.blank:
                        if has_begun:
                            voice.interrupt()
                    elif cell.glyph:
                        voice.add(token_of(cell.text), number, line, cell.offset)
                        has_begun = True
                # a note continues only if no main text comes between
                if not run.is_note and any(cell.glyph for cell in run.right):
                    notes.interrupt()
    return _joined((main, notes), len(text.pages))


def _of_blocks(text: Transcription) -> TokenStream:
    voices = {layer: _Voice() for layer in Layer}
    for number, block in enumerate(text.blocks):
        for stretch in block.stretches:
            voice = voices[stretch.layer]
            for cell in stretch.cells():
                voice.add(token_of(cell.text), number, 0, cell.start - block.start)
        for voice in voices.values():
            voice.interrupt()
    return _joined(voices.values(), len(text.blocks))


def _joined(voices: Iterable[_Voice], pages: int) -> TokenStream:
    """The voices that have tokens, one after the other, with a margin before, between and behind them."""
    with_tokens = [voice for voice in voices if voice.tokens]

    def joined(name: str, edge: int) -> NDArray[np.int64]:
        margin = np.full(MARGIN_TOKENS, edge, np.int64)
        parts = [margin]
        for voice in with_tokens:
            parts += [np.array(getattr(voice, name), np.int64), margin]
        return np.concatenate(parts)

    page, line, offset = (joined(name, -1).astype(np.int32) for name in ("page", "line", "offset"))
    return TokenStream(joined("tokens", BREAK).astype(np.uint32), page, line, offset, pages)
