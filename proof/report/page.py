"""The template variables of `report.html`, made page by page while the template is rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from proof.locale.marking import Say
from proof.locale.notices import in_words
from proof.model.flags import Flag, Kind, is_moved, other_half, questions
from proof.model.geometry import Box
from proof.model.result import PageResult, Status
from proof.report.crops import Crop, Cutter
from proof.report.density import plots
from proof.report.glyphs import flag_place
from proof.report.places import around
from proof.report.progress import COUNTED_VERDICTS
from proof.report.reasons import VERDICTS, kind_name, percent, rule_name, status_name, why
from proof.report.source import RunSource
from proof.report.tally import LayoutFinding, Tally, by_rule, in_order, picture_of
from proof.report.view import View, ordinal, view_of
from proof.text.model import script_shown

PITCH = 35.0
"""CSS pixels from one character of a strip to the next."""
WIDEST_STRIP = 116.0
STRIP_PIXELS = 200
"""Width to which a strip is cut."""
THUMB_PIXELS = 170
GLYPH_PIXELS = 128
MOST_PROBLEMS = 400
MOST_ALTERNATIVES = 4
MOST_THUMBS = 120
MOST_PAIRS = 200
MOST_NOTICES = 60
SOURCE_CHARACTERS = 12
"""Characters of the column that are shown on either side of a flag."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """An alternative reading; `share` is its probability, 0 to 1, `role` is `text`, `image` or empty."""

    text: str
    share: float
    percent: str
    role: str


@dataclass(frozen=True, slots=True)
class Strips:
    """The strip of the image and the text over the same area; sizes are CSS pixels, places pixels of the image file."""

    crop: Crop
    view: View
    mark: Box
    width: float
    text_width: float
    height: float


@dataclass(frozen=True, slots=True)
class Card:
    """A raised flag as shown. `ordinal` is the number of its character in the column, from 1; `glyph` is the tile of
    its glyph as a data URI; `before` and `after` are source text. `first`: it is the first listed flag of its page;
    `anchor` is the target of links to the page. `other` is the flag that is decided together with it: the other place
    of what moved, or the other part of a run."""

    flag: Flag
    kind: str
    ordinal: int | None
    why: str
    alternatives: tuple[Alternative, ...]
    strips: Strips | None
    glyph: str | None
    before: str
    after: str
    first: bool = False
    anchor: str = ""
    other: Card | None = None

    @property
    def parted(self) -> bool:
        """Whether it is one of two parts of a run."""
        return self.other is not None and not is_moved(self.flag, self.other.flag)

    @property
    def transcribed(self) -> str:
        """The transcribed text, of both parts of a run."""
        return self.flag.transcribed + (self.other.flag.transcribed if self.other and self.parted else "")

    @property
    def suggested(self) -> str:
        """The suggested text, of both parts of a run."""
        return self.flag.suggested + (self.other.flag.suggested if self.other and self.parted else "")


@dataclass(frozen=True, slots=True)
class FailedPage:
    """A finding about a column or a page, or pages that were not checked. `first` to `last` are page ids."""

    first: str
    last: str
    pages: int
    ref: str
    line: int
    what: str
    thumb: Crop | None
    mark: Box | None


@dataclass(frozen=True, slots=True)
class PairLine:
    """A pair of confused characters and how often it occurs."""

    transcribed: str
    suggested: str
    count: int


@dataclass(frozen=True, slots=True)
class HiddenPairs:
    """The number of findings that a rule hid, and their pairs, most frequent first."""

    rule: str
    count: int
    pairs: tuple[PairLine, ...]
    more: int


@dataclass(frozen=True, slots=True)
class NoticeCount:
    """A notice, the number of pages that have it, and the first of these."""

    words: str
    count: int
    pages: tuple[str, ...]


def report_of(source: RunSource, tally: Tally, language: str, say: Say) -> dict[str, Any]:
    """The report of `source`, whose counts are in `tally`, as the template takes it. `cards` and `rest` are consumed
    once while the page is written: the raised flags with an image, at most `with_picture`, and those without. `threads`
    are the comments by place."""
    run, progress = source.run, source.progress
    cutter = Cutter(source.shelf)
    problems = list(_problems(tally, cutter, say))
    notices = _notices(tally, say)
    pairs = [PairLine(a, b, count) for (a, b), count in tally.pairs.most_common()]
    checked = tally.by_status()[Status.CHECKED]
    raised = {kind: tally.flags[kind.value, True] for kind in Kind if kind is not Kind.LAYOUT}
    with_picture = len(tally.most_suspicious())
    return {
        "run": run,
        "progress": progress if progress and progress.begun else None,
        "verdicts": {verdict: say(VERDICTS[verdict]) for verdict in COUNTED_VERDICTS},
        "findings": tuple(in_words(finding, say) for finding in run.findings),
        "language": language,
        "script": script_shown(text.script for text in run.info.texts),
        "tally": tally,
        "checked": checked,
        "not_checked": len(tally.pages) - checked,
        "hidden": sum(count for (_, is_raised), count in tally.flags.items() if not is_raised),
        "problems": tuple(problems[:MOST_PROBLEMS]),
        "more_problems": max(len(problems) - MOST_PROBLEMS, 0),
        "plots": plots(tally.pages, source.places),
        "kinds": tuple((kind.value, kind_name(kind, say), count) for kind, count in raised.items() if count),
        "pairs": tuple(pairs[:MOST_PAIRS]),
        "more_pairs": max(len(pairs) - MOST_PAIRS, 0),
        "hidden_pairs": tuple(_hidden_pairs(tally, say)),
        "with_picture": with_picture,
        "without_picture": tally.raised - with_picture,
        "cards": _cards(source, tally, cutter, say),
        "rest": _cards(source, tally, None, say) if tally.raised > with_picture else iter(()),
        "notices": tuple(notices[:MOST_NOTICES]),
        "more_notices": max(len(notices) - MOST_NOTICES, 0),
        "threads": tuple(
            tuple(thread) for _, thread in groupby(source.comments, lambda comment: (comment.page, comment.uid))
        ),
    }


def _problems(tally: Tally, cutter: Cutter, say: Say) -> Iterator[FailedPage]:
    """Layout findings, then sequences of pages that were not checked."""
    for finding in tally.layout[:MOST_THUMBS]:
        yield _layout_problem(finding, cutter, say)
    for finding in tally.layout[MOST_THUMBS:]:
        yield _layout_problem(finding, None, say)
    unread = [page for page in tally.pages if page.status is not Status.CHECKED and not page.layout]
    # group consecutive pages with the same status
    for _, stretch in groupby(enumerate(unread), lambda item: (item[1].number - item[0], item[1].status_text)):
        pages = [page for _, page in stretch]
        trouble = status_name(pages[0].status, say)
        trouble = f"{trouble}: {in_words(pages[0].message, say)}" if pages[0].message else trouble
        ref = pages[0].ref if len(pages) == 1 else ""
        yield FailedPage(pages[0].page, pages[-1].page, len(pages), ref, 0, trouble, None, None)


def _layout_problem(finding: LayoutFinding, cutter: Cutter | None, say: Say) -> FailedPage:
    flag = finding.flag
    thumb = cutter.cut(finding.image, finding.page_box, THUMB_PIXELS) if cutter else None
    return FailedPage(flag.page, flag.page, 1, flag.ref, flag.line, why(flag, say), thumb, flag.bbox)


def _hidden_pairs(tally: Tally, say: Say) -> Iterator[HiddenPairs]:
    """The hidden pairs by rule, the rule that hid most first."""
    for rule, hidden in by_rule(tally.variants + tally.habits):
        pairs = [PairLine(transcribed, suggested, count) for (transcribed, suggested, _), count in hidden.items()]
        more = max(len(pairs) - MOST_PAIRS, 0)
        yield HiddenPairs(rule_name(rule, say), hidden.total(), tuple(pairs[:MOST_PAIRS]), more)


def _notices(tally: Tally, say: Say) -> list[NoticeCount]:
    """The notices of all pages, most frequent first."""
    pages: dict[str, list[str]] = {}
    for page in tally.pages:
        for notice in page.notices:
            pages.setdefault(in_words(notice, say), []).append(page.page)
    return [
        NoticeCount(words, len(of), tuple(of[:4]))
        for words, of in sorted(pages.items(), key=lambda item: -len(item[1]))
    ]


def _cards(source: RunSource, tally: Tally, cutter: Cutter | None, say: Say) -> Iterator[Card]:
    """The raised flags in page order: with a cutter those that get their image, else those that do not."""
    chosen, pictured = tally.most_suspicious(), cutter is not None
    listed = iter(tally.pages)
    for result in source.raised():
        page = next((page for page in listed if page.shown and page.page == result.page), None)
        if page is None or not page.raised:
            continue
        with_picture = {flag.id for index, flag in enumerate(result.flags) if (page.number, index) in chosen}
        raised = [flag for flag in in_order(questions(result.flags)) if flag.raised and flag.kind is not Kind.LAYOUT]
        shown = [flag for flag in raised if (flag.id in with_picture) is pictured]
        for flag in shown:
            half = other_half(flag, result.flags)
            first = flag is shown[0]
            leading, second = (flag, half) if half is None or is_moved(flag, half) else in_order((flag, half))
            other = _card(result, second, cutter, say) if second else None
            card = replace(_card(result, leading, cutter, say, second), other=other)
            anchor = f"p{page.number}" if first and (pictured or shown == raised) else ""
            yield replace(card, first=first, anchor=anchor)
    if cutter:
        cutter.close()


def _card(result: PageResult, flag: Flag, cutter: Cutter | None, say: Say, other: Flag | None = None) -> Card:
    before, after = around(result, flag)
    return Card(
        flag=flag,
        kind=kind_name(flag.kind, say, other),
        ordinal=ordinal(result, flag),
        why=why(flag, say, other),
        alternatives=_alternatives(flag),
        strips=_strips(result, flag, cutter) if cutter else None,
        glyph=_glyph(result, flag, cutter) if cutter else None,
        before=before[-SOURCE_CHARACTERS:],
        after=after[:SOURCE_CHARACTERS],
    )


def _strips(result: PageResult, flag: Flag, cutter: Cutter) -> Strips | None:
    view = view_of(result, flag)
    crop = cutter.cut(picture_of(result), view.area, STRIP_PIXELS) if view else None
    if view is None or crop is None:
        return None
    scale = min(PITCH / view.pitch, WIDEST_STRIP / view.area.w)
    area = crop.area
    return Strips(crop, view, _mark(view), area.w * scale, view.text_area.w * scale, area.h * scale)


def _glyph(result: PageResult, flag: Flag, cutter: Cutter) -> str | None:
    place = flag_place(result, flag)
    return cutter.glyph(picture_of(result), place, GLYPH_PIXELS) if place else None


def _mark(view: View) -> Box:
    """The rectangle around a glyph, just outside its ink."""
    air = 0.05 * view.pitch
    focus = view.focus
    return Box(focus.x - air, focus.y - air, focus.w + 2 * air, focus.h + 2 * air)


def _alternatives(flag: Flag) -> tuple[Alternative, ...]:
    """The engine's best alternatives, followed by the transcribed character if it is not among them."""
    seen = list(flag.evidence.alternatives[:MOST_ALTERNATIVES])
    if not seen:
        return ()
    # a suggestion in simplified script stands for the traditional form that was read
    read = flag.suggested if flag.suggested in dict(seen) else seen[0][0]
    if flag.evidence.p_text is not None and flag.transcribed not in dict(seen):
        seen = [*seen[: MOST_ALTERNATIVES - 1], (flag.transcribed, flag.evidence.p_text)]
    roles = {read: "image", flag.transcribed: "text"}
    return tuple(Alternative(text, min(max(p, 0.0), 1.0), percent(p), roles.get(text, "")) for text, p in seen if text)
