"""A project's own font draws what the recogniser was not taught; each character is drawn and read once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from proof.checking.drawn_forms import drawn_forms
from proof.facsimile.fonts import find_faces
from proof.ocr.belief import Belief
from proof.ocr.drawn import DrawnReadings
from proof.ocr.engine import Pixels, Reading
from proof.ocr.ppocr import PPOCR
from proof.settings.config import Settings
from proof.store import Store
from proof.text.encoding import Decoded
from proof.text.model import Script
from proof.text.read import parse_transcription
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy
from proof.verify.glyphs import Glyph
from proof.verify.likeness import WordLikeness


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'proof.sqlite'}") as opened:
        yield opened


@pytest.fixture
def settings() -> Settings:
    return Settings().replace({"engine.font": find_faces()[0].path})


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Pixels]:
    """The strips that the recogniser is shown."""
    shown: list[Pixels] = []
    real = PPOCR.read

    def counted(self: PPOCR, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        shown.extend(strips)
        return real(self, strips, sought)

    monkeypatch.setattr(PPOCR, "read", counted)
    return shown


def text_of(characters: str) -> Transcription:
    return parse_transcription(Decoded(f"<pb:KR9z9999_WYG_001-1a>¶\n{characters}¶\n", "utf-8", False), Path("a.txt"))


def test_what_the_recogniser_was_not_taught_is_drawn_and_read_once(
    ppocr: PPOCR, store: Store, settings: Settings, read: list[Pixels]
) -> None:
    known = drawn_forms(settings, ppocr, [text_of("大楅夫")], store.cache)
    assert known is not None
    assert [chr(code) for code in known.codes.tolist()] == ["楅"]
    assert known.readings("楅")[0][0] == "福"
    assert len(read) == 1
    again = drawn_forms(settings, ppocr, [text_of("楅大大")], store.cache)
    assert again is not None
    assert again.readings("楅") == known.readings("楅")
    assert len(read) == 1
    more = drawn_forms(settings, ppocr, [text_of("楅弣")], store.cache)
    assert more is not None
    assert (more.readings("楅")[0][0], more.readings("弣")[0][0]) == ("福", "附")
    assert len(read) == 2


def test_without_a_font_nothing_is_drawn(ppocr: PPOCR, store: Store, read: list[Pixels]) -> None:
    assert drawn_forms(Settings(), ppocr, [text_of("楅")], store.cache) is None
    assert read == []


def test_what_the_font_showed_is_what_is_expected_of_the_character(ppocr: PPOCR) -> None:
    """Of a rare character that neither the recogniser nor the list that comes with the program knows."""
    rare = "\U00031350"
    policy = VariantPolicy(Script.TRADITIONAL)
    glyph = Glyph(Belief({"大": -0.05}), 1.0, 0, text_of("大").pages[0].columns[0].cells[0].row, 0, 0, 9, 9, 4, 9)
    drawn = DrawnReadings.of(ppocr.identity.checksum, {rare: {"大": 0.9}})
    assert WordLikeness(policy, ppocr)(rare, glyph) is None
    likely = WordLikeness(policy, ppocr, drawn)(rare, glyph)
    assert likely is not None
    assert likely > -0.3
    assert WordLikeness(policy, ppocr, drawn).drawn_as(rare) == ("大",)
