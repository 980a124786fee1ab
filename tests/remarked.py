"""What a reader remarked, as tests state it: line and code."""

from __future__ import annotations

from proof.model.notices import Notice
from proof.text.model import Transcription
from proof.text.witness import Edition


def remarked(read: Transcription | Edition) -> list[tuple[int, str]]:
    """Lines and codes of the remarks, in the order in which they were made."""
    return [(remark.line, remark.code.value) for remark in read.remarks]


def said(text: str) -> Notice:
    """A notice that says so in these words, as an error does."""
    return Notice.of_error(ValueError(text))
