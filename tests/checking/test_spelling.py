"""Suggestions in the forms that the text uses, from the check to the written text."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.checking.pipeline import check
from proof.cli import main
from proof.facsimile.files import half_folios, write_image
from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import DecisionRequest, Verdict
from proof.text.conversions import simplified_text
from proof.text.read import read_transcription
from tests.checking.test_passages_written import asked
from tests.verify.test_passages import LINES, text_of

MISSING = "餘於西階上"


@pytest.mark.parametrize(
    ("used", "suggested", "others"),
    [
        ("馀馀余于于於", "馀于西阶上", {"余于西阶上", "馀於西阶上", "余於西阶上"}),
        ("余余余于于于", "余于西阶上", set[str]()),
    ],
)
def test_a_missing_passage_is_suggested_and_written_in_the_forms_of_the_text(
    tmp_path: Path, kai: str, used: str, suggested: str, others: set[str]
) -> None:
    text, images = tmp_path / "text.txt", tmp_path / "images"
    images.mkdir()
    lines = [*LINES]
    lines[1], lines[6] = f"　主人北面{MISSING}再拜揖進坐", "　餘餘餘於於於"
    text.write_text(text_of(tuple(lines)), encoding="utf-8")
    ((name, drawn),) = half_folios(read_transcription(text), seed=4)
    write_image(images / f"{name}.png", drawn.image)
    lines = [simplified_text(line) for line in lines]
    lines[1], lines[6] = "　主人北面再拜揖进坐", f"　{used}"
    text.write_text(text_of(tuple(lines)), encoding="utf-8")
    address = f"sqlite:///{tmp_path}/proof.sqlite"
    settings = Settings().replace(
        {"project.texts": [text], "project.images": [images], "project.out": tmp_path / "out", "store.url": address}
    )
    check(settings, None)
    with Store.open(address) as store:
        (asked_flag,) = asked(store)
        (work,) = store.queue.works()
        assert asked_flag.flag.suggested == suggested
        assert set(asked_flag.flag.evidence.spellings) == others
        demand = DecisionRequest(work.name, asked_flag.number, Verdict.TAKE, asked_flag.version, "甲", "request-1")
        store.decisions.decide(demand)
    assert not main(["export", str(text), "--in-place", "--store", address, "--out", str(tmp_path / "out")])
    lines[1] = f"　主人北面{suggested}再拜揖进坐"
    assert text.read_text(encoding="utf-8") == text_of(tuple(lines))
    check(settings, None)
    with Store.open(address) as store:
        assert asked(store) == []
