"""Proofread a digital Chinese classic against photographs of its pages.

From Python: `from proof import check, collate, export, open_project` (`proof.api`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proof.api import check, collate, export, open_project

__all__ = ["__version__", "check", "collate", "export", "open_project"]

__version__ = "0.3.0"


def __getattr__(name: str) -> Any:
    """The functions of `proof.api`. They are imported at first use, since the command line starts faster without
    them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("proof.api"), name)
