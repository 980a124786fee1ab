"""Puts the recognition model into the distributions: PP-OCRv6, as the package rapidocr has it, with its terms.

It becomes the package `hanproof_models`, so that neither rapidocr nor the ten packages that it depends on need be
installed. It is taken from `build/models`, where a source distribution has it; where it is missing there pip
fetches rapidocr's wheel once, from the index that it is set to.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "rapidocr==3.10.0"
PACKAGE = "hanproof_models"
SHA256 = {
    "PP-OCRv6_rec_small.onnx": "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
}
TERMS = ("LICENSE", "MODEL_LICENSES.md")


class ModelsHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `hanproof_models` to a wheel, an editable one too, and its files to a source distribution."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root, "build", "models")
        if not _is_whole(folder):
            _fetch(folder)
        inside = "build/models" if self.target_name == "sdist" else PACKAGE
        key = "force_include_editable" if version == "editable" else "force_include"
        for name in ("__init__.py", *TERMS, *SHA256):
            build_data[key][str(folder / name)] = f"{inside}/{name}"


def _is_whole(folder: Path) -> bool:
    return all(_sha256(folder / name) == digest for name, digest in SHA256.items())


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _fetch(folder: Path) -> None:
    """Take model and terms out of rapidocr's wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as fetched:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "--dest", fetched, SOURCE], check=True)  # noqa: S603
        (wheel,) = Path(fetched).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                name = Path(entry).name
                if name in SHA256 or name in TERMS:
                    (folder / name).write_bytes(archive.read(entry))
    (folder / "__init__.py").write_text(
        f'"""The recogniser of PP-OCRv6, taken from {SOURCE} unchanged."""\n', encoding="utf-8"
    )
    if not _is_whole(folder):
        raise RuntimeError(f"{folder}: the model is not that of {SOURCE}")
