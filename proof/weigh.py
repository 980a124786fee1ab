"""How evidence becomes a score: from aligned columns to flags.

The score of a flag is in nats: how much better what the image shows explains the reading than what is
transcribed. It is lowered by doubt about the image, raised and lowered by where the ink stands, and is the
same on every page, so that flags can be ranked over a whole work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import exp, log
from typing import Protocol

from proof.align import Likeness, Pairing, Step
from proof.columns import ReadColumn
from proof.flags import Evidence, Flag, Kind, flag_id
from proof.geometry import Box
from proof.glyphs import FLOOR, Glyph
from proof.pairing import Carried
from proof.result import PageResult, Status
from proof.text.alike import run_together
from proof.text.model import Cell, is_han
from proof.text.variants import Relation, VariantPolicy

KEPT = 0.0
"""Findings that score less are not kept."""

UNSURE = 1.5
"""Nats taken off for every nat by which the reading of a glyph falls short of certainty."""

AGAINST = 0.28
SURELY = 0.72
BELIEF = 0.32
DOUBT = 7.0
"""Weights of the evidence against a transcribed character, in nats: the odds against it (by themselves, and
as far as one other reading is sure), how sure that reading is, and doubt about the image around it. Fitted
by logistic regression to errors planted on rendered pages, then scaled so that odds of a sure reading count
once."""

SURE_INSERTION = 8.0
"""The score of a transcribed character for which the image has no room."""

MOST = 9.0
"""The score of a glyph that is surely there and not transcribed, before its place is weighed."""

STRANGE = 1.0
"""The score of a character that the engine does not know, on a glyph that it reads as something else."""

CERTAIN = 5.0
WAVERING = 100.0
"""The score of such a character where the other reading is wholly certain, and what every nat of doubt in that
reading takes off: an engine that sees a shape it never learned wavers between its neighbours."""

LAYOUT_SCORE = 9.0
"""The score of a finding about a column or a page: it stands above any single character."""

LEAST_TAUGHT = 0.3
"""What evidence against a character weighs at least, however poorly the engine was taught it."""

SPLINTERS = "一二丨丶丿"
"""Characters that a piece of frame or rule is read as."""

ALIKE = 0.3
"""What a finding weighs between characters that run together in the hand: the image does not decide there."""

NEIGHBOURS = 4
"""Cells on either side whose readings tell how far the image can be trusted here."""


def substitution_score(own: float, belief: float, doubt: float) -> float:
    """How strongly a glyph speaks for another word than the one transcribed.

    `own` is the log-probability of what is transcribed, `belief` that of the best other reading, `doubt`
    how far the image is to be doubted here (0 to 1).
    """
    chance = min(max(exp(own), 1e-5), 1.0 - 1e-5)
    odds = log((1.0 - chance) / chance)
    return odds * (AGAINST + SURELY * exp(belief) + AGAINST * doubt) + BELIEF * belief - DOUBT * doubt


def strange_score(transcribed: str, belief: float) -> float:
    """How strongly a glyph speaks against a character that the engine does not know.

    `belief` is the log-probability of what it reads instead. An entity stands for a character that has no
    code point: nothing that can be read is it, and nothing is said.
    """
    if transcribed.startswith("&"):
        return STRANGE
    return max(STRANGE + belief, CERTAIN + WAVERING * belief)


def omission_score(presence: float, belief: float, room: float) -> float:
    """How strongly a glyph that is not transcribed speaks for an omission.

    `presence` is the probability that a glyph is there, `belief` the log-probability of its best reading,
    `room` the cells to its nearer neighbour: half a glyph, read as one of its own, stands too near.
    """
    odds = log(max(presence, 1e-5) / max(1.0 - presence, 1e-4))
    return min(3.0 + 1.2 * odds, MOST) + UNSURE * belief - 4.0 * max(0.0, 0.75 - room)


class Placement(Protocol):
    """What knows where on the image file a place of the working page is."""

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box: ...


@dataclass(frozen=True, slots=True)
class PageContext:
    """What every flag of a page carries."""

    page: str
    ref: str
    layout: Placement
    threshold: float


class Weigher:
    """Weighs the columns of one page."""

    def __init__(
        self, context: PageContext, policy: VariantPolicy, likeness: Likeness, familiarity: Callable[[str], float]
    ) -> None:
        """`familiarity` tells how well the engine was taught a character, 0 to 1."""
        self._context = context
        self._policy = policy
        self._likeness = likeness
        self._familiarity = familiarity

    def flags(self, column: ReadColumn) -> list[Flag]:
        """The flags of one column, in reading order; the ids are given later, by `numbered`."""
        if column.line is None:
            return []
        doubt = _doubts(column)
        found: list[Flag | None] = []
        for number, pairing in enumerate(column.pairings):
            match pairing.step:
                case Step.MATCH:
                    found.append(self._match(column, pairing, doubt[number]))
                case Step.SWAP:
                    found.append(self._swap(column, pairing, doubt[number]))
                case Step.EXTRA_CELL:
                    found.append(self._extra_cell(column, pairing, doubt[number]))
                case Step.EXTRA_GLYPH:
                    found.append(self._extra_glyph(column, pairing, doubt[number]))
        return [flag for flag in found if flag is not None]

    def _match(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        cell, glyph = column.cells[pairing.cells[0]], column.glyphs[pairing.glyphs[0]]
        if glyph.silent or glyph.best == cell.text:
            return None
        own = self._likeness(cell.text, glyph)
        verdict = self._policy.relation(cell.text, glyph.best)
        if verdict.relation in (Relation.FORM, Relation.TABOO):
            return self._variant(column, cell, glyph, verdict.rule)
        other = self._best_other(cell.text, glyph)
        if other is None:
            return None
        text, belief = other
        reason, taught = "posterior", self._familiarity(cell.text)
        if own is None:
            score, reason = strange_score(cell.text, belief) * (1.0 - doubt), "unknown to the engine"
        else:
            score = substitution_score(own, belief, doubt) * max(LEAST_TAUGHT, taught)
        rule = ""
        if run_together(cell.text, text):
            score, rule = score * ALIKE, "alike in the hand"
        suggested = self._policy.to_source_script(text, cell.text)
        evidence = Evidence(
            reason="doubt" if doubt > 0.5 else reason,
            rule=rule,
            p_text=None if own is None else exp(own),
            p_best=exp(belief),
            alternatives=_alternatives(glyph),
        )
        place = _Place(cell.offset, cell.length, Kind.SUBSTITUTION, cell.text, suggested)
        return self._flag(column, place, score, self._box(glyph), evidence)

    def _variant(self, column: ReadColumn, cell: Cell, glyph: Glyph, rule: str) -> Flag | None:
        """A form of the same word: kept, hidden, and named by the rule that hid it."""
        if glyph.presence < 0.5 or glyph.log_prob(glyph.best) < log(0.5):
            return None
        evidence = Evidence(
            reason="variant",
            rule=rule,
            p_text=exp(glyph.log_prob(cell.text)),
            p_best=exp(glyph.log_prob(glyph.best)),
            alternatives=_alternatives(glyph),
        )
        place = _Place(cell.offset, cell.length, Kind.VARIANT, cell.text, glyph.best)
        return self._flag(column, place, 0.01, self._box(glyph), evidence)

    def _swap(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        first, second = (column.cells[i] for i in pairing.cells)
        above, below = (column.glyphs[j] for j in pairing.glyphs)
        straight = (self._likeness(first.text, above), self._likeness(second.text, below))
        crossed = (self._likeness(second.text, above), self._likeness(first.text, below))
        gain = sum(_or_neutral(v) for v in crossed) - sum(_or_neutral(v) for v in straight)
        assert column.line is not None, "only columns with a line are weighed"
        end = second.offset + second.length
        between = column.line.source[first.offset + first.length : second.offset]
        place = _Place(
            first.offset,
            end - first.offset,
            Kind.TRANSPOSITION,
            column.line.source[first.offset : end],
            second.text + between + first.text,
        )
        evidence = Evidence(
            reason="transposition",
            p_text=exp(min(_or_neutral(v) for v in straight)),
            p_best=exp(min(_or_neutral(v) for v in crossed)),
        )
        box = self._box(above).union(self._box(below))
        return self._flag(column, place, gain / 2 * (1.0 - doubt), box, evidence)

    def _extra_cell(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        """A transcribed character of which the image shows nothing: 衍, unless there is room for it."""
        number = pairing.cells[0]
        cell = column.cells[number]
        before, after = _glyph_of(column, number - 1), _glyph_of(column, number + 1)
        room = _room(before, after)
        # room for a whole cell that holds no ink is blank paper; a little more than usual leaves doubt
        score = SURE_INSERTION - (10.0 * (room - 1.25) if 1.25 < room < 1.6 else 0.0)
        box = self._gap_box(column, before, after)
        evidence = Evidence(reason="no glyph", ink=f"room for {max(room - 1, 0):.1f} characters")
        place = _Place(cell.offset, cell.length, Kind.INSERTION, cell.text, "")
        return self._flag(column, place, score * (1.0 - doubt), box, evidence)

    def _extra_glyph(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        """A glyph that nothing is transcribed for: 脫, if it is a glyph at all."""
        number = pairing.glyphs[0]
        glyph = column.glyphs[number]
        others = [g for i, g in enumerate(column.glyphs) if i != number and g.strip == glyph.strip and g.presence > 0.5]
        above = max((g.y for g in others if g.y < glyph.y), default=None)
        below = min((g.y for g in others if g.y >= glyph.y), default=None)
        room = _spacing(glyph, above, below)
        place = self._omission_place(column, pairing, glyph)
        if glyph.silent:
            evidence = Evidence(reason="ink", ink="ink that the engine did not read")
            return self._flag(column, place, 0.5 * (1.0 - doubt), self._box(glyph), evidence)
        belief = glyph.log_prob(glyph.best)
        score = omission_score(glyph.presence, belief, room)
        if not is_han(glyph.best):
            score -= 7.0
        elif glyph.best in SPLINTERS:
            score -= 1.5 if above is not None and below is not None else 5.0
        evidence = Evidence(
            reason="not transcribed",
            p_best=glyph.presence * exp(belief),
            alternatives=_alternatives(glyph),
            ink=f"{room:.1f} of a cell",
        )
        return self._flag(column, place, score * (1.0 - doubt), self._box(glyph), evidence)

    def _omission_place(self, column: ReadColumn, pairing: Pairing, glyph: Glyph) -> _Place:
        """Where in the line a missing character belongs: beside the neighbour in its own row.

        Blanks that a transcriber left for it inside the line are replaced by it.
        """
        line = column.line
        assert line is not None, "only columns with a line are weighed"
        before = column.cells[pairing.before - 1] if pairing.before else None
        after = column.cells[pairing.before] if pairing.before < len(column.cells) else None
        last = _glyph_of(column, pairing.before - 1)
        following = _glyph_of(column, pairing.before)
        here = last is not None and last.strip == glyph.strip
        if here and following is not None and following.strip == glyph.strip:
            # blanks between the neighbours stay on the side where the paper is blank
            here = last is not None and glyph.y - last.y <= following.y - glyph.y
        if before is not None and here:
            offset = before.offset + before.length
        elif after is not None:
            offset = after.offset
        else:
            offset = len(line.source)
        length = 0
        if before is not None and after is not None and before.row == after.row:
            gap = line.source[before.offset + before.length : after.offset]
            if gap and gap.isspace() and len(gap) <= 2 and self._fills(column, pairing):
                offset, length = before.offset + before.length, len(gap)
        suggested = self._policy.to_source_script(glyph.best, "") if glyph.best else ""
        return _Place(offset, length, Kind.OMISSION, line.source[offset : offset + length], suggested)

    def _fills(self, column: ReadColumn, pairing: Pairing) -> bool:
        """Whether the glyph stands where the transcription has blanks, with no blank left beside it."""
        before, after = _glyph_of(column, pairing.before - 1), _glyph_of(column, pairing.before)
        return before is not None and after is not None and _room(before, after) < 2.6

    def _best_other(self, transcribed: str, glyph: Glyph) -> tuple[str, float] | None:
        """The most probable reading that is another word than what is transcribed, with its log-probability."""
        for text, belief in sorted(glyph.believed.items(), key=lambda item: -item[1]):
            if is_han(text) and self._policy.relation(transcribed, text).relation is Relation.DISTINCT:
                return text, belief
        return None

    def _box(self, glyph: Glyph) -> Box:
        return self._context.layout.file_box(glyph.left, glyph.top, glyph.right, glyph.bottom)

    def _gap_box(self, column: ReadColumn, before: Glyph | None, after: Glyph | None) -> Box:
        """The place between two glyphs, for a character that is not on the image."""
        area = column.area
        near = before or after
        left, right = (near.left, near.right) if near else (area.left, area.right)
        pitch = near.pitch if near else (area.bottom - area.top) / 21
        if before is not None and after is not None and before.strip == after.strip:
            top, bottom = before.bottom - 0.25 * pitch, after.top + 0.25 * pitch
        elif before is not None:
            top, bottom = before.bottom - 0.1 * pitch, before.bottom + 0.4 * pitch
        elif after is not None:
            top, bottom = after.top - 0.4 * pitch, after.top + 0.1 * pitch
        else:
            top, bottom = area.top, area.top + pitch
        return self._context.layout.file_box(left, min(top, bottom), right, max(top, bottom))

    def _flag(self, column: ReadColumn, place: _Place, score: float, box: Box, evidence: Evidence) -> Flag | None:
        if score <= KEPT:
            return None
        assert column.line is not None, "only columns with a line are weighed"
        return Flag(
            page=self._context.page,
            ref=self._context.ref,
            line=column.line.number,
            offset=place.offset,
            length=place.length,
            kind=place.kind,
            transcribed=place.transcribed,
            suggested=place.suggested,
            score=score,
            raised=place.kind is not Kind.VARIANT and score >= self._context.threshold,
            bbox=box,
            evidence=evidence,
            context=_context_of(column.line.source, place.offset, place.length),
        )


def mismatch(blank: PageResult, paired: Carried) -> PageResult:
    """One finding for a page whose image carries another page."""
    name = str(paired.other.folio or paired.other.id) if paired.other else ""
    evidence = Evidence(reason="image mismatch", note=paired.message)
    flag = layout_flag(blank, 0, None, evidence, suggested=name)
    return replace(blank, status=Status.MISMATCH, message=paired.message, flags=numbered([flag]))


def layout_flag(
    blank: PageResult, line: int, box: Box | None, evidence: Evidence, transcribed: str = "", suggested: str = ""
) -> Flag:
    """A finding about a column (`line` from 1) or the page (0)."""
    return Flag(
        page=blank.page,
        ref=blank.ref,
        line=line,
        offset=0,
        length=0,
        kind=Kind.LAYOUT,
        transcribed=transcribed,
        suggested=suggested,
        score=LAYOUT_SCORE,
        raised=True,
        bbox=box,
        evidence=evidence,
        context=evidence.reason,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a line's source text, in code points, and what is to be done there."""

    offset: int
    length: int
    kind: Kind
    transcribed: str
    suggested: str


