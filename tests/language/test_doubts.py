"""What the language model says where the image speaks against the text, of any character."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from proof.language.doubts import Doubt, DoubtedText
from proof.language.model import LanguageModel, learn
from proof.language.stream import stream_of
from proof.model.flags import LanguageReading
from proof.text.model import Script
from tests.language.conftest import Paged

COMPANY = "天地玄黃宇宙洪荒盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水"


@pytest.fixture
def language(paged: Paged) -> LanguageModel:
    """A language in which one often leans on what is 依託 and reads 北狄; none of these has look-alikes but 託."""
    columns = [f"{COMPANY[n % 40]}依託{COMPANY[n * 7 % 40]}北狄{COMPANY[n * 3 % 40]}" for n in range(60)]
    return learn([stream_of(paged(columns))], ["made"])


def said(
    text: str,
    at: int,
    suggested: str,
    shown: dict[str, float],
    language: LanguageModel,
    paged: Paged,
    script: Script = Script.TRADITIONAL,
) -> LanguageReading | None:
    made = replace(paged([text]), script=script)
    asked = Doubt(0, 0, at, text[at], suggested, tuple(shown.items()))
    return DoubtedText(made, language).readings([asked])[0]


def test_it_speaks_for_what_stands_with_its_neighbour_elsewhere(language: LanguageModel, paged: Paged) -> None:
    told = said("人依北之", 2, "託", {"託": 0.9}, language, paged)
    assert told is not None
    assert told.odds > 1
    assert (told.suggested, told.transcribed, told.transcribed_count) == ("依託", "依北", 0)
    assert told.suggested_count == 60


def test_it_speaks_for_what_is_transcribed_as_well(language: LanguageModel, paged: Paged) -> None:
    told = said("人依託之", 2, "北", {"北": 0.9}, language, paged)
    assert told is not None
    assert told.odds < -1


def test_in_a_passage_that_the_language_does_not_know_it_is_heard_less(language: LanguageModel, paged: Paged) -> None:
    """北狄 is common; but what stands around it here was never met: foreign names, say."""
    known = said(COMPANY[:6] + "北託" + COMPANY[6:12], 7, "狄", {"狄": 0.9}, learnt(paged), paged)
    strange = said("禜弆繙覯蒐纂北託攥祗幅禜弆繙", 7, "狄", {"狄": 0.9}, learnt(paged), paged)
    assert known is not None
    assert strange is not None
    assert 0 <= strange.odds < 0.2 * known.odds


def learnt(paged: Paged) -> LanguageModel:
    """A language that has the pairs of `COMPANY` in their order, and 北狄 among them."""
    columns = [COMPANY[n % 7 :] + "北狄" + COMPANY[: n % 5] for n in range(40)]
    return learn([stream_of(paged(columns))], ["made"])


def test_of_neighbours_that_were_never_met_it_says_nothing(language: LanguageModel, paged: Paged) -> None:
    assert said("孤珍弃資", 2, "弆", {"弆": 0.9}, language, paged) is None


def test_a_rare_word_is_no_error(paged: Paged) -> None:
    """月榮 stands as often as chance lets two such characters meet; 月禜 never does, and need not, so rare is 禜."""
    rng = np.random.default_rng(1)
    company = [*COMPANY, *"榮" * 4, *"月" * 12]
    columns = ["".join(rng.choice(company, 20)) for _ in range(400)]
    language = learn([stream_of(paged([*columns, "孤禜影"]))], ["made"])
    told = said("人月禜之", 2, "榮", {"榮": 0.9}, language, paged)
    assert told is not None
    assert told.suggested_count > 50
    assert abs(told.odds) < 2.5


def test_all_that_the_image_may_show_is_weighed(language: LanguageModel, paged: Paged) -> None:
    """Where the likeliest reading is no better than what is transcribed, another may be."""
    alone = said("人依北之", 2, "許", {"許": 0.9}, language, paged)
    beside = said("人依北之", 2, "許", {"許": 0.5, "託": 0.4}, language, paged)
    assert alone is None
    assert beside is not None
    assert beside.odds > 0
    assert beside.suggested == "依託"


def test_a_page_is_never_its_own_witness(language: LanguageModel, paged: Paged) -> None:
    assert said("孤珍弃資珍弆資珍弆資", 2, "弆", {"弆": 0.9}, language, paged) is None


def test_the_other_pages_of_a_text_are_heard(language: LanguageModel, paged: Paged) -> None:
    made = paged(["孤珍弃資", "珍弆資", "珍弆資"])
    told = DoubtedText(made, language).readings([Doubt(0, 0, 2, "弃", "弆", (("弆", 0.9),))])[0]
    assert told is not None
    assert told.odds > 1
    assert (told.suggested, told.suggested_count) == ("珍弆", 2)


def test_a_text_that_was_learned_is_no_witness_of_its_own_errors(paged: Paged) -> None:
    rng = np.random.default_rng(1)
    columns = ["".join(rng.choice(list(COMPANY), 12)) for _ in range(200)]
    text = paged([*columns, "孤珍弃資"])
    language = learn([stream_of(text)], ["the same"], others=1)
    assert DoubtedText(text, language).readings([Doubt(200, 0, 2, "弃", "弆", (("弆", 0.9),))]) == [None]


@pytest.mark.parametrize("shown", ["託", "讬"])
@pytest.mark.parametrize(
    ("suggested", "script"), [("讬", Script.SIMPLIFIED), ("托", Script.SIMPLIFIED), ("託", Script.TRADITIONAL)]
)
def test_text_and_image_may_each_be_in_either_script(
    shown: str, suggested: str, script: Script, language: LanguageModel, paged: Paged
) -> None:
    told = said("人依北之", 2, suggested, {shown: 0.9}, language, paged, script)
    alike = said("人依北之", 2, "託", {"託": 0.9}, language, paged)
    assert told == alike


def test_a_simplified_character_is_the_one_of_its_words_that_stands_best_there(
    language: LanguageModel, paged: Paged
) -> None:
    """托 is 托 or 託: 依托 was never met, 依託 often."""
    told = said("人依托之", 2, "北", {"北": 0.9}, language, paged, Script.SIMPLIFIED)
    assert told is not None
    assert told.odds < -1
    assert told.transcribed == "依託"


def test_what_a_simplified_character_stands_for_is_no_other_reading_of_it(
    language: LanguageModel, paged: Paged
) -> None:
    one = said("人依托之", 2, "北", {"北": 0.5, "託": 0.4}, language, paged, Script.SIMPLIFIED)
    assert one == said("人依托之", 2, "北", {"北": 0.5}, language, paged, Script.SIMPLIFIED)


@pytest.mark.parametrize("place", [(0, 0, 9), (0, 3, 0), (7, 0, 0)])
def test_a_place_that_the_text_does_not_have_says_nothing(
    place: tuple[int, int, int], language: LanguageModel, paged: Paged
) -> None:
    asked = Doubt(*place, "託", "北", (("北", 0.9),))
    assert DoubtedText(paged(["人依託之"]), language).readings([asked]) == [None]


def test_what_is_no_single_character_is_not_asked_about(language: LanguageModel, paged: Paged) -> None:
    text = DoubtedText(paged(["人依&KR0058;之"]), language)
    assert text.readings([Doubt(0, 0, 2, "&KR0058;", "託", (("託", 0.9),))]) == [None]
