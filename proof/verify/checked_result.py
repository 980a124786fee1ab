"""The checked columns and characters of a page's result, with boxes in pixels of the image file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp

from proof.layout.half_folio import Outline
from proof.model.flags import with_ids
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult
from proof.text.model import Page
from proof.text.variants import VariantPolicy
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import Glyph
from proof.verify.likeness import WordLikeness
from proof.verify.page_findings import area_box
from proof.verify.passages import joined_in_lines, linked
from proof.verify.slices import characters_in_file, columns_in_file, in_file


def checked_column(outline: Outline, column: ReadColumn) -> CheckedColumn:
    """The checked column of a column that has a line."""
    assert column.line is not None, "only columns with a line are checked"
    return CheckedColumn(column.line.number, area_box(outline, column), column.line.source)


def checked_characters(
    outline: Outline, columns: Sequence[ReadColumn], likeness: WordLikeness | None
) -> list[CheckedCharacter]:
    """Every aligned character with its box in pixels of the image file. Without a `likeness` the characters have no
    probability."""
    characters = []
    for column in (column for column in columns if column.line is not None):
        for pairing in column.pairings:
            for cell, glyph in zip(pairing.cells, pairing.glyphs, strict=False):
                characters.append(_character(outline, column, cell, column.glyphs[glyph], likeness))
    return sorted(characters, key=lambda character: (character.line, character.offset))


def _character(
    outline: Outline, column: ReadColumn, cell: int, glyph: Glyph, likeness: WordLikeness | None
) -> CheckedCharacter:
    assert column.line is not None, "only columns with a line are checked"
    transcribed = column.cells[cell]
    log_prob = None if likeness is None else likeness(transcribed.text, glyph)
    return CheckedCharacter(
        line=column.line.number,
        offset=transcribed.offset,
        length=transcribed.length,
        row=transcribed.row,
        text=transcribed.text,
        box=outline.file_box(glyph.left, glyph.top, glyph.right, glyph.bottom).to_tenths(),
        read=glyph.best,
        p_text=None if log_prob is None else round(exp(log_prob), 5),
    )


def in_file_lines(
    result: PageResult, page: Page, outline: Outline, columns: Sequence[ReadColumn], policy: VariantPolicy
) -> PageResult:
    """The result of a page of a running edition, with its lines and offsets replaced by those of the file."""
    boxes = [(column.line, area_box(outline, column)) for column in columns if column.line is not None]
    flags = joined_in_lines(in_file(result.flags, page.columns), page.columns)
    return replace(
        result,
        columns=tuple(columns_in_file(boxes, page.columns)),
        characters=tuple(characters_in_file(result.characters, page.columns)),
        flags=linked(with_ids(flags), page.columns, policy),
    )
