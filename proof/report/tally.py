"""The counts of a report, made in one pass over the pages."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from proof.locale.notices import in_english
from proof.model.flags import Flag, Kind, questions
from proof.model.geometry import Box
from proof.model.notices import Notice
from proof.model.result import PageResult, Status
from proof.report.crops import PageImageFile
from proof.report.upright import turn_of, turned_box, turned_size, upright_flag

GRAVITY = (Status.CHECKED, Status.NO_IMAGE, Status.MISMATCH, Status.FAILED)
"""The statuses from the lightest to the gravest, which counts where two pages have one id."""


@dataclass(frozen=True, slots=True)
class PageTally:
    """The counts of one page. `raised` counts the raised flags about characters, `layout` the others; `shown`: it has
    any of these, or one half of a character that moved."""

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
    """A raised finding about a column or a page, and the page's image."""

    number: int
    flag: Flag
    image: PageImageFile
    page_box: Box


@dataclass(slots=True)
class Tally:
    """Counts over all pages. A character that moved counts once.

    `flags` are counted by their kind and whether they are raised. `pairs` are the confused pairs (transcribed, read) of
    raised flags. `variants` and `habits` are those of hidden flags with the rule that hid them: forms of one word; and
    weak readings, which the engine gives all over the text or in fonts, or only in one way of preparing the image.
    `most` is how many raised flags `most_suspicious` gives at most."""

    pages: list[PageTally] = field(default_factory=list)
    characters: int = 0
    flags: Counter[tuple[str, bool]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    variants: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    habits: Counter[tuple[str, str, str]] = field(default_factory=Counter)
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
                    shown, picture = upright_flag(flag, result), picture_of(result)
                    whole = result.image_box or Box(0, 0, *result.image_size)
                    box = turned_box(whole, picture.turn, result.image_size)
                    self.layout.append(LayoutFinding(number, shown, picture, box))
            elif flag.raised:
                raised += 1
                if flag.kind in (Kind.SUBSTITUTION, Kind.VARIANT, Kind.TRANSPOSITION):
                    self.pairs[flag.transcribed, flag.suggested] += 1
                self._note_suspicious(flag, number, index)
            elif flag.kind is Kind.VARIANT:
                self.variants[flag.transcribed, flag.suggested, flag.evidence.rule] += 1
            elif flag.kind is Kind.SUBSTITUTION and flag.evidence.rule:
                self.habits[flag.transcribed, flag.suggested, flag.evidence.rule] += 1
        self.characters += result.characters_checked
        self.seconds += result.seconds
        self.pages.append(
            PageTally(
                number,
                result.page,
                result.ref,
                result.status,
                result.message,
                result.characters_checked,
                raised,
                layout,
                result.notices,
                any(flag.raised for flag in result.flags),
            )
        )

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
        """The status of each page by its id; if two pages have one id, the graver status."""
        gravest: dict[str, PageTally] = {}
        for page in self.pages:
            before = gravest.setdefault(page.page, page)
            if GRAVITY.index(page.status) > GRAVITY.index(before.status):
                gravest[page.page] = page
        return {name: page.status_text for name, page in gravest.items()}

    def most_suspicious(self) -> set[tuple[int, int]]:
        """The `most` raised flags of the highest scores, as (number of the page, index of the flag)."""
        return {(-number, -index) for _, number, index in self._suspicious}

    def _note_suspicious(self, flag: Flag, number: int, index: int) -> None:
        entry = (flag.score, -number, -index)  # of equal scores the earlier place stays
        if len(self._suspicious) < self.most:
            heapq.heappush(self._suspicious, entry)
        elif self.most:
            heapq.heappushpop(self._suspicious, entry)


def by_rule(pairs: Counter[tuple[str, str, str]]) -> list[tuple[str, Counter[tuple[str, str, str]]]]:
    """Hidden pairs (transcribed, read, rule) by rule, the rule that hid most first, and for each rule the most frequent
    pairs first."""
    grouped: dict[str, Counter[tuple[str, str, str]]] = {}
    for (transcribed, read, rule), count in pairs.most_common():
        grouped.setdefault(rule, Counter())[transcribed, read, rule] = count
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
