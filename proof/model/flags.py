"""Flags: places where the transcription and the image seem to differ, with the evidence for each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from proof.model.geometry import Box
from proof.model.notices import Notice


class Kind(StrEnum):
    """Kinds of flags: 訛 substitution, 衍 insertion, 脫 omission, 倒 transposition, 異體 variant, and layout.

    An audit asks about a character of a sample that was not flagged. Proofreaders see it among the flags; reports do
    not list it.
    """

    SUBSTITUTION = "substitution"
    INSERTION = "insertion"
    OMISSION = "omission"
    TRANSPOSITION = "transposition"
    VARIANT = "variant"
    LAYOUT = "layout"
    AUDIT = "audit"


class Origin(StrEnum):
    """Where a flag comes from: a check, a sample of the characters that were not flagged, a seeded error (the text is
    right there), a collation with other editions, or a person who corrected the text by hand."""

    FINDING = "finding"
    SAMPLE = "sample"
    SEEDED = "seeded"
    COLLATION = "collation"
    PERSON = "person"


LINE_BREAK = "¶"
"""The sign for a line ending in the readings of a layout flag, whatever the line ending in the file."""


def insertion_order(
    offset: int, column: int, inserted: str, former: int, *, is_column: bool
) -> tuple[bool, bool, int, float]:
    """A sort key for what is inserted at one place, at `offset` in its line: columns before the characters at the
    beginning of a line and behind those at its end; what had been deleted there before what is new, by its `former`
    number; the others as on the image. A line ending comes before the characters in its `column`, which begins behind
    it."""
    comes_later = is_column if offset else not is_column
    return comes_later, not former, former, rank_on_image(column, inserted)


def rank_on_image(column: int, inserted: str) -> float:
    """The rank of what is inserted, in the order of the image: the number of its column, 0 if unknown; a line ending
    comes before the column that it begins."""
    return column - 0.5 if column and inserted == LINE_BREAK else column


TEXT_ORIGINS = (Origin.FINDING, Origin.COLLATION, Origin.PERSON)
"""Origins of flags about the text. Samples and seeded errors only measure checks and proofreaders."""

FINDING_KINDS = tuple(kind for kind in Kind if kind is not Kind.AUDIT)
"""The kinds of flags that a check raises."""


def is_raised(kind: Kind, score: float, threshold: float, show_variants: bool = False) -> bool:
    """Whether a flag is shown to the proofreader by default.

    Variants are shown if the project asks for them. Audits are never raised: they are shown as samples.
    """
    if kind is Kind.VARIANT:
        return show_variants
    return kind is not Kind.AUDIT and score >= threshold


READER_SIGN = "~"
"""The sign with which the siglum of another reader of the same images begins: an engine, a model, or a person who keyed
the text."""


@dataclass(frozen=True, slots=True)
class WitnessReading:
    """The reading of a witness at the place of a flag.

    `side` is `text` for the transcribed reading, `image` for the suggested one, else empty. `note` is the note of the
    witness's apparatus there, `name` the full name of its edition, if known. `weight` is what the witness added to the
    score, in nats; 0 for another reader of the image (a siglum with ~), which is no copy of the text.
    """

    siglum: str
    reading: str
    side: str = ""
    note: str = ""
    weight: float = 0.0
    name: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The reading for JSON."""
        return asdict(self)


LANGUAGE = "language"
"""The `reason` of flags that the language model alone raised."""

COLLATION = "collation"
"""The `reason` of flags that collation alone raised: differences between editions, without an image."""

CORRECTED_BY_HAND = "by hand"
"""The `reason` of flags of corrections by hand, at places that no check flagged."""

WITHOUT_IMAGE = frozenset({LANGUAGE, COLLATION})
"""Reasons of flags that do not come from an image."""

PLACEHOLDER = "placeholder"
"""The `reason` of flags where the text has a sign (□, 〓) in place of a character."""


