"""Scores of findings in nats, from the probabilities of the engine and the positions of the ink.

A score is by how much another reading explains the image better than the transcribed one. Doubt about the image lowers
it. Scores of different pages are comparable, so that findings can be ranked over a whole work. The work as a whole, the
language model and the witnesses change them afterwards (`proof.checking.rescoring`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from proof.ocr.belief import MIN_PROBABILITY
from proof.text.alike import run_together
from proof.text.model import is_han
from proof.verify.align import UNKNOWN_CHARACTER_NATS, Pairing, Step
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import SPLINTERS

OMISSION_UNCERTAINTY_WEIGHT = 1.5
"""Weight of the log-probability of the reading of a glyph in the score of an omission."""

# Weights of a substitution. Fitted by logistic regression to errors planted on rendered pages, then scaled so that the
# odds of a sure reading count once.
ODDS_WEIGHT = 0.28
"""Weight of the odds against the transcribed character, in nats per nat."""

SURE_ALTERNATIVE_WEIGHT = 0.72
"""Weight of the same odds times the probability of the best other reading."""

ALTERNATIVE_WEIGHT = 0.32
"""Weight of the log-probability of the best other reading."""

DOUBT_DEDUCTION_NATS = 7.0
"""Nats subtracted if the image around the glyph is wholly in doubt."""

# The self-reading of a character is the probability that the engine reads it as itself when it is drawn as small as on
# the page. What it reads otherwise as often as it misreads the character is no evidence.
USUAL_MISREADING = 0.05
"""Probability of a misreading up to which the engine surely reads a character as itself, and nothing is subtracted. Of
1,494 errors planted on drawn and real pages as many are raised at 0.03 and at 0.08, but for one each; from 0.08 on 羅
is raised for 囉."""

MAX_SELF_READING_GAIN_NATS = 0.5
"""Maximum number of nats that are added for a character that is misread more rarely, if the image shows enough
detail."""

# Several other characters may share the probability, none of them surely. They count together if the engine surely
# reads the drawn transcribed character as itself, and if the image shows enough detail (`proof.verify.legibility`).
# Each ramp is a pair of probabilities: no effect up to the first, full effect from the second on.
SHARED_BEST_RAMP = (0.35, 0.5)
"""Ramp of the probability of the best other character. Without what is shared one of 22 real errors is missed (弃
for 弆)."""

SINGLE_BEST_RAMP = (0.55, 0.65)
"""Ramp of the probability of the best other character over which it comes to count alone instead."""

SHARED_ODDS_GAIN = 2.0
"""Relative increase of the odds against the transcribed character per shared probability."""

SURE_INSERTION_SCORE = 8.0
"""Score in nats of a transcribed character without a glyph."""

MAX_PRESENCE_SCORE = 9.0
"""Score in nats of a glyph that is surely there and not transcribed, before its reading is considered."""

ENTITY_SCORE = 1.0
"""Score in nats of an entity, which no engine knows, on a glyph that is read as a character. With an unsure reading it
is also the score of another unknown character, before the doubt in the reading is subtracted."""

UNKNOWN_CERTAIN_SCORE = 5.0
"""Score in nats of a character that the engine does not know if the other reading is wholly certain."""

UNKNOWN_DOUBT_WEIGHT = 100.0
"""Nats subtracted for every nat of doubt in that reading: an engine wavers between similar characters if it was not
trained on a shape."""

SPLINTER_DEDUCTION_NATS = 1.5
"""Nats subtracted from an omission whose glyph is read as a splinter, between glyphs. Of 383 places where 一 or 二 was
left out of the text of a drawn or real page 58 are not raised; at 5 it is 93."""

LOOSE_SPLINTER_DEDUCTION_NATS = 5.0
"""Nats subtracted from an omission whose glyph is read as a splinter, at an end of the column. At 1.5 one flag more is
false in 6,591 characters of drawn books."""

NO_CHARACTER_DEDUCTION_NATS = 7.0
"""Nats subtracted from an omission whose glyph is read as a mark that is no Han character."""

# The form score of a transcribed character that the engine does not know. By logistic regression on 946 characters
# drawn in AR PL UKai, of which 427 are what the engine reads, and on glyphs of two texts compared with characters that
# are read in the same way.
FORM_PREFERENCE_WEIGHT = 30.0
"""Nats per unit of form preference: of how much more the ink resembles the reading than the transcribed character, as
fonts draw both."""

FORM_ODDS_WEIGHT = 0.5
"""Weight of the odds of the reading."""

FORM_OFFSET_NATS = -1.5
"""Nats added to the weighted sum of preference and odds."""

ALIKE_WEIGHT = 0.4
"""Factor for findings between characters that look alike in handwriting, since the image does not tell them apart. Of
look-alikes exchanged on real pages 210 of 225 are raised (207 at 0.3), on rendered pages 420 of 432 (411 at 0.3), with
no more false flags; from 0.6 on 焉 read as 馬 is raised again and again."""

DOUBT_REACH_CELLS = 4
"""Number of glyphs on either side by whose readings the doubt about the image is measured."""

CONTEXT_WEIGHT = 0.4
"""Weight of the language model's odds for the transcribed character, beside the image. By logistic regression of
whether a flag is an error on its score and the odds, over 1,872 flags on 100 rendered half-folios of three works, 1,360
of them errors, of `plant.py` and fluent ones. With the weights of two works, the log loss on the third falls from 0.111
to 0.093."""

CONTEXT_AGAINST_WEIGHT = 0.6
"""Weight of odds against the transcribed character. 1,405 of
1,444 errors planted on real pages are raised at 0.4 and 1,407 at 0.6, with as many false flags there, on two canons and
on rendered pages in three fonts."""

MAX_CONTEXT_GAIN_NATS = 2.0
"""Maximum that the language model adds to a score, in nats. At 2.5, with a weight of 0.8, 16 right characters of 36,000
on rendered pages in a second font are raised, and 10 at 2."""

MAX_CONTEXT_DEDUCTION_NATS = 1.0
"""Maximum that it subtracts, in nats: real transcribers' errors are fluent, and the context must not hide what the
image shows clearly."""


def language_weight(odds: float) -> float:
    """Nats that the language model adds to the score of a flag; `odds` are its odds against the transcribed character,
    in nats."""
    weight = CONTEXT_AGAINST_WEIGHT if odds > 0 else CONTEXT_WEIGHT
    return min(max(weight * odds, -MAX_CONTEXT_DEDUCTION_NATS), MAX_CONTEXT_GAIN_NATS)


def unseen_score(odds: float, p_text: float | None, transcribed: str, suggested: str) -> float:
    """The score, in nats, of a character that the language model doubts and its image does not contradict.

    `odds` are those of the language model against the character, in nats; `p_text` is its posterior (None if nothing
    was read). The odds of the posterior are subtracted, times `ALIKE_WEIGHT` if the two characters look alike in
    handwriting.
    """
    if p_text is None:
        return odds
    probability = min(max(p_text, 0.5), 1.0 - 1e-5)
    weight = ALIKE_WEIGHT if run_together(transcribed, suggested) else 1.0
    return odds - log(probability / (1.0 - probability)) * weight


def substitution_score(
    own: float,
    belief: float,
    doubt: float,
    self_reading: float | None = None,
    others: float = 0.0,
    shared_weight: float = 1.0,
) -> float:
    """The score, in nats, of a substitution: how strongly a glyph speaks for another word than the transcribed one.

    - `own`: log-probability of the transcribed character
    - `belief`: log-probability of the best other word
    - `doubt` about the image around the glyph, 0 to 1
    - `self_reading`: probability that the engine reads that character as itself when it is drawn as small as the glyph;
      None if not known
    - `others`: probability of all other words together
    - `shared_weight`: weight of a probability that several words share, 0 to 1
    """
    probability = min(max(exp(own), MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
    odds = log((1.0 - probability) / probability)
    other = exp(belief)
    if self_reading is not None and self_reading > 1.0 - USUAL_MISREADING:
        is_shared = ramp(other, *SHARED_BEST_RAMP) * (1.0 - ramp(other, *SINGLE_BEST_RAMP))
        shared = shared_weight * is_shared * max(others - other, 0.0)
        odds *= 1.0 + SHARED_ODDS_GAIN * shared * (1.0 - doubt)
        other += shared
    score = odds * (ODDS_WEIGHT + SURE_ALTERNATIVE_WEIGHT * other + ODDS_WEIGHT * doubt)
    score += ALTERNATIVE_WEIGHT * log(max(other, MIN_PROBABILITY)) - DOUBT_DEDUCTION_NATS * doubt
    if self_reading is None:
        return score
    nats = log(USUAL_MISREADING / max(1.0 - self_reading, MIN_PROBABILITY))
    return score + min(nats, MAX_SELF_READING_GAIN_NATS * shared_weight)


def ramp(value: float, low: float, high: float) -> float:
    """A linear ramp: 0 up to `low`, 1 from `high` on."""
    return min(max((value - low) / (high - low), 0.0), 1.0)


def unknown_score(transcribed: str, belief: float) -> float:
    """The score, in nats, of a glyph against a transcribed character that the engine does not know.

    `belief` is the log-probability of the engine's reading. An entity stands for a character without a code point: no
    reading can match it, so its score is constant.
    """
    if transcribed.startswith("&"):
        return ENTITY_SCORE
    return max(ENTITY_SCORE + belief, UNKNOWN_CERTAIN_SCORE + UNKNOWN_DOUBT_WEIGHT * belief)


def form_score(preference: float, belief: float) -> float:
    """The odds, in nats, that a glyph is the character that the engine reads, if it does not know the transcribed one.
    `preference` is how much more the ink resembles the reading (`DrawnShapes.form_preference`), `belief` the
    log-probability of the reading."""
    probability = min(max(exp(belief), 1e-4), 1.0 - 1e-4)
    return (
        FORM_PREFERENCE_WEIGHT * preference
        + FORM_ODDS_WEIGHT * log(probability / (1.0 - probability))
        + FORM_OFFSET_NATS
    )


def misread_deduction(self_reading: float, preference: float) -> float:
    """The nats subtracted from the score of a substitution whose transcribed character the engine knows, but reads as
    itself with the probability `self_reading` only: its readings say little, and the ink decides. `preference` is that
    of `form_score`. Without it four right characters more of a canon's 3,263 are raised (嚧 read as 盧)."""
    return (1.0 - self_reading) * max(-FORM_PREFERENCE_WEIGHT * preference - FORM_OFFSET_NATS, 0.0)


