"""What the language model says of places of a text."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proof.language.evidence import ContextScores, TextTokens
from proof.language.findings import PagePosition, evidence, flag_of
from proof.language.look_alikes import Folding, LookAlikes
from proof.language.model import LanguageModel, learn
from proof.language.ngrams import AFTER, BEFORE, PATTERNS, pair_keys
from proof.language.stream import stream_of
from proof.language.weights import LanguageWeights
from proof.model.flags import Kind
from proof.text.transcription import Transcription
from tests.language.conftest import Paged

FILLER = "夫學者貴乎知道而行之"
LETTERS = "仰觀俯察近取遠求風行草偃雲從龍虎"
EVERY_ONE = [(1, 1, 1)] * len(PATTERNS)
"""What was met once is learned, too."""


def findings_in(
    text: object, language: LanguageModel, pages: set[PagePosition] | None = None
) -> list[tuple[int, str, str]]:
    findings = evidence([text], language, LanguageWeights.shipped(), pages)  # type: ignore[list-item]
    return [(finding.where.page, finding.transcribed, finding.suggested) for finding in findings]


def tokens_of(*texts: Transcription) -> TextTokens:
    return TextTokens.of([stream_of(text) for text in texts], Folding(LookAlikes.shipped()))


def met_at(tokens: TextTokens, character: str, language: LanguageModel) -> tuple[Any, Any]:
    """The candidates where a character stands (any that has look-alikes for ''), and how often each was met there."""
    shipped = LookAlikes.shipped()
    places = np.flatnonzero(tokens.raw == ord(character)) if character else shipped.places(tokens.raw)
    candidates = shipped.of(tokens.raw[places])
    _, met = next(ContextScores(tokens, language, LanguageWeights.shipped()).counts(places, candidates))
    return candidates, met


def saved(model: LanguageModel, path: Path) -> LanguageModel:
    """The model as it comes back from its file."""
    file = io.BytesIO()
    model.write(file)
    path.write_bytes(file.getvalue())
    return LanguageModel.load(path)


def passage(last: str, word: str = "") -> list[str]:
    """Two hundred pages in changing company, and one that reads otherwise."""
    pages = [f"{LETTERS[n % 16]}{LETTERS[n * 5 % 16]}{FILLER[n % 10]}{word}{LETTERS[n * 3 % 16]}" for n in range(200)]
    return [*pages, last]


def test_the_language_model_speaks_for_what_the_language_has(learned: LanguageModel, paged: Paged) -> None:
    text = paged([FILLER, "十月已丑朔日食"])
    finding = next(
        finding for finding in evidence([text], learned, LanguageWeights.shipped()) if finding.where.page == 1
    )
    assert (finding.transcribed, finding.suggested, finding.column, finding.offset) == ("已", "己", 0, 2)
    assert finding.odds > 3
    assert finding.reading.suggested_count > finding.reading.transcribed_count == 0
    assert finding.reading.suggested.replace("己", "已") == finding.reading.transcribed
    assert findings_in(paged(["十月己丑朔日食", "事已而歸"]), learned) == [], "where the text agrees"


def test_pages_that_are_not_asked_for_have_no_findings(learned: LanguageModel, paged: Paged) -> None:
    text = paged(["十月已丑朔日食", FILLER, "二月已丑朔日食"])
    assert {page for page, _, _ in findings_in(text, learned)} == {0, 2}
    assert {page for page, _, _ in findings_in(text, learned, {PagePosition(0, 2)})} == {2}


def test_other_pages_of_the_text_speak_and_are_named(learned: LanguageModel, paged: Paged) -> None:
    text = paged([f"{LETTERS[n]}{LETTERS[-n - 1]}大傳曰{LETTERS[n]}" for n in range(12)] + ["仰大傅曰觀"])
    findings = [finding for finding in evidence([text], learned, LanguageWeights.shipped()) if finding.where.page == 12]
    assert [(finding.transcribed, finding.suggested) for finding in findings] == [("傅", "傳")]
    assert findings[0].reading.suggested_count == 12
    assert findings[0].reading.places[0] == "KR9z9999_WYG_001-1a"


def test_a_page_is_never_its_own_witness(learned: LanguageModel, paged: Paged) -> None:
    _, met = met_at(tokens_of(paged(["大傳曰大傳曰大傳曰", FILLER])), "傳", learned)
    assert met.text.sum() == 0


def test_what_the_other_pages_say_is_counted_to_the_last_occurrence(learned: LanguageModel, paged: Paged) -> None:
    """Whatever of the text is left out since nobody asks for it."""
    drawn = np.random.default_rng(7)
    tokens = tokens_of(paged(["".join(drawn.choice(list("大傅傳已己曰"), 12)) for _ in range(12)]))
    candidates, met = met_at(tokens, "", learned)
    places = LookAlikes.shipped().places(tokens.raw)
    everywhere = np.flatnonzero(tokens.page >= 0)
    for number, pattern in enumerate(PATTERNS):
        around = np.stack([tokens.folded[everywhere + offset] for offset in pattern], axis=1)
        for at, row, counts in zip(places, candidates, met.text[:, number], strict=True):
            alike = (around == [tokens.folded[at + offset] for offset in pattern]).all(1)
            elsewhere = tokens.raw[everywhere[alike & (tokens.page[everywhere] != tokens.page[at])]]
            assert [int((elsewhere == code).sum()) if code else 0 for code in row] == counts.tolist()
    assert met.text.any()


def test_a_text_that_was_learned_is_taken_off_its_counts(paged: Paged) -> None:
    text = paged(passage("孤月照己影", "大傳曰"))
    language = learn([stream_of(text)], ["the same"], min_counts=EVERY_ONE)
    tokens = tokens_of(text)
    assert language.learned(tokens.folded)[300:-300].all()
    assert met_at(tokens, "己", language)[1].language.sum() == 0


@pytest.mark.parametrize(("copied", "witnesses"), [("己", 0), ("已", 1)])
def test_a_copy_in_the_same_check_is_a_witness_where_it_reads_otherwise_alone(
    copied: str, witnesses: int, learned: LanguageModel, paged: Paged
) -> None:
    drawn = np.random.default_rng(3)
    pages = ["".join(drawn.choice(list(LETTERS + FILLER), 20)) for _ in range(60)]
    tokens = tokens_of(*(paged([*pages, f"夫學者貴孤月照{copy}影落寒江乎"]) for copy in ("己", copied)))
    candidates, met = met_at(tokens, "己", learned)
    own_counts, other_counts = (met.text[0, :, candidates[0].tolist().index(ord(character))] for character in "己已")
    assert own_counts.sum() == 0
    assert (other_counts == witnesses).all()


def test_findings_become_flags_that_name_their_channel(learned: LanguageModel, paged: Paged) -> None:
    text = paged(["十月已丑朔日食"])
    flag = flag_of(text.pages[0], "", evidence([text], learned, LanguageWeights.shipped())[0], 3.0)
    assert (flag.kind, flag.line, flag.offset, flag.length) == (Kind.SUBSTITUTION, 1, 2, 1)
    assert flag.context == "十月[已]丑朔日"
    assert flag.raised
    record = flag.as_dict()["evidence"]
    assert record["reason"] == "language"
    assert record["language"]["suggested_count"] > record["language"]["transcribed_count"]


def test_a_model_comes_back_from_its_file(learned: LanguageModel, tmp_path: Path) -> None:
    back = saved(learned, tmp_path / "language.npz")
    assert back.counts.keys.tolist() == learned.counts.keys.tolist()
    assert back.character_counts.tolist() == learned.character_counts.tolist()
    assert back.learned_runs.tolist() == learned.learned_runs.tolist()
    assert back.sources == ("made",)


def test_what_was_met_once_in_a_text_beside_and_nowhere_else_is_not_kept(paged: Paged) -> None:
    main, beside = [stream_of(paged(["孤月己影雲"]))], [stream_of(paged(["孤月己丑事已歸事已歸"]))]
    small = learn(main, ["made"], min_counts=EVERY_ONE, beside=beside)

    def met(first: str, second: str, pattern: int = BEFORE) -> int:
        """How often the second stood behind the first, or before it."""
        folded = Folding(LookAlikes.shipped())(np.array([ord(first)], np.uint32))
        return int(small.of_keys(pattern, pair_keys(folded, np.array([ord(second)], np.uint32), pattern))[0])

    assert met("月", "己") == 2, "once in either"
    assert met("事", "已") == 2, "twice beside"
    assert met("影", "己", AFTER) == 1
    assert met("丑", "己", AFTER) == 0