@dataclass(frozen=True, slots=True)
class LanguageReading:
    """The result of the language model at the place of a flag.

    `odds` is the log-odds of the suggested against the transcribed reading, in nats. `suggested` and `transcribed` are
    the words around the place that contribute most to it, with either reading; `suggested_count` and
    `transcribed_count` are their occurrences elsewhere, in the language and on other pages of the text. `places` are
    pages of the text that have the suggested words. `weight` is what was added to the score of the image, in nats;
    without an image it is 0, and the odds are the score. `likeliest` is the most likely reading by image and neighbours
    together, in traditional characters. If it is suggested instead of the image's best reading, `instead_of` is that
    reading and its probability.
    """

    odds: float
    suggested: str
    suggested_count: int
    transcribed: str
    transcribed_count: int
    places: tuple[str, ...] = ()
    weight: float = 0.0
    likeliest: str = ""
    instead_of: tuple[str, float | None] | None = None

    def as_dict(self) -> dict[str, Any]:
        """The reading for JSON; `instead_of` only if it is set."""
        values = asdict(self) | {"places": list(self.places)}
        if self.instead_of is None:
            del values["instead_of"]
        else:
            values["instead_of"] = list(self.instead_of)
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> LanguageReading:
        """The reading from an object that `as_dict` made."""
        instead_of = tuple(values["instead_of"]) if values.get("instead_of") else None
        return cls(**{**values, "places": tuple(values["places"]), "instead_of": instead_of})


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a flag.

    - `reason`: a stable code that front ends translate (`posterior`, `ink`, `column missing` ...);
    - `rule`: the rule that hid a variant or lowered the score;
    - `p_text`, `p_best`: posterior of the transcribed and of the suggested reading;
    - `alternatives`: readings of the engine with their posteriors, most probable first;
    - `spellings`: other ways to write the suggestion, if the text uses several forms of a character or none of them;
    - `ink`: the evidence of the ink alone; `note`: the characters that the image shows there; `notice`: a remark;
    - `base`: the score before it was corrected by the other pages of the check (`proof.checking.engine_bias`); None
      without such a correction;
    - `column`: for a finding about a whole column, or about missing characters, its number on the image, from 1;
    - `witnesses`: readings of other witnesses, whose weights are part of the score;
    - `language`: the result of the language model.
    """

    reason: str
    rule: str = ""
    p_text: float | None = None
    p_best: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    spellings: tuple[str, ...] = ()
    ink: Notice | None = None
    note: str = ""
    base: float | None = None
    witnesses: tuple[WitnessReading, ...] = ()
    language: LanguageReading | None = None
    notice: Notice | None = None
    column: int | None = None

    def as_dict(self, *, exact: bool = False) -> dict[str, Any]:
        """The evidence for JSON, without empty fields; numbers are rounded unless `exact`."""
        base = None if self.base is None else float(self.base)
        values: dict[str, Any] = {
            "reason": self.reason,
            "rule": self.rule,
            "p_text": None if self.p_text is None else float(self.p_text),
            "p_best": None if self.p_best is None else float(self.p_best),
            "alternatives": [[text, float(p) if exact else round(p, 5)] for text, p in self.alternatives],
            "spellings": list(self.spellings),
            "ink": self.ink and self.ink.as_json(),
            "note": self.note,
            "notice": self.notice and self.notice.as_json(),
            "column": self.column,
            "base": base if exact or base is None else round(base, 4),
            "witnesses": [witness.as_dict() for witness in self.witnesses],
            "language": self.language.as_dict() if self.language else None,
        }
        return {name: value for name, value in values.items() if value not in ("", None, [])}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Evidence:
        """The evidence from an object that `as_dict` made; unknown names are ignored."""
        readers: dict[str, Callable[[Any], Any]] = {
            "alternatives": lambda pairs: tuple((text, p) for text, p in pairs),
            "spellings": tuple,
            "ink": Notice.of_json,
            "notice": Notice.of_json,
            "witnesses": lambda readings: tuple(WitnessReading(**reading) for reading in readings),
            "language": LanguageReading.from_dict,
        }
        fields_read = {}
        for name in cls.__dataclass_fields__.keys() & values.keys():
            fields_read[name] = readers[name](values[name]) if name in readers else values[name]
        return cls(**fields_read)


@dataclass(frozen=True, slots=True)
class Flag:
    """One finding: a line of `flags.jsonl`.

    - `line`: number of the column on the page, from 1; 0 for the page;
    - `offset`, `length`: code points in the column's source text;
    - `suggested`: the reading to replace the transcribed one;
    - `bbox`: in pixels of the image file;
    - `context`: the characters around the place. The id is made from it, not from readings or scores, so that a check
      with another engine or other settings gives the same id;
    - `moved`: the id of another flag that is one question with this one. The two are the 衍 and the 脫 of a moved
      character, or two flags of the same kind for a run that continues after the end of a half-row or column.
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

    def spelled(self, spellings: Sequence[str]) -> Flag:
        """The flag with the first of these spellings of its suggestion, and the others in the evidence."""
        suggested, *others = spellings
        return replace(self, suggested=suggested, evidence=replace(self.evidence, spellings=tuple(others)))

    def as_dict(self) -> dict[str, Any]:
        """The flag for `flags.jsonl`."""
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


