"""Collation notes (校勘記): each change, the original reading, the readings of the witnesses and the authority.

`notes_of` makes the notes; other modules write them (as a list, footnotes, TEI, HTML, DOCX). A correction:
`西：原作東，四部本作西，從四部本改。`, or `今改` if no authority was stated. A text kept against a copy:
`東：四部本作西，今不從。` A doubtful place: `東：疑當作西。`
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from proof.exports.corrections import Correction, EditOrder, PlacedCorrection
from proof.exports.source import CorrectedSource, noted_places
from proof.model.flags import Kind
from proof.store.authorities import IMAGE, REASONED
from proof.text.addresses import Addresses
from proof.text.column import parse_column
from proof.text.edit import Edit
from proof.text.layers import LayerStretch
from proof.text.model import Page, Script, is_han
from proof.text.numerals import numeral
from proof.text.positions import line_end
from proof.text.transcription import Transcription

_START = attrgetter("start")
_END = attrgetter("end")

_SIMPLIFIED = str.maketrans(dict(zip("據刪補脫從無卷葉當記處連寫誤闕", "据删补脱从无卷叶当记处连写误阙", strict=True)))
_MAX_QUOTED = 12
"""Maximum number of characters of a reading quoted in full; a longer one is cited by its beginning and end."""

LEMMA_CONTEXT_CHARACTERS = 4
"""Characters of the corrected text shown on each side of a lemma."""

KANRIPO_SIGLA = {"WYG": "四庫", "SBCK": "叢刊"}
"""Sigla of editions in notes, by their branches in the Kanseki Repository."""

EDITIONS = {"四庫": "文淵閣四庫全書本", "叢刊": "四部叢刊本", "四部": "四部叢刊本"}
"""The full names of editions by their usual sigla."""


@dataclass(frozen=True, slots=True)
class CollationNote:
    """A note on a correction. `number` counts from 1 within the juan. `juan` and `leaf` are empty in a text without
    pages; `line` is the number of the column, or of the line, in the corrected text. `before` and `after` are the
    context of `lemma` there."""

    number: int
    juan: str
    leaf: str
    line: int
    before: str
    lemma: str
    after: str
    words: str
    placed: PlacedCorrection

    @property
    def start(self) -> int:
        """The offset of the noted place in the source, in code points."""
        return self.placed.edit.start


@dataclass(frozen=True, slots=True)
class CollationNotes:
    """The notes of a text in text order, and the full names of the cited witnesses by their sigla in the notes."""

    edition: Transcription
    notes: tuple[CollationNote, ...]
    witnesses: Mapping[str, str] = field(default_factory=dict)


def notes_of(
    corrected: CorrectedSource, without_change: Sequence[Correction] = (), names: Mapping[str, str] | None = None
) -> CollationNotes:
    """The notes on a corrected text. `without_change` are corrections that get a note but change nothing: places left
    in doubt, and corrections that the text already has. `names` are full names of witnesses by their sigla (empty if
    none was given); they take precedence over those of the corrections."""
    edition = corrected.edition
    with_halves = with_moved([each for each in noted_places(corrected, without_change) if not each.correction.restores])
    with_halves.sort(key=lambda pair: pair[0].edit.place)
    juan_of = {page.id: page.juan for page in edition.pages}
    leaf_of = {page.id: leaf_in_words(page, edition.script) for page in edition.pages}
    addresses = Addresses(edition)
    stretches = sorted(edition.stretches(), key=_START)
    edits = sorted((change.edit for change in corrected.placed if change.correction.changes), key=_START)
    line_changes = _line_changes(corrected)
    given_names = tuple((names or {}).items())
    numbers: Counter[str] = Counter()
    notes = []
    for placed, half in with_halves:
        correction = placed.correction
        juan = juan_of.get(correction.page, "")
        numbers[juan] += 1
        before, after = _around(edition.text, addresses, stretches, edits, placed)
        line = _corrected_line(placed, line_changes)
        known_names = (*correction.names, *given_names)
        named_correction = replace(correction, line=line, original=correction.replaced, names=known_names)
        named = replace(placed, correction=named_correction)
        words = house_note(named, edition.script)
        if half is not None:
            half_line = _corrected_line(half, line_changes)
            moved_from = replace(half, correction=replace(half.correction, line=half_line))
            line_start, _ = addresses.line(half.correction.page, half.correction.line)
            above = [*_characters_of_source(stretches, line_start, half.edit.start)][-1:]
            first, last = sorted((placed.edit.start, half.edit.start))
            lines_between = line_end(edition.text, first), edition.text.rfind("\n", 0, last) + 1
            is_near = correction.page == half.correction.page and not any(
                _characters_of_source(stretches, *lines_between)
            )
            words = moved_note(named, moved_from, "".join(above), edition.script, is_near=is_near)
        leaf = leaf_of.get(correction.page, "")
        notes.append(
            CollationNote(numbers[juan], juan, leaf, line, before, correction.replacement, after, words, placed)
        )
    return CollationNotes(edition, tuple(notes), _witness_names(notes, given_names))


class _LineChange(NamedTuple):
    """A correction that adds `lines` to its page, or takes them away. `page` is None in a text without pages."""

    page: str | None
    order: EditOrder
    lines: int


def _line_changes(corrected: CorrectedSource) -> list[_LineChange]:
    edition = corrected.edition
    pages = (placed.correction.page if edition.paged else None for placed in corrected.placed)
    changes = (
        _LineChange(page, placed.order, _lines_added(placed, edition))
        for page, placed in zip(pages, corrected.placed, strict=True)
    )
    return [change for change in changes if change.lines]


def _corrected_line(placed: PlacedCorrection, line_changes: Iterable[_LineChange]) -> int:
    """The number of the column of a correction in the corrected text: columns may be added, deleted, split or joined
    before it on its page."""
    correction, order = placed.correction, placed.order
    added = int(correction.adds_column and correction.offset > 0)
    added += sum(
        change.lines for change in line_changes if change.page in (None, correction.page) and change.order < order
    )
    return correction.line + added


def _lines_added(placed: PlacedCorrection, edition: Transcription) -> int:
    if not placed.correction.changes:
        return 0
    edit = placed.edit
    return edit.replacement.count("\n") - edition.text.count("\n", edit.start, edit.end)


def _witness_names(notes: Iterable[CollationNote], names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The full names of the witnesses cited in notes, by their names in the notes; empty for an unknown name. `names`
    are pairs of a siglum and a full name, which take precedence over those of the corrections."""
    corrections = [note.placed.correction for note in notes]
    cited = {siglum for correction in corrections for siglum, _ in correction.readings}
    cited |= {correction.authority for correction in corrections} - {"", IMAGE, *REASONED}
    known = [name for correction in corrections for name in correction.names]
    full_names = EDITIONS | {siglum: name for siglum, name in (*known, *names) if name}
    return {
        called(siglum): full_names.get(siglum, full_names.get(KANRIPO_SIGLA.get(siglum, ""), ""))
        for siglum in sorted(cited)
    }


