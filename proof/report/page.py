"""The template variables of `report.html`, made page by page while the template is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from proof.locale.marking import Say
from proof.locale.notices import in_words
from proof.model.flags import COLLATION, LANGUAGE, Flag, Kind, is_moved, other_half, questions
from proof.model.geometry import Box
from proof.model.result import PageResult, Status
from proof.report.crops import Crop, Cutter
from proof.report.density import plots
from proof.report.glyphs import flag_place
from proof.report.places import around
from proof.report.progress import COUNTED_VERDICTS
from proof.report.reasons import VERDICTS, kind_name, percent, rule_name, status_name, why
from proof.report.source import StoredRun
from proof.report.tally import LayoutFinding, Tally, by_rule, in_order, picture_of
from proof.report.view import View, ordinal, view_of
from proof.text.model import script_shown

PITCH_PX = 35.0
"""CSS pixels from one character of a strip to the next."""
MAX_STRIP_WIDTH_PX = 116.0
"""Maximum width of a strip, in CSS pixels."""
STRIP_CUT_WIDTH_PX = 200
"""Width to which a strip is cut."""
THUMB_SIDE_PX = 170
GLYPH_SIDE_PX = 128
MAX_PROBLEMS = 400
MAX_ALTERNATIVES = 4
MAX_THUMBS = 120
MAX_PAIRS = 200
MAX_NOTICES = 60
SOURCE_CHARACTERS = 12
"""Characters of the column that are shown on either side of a flag."""
COLUMN_HEIGHT = 330.0
"""CSS pixels of the height of a column that a finding is about."""
MARGIN_WIDTHS = 0.7
"""Width of the neighbouring columns that is shown beside it, in widths of the column."""
COLUMN_CUT_WIDTH_PX = 240
"""Width to which it is cut."""
NEIGHBOUR_CHARACTERS = 40
"""Characters that are shown of a neighbouring column of the text, a paragraph in a running text."""


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
    def by_language(self) -> bool:
        """Whether the language model suggests something else than the image's best reading, or is asked alone."""
        evidence = self.flag.evidence
        return evidence.reason == LANGUAGE or bool(evidence.language and evidence.language.instead_of)

    @property
    def by_witnesses(self) -> bool:
        """Whether other witnesses alone suggest something else."""
        return self.flag.evidence.reason == COLLATION

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
class ColumnInText:
    """A column where the text has it (`role` is `said`) or where the image has it (`seen`), with the columns of the
    text `before` and `after` it; these are empty at the ends of the page."""

    before: str
    text: str
    after: str
    role: str


@dataclass(frozen=True, slots=True)
class ColumnCard:
    """The column of the image that a finding is about, with some of its neighbours; sizes are CSS pixels. `mark` is its
    box in pixels of the image file; `places` are where it stands or belongs in the text."""

    crop: Crop
    mark: Box
    width: float
    height: float
    places: tuple[ColumnInText, ...]


@dataclass(frozen=True, slots=True)
class PageProblem:
    """A finding about a column or a page, or pages that were not checked. `first` to `last` are page ids."""

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


def report_of(source: StoredRun, tally: Tally, language: str, say: Say) -> dict[str, Any]:
    """The report of `source`, whose counts are in `tally`, as the template takes it. `cards` and `rest` are consumed
    once while the page is written: the raised flags with an image, at most `with_picture`, and those without. `threads`
    are the comments by place."""
    run, progress = source.run, source.progress
    cutter = Cutter(source.piece_cache)
    problems = list(_problems(source, tally, cutter, say))
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
    """Layout findings, then sequences of pages that were not checked."""
    pictured, plain = tally.layout[:MAX_THUMBS], tally.layout[MAX_THUMBS:]
    pages = _pages_of(source, pictured)
    for finding in pictured:
        yield _layout_problem(finding, pages.get(finding.flag.page), cutter, say)
    for finding in plain:
        yield _layout_problem(finding, None, None, say)
    unread = [page for page in tally.pages if page.status is not Status.CHECKED and not page.layout]
    # group consecutive pages with the same status
    for _, stretch in groupby(enumerate(unread), lambda item: (item[1].number - item[0], item[1].status_text)):
        pages_unread = [page for _, page in stretch]
        first, last = pages_unread[0], pages_unread[-1]
        trouble = status_name(first.status, say)
        trouble = f"{trouble}: {in_words(first.message, say)}" if first.message else trouble
        ref = first.ref if len(pages_unread) == 1 else ""
        yield PageProblem(first.page, last.page, len(pages_unread), ref, 0, trouble, None, None)


