"""The counts of a report, made in one pass over the pages."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from proof.locale.notices import in_english
from proof.model.flags import Flag, Kind, questions
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.model.result import PageResult, Status
from proof.report.crops import PageImageFile
from proof.report.upright import turn_of, turned_box, turned_size, upright_flag

BY_GRAVITY = (Status.CHECKED, Status.NO_IMAGE, Status.MISMATCH, Status.FAILED)
"""The statuses in ascending order of gravity. If two pages have the same id, the graver status is reported."""


@dataclass(frozen=True, slots=True)
class PageTally:
    """The counts of one page. `raised` counts raised flags about characters, `layout` those about columns and the page.
    `shown`: the page has raised flags, counting both halves of a character that moved."""

    number: int
    page: str
    ref: str
    status: Status
    message: Notice | None
    characters: int
    raised: int
    layout: int
    notices: tuple[Notice, ...]
    shown: bool = False

    @property
    def status_text(self) -> str:
        """The status for `summary.json`, such as `failed: <reason>`."""
        return status_text(self.status, self.message)


def raised_where_checked(pages: Iterable[PageTally]) -> int:
    """Raised flags on pages whose characters were checked. Pages without an image, where the language model alone
    raises flags, are left out, since their characters are not counted either."""
    return sum(page.raised for page in pages if page.characters)


@dataclass(frozen=True, slots=True)
class LayoutFinding:
    """A raised flag about a column or a page, and the page's image. `page_box` is the page on the upright image."""

    number: int
    flag: Flag
    image: PageImageFile
    page_box: Box


class HiddenPair(NamedTuple):
    """The pair of characters of a hidden flag, and the rule that hid it."""

    transcribed: str
    suggested: str
    rule: str


@dataclass(slots=True)
class Tally:
    """Counts over all pages. A character that moved counts once.

    `flags` are counted by kind and whether they are raised, `pairs` are the confused pairs (transcribed, read) of
    raised flags. `variants` are the hidden pairs that are forms of one word; `habits` are pairs hidden as errors of the
    engine: readings that it gives throughout the text, in a font too, or for only one way of preparing the image.
    `most_suspicious` returns at most `most` flags."""

    pages: list[PageTally] = field(default_factory=list)
    characters: int = 0
    flags: Counter[tuple[str, bool]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    variants: Counter[HiddenPair] = field(default_factory=Counter)
    habits: Counter[HiddenPair] = field(default_factory=Counter)
    layout: list[LayoutFinding] = field(default_factory=list)
    seconds: float = 0.0
    most: int = 0
    _suspicious: list[tuple[float, int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, results: Iterable[PageResult]) -> Tally:
        """The counts over these pages."""
        tally = cls()
        for result in results:
            tally.add(result)
        return tally

    def add(self, result: PageResult) -> None:
        """Count a page."""
        number = len(self.pages)
        raised = layout = 0
        counted = {flag.id for flag in questions(result.flags)}
        for index, flag in enumerate(result.flags):
            if flag.id not in counted:  # the second half of a character that moved
                continue
            self.flags[flag.kind.value, flag.raised] += 1
            if flag.kind is Kind.LAYOUT:
                if flag.raised:
                    layout += 1
                    self.layout.append(_layout_finding(number, flag, result))
            elif flag.raised:
                raised += 1
                if flag.kind in (Kind.SUBSTITUTION, Kind.VARIANT, Kind.TRANSPOSITION):
                    self.pairs[flag.transcribed, flag.suggested] += 1
                self._note_suspicious(flag, number, index)
            else:
                self._count_hidden(flag)
        self.characters += result.characters_checked
        self.seconds += result.seconds
        self.pages.append(
            PageTally(
                number=number,
                page=result.page,
                ref=result.ref,
                status=result.status,
                message=result.message,
                characters=result.characters_checked,
                raised=raised,
                layout=layout,
                notices=result.notices,
                shown=any(flag.raised for flag in result.flags),
            )
        )

    def _count_hidden(self, flag: Flag) -> None:
        pair = HiddenPair(flag.transcribed, flag.suggested, flag.evidence.rule)
        if flag.kind is Kind.VARIANT:
            self.variants[pair] += 1
        elif flag.kind is Kind.SUBSTITUTION and pair.rule:
            self.habits[pair] += 1

    @property
    def raised(self) -> int:
        """Raised flags about characters."""
        return sum(page.raised for page in self.pages)

    @property
    def raised_where_checked(self) -> int:
        """Raised flags about characters on pages whose characters were checked."""
        return raised_where_checked(self.pages)

    @property
    def per_10_000(self) -> float | None:
        """Raised flags about characters per 10,000 checked characters; None if none was checked."""
        return 10_000 * self.raised_where_checked / self.characters if self.characters else None

    def by_status(self) -> Counter[Status]:
        """Pages by status."""
        return Counter(page.status for page in self.pages)

    def statuses(self) -> dict[str, str]:
        """The status of each page by its id; if two pages have the same id, the graver status."""
        gravest: dict[str, PageTally] = {}
        for page in self.pages:
            gravest_page = gravest.setdefault(page.page, page)
            if BY_GRAVITY.index(page.status) > BY_GRAVITY.index(gravest_page.status):
                gravest[page.page] = page
        return {name: page.status_text for name, page in gravest.items()}

    def most_suspicious(self) -> set[tuple[int, int]]:
        """The `most` raised flags of the highest scores, as (number of the page, index of the flag)."""
        return {(-number, -index) for _, number, index in self._suspicious}

    def _note_suspicious(self, flag: Flag, number: int, index: int) -> None:
        """Keep a raised flag if it is among the `most` with the highest scores so far."""
        entry = (flag.score, -number, -index)  # of flags with equal scores the earlier one is kept
        if len(self._suspicious) < self.most:
            heapq.heappush(self._suspicious, entry)
        elif self.most:
            heapq.heappushpop(self._suspicious, entry)


def _layout_finding(number: int, flag: Flag, result: PageResult) -> LayoutFinding:
    picture = picture_of(result)
    page_box = result.image_box or Box(0, 0, *result.image_size)
    upright_box = turned_box(page_box, picture.turn, result.image_size)
    return LayoutFinding(number, upright_flag(flag, result), picture, upright_box)


def by_rule(pairs: Counter[HiddenPair]) -> list[tuple[str, Counter[HiddenPair]]]:
    """Hidden pairs by rule: the rule that hid most flags first, and within a rule the most frequent pairs first."""
    grouped: dict[str, Counter[HiddenPair]] = {}
    for pair, count in pairs.most_common():
        grouped.setdefault(pair.rule, Counter())[pair] = count
    return sorted(grouped.items(), key=lambda group: group[1].total(), reverse=True)


def picture_of(result: PageResult) -> PageImageFile:
    """The image file of a page, and the turn that makes it upright."""
    turn = turn_of(result.skew)
    return PageImageFile(result.image, result.image_sha, turned_size(result.image_size, turn), turn)


def status_text(status: Status, message: Notice | None) -> str:
    """A status as `summary.json` gives it."""
    return f"{status.value}: {in_english(message)}" if status is Status.FAILED and message else status.value


def in_order(flags: Iterable[Flag]) -> list[Flag]:
    """The flags of a page in the order of their places."""
    return sorted(flags, key=lambda flag: (flag.line, flag.offset, flag.length, flag.id))