def omission_score(presence: float, reading: str, belief: float, enclosed: bool = True) -> float:
    """The score, in nats, of a glyph for which nothing is transcribed.

    `presence` is the probability that there is a glyph, `reading` its best reading and `belief` the log-probability of
    this. `enclosed`: there are glyphs above and below it; at the ends of a column splinters of the frame are read.
    """
    odds = log(max(presence, 1e-5) / max(1.0 - presence, 1e-4))
    score = min(3.0 + 1.2 * odds, MAX_PRESENCE_SCORE) + OMISSION_UNCERTAINTY_WEIGHT * belief
    if not is_han(reading):
        return score - NO_CHARACTER_DEDUCTION_NATS
    if reading in SPLINTERS:
        return score - (SPLINTER_DEDUCTION_NATS if enclosed else LOOSE_SPLINTER_DEDUCTION_NATS)
    return score


def swap_score(straight: Sequence[float | None], crossed: Sequence[float | None]) -> float:
    """The score, in nats, of two neighbouring characters that should be exchanged.

    `straight` are the log-probabilities of the two as they are transcribed, `crossed` those with the two exchanged;
    None for a character that the engine does not know.
    """
    return (sum(map(or_neutral, crossed)) - sum(map(or_neutral, straight))) / 2


def or_neutral(value: float | None) -> float:
    """The log-probability; `UNKNOWN_CHARACTER_NATS` count as that of a character that the engine does not know."""
    return -UNKNOWN_CHARACTER_NATS if value is None else value


