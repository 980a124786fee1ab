"""Search of a folder for what can be checked: texts of the known formats, and folders of images."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from proof.errors import TextError
from proof.images.find import BOUND_OR_SINGLE
from proof.text.formats import decoded_file, text_suffixes
from proof.text.read import detect_format

NO_MATERIAL = frozenset({"imglist", "out"})
"""Folders that hold lists or reports, and neither texts nor images."""

MAX_FOLDER_DEPTH = 3
"""Folders below a project's in which images are looked for."""

MAX_NAMED_TEXTS = 12
"""Texts that are named one by one, at most; more of one ending are given as a pattern."""


def find_texts(folder: Path) -> tuple[Path, ...]:
    """The texts in `folder`, or, where none lies in it, in the folders directly below; in the order of their names."""
    for places in ([folder], _below(folder)):
        texts = [path for place in places for path in _texts_in(place)]
        if texts:
            return tuple(texts)
    return ()


def find_images(folder: Path) -> tuple[Path, ...]:
    """The folders that hold images: `folder` itself, or those directly below it that hold some at any depth."""
    if _has_images(folder, 0):
        return (folder,)
    return tuple(place for place in _below(folder) if _has_images(place, MAX_FOLDER_DEPTH))


def _texts_in(folder: Path) -> list[Path]:
    named = (path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "README")))
    files = [path for path in named if path.suffix.lower() in text_suffixes() and path.is_file()]
    texts = [path for path in files if _is_text(path)]
    endings = {path.suffix for path in texts}
    if len(texts) > MAX_NAMED_TEXTS and len(endings) == 1:
        suffix = endings.pop()
        if all(path in texts for path in files if path.suffix == suffix):
            return [folder / f"*{suffix}"]
    return texts


def _is_text(path: Path) -> bool:
    try:
        return detect_format(decoded_file(path, None).text) is not None
    except TextError:
        return False


def _has_images(folder: Path, depth: int) -> bool:
    """Whether images lie in a folder, or in those up to `depth` levels below it."""
    for path, below, files in os.walk(folder):
        if any(Path(name).suffix.lower() in BOUND_OR_SINGLE and not name.startswith(".") for name in files):
            return True
        level = len(Path(path).relative_to(folder).parts)
        below[:] = [name for name in below if level < depth and not name.startswith(".")]
    return False


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and path.name not in NO_MATERIAL:
            yield path
