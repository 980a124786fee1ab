"""A witness as a sequence of characters in reading order, each with a key that all forms of a word share.

Characters are stored as codes, since a text has millions: as code points, or as numbers that a `CharacterTable` assigns
to entities and compositions.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.text.layers import LACUNAE, SET_SMALL, Layer
from proof.text.positions import code_points
from proof.text.transcription import Transcription
from proof.text.variants import unified

RUNNING_LAYERS = frozenset({Layer.CANON, Layer.UNDIVIDED, Layer.HEADING})
"""Layers that every witness of a text has; others are compared only if both have them. A heading in one witness may be
a column of text in another."""

MIN_LAYER_SHARE = 0.02
"""Minimum share of a layer in one text, relative to its share in the other, for both to count as having it."""

NOTE_SAMPLE_CHARACTERS = 4
"""Length of the beginning of a note that is searched in a text without marks."""

MAX_SAMPLED_NOTES = 200
"""Maximum number of notes of a layer that are searched."""

MIN_PRESENT_SHARE = 0.5
"""Minimum share of these that a text has if it has the notes without marks."""

MAX_SHOWN_CHARACTERS = 40
"""Maximum number of characters of a passage that are shown; of a longer one the beginning and the end are shown."""

_FIRST_PRIVATE_KEY = 0x100000
"""The first key of entities and compositions, in a private plane that no text uses."""

_PRIVATE_KEYS = 0xFFFE
"""The number of keys of entities and compositions; they repeat if a text has more of these."""

_FIRST_ENTITY_CODE = 0x110000
"""The first code of entities and compositions, after all code points."""

Codes = NDArray[np.int32]

Indices = NDArray[np.int64]
"""Indices of characters in a sequence."""


class CharacterTable:
    """Assigns to every character, entity and composition a code (a number) and a key (one code point). `fold` gives the
    key of a character."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        self._fold = fold
        self._keys: dict[str, str] = {}
        self._private_keys = 0
        self._entities: list[str] = []
        self._entity_codes: dict[str, int] = {}

    def key(self, text: str) -> str:
        """The key of a character, an entity or a composition."""
        key = self._keys.get(text)
        if key is None:
            character = unified(text)
            key = self._fold(character) if len(character) == 1 else ""
            if len(key) != 1:
                key = chr(_FIRST_PRIVATE_KEY + self._private_keys % _PRIVATE_KEYS)
                self._private_keys += 1
            self._keys[text] = key
        return key

    def code(self, text: str) -> int:
        """The code of a character, an entity or a composition."""
        if len(text) == 1:
            return ord(text)
        if text not in self._entity_codes:
            self._entity_codes[text] = _FIRST_ENTITY_CODE + len(self._entities)
            self._entities.append(text)
        return self._entity_codes[text]

    def text(self, code: int) -> str:
        """The character, entity or composition with this code."""
        return chr(code) if code < _FIRST_ENTITY_CODE else self._entities[code - _FIRST_ENTITY_CODE]

    def keys(self, codes: Codes) -> str:
        """The keys of characters, given by their codes."""
        if not len(codes):
            return ""
        unique, places = np.unique(codes, return_inverse=True)
        keys = np.array([ord(self.key(self.text(code))) for code in unique.tolist()], dtype="<u4")
        return keys[places].tobytes().decode("utf-32-le", "surrogatepass")


@dataclass(frozen=True, slots=True)
class WitnessTokens:
    """The characters of an edition in the compared layers. Of character i, `codes[i]` is the code in `table`, `keys[i]`
    the key, `starts[i]` and `ends[i]` the place in the file in code points, `blocks[i]` the index of its block in the
    edition, and `layers[i]` the layer."""

    edition: Transcription
    table: CharacterTable
    codes: Codes
    keys: str
    starts: array[int]
    ends: array[int]
    blocks: Sequence[int]
    layers: Sequence[Layer]

    def __len__(self) -> int:
        return len(self.codes)

    def character(self, at: int) -> str:
        """The text of a character."""
        return self.table.text(int(self.codes[at]))

    def texts(self, start: int, end: int) -> Sequence[str]:
        """The texts of characters `start` to `end`."""
        codes = self.codes[start:end]
        if codes.size and codes.max() < _FIRST_ENTITY_CODE:
            return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        return [self.table.text(code) for code in codes.tolist()]

    def text(self, start: int, end: int) -> str:
        """The text of characters `start` to `end`."""
        return "".join(self.texts(start, end))

    def shown(self, start: int, end: int) -> str:
        """The text of characters `start` to `end` for display: if it is longer than `MAX_SHOWN_CHARACTERS`, its
        beginning and its end."""
        if end - start <= MAX_SHOWN_CHARACTERS:
            return self.text(start, end)
        half = MAX_SHOWN_CHARACTERS // 2
        return f"{self.text(start, start + half)} … {self.text(end - half, end)}"

    def is_lacuna(self, start: int, end: int) -> bool:
        """Whether characters `start` to `end` are signs for others that could not be read or typed."""
        return end > start and LACUNAE.issuperset(self.texts(start, end))

    def in_one_line(self, start: int, end: int) -> bool:
        """Whether characters `start` to `end` are in one column or paragraph."""
        return start == end or self.blocks[start] == self.blocks[end - 1]

    def index_before(self, place: int) -> int:
        """The index of the last character that begins before a code point of the file; -1 if there is none."""
        return bisect_right(self.starts, place - 1) - 1


