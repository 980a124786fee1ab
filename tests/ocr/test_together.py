"""Strips that an engine is given together, as a GPU likes them: what is read and flagged is that of one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proof.checking.pipeline import check
from proof.errors import EngineError, UsageError
from proof.ocr.engine import Engine
from proof.ocr.network import gpu_of
from proof.ocr.ppocr import PPOCR
from proof.ocr.registry import EngineSettings, open_engine
from proof.settings.config import Settings
from tests.sample import lay_out


def flags_of(folder: Path, engine: Engine) -> list[dict[str, Any]]:
    """The flags of the sample as this engine reads it."""
    lay_out(folder, 1)
    given = {"project.texts": [folder / "text.txt"], "project.images": [folder / "images"]}
    settings = Settings().replace(
        {**given, "project.out": folder / "out", "store.url": f"sqlite:///{folder / 'proof.sqlite'}"}
    )
    check(settings, opened=lambda *_: engine)
    lines = (settings.project.out / "flags.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def told(flags: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What of flags is the same however numbers are rounded."""
    names = ("id", "page", "line", "offset", "kind", "transcribed", "suggested", "raised")
    return [tuple(flag[name] for name in names) for flag in flags]


@pytest.mark.engine
@pytest.mark.usefixtures("from_scratch")
def test_what_is_read_together_is_flagged_as_one_by_one(tmp_path: Path) -> None:
    together, alone = PPOCR(), PPOCR()
    together.at_once = 8
    found, expected = flags_of(tmp_path / "together", together), flags_of(tmp_path / "alone", alone)
    assert told(found) == told(expected)
    assert [flag["score"] for flag in found] == pytest.approx([flag["score"] for flag in expected], abs=0.01)


@pytest.mark.engine
def test_flags_by_a_gpu_are_those_of_the_cpu(tmp_path: Path) -> None:
    try:
        gpu_of("gpu")
    except EngineError as error:
        pytest.skip(str(error))
    settings = EngineSettings(device="gpu")
    found, expected = flags_of(tmp_path / "gpu", open_engine(settings)), flags_of(tmp_path / "cpu", PPOCR())
    assert told(found) == told(expected)
    assert [flag["score"] for flag in found] == pytest.approx([flag["score"] for flag in expected], abs=0.05)


@pytest.mark.parametrize("engine", ["ppocr", "paddleocr"])
def test_a_device_of_another_name_is_refused(engine: str) -> None:
    with pytest.raises(UsageError, match="'tpu': give cpu, gpu or gpu:<number>"):
        open_engine(EngineSettings(engine, device="tpu"))
    assert gpu_of("cpu") is None
