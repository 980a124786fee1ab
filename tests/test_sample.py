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

from proof.errors import FontError, UsageError
from proof.facsimile.files import half_folios
from proof.facsimile.fonts import FontChain, find_faces
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


def corrected(sample: Transcription, key: list[dict[str, str]], origin: str) -> str:
    """The file's text with the key's readings put in."""
    starts = {(page.id, column.number): column.start for page in sample.pages for column in page.columns}
    edits = [
        (starts[row["page"], int(row["line"])] + int(row["offset"]), int(row["length"]), row["reading"])
        for row in key
        if row["origin"] == origin
    ]
    text = sample.text
    for start, length, reading in sorted(edits, reverse=True):
        text = text[:start] + reading + text[start + length :]
    return text


def test_every_page_has_its_image(sample: Transcription) -> None:
    assert [str(page.folio) for page in sample.pages] == [f"{leaf}{side}" for leaf in range(1, 11) for side in "ab"]
    assert {f"{page.ref}.png" for page in sample.pages} == {path.name for path in PAGES.glob("*.png")}


def test_the_images_are_small_black_and_white_half_folios() -> None:
    paths = sorted(PAGES.glob("*.png"))
    assert sum(path.stat().st_size for path in paths) < 2_500_000
    for path in paths:
        image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        assert image is not None
        assert set(np.unique(image)) == {0, 255}
        assert 1400 < image.shape[0] < 1700
        assert 1000 < image.shape[1] < 1300


def test_the_key_says_what_stands_in_the_transcription(sample: Transcription, key: list[dict[str, str]]) -> None:
    columns = {(page.id, column.number): column.source for page in sample.pages for column in page.columns}
    for row in key:
        source = columns[row["page"], int(row["line"])]
        offset, length = int(row["offset"]), int(row["length"])
        assert source[offset : offset + length] == row["transcribed"], row
        assert len(source) >= offset, row


def test_the_known_errors_are_of_every_kind(key: list[dict[str, str]]) -> None:
    assert sorted((row["kind"], row["origin"]) for row in key) == [
        ("insertion", "planted"),
        ("omission", "natural"),
        ("omission", "natural"),
        ("omission", "planted"),
        ("substitution", "natural"),
        ("substitution", "planted"),
        ("substitution", "planted"),
        ("substitution", "planted"),
        ("transposition", "planted"),
    ]


def test_without_the_planted_errors_the_transcription_is_its_source(
    sample: Transcription, key: list[dict[str, str]], shared: Path, maker: ModuleType
) -> None:
    source = (shared / maker.EXCERPT).read_bytes().decode()
    assert source.startswith(corrected(sample, key, "planted") + "卷十 第 11a 页")


def test_the_natural_losses_are_those_found_in_the_source(key: list[dict[str, str]], shared: Path) -> None:
    gold = [line.split("\t") for line in (shared / "gold" / "seed-003.tsv").read_text("utf-8").splitlines()[1:]]
    pages = {f"{leaf}{side}" for leaf in range(1, 11) for side in "ab"}
    known = {(ref.removesuffix(".png"), line) for folio, ref, line, *_ in gold if folio in pages}
    assert {(row["page"], row["line"]) for row in key if row["origin"] == "natural"} == known


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


def test_the_script_refuses_a_text_that_is_another(maker: ModuleType, sample: Transcription) -> None:
    with pytest.raises(UsageError, match="does not begin with"):
        maker.planted(sample.text, sample.pages)


def test_all_that_the_images_show_is_in_the_font(shared: Path, maker: ModuleType) -> None:
    drawn = maker.facsimile_pages(
        read_transcription(shared / maker.COMPLETE), read_transcription(shared / maker.EXCERPT)
    )
    try:
        faces = find_faces(maker.STYLE.fonts)
    except FontError as error:
        pytest.skip(f"{error}: the sample is drawn in that font")
    chain = FontChain(faces[:2])
    characters = {
        cell.text for page in drawn.pages for column in page.columns for cell in column.cells if not cell.blank
    }
    assert {character for character in characters if chain.field(character) is None} == set()


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
    (row,) = [row for row in key if is_unclaimed(row)]
    here = [flag for flag in flags if answers(flag, row)]
    assert not any(flag["raised"] for flag in here)


def test_nothing_is_raised_that_is_mere_script(flags: Flags, key: list[dict[str, str]]) -> None:
    others = [flag for flag in flags if flag["raised"] and not any(answers(flag, row) for row in key)]
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
