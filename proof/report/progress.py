"""The progress of a work: decisions by juan and person, and the estimated number of errors that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from proof.quality.agreement import MIN_PLACES, Agreement, agreement
from proof.quality.sampling import Estimate, estimate, interval
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.store.queue_records import JuanCount

COUNTED_VERDICTS = (
    *(Verdict.KEEP, Verdict.TAKE, Verdict.OTHER, Verdict.TYPED, Verdict.DELETE),
    *(Verdict.COPY, Verdict.RETAIN, Verdict.UNSURE, Verdict.SKIP),
)
"""Verdicts that are counted, in the order of the columns: all but undo and redo."""


@dataclass(frozen=True, slots=True)
class Person:
    """The number of decisions of one person, in all and by verdict, without undone ones."""

    name: str
    decisions: int
    verdicts: dict[Verdict, int]


@dataclass(frozen=True, slots=True)
class Caught:
    """How many of the `answered` seeded errors were `caught`, as a share with its 95 percent interval. With a `name`
    the last answers of this person are counted, without one the last answer to each error."""

    name: str
    answered: int
    caught: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, answers: Sequence[bool]) -> Caught:
        """The counts of `answers`, which are true where the error was caught."""
        caught, answered = sum(answers), len(answers)
        return cls(name, answered, caught, caught / answered if answered else 0.0, *interval(caught, answered))


@dataclass(frozen=True, slots=True)
class Waiting:
    """The expected number of errors among undecided flags, with a 95 percent interval. The share of errors is taken to
    be that among settled flags."""

    errors: float
    low: float
    high: float

    @classmethod
    def of(cls, undecided: int, settled: int, upheld: int) -> Waiting | None:
        """The estimate from `settled` flags, of which `upheld` were errors; None without settled flags."""
        if not settled:
            return None
        return cls(*(undecided * share for share in (upheld / settled, *interval(upheld, settled))))


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """The state of the proofreading of a work.

    `missed` is the rate of errors per 10,000 characters of text without flags, estimated from samples. `waiting` is the
    number of errors expected among undecided flags; None if no flag is settled. `planted` and `planted_by` are the
    counts of seeded errors, in all and by person."""

    juans: tuple[JuanCount, ...]
    people: tuple[Person, ...]
    missed: Estimate
    waiting: Waiting | None
    planted: Caught
    planted_by: tuple[Caught, ...]

    @property
    def begun(self) -> bool:
        """Whether there are any decisions."""
        return bool(self.people or self.missed.samples or self.planted.answered)

    @property
    def total(self) -> JuanCount:
        """The sum over all juan."""
        names = ("pages", "characters", "flagged", "settled", "upheld", "confirmed", "samples", "missed")
        return JuanCount("", *(sum(getattr(juan, name) for juan in self.juans) for name in names))

    def as_dict(self) -> dict[str, Any]:
        """The contents of `progress.json`."""
        return {
            "juans": [asdict(juan) for juan in self.juans],
            "people": [
                {
                    "name": person.name,
                    "decisions": person.decisions,
                    "verdicts": {v.value: n for v, n in person.verdicts.items()},
                }
                for person in self.people
            ],
            "missed_per_10000": asdict(self.missed),
            "errors_among_undecided": self.waiting and self.waiting.errors,
            "errors_among_undecided_interval": self.waiting and [self.waiting.low, self.waiting.high],
        } | ({"planted": _planted(self)} if self.planted.answered else {})


def progress_of(store: Store, work: str) -> WorkProgress:
    """The progress of a work as stored now."""
    juans = tuple(store.queue.juans(work))
    people = [
        Person(
            name,
            sum(decisions.get(verdict, 0) for verdict in COUNTED_VERDICTS),
            {verdict: decisions[verdict] for verdict in COUNTED_VERDICTS if verdict in decisions},
        )
        for name, decisions in store.judgements.by_person(work).items()
    ]
    answers = store.decisions.answers(work)
    names = dict.fromkeys(answer.person for place in answers for answer in place)
    by_person = {
        name: [answer.caught for place in answers for answer in place if answer.person == name] for name in names
    }
    planted_by = (Caught.of(name, caught) for name, caught in by_person.items())
    settled = sum(juan.settled for juan in juans)
    upheld = sum(juan.upheld for juan in juans)
    open_flags = sum(juan.flagged - juan.settled for juan in juans)
    return WorkProgress(
        juans,
        tuple(sorted(people, key=lambda person: -person.decisions)),
        estimate(sum(juan.samples for juan in juans), sum(juan.missed for juan in juans)),
        Waiting.of(open_flags, settled, upheld),
        Caught.of("", [place[-1].caught for place in answers]),
        tuple(sorted(planted_by, key=lambda counts: -counts.answered)),
    )


def agreements_of(store: Store, work: str) -> list[Agreement]:
    """The agreement of every two people at the places that both judged, the pair with most places first."""
    agreements = [
        agreement(
            people,
            [(judgement.first, judgement.second) for judgement in judged],
            sum(judgement.validated for judgement in judged),
        )
        for people, judged in store.judgements.judged_twice(work).items()
    ]
    return sorted(agreements, key=lambda pair: -pair.places)


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """The time that is left at the present pace: `seconds` per decision (the median), and `hours` for the open flags on
    pages with an image."""

    flags: int
    seconds: float
    hours: float


def time_left(store: Store, work: str) -> TimeLeft | None:
    """The time that one person needs for the rest of a work; None with fewer than `MIN_PLACES` timed decisions."""
    paces = store.judgements.paces(work)
    if len(paces) < MIN_PLACES:
        return None
    flags = store.queue.open_beside_images(work)
    seconds = median(paces)
    return TimeLeft(flags, seconds, flags * seconds / 3600)


def _planted(progress: WorkProgress) -> dict[str, Any]:
    """The counts of seeded errors for `progress.json`."""
    everyone = {name: value for name, value in asdict(progress.planted).items() if name != "name"}
    return everyone | {"people": [asdict(planted) for planted in progress.planted_by]}


def per_10000(count: float, characters: int) -> float:
    """The rate of a `count` per 10,000 `characters`; 0 without characters."""
    return 10_000 * count / characters if characters else 0.0
