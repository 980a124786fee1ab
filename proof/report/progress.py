"""The progress of a work: decisions by juan and person, and the estimated number of errors that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from proof.quality.agreement import MIN_PLACES, Agreement, agreement
from proof.quality.sampling import Estimate, estimate, interval
from proof.store import Store
from proof.store.decision_records import TAKING_BACK, Verdict
from proof.store.queue_records import JuanCount

COUNTED_VERDICTS = tuple(verdict for verdict in Verdict if verdict not in TAKING_BACK)
"""The verdicts that are counted by person: all but undo and redo."""


@dataclass(frozen=True, slots=True)
class Person:
    """The number of decisions of one person, in all and by verdict, without undone ones."""

    name: str
    decisions: int
    verdicts: dict[Verdict, int]


@dataclass(frozen=True, slots=True)
class SeededErrorCounts:
    """How many of the `answered` seeded errors were `caught`, and the `share` with its 95 percent interval. With a
    `name` the last answers of that person are counted, without one the last answer to each error."""

    name: str
    answered: int
    caught: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, answers: Sequence[bool]) -> SeededErrorCounts:
        """The counts of `answers`, each of which is true if the error was caught."""
        caught, answered = sum(answers), len(answers)
        return cls(name, answered, caught, caught / answered if answered else 0.0, *interval(caught, answered))


@dataclass(frozen=True, slots=True)
class UndecidedErrors:
    """The expected number of errors among undecided flags, with a 95 percent interval, estimated from the share of
    errors among settled flags."""

    errors: float
    low: float
    high: float

    @classmethod
    def of(cls, undecided: int, settled: int, upheld: int) -> UndecidedErrors | None:
        """The estimate from `settled` flags, of which `upheld` were errors; None without settled flags."""
        if not settled:
            return None
        share = upheld / settled
        low, high = interval(upheld, settled)
        return cls(undecided * share, undecided * low, undecided * high)


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """The state of the proofreading of a work at a time (`at`).

    `missed` is the rate of errors per 10,000 characters of text without flags, estimated from samples. `waiting` is
    None if no flag is settled. `planted` and `planted_by` are the counts of seeded errors, in all and by person."""

    at: datetime
    juans: tuple[JuanCount, ...]
    people: tuple[Person, ...]
    missed: Estimate
    waiting: UndecidedErrors | None
    planted: SeededErrorCounts
    planted_by: tuple[SeededErrorCounts, ...]

    @property
    def has_decisions(self) -> bool:
        """Whether anything was decided: a flag, a sample or a seeded error."""
        return bool(self.people or self.missed.samples or self.planted.answered)

    @property
    def total(self) -> JuanCount:
        """The sums over all juan."""
        names = ("pages", "characters", "flagged", "settled", "upheld", "exported", "confirmed", "samples", "missed")
        return JuanCount("", *(sum(getattr(juan, name) for juan in self.juans) for name in names))

    def as_dict(self) -> dict[str, Any]:
        """The contents of `progress.json`."""
        waiting = self.waiting
        contents: dict[str, Any] = {
            "at": self.at.isoformat(timespec="seconds"),
            "juans": [asdict(juan) for juan in self.juans],
            "people": [
                {
                    "name": person.name,
                    "decisions": person.decisions,
                    "verdicts": {verdict.value: count for verdict, count in person.verdicts.items()},
                }
                for person in self.people
            ],
            "missed_per_10000": asdict(self.missed),
            "errors_among_undecided": waiting.errors if waiting else None,
            "errors_among_undecided_interval": [waiting.low, waiting.high] if waiting else None,
        }
        if self.planted.answered:
            everyone = asdict(self.planted)
            del everyone["name"]
            contents["planted"] = everyone | {"people": [asdict(counts) for counts in self.planted_by]}
        return contents


def progress_of(store: Store, work: str) -> WorkProgress:
    """The progress of a work at present."""
    juans = tuple(store.queue.juans(work))
    people = []
    for name, decisions in store.judgements.by_person(work).items():
        verdicts = {verdict: decisions[verdict] for verdict in COUNTED_VERDICTS if verdict in decisions}
        people.append(Person(name, sum(verdicts.values()), verdicts))
    answers = store.decisions.answers(work)
    caught_by_person: dict[str, list[bool]] = {}
    for answers_to_error in answers:
        for answer in answers_to_error:
            caught_by_person.setdefault(answer.person, []).append(answer.caught)
    planted_by = [SeededErrorCounts.of(name, caught) for name, caught in caught_by_person.items()]
    settled = sum(juan.settled for juan in juans)
    undecided = sum(juan.flagged for juan in juans) - settled
    exported = sum(juan.exported for juan in juans)
    return WorkProgress(
        at=datetime.now(UTC),
        juans=juans,
        people=tuple(sorted(people, key=lambda person: -person.decisions)),
        missed=estimate(sum(juan.samples for juan in juans), sum(juan.missed for juan in juans)),
        waiting=UndecidedErrors.of(undecided, settled + exported, sum(juan.upheld for juan in juans) + exported),
        planted=SeededErrorCounts.of("", [answers_to_error[-1].caught for answers_to_error in answers]),
        planted_by=tuple(sorted(planted_by, key=lambda counts: -counts.answered)),
    )


def agreements_of(store: Store, work: str) -> list[Agreement]:
    """The agreement of every two people on the places that both judged; the pair with the most places first."""
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
    """The time that is left: at the median of `seconds` per decision, `hours` for the open `flags` on pages with an
    image."""

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


def per_10000(count: float, characters: int) -> float:
    """The rate of a `count` per 10,000 `characters`; 0 without characters."""
    return 10_000 * count / characters if characters else 0.0