def without_language(flag: Flag) -> Flag:
    """The flag with the score and the suggestion that it has without the language model; unchanged if the model alone
    raised it."""
    reading = flag.evidence.language
    if reading is None or flag.evidence.reason == LANGUAGE:
        return flag
    suggested, p_best = reading.instead_of or (flag.suggested, flag.evidence.p_best)
    evidence = replace(flag.evidence, language=None, p_best=p_best)
    return replace(flag, score=round(flag.score - reading.weight, 6), suggested=suggested, evidence=evidence)


def missing_characters(flag: Flag) -> str:
    """The characters that are missing at an omission. If one of two equal characters is missing, it is the second."""
    return flag.suggested.removeprefix(flag.transcribed) if flag.transcribed.strip() else flag.suggested


def other_half(flag: Flag, flags: Iterable[Flag]) -> Flag | None:
    """The flag among `flags` that is one question with `flag`; None unless both are raised and name each other."""
    if not flag.moved or not flag.raised:
        return None
    others = (other for other in flags if (other.id, other.moved) == (flag.moved, flag.id) and other.raised)
    return next(others, None)


def is_about_moved_text(flag: Flag, other: Flag | None) -> bool:
    """Whether two flags that are one question are about a moved character or column. If not, they are about two parts
    of one run."""
    return other is not None and (flag.kind is not other.kind or flag.kind is Kind.LAYOUT)


def questions(flags: Sequence[Flag]) -> list[Flag]:
    """The flags of a page, one for each question: of two flags that are one question the one with the higher score, or
    the earlier one if the scores are equal."""
    leading = []
    for flag in flags:
        other = other_half(flag, flags)
        if other is None or (-flag.score, flag.line, flag.offset) <= (-other.score, other.line, other.offset):
            leading.append(flag)
    return leading


FLAG_ID_BYTES = 10
"""Length in bytes of the hash that is a flag's id, written as twice as many hexadecimal digits."""


def flag_id(page: str, line: int, kind: Kind, context: str, occurrence: int) -> str:
    """The stable id of a flag: the same finding at the same place of the same source has the same id in every run.
    `occurrence` numbers equal contexts in a column from 0."""
    key = "\x1f".join([page, str(line), kind.value, context, str(occurrence)])
    return hashlib.blake2b(key.encode(), digest_size=FLAG_ID_BYTES).hexdigest()


def with_ids(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """The flags with their stable ids; flags with the same kind, column and context are numbered in their order."""
    occurrences: Counter[tuple[str, int, Kind, str]] = Counter()
    named_flags = []
    for flag in flags:
        key = (flag.page, flag.line, flag.kind, flag.context)
        named_flags.append(replace(flag, id=flag_id(*key, occurrences[key])))
        occurrences[key] += 1
    return tuple(named_flags)
