"""The sample in pages/: what its key says is what stands there, and the script makes it again."""

from __future__ import annotations

import csv
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
import pytest

from proof.errors import FontError
from proof.facsimile.files import half_folios
from proof.facsimile.fonts import find_faces
from proof.text.read import read_transcription
from proof.text.transcription import Transcription

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "pages"
SCRIPT = ROOT / "scripts" / "make_sample.py"


@pytest.fixture(scope="module")
def sample() -> Transcription:
    return read_transcription(PAGES / "dasheyi.txt")


@pytest.fixture(scope="module")
def key() -> list[dict[str, str]]:
    with (PAGES / "planted.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_sample", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_script_makes_text_and_key_again(
    sample: Transcription, key: list[dict[str, str]], shared: Path, maker: ModuleType
) -> None:
    source = read_transcription(shared / maker.EXCERPT)
    text, rows = maker.planted(maker.excerpt(source), source.pages[: maker.PAGES])
    assert text == sample.text
    assert maker.key_text(rows) == (PAGES / "planted.tsv").read_text(encoding="utf-8")


def test_the_script_makes_the_images_again(shared: Path, maker: ModuleType) -> None:
    try:
        find_faces(maker.STYLE.fonts)
    except FontError as error:
        pytest.skip(f"{error}: the sample is drawn in that font")
    drawn = maker.facsimile_pages(
        read_transcription(shared / maker.COMPLETE), read_transcription(shared / maker.EXCERPT)
    )
    for (name, page), _ in zip(half_folios(drawn, maker.STYLE, maker.WEAR, seed=10), range(3), strict=False):
        image = cv2.imread(str(PAGES / f"{name}.png"), cv2.IMREAD_GRAYSCALE)
        assert image is not None
        assert image.shape == page.image.shape
        # Another version of the drawing library may round a pixel on an edge the other way.
        assert np.mean(image != page.image) < 0.001, name


# What a check of the sample finds.

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


def test_every_known_error_is_raised_once(flags: Flags, key: list[dict[str, str]]) -> None:
    for row in key:
        found = [flag for flag in flags if flag["raised"] and answers(flag, row)]
        if not is_unclaimed(row):
            assert len(found) == 1, row


def test_the_right_reading_is_suggested_for_every_known_error(flags: Flags, key: list[dict[str, str]]) -> None:
    for row in key:
        if not is_unclaimed(row):
            (flag,) = [flag for flag in flags if flag["raised"] and answers(flag, row)]
            assert (flag["length"], flag["suggested"]) == (int(row["length"]), row["reading"]), row


def test_a_shape_that_the_recogniser_never_learned_is_not_claimed(flags: Flags, key: list[dict[str, str]]) -> None:
    """The image claims nothing; whether the language model speaks up hangs on how the processor rounds the reading."""
    (row,) = [row for row in key if is_unclaimed(row)]
    raised = [flag for flag in flags if answers(flag, row) and flag["raised"]]
    assert all(flag["evidence"]["reason"] == "language" for flag in raised)


def test_nothing_is_raised_that_is_mere_script(flags: Flags, key: list[dict[str, str]]) -> None:
    """Of the drawn half-folios, whose errors the key lists."""
    drawn = [flag for flag in flags if flag["page"].startswith("WYG") and flag["raised"]]
    others = [flag for flag in drawn if not any(answers(flag, row) for row in key)]
    assert len(others) <= 1, [(flag["page"], flag["line"], flag["transcribed"], flag["suggested"]) for flag in others]


def test_raised_flags_outrank_the_hidden_ones(flags: Flags) -> None:
    lowest = min(flag["score"] for flag in flags if flag["raised"])
    assert lowest > max((flag["score"] for flag in flags if not flag["raised"]), default=0)


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
