"""At which stage an error was lost (`scripts/bench/missed.py`)."""

from __future__ import annotations

from typing import Any

import pytest

from proof.verify.scores import ALIKE_WEIGHT
from scripts.bench.missed import Record, Stage, is_mended, stage_of

THRESHOLD = 3.0
PLACE: Record = {"page": "1a", "line": 1, "offset": 2, "length": 1}
ERROR: Record = {**PLACE, "kind": "substitution", "transcribed": "糾", "reading": "原"}


def meets(flag: Record, row: Record) -> bool:
    return bool(flag["offset"] == row["offset"])


def flag(score: float, kind: str = "substitution", **evidence: Any) -> dict[str, Any]:
    raised = score >= THRESHOLD and kind != "variant"
    values = {"score": score, "raised": raised, "suggested": "原", "evidence": {"reason": "posterior", **evidence}}
    return {**PLACE, "kind": kind, **values}


@pytest.mark.parametrize(
    ("flags", "first", "stage"),
    [
        ([], [], Stage.CANDIDATE),
        ([], [flag(5.0)], Stage.REREAD),
        ([flag(0.4)], [flag(5.0)], Stage.REREAD),
        ([flag(5.0)], [], Stage.TAKEN),
        ([flag(0.01, "variant")], [], Stage.FORM),
        ([flag(2.4, language={"weight": -0.9})], [], Stage.LANGUAGE),
        ([flag(3.5 * ALIKE_WEIGHT, rule="alike in the hand")], [], Stage.DAMPED),
        ([flag(0.5, rule="run together in this hand", base=4.0)], [], Stage.DAMPED),
        ([flag(0.3, reason="doubt", p_text=0.0001, p_best=0.99)], [], Stage.DOUBT),
        ([flag(2.0, p_text=0.2, p_best=0.7)], [], Stage.BELOW),
    ],
)
def test_the_stage_is_the_first_without_which_the_error_would_be_raised(
    flags: list[Record], first: list[Record], stage: Stage
) -> None:
    assert stage_of(ERROR, flags, first, meets, THRESHOLD)[0] is stage


def test_a_character_put_in_beside_one_left_out_is_mended_by_one_correction() -> None:
    inserted = {**ERROR, "reading": "", "kind": "insertion"}
    omitted = {**ERROR, "offset": 3, "length": 0, "transcribed": "", "kind": "omission"}
    rows = [inserted, omitted]
    assert is_mended("撰者糾本", omitted, rows, [flag(9.0)])
    assert not is_mended("撰者糾本", omitted, rows, [flag(2.0)])
    assert not is_mended("撰者糾本", omitted, rows, [{**flag(9.0), "suggested": "源"}])
