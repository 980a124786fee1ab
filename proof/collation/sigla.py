"""Names of witnesses: those of their files, with their folders if two files have one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from proof.text.transcription import Transcription


def names_of(editions: Sequence[Transcription], *, ending: bool = False) -> list[str]:
    """A different name for each edition: the siglum given by the user, else the name of the file."""
    short_names = sigla([edition.path for edition in editions], ending=ending)
    return _numbered(edition.siglum or name for edition, name in zip(editions, short_names, strict=True))


def sigla(paths: Sequence[Path], *, ending: bool = False) -> list[str]:
    """A different name for each file: the name of the file (with or without its `ending`), after as many of its folders
    as distinguish it from the others, with a number if one file is given twice."""
    depth = 1
    names = [_name(path, depth, ending) for path in paths]
    while len(set(names)) < len(names) and depth < max(len(path.parts) for path in paths):
        depth += 1
        counts = Counter(names)
        names = [
            name if counts[name] == 1 else _name(path, depth, ending) for name, path in zip(names, paths, strict=True)
        ]
    return _numbered(names)


def _numbered(names: Iterable[str]) -> list[str]:
    """The names, with a number after repeated ones."""
    seen: Counter[str] = Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return numbered


def _name(path: Path, depth: int, ending: bool) -> str:
    parts = path.parts[-depth:]
    return "/".join((*parts[:-1], parts[-1] if ending else Path(parts[-1]).stem))
