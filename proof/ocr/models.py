"""Model files: the packaged ones, those that the user names, and the folders that PaddleX needs.

The PP-OCRv6 models are ONNX files: the recogniser in the package `hanproof_models`, which is installed with this one,
and the detection of lines, which only whole pages need, in `rapidocr`, which the extra `paddleocr` brings. PaddleX
needs a folder with `inference.onnx` and `inference.yml` (pre-processing, post-processing, character dictionary). For
an ONNX file that folder is made once, in the user's cache, with the file's checksum in its name. This module does not
use the network.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from proof.errors import EngineError, os_errors_as
from proof.locale.marking import Sentence, _

WEIGHTS = "inference.onnx"
SETTINGS = "inference.yml"

_FOLDER_VERSION = 1
"""Version of the content of the folders that are made for ONNX files; it is part of their names."""


class ModelTask(StrEnum):
    """The task of a model: recognition of a line, or detection of the lines of a page."""

    RECOGNITION = "rec"
    DETECTION = "det"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that PaddleX can load.

    `name` is PaddleX's name of the architecture, `title` the user's name of the model. `checksum` is the SHA-256 of the
    ONNX file. In a folder of the user it is that of both files one after the other: results depend on the character
    dictionary in `inference.yml` as on the weights.
    """

    path: Path
    name: str
    title: str
    checksum: str


PACKAGES = {ModelTask.RECOGNITION: "hanproof_models", ModelTask.DETECTION: "rapidocr"}
"""The package that holds the model for a task, itself or in its folder `models`."""

GET_PACKAGED = {
    ModelTask.RECOGNITION: Sentence(
        _("pip install --force-reinstall --no-deps hanproof, or `pip install .` in its source")
    ),
    ModelTask.DETECTION: "pip install 'hanproof[paddleocr]'",
}
"""Remedy where the packaged model for a task is missing."""

NO_PACKAGED = {task: Sentence(_("the PP-OCRv6 %(task)s model is not installed"), task=task.value) for task in ModelTask}
"""Message where it is missing."""


def find_packaged(task: ModelTask) -> Path | None:
    """The ONNX file for a task that was installed with the program, or None."""
    spec = importlib.util.find_spec(PACKAGES[task])
    if spec is None or spec.origin is None:
        return None
    name, folder = f"PP-OCRv6_{task.value}_small.onnx", Path(spec.origin).parent
    return next((path for path in (folder / name, folder / "models" / name) if path.is_file()), None)


def packaged_model(task: ModelTask) -> Path:
    """The ONNX file for a task that was installed with the program. Raises EngineError where there is none."""
    if model := find_packaged(task):
        return model
    raise EngineError("%(what)s; %(remedy)s", what=NO_PACKAGED[task], remedy=GET_PACKAGED[task])


CACHE_REMEDY = Sentence(_("set XDG_CACHE_HOME to a folder that can be written"))
"""Remedy where the user's cache cannot be found or written."""


def cache_folder() -> Path:
    """The program's folder in the user's cache: `$XDG_CACHE_HOME/proof`, or that of the platform. Raises EngineError if
    the user has no home folder."""
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "proof"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "proof"
    try:
        return Path("~/.cache").expanduser() / "proof"
    except RuntimeError as error:
        raise EngineError(_("there is no home folder to keep models in; %(remedy)s"), remedy=CACHE_REMEDY) from error


def model_folder(model: Path, task: ModelTask, cache: Path | None = None) -> ModelFolder:
    """The folder that PaddleX loads for `model`, which is such a folder itself or an ONNX file.

    The ONNX file of a recogniser must have its dictionary in the metadata entry `character`, as the packaged one has.
    `cache` is the cache folder to use instead of the user's. Raises EngineError if `model` is neither, or if the cache
    cannot be written.
    """
    if model.is_dir():
        return _given_folder(model)
    if not model.is_file():
        raise EngineError(
            _("%(model)s: no such model: name a folder with %(weights)s and %(settings)s, or an ONNX file"),
            model=model,
            weights=WEIGHTS,
            settings=SETTINGS,
        )
    checksum = _sha256(model)
    folder = (cache or cache_folder()) / "models" / f"{model.stem}-{checksum[:16]}-{_FOLDER_VERSION}"
    message = _("%(folder)s: the model cannot be unpacked there: %(reason)s; make room, or %(remedy)s")
    with os_errors_as(EngineError, message, folder=folder, remedy=CACHE_REMEDY):
        folder.mkdir(parents=True, exist_ok=True)
        _ensure(folder / WEIGHTS, model.stat().st_size, lambda target: _link_or_copy(model, target))
        _ensure(folder / SETTINGS, None, lambda target: _write_settings(model, task, target))
    return ModelFolder(folder, _ARCHITECTURE[task], model.stem, checksum)


def dictionary(folder: ModelFolder) -> tuple[str, ...]:
    """The characters of a recogniser's classes, from class 1 on (0 is the CTC blank), without the space that PaddleX
    adds after the last one. Raises EngineError."""
    path = folder.path / SETTINGS
    listed = _load_settings(path).get("PostProcess", {}).get("character_dict")
    if not isinstance(listed, list) or not listed:
        raise EngineError(_("%(path)s: no character_dict: this is not a text recogniser"), path=path)
    return tuple(str(character) for character in listed)


