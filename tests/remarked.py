"""What a reader remarked, as tests state it: line and code."""

from __future__ import annotations

from proof.model.notices import Notice
from proof.text.transcription import Transcription


def remarked(read: Transcription) -> list[tuple[int, str]]:
    """Lines and codes of the remarks, in the order in which they were made."""
    return [(remark.line, remark.notice.code.code) for remark in read.remarks]


def said(text: str) -> Notice:
    """A notice that says so in these words, as an error does."""
    return Notice.of_error(ValueError(text))
