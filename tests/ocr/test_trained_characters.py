"""What a recogniser was taught outlives it, to the last bit, and is asked for again where it is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.ocr.network import Network
from proof.ocr.ppocr import PPOCR
from proof.ocr.trained_characters import TrainedCharacters

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("from_scratch")]


def refused(path: Path, *_: object) -> Network:
    raise AssertionError(f"{path} was loaded")


def test_what_was_asked_once_is_known_without_the_network(ppocr: PPOCR, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, bytes] = {}

    class Kept:
        get, put = kept.get, kept.__setitem__

    measured = PPOCR(kept=Kept()).trained_characters()
    monkeypatch.setattr("proof.ocr.ppocr.open_network", refused)
    from_store = PPOCR(kept=Kept())
    assert from_store.trained_characters().characters == measured.characters == ppocr.trained_characters().characters
    assert from_store.trained_characters().is_trained.tobytes() == measured.is_trained.tobytes()
    assert from_store.knows("射")
    assert not from_store.knows("葢")
    assert from_store.character_of(from_store.class_of("射") or 0) == "射"
    with pytest.raises(AssertionError, match="was loaded"):
        PPOCR().knows("射")


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"", lambda data: b"\0" * 40])
def test_what_is_damaged_is_asked_for_again(ppocr: PPOCR, damage: object) -> None:
    assert callable(damage)
    assert TrainedCharacters.unpacked(damage(ppocr.trained_characters().packed())) is None