def called(siglum: str) -> str:
    """The name of a witness in a note: 四庫本 for 四庫. A name that ends in a word for an edition or in a non-Han
    character is unchanged."""
    name = KANRIPO_SIGLA.get(siglum, siglum)
    return name + "本" if is_han(name[-1]) and name[-1] not in "本影像校記書藏" else name


def _around(
    text: str, addresses: Addresses, stretches: Sequence[LayerStretch], edits: Sequence[Edit], placed: PlacedCorrection
) -> tuple[str, str]:
    """The characters before and after a place in its line of the corrected text; no markup or punctuation. Around a
    line ending these are the lines on both sides; there are none around a whole column. `stretches` and `edits` are
    sorted by their starts."""
    correction, edit = placed.correction, placed.edit
    line = addresses.find(correction.page, correction.line)
    if line is None or correction.is_of_column:
        return "", ""
    begin, end = line
    end = line_end(text, edit.end) if correction.is_of_line_ending else max(end, edit.end)
    first, last = bisect_left(edits, begin, key=_START), bisect_right(edits, end, key=_START)
    others = [other for other in edits[first:last] if other is not edit]
    before = _characters(stretches, others, begin, edit.start)
    after = _characters(stretches, others, edit.end, end)
    return "".join(before[-LEMMA_CONTEXT_CHARACTERS:]), "".join(after[:LEMMA_CONTEXT_CHARACTERS])


