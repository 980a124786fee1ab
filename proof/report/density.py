"""The plot of the density of flags: raised flags per 1,000 characters, a bar for each page or for a few pages, labelled
with juan and folios, in rows that fit on a sheet of paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil, floor, log10

from proof.model.refs import PageId
from proof.model.result import Status
from proof.report.tally import PageTally, raised_where_checked

MAX_BARS = 320
BARS_A_ROW = 160
CHART_WIDTH_PX = 660.0
ROW_HEIGHT_PX = 142.0
LATIN_WIDTH_PX = 6.0
HAN_WIDTH_PX = 10.0
LEFT_MARGIN_PX = 34.0
BOTTOM_MARGIN_PX = 30.0
TOP_MARGIN_PX = 8.0
MAX_BAR_WIDTH_PX = 30.0
MIN_CHART_WIDTH_PX = 300.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar for a number of `pages`, of which `unread` were not checked. `target` is the number of the linked page."""

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


Places = Mapping[str, tuple[str, str]]
"""Juan and folio of pages, by their ids."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A row of the plot in its own units: `width` x `height`, with the base line at `base` and the bars from `left` on.
    `labels` are folios; `juans` mark where a juan begins or continues from the row before."""

    bars: tuple[Bar, ...]
    rows: tuple[Tick, ...]
    labels: tuple[Tick, ...]
    juans: tuple[Tick, ...]
    pages_a_bar: int
    width: float
    height: float = ROW_HEIGHT_PX
    left: float = LEFT_MARGIN_PX
    base: float = ROW_HEIGHT_PX - BOTTOM_MARGIN_PX


def plots(pages: Sequence[PageTally], places: Places | None = None) -> tuple[Plot, ...]:
    """The rows of the plot, all on one scale; none if there are no pages. A page that is not in `places` is labelled by
    its id."""
    a_bar = ceil(len(pages) / MAX_BARS)
    groups = [pages[start : start + a_bar] for start in range(0, len(pages), a_bar or 1)]
    if not groups:
        return ()
    step = min((CHART_WIDTH_PX - LEFT_MARGIN_PX) / min(len(groups), BARS_A_ROW), MAX_BAR_WIDTH_PX)
    top, rows = _scale(max(_density(group) for group in groups))
    tall = ROW_HEIGHT_PX - BOTTOM_MARGIN_PX - TOP_MARGIN_PX
    marks = tuple(Tick(ROW_HEIGHT_PX - BOTTOM_MARGIN_PX - tall * value / top, f"{value:g}") for value in rows)
    parts = [groups[start : start + BARS_A_ROW] for start in range(0, len(groups), BARS_A_ROW)]
    return tuple(_row(part, step, tall / top, marks, a_bar, places or {}) for part in parts)


def _row(
    groups: Sequence[Sequence[PageTally]], step: float, unit: float, marks: tuple[Tick, ...], a_bar: int, places: Places
) -> Plot:
    bars = [
        _bar(group, LEFT_MARGIN_PX + index * step, step * 0.8, unit * _density(group))
        for index, group in enumerate(groups)
    ]
    named = [_place(bar.first, places) for bar in bars]
    every = ceil((LATIN_WIDTH_PX * max(len(folio) for _, folio in named) + 8) / step)
    labels = [
        Tick(bar.x + bar.w / 2, folio) for bar, (_, folio) in islice(zip(bars, named, strict=True), 0, None, every)
    ]
    juans: list[Tick] = []
    room = 0.0
    for index, (bar, (juan, _)) in enumerate(zip(bars, named, strict=True)):
        begins = index == 0 or named[index - 1][0] != juan
        if juan and begins and bar.x >= room:
            juans.append(Tick(bar.x, juan))
            room = bar.x + HAN_WIDTH_PX * (len(juan) + 1)
    return Plot(tuple(bars), marks, tuple(labels), tuple(juans), a_bar, max(bars[-1].x + step, MIN_CHART_WIDTH_PX))


def _bar(group: Sequence[PageTally], x: float, width: float, high: float) -> Bar:
    flagged = next((page.number for page in group if page.raised), group[0].number)
    return Bar(
        x=x,
        y=ROW_HEIGHT_PX - BOTTOM_MARGIN_PX - high,
        w=width,
        h=high,
        target=flagged,
        first=group[0].page,
        last=group[-1].page,
        pages=len(group),
        unread=sum(page.status is not Status.CHECKED for page in group),
        raised=sum(page.raised for page in group),
        characters=sum(page.characters for page in group),
    )


def _place(page: str, places: Places) -> tuple[str, str]:
    """Juan and folio of a page."""
    juan, folio = places.get(page, ("", ""))
    named = PageId.match(page)
    return juan or (named.juan if named else ""), folio or short_name(page)


def short_name(page: str) -> str:
    """The end of a page id, in which pages differ (`17b` of `KR1d0087_WYG_223-17b`)."""
    return page.rsplit("-", 1)[-1]


def _density(pages: Sequence[PageTally]) -> float:
    characters = sum(page.characters for page in pages)
    return 1000 * raised_where_checked(pages) / characters if characters else 0.0


def _scale(most: float) -> tuple[float, list[float]]:
    """The value at the top of the plot and two to four round values up to it."""
    most = max(most, 1.0)
    power = 10.0 ** floor(log10(most))
    unit = next(unit for unit in (power / 2, power, 2 * power, 5 * power) if most / unit <= 4)
    rows = [unit * count for count in range(1, floor(most / unit) + 1)]
    return most, rows
