"""Texts and pages as a check tells a store of them, out of files."""

from __future__ import annotations

from pathlib import Path

from proof.store import PagePlace, TextInfo
from proof.store.texts import sha_of
from proof.text.read import read_transcription
from proof.text.transcription import Transcription


def text_info(path: Path, script: str = "traditional") -> TextInfo:
    """A file as a text of a run."""
    content = read_transcription(path).text
    return TextInfo(str(path), sha_of(content), "kanripo", script, content)


def page_place(position: int, path: Path, page: str, nth: int = 0, copies: frozenset[str] = frozenset()) -> PagePlace:
    """Where the page of that id stands in a file; the `nth`, counted from 0, where several have it."""
    text = read_transcription(path)
    assert isinstance(text, Transcription)
    bearers = [one for one in text.pages if one.id == page]
    lines = {column.number: column.start for column in bearers[nth].columns}
    return PagePlace(position, str(path), copies=copies, lines=lines, sha=sha_of(text.text))
