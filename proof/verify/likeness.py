"""How probable it is that a transcribed character stands as a glyph, in any form that is the same word."""

from __future__ import annotations

from math import log

from proof.ocr.belief import FLOOR
from proof.ocr.engine import Engine
from proof.text.variants import Relation, VariantPolicy
from proof.verify.align import Likeness
from proof.verify.glyphs import Glyph

RECOGNISED = log(0.1)
"""Log-probability from which an unknown character counts as read, in one of its forms."""


class WordLikeness:
    """The likeness by an engine's posteriors: of all forms of the word that the engine knows, the best."""

    def __init__(self, policy: VariantPolicy, engine: Engine) -> None:
        self.policy = policy
        self._engine = engine
        self._known: dict[str, tuple[bool, tuple[str, ...]]] = {}

    def __call__(self, character: str, glyph: Glyph) -> float | None:
        learned, forms = self._known.get(character) or self._entry(character)
        value = glyph.belief.greatest(forms)
        # an unknown shape may be read as a form that is known; that it is not says nothing
        return value if learned or value > RECOGNISED else None

    def forms(self, character: str) -> tuple[str, ...]:
        """The forms of `character` that the engine knows, itself first if it does."""
        return self._entry(character)[1]

    def _entry(self, character: str) -> tuple[bool, tuple[str, ...]]:
        entry = self._known.get(character)
        if entry is None:
            forms = tuple(form for form in (character, *self.policy.forms(character)) if self._engine.knows(form))
            entry = self._known[character] = (self._engine.knows(character), forms)
        return entry


def text_likeness(policy: VariantPolicy) -> Likeness:
    """The same for an engine that tells only what it read: a form of what is read fits, anything else does not."""

    def likeness(character: str, glyph: Glyph) -> float | None:
        believed = glyph.believed.get(character)
        if believed is not None:
            return believed
        same = policy.relation(character, glyph.best).relation is not Relation.DISTINCT
        return glyph.log_prob(glyph.best) if same else FLOOR

    return likeness