def _given_folder(path: Path) -> ModelFolder:
    """A folder of the user. Raises EngineError unless it has both files and its settings name a model."""
    if not (path / WEIGHTS).is_file():
        raise EngineError(
            _(
                "%(path)s: no %(weights)s: name a folder with %(weights)s and %(settings)s; Paddle's "
                "own format is converted with paddle2onnx"
            ),
            path=path,
            weights=WEIGHTS,
            settings=SETTINGS,
        )
    if not (path / SETTINGS).is_file():
        raise EngineError(
            _("%(path)s: no %(settings)s beside %(weights)s: it comes with the model and contains its settings"),
            path=path,
            settings=SETTINGS,
            weights=WEIGHTS,
        )
    name = _load_settings(path / SETTINGS).get("Global", {}).get("model_name")
    if not isinstance(name, str):
        raise EngineError(_("%(path)s: no model_name under Global"), path=path / SETTINGS)
    return ModelFolder(path, name, name, _sha256(path / WEIGHTS, path / SETTINGS))


def _load_settings(path: Path) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - needed only where a model is opened

    # libyaml reads a dictionary of 18,708 characters ten times faster, but not every build of PyYAML has it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        with path.open("rb") as stream:
            loaded = yaml.load(stream, Loader=loader)  # noqa: S506 - both loaders are the safe kind
    except (OSError, yaml.YAMLError) as error:
        raise EngineError(_("%(path)s: cannot be read: %(error)s"), path=path, error=error) from error
    if not isinstance(loaded, dict) or not all(isinstance(part, dict) for part in loaded.values()):
        raise EngineError(
            _("%(path)s: not the settings of a model: Global, PreProcess and PostProcess are expected"), path=path
        )
    return loaded


def _sha256(*paths: Path) -> str:
    """The hash of the files one after the other. Raises EngineError."""
    digest = hashlib.sha256()
    for path in paths:
        unreadable = os_errors_as(EngineError, _("%(path)s: cannot be read: %(reason)s"), path=path)
        with unreadable, path.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()


def _ensure(target: Path, size: int | None, make: Callable[[Path], None]) -> None:
    """Have `make` write the file `target`, unless it exists and has `size` bytes or, if `size` is None, is not empty.

    Safe with several processes at once: each makes a file of its own with the same content and renames it into place.
    """
    if target.is_file():
        existing_size = target.stat().st_size
        if existing_size == size or (size is None and existing_size > 0):
            return
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as folder:
        new = Path(folder) / target.name
        make(new)
        new.replace(target)


def _link_or_copy(source: Path, target: Path) -> None:
    """Hard-link the file, which takes no space and outlives the package; copy it if the file systems differ."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


def _write_settings(model: Path, task: ModelTask, target: Path) -> None:
    """Write the `inference.yml` for an ONNX file."""
    import yaml  # noqa: PLC0415 - as above

    settings = _detection_settings() if task is ModelTask.DETECTION else _recognition_settings(_characters_of(model))
    with target.open("w", encoding="utf-8") as stream:
        yaml.dump(settings, stream, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), allow_unicode=True)


def _characters_of(model: Path) -> list[str]:
    """The dictionary in an ONNX recogniser's metadata. Raises EngineError."""
    import onnxruntime  # noqa: PLC0415 - a quarter of a second, needed once for a model

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own, some straight under Exception
        raise EngineError(
            _("%(model)s: not an ONNX model that onnxruntime can load: %(error)s"), model=model, error=error
        ) from error
    listed = session.get_modelmeta().custom_metadata_map.get("character")
    if not listed:
        raise EngineError(
            _("%(model)s: has no character dictionary: put it into a folder as %(weights)s, with its %(settings)s"),
            model=model,
            weights=WEIGHTS,
            settings=SETTINGS,
        )
    # Not splitlines(): a dictionary may hold U+2028 and its like as characters.
    return str(listed).removesuffix("\n").split("\n")


_ARCHITECTURE = {ModelTask.RECOGNITION: "PP-OCRv6_small_rec", ModelTask.DETECTION: "PP-OCRv6_small_det"}
"""PaddleX's name of the architecture that a single ONNX file is taken to have."""


def _recognition_settings(characters: list[str]) -> dict[str, Any]:
    """`inference.yml` as PaddleOCR exports it with its recognisers, cut to what PaddleX reads."""
    return {
        "Global": {"model_name": _ARCHITECTURE[ModelTask.RECOGNITION]},
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"RecResizeImg": {"image_shape": [3, 48, 320]}},
            ]
        },
        "PostProcess": {"name": "CTCLabelDecode", "character_dict": characters},
    }


def _detection_settings() -> dict[str, Any]:
    """`inference.yml` for detectors; mean and standard deviation are those of ImageNet, for each channel."""
    return {
        "Global": {"model_name": _ARCHITECTURE[ModelTask.DETECTION]},
        "PreProcess": {
            "transform_ops": [
                {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
                {"DetResizeForTest": {"resize_long": 960}},
                {
                    "NormalizeImage": {
                        "mean": [0.485, 0.456, 0.406],
                        "std": [0.229, 0.224, 0.225],
                        "scale": "1./255.",
                        "order": "hwc",
                    }
                },
                {"ToCHWImage": None},
            ]
        },
        "PostProcess": {
            "name": "DBPostProcess",
            "thresh": 0.3,
            "box_thresh": 0.6,
            "max_candidates": 1000,
            "unclip_ratio": 1.5,
        },
    }
