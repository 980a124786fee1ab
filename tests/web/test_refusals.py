"""What people are refused with is a message of the catalogues, in their language."""

from __future__ import annotations

from pathlib import Path

import pytest

import proof
from proof.errors import EngineError, OutputError, ProofError, TextError
from proof.store import Store
from proof.web import create_app
from tests.web.drawn import WORK, fill, settings_in

PACKAGE = Path(proof.__file__).parent


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (EngineError("/models/rec.onnx: cannot be loaded"), "辨識引擎"),
        (OutputError("/data/proof.sqlite: the disk is full"), "寫"),
        (TextError("/data/text.txt", 3, "has no page"), "文本"),
    ],
)
def test_what_is_wrong_with_the_machine_is_told_in_words_of_the_page(
    tmp_path: Path, error: ProofError, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file and the line are for programs and the log."""
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        fill(store, tmp_path)
        client = create_app(settings, store=store).test_client()

        def fails(*_: object) -> None:
            raise error

        monkeypatch.setattr(store.queue, "works", fails)
        document = client.get("/api/v1/works", headers={"Accept-Language": "zh-Hant"}).json
        assert document is not None
        assert str(error) == document["detail"]
        assert said in document["told"]
        assert "/data" not in document["told"]


def test_a_refusal_is_in_the_language_of_who_asks(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        fill(store, tmp_path)
        client = create_app(settings, store=store).test_client()
        told = {
            language: client.get(f"/api/v1/works/{WORK}/flags/999", headers={"Accept-Language": language}).json["told"]  # type: ignore[index]
            for language in ("en", "zh-Hant", "zh-Hans")
        }
    assert told == {
        "en": f"{WORK}: there is no flag 999",
        "zh-Hant": f"{WORK}：無第 999 號疑誤",
        "zh-Hans": f"{WORK}：无第 999 号疑误",
    }
