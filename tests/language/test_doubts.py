"""What the language model says where the image speaks against the text, of any character."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
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


def test_in_a_passage_that_the_language_does_not_know_it_is_heard_less(said: Said, paged: Paged) -> None:
    """北狄 is common; but what stands around it here was never met: foreign names, say."""
    columns = [COMPANY[n % 7 :] + "北狄" + COMPANY[: n % 5] for n in range(40)]
    model = learn([stream_of(paged(columns))], ["made"])
    known = odds(said(COMPANY[:6] + "北託" + COMPANY[6:12], 7, "狄", model=model))
    assert 0 <= odds(said("禜弆繙覯蒐纂北託攥祗幅禜弆繙", 7, "狄", model=model)) < 0.2 * known


@pytest.mark.parametrize("text", ["孤珍弃資", "孤珍弃資珍弆資珍弆資"], ids=["never met", "met on its own page alone"])
def test_of_what_was_never_met_elsewhere_it_says_nothing(said: Said, text: str) -> None:
    assert said(text, 2, "弆") is None


def test_a_rare_word_is_no_error(said: Said, paged: Paged) -> None:
    """月榮 stands as often as chance lets two such characters meet; 月禜 never does, and need not, so rare is 禜."""
    rng = np.random.default_rng(1)
    columns = ["".join(rng.choice([*COMPANY, *"榮" * 4, *"月" * 12], 20)) for _ in range(400)]
    told = said("人月禜之", 2, "榮", model=learn([stream_of(paged([*columns, "孤禜影"]))], ["made"]))
    assert told is not None
    assert told.suggested_count > 50
    assert abs(told.odds) < 2.5


def test_all_that_the_image_may_show_is_weighed(said: Said) -> None:
    """Where the likeliest reading is no better than what is transcribed, another may be."""
    assert said("人依北之", 2, "許") is None
    beside = said("人依北之", 2, "許", {"許": 0.5, "託": 0.4})
    assert beside is not None
    assert beside.odds > 0
    assert beside.suggested == "依託"


def test_the_other_pages_of_a_text_are_heard(language: LanguageModel, paged: Paged) -> None:
    made = paged(["孤珍弃資", "珍弆資", "珍弆資"])
    told = DoubtedText(made, language).readings([Doubt(0, 0, 2, "弃", "弆", (("弆", 0.9),))])[0]
    assert told is not None
    assert told.odds > 1
    assert (told.suggested, told.suggested_count) == ("珍弆", 2)


def test_a_text_that_was_learned_is_no_witness_of_its_own_errors(paged: Paged) -> None:
    rng = np.random.default_rng(1)
    text = paged([*("".join(rng.choice(list(COMPANY), 12)) for _ in range(200)), "孤珍弃資"])
    model = learn([stream_of(text)], ["the same"], others=1)
    assert DoubtedText(text, model).readings([Doubt(200, 0, 2, "弃", "弆", (("弆", 0.9),))]) == [None]


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


@pytest.mark.parametrize("place", [(0, 0, 9), (0, 3, 0), (7, 0, 0)])
def test_a_place_that_the_text_does_not_have_says_nothing(
    place: tuple[int, int, int], language: LanguageModel, paged: Paged
) -> None:
    asked = Doubt(*place, "託", "北", (("北", 0.9),))
    assert DoubtedText(paged(["人依託之"]), language).readings([asked]) == [None]


def test_what_is_no_single_character_is_not_asked_about(language: LanguageModel, paged: Paged) -> None:
    text = DoubtedText(paged(["人依&KR0058;之"]), language)
    assert text.readings([Doubt(0, 0, 2, "&KR0058;", "託", (("託", 0.9),))]) == [None]
