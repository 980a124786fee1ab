"""What the recogniser reads where characters stand that it was never taught, as fonts draw them."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.facsimile.drawn import drawn_readings, sure_forms
from proof.facsimile.fonts import FontChain
from proof.ocr.drawn import (
    LARGE_PX,
    MAX_READINGS,
    MIN_PROBABILITY,
    SMALL_PX,
    DrawnReadings,
    SureForms,
    shipped_readings,
)
from proof.ocr.ppocr import PPOCR


@pytest.fixture(scope="module")
def few(ppocr: PPOCR) -> DrawnReadings:
    return drawn_readings(ppocr, FontChain.of_installed(), "楅弣大夫\ue000")


def test_what_was_taught_is_read_as_itself_and_what_was_not_as_its_neighbour_in_shape(few: DrawnReadings) -> None:
    assert [few.readings(character)[0][0] for character in "楅弣大夫"] == ["福", "附", "大", "夫"]
    assert few.readings("楅")[0][1] > 0.8
    assert [few.readings(nothing) for nothing in ("\ue000", "楅大", "")] == [()] * 3, "no font draws it"


def test_readings_are_kept_to_the_last_bit(few: DrawnReadings, tmp_path: Path) -> None:
    few.save(tmp_path / "few.npz")
    again = DrawnReadings.load(tmp_path / "few.npz")
    assert len(again) == len(few)
    assert all(again.readings(char) == few.readings(char) for char in "楅弣大夫")


def test_what_is_shipped_is_for_the_recogniser_that_is_shipped(ppocr: PPOCR) -> None:
    shipped = shipped_readings(ppocr.identity.checksum)
    assert len(shipped_readings("another")) == 0
    assert shipped.readings("楅")[0][0] == "福"
    assert not shipped.readings("大")
    for code in shipped.codes[:: max(1, len(shipped) // 200)].tolist():
        read = shipped.readings(chr(code))
        assert 1 <= len(read) <= MAX_READINGS
        assert all(chance >= MIN_PROBABILITY - 1 / 255 for _, chance in read)
        assert [chance for _, chance in read] == sorted((chance for _, chance in read), reverse=True)


def test_of_two_fonts_both_are_heard() -> None:
    first = DrawnReadings.of("made", {"楅": {"福": 0.9}, "弣": {"附": 0.8}})
    second = DrawnReadings.of("made", {"楅": {"福": 0.5, "副": 0.7}, "葢": {"益": 0.6}})
    both = first.joined(second)
    assert [text for text, _ in both.readings("楅")] == ["福", "副"]
    assert both.readings("楅")[0] == first.readings("楅")[0]
    assert both.readings("弣") == first.readings("弣")
    assert both.readings("葢") == second.readings("葢")
    assert both.codes.tolist() == sorted(both.codes.tolist())
    again = DrawnReadings.unpacked(both.packed())
    assert all(again.readings(character) == both.readings(character) for character in "楅弣葢")


def test_of_what_was_taught_it_is_known_how_surely_it_is_read_as_itself(ppocr: PPOCR, tmp_path: Path) -> None:
    few = sure_forms(ppocr, FontChain.of_installed(), "禮弆\ue000")
    assert (few.chance("禮") or 0.0) > 0.99
    assert 0 < (few.chance("弆") or 0.0) < 0.9
    assert {few.chance(char) for char in ("\ue000", "大", "", "禮弆")} == {None}
    few.save(tmp_path / "few.npz")
    again = SureForms.load(tmp_path / "few.npz")
    assert (len(again), again.chance("弆"), again.checksum) == (2, few.chance("弆"), ppocr.identity.checksum)


def test_small_characters_are_read_less_surely_the_denser_they_are(ppocr: PPOCR) -> None:
    """Between the two sizes that are drawn the probability is between theirs, beyond them it is theirs. 彜 is read as
    彝, the same word."""
    few = sure_forms(
        ppocr, FontChain.of_installed(), "寧彜", lambda first, second: first == second or {first, second} == set("彜彝")
    )
    chances = [few.chance("寧", size) or 0.0 for size in (10, SMALL_PX, 40, LARGE_PX, 100)]
    assert chances == sorted(chances)
    assert (chances[0], chances[3]) == (chances[1], chances[4])
    assert chances[1] < 0.7
    assert chances[3] > 0.99
    assert sure_forms(ppocr, FontChain.of_installed(), "之").chance("之", SMALL_PX) == 1.0
    assert (few.chance("彜") or 0.0) > 0.9
