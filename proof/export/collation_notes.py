"""Collation notes (校勘記): what was changed, what stood there, and after which witness.

Two forms: the house style of critical editions, `西：原作東，據影像改。`, as footnotes in the text or as a list with
page references; and the plain one, `page, column, character: A → B`. A note names what its decision rests on; where
nobody stated that it says `今改`. Where the text is kept though the copy reads otherwise: `西：影像作東，今不從。`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from proof.errors import UsageError
from proof.export.corrections import Correction, PlacedCorrection
from proof.export.source import CorrectedSource
from proof.model.flags import Kind
from proof.store.authorities import IMAGE, REASONED
from proof.text.column import parse_column
from proof.text.edit import Edit, edited
from proof.text.model import Script
from proof.text.witness import Addresses, Edition, Format

_SIMPLIFIED = str.maketrans({"據": "据", "刪": "删", "補": "补", "脫": "脱", "頁": "页", "從": "从", "無": "无"})
_PASSAGE = 12
"""Code points; a longer correction is named by its beginning and its end."""


def house_note(placed: PlacedCorrection, script: Script) -> str:
    """One correction in the house style, its own words in the script of the source."""
    correction = placed.correction
    new, old = _short(correction.replacement), _short(correction.original)
    after = _after(correction)
    if correction.copy_reads is not None:
        told = _retained(correction, correction.copy_reads)
    elif not correction.changes:
        told = f"{old}：原文如此"
    elif not correction.original:
        told = f"{new}：原脫，{after}補"
    elif not correction.replacement:
        told = f"{old}：原衍，{after}刪"
    elif correction.kind is Kind.TRANSPOSITION or _put_right(correction.original, correction.replacement):
        told = f"{new}：原作{old}，{after}乙正"
    else:
        told = f"{new}：原作{old}，{after}改"
    told = told.translate(_SIMPLIFIED) if script is Script.SIMPLIFIED else told
    return f"{told}。{correction.note}"


def _after(correction: Correction) -> str:
    """What a correction was made after, as the words before its verb."""
    return f"據{correction.witness}" if correction.witness else "今"


def _retained(correction: Correction, copy: str) -> str:
    """A text that is kept though a copy reads otherwise: the copy is the image unless a witness is named."""
    reasoned = correction.witness in REASONED
    witness = IMAGE if reasoned or not correction.witness else correction.witness
    kept = f"據{correction.witness}不從" if reasoned else "今不從"
    if not correction.original:
        return f"{_short(copy)}：{witness}有，{kept}"
    return f"{_short(correction.original)}：{witness}{f'作{_short(copy)}' if copy else '無'}，{kept}"


def house_list(corrected: CorrectedSource) -> str:
    """The collation notes as a list, a line each, with page references, in the order of the text."""
    lines = []
    for placed, note in _noted(corrected):
        correction = placed.correction
        where = f"{correction.page}，第{correction.line}行" if correction.page else f"第{correction.line}行"
        lines.append(f"{where}　{note}\n")
    return "".join(lines)


def _noted(corrected: CorrectedSource) -> list[tuple[PlacedCorrection, str]]:
    """The places with their notes, in the order of the text. A character that moved has one note, where it belongs."""
    script = corrected.edition.script
    notes = [
        (placed, house_note(placed, script) if was is None else moved_note(placed, was, script))
        for placed, was in with_moved(corrected.placed)
    ]
    return sorted(notes, key=lambda note: (note[0].edit.start, note[0].edit.length))


def with_moved(corrections: Sequence[PlacedCorrection]) -> list[tuple[PlacedCorrection, PlacedCorrection | None]]:
    """Each correction; the two of a character that moved as one, where it belongs and where it stood."""
    removed = {one.correction.flag: one for one in corrections if one.correction.moved and one.edit.length}
    pairs: dict[int, PlacedCorrection] = {}
    gone: set[int] = set()
    for placed in corrections:
        other = removed.get(placed.correction.moved)
        if not placed.correction.original and other is not None and other.correction.moved == placed.correction.flag:
            pairs[id(placed)] = other
            gone.add(id(other))
    return [(placed, pairs.get(id(placed))) for placed in corrections if id(placed) not in gone]


def moved_note(placed: PlacedCorrection, old: PlacedCorrection, script: Script) -> str:
    """The note on a character that stood elsewhere (`old`): put right (乙正) within its column, moved (移) from one
    beside it."""
    correction, was = placed.correction, old.correction
    before = was.context.partition("[")[0][-1:]
    where = f"{before}下" if before else "行首"
    after = _after(correction)
    if (correction.page, correction.line) == (was.page, was.line):
        told = f"{correction.replacement}：原在{where}，{after}乙正"
    else:
        told = f"{correction.replacement}：原在第{was.line}行{where}，{after}移"
    told = told.translate(_SIMPLIFIED) if script is Script.SIMPLIFIED else told
    return f"{told}。{correction.note}"


def plain_list(corrected: CorrectedSource) -> str:
    """`page, column, character: A → B`, a line each. The character is counted from 1 in the column as printed,
    without spaces; an omission has the number of the character that follows it. Where the format has no pages, the
    page is left out and the line is that of the file. A character that moved is one line, where it belongs, with the
    place where it stood: `page, column, character: A ← column, character`. A text that is kept
    though the copy reads otherwise is `page, column, character: text ≠ copy`."""
    addresses = Addresses(corrected.edition)
    lines = []
    for placed, was in sorted(with_moved(corrected.placed), key=lambda pair: (pair[0].edit.start, pair[0].edit.length)):
        correction = placed.correction
        where = f"{correction.page}, " if correction.page else ""
        change = f"{correction.original or '∅'} → {correction.replacement or '∅'}" if correction.changes else "原文如此"
        if correction.copy_reads is not None:
            change = f"{correction.original or '∅'} ≠ {correction.copy_reads or '∅'}"
        if was is not None:
            stood = f"{was.correction.page}, " if was.correction.page != correction.page else ""
            change = f"{correction.replacement} ← {stood}{_counted(addresses, corrected.edition, was)}"
        lines.append(f"{where}{_counted(addresses, corrected.edition, placed)}: {change}\n")
    return "".join(lines)


def _counted(addresses: Addresses, edition: Edition, placed: PlacedCorrection) -> str:
    """Column and character of a correction."""
    correction = placed.correction
    begin, end = addresses.line(correction.page, correction.line)
    return f"{correction.line}, {character_number(edition.text[begin:end], correction.offset)}"


def character_number(source: str, offset: int) -> int:
    """Which character of a line stands at `offset`, or follows it; from 1."""
    cells = [cell for run in parse_column(source).runs for cell in run.cells if not cell.blank]
    return 1 + sum(cell.offset + cell.length <= offset for cell in cells)


def with_footnotes(corrected: CorrectedSource) -> str:
    """The corrected text with a numbered footnote after every corrected place.

    In the critical edition the notes follow their paragraph, numbered on from those that are there; in any other
    format they follow the text. This is a text to read, not the source: that stays without notes.
    """
    edition = corrected.edition
    numbers = count(_highest(edition) + 1)
    edits: list[Edit] = []
    notes: list[tuple[int, str]] = []
    told = _noted(corrected)
    for placed, note in told:
        label = f"[^{next(numbers)}]"
        edit = placed.edit
        edits.append(Edit(edit.start, edit.length, edit.replacement + label))
        notes.append((edit.start, f"{label}: {note}"))
    edits += [one.edit for one in corrected.placed if one not in [placed for placed, _ in told]]
    try:
        return edited(edition.text, [*edits, *_note_edits(edition, notes)])
    except UsageError as error:
        raise UsageError(f"{edition.path}: two notes fall on one place: {error}") from error


def _note_edits(edition: Edition, notes: Sequence[tuple[int, str]]) -> list[Edit]:
    """Where the notes' own lines go: behind the paragraph and the notes that follow it already, or at the end."""
    newline = "\r\n" if "\r\n" in edition.text else "\n"
    by_place: dict[int, list[str]] = {}
    for start, note in notes:
        end = _paragraph_end(edition, start) if edition.format is Format.CRITICAL else len(edition.text)
        by_place.setdefault(end, []).append(note)
    edits = []
    for end, told in by_place.items():
        line_start = edition.text.rfind("\n", 0, end) + 1
        follows_note = edition.text.startswith("[^", line_start)
        gap = newline if follows_note else newline * 2
        if end == len(edition.text) and edition.text.endswith("\n"):
            gap = newline
        edits.append(Edit(end, 0, gap + newline.join(told)))
    return edits


def _paragraph_end(edition: Edition, start: int) -> int:
    """The end of the line at `start`, or of the footnotes that follow it."""
    text = edition.text
    end = _line_end(text, start)
    while (found := re.compile(r"\s*(?=\[\^[^\]\n]+\]:)").match(text, end)) is not None and "\n" in found[0]:
        end = _line_end(text, found.end())
    return end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    return end - 1 if end > start and text[end - 1] == "\r" else end


def _highest(edition: Edition) -> int:
    return max((int(note.label) for note in edition.footnotes if note.label.isdecimal()), default=0)


def _short(text: str) -> str:
    return text if len(text) <= _PASSAGE else f"{text[:2]}至{text[-2:]}{len(text)}字"


def _put_right(old: str, new: str) -> bool:
    return len(old) > 1 and old != new and sorted(old) == sorted(new)
