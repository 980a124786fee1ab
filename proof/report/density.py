"""The plot of where flags stand: raised flags per 1,000 characters, a bar a page, or a bar some pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor, log10

from proof.model.result import Status
from proof.report.tally import PageTally

MOST_BARS = 320
WIDTH, HEIGHT = 1300.0, 130.0
LABEL_EM = 6.0
LEFT, FOOT, HEAD = 34.0, 18.0, 8.0
WIDEST = 30.0
NARROWEST = 300.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and what it stands for: `pages` many, of which `unread` were not checked. `target` is the
    number of the page to go to."""

    x: float
    y: float
    w: float
    h: float
    target: int
    first: str
    last: str
    pages: int
    unread: int
    raised: int
    characters: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The plot in its own units: `width` x `height`, the base line at `base`, the values from `left` on."""

    bars: tuple[Bar, ...]
    rows: tuple[Tick, ...]
    labels: tuple[Tick, ...]
    pages_a_bar: int
    width: float
    height: float = HEIGHT
    left: float = LEFT
    base: float = HEIGHT - FOOT


def plot(pages: Sequence[PageTally]) -> Plot | None:
    """The plot of these pages; None where there are none."""
    if not pages:
        return None
    a_bar = ceil(len(pages) / MOST_BARS)
    groups = [pages[start : start + a_bar] for start in range(0, len(pages), a_bar)]
    step = min((WIDTH - LEFT) / len(groups), WIDEST)
    top, rows = _scale(max(_density(group) for group in groups))
    tall = HEIGHT - FOOT - HEAD
    bars = []
    for index, group in enumerate(groups):
        high = tall * _density(group) / top
        flagged = next((page.number for page in group if page.raised), group[0].number)
        bars.append(
            Bar(
                x=LEFT + index * step,
                y=HEIGHT - FOOT - high,
                w=step * 0.8,
                h=high,
                target=flagged,
                first=group[0].page,
                last=group[-1].page,
                pages=len(group),
                unread=sum(page.status is not Status.CHECKED for page in group),
                raised=sum(page.raised for page in group),
                characters=sum(page.characters for page in group),
            )
        )
    longest = max(len(short_name(bar.first)) for bar in bars)
    every = ceil((LABEL_EM * longest + 8) / step)
    labels = [Tick(bar.x + bar.w / 2, short_name(bar.first)) for bar in islice(bars, 0, None, every)]
    marks = [Tick(HEIGHT - FOOT - tall * value / top, f"{value:g}") for value in rows]
    return Plot(tuple(bars), tuple(marks), tuple(labels), a_bar, max(bars[-1].x + step, NARROWEST))


def short_name(page: str) -> str:
    """The end of a page id, which alone differs from page to page (`17b` of `KR1d0087_WYG_223-17b`)."""
    return page.rsplit("-", 1)[-1]


def _density(pages: Sequence[PageTally]) -> float:
    characters = sum(page.characters for page in pages)
    return 1000 * sum(page.raised for page in pages) / characters if characters else 0.0


def _scale(most: float) -> tuple[float, list[float]]:
    """The value at the top of the plot and two to four round values up to it."""
    most = max(most, 1.0)
    power = 10.0 ** floor(log10(most))
    unit = next(unit for unit in (power / 2, power, 2 * power, 5 * power) if most / unit <= 4)
    rows = [unit * count for count in range(1, floor(most / unit) + 1)]
    return most, rows