def numbered(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags with their stable ids; equal findings in equal surroundings are counted apart."""
    seen: Counter[tuple[str, int, Kind, str]] = Counter()
    done = []
    for flag in flags:
        key = (flag.page, flag.line, flag.kind, flag.context)
        done.append(replace(flag, id=flag_id(*key, seen[key])))
        seen[key] += 1
    return tuple(done)


def _context_of(source: str, offset: int, length: int) -> str:
    """The characters around a place, the place marked: what a flag's id is made of."""
    return f"{source[max(0, offset - 3) : offset]}[{source[offset : offset + length]}]{source[offset + length :][:3]}"


def _or_neutral(value: float | None) -> float:
    return -3.0 if value is None else value


def _alternatives(glyph: Glyph) -> tuple[tuple[str, float], ...]:
    best = sorted(glyph.believed.items(), key=lambda item: -item[1])[:5]
    return tuple((text, round(exp(belief), 5)) for text, belief in best if belief > FLOOR)


def _glyph_of(column: ReadColumn, cell: int) -> Glyph | None:
    """The glyph that a cell is paired with."""
    for pairing in column.pairings:
        if cell in pairing.cells and pairing.glyphs:
            return column.glyphs[pairing.glyphs[pairing.cells.index(cell)]]
    return None


def _room(before: Glyph | None, after: Glyph | None) -> float:
    """Cells from one glyph to the next, in one strip; 1 where that cannot be told."""
    if before is None or after is None or before.strip != after.strip:
        return 1.0
    return (after.y - before.y) / before.pitch


def _spacing(glyph: Glyph, above: float | None, below: float | None) -> float:
    """How far, in cells, a glyph is from its nearer neighbour; 1 where it stands alone."""
    gaps = [abs(glyph.y - y) / glyph.pitch for y in (above, below) if y is not None]
    return min(gaps, default=1.0)


def _doubts(column: ReadColumn) -> list[float]:
    """For every pairing how far the image is to be doubted around it, 0 to 1.

    Under a seal or a stain every posterior is low: that is no evidence against the text. Readings that are
    sure leave no doubt, whether they agree with the text or not; what is hardly there does not count.
    """
    certainty = [_certainty(column, pairing) for pairing in column.pairings]
    doubts = []
    for number in range(len(certainty)):
        before = [c for c in certainty[:number] if c is not None][-NEIGHBOURS:]
        after = [c for c in certainty[number + 1 :] if c is not None][:NEIGHBOURS]
        near = before + after
        mean = sum(near) / len(near) if near else 1.0
        doubts.append(min(1.0, max(0.0, 1.0 - mean - 0.15) * 1.3))
    return doubts


def _certainty(column: ReadColumn, pairing: Pairing) -> float | None:
    """How sure the engine is of what it read here; None where there may be nothing to read."""
    glyphs = [column.glyphs[j] for j in pairing.glyphs]
    if not glyphs or (pairing.step is Step.EXTRA_GLYPH and (glyphs[0].silent or glyphs[0].presence <= 0.5)):
        return None
    return min(0.6 if g.silent else exp(g.log_prob(g.best)) * g.presence for g in glyphs)
