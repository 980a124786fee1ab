"""What the language model says where the image speaks against the text, of any character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from proof.language.doubts import Doubt, DoubtedText
from proof.language.model import LanguageModel, learn
from proof.language.stream import stream_of
from proof.model.flags import LanguageReading
from proof.text.model import Script
from tests.language.conftest import COMPANY, Paged

ReadingOf = Callable[..., LanguageReading | None]


@pytest.fixture(scope="module")
def language(paged: Paged) -> LanguageModel:
    """A language in which one often leans on what is 依託 and reads 北狄; none of these has look-alikes but 託."""
    columns = [f"{COMPANY[n % 40]}依託{COMPANY[n * 7 % 40]}北狄{COMPANY[n * 3 % 40]}" for n in range(60)]
    return learn([stream_of(paged(columns))], ["made"])


@pytest.fixture(scope="module")
def reading_of(language: LanguageModel, paged: Paged) -> ReadingOf:
    """The model's reading of a character of a page whose image shows others with these probabilities."""

    def asked(
        text: str,
        at: int,
        suggested: str,
        shown: dict[str, float] | None = None,
        script: Script = Script.TRADITIONAL,
        model: LanguageModel = language,
    ) -> LanguageReading | None:
        doubt = Doubt(0, 0, at, text[at], suggested, tuple((shown or {suggested: 0.9}).items()))
        return DoubtedText(replace(paged([text]), script=script), model).readings([doubt])[0]

    return asked


def odds(reading: LanguageReading | None) -> float:
    assert reading is not None
    return reading.odds


def test_it_speaks_for_what_stands_with_its_neighbour_elsewhere(reading_of: ReadingOf) -> None:
    reading = reading_of("人依北之", 2, "託")
    assert reading is not None
    assert reading.odds > 1
    assert (reading.suggested, reading.transcribed, reading.transcribed_count) == ("依託", "依北", 0)
    assert reading.suggested_count == 60
    assert odds(reading_of("人依託之", 2, "北")) < -1, "for what is transcribed as well"


def test_all_that_the_image_may_show_is_weighed(reading_of: ReadingOf) -> None:
    """Where the likeliest reading is no better than what is transcribed, another may be."""
    assert reading_of("人依北之", 2, "許") is None
    beside = reading_of("人依北之", 2, "許", {"許": 0.5, "託": 0.4})
    assert beside is not None
    assert beside.odds > 0
    assert beside.suggested == "依託"


@pytest.mark.parametrize("shown", ["託", "讬"])
@pytest.mark.parametrize(
    ("suggested", "script"), [("讬", Script.SIMPLIFIED), ("托", Script.SIMPLIFIED), ("託", Script.TRADITIONAL)]
)
def test_text_and_image_may_each_be_in_either_script(
    reading_of: ReadingOf, shown: str, suggested: str, script: Script
) -> None:
    assert reading_of("人依北之", 2, suggested, {shown: 0.9}, script) == reading_of("人依北之", 2, "託")


def test_a_simplified_character_is_the_one_of_its_words_that_stands_best_there(reading_of: ReadingOf) -> None:
    """托 is 托 or 託: 依托 was never met, 依託 often; and 託 is no other reading of it."""
    reading = reading_of("人依托之", 2, "北", {"北": 0.5}, Script.SIMPLIFIED)
    assert reading is not None
    assert reading.odds < -1
    assert reading.transcribed == "依託"
    assert reading_of("人依托之", 2, "北", {"北": 0.5, "託": 0.4}, Script.SIMPLIFIED) == reading


def test_what_is_no_single_character_is_not_asked_about(language: LanguageModel, paged: Paged) -> None:
    text = DoubtedText(paged(["人依&KR0058;之"]), language)
    assert text.readings([Doubt(0, 0, 2, "&KR0058;", "託", (("託", 0.9),))]) == [None]
