"""The probability that a glyph is a transcribed character, in any form of that word."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from proof.ocr.belief import FLOOR
from proof.ocr.drawn import DrawnReadings, shipped_readings, shipped_sure_forms
from proof.ocr.drawn_shapes import shipped_shapes
from proof.ocr.engine import Engine
from proof.text.variants import Relation, VariantPolicy
from proof.verify.align import Likeness
from proof.verify.glyphs import Glyph

MIN_RECOGNISED_LOG_PROB = log(0.1)
"""Log-probability from which on a character that the engine does not know counts as read, in one of its forms."""


@dataclass(frozen=True, slots=True)
class _PossibleReadings:
    """How a character may be read: whether the engine knows it (`known`), the `forms` of it that the engine knows, and
    its other readings in fonts (`drawn`), each with its log-probability."""

    known: bool
    forms: tuple[str, ...]
    drawn: tuple[tuple[str, float], ...]


class WordLikeness:
    """The likeness from an engine's posteriors: the greatest posterior of the forms of the word that the engine knows
    and, for a character that it does not know, of its readings of that character in fonts."""

    def __init__(self, policy: VariantPolicy, engine: Engine, drawn: DrawnReadings | None = None) -> None:
        """`drawn` are the readings of a project's own font, added to those that come with the program."""
        self.policy = policy
        self._engine = engine
        shipped = shipped_readings(engine.identity.checksum)
        self._drawn = shipped.joined(drawn) if drawn else shipped
        self._self_readings = shipped_sure_forms(engine.identity.checksum)
        self.shapes = shipped_shapes(engine.identity.checksum)
        self._cache: dict[str, _PossibleReadings] = {}

    def __call__(self, character: str, glyph: Glyph) -> float | None:
        possible = self._cache.get(character) or self._possible_readings(character)  # `get` first, as it is faster
        log_prob = glyph.believed.greatest(possible.forms)
        if possible.drawn:
            listed = glyph.believed.listed
            of_drawn = [listed[text] + log_share for text, log_share in possible.drawn if text in listed]
            log_prob = max(log_prob, *of_drawn, FLOOR)
        # an unknown shape may be read as a known form; if it is not, that is no evidence
        return log_prob if possible.known or log_prob > MIN_RECOGNISED_LOG_PROB else None

    def forms(self, character: str) -> tuple[str, ...]:
        """The forms of `character` that the engine knows, itself first if it does."""
        return self._possible_readings(character).forms

    def drawn_as(self, character: str) -> tuple[str, ...]:
        """The readings of a character in fonts, if the engine does not know it."""
        return tuple(text for text, _ in self._drawn.readings(character)) if not self._engine.knows(character) else ()

    def self_reading(self, character: str, size: float) -> float | None:
        """The probability, 0 to 1, that the engine reads a character drawn `size` pixels high as itself; None if it was
        not measured."""
        return self._self_readings.chance(character, size)

    def _possible_readings(self, character: str) -> _PossibleReadings:
        possible = self._cache.get(character)
        if possible is None:
            forms = tuple(form for form in (character, *self.policy.forms(character)) if self._engine.knows(form))
            readings = self._drawn.readings(character)
            drawn = tuple((text, log(probability)) for text, probability in readings if text not in forms)
            possible = self._cache[character] = _PossibleReadings(self._engine.knows(character), forms, drawn)
        return possible


def text_likeness(policy: VariantPolicy) -> Likeness:
    """The likeness for an engine without posteriors: a form of the character read fits, anything else does not."""

    def likeness(character: str, glyph: Glyph) -> float | None:
        believed = glyph.believed.get(character)
        if believed is not None:
            return believed
        is_same_word = policy.relation(character, glyph.best).relation is not Relation.DISTINCT
        return glyph.log_prob(glyph.best) if is_same_word else FLOOR

    return likeness
