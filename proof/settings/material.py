"""Searches a folder for material of a project: texts in known formats, and folders of images."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from proof.errors import TextError
from proof.images.find import BOUND_OR_SINGLE
from proof.text.formats import decoded_file, text_suffixes
from proof.text.read import detect_format

NO_MATERIAL = frozenset({"imglist", "out"})
"""Names of folders that have lists or reports instead of texts and images."""

MAX_FOLDER_DEPTH = 3
"""Maximum depth, below the folders in a project folder, of folders that are searched for images."""

MAX_NAMED_TEXTS = 12
"""Maximum number of texts that are named one by one; if there are more, all with one suffix, a pattern names them."""


def find_texts(folder: Path) -> tuple[Path, ...]:
    """The texts in `folder`, or, if it has none, in the folders directly below it; in the order of their names."""
    for folders in ([folder], _subfolders(folder)):
        texts = [path for each in folders for path in _texts_in(each)]
        if texts:
            return tuple(texts)
    return ()


def unreadable_texts(folder: Path, texts: Collection[Path]) -> list[TextError]:
    """Why other files cannot be read as texts, in the folders in which `find_texts` looked for `texts`."""
    folders = [folder] if any(path.parent == folder for path in texts) else [folder, *_subfolders(folder)]
    errors = []
    for path in (path for each in folders for path in _candidates(each)):
        if path in texts or path.parent / f"*{path.suffix}" in texts:
            continue
        try:
            decoded_file(path, None)
        except TextError as error:
            errors.append(error)
    return errors


def find_images(folder: Path) -> tuple[Path, ...]:
    """The folders with images: `folder` itself if it has any, else those directly below it that have some, down to
    `MAX_FOLDER_DEPTH`."""
    if _has_images(folder, 0):
        return (folder,)
    return tuple(subfolder for subfolder in _subfolders(folder) if _has_images(subfolder, MAX_FOLDER_DEPTH))


def _texts_in(folder: Path) -> list[Path]:
    """The texts in a folder, or a pattern for all of them."""
    files = _candidates(folder)
    texts = [path for path in files if _is_text(path)]
    suffixes = {path.suffix for path in texts}
    if len(texts) > MAX_NAMED_TEXTS and len(suffixes) == 1:
        suffix = suffixes.pop()
        if all(path in texts for path in files if path.suffix == suffix):
            return [folder / f"*{suffix}"]
    return texts


def _candidates(folder: Path) -> list[Path]:
    """The files in a folder whose names are those of texts."""
    named = (path for path in sorted(folder.iterdir()) if not path.name.upper().startswith((".", "README")))
    return [path for path in named if path.suffix.lower() in text_suffixes() and path.is_file()]


def _is_text(path: Path) -> bool:
    try:
        return detect_format(decoded_file(path, None).text) is not None
    except TextError:
        return False


def _has_images(folder: Path, depth: int) -> bool:
    """Whether there are images in a folder, or up to `depth` levels below it."""
    for path, subfolders, files in os.walk(folder):
        if any(Path(name).suffix.lower() in BOUND_OR_SINGLE and not name.startswith(".") for name in files):
            return True
        level = len(Path(path).relative_to(folder).parts)
        subfolders[:] = [name for name in subfolders if level < depth and not name.startswith(".")]
    return False


def _subfolders(folder: Path) -> Iterator[Path]:
    """The folders directly in `folder` that may have material, in the order of their names."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and path.name not in NO_MATERIAL:
            yield path
