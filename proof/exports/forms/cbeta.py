"""Corrections in CBETA's notation: the text with `[誤>正]`, and a list of 校勘, `正【校】，誤【大】`, each with its
page and column."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proof.exports.collation_notes import in_script, rests_on
from proof.exports.corrections import PlacedCorrection
from proof.exports.files import Material, write_file
from proof.exports.forms import ExportForm
from proof.text.edit import edited
from proof.text.lines import LINE_ENDING
from proof.text.model import Script

_CANONS = {"T": "大", "X": "卍續", "J": "嘉興", "K": "麗", "A": "金藏", "P": "永樂北藏", "L": "乾隆藏", "G": "佛教藏"}
"""The sigla of canons, by the first letter of the names of their pages."""


def marked_text(text: str, placed: list[PlacedCorrection]) -> str:
    """The text with each correction as `[old>new]`; the line endings of columns stand outside."""
    return edited(text, [replace(change.edit, replacement=_marked(text, change)) for change in placed])


def _marked(text: str, change: PlacedCorrection) -> str:
    old, new, replacement = change.removed, change.written, change.edit.replacement
    if change.correction.restores:
        return replacement
    if new:
        return replacement.replace(new, f"[{old}>{new}]", 1)
    if not old:
        return replacement
    deleted = text[change.edit.start : change.edit.end]
    characters = LINE_ENDING.sub("", deleted)
    return deleted.replace(characters, f"[{old}>]", 1) if characters else f"[{old}>]"


def collation_list(placed: list[PlacedCorrection], script: Script) -> str:
    """A line for each correction, its wording in `script`."""
    lines = []
    for change in placed:
        correction = change.correction
        if correction.restores:
            continue
        # pages of a canon are named by canon, volume and work: T08n0235
        siglum = _CANONS.get(correction.page[:1], "原") if "n" in correction.page[:6] else "原"
        where = f"{correction.page}{correction.line:02}"
        after = in_script(f"（{rests_on(correction)}）", script) if correction.authority else ""
        new, old = change.written or "〔－〕", change.removed or "〔－〕"
        lines.append(f"{where}\t{new}【校】，{old}【{siglum}】{after}{correction.note}\n")
    return "".join(lines)


def _write(material: Material, folder: Path) -> list[Path]:
    edition = material.corrected.edition
    placed = [correction for correction in material.placed if correction.correction.changes]
    texts = {"cbeta.txt": marked_text(edition.text, placed), "cbeta-notes.txt": collation_list(placed, edition.script)}
    return [write_file(folder / f"{material.stem}.{end}", text.encode()) for end, text in texts.items()]


FORM = ExportForm("cbeta", _write)