def _characters(stretches: Sequence[LayerStretch], edits: Iterable[Edit], begin: int, end: int) -> list[str]:
    """The characters from `begin` to `end` with the edits inside it applied; an entity or a description is one."""
    characters, at = list[str](), begin
    for edit in edits:
        if at <= edit.start and edit.end <= end:
            characters += _characters_of_source(stretches, at, edit.start)
            characters += [cell.text for cell in parse_column(edit.replacement).cells if cell.glyph]
            at = edit.end
    return [*characters, *_characters_of_source(stretches, at, end)]


def _characters_of_source(stretches: Sequence[LayerStretch], begin: int, end: int) -> Iterator[str]:
    first, last = bisect_right(stretches, begin, key=_END), bisect_left(stretches, end, key=_START)
    for stretch in stretches[first:last]:
        yield from (cell.text for cell in stretch.cells() if begin <= cell.start and cell.end <= end)


def house_note(placed: PlacedCorrection, script: Script) -> str:
    """The note on one correction in the house style, its wording in `script`."""
    correction = placed.correction
    new, old = _short(correction.replacement), _short(correction.original)
    authority, readings = rests_on(correction), _readings(correction)
    if correction.doubt is not None:
        words = f"{old or _short(correction.doubt)}：{readings}疑{_suspected(correction, correction.doubt)}"
    elif correction.copy_reads is not None:
        words = _retained(correction, correction.copy_reads)
    elif not correction.changes:
        source = "" if correction.authority in ("", IMAGE) else f"據{called(correction.authority)}，"
        words = f"{old}：{source}原文如此"
    elif correction.is_of_line_ending:
        words = f"此處原連寫，{authority}分行" if correction.replacement else f"此處原分行，{authority}連寫"
    elif not correction.original:
        words = f"{new}：原脫，{readings}{authority}補"
    elif _is_illegible(correction.original) and correction.replacement:
        words = f"{new}：原闕，{readings}{authority}補"
    elif not correction.replacement:
        words = f"{old}：原衍，{readings}{authority}刪"
    elif correction.kind is Kind.TRANSPOSITION or _is_reordered(correction.original, correction.replacement):
        words = f"{new}：原作{old}，{readings}{authority}乙正"
    else:
        words = f"{new}：原作{old}，{readings}{authority}改"
    return f"{in_script(words, script)}。{correction.note}"


def _suspected(correction: Correction, suggested: str) -> str:
    """The suspected error at a place left in doubt."""
    if not correction.original:
        return "脫"
    if suggested in ("", correction.original):
        return "誤" if suggested else "衍"
    return f"當作{_short(suggested)}"


def rests_on(correction: Correction) -> str:
    """The authority of a correction, as the words before the verb: 從四庫本, 據影像, or 今 if none is stated."""
    if not correction.authority:
        return "今"
    of_witness = correction.authority in {siglum for siglum, _ in (*correction.readings, *correction.names)}
    return f"從{called(correction.authority)}" if of_witness else f"據{correction.authority}"


def _readings(correction: Correction) -> str:
    """The readings of the witnesses, grouped by reading. Those that agree with the text come first, since 同 after
    another reading would mean that one."""
    lemma = correction.replacement or correction.doubt or correction.copy_reads
    groups: dict[str, list[str]] = {}
    for siglum, reading in correction.readings:
        groups.setdefault(reading, []).append(called(siglum))
    if correction.original in groups and correction.original:
        groups = {correction.original: groups[correction.original], **groups}
    clauses = []
    for reading, names in groups.items():
        if reading == correction.original:
            verb = "同" if reading else "亦無"
        elif not reading:
            verb = "無"
        elif _is_illegible(reading):
            verb = "闕"
        elif correction.original:
            verb = f"作{_short(reading)}"
        else:
            verb = "有" if reading == lemma else f"有{_short(reading)}"
        clauses.append(f"{'、'.join(names)}{verb}，")
    return "".join(clauses)


def _is_illegible(reading: str) -> bool:
    """Whether a reading has only signs for characters that the copy lacks (□) or has blackened (■)."""
    return bool(reading) and set(reading) <= set("□■")


