"""The sample in pages/: what its key says is what stands there, and the script makes it again."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import cv2
import pytest

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "pages"


@pytest.fixture(scope="module")
def key() -> list[dict[str, str]]:
    with (PAGES / "planted.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


Flags = list[dict[str, Any]]


@pytest.fixture(scope="module")
def flags(demo: tuple[Path, subprocess.CompletedProcess[str]]) -> Flags:
    """The flags of a check of the sample as it is set up, with a store and reports of its own."""
    folder, ran = demo
    assert ran.returncode == 0, ran.stderr
    assert json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["findings"] == []
    return [json.loads(line) for line in (folder / "out" / "flags.jsonl").read_text(encoding="utf-8").splitlines()]


def is_unclaimed(row: dict[str, str]) -> bool:
    """The image shows 𫝊, which the recogniser never learned: whether 傅 or 传 is meant it cannot tell."""
    return (row["transcribed"], row["reading"]) == ("傅", "传")


def answers(flag: dict[str, Any], row: dict[str, str]) -> bool:
    """Whether a flag is about this error; of a character written twice either may be called the extra one."""
    if (flag["page"], flag["line"], flag["kind"]) != (row["page"], int(row["line"]), row["kind"]):
        return False
    doubled = row["kind"] == "insertion" and flag["transcribed"] == row["transcribed"]
    return bool(abs(flag["offset"] - int(row["offset"])) <= (1 if doubled else 0))


def test_every_known_error_is_raised_once_with_the_right_reading(flags: Flags, key: list[dict[str, str]]) -> None:
    """Of a shape that the recogniser never learned the image claims nothing; whether the language model speaks up hangs
    on how the processor rounds the reading."""
    assert sum(map(is_unclaimed, key)) == 1
    for row in key:
        chosen_flags = [flag for flag in flags if flag["raised"] and answers(flag, row)]
        if is_unclaimed(row):
            assert all(flag["evidence"]["reason"] == "language" for flag in chosen_flags)
        else:
            raised = [(flag["length"], flag["suggested"]) for flag in chosen_flags]
            assert raised == [(int(row["length"]), row["reading"])], row


def test_nothing_is_raised_that_is_mere_script(flags: Flags, key: list[dict[str, str]]) -> None:
    """Of the drawn half-folios, whose errors the key lists."""
    drawn = [flag for flag in flags if flag["page"].startswith("WYG") and flag["raised"]]
    others = [flag for flag in drawn if not any(answers(flag, row) for row in key)]
    assert len(others) <= 1, [(flag["page"], flag["line"], flag["transcribed"], flag["suggested"]) for flag in others]


def test_every_flag_of_the_sample_has_an_id_of_its_own_and_lies_on_its_image(flags: Flags) -> None:
    assert len({flag["id"] for flag in flags}) == len(flags)
    for flag in flags:
        height, width = cv2.imread(str(PAGES / f"{flag['page']}.png"), cv2.IMREAD_GRAYSCALE).shape
        if flag["bbox"] is not None:
            x, y, w, h = flag["bbox"]
            assert 0 <= x < x + w <= width, flag
            assert 0 <= y < y + h <= height, flag


def test_of_the_scanned_half_folio_the_two_misread_characters_are_raised_and_nothing_else(flags: Flags) -> None:
    raised = [flag for flag in flags if flag["page"] == "JMML_WYG_000-1b" and flag["raised"]]
    assert [(flag["line"], flag["transcribed"]) for flag in raised] == [(5, "攥"), (7, "弃")]
    assert raised[0]["suggested"] == "纂"
