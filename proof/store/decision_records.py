"""Decisions on flags: requests, decisions, and refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from proof.errors import PublicError
from proof.locale.marking import _


class State(StrEnum):
    """The state of a flag. `copy`: the text is kept because the copy really has this reading (原文如此). `retained`:
    the text is kept although the copy has another reading, which is noted."""

    OPEN = "open"
    KEPT = "kept"
    CORRECTED = "corrected"
    COPY = "copy"
    RETAINED = "retained"
    UNSURE = "unsure"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """The verdict of a decision. `take` accepts the suggestion, `other` and `typed` set another reading. `delete`
    deletes the text, which an empty reading never does. `copy` keeps the text because the copy reads so, `retain`
    although the copy has another reading. `undo` undoes a decision, `redo` undoes an `undo`."""

    KEEP = "keep"
    TAKE = "take"
    OTHER = "other"
    TYPED = "typed"
    DELETE = "delete"
    COPY = "copy"
    RETAIN = "retain"
    UNSURE = "unsure"
    SKIP = "skip"
    UNDO = "undo"
    REDO = "redo"


STATE_OF = {
    Verdict.KEEP: State.KEPT,
    Verdict.TAKE: State.CORRECTED,
    Verdict.OTHER: State.CORRECTED,
    Verdict.TYPED: State.CORRECTED,
    Verdict.DELETE: State.CORRECTED,
    Verdict.COPY: State.COPY,
    Verdict.RETAIN: State.RETAINED,
    Verdict.UNSURE: State.UNSURE,
    Verdict.SKIP: State.SKIPPED,
}
"""The state of a flag after each verdict; `UNDO` and `REDO` restore an earlier state."""

TAKING_BACK = frozenset({Verdict.UNDO.value, Verdict.REDO.value})
"""Verdicts of decisions that undo another one."""

SETTLED = frozenset({State.KEPT, State.CORRECTED, State.COPY, State.RETAINED})
"""States that need no further decision."""


def judgement_category(state: str, reading: str, suggested: str) -> str:
    """The category of a judgement in measures of agreement: a state in which the text is kept, the suggestion, or
    another reading."""
    if state != State.CORRECTED.value:
        return str(state)
    return "as suggested" if reading == suggested else f"= {reading}"


class MissingFlagError(PublicError):
    """There is no such flag in the work."""

    http_status = 404


class RefusedDecisionError(PublicError):
    """An invalid request, such as a reading that breaks its line, an undo of nothing, or a key that was used before."""

    http_status = 422


class UnconfirmedReadingError(PublicError):
    """A reading that is probably a typing error, for the given `reason`; it is accepted if the request confirms it."""

    http_status = 428

    def __init__(self, message: str, *, reason: str, **values: object) -> None:
        super().__init__(message, **values)
        self.reason = reason


class NotYoursError(PublicError):
    """An act of another person, which only that person or an administrator can undo."""

    http_status = 403


class ConflictError(PublicError):
    """The flag was decided after the version that the person saw. `decisions` are those made since, oldest first;
    `version` is the present version."""

    http_status = 409

    def __init__(self, flag: int, version: int, decisions: Sequence[Decision]) -> None:
        people = ", ".join(dict.fromkeys(decision.person for decision in decisions))
        if people:
            super().__init__(
                _("flag %(flag)s was decided meanwhile (%(people)s): look at it again"), flag=flag, people=people
            )
        else:
            super().__init__(_("flag %(flag)s stands otherwise by now: look at it again"), flag=flag)
        self.flag = flag
        self.version = version
        self.decisions = tuple(decisions)


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A request of `person` for a decision on a flag of a work, of which they saw `version`.

    `key` identifies the request, 8 to 64 letters. `reading` is required for `OTHER` and `TYPED`; for `RETAIN` it is the
    reading of the copy ('' if it has none). `confirmed`: a reading that looks like a slip is intended. `note` is a
    remark for the collation notes. `authority` is what the decision rests on (影像, a siglum, 他校, 本校, 理校); if
    empty, it is derived from the flag. `suggested` is the suggestion that the person saw, if a `TAKE` depends on it.

    `undoes` is the id of the decision that an `UNDO` takes back, the last one of the flag. `undoes_version` names an
    earlier decision instead, by the version that it made, if all later ones were taken back. `overrules`: `person` may
    take back other people's decisions. `origin` describes the decision on another text from which this one was carried.
    """

    work: str
    flag: int
    verdict: Verdict
    version: int
    person: str
    key: str
    reading: str = ""
    note: str = ""
    undoes: int | None = None
    undoes_version: int | None = None
    batch: str = ""
    overrules: bool = True
    suggested: str | None = None
    authority: str = ""
    confirmed: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision as an event: person, time and place, with the evidence of the flag at that time.

    `reading` is the text at the place after the decision, `was` the text before. `copy_reads` is the reading of the
    copy if the text is kept against it. `authority` is what the decision rests on, empty if none was given. `about` is
    the id of the decision that this one undoes. `repeated`: the request was sent before, and this is its first result.
    """

    id: int
    flag: int
    uid: str
    version: int
    verdict: Verdict
    was_state: State
    state: State
    was: str
    reading: str
    person: str
    at: datetime
    page: str
    ref: str
    line: int
    offset: int
    length: int
    kind: str
    transcribed: str
    suggested: str
    context: str
    evidence: dict[str, Any]
    note: str = ""
    authority: str = ""
    copy_reads: str = ""
    about: int | None = None
    batch: str = ""
    repeated: bool = False
