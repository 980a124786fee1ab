"""Reading witnesses: one of several files (the juan of a folder, of a branch, or named one by one) is joined to one
transcription."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from proof.errors import TextError
from proof.locale.marking import Sentence, _
from proof.paths import natural
from proof.text.formats import decoded, text_suffixes
from proof.text.layers import TextBlock
from proof.text.model import Page
from proof.text.read import parse_transcription, read_transcription
from proof.text.script import script_of
from proof.text.transcription import Footnote, Transcription
from proof.text.witness_source import WitnessSource


def read_witnesses(sources: Sequence[WitnessSource]) -> list[Transcription]:
    """A transcription for each source; sources with one siglum are one witness. Raises TextError."""
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
    """The witness without those of its parts that are the text itself or a copy of it; None if nothing is left."""
    if not witness.parts:
        same = witness.path.resolve() == text.path.resolve() or witness.text == text.text
        return None if same else witness
    left = [part for part in witness.parts if part.path.resolve() != text.path.resolve() and part.text != text.text]
    if len(left) == len(witness.parts):
        return witness
    return joined(left, witness.path, witness.siglum, witness.full_name) if left else None


def joined(parts: Sequence[Transcription], path: Path, siglum: str = "", full_name: str = "") -> Transcription:
    """Transcriptions joined to one at `path`. A line feed is put between two texts if the first does not end with one;
    the numbers of lines stay those in their files."""
    texts: list[str] = []
    blocks: list[TextBlock] = []
    pages: list[Page] = []
    footnotes: list[Footnote] = []
    for begin, _end, part in _spans(parts):
        blocks += (block.moved(begin) for block in part.blocks)
        pages += (page.moved(begin) for page in part.pages)
        footnotes += (note.moved(begin) for note in part.footnotes)
        texts.append(_ended(part.text))
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


def parts_of(edition: Transcription) -> Iterator[tuple[int, int, Transcription]]:
    """The texts that were joined to this one, or the text itself. Before each stand its start and its end in the joined
    text, in code points."""
    return _spans(edition.parts or (edition,))


def _spans(parts: Iterable[Transcription]) -> Iterator[tuple[int, int, Transcription]]:
    """Each text, after its start and its end in the text that is joined of all."""
    begin = 0
    for part in parts:
        end = begin + len(_ended(part.text))
        yield begin, end, part
        begin = end


def line_of(edition: Transcription, start: int) -> tuple[str, int]:
    """The name of the file that has the code point `start`, and the number of its line there, from 1. A place behind
    the end is that of the last code point."""
    last = max(0, len(edition.text) - 1)
    begin, part = next((begin, part) for begin, end, part in parts_of(edition) if min(start, last) < end)
    return part.path.name, part.text.count("\n", 0, start - begin) + 1


def _ended(text: str) -> str:
    """The text with a line feed at its end, so that another one can follow."""
    return text if text.endswith("\n") else text + "\n"


def _witness(group: Sequence[WitnessSource]) -> Transcription:
    """One witness of all files of the sources of a group."""
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
    return joined(editions, path, siglum, full_name)


def _branches(source: WitnessSource) -> ModuleType:
    """The module that reads branches. Raises TextError where the extra that it needs is not installed."""
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
    """The files of a source: the texts in a folder, the file itself, or the files that match if the name is a pattern;
    the path itself if none does, so that reading it tells what is missing."""
    if path.is_dir():
        texts = _texts(path, "*.txt")
        return texts or [file for file in _texts(path, "*") if file.suffix.lower() in text_suffixes()]
    return [path] if path.is_file() else _texts(path.parent, path.name) or [path]


def _texts(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that match a pattern, without hidden ones, in natural order of their names."""
    texts = (path for path in folder.glob(pattern) if path.is_file() and not path.name.startswith("."))
    return sorted(texts, key=lambda path: natural(path.name))
