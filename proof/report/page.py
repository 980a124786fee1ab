"""The template variables of `report.html`; the cards of flags are made page by page while the template is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from proof.locale.marking import Say
from proof.locale.notices import in_words
from proof.model.flags import COLLATION, LANGUAGE, Flag, Kind, is_about_moved_text, other_half, questions
from proof.model.geometry import Box
from proof.model.result import PageResult, Status
from proof.report.crops import Crop, Cutter
from proof.report.density import plots
from proof.report.glyphs import flag_place
from proof.report.places import around
from proof.report.progress import COUNTED_VERDICTS
from proof.report.reasons import VERDICTS, kind_name, percent, rule_name, status_name, why
from proof.report.source import StoredRun
from proof.report.tally import LayoutFinding, PageTally, Tally, by_rule, in_order, picture_of
from proof.report.view import View, ordinal, view_of
from proof.text.model import script_shown

PITCH_PX = 35.0
"""CSS pixels from one character of a strip to the next."""
MAX_STRIP_WIDTH_PX = 116.0
"""Maximum width of a strip, in CSS pixels."""
STRIP_CUT_WIDTH_PX = 200
"""Width to which the picture of a strip is scaled."""
THUMB_SIDE_PX = 170
GLYPH_SIDE_PX = 128
MAX_PROBLEMS = 400
MAX_ALTERNATIVES = 4
MAX_THUMBS = 120
MAX_PAIRS = 200
MAX_NOTICES = 60
MAX_NOTICE_PAGES = 4
SOURCE_CHARACTERS = 12
"""Characters of the column that are shown on either side of a flag."""
COLUMN_HEIGHT_PX = 330.0
"""Height of the picture of a column, in CSS pixels."""
MARGIN_WIDTHS = 0.7
"""Width of the neighbouring columns that is shown beside a column, in widths of the column."""
COLUMN_CUT_WIDTH_PX = 240
"""Width to which the picture of a column is scaled."""
NEIGHBOUR_CHARACTERS = 40
"""Maximum number of characters shown of a neighbouring column of the text, which may be a whole paragraph."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """An alternative reading; `share` is its probability, 0 to 1, `role` is `text`, `image` or empty."""

    text: str
    share: float
    percent: str
    role: str


@dataclass(frozen=True, slots=True)
class Strips:
    """A strip of the image and the text of the same area. Sizes are in CSS pixels, `mark` in pixels of the image."""

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
    `anchor` is the target of links to the page. `other` is the flag that is decided together with it: the other half of
    a character that moved, or the other part of a run."""

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
    def by_language(self) -> bool:
        """Whether the suggestion comes from the language model, against the best reading of the image or without
        one."""
        evidence = self.flag.evidence
        return evidence.reason == LANGUAGE or bool(evidence.language and evidence.language.instead_of)

    @property
    def by_witnesses(self) -> bool:
        """Whether the suggestion comes from other witnesses alone."""
        return self.flag.evidence.reason == COLLATION

    @property
    def parted(self) -> bool:
        """Whether this flag and `other` are two parts of a run."""
        return self.other is not None and not is_about_moved_text(self.flag, self.other.flag)

    @property
    def transcribed(self) -> str:
        """The transcribed text; for a run in two parts that of both."""
        return self.flag.transcribed + (self.other.flag.transcribed if self.other and self.parted else "")

    @property
    def suggested(self) -> str:
        """The suggested text; for a run in two parts that of both."""
        return self.flag.suggested + (self.other.flag.suggested if self.other and self.parted else "")


@dataclass(frozen=True, slots=True)
class ColumnInText:
    """A column at its place in the text (`role` is `said`) or at its place on the image (`seen`), with the columns of
    the text `before` and `after` that place; empty at the ends of the page."""

    before: str
    text: str
    after: str
    role: str


@dataclass(frozen=True, slots=True)
class ColumnCard:
    """The picture of a flagged column and the edges of its neighbours. Sizes are in CSS pixels; `mark` is its box in
    pixels of the image. `places` are the places in the text where it stands or belongs."""

    crop: Crop
    mark: Box
    width: float
    height: float
    places: tuple[ColumnInText, ...]


