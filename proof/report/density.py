"""The plot of the density of flags: a bar for each page or group of pages shows its raised flags per 1,000 characters.
The plot is divided into rows that fit on a sheet of paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from proof.model.refs import PageId
from proof.model.result import Status
from proof.report.tally import PageTally, raised_where_checked

MAX_BARS = 320
BARS_PER_ROW = 160
CHART_WIDTH_PX = 660.0
ROW_HEIGHT_PX = 142.0
LATIN_WIDTH_PX = 6.0
HAN_WIDTH_PX = 10.0
LABEL_GAP_PX = 8.0
LEFT_MARGIN_PX = 34.0
BOTTOM_MARGIN_PX = 30.0
TOP_MARGIN_PX = 8.0
MAX_STEP_PX = 30.0
"""Maximum distance from the left edge of a bar to that of the next."""
BAR_SHARE = 0.8
"""Width of a bar, as a share of the distance to the next."""
MIN_CHART_WIDTH_PX = 300.0
BASE_PX = ROW_HEIGHT_PX - BOTTOM_MARGIN_PX


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar for `pages` pages, with the ids `first` to `last`; `unread` of them were not checked. It links to the page
    with the number `target`: the first one with raised flags, else the first."""

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
    """A labelled mark on an axis, at the coordinate `at` in pixels."""

    at: float
    label: str


Places = Mapping[str, tuple[str, str]]
"""Juan and folio of pages by page id."""


@dataclass(frozen=True, slots=True)
class Plot:
    """One row of the plot, `width` x `height` pixels; the base line is at the y `base`, the bars begin at the x `left`.
    `rows` are the marks of densities, `labels` those of folios, `juans` those where a juan begins or continues."""

    bars: tuple[Bar, ...]
    rows: tuple[Tick, ...]
    labels: tuple[Tick, ...]
    juans: tuple[Tick, ...]
    pages_a_bar: int
    width: float
    height: float = ROW_HEIGHT_PX
    left: float = LEFT_MARGIN_PX
    base: float = BASE_PX


def plots(pages: Sequence[PageTally], places: Places | None = None) -> tuple[Plot, ...]:
    """The rows of the plot, all on one scale. Pages that are not in `places` are labelled by their id."""
    if not pages:
        return ()
    pages_a_bar = ceil(len(pages) / MAX_BARS)
    groups = [pages[start : start + pages_a_bar] for start in range(0, len(pages), pages_a_bar)]
    step = min((CHART_WIDTH_PX - LEFT_MARGIN_PX) / min(len(groups), BARS_PER_ROW), MAX_STEP_PX)
    top = max(1.0, *map(_density, groups))
    unit = (BASE_PX - TOP_MARGIN_PX) / top
    marks = tuple(Tick(BASE_PX - unit * density, f"{density:g}") for density in _round_values(top))
    rows = [groups[start : start + BARS_PER_ROW] for start in range(0, len(groups), BARS_PER_ROW)]
    return tuple(_row(row, step, unit, marks, pages_a_bar, places or {}) for row in rows)


def _row(
    groups: Sequence[Sequence[PageTally]],
    step: float,
    unit: float,
    marks: tuple[Tick, ...],
    pages_a_bar: int,
    places: Places,
) -> Plot:
    """A row with a bar for each group of pages. Bars begin `step` pixels apart; a density of 1 is `unit` pixels
    high."""
    bars = [
        _bar(group, LEFT_MARGIN_PX + index * step, step * BAR_SHARE, unit * _density(group))
        for index, group in enumerate(groups)
    ]
    juan_names, folios = zip(*(_place(bar.first, places) for bar in bars), strict=True)
    bars_a_label = ceil((LATIN_WIDTH_PX * max(map(len, folios)) + LABEL_GAP_PX) / step)
    labels = [Tick(bar.x + bar.w / 2, folio) for bar, folio in zip(bars, folios, strict=True)][::bars_a_label]
    juans: list[Tick] = []
    free_from = 0.0
    for bar, juan, last_juan in zip(bars, juan_names, ("", *juan_names[:-1]), strict=True):
        if juan and juan != last_juan and bar.x >= free_from:
            juans.append(Tick(bar.x, juan))
            free_from = bar.x + HAN_WIDTH_PX * (len(juan) + 1)
    width = max(bars[-1].x + step, MIN_CHART_WIDTH_PX)
    return Plot(tuple(bars), marks, tuple(labels), tuple(juans), pages_a_bar, width)


def _bar(group: Sequence[PageTally], x: float, width: float, height: float) -> Bar:
    return Bar(
        x=x,
        y=BASE_PX - height,
        w=width,
        h=height,
        target=next((page.number for page in group if page.raised), group[0].number),
        first=group[0].page,
        last=group[-1].page,
        pages=len(group),
        unread=sum(page.status is not Status.CHECKED for page in group),
        raised=sum(page.raised for page in group),
        characters=sum(page.characters for page in group),
    )


def _place(page: str, places: Places) -> tuple[str, str]:
    """Juan and folio of a page, from `places`, else from its id."""
    juan, folio = places.get(page, ("", ""))
    parsed = PageId.match(page)
    return juan or (parsed.juan if parsed else ""), folio or short_name(page)


def short_name(page: str) -> str:
    """The last part of a page id: `17b` of `KR1d0087_WYG_223-17b`."""
    return page.rsplit("-", 1)[-1]


def _density(pages: Sequence[PageTally]) -> float:
    """Raised flags per 1,000 checked characters; 0 without any."""
    characters = sum(page.characters for page in pages)
    return 1000 * raised_where_checked(pages) / characters if characters else 0.0


def _round_values(top: float) -> list[float]:
    """One to four round values up to `top`."""
    power = 10.0 ** floor(log10(top))
    unit = next(unit for unit in (power / 2, power, 2 * power, 5 * power) if top / unit <= 4)
    return [unit * count for count in range(1, floor(top / unit) + 1)]
