"""At which stage of a check an error was lost that was not raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from math import log
from typing import Any
from unittest.mock import patch

from proof.checking import plan
from proof.ocr.belief import MIN_PROBABILITY
from proof.verify import columns
from proof.verify.scores import ALIKE_WEIGHT, substitution_score

Record = Mapping[str, Any]
"""A flag or a row of a key, as `shared/bench/score.py` takes them."""


class Stage(StrEnum):
    """Where an error was lost, in the order in which it is asked."""

    UNREAD = "page not checked"
    MENDED = "put right by the flags about its neighbour"
    TAKEN = "one flag with another error"
    REREAD = "taken back by a reading again"
    CANDIDATE = "not a candidate"
    FORM = "taken for another form"
    LANGUAGE = "lowered by the language model"
    DAMPED = "damped as alike or as a habit"
    DOUBT = "damped by doubt about the image"
    BELOW = "below the threshold"


@contextmanager
def without_rereadings() -> Iterator[None]:
    """Pages are judged by the first reading alone, and what was judged otherwise is not used again."""
    with (
        patch.object(columns.ColumnReader, "_with_rereadings", lambda _, column: column),
        patch.object(plan, "METHOD_VERSION", -plan.METHOD_VERSION),
    ):
        yield


def is_mended(column: str, row: Record, rows: Sequence[Record], flags: Sequence[Record]) -> bool:
    """Whether `column` reads as it should around the error `row` once the raised flags there are taken as suggested. Of
    two errors side by side (a character left out beside one put in) nobody can tell which is which: one correction, or
    two at places one character off, put both right. `rows` and `flags` are those of the page and its column."""
    errors = [row]
    while more := [row for row in rows if row not in errors and any(_apart(row, error) <= 1 for error in errors)]:
        errors += more
    raised = [flag for flag in flags if flag["raised"] and flag["kind"] != "layout"]
    own = [flag for flag in raised if any(_apart(flag, error) <= 1 for error in errors)]
    return _edited(column, errors, "reading") == _edited(column, own, "suggested")


def _apart(one: Record, other: Record) -> int:
    """Characters between two places of a column; 0 where they touch."""
    ends = (record["offset"] + record["length"] for record in (one, other))
    return int(max(one["offset"], other["offset"]) - min(ends))


def _edited(column: str, changes: Sequence[Record], value: str) -> str:
    for change in sorted(changes, key=lambda one: (-one["offset"], -one["length"])):
        column = column[: change["offset"]] + change[value] + column[change["offset"] + change["length"] :]
    return column


def stage_of(
    row: Record,
    flags: Sequence[Record],
    first: Sequence[Record],
    meets: Callable[[Record, Record], bool],
    threshold: float,
) -> tuple[Stage, Record | None]:
    """Where the error `row` of a checked page was lost that no flag puts right, and the flag that tells most of it.
    `flags` are those of the check, `first` those of the check by the first reading alone, `meets` whether a flag is
    about an error."""

    def about(flag: Record) -> bool:
        """Whether a flag is about the error itself, and not about the character beside it."""
        return meets(flag, row) and (_apart(flag, row) < 0 or not (flag["length"] and row["length"]))

    own = sorted(filter(about, flags), key=lambda flag: -flag["score"])
    best = own[0] if own else None
    if best is not None and best["raised"]:
        return Stage.TAKEN, best
    if any(flag["raised"] for flag in filter(about, first)):
        return Stage.REREAD, best
    return (Stage.CANDIDATE, None) if best is None else (_lowered(best, threshold), best)


def _lowered(flag: Record, threshold: float) -> Stage:
    """What keeps a flag below the threshold."""
    evidence = flag["evidence"]
    if flag["kind"] == "variant":
        return Stage.FORM
    score = flag["score"] - evidence.get("language", {}).get("weight", 0.0)
    if score >= threshold:
        return Stage.LANGUAGE
    alike = evidence.get("rule") == "alike in the hand"
    if max(evidence.get("base", score), score) / (ALIKE_WEIGHT if alike else 1.0) >= threshold:
        return Stage.DAMPED
    if flag["kind"] == "substitution" and {"p_text", "p_best"} <= evidence.keys():
        text, best = (log(max(evidence[name], MIN_PROBABILITY)) for name in ("p_text", "p_best"))
        if substitution_score(text, best, doubt=0.0) * (ALIKE_WEIGHT if alike else 1.0) >= threshold:
            return Stage.DOUBT
    return Stage.BELOW
