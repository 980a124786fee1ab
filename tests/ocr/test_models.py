"""Model folders: made once of a packaged ONNX file, mended when damaged, or the user's own."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
import yaml

from proof.errors import EngineError
from proof.ocr.models import ModelFolder, ModelTask, cache_folder, dictionary, model_folder, packaged_model

pytestmark = pytest.mark.slow


def made(cache: Path, task: ModelTask = ModelTask.DETECTION) -> ModelFolder:
    """The folder of a packaged model."""
    return model_folder(packaged_model(task), task, cache)


def own_folder(path: Path, settings: str | None = None, characters: str = "天地") -> Path:
    """A folder of the user's own, with these settings or those of a recogniser of these characters."""
    path.mkdir()
    (path / "inference.onnx").write_bytes(b"weights")
    named = {"Global": {"model_name": "some_rec"}, "PostProcess": {"character_dict": list(characters)}}
    written = json.dumps(named, ensure_ascii=False) if settings is None else settings
    (path / "inference.yml").write_text(written, encoding="utf-8")
    return path


def test_a_made_folder_holds_the_model_unchanged_and_its_whole_dictionary(tmp_path: Path) -> None:
    packaged = packaged_model(ModelTask.RECOGNITION)
    folder = made(tmp_path, ModelTask.RECOGNITION)
    assert (packaged.name, folder.title) == ("PP-OCRv6_rec_small.onnx", "PP-OCRv6_rec_small")
    assert (folder.path / "inference.onnx").read_bytes() == packaged.read_bytes()
    assert folder.checksum == hashlib.sha256(packaged.read_bytes()).hexdigest()
    characters = dictionary(folder)
    assert len(characters) == len(set(characters)) == 18_708
    assert {"天", "侯", "〇", "1", "~", "🛁"} <= set(characters)
    assert not {"葢", "𫝊"} & set(characters)
    assert all(len(character) == 1 for character in characters)
    text = (folder.path / "inference.yml").read_text(encoding="utf-8")
    assert tuple(yaml.load(text, yaml.SafeLoader)["PostProcess"]["character_dict"]) == characters


def test_a_folder_is_made_once_and_one_of_a_detector_has_no_dictionary(tmp_path: Path) -> None:
    first = made(tmp_path)
    before = {file.name: file.stat().st_mtime_ns for file in first.path.iterdir()}
    assert made(tmp_path) == first
    assert {file.name: file.stat().st_mtime_ns for file in first.path.iterdir()} == before
    assert first.title == packaged_model(ModelTask.DETECTION).stem == "PP-OCRv6_det_small"
    with pytest.raises(EngineError, match="not a text recogniser"):
        dictionary(first)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("inference.onnx", 1000),
        ("inference.yml", 0),
    ],
)
def test_a_damaged_folder_is_mended(tmp_path: Path, name: str, kept: int | None) -> None:
    """A file that is cut short, empty or gone."""
    packaged = packaged_model(ModelTask.DETECTION)
    folder = made(tmp_path).path
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    (folder / name).unlink()
    if kept is not None:
        (folder / name).write_bytes(whole[name][:kept])
    made(tmp_path)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == whole
    assert packaged.stat().st_size > 1000, "mending writes a file of its own, never into the package"


def test_a_folder_of_the_users_own_is_taken_as_it_is_and_with_another_dictionary_is_another_model(
    tmp_path: Path,
) -> None:
    own = own_folder(tmp_path / "my model")
    folder = model_folder(own, ModelTask.RECOGNITION, tmp_path / "cache")
    assert (folder.path, folder.name, dictionary(folder)) == (own, "some_rec", ("天", "地"))
    assert not (tmp_path / "cache").exists()
    other = model_folder(own_folder(tmp_path / "other", characters="天也"), ModelTask.RECOGNITION)
    assert folder.checksum != other.checksum


def test_what_is_no_model_is_named_with_what_to_do(tmp_path: Path) -> None:
    empty, alone, text = tmp_path / "empty", tmp_path / "alone", tmp_path / "text.onnx"
    empty.mkdir()
    (own_folder(alone) / "inference.yml").unlink()
    text.write_text("not a model")
    cases = {
        tmp_path / "missing": "no such model",
        empty: "paddle2onnx",
        alone: "no inference.yml",
        own_folder(tmp_path / "broken", "Global: ["): "cannot be read",
        own_folder(tmp_path / "listed", "- a\n- b\n"): "not the settings of a model",
        own_folder(tmp_path / "nameless", "Global: {}\n"): "no model_name",
        text: "not an ONNX model",
        packaged_model(ModelTask.DETECTION): "has no character dictionary",
    }
    for path, expected in cases.items():
        with pytest.raises(EngineError) as raised:
            model_folder(path, ModelTask.RECOGNITION, tmp_path / "cache")
        assert str(path) in str(raised.value)
        assert expected in str(raised.value)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(EngineError, match=r"cache.*XDG_CACHE_HOME"):
        made(tmp_path / "cache")


def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "proof"
    if os.name == "posix":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cache_folder() == tmp_path / ".cache" / "proof"