def doubts(column: ReadColumn) -> list[float]:
    """The doubt about the image around every pairing, 0 to 1.

    Under a seal or a stain every posterior is low, which is no evidence against the text. Sure readings nearby leave no
    doubt, whether they agree with the text or not; faint glyphs do not count.
    """
    certainties = [_certainty(column, pairing) for pairing in column.pairings]
    with_glyph = [certainty for certainty in certainties if certainty is not None]
    doubt_of_pairings, end_before = [], 0
    for certainty in certainties:
        start_after = end_before if certainty is None else end_before + 1
        before = with_glyph[max(end_before - DOUBT_REACH_CELLS, 0) : end_before]
        neighbours = before + with_glyph[start_after : start_after + DOUBT_REACH_CELLS]
        end_before = start_after
        mean = sum(neighbours) / len(neighbours) if neighbours else 1.0
        doubt_of_pairings.append(min(1.0, max(0.0, 1.0 - mean - 0.15) * 1.3))
    return doubt_of_pairings


def _certainty(column: ReadColumn, pairing: Pairing) -> float | None:
    """How sure the engine is of its reading of a pairing's glyphs, 0 to 1; None if there may be no glyph."""
    glyphs = [column.glyphs[number] for number in pairing.glyphs]
    if not glyphs or (pairing.step is Step.EXTRA_GLYPH and not glyphs[0].probable):
        return None
    return min(exp(glyph.log_prob(glyph.best)) * glyph.presence for glyph in glyphs)
