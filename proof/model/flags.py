"""What a flag is: one place where the transcription and the image seem to differ, with its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from proof.model.geometry import Box
from proof.model.notices import Notice


class Kind(StrEnum):
    """訛 substitution, 衍 insertion, 脫 omission, 倒 transposition, 異體 variant, and layout. An audit is a sample
    of what was not flagged: proofreaders meet it among the flags, no report lists it."""

    SUBSTITUTION = "substitution"
    INSERTION = "insertion"
    OMISSION = "omission"
    TRANSPOSITION = "transposition"
    VARIANT = "variant"
    LAYOUT = "layout"
    AUDIT = "audit"


FOUND = tuple(kind for kind in Kind if kind is not Kind.AUDIT)
"""What a check finds."""


def is_raised(kind: Kind, score: float, threshold: float, show_variants: bool = False) -> bool:
    """Whether a flag of that kind and score is shown to the proofreader by default. Other forms of the same word are
    where the project wants to see them, samples never: they are met as what they are."""
    if kind is Kind.VARIANT:
        return show_variants
    return kind is not Kind.AUDIT and score >= threshold


@dataclass(frozen=True, slots=True)
class WitnessReading:
    """What a witness reads at the place of a flag. `side` is `text` where it reads what is transcribed, `image` where
    it reads what is suggested, else empty; `note` is what its apparatus says there; `weight` is what it added to the
    score."""

    siglum: str
    reading: str
    side: str = ""
    note: str = ""
    weight: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The testimony as JSON takes it."""
        return asdict(self)


SENSE = "sense"
"""The `reason` of what the sense alone raised."""

PLACEHOLDER = "placeholder"
"""The `reason` where the text has a sign (□, 〓) in place of what the image shows."""


@dataclass(frozen=True, slots=True)
class SenseReading:
    """What the sense says at the place of a flag. `odds` is how much likelier what is suggested is than what is
    transcribed, in nats; the run of characters that tells most, as `suggested` and as `transcribed`, with how often
    each was met elsewhere, in the language and on other pages of the text; `places` are pages of the text that have
    the first; `weight` is what it added to the score of what the image shows (0 where there is no image, or this says
    nothing: then the odds are the score)."""

    odds: float
    suggested: str
    suggested_count: int
    transcribed: str
    transcribed_count: int
    places: tuple[str, ...] = ()
    weight: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The reading as JSON takes it."""
        return asdict(self) | {"places": list(self.places)}

    @classmethod
    def of(cls, values: dict[str, Any]) -> SenseReading:
        """The reading that `as_dict` gave."""
        return cls(**{**values, "places": tuple(values["places"])})


@dataclass(frozen=True, slots=True)
class Evidence:
    """What spoke for a flag.

    `reason` is a stable code that front ends translate (`posterior`, `ink`, `column missing` ...);
    `rule` names what hid a variant or lowered a score; `p_text` and `p_best` are the posterior of what is
    transcribed and of what is suggested; `alternatives` are the engine's, most probable first; `ink` is
    what the ink alone says, `note` the characters that the image shows there and `notice` what else is to be
    said; `base` is the score before the whole run was taken into account (None where that changed nothing);
    `witnesses` are what other witnesses of the text read here, their weights in the score already; `sense` is what
    the language lets expect.
    """

    reason: str
    rule: str = ""
    p_text: float | None = None
    p_best: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    ink: Notice | None = None
    note: str = ""
    base: float | None = None
    witnesses: tuple[WitnessReading, ...] = ()
    sense: SenseReading | None = None
    notice: Notice | None = None

    def as_dict(self) -> dict[str, Any]:
        """The evidence as JSON takes it, without what is empty."""
        pairs: dict[str, Any] = {
            "reason": self.reason,
            "rule": self.rule,
            "p_text": self.p_text,
            "p_best": self.p_best,
            "alternatives": [[text, round(p, 5)] for text, p in self.alternatives],
            "ink": self.ink and self.ink.as_json(),
            "note": self.note,
            "notice": self.notice and self.notice.as_json(),
            "base": None if self.base is None else round(self.base, 4),
            "witnesses": [one.as_dict() for one in self.witnesses],
            "sense": self.sense.as_dict() if self.sense else None,
        }
        return {name: value for name, value in pairs.items() if value not in ("", None, [])}


@dataclass(frozen=True, slots=True)
class Flag:
    """One finding; the contract of `flags.jsonl`.

    `line` is the column on the page from 1 (0 for the page); `offset` and `length` are code points in the
    column's source text; `suggested` is what should stand there instead; `bbox` is in pixels of the image
    file; `context` is the characters around the place (it goes into the id, so that the id survives
    another run, another engine and another setting). `moved`: the id of the flag with which this one is one
    question: of what moved, 衍 here and 脫 there; or of a run that the end of a half-row or of a column parts, where
    both are of one kind.
    """

    page: str
    ref: str
    line: int
    offset: int
    length: int
    kind: Kind
    transcribed: str
    suggested: str
    score: float
    raised: bool
    bbox: Box | None
    evidence: Evidence
    context: str = ""
    id: str = field(default="")
    moved: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The flag as a line of `flags.jsonl`."""
        return {
            "id": self.id,
            "page": self.page,
            "ref": self.ref,
            "line": self.line,
            "offset": self.offset,
            "length": self.length,
            "kind": self.kind.value,
            "transcribed": self.transcribed,
            "suggested": self.suggested,
            "score": round(self.score, 4),
            "raised": self.raised,
            "bbox": self.bbox.rounded() if self.bbox else None,
            "evidence": self.evidence.as_dict(),
            **({"moved": self.moved} if self.moved else {}),
        }


def missing_characters(flag: Flag) -> str:
    """What an omission lacks: of two equal characters, of which one has the place of both, the other."""
    return flag.suggested.removeprefix(flag.transcribed) if flag.transcribed.strip() else flag.suggested


def other_half(flag: Flag, flags: Iterable[Flag]) -> Flag | None:
    """The other of two flags that are one question, where both are raised and name each other."""
    if not flag.moved or not flag.raised:
        return None
    found = (one for one in flags if (one.id, one.moved) == (flag.moved, flag.id) and one.raised)
    return next(found, None)


def is_moved(flag: Flag, other: Flag | None) -> bool:
    """Whether two flags that are one question are about what moved, and not about two parts of a run."""
    return other is not None and (flag.kind is not other.kind or flag.kind is Kind.LAYOUT)


def questions(flags: Sequence[Flag]) -> list[Flag]:
    """The flags of a page without those that are one question with another: of two the more suspicious one asks, the
    earlier one where they are equally so."""
    asked = []
    for flag in flags:
        other = other_half(flag, flags)
        if other is None or (-flag.score, flag.line, flag.offset) <= (-other.score, other.line, other.offset):
            asked.append(flag)
    return asked


REACH = 3
"""Characters on either side that a flag's `context` shows, where the column has as many."""


def context_of(source: str, offset: int, length: int) -> str:
    """The characters around a place of a column's source, the place in brackets: a flag's `context`."""
    end = offset + length
    return f"{source[max(0, offset - REACH) : offset]}[{source[offset:end]}]{source[end : end + REACH]}"


def flag_id(page: str, line: int, kind: Kind, context: str, occurrence: int) -> str:
    """A stable id: the same finding at the same place of the same source has the same id in every run.

    `context` is the characters around the place with the place marked; `occurrence` tells apart equal
    contexts in one column (0 for the first).
    """
    key = "\x1f".join([page, str(line), kind.value, context, str(occurrence)])
    return hashlib.blake2b(key.encode(), digest_size=10).hexdigest()
