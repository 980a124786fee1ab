"""Replays the text changes in a journal: the present paths of its texts, and the places of its acts in them.

The journal holds the content of a text in which somebody acted on a place, and the edits of every later change of the
text. The store is not needed, only the present contents of its texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from proof.model.flags import Kind
from proof.store.carried_places import ExportEdits, Place, TextChange
from proof.store.journal import DECISION, TEXT, Line, edits_of, texts_of
from proof.store.models import FlagRow
from proof.store.texts import place_of
from proof.text.versions import most_alike


def present_paths(lines: Sequence[Line], contents: Mapping[str, str]) -> dict[str, str]:
    """The present path of each text in the journal, which may have been renamed since; `contents` are those of the
    present texts, by path.

    A text without a present path was renamed to a text whose recorded contents include its last one, or else to the
    present text that is most alike; without either, it keeps its path.
    """
    recorded = texts_of(lines)
    last_sha: dict[str, str] = {}
    for line in lines:
        if (line.get("file"), line.get("sha")) in recorded:
            last_sha.pop(line["file"], None)  # keeps the order of the last lines
            last_sha[line["file"]] = line["sha"]
    paths: dict[str, str] = {}
    for path, sha in reversed(last_sha.items()):  # the new path of a text has later lines than the old one
        if path in contents:
            paths[path] = path
            continue
        later = next((present for other, present in paths.items() if (other, sha) in recorded), None)
        paths[path] = later or most_alike(recorded[path, sha], contents) or path
    return paths


class ReplayedPlace(NamedTuple):
    """A place in the present content of the text at `path`; a `lost` place is in the last content that had it."""

    path: str
    place: Place
    lost: bool


def replay_places(
    lines: Sequence[Line], contents: Mapping[str, str], chains: Mapping[int, Sequence[tuple[int, Line]]]
) -> dict[int, ReplayedPlace]:
    """The places of chains of acts after all text changes in the journal and from there to the present `contents`, by
    path. Chains and places have the line number of the last act of the chain, which names the place."""
    recorded = texts_of(lines)
    number_of_chain = {chain[0][1]["key"]: number for number, chain in chains.items()}
    replays: defaultdict[str, _TextReplay] = defaultdict(_TextReplay)
    for number, line in enumerate(lines):
        path = line.get("file", "")
        content = recorded.get((path, line.get("sha", "")))
        if content is None or path not in contents:
            continue
        replay = replays[path]
        if line["act"] != TEXT:
            place = _place_of_line(line, number) if number in chains else None
            replay.add_place(number, place, content, lost=line.get("lost", False))
        elif "edits" in line and not replay.has(content):  # an older store that was restored learns what was known
            replay.change_to(recorded.get((path, line["before"]), content))
            replay.change_to(content, line["script"], _export_edits(line, number_of_chain))
    places: dict[int, ReplayedPlace] = {}
    for path, replay in replays.items():
        replay.change_to(contents[path])
        places |= replay.replayed(path)
    return places


class _TextReplay:
    """The contents of a text in the order of the journal, and places in it by line number. Versions are indices of
    contents."""

    def __init__(self) -> None:
        self._places: dict[int, Place] = {}
        self._contents: list[str] = []

    def add_place(self, number: int, place: Place | None, content: str, *, lost: bool) -> None:
        """Make `content` the last content and add the `place` (if any) in it. A `lost` place changes nothing: it is in
        the latest earlier version with this content, or in version -1 if there is none."""
        if not lost:
            self.change_to(content)
        if place is not None:
            candidates = self._contents[:-1] if lost else self._contents
            versions = [version for version, known in enumerate(candidates) if known == content]
            self._places[number] = replace(place, content=content, version=versions[-1] if versions else -1)

    def has(self, content: str) -> bool:
        """Whether the last version has this content."""
        return bool(self._contents) and self._contents[-1] == content

    def change_to(self, content: str, script: str = "", written: ExportEdits | None = None) -> None:
        """Add a version with this content, unless the last one has it, and carry all places to it."""
        if self.has(content):
            return
        before = self._contents[-1] if self._contents else None
        change = TextChange(before, content, len(self._contents) - 1, script, written)
        self._contents.append(content)
        for number, place in change.carried(self._places.values()).items():
            self._places[number] = replace(place, content=content, version=len(self._contents) - 1)

    def replayed(self, path: str) -> dict[int, ReplayedPlace]:
        """The places after the last change; `path` is that of the text."""
        last = len(self._contents) - 1
        return {number: ReplayedPlace(path, place, place.version != last) for number, place in self._places.items()}


def _export_edits(line: Line, number_of_chain: Mapping[str, int]) -> ExportEdits | None:
    """The edits of a text line that an export made; None if none did. The chain of a decision is given by the key of
    its first act."""
    if "written" not in line:
        return None
    of_chains = {number_of_chain[key]: index for key, index in line["written"].items() if key in number_of_chain}
    return ExportEdits(tuple(edits_of(line)), of_chains)


def _place_of_line(line: Line, number: int) -> Place:
    """The place that an act names, in the content at that time; `number` is used as the number of its flag."""
    flag = flag_of_line(line)
    flag.id, flag.start, flag.extent, flag.reads = number, line["start"], line["extent"], line["reads"]
    flag.former = line.get("former", 0)
    if line["act"] == DECISION:
        flag.state, flag.reading = line["state"], line["reading"]
    return place_of(flag)


_IN_LINE = ("uid", "line", "offset", "transcribed", "suggested", "context", "origin")
"""Columns of `flags` that a line about a flag has under the same name."""


def flag_of_line(line: Line) -> FlagRow:
    """The flag that an act is about, as the journal describes it: undecided, without its page and its place."""
    evidence = dict(line.get("evidence", {}))
    evidence.pop("run", None)
    length = line.get("length", len(line["transcribed"]))
    return FlagRow(
        raised=True,
        score=evidence.pop("score", 0.0),
        reason=evidence.pop("reason", ""),
        rule=evidence.pop("rule", ""),
        evidence=evidence,
        state="open",
        reading="",
        version=0,
        ref=line.get("ref", ""),
        length=length,
        extent=length,
        reads=line["transcribed"],
        kind=line.get("kind", Kind.SUBSTITUTION.value),
        **dict(zip("xywh", line.get("box", (None,) * 4), strict=True)),
        **{name: line[name] for name in _IN_LINE},
    )