@dataclass(frozen=True, slots=True)
class PageProblem:
    """A flag about a column or a page, or a sequence of pages that were not checked, with the ids `first` to `last`."""

    first: str
    last: str
    pages: int
    ref: str
    line: int
    what: str
    thumb: Crop | None
    mark: Box | None
    column: ColumnCard | None = None


@dataclass(frozen=True, slots=True)
class PairLine:
    """A pair of confused characters and how often it occurs."""

    transcribed: str
    suggested: str
    count: int


@dataclass(frozen=True, slots=True)
class HiddenPairs:
    """The number of flags that a rule hid, and their pairs, the most frequent first; `more` pairs are not listed."""

    rule: str
    count: int
    pairs: tuple[PairLine, ...]
    more: int


@dataclass(frozen=True, slots=True)
class NoticeCount:
    """A notice in words, the number of pages that have it, and the ids of the first ones."""

    words: str
    count: int
    pages: tuple[str, ...]


def report_of(source: StoredRun, tally: Tally, language: str, say: Say) -> dict[str, Any]:
    """The template variables of the report of `source`, whose counts are in `tally`. `cards` and `rest` are iterators
    that the template consumes once: the raised flags with an image (`with_picture` at most) and those without.
    `threads` are the comments by place."""
    run, progress = source.run, source.progress
    cutter = Cutter(source.piece_cache)
    problems = list(_problems(source, tally, cutter, say))
    notices = _notices(tally, say)
    pairs = [PairLine(transcribed, suggested, count) for (transcribed, suggested), count in tally.pairs.most_common()]
    checked = tally.by_status()[Status.CHECKED]
    raised = {kind: tally.flags[kind.value, True] for kind in Kind if kind is not Kind.LAYOUT}
    with_picture = len(tally.most_suspicious())
    return {
        "run": run,
        "progress": progress if progress and progress.has_decisions else None,
        "verdicts": {verdict: say(VERDICTS[verdict]) for verdict in COUNTED_VERDICTS},
        "findings": tuple(in_words(finding, say) for finding in run.findings),
        "language": language,
        "script": script_shown(text.script for text in run.info.texts),
        "tally": tally,
        "checked": checked,
        "not_checked": len(tally.pages) - checked,
        "hidden": sum(count for (_, is_raised), count in tally.flags.items() if not is_raised),
        "problems": tuple(problems[:MAX_PROBLEMS]),
        "more_problems": max(len(problems) - MAX_PROBLEMS, 0),
        "plots": plots(tally.pages, source.places),
        "kinds": tuple((kind.value, kind_name(kind, say), count) for kind, count in raised.items() if count),
        "pairs": tuple(pairs[:MAX_PAIRS]),
        "more_pairs": max(len(pairs) - MAX_PAIRS, 0),
        "hidden_pairs": tuple(_hidden_pairs(tally, say)),
        "with_picture": with_picture,
        "without_picture": tally.raised - with_picture,
        "cards": _cards(source, tally, cutter, say),
        "rest": _cards(source, tally, None, say) if tally.raised > with_picture else iter(()),
        "notices": tuple(notices[:MAX_NOTICES]),
        "more_notices": max(len(notices) - MAX_NOTICES, 0),
        "threads": tuple(
            tuple(thread) for _, thread in groupby(source.comments, lambda comment: (comment.page, comment.uid))
        ),
    }


def _problems(source: StoredRun, tally: Tally, cutter: Cutter, say: Say) -> Iterator[PageProblem]:
    """Flags about columns and pages, then sequences of pages that were not checked."""
    with_thumb, without_thumb = tally.layout[:MAX_THUMBS], tally.layout[MAX_THUMBS:]
    pages = _pages_of(source, with_thumb)
    for finding in with_thumb:
        yield _layout_problem(finding, pages.get(finding.flag.page), cutter, say)
    for finding in without_thumb:
        yield _layout_problem(finding, None, None, say)
    for unchecked in _unchecked_sequences(tally):
        first, last = unchecked[0], unchecked[-1]
        what = status_name(first.status, say)
        if first.message:
            what = f"{what}: {in_words(first.message, say)}"
        ref = first.ref if len(unchecked) == 1 else ""
        yield PageProblem(
            first=first.page, last=last.page, pages=len(unchecked), ref=ref, line=0, what=what, thumb=None, mark=None
        )


