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
class _Likely:
    """How a character may be read: whether the engine knows it, the `forms` of it that the engine knows, and the other
    readings of it in fonts (`drawn`), each with its log-probability."""

    known: bool
    forms: tuple[str, ...]
    drawn: tuple[tuple[str, float], ...]


class WordLikeness:
    """The likeness from an engine's posteriors: the greatest among the forms of the word that the engine knows, and,
    for a character that it does not know, among its readings of that in fonts."""

    def __init__(self, policy: VariantPolicy, engine: Engine, drawn: DrawnReadings | None = None) -> None:
        """`drawn` are the readings of a project's own font, added to those that come with the program."""
        self.policy = policy
        self._engine = engine
        shipped = shipped_readings(engine.identity.checksum)
        self._drawn = shipped.joined(drawn) if drawn else shipped
        self._self_readings = shipped_sure_forms(engine.identity.checksum)
        self.shapes = shipped_shapes(engine.identity.checksum)
        self._likely_of: dict[str, _Likely] = {}

    def __call__(self, character: str, glyph: Glyph) -> float | None:
        likely = self._likely_of.get(character) or self._likely(character)
        value = glyph.believed.greatest(likely.forms)
        if likely.drawn:
            listed = glyph.believed.listed
            value = max(value, *[listed[text] + log_prob for text, log_prob in likely.drawn if text in listed], FLOOR)
        # an unknown shape may be read as a known form; if it is not, that is no evidence
        return value if likely.known or value > MIN_RECOGNISED_LOG_PROB else None

    def forms(self, character: str) -> tuple[str, ...]:
        """The forms of `character` that the engine knows, itself first if it does."""
        return self._likely(character).forms

    def drawn_as(self, character: str) -> tuple[str, ...]:
        """The readings of a character in fonts, if the engine does not know it."""
        return tuple(text for text, _ in self._drawn.readings(character)) if not self._engine.knows(character) else ()

    def self_reading(self, character: str) -> float | None:
        """The probability, 0 to 1, with which the engine reads a character as itself in fonts, clear and worn; None
        where it was not measured."""
        return self._self_readings.chance(character)

    def _likely(self, character: str) -> _Likely:
        likely = self._likely_of.get(character)
        if likely is None:
            forms = tuple(form for form in (character, *self.policy.forms(character)) if self._engine.knows(form))
            readings = self._drawn.readings(character)
            drawn = tuple((text, log(chance)) for text, chance in readings if text not in forms)
            likely = self._likely_of[character] = _Likely(self._engine.knows(character), forms, drawn)
        return likely


def text_likeness(policy: VariantPolicy) -> Likeness:
    """The likeness for an engine without posteriors: a form of what is read fits, anything else does not."""

    def likeness(character: str, glyph: Glyph) -> float | None:
        believed = glyph.believed.get(character)
        if believed is not None:
            return believed
        same = policy.relation(character, glyph.best).relation is not Relation.DISTINCT
        return glyph.log_prob(glyph.best) if same else FLOOR

    return likeness
