"""The flags of a column: one for each difference of the alignment, with its evidence and its score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import exp, log

from proof.layout.half_folio import Outline
from proof.model.flags import Evidence, Flag, Kind, is_raised
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.ocr.belief import FLOOR
from proof.text.alike import run_together
from proof.text.column import is_character
from proof.text.contexts import context_of
from proof.text.model import Cell, Script, is_han
from proof.text.variants import Relation, VariantPolicy
from proof.verify.align import Likeness, Pairing, Step
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import SPLINTERS, Glyph, room_between, spacing
from proof.verify.legibility import FULLY_LEGIBLE, Legibility
from proof.verify.passages import with_joined_runs
from proof.verify.places import Place, glyph_of, omission_place
from proof.verify.scores import (
    ALIKE_WEIGHT,
    SURE_INSERTION_SCORE,
    USUAL_MISREADING,
    doubts,
    form_score,
    misread_deduction,
    omission_score,
    or_neutral,
    substitution_score,
    swap_score,
    unknown_score,
)

EXPECTED_SCORE = 0.01
"""Score in nats of what is no error: a variant, which is another form of the same word, and an expected reading (the
engine does not know the transcribed character, and reads the glyph as it reads that character when it is drawn)."""

MIN_VARIANT_PROBABILITY = 0.5
"""Minimum probability of a glyph, and of its reading, for a variant to be flagged."""

DEFAULT_ROWS = 21
"""Number of characters in a full column, by which the height of a cell is estimated in a column without glyphs."""

WHOLE_GLYPH_SCORE = 5.0
"""Minimum score in nats of a whole glyph without a transcribed character, however unsure its reading: transcribers may
leave out characters that they cannot read or type. A whole glyph is as large as a character and has its own cell."""

WHOLE_CELLS_RANGE = (0.5, 1.3)
"""Minimum and maximum width and height of a whole glyph, in cells. Strokes of a large seal reach farther."""

MIN_WHOLE_PRESENCE = 0.3
"""Minimum presence of a whole glyph. The recogniser hardly sees a glyph in ink that is no character."""

MIN_WHOLE_ROOM_CELLS = 0.75
"""Minimum distance of the middle of a whole glyph from those of its neighbours, in cells. Without this and the minimum
presence one flag more is false on each of two of 32 damaged pages."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """The values that all flags of a page share. `marks_notes`: its text marks notes."""

    page: str
    ref: str
    outline: Outline
    threshold: float
    marks_notes: bool = False


@dataclass(frozen=True, slots=True)
class FlagMaker:
    """Makes the flags of the columns of one page. `legible` is the legibility of the page. The fields that are
    functions give:

    - `likeness`: the log-probability that a glyph is a character (`Likeness`)
    - `drawn_as`: the readings of a character that the engine does not know, drawn in fonts
    - `self_reading`: the probability that the engine reads a character drawn so many pixels high as itself
    - `form_preference`: how much more the ink of a glyph resembles one character than another, None if not known
    - `ink_size`: the width and height of the ink of a glyph, in cells
    """

    context: PageContext
    policy: VariantPolicy
    likeness: Likeness
    drawn_as: Callable[[str], Sequence[str]] = lambda _: ()
    self_reading: Callable[[str, float], float | None] = lambda *_: None
    legible: Legibility = FULLY_LEGIBLE
    form_preference: Callable[[ReadColumn, Glyph, str, str], float | None] = lambda *_: None
    ink_size: Callable[[ReadColumn, Glyph], tuple[float, float]] = lambda *_: (0.0, 0.0)

    def flags(self, column: ReadColumn) -> list[Flag]:
        """The flags of one column in reading order; `with_ids` gives them their ids later."""
        if column.line is None:
            return []
        flags: list[Flag | None] = []
        for pairing, doubt in zip(column.pairings, doubts(column), strict=True):
            match pairing.step:
                case Step.MATCH:
                    flags.append(self._match(column, pairing, doubt))
                case Step.SWAP:
                    flags.append(self._swap(column, pairing, doubt))
                case Step.EXTRA_CELL:
                    flags.append(self._extra_cell(column, pairing, doubt))
                case Step.EXTRA_GLYPH:
                    flags.append(self._extra_glyph(column, pairing, doubt))
        return with_joined_runs(column, flags, self.context.marks_notes)

    def _match(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        """The flag for a glyph that is not read as its transcribed character: another word (訛), or a variant."""
        cell, glyph = column.cells[pairing.cells[0]], column.glyphs[pairing.glyphs[0]]
        if glyph.best == cell.text:
            return None
        own_log_prob = self.likeness(cell.text, glyph)  # of the transcribed character
        verdict = self.policy.relation(cell.text, glyph.best)
        if verdict.relation in (Relation.FORM, Relation.TABOO):
            return self._variant(column, cell, glyph, verdict.rule)
        best_other = self._best_other(cell.text, glyph)
        if best_other is None:
            return None
        other, log_prob = best_other
        reason, rule, ink = "posterior", "", None
        if own_log_prob is None or other in self.drawn_as(cell.text):
            own_log_prob, reason = None, "unknown to the engine"
            score, rule, ink = self._score_against_unknown(column, glyph, cell.text, other, log_prob, doubt)
        else:
            score = self._score_against_known(cell.text, own_log_prob, other, glyph, doubt)
            if score > EXPECTED_SCORE and self._is_form(column, glyph, cell.text, other, log_prob):
                score, rule = EXPECTED_SCORE, "read so when drawn"
            elif score > EXPECTED_SCORE and (deduction := self._misread_deduction(column, glyph, cell.text, other)):
                score, rule = max(score - deduction, EXPECTED_SCORE), "read so when drawn"
        score = max(score - self.legible.deduction(glyph.row), min(score, EXPECTED_SCORE))
        if run_together(cell.text, other):
            score, rule = score * ALIKE_WEIGHT, "alike in the hand"
        elif not rule and score < self.context.threshold and cell.text in glyph.seen:
            rule = "seen so in one way alone"
        suggested = self.policy.to_source_script(other, cell.text)
        evidence = Evidence(
            reason="doubt" if doubt > 0.5 else reason,
            rule=rule,
            p_text=None if own_log_prob is None else exp(own_log_prob),
            p_best=exp(log_prob),
            alternatives=_alternatives(glyph),
            ink=ink,
        )
        place = Place(cell.offset, cell.length, Kind.SUBSTITUTION, cell.text, suggested)
        return self._flag(column, place, score, self._box(glyph), evidence)

    def _score_against_unknown(
        self, column: ReadColumn, glyph: Glyph, transcribed: str, other: str, log_prob: float, doubt: float
    ) -> tuple[float, str, Notice | None]:
        """The score of the word `other`, read with `log_prob`, if the engine does not know `transcribed`; the rule that
        lowers the score; and a notice about the ink."""
        is_expected = other in self.drawn_as(transcribed)
        # a flag on an expected reading is not raised, but kept: the bias of the engine is estimated from such readings
        score = EXPECTED_SCORE if is_expected else unknown_score(transcribed, log_prob) * (1.0 - doubt)
        preference = self._preference(column, glyph, other, transcribed)
        score_by_form = 0.0 if preference is None else form_score(preference, log_prob) * (1.0 - doubt)
        if score_by_form > score:
            return score_by_form, "", Notice.of(NoticeCode.LIKER_AS_DRAWN, text=other)
        return score, "read so when drawn" if is_expected else "", None

    def _preference(self, column: ReadColumn, glyph: Glyph, other: str, transcribed: str) -> float | None:
        """How much more a glyph resembles `other` than `transcribed`; None if that is not known, or if the text is
        simplified: its image shows the traditional forms."""
        if self.policy.script is not Script.TRADITIONAL:
            return None
        return self.form_preference(column, glyph, other, transcribed)

    def _is_form(self, column: ReadColumn, glyph: Glyph, transcribed: str, other: str, log_prob: float) -> bool:
        """Whether a glyph that the engine reads as `other` more probably shows a form of `transcribed` that the engine
        does not know: a form that it reads as `other` when it is drawn (囘, a form of 回, is read as 同)."""
        forms = (form for form in self.policy.forms(transcribed) if other in self.drawn_as(form))
        preferences = (self.form_preference(column, glyph, other, form) for form in forms)
        return any(form_score(preference, log_prob) < 0 for preference in preferences if preference is not None)

    def _self_reading_at(self, glyph: Glyph, transcribed: str) -> float | None:
        """The self-reading of a transcribed character, drawn as large as a glyph; None if it is not known, or if the
        glyph was read as this character in any way."""
        was_read = not all(self._is_distinct(transcribed, text) for text in glyph.seen)
        return None if was_read else self.self_reading(transcribed, self.legible.size(glyph.row))

    def _misread_deduction(self, column: ReadColumn, glyph: Glyph, transcribed: str, other: str) -> float:
        """The nats subtracted from the score of the word `other` because the engine often misreads `transcribed`, and
        the ink does not resemble `other` more."""
        self_reading = self._self_reading_at(glyph, transcribed)
        if self_reading is None or self_reading > 1.0 - USUAL_MISREADING:
            return 0.0
        preference = self._preference(column, glyph, other, transcribed)
        return 0.0 if preference is None else misread_deduction(self_reading, preference)

    def _score_against_known(
        self, transcribed: str, own_log_prob: float, other: str, glyph: Glyph, doubt: float
    ) -> float:
        """The score of the word `other` if the engine knows `transcribed`, whose log-probability is
        `own_log_prob`."""
        listed = glyph.believed.listed
        distinct = [text for text in listed if is_han(text) and self._is_distinct(transcribed, text)]
        # the image does not distinguish characters that look alike in handwriting: they are no evidence
        distinct = [text for text in distinct if not run_together(transcribed, text)]
        return substitution_score(
            own_log_prob,
            self._word_log_prob(other, glyph),
            doubt,
            self_reading=self._self_reading_at(glyph, transcribed),
            others=min(sum(exp(listed[text]) for text in distinct), 1.0),
            shared_weight=self.legible.shared_weight(glyph.row),
        )

    def _variant(self, column: ReadColumn, cell: Cell, glyph: Glyph, rule: str) -> Flag | None:
        """The flag for another form of the same word, with the rule that hides it; it is not raised."""
        if min(glyph.presence, exp(glyph.log_prob(glyph.best))) < MIN_VARIANT_PROBABILITY:
            return None
        evidence = Evidence(
            reason="variant",
            rule=rule,
            p_text=exp(glyph.log_prob(cell.text)),
            p_best=exp(glyph.log_prob(glyph.best)),
            alternatives=_alternatives(glyph),
        )
        place = Place(cell.offset, cell.length, Kind.VARIANT, cell.text, glyph.best)
        return self._flag(column, place, EXPECTED_SCORE, self._box(glyph), evidence)

    def _swap(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        """The flag for two characters that stand in the other order on the image (倒)."""
        first, second = (column.cells[i] for i in pairing.cells)
        above, below = (column.glyphs[j] for j in pairing.glyphs)
        straight = (self.likeness(first.text, above), self.likeness(second.text, below))
        crossed = (self.likeness(second.text, above), self.likeness(first.text, below))
        assert column.line is not None, "only columns with a line have flags"
        end = second.offset + second.length
        between = column.line.source[first.offset + first.length : second.offset]
        place = Place(
            first.offset,
            end - first.offset,
            Kind.TRANSPOSITION,
            column.line.source[first.offset : end],
            second.text + between + first.text,
        )
        evidence = Evidence(
            reason="transposition",
            p_text=exp(min(map(or_neutral, straight))),
            p_best=exp(min(map(or_neutral, crossed))),
        )
        box = self._box(above).union(self._box(below))
        return self._flag(column, place, swap_score(straight, crossed) * (1.0 - doubt), box, evidence)

    def _extra_cell(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        """The flag for a transcribed character without a glyph (衍)."""
        number = pairing.cells[0]
        cell = column.cells[number]
        before, after = glyph_of(column, number - 1), glyph_of(column, number + 1)
        room = room_between(before, after)
        box = self._gap_box(column, before, after)
        evidence = Evidence(reason="no glyph", ink=Notice.of(NoticeCode.ROOM, number=round(max(room - 1, 0), 1)))
        place = Place(cell.offset, cell.length, Kind.INSERTION, cell.text, "")
        return self._flag(column, place, SURE_INSERTION_SCORE * (1.0 - doubt), box, evidence)

    def _extra_glyph(self, column: ReadColumn, pairing: Pairing, doubt: float) -> Flag | None:
        """The flag for a glyph for which nothing is transcribed (脫)."""
        number = pairing.glyphs[0]
        glyph = column.glyphs[number]
        others = (other for index, other in enumerate(column.glyphs) if index != number)
        ys = [other.y for other in others if other.strip == glyph.strip and other.probable]
        above = max((y for y in ys if y < glyph.y), default=None)
        below = min((y for y in ys if y >= glyph.y), default=None)
        room = spacing(glyph, above, below)
        reading = self.policy.to_source_script(glyph.best, "") if is_character(glyph.best) else ""
        place = omission_place(column, pairing.before, [glyph], reading)
        log_prob = glyph.log_prob(glyph.best)
        enclosed = above is not None and below is not None
        score = omission_score(glyph.presence, glyph.best, log_prob, enclosed)
        score -= self.legible.deduction(glyph.row)
        if score < WHOLE_GLYPH_SCORE and enclosed and self._is_whole(column, glyph, room):
            score = WHOLE_GLYPH_SCORE
        evidence = Evidence(
            reason="not transcribed",
            p_best=glyph.presence * exp(log_prob),
            alternatives=_alternatives(glyph),
            ink=Notice.of(NoticeCode.PART_OF_CELL, number=round(room, 1)),
        )
        return self._flag(column, place, score * (1.0 - doubt), self._box(glyph), evidence)

    def _is_whole(self, column: ReadColumn, glyph: Glyph, room: float) -> bool:
        """Whether a glyph is a whole one (`WHOLE_GLYPH_SCORE`); `room` is its distance from the nearer of its
        neighbours, in cells. Ink as large as a character that is read as a splinter belongs to a seal."""
        if not is_han(glyph.best) or glyph.best in SPLINTERS:
            return False
        if glyph.presence < MIN_WHOLE_PRESENCE or room < MIN_WHOLE_ROOM_CELLS:
            return False
        least, most = WHOLE_CELLS_RANGE
        return all(least <= side <= most for side in self.ink_size(column, glyph))

    def _best_other(self, transcribed: str, glyph: Glyph) -> tuple[str, float] | None:
        """The most probable reading that is another word, and its log-probability."""
        for text, log_prob in glyph.believed.ranked():
            if is_han(text) and self._is_distinct(transcribed, text):
                return text, log_prob
        return None

    def _is_distinct(self, transcribed: str, text: str) -> bool:
        return self.policy.relation(transcribed, text).relation is Relation.DISTINCT

    def _word_log_prob(self, text: str, glyph: Glyph) -> float:
        """The log-probability that a glyph is any form of the word `text`."""
        same_word = (Relation.SAME, Relation.FORM, Relation.TABOO)
        listed = glyph.believed.listed
        forms = (form for form in listed if form != text and self.policy.relation(text, form).relation in same_word)
        return log(min(exp(glyph.log_prob(text)) + sum(exp(listed[form]) for form in forms), 1.0))

    def _box(self, glyph: Glyph) -> Box:
        return self.context.outline.file_box(glyph.left, glyph.top, glyph.right, glyph.bottom)

    def _gap_box(self, column: ReadColumn, before: Glyph | None, after: Glyph | None) -> Box:
        """The box for a character that is not on the image, between its neighbours `before` and `after`. Either may be
        missing."""
        area = column.area
        neighbour = before or after
        left, right = (neighbour.left, neighbour.right) if neighbour else (area.left, area.right)
        pitch = neighbour.pitch if neighbour else area.cell(DEFAULT_ROWS)
        if before is not None and after is not None and before.strip == after.strip:
            top, bottom = before.bottom - 0.25 * pitch, after.top + 0.25 * pitch
        elif before is not None:
            top, bottom = before.bottom - 0.1 * pitch, before.bottom + 0.4 * pitch
        elif after is not None:
            top, bottom = after.top - 0.4 * pitch, after.top + 0.1 * pitch
        else:
            top, bottom = area.top, area.top + pitch
        return self.context.outline.file_box(left, min(top, bottom), right, max(top, bottom))

    def _flag(self, column: ReadColumn, place: Place, score: float, box: Box, evidence: Evidence) -> Flag | None:
        """The flag of a difference; None if the image is no evidence of one."""
        if score <= 0:
            return None
        assert column.line is not None, "only columns with a line have flags"
        if place.kind is Kind.OMISSION:
            evidence = replace(evidence, column=column.area.number)
        return Flag(
            page=self.context.page,
            ref=self.context.ref,
            line=column.line.number,
            offset=place.offset,
            length=place.length,
            kind=place.kind,
            transcribed=place.transcribed,
            suggested=place.suggested,
            score=score,
            raised=is_raised(place.kind, score, self.context.threshold),
            bbox=box,
            evidence=evidence,
            context=context_of(column.line.source, place.offset, place.length),
        )


def _alternatives(glyph: Glyph) -> tuple[tuple[str, float], ...]:
    """The five most probable readings of a glyph with their probabilities."""
    ranked = sorted(glyph.believed.listed.items(), key=lambda item: -item[1])
    likely = ((text, log_prob) for text, log_prob in ranked if log_prob > FLOOR and is_character(text))
    return tuple((text, round(exp(log_prob), 5)) for text, log_prob in islice(likely, 5))