def _unchecked_sequences(tally: Tally) -> list[list[PageTally]]:
    """The pages that were not checked and have no flags, divided into sequences of consecutive pages of one status."""
    sequences: list[list[PageTally]] = []
    for page in tally.pages:
        if page.status is Status.CHECKED or page.layout:
            continue
        last = sequences[-1][-1] if sequences else None
        if last and (last.number + 1, last.status_text) == (page.number, page.status_text):
            sequences[-1].append(page)
        else:
            sequences.append([page])
    return sequences


def _pages_of(source: StoredRun, findings: Sequence[LayoutFinding]) -> dict[str, PageResult]:
    """The pages of flags about columns, by page id, with the columns of the text and without characters."""
    page_ids = {finding.flag.page for finding in findings if finding.flag.line}
    pages: dict[str, PageResult] = {}
    for result in source.results(raised=True) if page_ids else ():
        if result.page in page_ids:
            pages[result.page] = replace(result, characters=())
            if len(pages) == len(page_ids):
                break
    return pages


def _layout_problem(finding: LayoutFinding, page: PageResult | None, cutter: Cutter | None, say: Say) -> PageProblem:
    flag = finding.flag
    thumb = cutter.cut(finding.image, finding.page_box, THUMB_SIDE_PX) if cutter else None
    other = other_half(flag, page.flags) if page else None
    column = _column_card(finding, page, other, cutter) if page and cutter else None
    return PageProblem(
        first=flag.page,
        last=flag.page,
        pages=1,
        ref=flag.ref,
        line=flag.line,
        what=why(flag, say, other),
        thumb=thumb,
        mark=flag.bbox,
        column=column,
    )


def _column_card(finding: LayoutFinding, page: PageResult, other: Flag | None, cutter: Cutter) -> ColumnCard | None:
    """The column of a flag, on the image and in the text; None if its place on the image is unknown."""
    flag, mark = finding.flag, finding.flag.bbox
    if mark is None or not flag.line:
        return None
    left = max(mark.x - MARGIN_WIDTHS * mark.w, finding.page_box.x)
    right = min(mark.right + MARGIN_WIDTHS * mark.w, finding.page_box.right)
    crop = cutter.cut(finding.image, Box(left, mark.y, right - left, mark.h), COLUMN_CUT_WIDTH_PX)
    if crop is None:
        return None
    halves = [half for half in (flag, other) if half is not None]
    places = [_column_in_text(page, half) for half in sorted(halves, key=lambda half: not half.transcribed)]
    if flag.transcribed and flag.evidence.note and other is None:
        places.append(ColumnInText("", flag.evidence.note, "", "seen"))
    width = COLUMN_HEIGHT_PX * crop.area.w / crop.area.h
    return ColumnCard(crop, mark, width, COLUMN_HEIGHT_PX, tuple(places))


def _column_in_text(page: PageResult, flag: Flag) -> ColumnInText:
    """A column between its neighbours in the text; one that the text lacks belongs before the line of its flag."""
    last = flag.line if flag.transcribed else flag.line - 1
    columns = sorted(page.columns, key=lambda column: column.number)  # their order on the image may differ
    before = [column.source for column in columns if column.number < flag.line]
    after = [column.source for column in columns if column.number > last]
    return ColumnInText(
        before[-1][-NEIGHBOUR_CHARACTERS:] if before else "",
        flag.transcribed or flag.suggested or flag.evidence.note,
        after[0][:NEIGHBOUR_CHARACTERS] if after else "",
        "said" if flag.transcribed else "seen",
    )


def _hidden_pairs(tally: Tally, say: Say) -> Iterator[HiddenPairs]:
    """The hidden pairs by rule, the rule that hid most first."""
    for rule, hidden in by_rule(tally.variants + tally.habits):
        pairs = [PairLine(transcribed, suggested, count) for (transcribed, suggested, _), count in hidden.items()]
        more = max(len(pairs) - MAX_PAIRS, 0)
        yield HiddenPairs(rule_name(rule, say), hidden.total(), tuple(pairs[:MAX_PAIRS]), more)


