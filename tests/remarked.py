"""What a reader remarked, as tests state it: line and code."""

from __future__ import annotations

from proof.text.model import Transcription
from proof.text.witness import Edition


def remarked(read: Transcription | Edition) -> list[tuple[int, str]]:
    """Lines and codes of the remarks, in the order in which they were made."""
    return [(remark.line, remark.code.value) for remark in read.remarks]
