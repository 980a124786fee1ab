"""Rendered half-folios for measuring: many texts, many hands, every kind of wear, and exact answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from proof.facsimile.files import file_stem, strip_of
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


def fits(page: Page, style: Style | None = None) -> bool:
    """Whether a page could be a half-folio as ruled: no more columns, no column more than two cells too long."""
    style = style or Style()
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


def hard_style(style: Style, seed: Sequence[int]) -> Style:
    """The style with what makes rules and glyphs hard to tell apart: strokes that stand by themselves, glyphs against
    the rules, rules that bow, thick frames."""
    rng = np.random.default_rng([*seed, 4])
    amount = rng.uniform(0, 1, 4)
    return replace(
        style,
        detached=float(0.6 * amount[0]),
        leaning=float(0.25 * amount[1]),
        bent=float(0.03 * amount[2]),
        frame=float(0.7 + 1.3 * amount[3]),
    )


def real_rules(style: Style) -> Style:
    """The hard style with rules about as wide as those of real half-folios, and met by strokes as often."""
    return replace(style, rule=RULE_WIDTH_FACTOR, leaning=TOUCHING_FACTOR * style.leaning)


def hard_wear(wear: Wear, seed: Sequence[int]) -> Wear:
    """The wear with rules that are broken, and without a seal, whose ink hides that of glyphs."""
    rng = np.random.default_rng([*seed, 5])
    return replace(wear, broken=float(rng.uniform(0.1, 0.5)), seal=0.0)


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


def rendered(trials: Iterable[Trial], seed: int = 0) -> Iterator[tuple[str, RenderedPage]]:
    """The trials as images with their file names (without ending), each in a style and wear of its own.

    What `facsimile.files.render` writes. Raises FontError.
    """
    for trial in trials:
        own = page_seed(seed, trial.page.id)
        yield (
            file_stem(trial.page),
            render_page(
                trial.page,
                trial_style(own),
                trial_wear(own),
                seed,
                strip=strip_of(trial.transcription, trial.page),
                behind=trial.behind,
            ),
        )