def _notices(tally: Tally, say: Say) -> list[NoticeCount]:
    """The notices of all pages, the most frequent first."""
    page_ids: dict[str, list[str]] = {}
    for page in tally.pages:
        for notice in page.notices:
            page_ids.setdefault(in_words(notice, say), []).append(page.page)
    counts = [NoticeCount(words, len(ids), tuple(ids[:MAX_NOTICE_PAGES])) for words, ids in page_ids.items()]
    return sorted(counts, key=lambda notice: -notice.count)


def _cards(source: StoredRun, tally: Tally, cutter: Cutter | None, say: Say) -> Iterator[Card]:
    """The raised flags about characters, in page order: with a cutter those that are shown with their image, else the
    others."""
    most_suspicious, is_pictured = tally.most_suspicious(), cutter is not None
    page_tallies = iter(tally.pages)
    for result in source.results(raised=True):
        page = next((page for page in page_tallies if page.shown and page.page == result.page), None)
        if page is None or not page.raised:
            continue
        with_picture = {flag.id for index, flag in enumerate(result.flags) if (page.number, index) in most_suspicious}
        raised = [flag for flag in in_order(questions(result.flags)) if flag.raised and flag.kind is not Kind.LAYOUT]
        listed = [flag for flag in raised if (flag.id in with_picture) is is_pictured]
        is_anchor = is_pictured or listed == raised  # one anchor for each page
        for flag in listed:
            is_first = flag is listed[0]
            anchor = f"p{page.number}" if is_first and is_anchor else ""
            yield replace(_card_with_other(result, flag, cutter, say), first=is_first, anchor=anchor)
    if cutter:
        cutter.close()


def _card_with_other(result: PageResult, flag: Flag, cutter: Cutter | None, say: Say) -> Card:
    """The card of a flag, with that of the flag that is decided together with it. Of two parts of a run, the first in
    the text is the main card."""
    other = other_half(flag, result.flags)
    if other is None:
        return _card(result, flag, cutter, say)
    if not is_about_moved_text(flag, other):
        flag, other = in_order((flag, other))
    return replace(_card(result, flag, cutter, say, other), other=_card(result, other, cutter, say))


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
    crop = cutter.cut(picture_of(result), view.area, STRIP_CUT_WIDTH_PX) if view else None
    if view is None or crop is None:
        return None
    scale = min(PITCH_PX / view.pitch, MAX_STRIP_WIDTH_PX / view.area.w)
    area = crop.area
    return Strips(crop, view, _mark(view), area.w * scale, view.text_area.w * scale, area.h * scale)


def _glyph(result: PageResult, flag: Flag, cutter: Cutter) -> str | None:
    place = flag_place(result, flag)
    return cutter.glyph(picture_of(result), place, GLYPH_SIDE_PX) if place else None


def _mark(view: View) -> Box:
    """The frame around the flagged glyph, a little larger than its box."""
    air = 0.05 * view.pitch
    focus = view.focus
    return Box(focus.x - air, focus.y - air, focus.w + 2 * air, focus.h + 2 * air)


def _alternatives(flag: Flag) -> tuple[Alternative, ...]:
    """The recogniser's best readings; the transcribed character replaces the last one if it is not among them."""
    readings = list(flag.evidence.alternatives[:MAX_ALTERNATIVES])
    if not readings:
        return ()
    # the suggestion may be the simplified form of the best reading, which is then the reading of the image
    read = flag.suggested if flag.suggested in dict(readings) else readings[0][0]
    if flag.evidence.p_text is not None and flag.transcribed not in dict(readings):
        readings = [*readings[: MAX_ALTERNATIVES - 1], (flag.transcribed, flag.evidence.p_text)]
    roles = {read: "image", flag.transcribed: "text"}
    return tuple(
        Alternative(text, min(max(p, 0.0), 1.0), percent(p), roles.get(text, "")) for text, p in readings if text
    )
