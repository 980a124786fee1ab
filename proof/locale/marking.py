"""Marking messages for translation that are defined before the language is known."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], str]
"""Translates a message into the language of the reader."""


def _(message: str) -> str:
    """Mark a message for translation; it is translated later, when the language is known."""
    return message
