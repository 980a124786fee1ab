"""Model folders: made once of a packaged ONNX file, mended when damaged, or the user's own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from proof.errors import EngineError
from proof.ocr.models import ModelTask, cache_folder, dictionary, model_folder, packaged_model
from tests.conftest import PATIENCE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_folder(
        packaged_model(ModelTask.RECOGNITION), ModelTask.RECOGNITION, tmp_path_factory.mktemp("cache")
    ).path


def own_folder(path: Path, model: bytes = b"weights", name: str = "some_rec", characters: str = "天地") -> Path:
    path.mkdir()
    (path / "inference.onnx").write_bytes(model)
    settings = {"Global": {"model_name": name}, "PostProcess": {"character_dict": list(characters)}}
    (path / "inference.yml").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
    return path


def test_the_packaged_models_are_those_of_pp_ocr_v6() -> None:
    assert packaged_model(ModelTask.RECOGNITION).name == "PP-OCRv6_rec_small.onnx"
    assert packaged_model(ModelTask.DETECTION).name == "PP-OCRv6_det_small.onnx"


def test_a_made_folder_holds_the_model_unchanged_and_its_whole_dictionary(tmp_path: Path) -> None:
    packaged = packaged_model(ModelTask.RECOGNITION)

    folder = model_folder(packaged, ModelTask.RECOGNITION, tmp_path)

    assert (folder.path / "inference.onnx").read_bytes() == packaged.read_bytes()
    characters = dictionary(folder)
    assert len(characters) == len(set(characters)) == 18_708
    assert {"天", "侯", "〇", "1", "~", "🛁"} <= set(characters)
    assert not {"葢", "𫝊"} & set(characters)
    assert all(len(character) == 1 for character in characters)


def test_a_dictionary_reads_the_same_through_either_of_yamls_loaders(made: Path) -> None:
    text = (made / "inference.yml").read_text(encoding="utf-8")
    assert yaml.load(text, yaml.SafeLoader) == yaml.load(text, yaml.CSafeLoader)


def test_the_checksum_of_a_single_file_is_its_sha256(tmp_path: Path) -> None:
    packaged = packaged_model(ModelTask.DETECTION)
    folder = model_folder(packaged, ModelTask.DETECTION, tmp_path)
    assert folder.checksum == hashlib.sha256(packaged.read_bytes()).hexdigest()
    assert folder.title == "PP-OCRv6_det_small"


def test_a_folder_is_made_once(tmp_path: Path) -> None:
    first = model_folder(packaged_model(ModelTask.DETECTION), ModelTask.DETECTION, tmp_path)
    before = {file.name: file.stat().st_mtime_ns for file in first.path.iterdir()}
    second = model_folder(packaged_model(ModelTask.DETECTION), ModelTask.DETECTION, tmp_path)
    assert second == first
    assert {file.name: file.stat().st_mtime_ns for file in second.path.iterdir()} == before


@pytest.mark.parametrize("damage", ["weights cut short", "weights gone", "settings empty", "settings gone"])
def test_a_damaged_folder_is_mended(tmp_path: Path, damage: str) -> None:
    packaged = packaged_model(ModelTask.DETECTION)
    folder = model_folder(packaged, ModelTask.DETECTION, tmp_path)
    settings = (folder.path / "inference.yml").read_bytes()
    damaged = folder.path / ("inference.onnx" if damage.startswith("weights") else "inference.yml")
    damaged.unlink()
    if not damage.endswith("gone"):
        damaged.write_bytes(packaged.read_bytes()[:1000] if damage.startswith("weights") else b"")

    model_folder(packaged, ModelTask.DETECTION, tmp_path)

    assert (folder.path / "inference.onnx").read_bytes() == packaged.read_bytes()
    assert (folder.path / "inference.yml").read_bytes() == settings
    assert packaged.stat().st_size > 1000, "mending writes a file of its own, never into the package"


def test_several_processes_may_make_a_folder_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from proof.ocr.models import *;"
        "sys.stdin.read();"  # all wait for the same moment
        "print(model_folder(packaged_model(ModelTask.RECOGNITION), ModelTask.RECOGNITION, Path(sys.argv[1])))"
    )
    processes = [
        subprocess.Popen(  # noqa: S603 - this interpreter
            [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.close()
    printed = [process.stdout.read() for process in processes if process.stdout]

    assert [process.wait(PATIENCE) for process in processes] == [0, 0, 0, 0]
    assert len(set(printed)) == 1
    (folder,) = (tmp_path / "models").iterdir()
    assert {file.name for file in folder.iterdir()} == {"inference.onnx", "inference.yml"}


def test_a_folder_of_the_users_own_is_taken_as_it_is(tmp_path: Path) -> None:
    own = own_folder(tmp_path / "my model", name="PP-OCRv5_server_rec")
    folder = model_folder(own, ModelTask.RECOGNITION, tmp_path / "cache")
    assert (folder.path, folder.name, dictionary(folder)) == (own, "PP-OCRv5_server_rec", ("天", "地"))
    assert not (tmp_path / "cache").exists()


def test_another_dictionary_is_another_model(tmp_path: Path) -> None:
    one = model_folder(own_folder(tmp_path / "one", characters="天地"), ModelTask.RECOGNITION)
    other = model_folder(own_folder(tmp_path / "other", characters="天也"), ModelTask.RECOGNITION)
    assert one.checksum != other.checksum


def test_what_is_no_model_is_named_with_what_to_do(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    empty = tmp_path / "empty"
    empty.mkdir()
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "inference.onnx").write_bytes(b"weights")
    broken = own_folder(tmp_path / "broken")
    (broken / "inference.yml").write_text("Global: [", encoding="utf-8")
    listed = own_folder(tmp_path / "listed")
    (listed / "inference.yml").write_text("- a\n- b\n", encoding="utf-8")
    nameless = own_folder(tmp_path / "nameless")
    (nameless / "inference.yml").write_text("Global: {}\n", encoding="utf-8")
    text = tmp_path / "text.onnx"
    text.write_text("not a model")
    cases = {
        missing: "no such model",
        empty: "paddle2onnx",
        alone: "no inference.yml",
        broken: "cannot be read",
        listed: "not the settings of a model",
        nameless: "no model_name",
        text: "not an ONNX model",
        packaged_model(ModelTask.DETECTION): "carries no character dictionary",
    }
    for path, expected in cases.items():
        with pytest.raises(EngineError) as raised:
            model_folder(path, ModelTask.RECOGNITION, tmp_path / "cache")
        assert str(path) in str(raised.value)
        assert expected in str(raised.value)


def test_a_detector_has_no_dictionary(tmp_path: Path) -> None:
    folder = model_folder(packaged_model(ModelTask.DETECTION), ModelTask.DETECTION, tmp_path)
    with pytest.raises(EngineError, match="not a text recogniser"):
        dictionary(folder)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(EngineError, match=r"cache.*XDG_CACHE_HOME"):
        model_folder(packaged_model(ModelTask.DETECTION), ModelTask.DETECTION, tmp_path / "cache")


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "proof"
    if os.name == "posix":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache_folder() == tmp_path / ".cache" / "proof"
