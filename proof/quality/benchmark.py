"""Scores of a verifier against a key of known errors: recall by class, false findings, calibration.

A finding meets an error on the same page and line if the two ranges overlap or touch. Findings are taken from the
highest score on; each claims the nearest error that it meets and that is not claimed yet. Findings that meet only
claimed errors are duplicates. Findings at places where the image allows several readings (`variant`, `ambiguous`) do
not count, nor do findings about the layout and hidden variants.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum, StrEnum, auto
from math import exp
from pathlib import Path
from typing import Any

from proof.errors import TextError, UsageError
from proof.locale.marking import Sentence, _
from proof.quality.sampling import interval
from proof.text.encoding import utf8_text
from proof.text.model import is_han

KEY_COLUMNS = ("page", "line", "offset", "length", "transcribed", "reading", "kind", "class")
"""The columns of a key."""

PROBABILITY_BINS = 10
"""Number of intervals of probability in the table of reliability."""

MAX_LOG_ODDS_NATS = 60.0
"""Log-odds to which scores are clipped before they become probabilities, since `exp` overflows."""

UNJUDGED = frozenset({"layout"})
"""Kinds of findings that are not scored, since they are not about characters."""


class ErrorClass(StrEnum):
    """The class of a row of a key: a planted error, a real one, or no error."""

    PLANTED = "planted"
    REAL = "real"
    VARIANT = "variant"
    AMBIGUOUS = "ambiguous"


ERRORS = (ErrorClass.PLANTED, ErrorClass.REAL)


@dataclass(frozen=True, slots=True)
class Place:
    """Code points `offset` to `offset + length` of line `line` of a page; lines count from 1."""

    page: str
    line: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class KeyRow(Place):
    """A place of a text with its `transcribed` reading and the correct `reading` of its image. If it was read from a
    key, `file` and `number` are its file and its line there, from 1."""

    transcribed: str
    reading: str
    kind: str
    category: ErrorClass
    file: Path | None = field(default=None, compare=False)
    number: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.page} {self.line}:{self.offset} {self.kind} {self.transcribed}→{self.reading}"


@dataclass(frozen=True, slots=True)
class Finding(Place):
    """A verifier's finding at a place. Findings are ranked by `score`; recall and false findings count those shown to a
    proofreader (`raised`). `probability` is the stated probability of an error, 0 to 1."""

    suggested: str = ""
    score: float = 0.0
    raised: bool = True
    kind: str = "substitution"
    probability: float | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Finding:
        """From a line of JSON. If it has no probability, that of a flag (which has `evidence`) is computed from its
        score, log-odds in nats; other findings have none. Raises KeyError, TypeError, ValueError."""
        score = float(values.get("score", 0.0))
        probability = None
        if values.get("probability") is not None:
            probability = float(values["probability"])
        elif "evidence" in values:
            probability = _probability(score)
        return cls(
            str(values["page"]),
            int(values["line"]),
            int(values["offset"]),
            int(values["length"]),
            str(values.get("suggested") or ""),
            score,
            bool(values.get("raised", True)),
            str(values.get("kind", "substitution")),
            probability,
        )

    def as_dict(self) -> dict[str, Any]:
        """The finding as a dictionary for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.page} {self.line}:{self.offset} {self.kind} →{self.suggested} {self.score:.3f}"


def _probability(log_odds: float) -> float:
    return 1 / (1 + exp(-max(-MAX_LOG_ODDS_NATS, min(MAX_LOG_ODDS_NATS, log_odds))))


class Judgement(Enum):
    """The verdict of the key on a finding: an error, a second finding at an error, or no error."""

    HIT = auto()
    DUPLICATE = auto()
    FALSE = auto()


