"""Remarks and notices in the form in which tests compare them."""

from __future__ import annotations

from proof.model.notices import Notice
from proof.text.transcription import Transcription


def remark_codes(read: Transcription) -> list[tuple[int, str]]:
    """Lines and codes of the remarks of a transcription, in their order."""
    return [(remark.line, remark.notice.code.code) for remark in read.remarks]


def error_notice(text: str) -> Notice:
    """The notice of an error with this text."""
    return Notice.of_error(ValueError(text))
