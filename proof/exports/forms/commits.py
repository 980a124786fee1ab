"""The corrections of a text as a commit in the format of `git format-patch`: `git am` applies it with its author; its
message has the notes on what it changes. Where each juan of a work is a text file of its own, its export is a series of
commits, one for each juan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from email.header import Header
from email.utils import format_datetime
from pathlib import Path

import proof
from proof.exports.collation_notes import notes_of
from proof.exports.files import Material, write_file
from proof.exports.forms import ExportForm
from proof.exports.note_files import house_list

NO_ADDRESS = "unknown@invalid"
"""The e-mail address of all authors, since theirs are unknown; the domain `invalid` never exists (RFC 2606)."""

_FIRST_LINE = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"


def commit(material: Material) -> bytes:
    """The commit; empty if nothing was changed. Its author is the person with the most corrections, the others are
    co-authors."""
    corrected = material.corrected
    name = material.name or corrected.edition.path.name
    diff = corrected.diff(name)
    if not diff:
        return b""
    changes = tuple(placed for placed in corrected.placed if placed.correction.changes)
    corrections = [placed.correction for placed in changes]
    by_person = Counter(correction.person for correction in corrections)
    author, *others = [person or "unknown" for person, _ in by_person.most_common()]
    number = f"{len(corrections)} correction" + "s" * (len(corrections) != 1)
    co_authors = "".join(f"Co-authored-by: {person} <{NO_ADDRESS}>\n" for person in others)
    changed = sum(line.startswith(b"+") for line in diff.splitlines()) - 1  # the first is the line `+++ b/NAME`
    head = (
        f"{_FIRST_LINE}From: {_encoded(author)} <{NO_ADDRESS}>\nDate: {format_datetime(material.made)}\n"
        f"Subject: [PATCH] {_encoded(f'{Path(name).stem}: {number}')}\nMIME-Version: 1.0\n"
        "Content-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n"
    )
    notes = notes_of(replace(corrected, placed=changes), names=material.names)
    message = house_list(notes) + ("\n" + co_authors if co_authors else "")
    stat = f"---\n {name} | {changed}\n\n"
    return (head + message + stat).encode() + diff + f"-- \nproof {proof.__version__}\n".encode()


def _encoded(text: str) -> str:
    """A text as the value of a mail header, on one line."""
    return text if text.isascii() else Header(text, "utf-8", maxlinelen=900).encode()


def _write(material: Material, folder: Path) -> list[Path]:
    patch = commit(material)
    return [write_file(folder / f"{material.stem}.patch", patch)] if patch else []


FORM = ExportForm("commits", _write)
