"""How far a work has come: what people decided, juan by juan and person by person, and how many errors are left."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from proof.audit import Estimate, estimate
from proof.store import Store
from proof.store.decisions import Verdict
from proof.store.queue import JuanCount

SAID = (Verdict.KEEP, Verdict.TAKE, Verdict.OTHER, Verdict.TYPED, Verdict.COPY, Verdict.UNSURE, Verdict.SKIP)


@dataclass(frozen=True, slots=True)
class Person:
    """What one person decided, by verdict; what was taken back since is counted too."""

    name: str
    decisions: int
    verdicts: dict[Verdict, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of the proofreading of a work.

    `missed` is estimated from samples of what was not flagged (errors per 10,000 characters); `waiting` is how many
    of the flags nobody decided yet are errors, if they are like those that were decided; None before any was.
    """

    juans: tuple[JuanCount, ...]
    people: tuple[Person, ...]
    missed: Estimate
    waiting: float | None

    @property
    def begun(self) -> bool:
        return bool(self.people)

    @property
    def total(self) -> JuanCount:
        """All juan together."""
        names = ("pages", "characters", "flagged", "settled", "confirmed", "samples", "missed")
        return JuanCount("", *(sum(getattr(juan, name) for juan in self.juans) for name in names))

    def as_dict(self) -> dict[str, Any]:
        """The contents of `progress.json`."""
        return {
            "juans": [asdict(juan) for juan in self.juans],
            "people": [
                {
                    "name": one.name,
                    "decisions": one.decisions,
                    "verdicts": {v.value: n for v, n in one.verdicts.items()},
                }
                for one in self.people
            ],
            "missed_per_10000": asdict(self.missed),
            "errors_among_undecided": self.waiting,
        }


def progress_of(store: Store, work: str) -> Progress:
    """The state of a work in the store, as it is now."""
    juans = tuple(store.queue.juans(work))
    people = [
        Person(name, sum(said.get(verdict, 0) for verdict in SAID), {v: said[v] for v in SAID if v in said})
        for name, said in store.decisions.people(work).items()
    ]
    settled = sum(juan.settled for juan in juans)
    confirmed = sum(juan.confirmed for juan in juans)
    open_flags = sum(juan.flagged - juan.settled for juan in juans)
    return Progress(
        juans,
        tuple(sorted(people, key=lambda one: -one.decisions)),
        estimate(sum(juan.samples for juan in juans), sum(juan.missed for juan in juans)),
        open_flags * confirmed / settled if settled else None,
    )


def per_10000(count: float, characters: int) -> float:
    """A density as reports give it."""
    return 10_000 * count / characters if characters else 0.0
