"""Export forms, one module each; the basic forms are in `proof.exports.files`.

Other distributions add forms by entry points of the group `hanproof.export_forms`, each an `ExportForm`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from proof.errors import UsageError
from proof.locale.marking import _

if TYPE_CHECKING:
    from proof.exports.files import Material

ENTRY_POINTS = "hanproof.export_forms"

OWN = ("hocr", "pdf", "text-annotations", "wikisource", "cbeta", "tei-notes", "commits", "bagit")
"""The forms of this package; each is written by the module of its name."""


@dataclass(frozen=True, slots=True)
class ExportForm:
    """A form of an export. `write` writes it into a folder and returns its files. `on_images`: it needs pages that were
    checked against images; `takes_pages`: it uses such pages if there are any."""

    name: str
    write: Callable[[Material, Path], list[Path]]
    on_images: bool = False
    takes_pages: bool = False


def names() -> tuple[str, ...]:
    """The names of the forms: those of this package, then those of other installed distributions."""
    return *OWN, *sorted(entry.name for entry in entry_points(group=ENTRY_POINTS))


@cache
def export_form(name: str) -> ExportForm:
    """The form of that name. Its module is imported at first use, since each imports libraries. Raises UsageError."""
    if name in OWN:
        form = import_module(f"{__name__}.{name.replace('-', '_')}").FORM
    else:
        form = next((entry.load() for entry in entry_points(group=ENTRY_POINTS, name=name)), None)
    if not isinstance(form, ExportForm):
        raise UsageError(_("there is no form %(name)s: choose one of %(names)s"), name=name, names=", ".join(names()))
    return form
