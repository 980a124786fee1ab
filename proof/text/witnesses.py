"""Reading witnesses. The files of a witness (the juan of a folder or a branch, or files that are named one by one) are
joined to one transcription."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from proof.errors import TextError
from proof.locale.marking import Sentence, _
from proof.paths import natural
from proof.text.formats import decoded, text_suffixes
from proof.text.layers import TextBlock, line_number
from proof.text.model import Page
from proof.text.read import parse_transcription, read_transcription
from proof.text.script import script_of
from proof.text.transcription import Footnote, Transcription
from proof.text.witness_source import WitnessSource


def read_witnesses(sources: Sequence[WitnessSource]) -> list[Transcription]:
    """A transcription for each witness: sources with the same siglum are one. Raises TextError."""
    groups: dict[str, list[WitnessSource]] = {}
    for number, source in enumerate(sources):
        groups.setdefault(source.siglum or f"\0{number}", []).append(source)
    return [_witness(group) for group in groups.values()]


def witnesses_state(sources: Iterable[WitnessSource]) -> bytes:
    """A hash that changes if a file of the witnesses is changed, renamed, added or removed."""
    state = hashlib.sha256()
    for source in sources:
        state.update(f"{source}\0".encode("utf-8", "surrogatepass"))
        if source.revision:
            state.update(_branches(source).branch_state(source.path, source.revision))
            continue
        for file in _files(source.path):
            content = file.read_bytes() if file.is_file() else b""
            state.update(f"{file}\0{len(content)}\0".encode("utf-8", "surrogatepass"))
            state.update(content)
    return state.digest()


def apart_from(witness: Transcription, text: Transcription) -> Transcription | None:
    """The witness without its parts that are the text itself or a copy of it; None if nothing is left."""
    if not witness.parts:
        return None if _is_copy(witness, text) else witness
    others = [part for part in witness.parts if not _is_copy(part, text)]
    if len(others) == len(witness.parts):
        return witness
    return _joined(others, witness.path, witness.siglum, witness.full_name) if others else None


def _is_copy(witness: Transcription, text: Transcription) -> bool:
    return witness.path.resolve() == text.path.resolve() or witness.text == text.text


def _joined(parts: Sequence[Transcription], path: Path, siglum: str, full_name: str) -> Transcription:
    """Transcriptions joined to one at `path`. A line feed is added to a text that does not end with one. Lines keep the
    numbers that they have in their files."""
    texts: list[str] = []
    blocks: list[TextBlock] = []
    pages: list[Page] = []
    footnotes: list[Footnote] = []
    for start, _end, part in _placed(parts):
        blocks += (block.moved(start) for block in part.blocks)
        pages += (page.moved(start) for page in part.pages)
        footnotes += (note.moved(start) for note in part.footnotes)
        texts.append(_with_line_feed(part.text))
    first = parts[0]
    return replace(
        first,
        path=path,
        script=script_of(stretch.source for block in blocks for stretch in block.stretches),
        decoded=replace(first.decoded, text="".join(texts)),
        pages=tuple(pages),
        running=tuple(blocks),
        footnotes=tuple(footnotes),
        remarks=tuple(remark for part in parts for remark in part.remarks),
        siglum=siglum,
        full_name=full_name,
        parts=tuple(parts),
    )


class PlacedPart(NamedTuple):
    """A text from code point `start` to `end` of a joined text."""

    start: int
    end: int
    text: Transcription


def parts_of(edition: Transcription) -> Iterator[PlacedPart]:
    """The texts that were joined to this one, or the text itself."""
    return _placed(edition.parts or (edition,))


def _placed(parts: Iterable[Transcription]) -> Iterator[PlacedPart]:
    start = 0
    for part in parts:
        end = start + len(_with_line_feed(part.text))
        yield PlacedPart(start, end, part)
        start = end


def line_of(edition: Transcription, place: int) -> tuple[str, int]:
    """The name of the file that has a code point, and the number of its line there, from 1. A place after the end
    counts as the last code point."""
    last = max(0, len(edition.text) - 1)
    part = next(part for part in parts_of(edition) if min(place, last) < part.end)
    return part.text.path.name, line_number(part.text.text, place - part.start)


def _with_line_feed(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _witness(group: Sequence[WitnessSource]) -> Transcription:
    """One witness from all files of its sources."""
    siglum = group[0].siglum or group[0].revision
    full_name = next((source.name for source in group if source.name), "")
    editions = [edition for source in group for edition in _editions(source)]
    if len(editions) == 1 and not group[0].revision:
        return replace(editions[0], siglum=siglum, full_name=full_name)
    formats = {edition.format for edition in editions}
    if len(formats) > 1:
        names = ", ".join(sorted(formats))
        raise TextError(
            group[0].path, None, _("its files are in several formats (%(named)s): one witness is in one"), named=names
        )
    path = Path(str(replace(group[0], siglum="", name=""))) if len(group) == 1 else group[0].path.parent
    return _joined(editions, path, siglum, full_name)


def _branches(source: WitnessSource) -> ModuleType:
    """The module that reads branches. Raises TextError if the optional package that it needs is not installed."""
    try:
        from proof.text import branches  # noqa: PLC0415 - few projects need it
    except ModuleNotFoundError as error:
        needs = Sentence(
            _("branch %(revision)s is read with dulwich: pip install 'hanproof[git]'"), revision=source.revision
        )
        raise TextError(source.path, None, needs) from error
    return branches


def _editions(source: WitnessSource) -> list[Transcription]:
    """The transcriptions in the files of a source."""
    if source.revision:
        folder = Path(f"{source.path}@{source.revision}")
        files_of_branch = _branches(source).branch_files(source.path, source.revision)
        return [parse_transcription(decoded(folder / name, data), folder / name) for name, data in files_of_branch]
    files = _files(source.path)
    if not files:
        raise TextError(
            source.path,
            None,
            _("is a folder without texts (%(suffixes)s)"),
            suffixes=", ".join(sorted(text_suffixes())),
        )
    return [read_transcription(file) for file in files]


def _files(path: Path) -> list[Path]:
    """The files of a source: the texts in a folder, the file itself, or the files that match if its name is a pattern.
    If there is none it is the path itself, so that reading it reports what is missing."""
    if path.is_dir():
        texts = _texts(path, "*.txt")
        return texts or [file for file in _texts(path, "*") if file.suffix.lower() in text_suffixes()]
    return [path] if path.is_file() else _texts(path.parent, path.name) or [path]


def _texts(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that match a pattern, without hidden ones, in natural order of their names."""
    texts = (path for path in folder.glob(pattern) if path.is_file() and not path.name.startswith("."))
    return sorted(texts, key=lambda path: natural(path.name))
