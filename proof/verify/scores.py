"""What evidence weighs: scores in nats, from what an engine believes and where the ink stands.

The score of a finding is how much better what the image shows explains the reading than what is transcribed.
It is lowered by doubt about the image, and is the same on every page, so that findings can be ranked over a
whole work.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from proof.ocr.belief import MIN_PROBABILITY
from proof.text.alike import run_together
from proof.text.model import is_han
from proof.verify.align import Pairing, Step
from proof.verify.columns import ReadColumn
from proof.verify.glyphs import SPLINTERS

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

SURE, BELIEVED, ONE, SEVERAL = (0.95, 0.98), (0.35, 0.5), (0.55, 0.65), (0.1, 0.3)
SHARED = 2.0
"""Where several other characters are believed in shares, none of them surely, they count together, and the odds against
what is transcribed weigh more with what is shared, if that is a character that is surely read as itself where it is
drawn, and the image shows enough of it (`proof.verify.legibility`). From which share on it is, how much the likeliest
of the others must be believed, from where on it is one alone, and how much all the rest must be."""

NOTHING, THERE = (7.0, 9.0), (0.5, 0.9)
"""Where a glyph is surely there and leaves nothing to what is transcribed, though that is surely read as itself where
it is drawn, all that it may be instead counts together, however unsurely any of it is read. Nats by which what is
transcribed is improbable, from which on that begins and is so, and the same of the probability that a glyph is there.
On rendered pages in three fonts, on real ones and on two canons every right character that is read as several things,
none of them with more than 0.2, is left more, or a glyph is hardly there."""

MISREAD, MISTAKEN = 1.0, (0.25, 0.5)
ITSELF, KNOWN = 0.5, (0.9, 0.95)
"""What it takes off, in nats, that the engine takes a character for another one where it is drawn, too, and what it
adds that it surely reads it as itself there, if the image shows enough of it; up to which share that it reads so the
one counts in full and from which on not at all, and between which two the other begins. By logistic regression of error
on score and that share sure ones are worth 0.6 to 0.8 nats more than others (on rendered pages in two fonts, and on
real ones with two canons), and mistaken ones 1.4 and 3.4 less (on rendered pages, and on the canons)."""

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

LEAST_TAUGHT = 0.3
"""What evidence against a character weighs at least, however poorly the engine was taught it."""

SPLINTER = 1.5
LOOSE_SPLINTER = 5.0
NO_CHARACTER = 7.0
"""What it takes off an omission that it is read as a splinter, between glyphs or at an end of the column, or as
a mark that is no Han character."""

FORM_LIKER, FORM_READ, FORM_AGAINST = 30.0, 0.5, -1.5
"""Where the engine does not know a character: what it weighs, in nats, how much liker the ink is to what is read as
fonts draw both, and the odds of that reading; and what stands against it. By logistic regression on 946 characters that
were drawn in AR PL UKai, of which 427 are what is read, and on glyphs of two texts held against characters that are
read as they are."""

NEUTRAL = -3.0
"""Log-probability of a character that the engine does not know, where two are weighed together."""

ALIKE = 0.4
"""What a finding weighs between characters that run together in the hand: the image does not decide there. By
Of look-alikes exchanged on real pages 210 of 225 are raised, 207 at 0.3, and of those on
rendered pages 420 of 432, 411 at 0.3, with no false flag more; from 0.6 on 焉 read as 馬 is raised again and again."""

NEIGHBOURS = 4
"""Cells on either side whose readings tell how far the image can be trusted here."""

CONTEXT = 0.4
"""What a nat of the language model's odds weighs beside the image. By logistic regression of whether a
flag is an error on its score and the odds, over 1,872 flags on 100 rendered half-folios of three works, 1,360 of them
errors, of `plant.py` and fluent ones. Each work judged by what the other two gave, the log loss falls from 0.111 to
0.093."""

CONTEXT_AGAINST = 0.6
"""The same of odds against what is transcribed. Beside `ITSELF` and `MISREAD` 1,405 of 1,444 errors planted on real
pages are raised at 0.4 and 1,407 at 0.6, with as many false flags there, on two canons and on rendered pages in three
fonts."""

LIFTED, LOWERED = 2.0, 1.0
"""By how many nats the language model lifts and lowers a score at most. Lowered by no more: the errors of real
transcribers are fluent, and what the image shows clearly no context may hide. Lifted by 2.5 at most, where a nat weighs
0.8, 16 right characters of 36,000 on rendered pages in a second font are raised, and 10 by 2."""


def language_weight(odds: float, lifted: float = LIFTED) -> float:
    """What the odds of the language model (nats against what is transcribed) add to the score of what the image shows,
    `lifted` at most."""
    return min(max((CONTEXT_AGAINST if odds > 0 else CONTEXT) * odds, -LOWERED), lifted)


def unseen_score(odds: float, p_text: float | None, transcribed: str, suggested: str) -> float:
    """How strongly the language model speaks against a character that its image does not contradict.

    `odds` are those of the language model, in nats, `p_text` the posterior of what is transcribed (None where nothing
    was read): what the image shows of it is taken off, in full, or by `ALIKE` where the two are written alike."""
    if p_text is None:
        return odds
    chance = min(max(p_text, 0.5), 1.0 - 1e-5)
    return odds - log(chance / (1.0 - chance)) * (ALIKE if run_together(transcribed, suggested) else 1.0)


def substitution_score(
    own: float,
    belief: float,
    doubt: float,
    taught: float = 1.0,
    sure: float | None = None,
    others: float = 0.0,
    presence: float = 1.0,
    shares: float = 1.0,
) -> float:
    """How strongly a glyph speaks for another word than the one transcribed.

    `own` is the log-probability of what is transcribed, `belief` that of the best other word, `doubt`
    how far the image is to be doubted here, `taught` how well the engine was taught what is transcribed,
    `sure` how surely it reads that as itself where it is drawn (None where that is not known), `others` the
    probability of all other words together, `presence` that there is a glyph, `shares` how far the image lets shares
    tell anything (all 0 to 1).
    """
    chance = min(max(exp(own), 1e-5), 1.0 - 1e-5)
    odds = log((1.0 - chance) / chance)
    other = exp(belief)
    spread = max(others - other, 0.0)
    surely = 0.0 if sure is None else between(sure, *SURE)
    known = shares * surely * between(other, *BELIEVED) * (1.0 - between(other, *ONE))
    shared = known * between(spread, *SEVERAL) * spread
    odds *= 1.0 + SHARED * shared * (1.0 - doubt)
    none_left = shares * surely * between(-own, *NOTHING) * between(presence, *THERE)
    other += max(shared, none_left * spread)
    score = odds * (AGAINST + SURELY * other + AGAINST * doubt)
    score += BELIEF * log(max(other, MIN_PROBABILITY)) - DOUBT * doubt
    return score * max(LEAST_TAUGHT, taught) + (0.0 if sure is None else _as_itself(sure, shares))


def _as_itself(sure: float, shares: float) -> float:
    """What it adds to a score how surely the engine reads what is transcribed as itself where it is drawn, by `shares`
    on an image that shows little; a misreading is one on any."""
    return ITSELF * shares * between(sure, *KNOWN) - MISREAD * (1.0 - between(sure, *MISTAKEN))


def between(value: float, low: float, high: float) -> float:
    """0 up to the one value, 1 from the other on."""
    return min(max((value - low) / (high - low), 0.0), 1.0)


def strange_score(transcribed: str, belief: float) -> float:
    """How strongly a glyph speaks against a character that the engine does not know.

    `belief` is the log-probability of what it reads instead. An entity stands for a character that has no
    code point: nothing that can be read is it, and nothing is said.
    """
    if transcribed.startswith("&"):
        return STRANGE
    return max(STRANGE + belief, CERTAIN + WAVERING * belief)


def form_score(liker: float, belief: float) -> float:
    """How strongly the ink speaks against a character that the engine does not know: the odds, in nats, that the glyph
    is what the engine reads. `liker` is how much liker it is to that as fonts draw both (`DrawnShapes.liker`), `belief`
    the log-probability of that reading."""
    chance = min(max(exp(belief), 1e-4), 1.0 - 1e-4)
    return FORM_LIKER * liker + FORM_READ * log(chance / (1.0 - chance)) + FORM_AGAINST


def omission_score(presence: float, reading: str, belief: float, room: float, enclosed: bool = True) -> float:
    """How strongly a glyph that is not transcribed speaks for an omission.

    `presence` is the probability that a glyph is there, `reading` its best reading and `belief` its
    log-probability, `room` the cells to its nearer neighbour: half a glyph, read as one of its own, stands too
    near. `enclosed`: glyphs stand above and below it; at the ends of a column splinters of the frame are read.
    """
    odds = log(max(presence, 1e-5) / max(1.0 - presence, 1e-4))
    score = min(3.0 + 1.2 * odds, MOST) + UNSURE * belief - 4.0 * max(0.0, 0.75 - room)
    if not is_han(reading):
        return score - NO_CHARACTER
    if reading in SPLINTERS:
        return score - (SPLINTER if enclosed else LOOSE_SPLINTER)
    return score


def swap_score(straight: Sequence[float | None], crossed: Sequence[float | None]) -> float:
    """How strongly two glyphs speak for two neighbours the other way round.

    Log-probabilities of the two characters where they are transcribed and the other way round; None for one
    that the engine does not know.
    """
    return (sum(map(or_neutral, crossed)) - sum(map(or_neutral, straight))) / 2


def or_neutral(value: float | None) -> float:
    """A log-probability, or what stands for that of a character the engine does not know."""
    return NEUTRAL if value is None else value


def insertion_score(room: float) -> float:
    """How strongly a transcribed character without a glyph speaks for an insertion.

    `room` is the cells between its neighbours' middles: about 1 where they stand one below the other. Room for a
    whole cell that holds no ink is blank paper; a little more than usual leaves doubt.
    """
    return SURE_INSERTION - (10.0 * (room - 1.25) if 1.25 < room < 1.6 else 0.0)


def doubts(column: ReadColumn) -> list[float]:
    """For every pairing how far the image is to be doubted around it, 0 to 1.

    Under a seal or a stain every posterior is low: that is no evidence against the text. Readings that are
    sure leave no doubt, whether they agree with the text or not; what is hardly there does not count.
    """
    certainty = [_certainty(column, pairing) for pairing in column.pairings]
    known = [c for c in certainty if c is not None]
    found, before = [], 0
    for own in certainty:
        after = before if own is None else before + 1
        near = known[max(before - NEIGHBOURS, 0) : before] + known[after : after + NEIGHBOURS]
        before = after
        mean = sum(near) / len(near) if near else 1.0
        found.append(min(1.0, max(0.0, 1.0 - mean - 0.15) * 1.3))
    return found


def _certainty(column: ReadColumn, pairing: Pairing) -> float | None:
    """How sure the engine is of what it read here; None where there may be nothing to read."""
    glyphs = [column.glyphs[j] for j in pairing.glyphs]
    if not glyphs or (pairing.step is Step.EXTRA_GLYPH and (glyphs[0].silent or glyphs[0].presence <= 0.5)):
        return None
    return min(0.6 if g.silent else exp(g.log_prob(g.best)) * g.presence for g in glyphs)