def copy_of(correction: Correction) -> str:
    """The name of the copy against which a text is kept: the named witness, else the image; empty if the page has no
    image."""
    if correction.authority not in ("", IMAGE, *REASONED):
        return called(correction.authority)
    return IMAGE if correction.has_image else ""


def _retained(correction: Correction, copy: str) -> str:
    """The words on a text kept against a copy, with the witnesses; 一作 for a copy without a name."""
    lemma, name = _short(correction.original or copy), copy_of(correction)
    if name and name not in {called(siglum) for siglum, _ in correction.readings}:
        correction = replace(correction, readings=((name, copy), *correction.readings))
    readings = _readings(correction)
    if not any(reading == copy for _, reading in correction.readings):
        readings += f"一{(f'作{_short(copy)}' if copy else '無') if correction.original else '有'}，"
    return f"{lemma}：{readings}{_why_kept(correction)}"


def _why_kept(correction: Correction) -> str:
    return f"據{correction.authority}不從" if correction.authority in REASONED else "今不從"


def with_moved(corrections: Sequence[PlacedCorrection]) -> list[tuple[PlacedCorrection, PlacedCorrection | None]]:
    """Each correction with None; the two halves of a moved character once: the half at which the character stands in
    the resulting text, with the half from which it was, or would be, moved."""
    halves = {placed.correction.flag: placed for placed in corrections if placed.correction.moved}

    def other_half(correction: Correction) -> PlacedCorrection | None:
        other = halves.get(correction.moved)
        if other is None or other.correction.moved != correction.flag:
            return None
        return other if bool(other.correction.replacement) != bool(correction.replacement) else None

    paired = [(placed, other_half(placed.correction)) for placed in corrections]
    return [(placed, other) for placed, other in paired if other is None or placed.correction.replacement]


def moved_note(placed: PlacedCorrection, other: PlacedCorrection, above: str, script: Script, *, is_near: bool) -> str:
    """The note on a moved character, whose other half is `other`, after the character `above` in its column: 乙正
    where this is near (within one column or over the end of one), 移 from farther away; 疑當在 if it is left in doubt,
    今不從 if the text is kept."""
    correction, half = placed.correction, other.correction
    where = f"{above}下" if above else "行首"
    if correction.line != half.line:
        where = f"第{numeral(half.line)}行{where}"
    if correction.doubt is not None:
        words = f"疑當在{where}"
    elif correction.copy_reads is not None:
        words = f"{copy_of(correction) or '一'}在{where}，{_why_kept(correction)}"
    else:
        words = f"原在{where}，{rests_on(correction)}{'乙正' if is_near else '移'}"
    return f"{in_script(f'{correction.replacement}：{words}', script)}。{correction.note}"


def place_in_words(note: CollationNote, script: Script) -> str:
    """The leaf and column of a note, or the line in a text without pages."""
    return in_script(f"{note.leaf}第{numeral(note.line)}行", script)


def juan_in_words(juan: str, script: Script) -> str:
    """The heading of a juan in the notes; empty in a text without juan."""
    if juan.isascii() and juan.isdigit():
        return in_script(f"卷{numeral(int(juan))}" if int(juan) else "卷首", script)
    return in_script(juan, script)


def leaf_in_words(page: Page, script: Script) -> str:
    """The name of a page: 葉一上 for half-folio 1a, or its id if it has no folio."""
    if page.folio is None:
        return page.id
    side = {"a": "上", "b": "下"}[page.folio.side]
    return in_script(f"葉{numeral(page.folio.leaf)}{side}", script)


def in_script(words: str, script: Script) -> str:
    """The words of a note converted to the script of the text."""
    return words.translate(_SIMPLIFIED) if script is Script.SIMPLIFIED else words


def _short(text: str) -> str:
    """A reading as notes quote it, without its indentation; a long one by its beginning, its end and the number of its
    characters."""
    characters = [cell.text for cell in parse_column(text).cells if not cell.blank]
    if len(characters) <= _MAX_QUOTED:
        return text.strip() or text
    return f"「{''.join(characters[:2])}」至「{''.join(characters[-2:])}」{numeral(len(characters))}字"


def _is_reordered(old: str, new: str) -> bool:
    return len(old) > 1 and old != new and sorted(old) == sorted(new)