def _pages_of(source: StoredRun, findings: Sequence[LayoutFinding]) -> dict[str, PageResult]:
    """The pages of findings about columns by their ids, with the columns of the text."""
    wanted = {finding.flag.page for finding in findings if finding.flag.line}
    pages: dict[str, PageResult] = {}
    if wanted:
        for result in source.results(raised=True):
            if result.page in wanted:
                pages[result.page] = replace(result, characters=())
                if len(pages) == len(wanted):
                    break
    return pages


def _layout_problem(finding: LayoutFinding, page: PageResult | None, cutter: Cutter | None, say: Say) -> PageProblem:
    flag = finding.flag
    thumb = cutter.cut(finding.image, finding.page_box, THUMB_SIDE_PX) if cutter else None
    other = other_half(flag, page.flags) if page else None
    column = _column_card(finding, page, other, cutter) if page and cutter else None
    what = why(flag, say, other)
    return PageProblem(flag.page, flag.page, 1, flag.ref, flag.line, what, thumb, flag.bbox, column)


def _column_card(finding: LayoutFinding, page: PageResult, other: Flag | None, cutter: Cutter) -> ColumnCard | None:
    """The column that a finding is about, on the image and in the text; None where its image is not known."""
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
    width = COLUMN_HEIGHT * crop.area.w / crop.area.h
    return ColumnCard(crop, mark, width, COLUMN_HEIGHT, tuple(places))


def _column_in_text(page: PageResult, flag: Flag) -> ColumnInText:
    """A column between its neighbours in the text: one that the text has at its line, another before that line."""
    last = flag.line if flag.transcribed else flag.line - 1
    columns = sorted(page.columns, key=lambda column: column.number)  # the image may have them in another order
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
    """The notices of all pages, most frequent first."""
    pages: dict[str, list[str]] = {}
    for page in tally.pages:
        for notice in page.notices:
            pages.setdefault(in_words(notice, say), []).append(page.page)
    return [
        NoticeCount(words, len(of), tuple(of[:4]))
        for words, of in sorted(pages.items(), key=lambda item: -len(item[1]))
    ]


def _cards(source: StoredRun, tally: Tally, cutter: Cutter | None, say: Say) -> Iterator[Card]:
    """The raised flags in page order: with a cutter those that get their image, else those that do not."""
    chosen, pictured = tally.most_suspicious(), cutter is not None
    listed = iter(tally.pages)
    for result in source.results(raised=True):
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
            anchor = f"p{page.number}" if first and (pictured or shown == raised) else ""
            yield replace(_card(result, leading, cutter, say, second), other=other, first=first, anchor=anchor)
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
    """The rectangle around a glyph, just outside its ink."""
    air = 0.05 * view.pitch
    focus = view.focus
    return Box(focus.x - air, focus.y - air, focus.w + 2 * air, focus.h + 2 * air)


def _alternatives(flag: Flag) -> tuple[Alternative, ...]:
    """The engine's best alternatives, followed by the transcribed character if it is not among them."""
    seen = list(flag.evidence.alternatives[:MAX_ALTERNATIVES])
    if not seen:
        return ()
    # a suggestion in simplified script stands for the traditional form that was read
    read = flag.suggested if flag.suggested in dict(seen) else seen[0][0]
    if flag.evidence.p_text is not None and flag.transcribed not in dict(seen):
        seen = [*seen[: MAX_ALTERNATIVES - 1], (flag.transcribed, flag.evidence.p_text)]
    roles = {read: "image", flag.transcribed: "text"}
    return tuple(Alternative(text, min(max(p, 0.0), 1.0), percent(p), roles.get(text, "")) for text, p in seen if text)