@dataclass(frozen=True, slots=True)
class Recall:
    """The number of known `errors`, of those `found` by raised findings, and the `share` of the latter with its 95 %
    interval from `low` to `high`."""

    errors: int
    found: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The findings whose probability is from `low` to `high`: their `count`, their mean probability (`stated`), and the
    share of them that are errors (`true`)."""

    low: float
    high: float
    count: int
    stated: float
    true: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of stated probabilities: `brier` is the mean squared difference (Brier 1950) over all `findings`,
    raised or not."""

    findings: int
    brier: float
    reliability: tuple[ReliabilityBin, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a verifier that checked `pages` pages with `characters` Han characters. `recall` is by error class.
    Of the `raised` findings, `false` meet no error, `duplicates` meet a claimed error, and `suggested` suggest the
    right reading of an error. `average_precision` is that of all findings ranked by score, raised or not."""

    pages: int
    characters: int
    recall: Mapping[str, Recall]
    raised: int
    false: int
    duplicates: int
    suggested: int
    average_precision: float | None
    calibration: Calibration | None
    missed: tuple[KeyRow, ...] = field(default=())
    false_findings: tuple[Finding, ...] = field(default=())

    @property
    def false_per_1000(self) -> float:
        return 1000 * self.false / self.characters if self.characters else 0.0

    @property
    def found(self) -> int:
        return sum(recall.found for recall in self.recall.values())

    def as_dict(self) -> dict[str, Any]:
        """The score as a dictionary for JSON."""
        lists = {
            "missed": [str(row) for row in self.missed],
            "false_findings": [str(finding) for finding in self.false_findings],
        }
        return {**asdict(self), "false_per_1000": round(self.false_per_1000, 3), **lists}


def meets(first: Place, second: Place) -> bool:
    """Whether two ranges of a line overlap or touch."""
    return (first.page, first.line) == (second.page, second.line) and _gap(first, second) <= 0


def _gap(first: Place, second: Place) -> int:
    """Characters between two ranges; 0 if they touch, negative if they overlap."""
    return max(first.offset, second.offset) - min(first.offset + first.length, second.offset + second.length)


def must_stand(row: KeyRow, lines: Sequence[str]) -> None:
    """Raise TextError unless `lines`, the columns of a row's page, have the row's place; UsageError for a row that was
    not read from a file."""
    line = lines[row.line - 1] if 0 < row.line <= len(lines) else None
    if line is None or not 0 <= row.offset <= row.offset + row.length <= len(line):
        message = Sentence(
            _("%(row)s: its page has no such place; a key counts lines from 1, and offsets from 0 in the line"), row=row
        )
        raise TextError(row.file, row.number, message) if row.file is not None else UsageError(message)


def score(findings: Iterable[Finding], pages: Mapping[str, Sequence[str]], rows: Sequence[KeyRow]) -> Score:
    """Score findings against a key. `pages` are the source texts of the columns of each checked page, by its id. Errors
    on other pages count as missed. Raises TextError or UsageError for a row whose place is not on its page."""
    for row in rows:
        if row.page in pages:
            must_stand(row, pages[row.page])
    errors = [row for row in rows if row.category in ERRORS]
    uncounted = [row for row in rows if row.category not in ERRORS]
    claimed: dict[int, Finding] = {}
    verdicts: list[tuple[Finding, Judgement]] = []
    for finding in sorted(findings, key=lambda finding: -finding.score):
        is_hidden_variant = finding.kind == "variant" and not finding.raised
        if finding.page not in pages or finding.kind in UNJUDGED or is_hidden_variant:
            continue
        met = sorted((_gap(finding, row), number) for number, row in enumerate(errors) if meets(finding, row))
        unclaimed = [number for _, number in met if number not in claimed]
        if unclaimed:
            claimed[unclaimed[0]] = finding
            verdicts.append((finding, Judgement.HIT))
        elif met:
            verdicts.append((finding, Judgement.DUPLICATE))
        elif not any(meets(finding, row) for row in uncounted):
            verdicts.append((finding, Judgement.FALSE))
    found_errors = {number for number, finding in claimed.items() if finding.raised}
    false = tuple(finding for finding, verdict in verdicts if verdict is Judgement.FALSE and finding.raised)
    duplicates = sum(verdict is Judgement.DUPLICATE and finding.raised for finding, verdict in verdicts)
    return Score(
        pages=len(pages),
        characters=sum(is_han(char) for lines in pages.values() for line in lines for char in line),
        recall=_recalls(errors, found_errors),
        raised=len(found_errors) + len(false) + duplicates,
        false=len(false),
        duplicates=duplicates,
        suggested=sum(_mends(claimed[number], errors[number], pages) for number in found_errors),
        average_precision=_average_precision([verdict is Judgement.HIT for _, verdict in verdicts], len(errors)),
        calibration=_calibration(verdicts),
        missed=tuple(row for number, row in enumerate(errors) if number not in found_errors),
        false_findings=false,
    )


def _recalls(errors: Sequence[KeyRow], found_errors: set[int]) -> dict[str, Recall]:
    totals = Counter(row.category for row in errors)
    found = Counter(errors[number].category for number in found_errors)
    return {
        category.value: Recall(
            totals[category],
            found[category],
            round(found[category] / totals[category], 4),
            *(round(bound, 4) for bound in interval(found[category], totals[category])),
        )
        for category in ERRORS
        if totals[category]
    }


def _mends(finding: Finding, row: KeyRow, pages: Mapping[str, Sequence[str]]) -> bool:
    """Whether the suggestion of a finding changes its line as the key does."""
    line = pages[row.page][row.line - 1]
    return _replaced(line, finding, finding.suggested) == _replaced(line, row, row.reading)


def _replaced(line: str, place: Place, reading: str) -> str:
    return line[: place.offset] + reading + line[place.offset + place.length :]


def _average_precision(hits: Sequence[bool], errors: int) -> float | None:
    """The mean of the precision at the rank of each error that is found; None without errors."""
    if not errors:
        return None
    found, total = 0, 0.0
    for rank, is_hit in enumerate(hits, 1):
        if is_hit:
            found += 1
            total += found / rank
    return round(total / errors, 4)


def _calibration(verdicts: Sequence[tuple[Finding, Judgement]]) -> Calibration | None:
    """The calibration of the findings with a probability, without duplicates; None if there are none."""
    stated = [
        (finding.probability, verdict is Judgement.HIT)
        for finding, verdict in verdicts
        if finding.probability is not None and verdict is not Judgement.DUPLICATE
    ]
    if not stated:
        return None
    by_bin: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for probability, is_error in stated:
        by_bin[min(int(probability * PROBABILITY_BINS), PROBABILITY_BINS - 1)].append((probability, is_error))
    bins = []
    for number, members in sorted(by_bin.items()):
        mean = round(sum(probability for probability, _ in members) / len(members), 4)
        true = round(sum(is_error for _, is_error in members) / len(members), 4)
        low, high = number / PROBABILITY_BINS, (number + 1) / PROBABILITY_BINS
        bins.append(ReliabilityBin(low, high, len(members), mean, true))
    brier = sum((probability - is_error) ** 2 for probability, is_error in stated) / len(stated)
    return Calibration(len(stated), round(brier, 4), tuple(bins))


def read_key(path: Path) -> list[KeyRow]:
    """The rows of a key, a TSV with a header. A row of class `error` is a planted error if its column `origin` says
    `planted`, else a real one. Raises TextError."""
    rows, classes = [], ", ".join(ErrorClass)
    lines = utf8_text(path, _("key of errors")).splitlines()
    table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    if missing := [name for name in KEY_COLUMNS if name not in (table.fieldnames or ())]:
        raise TextError(
            path, 1, _("has no column %(name)s: a key has %(names)s"), name=missing[0], names=", ".join(KEY_COLUMNS)
        )
    for number, row in enumerate(table, 2):
        try:
            place = (row["page"], int(row["line"]), int(row["offset"]), int(row["length"]))
            origin = "planted" if row.get("origin") == "planted" else "real"
            category = ErrorClass(origin if row["class"] == "error" else row["class"])
        except (TypeError, ValueError) as error:
            message = _("%(error)s: line, offset and length are numbers, class is one of %(classes)s")
            raise TextError(path, number, message, error=error, classes=classes) from None
        rows.append(
            KeyRow(*place, row["transcribed"] or "", row["reading"] or "", row["kind"] or "", category, path, number)
        )
    return rows


def read_findings(path: Path) -> list[Finding]:
    """The findings of a file of JSON lines. Raises TextError."""
    findings = []
    for number, line in enumerate(utf8_text(path, _("findings")).splitlines(), 1):
        if not line.strip():
            continue
        try:
            findings.append(Finding.of(json.loads(line)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            message = _("is not a finding (%(error)s): a finding has page, line, offset and length")
            raise TextError(path, number, message, error=error) from error
    return findings