def tokens_of(edition: Transcription, table: CharacterTable, layers: Iterable[Layer]) -> WitnessTokens:
    """The characters of `edition` in `layers`, in the order of the file."""
    compared = frozenset(layers)
    codes, starts, ends, blocks, layer_of = array("i"), array("q"), array("q"), array("i"), list[Layer]()
    for number, block in enumerate(edition.blocks):
        for stretch in block.stretches:
            if stretch.layer not in compared:
                continue
            if stretch.plain:
                codes.frombytes(stretch.source.encode("utf-32-le", "surrogatepass"))
                starts.extend(range(stretch.start, stretch.end))
                ends.extend(range(stretch.start + 1, stretch.end + 1))
            else:
                for cell in stretch.cells(lacunae=True):
                    codes.append(table.code(cell.text))
                    starts.append(cell.start)
                    ends.append(cell.end)
            added = len(codes) - len(blocks)
            blocks.extend([number] * added)
            layer_of += [stretch.layer] * added
    code_array = np.frombuffer(codes, dtype=np.int32) if codes else np.zeros(0, dtype=np.int32)
    return WitnessTokens(edition, table, code_array, table.keys(code_array), starts, ends, blocks, layer_of)


def shared_tokens(
    first: Transcription, second: Transcription, table: CharacterTable
) -> tuple[WitnessTokens, WitnessTokens]:
    """The characters of two texts in the layers to compare (`shared_layers`), and in those notes of either that the
    other has as running text, without marks."""
    first_layers, second_layers = shared_layers(first, second)
    a, b = tokens_of(first, table, first_layers), tokens_of(second, table, second_layers)
    of_first = _notes_unmarked_in(b, first, first_layers)
    of_second = _notes_unmarked_in(a, second, second_layers)
    if of_first:
        a = tokens_of(first, table, first_layers | of_first)
    if of_second:
        b = tokens_of(second, table, second_layers | of_second)
    return a, b


def _notes_unmarked_in(other: WitnessTokens, edition: Transcription, compared: frozenset[Layer]) -> set[Layer]:
    """The layers of notes of an edition, without the `compared` ones, whose words are mostly in the running text of the
    `other` text."""
    unmarked = set()
    for layer in (SET_SMALL & edition.layers) - compared:
        notes = [stretch for stretch in edition.stretches() if stretch.layer is layer]
        sampled = notes[:: len(notes) // MAX_SAMPLED_NOTES + 1]
        keys = ("".join(other.table.key(cell.text) for cell in stretch.cells()) for stretch in sampled)
        samples = [note[:NOTE_SAMPLE_CHARACTERS] for note in keys if len(note) >= NOTE_SAMPLE_CHARACTERS]
        if sum(sample in other.keys for sample in samples) > MIN_PRESENT_SHARE * len(samples):
            unmarked.add(layer)
    return unmarked


def shared_layers(first: Transcription, second: Transcription) -> tuple[frozenset[Layer], frozenset[Layer]]:
    """The layers to compare, of the first text and of the second: the running text, and further layers that both have.
    A layer of which one text has next to nothing, such as a single date in brackets, does not count.

    If a page-marked text has subcommentary in full width, its layers cannot be distinguished from the classic, and all
    layers of both are compared."""
    first_layers, second_layers = first.layers, second.layers
    if _has_full_width_subcommentary(first) or _has_full_width_subcommentary(second):
        return first_layers - {Layer.LEMMA, Layer.APPARATUS}, second_layers - {Layer.LEMMA, Layer.APPARATUS}
    first_shares, second_shares = _layer_shares(first), _layer_shares(second)
    in_both = {
        layer
        for layer in _with_undivided(first_layers) & _with_undivided(second_layers)
        if first_shares[layer] >= MIN_LAYER_SHARE * second_shares[layer]
        and second_shares[layer] >= MIN_LAYER_SHARE * first_shares[layer]
    }
    return first_layers & (RUNNING_LAYERS | in_both), second_layers & (RUNNING_LAYERS | in_both)


def _layer_shares(edition: Transcription) -> defaultdict[Layer, float]:
    """The number of code points of each layer relative to that of the running text. Undivided commentary counts for
    both."""
    sizes: defaultdict[Layer, float] = defaultdict(float)
    for stretch in edition.stretches():
        sizes[stretch.layer] += len(stretch.source)
    sizes[Layer.COMMENTARY] += sizes[Layer.UNDIVIDED]
    running = sum(sizes[layer] for layer in RUNNING_LAYERS) or 1.0
    return defaultdict(float, {layer: size / running for layer, size in sizes.items()})


def _with_undivided(layers: frozenset[Layer]) -> frozenset[Layer]:
    """The layers, with commentary if it is undivided from the classic."""
    return layers | {Layer.COMMENTARY} if Layer.UNDIVIDED in layers else layers


def _has_full_width_subcommentary(edition: Transcription) -> bool:
    if not edition.paged or Layer.SUBCOMMENTARY not in edition.layers:
        return False
    return any(
        stretch.layer is Layer.CANON and stretch.source.lstrip().startswith(("疏曰", "䟽曰"))
        for stretch in edition.stretches()
    )


class PairCounts:
    """How often each pair of adjacent characters occurs in some texts."""

    def __init__(self, *texts: str) -> None:
        codes = [code_points(text).astype(np.int64) for text in texts]
        pairs = np.concatenate([(text_codes[:-1] << 32) | text_codes[1:] for text_codes in codes])
        self._pairs, self._counts = np.unique(pairs, return_counts=True)

    def __getitem__(self, pair: str) -> int:
        if len(pair) != 2:
            return 0
        code = (ord(pair[0]) << 32) | ord(pair[1])
        at = int(np.searchsorted(self._pairs, code))
        return int(self._counts[at]) if at < len(self._pairs) and self._pairs[at] == code else 0
