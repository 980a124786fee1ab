"""Marks messages for the catalogues, where they are written down long before they are said."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], str]
"""Gives a message in the language of whoever reads it."""


def _(message: str) -> str:
    """Marks a message for the catalogues; it is said later, in the language of who asks."""
    return message
