"""The engines by name: which can run here, why one cannot, and how they are opened."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from proof.errors import EngineError, UsageError
from proof.ocr import models, registry
from proof.ocr.paddle import PaddlePages, PaddleRecogniser
from proof.ocr.ppocr import PPOCR
from proof.ocr.registry import EngineSettings, availability, names, open_engine, open_page_engine
from proof.ocr.replay import NullEngine, ReplayEngine, record

pytestmark = pytest.mark.usefixtures("from_scratch")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model folders are made in a cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_every_engine_can_run_here() -> None:
    assert names() == ("ppocr", "paddleocr", "readings", "replay", "null")
    assert names()[0] == EngineSettings().name
    for each in availability():
        assert each.available, each.message
        assert each.message == f"{each.name}: available"


def test_whether_an_engine_can_run_is_told_without_importing_it() -> None:
    program = (
        "import sys; from proof.ocr import registry; registry.availability();"
        "print(sorted({'cv2', 'onnxruntime', 'paddleocr', 'paddlex', 'yaml'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "paddlex" else find(name))
    by_name = {each.name: each for each in availability()}
    assert by_name["ppocr"].available
    assert by_name["paddleocr"].message == (
        "paddleocr: the package paddlex is not installed; pip install 'hanproof[paddleocr]'"
    )
    with pytest.raises(EngineError, match="the package paddlex is not installed"):
        open_engine(EngineSettings("paddleocr"))


def test_another_version_than_the_engine_was_made_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    version = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "4.0rc1" if name == "paddleocr" else version(name))
    by_name = {each.name: each for each in availability()}
    assert by_name["paddleocr"].message == (
        "paddleocr: paddleocr 4.0rc1 is installed, which it was not made for; pip install 'hanproof[paddleocr]'"
    )


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


def test_engines_are_opened_with_their_settings(tmp_path: Path) -> None:
    recording = tmp_path / "recording.npz"
    with record(NullEngine(), recording) as engine:
        engine.read([np.zeros((5, 5), np.uint8)])
    assert isinstance(open_engine(EngineSettings()), PPOCR)
    assert isinstance(open_engine(EngineSettings("null")), NullEngine)
    assert isinstance(open_engine(EngineSettings("replay", recording=recording)), ReplayEngine)
    paddle = open_engine(EngineSettings("paddleocr", threads=2, device="gpu:1"))
    assert isinstance(paddle, PaddleRecogniser)
    assert (paddle.settings.threads, paddle.settings.device) == (2, "gpu:1")
    assert isinstance(open_page_engine(EngineSettings("paddleocr")), PaddlePages)


def test_what_an_engine_cannot_do_is_said() -> None:
    with pytest.raises(UsageError, match="unknown engine 'tesseract': choose one of ppocr, paddleocr"):
        open_engine(EngineSettings("tesseract"))
    with pytest.raises(UsageError, match="ppocr reads strips, not whole pages: choose paddleocr"):
        open_page_engine(EngineSettings("ppocr"))
    with pytest.raises(UsageError, match="replay needs a recording"):
        open_engine(EngineSettings("replay"))


TOY_ENGINE = """
from proof.ocr.registry import EngineEntry
from proof.ocr.replay import NullEngine

ENGINE = EngineEntry("reads nothing, from elsewhere", lambda settings, known, kept: NullEngine())
"""


def _installed(folder: Path, *points: str) -> dict[str, str]:
    """A distribution with entry points of the engines in a folder, and the environment in which it is installed."""
    (folder / "toy_engine.py").write_text(TOY_ENGINE, encoding="utf-8")
    info = folder / "toy_engine-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-engine\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("\n".join(["[hanproof.engines]", *points]), encoding="utf-8")
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}


def _python(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603


def _proof(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return _python(environment, "-m", "proof", *arguments)


def test_a_distribution_adds_an_engine_by_an_entry_point(tmp_path: Path) -> None:
    environment = _installed(tmp_path, "toy = toy_engine:ENGINE")
    listed = _proof(environment, "engines").stdout
    assert "toy        reads nothing, from elsewhere\n           available\n" in listed
    text = Path(__file__).parents[2] / "pages/dasheyi.txt"
    opened = "from proof.ocr.registry import EngineSettings, open_engine; open_engine(EngineSettings('toy'))"
    assert _python(environment, "-c", opened).returncode == 0
    refused = _proof(environment, "check", "--engine", "tory", "--out", str(tmp_path / "out"), str(text))
    assert refused.returncode == 2
    assert "must be ppocr or paddleocr or readings or replay or null or toy" in refused.stderr
    assert "did you mean toy?" in refused.stderr


def test_an_engine_that_cannot_be_imported_is_listed_with_what_is_missing(tmp_path: Path) -> None:
    environment = _installed(tmp_path, "lost = elsewhere:ENGINE")
    listed = _proof(environment, "engines")
    assert listed.returncode == 0
    assert "lost       installed as elsewhere:ENGINE\n           not available: the package elsewhere" in listed.stdout
