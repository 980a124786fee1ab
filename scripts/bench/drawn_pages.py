"""Rendered half-folios for measuring: many texts, many hands, every kind of wear, and exact answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from proof.facsimile.files import strip_of
from proof.facsimile.leaf import Style
from proof.facsimile.render import RenderedPage, page_seed, render_page
from proof.facsimile.wear import Wear
from proof.text.model import Page
from proof.text.transcription import Transcription

MIN_CHARACTERS = 60
"""Minimum number of characters of a page that is measured; one with fewer is a title or the end of a juan."""

RULE_WIDTH_FACTOR = 0.7
"""Factor for the width of rules on difficult pages, which makes them about as wide as on real half-folios."""

TOUCHING_FACTOR = 0.25
"""Factor for the share of glyphs that touch a rule on difficult pages, which makes them as frequent as on real ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A page to be rendered, with the page that shows through it."""

    transcription: Transcription
    page: Page
    behind: Page


def fits(page: Page) -> bool:
    """Whether a page could be a half-folio as ruled: no more columns, no column more than two cells too long."""
    style = Style()
    if not 1 <= len(page.columns) <= style.columns:
        return False
    if any(column.height > style.cells + 2 for column in page.columns):
        return False
    return sum(cell.han for column in page.columns for cell in column.cells) >= MIN_CHARACTERS


def choose(transcriptions: Iterable[Transcription], count: int, seed: int = 0) -> list[Trial]:
    """`count` pages drawn without repetition from all that fit, in the order of their texts; fewer where
    the texts have fewer."""
    fitting = [
        Trial(text, page, text.pages[number - 1])
        for text in transcriptions
        for number, page in enumerate(text.pages)
        if fits(page)
    ]
    rng = np.random.default_rng([seed, 1])
    chosen = np.sort(rng.permutation(len(fitting))[:count])
    return [fitting[int(number)] for number in chosen]


def trial_style(seed: Sequence[int]) -> Style:
    """A style drawn at random: small scans and full ones, with and without margins, one hand and another."""
    rng = np.random.default_rng([*seed, 2])
    return Style(
        scale=float(rng.choice([1.0, 1.0, 1.35, 1.7])),
        wide_margins=bool(rng.random() < 0.6),
        glyph=float(rng.uniform(0.64, 0.78)),
        note=float(rng.uniform(0.42, 0.49)),
        squat=float(rng.uniform(0.84, 0.96)),
        weight=float(rng.uniform(0, 9)),
        hand=float(rng.uniform(0.7, 1.2)),
        strip_seen=float(rng.uniform(0.1, 0.8)),
    )


def trial_wear(seed: Sequence[int]) -> Wear:
    """A wear drawn at random between light and heavy: one page in three grey, two in five through JPEG,
    one in seven under a seal."""
    rng = np.random.default_rng([*seed, 3])
    amount = rng.uniform(0, 1, 8)
    return Wear(
        skew=float(3.0 * amount[0] ** 1.5),
        keystone=float(0.004 * amount[1]),
        broken=float(0.02 + 0.38 * amount[2] ** 1.5),
        specks=float(20 + 250 * amount[3] ** 2),
        bleed=float(0.3 * amount[4]) if rng.random() < 0.5 else 0.0,
        seal=float(rng.uniform(0.3, 0.55)) if rng.random() < 1 / 7 else 0.0,
        stains=float(0.04 * amount[5]) if rng.random() < 0.3 else 0.0,
        fade=float(0.1 + 0.4 * amount[6]),
        grain=float(0.2 + 0.4 * amount[7]),
        blur=float(rng.uniform(0.2, 0.9)) if rng.random() < 0.4 else 0.0,
        grey=bool(rng.random() < 1 / 3),
        jpeg=int(rng.integers(55, 95)) if rng.random() < 0.4 else None,
    )


def worn(seed: Sequence[int]) -> tuple[Style, Wear]:
    """A style and a wear drawn at random."""
    return trial_style(seed), trial_wear(seed)


def hard(seed: Sequence[int]) -> tuple[Style, Wear]:
    """The same with what makes rules and glyphs hard to tell apart: strokes that stand by themselves, glyphs against
    the rules, rules that bow and are broken, thick frames; without a seal, whose ink hides that of glyphs."""
    style, wear = worn(seed)
    amount = np.random.default_rng([*seed, 4]).uniform(0, 1, 4)
    harder = replace(
        style,
        detached=float(0.6 * amount[0]),
        leaning=float(0.25 * amount[1]),
        bent=float(0.03 * amount[2]),
        frame=float(0.7 + 1.3 * amount[3]),
    )
    broken = float(np.random.default_rng([*seed, 5]).uniform(0.1, 0.5))
    return harder, replace(wear, broken=broken, seal=0.0)


def hard_with_real_rules(seed: Sequence[int]) -> tuple[Style, Wear]:
    """The hard ones with rules about as wide as those of real half-folios, and met by strokes as often."""
    style, wear = hard(seed)
    return replace(style, rule=RULE_WIDTH_FACTOR, leaning=TOUCHING_FACTOR * style.leaning), wear


def rendered(
    trials: Iterable[Trial],
    seed: int = 0,
    dressed: Callable[[Sequence[int]], tuple[Style, Wear]] = worn,
    *,
    with_owners: bool = False,
) -> Iterator[tuple[Trial, RenderedPage]]:
    """The trials with their images, each in a style and wear of its own, which `dressed` draws from its seed: what
    `facsimile.files.render` writes. Raises FontError."""
    for trial in trials:
        style, wear = dressed(page_seed(seed, trial.page.id))
        strip = strip_of(trial.transcription, trial.page)
        page = render_page(trial.page, style, wear, seed, strip=strip, behind=trial.behind, with_owners=with_owners)
        yield trial, page
