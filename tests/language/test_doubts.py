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

Said = Callable[..., LanguageReading | None]


@pytest.fixture(scope="module")
def language(paged: Paged) -> LanguageModel:
    """A language in which one often leans on what is 依託 and reads 北狄; none of these has look-alikes but 託."""
    columns = [f"{COMPANY[n % 40]}依託{COMPANY[n * 7 % 40]}北狄{COMPANY[n * 3 % 40]}" for n in range(60)]
    return learn([stream_of(paged(columns))], ["made"])


@pytest.fixture(scope="module")
def said(language: LanguageModel, paged: Paged) -> Said:
    """What is said of a character of a page where the image shows others, each as likely as is given."""

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


def odds(told: LanguageReading | None) -> float:
    assert told is not None
    return told.odds


def test_it_speaks_for_what_stands_with_its_neighbour_elsewhere(said: Said) -> None:
    told = said("人依北之", 2, "託")
    assert told is not None
    assert told.odds > 1
    assert (told.suggested, told.transcribed, told.transcribed_count) == ("依託", "依北", 0)
    assert told.suggested_count == 60
    assert odds(said("人依託之", 2, "北")) < -1, "for what is transcribed as well"


def test_all_that_the_image_may_show_is_weighed(said: Said) -> None:
    """Where the likeliest reading is no better than what is transcribed, another may be."""
    assert said("人依北之", 2, "許") is None
    beside = said("人依北之", 2, "許", {"許": 0.5, "託": 0.4})
    assert beside is not None
    assert beside.odds > 0
    assert beside.suggested == "依託"


@pytest.mark.parametrize("shown", ["託", "讬"])
@pytest.mark.parametrize(
    ("suggested", "script"), [("讬", Script.SIMPLIFIED), ("托", Script.SIMPLIFIED), ("託", Script.TRADITIONAL)]
)
def test_text_and_image_may_each_be_in_either_script(said: Said, shown: str, suggested: str, script: Script) -> None:
    assert said("人依北之", 2, suggested, {shown: 0.9}, script) == said("人依北之", 2, "託")


def test_a_simplified_character_is_the_one_of_its_words_that_stands_best_there(said: Said) -> None:
    """托 is 托 or 託: 依托 was never met, 依託 often; and 託 is no other reading of it."""
    told = said("人依托之", 2, "北", {"北": 0.5}, Script.SIMPLIFIED)
    assert told is not None
    assert told.odds < -1
    assert told.transcribed == "依託"
    assert said("人依托之", 2, "北", {"北": 0.5, "託": 0.4}, Script.SIMPLIFIED) == told


def test_what_is_no_single_character_is_not_asked_about(language: LanguageModel, paged: Paged) -> None:
    text = DoubtedText(paged(["人依&KR0058;之"]), language)
    assert text.readings([Doubt(0, 0, 2, "&KR0058;", "託", (("託", 0.9),))]) == [None]
