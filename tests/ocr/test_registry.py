"""The engines by name: which can run here, why one cannot, and how they are opened."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from proof.errors import EngineError, UsageError
from proof.ocr import models, registry
from proof.ocr.null import NullEngine
from proof.ocr.paddle import PaddlePages, PaddleRecogniser
from proof.ocr.ppocr import PPOCR
from proof.ocr.registry import EngineSettings, availability, names, open_engine, open_page_engine

pytestmark = pytest.mark.usefixtures("from_scratch")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model folders are made in a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_every_engine_can_run_here() -> None:
    assert names() == ("ppocr", "paddleocr", "readings", "null")
    assert names()[0] == EngineSettings().name
    for each in availability():
        assert each.available, each.message
        assert each.message == f"{each.name}: available"


def of_paddleocr() -> str:
    """What is said of whether that engine can run."""
    [message] = [each.message for each in availability() if each.name == "paddleocr"]
    return message


def test_a_missing_package_or_one_of_another_version_is_named_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find, version = importlib.util.find_spec, metadata.version
    install = "pip install 'hanproof[paddleocr]'"
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None if name == "paddlex" else find(name))
        assert of_paddleocr() == f"paddleocr: the package paddlex is not installed; {install}"
        with pytest.raises(EngineError, match="the package paddlex is not installed"):
            open_engine(EngineSettings("paddleocr"))
    monkeypatch.setattr(metadata, "version", lambda name: "4.0rc1" if name == "paddleocr" else version(name))
    other = "paddleocr 4.0rc1 is installed, but 3.7 is needed"
    assert of_paddleocr() == f"paddleocr: {other}; {install}"


def test_without_the_packaged_models_an_engine_runs_only_with_one_that_the_user_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = models.packaged_model(models.ModelTask.RECOGNITION)
    monkeypatch.setattr(registry, "find_packaged", lambda _: None)
    by_name = {each.name: each for each in availability()}
    for name in ("ppocr", "paddleocr"):
        assert "the PP-OCRv6 rec model is not installed" in by_name[name].message
        assert "pip install" in by_name[name].message
        assert open_engine(EngineSettings(name, model=str(model))).identity.model == model.stem


def test_engines_are_opened_with_their_settings() -> None:
    assert isinstance(open_engine(EngineSettings()), PPOCR)
    assert isinstance(open_engine(EngineSettings("null")), NullEngine)
    assert isinstance(open_engine(EngineSettings("paddleocr", threads=2)), PaddleRecogniser)
    assert isinstance(open_page_engine(EngineSettings("paddleocr")), PaddlePages)


def test_what_an_engine_cannot_do_is_said() -> None:
    with pytest.raises(UsageError, match="unknown engine 'tesseract': choose one of ppocr, paddleocr"):
        open_engine(EngineSettings("tesseract"))
    with pytest.raises(UsageError, match="ppocr reads strips, not whole pages: choose paddleocr"):
        open_page_engine(EngineSettings("ppocr"))
    with pytest.raises(UsageError, match="readings needs a folder of readings"):
        open_engine(EngineSettings("readings"))


TOY_ENGINE = """
from proof.ocr.registry import EngineEntry
from proof.ocr.null import NullEngine

ENGINE = EngineEntry("reads nothing, from elsewhere", lambda settings, known, kept: NullEngine())
"""


def _proof(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program, where a distribution in the folder adds an engine and one that cannot be imported."""
    (folder / "toy_engine.py").write_text(TOY_ENGINE, encoding="utf-8")
    info = folder / "toy_engine-1.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-engine\nVersion: 1\n", encoding="utf-8")
    points = "[hanproof.engines]\ntoy = toy_engine:ENGINE\nlost = elsewhere:ENGINE\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "proof", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)  # noqa: S603


def test_a_distribution_adds_an_engine_by_an_entry_point(tmp_path: Path) -> None:
    listed = _proof(tmp_path, "engines")
    assert listed.returncode == 0
    assert "toy        reads nothing, from elsewhere\n           available\n" in listed.stdout
    assert "lost       installed as elsewhere:ENGINE\n           not available: the package elsewhere" in listed.stdout
    (tmp_path / "text.txt").write_text("<pb:KR9x0001_SIM_001-1a>¶\n射人告具于公¶\n", encoding="utf-8")
    assert _proof(tmp_path, "check", "text.txt", "--engine", "toy").returncode == 0
