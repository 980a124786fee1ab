"""The language model beside images: what it adds to the flags of pages, and what it says where these do not tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from proof.checking.engine_bias import EngineBias
from proof.checking.flag_language import FlagLanguage
from proof.checking.language_alone import with_language
from proof.checking.plan import PageTask
from proof.checking.rescoring import rescored
from proof.language.findings import LanguageEvidence, PagePosition
from proof.language.model import ModelFile
from proof.model.flags import LANGUAGE, Evidence, Flag, LanguageReading, with_ids
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedCharacter, PageResult, Status
from proof.settings.config import FlagsSection, Settings
from proof.store import PagePlace, Store
from proof.text.encoding import Decoded
from proof.text.model import Row
from proof.text.read import parse_transcription
from proof.text.transcription import Transcription
from tests import build

COLUMNS = ("書之時代故此書雖宋人所揖而列於漢代之中後皆倣北", "十二月已丑朔日有食之")
PAGE = "KR9z9999_WYG_001-1a"
TEXT = f"<pb:{PAGE}>¶\n" + "".join(f"{column}¶\n" for column in COLUMNS)
THRESHOLD = FlagsSection().threshold


@pytest.fixture
def text() -> Transcription:
    return parse_transcription(Decoded(TEXT, "utf-8", False), Path("made.txt"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'proof.sqlite'}") as opened:
        yield opened


def language_of(
    text: Transcription, store: Store, evidence: tuple[LanguageEvidence, ...] = (), settings: Settings | None = None
) -> FlagLanguage:
    given = settings or Settings()
    task = PageTask(text, 0, PagePlace(0, "made.txt", "", ""), None, None, language=evidence)
    return FlagLanguage(given, [task], store.cache)


def flag(line: int, at: int, suggested: str, score: float, chance: float = 0.64) -> Flag:
    source = COLUMNS[line - 1]
    spoken = Evidence("posterior", p_text=0.02, p_best=chance, alternatives=((suggested, chance), (source[at], 0.02)))
    values = {"score": score, "raised": score >= THRESHOLD, "evidence": spoken, "id": ""}
    return build.flag(line, at, source[at], suggested, name=PAGE, source=source, **values)


def heard(flagged: Flag, language: FlagLanguage) -> Flag:
    language.read([flagged])
    return rescored(flagged, EngineBias(), FlagsSection(), None, language)


def test_a_suspicion_is_lifted_where_the_words_around_speak_for_it(text: Transcription, store: Store) -> None:
    """倣此, as so often, where the text has 倣北 and the image leaves it open."""
    suspected = flag(1, 22, "此", THRESHOLD - 0.3)
    heard_flag = heard(suspected, language_of(text, store))
    assert heard_flag.raised
    assert heard_flag.evidence.language is not None
    assert heard_flag.evidence.language.weight > 0
    assert (heard_flag.evidence.language.suggested, heard_flag.evidence.language.transcribed) == ("倣此", "倣北")


def test_beside_a_character_that_is_missing_the_language_model_says_nothing(text: Transcription, store: Store) -> None:
    suspected = flag(1, 22, "此", THRESHOLD)
    evidence = replace(suspected.evidence, notice=Notice.of(NoticeCode.FOR_EITHER))
    language = language_of(text, store)
    assert heard(suspected, language).score > THRESHOLD
    assert heard(replace(suspected, evidence=evidence), language).score == THRESHOLD


def left_open(*shown: tuple[str, float]) -> Flag:
    """北 of 皆倣北, where the image leaves several readings open."""
    suspected = flag(1, 22, shown[0][0], THRESHOLD + 1, shown[0][1])
    return replace(suspected, evidence=replace(suspected.evidence, alternatives=shown))


def test_of_the_readings_of_the_image_the_one_is_suggested_that_the_words_around_make_likeliest(
    text: Transcription, store: Store
) -> None:
    suspected = left_open(("乩", 0.5), ("此", 0.3), ("北", 0.02))
    language = language_of(text, store)
    heard_flag = heard(suspected, language)
    assert (heard_flag.suggested, heard_flag.evidence.p_best) == ("此", 0.3)
    assert heard_flag.evidence.language is not None
    assert heard_flag.evidence.language.suggested == "倣此"
    assert heard_flag.evidence.language.instead_of == ("乩", 0.5)
    assert heard(heard_flag, language) == heard_flag
    assert heard(
        heard_flag, language_of(text, store, settings=Settings().replace({"flags.language_model": False}))
    ) == (suspected)


def test_how_the_engine_reads_a_character_is_learned_from_the_image_alone(text: Transcription, store: Store) -> None:
    suspected = left_open(("乩", 0.5), ("此", 0.3))
    before, after = EngineBias(), EngineBias()
    before.add_flag(suspected)
    after.add_flag(heard(suspected, language_of(text, store)))
    assert before == after


def test_what_was_said_once_is_kept_and_no_model_is_loaded_for_it(
    text: Transcription, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    flagged = flag(1, 22, "此", 2.7)
    before = heard(flagged, language_of(text, store))

    def loaded(self: ModelFile) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(ModelFile, "model", loaded)
    assert heard(flagged, language_of(text, store)) == before


SAID = LanguageEvidence(
    PagePosition(0, 0), 1, 3, "已", "己", 7.5, LanguageReading(7.5, "己丑", 316, "已丑", 2, ("KR9z9999_WYG_002-1a",))
)


def test_between_characters_that_are_written_alike_the_language_model_decides(
    text: Transcription, store: Store
) -> None:
    heard_flag = heard(flag(2, 3, "己", 0.6), language_of(text, store, (SAID,)))
    assert heard_flag.evidence.language is not None
    assert heard_flag.score == pytest.approx(0.6 + 7.5)
    assert heard_flag.evidence.language.suggested_count == 316


def character(p_text: float | None, read: str = "已") -> CheckedCharacter:
    return CheckedCharacter(2, 3, 1, Row.MAIN, "已", Box(10, 20, 30, 40), read, p_text)


def beside(
    text: Transcription, p_text: float | None, *flags: Flag, language_evidence: LanguageEvidence = SAID
) -> PageResult:
    result = PageResult(PAGE, "", Status.CHECKED, characters=(character(p_text),), flags=with_ids(flags))
    return with_language(result, text.pages[0], (language_evidence,), THRESHOLD)


def test_beside_an_image_that_cannot_tell_the_language_model_raises_a_flag(text: Transcription) -> None:
    (raised,) = beside(text, 0.98).flags
    assert raised.raised
    assert raised.evidence.reason == LANGUAGE
    assert (raised.line, raised.offset, raised.transcribed, raised.suggested) == (2, 3, "已", "己")
    assert raised.bbox == Box(10, 20, 30, 40)
    assert raised.id
    assert beside(text, None).flags[0].score == SAID.odds, "an image that is silent leaves it to the language model"


def test_the_flags_of_the_image_keep_their_ids_and_their_places_get_no_other(text: Transcription) -> None:
    (shown,) = beside(text, 0.2, flag(2, 3, "己", 0.6)).flags
    assert (shown.suggested, shown.evidence.reason) == ("己", "posterior")
    elsewhere = flag(1, 22, "此", 2.7)
    result = beside(text, 0.5, elsewhere)
    assert len(result.flags) == 2
    assert result.flags[0] == with_ids([elsewhere])[0]


@pytest.mark.parametrize("status", [Status.MISMATCH, Status.FAILED])
def test_of_a_page_that_was_not_checked_the_language_model_says_nothing(text: Transcription, status: Status) -> None:
    result = PageResult(PAGE, "", status)
    assert with_language(result, text.pages[0], (SAID,), THRESHOLD) == result
