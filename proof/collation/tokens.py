"""A witness as a sequence of characters in reading order, each with a key that is equal for all forms of a word.

Since there are millions, characters are stored as numbers: code points, or, for entities and compositions, numbers that
`Keys` assigns.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proof.text.layers import Layer
from proof.text.positions import code_points
from proof.text.transcription import Transcription
from proof.text.variants import unified

RUNNING = frozenset({Layer.CANON, Layer.UNDIVIDED, Layer.HEADING})
"""Layers that every witness of a text has; others are compared only if both have them. A heading in one witness may be
a column of text in another."""

MIN_LAYER_SHARE = 0.02
"""Share of a layer in one text, relative to that in the other, from which on both count as having it."""

MAX_SHOWN = 40
"""Characters of a passage that are shown; of a longer one its beginning and its end."""

_UNKNOWN = 0x100000
"""First key of entities and compositions: in a private plane that no text uses."""

_NAMED = 0x110000
"""First number of entities and compositions: after all code points."""

Codes = NDArray[np.int32]


class Keys:
    """Assigns a number and a key of one code point to every character, entity and composition. `fold` gives the key of
    a character."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        self._fold = fold
        self._known: dict[str, str] = {}
        self._others = 0
        self._names: list[str] = []
        self._number_of: dict[str, int] = {}

    def key(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            bare = unified(text)
            known = self._fold(bare) if len(bare) == 1 else ""
            if len(known) != 1:
                known = chr(_UNKNOWN + self._others % 0xFFFE)
                self._others += 1
            self._known[text] = known
        return known

    def code(self, text: str) -> int:
        """The number of a character, an entity or a composition."""
        if len(text) == 1:
            return ord(text)
        if text not in self._number_of:
            self._number_of[text] = _NAMED + len(self._names)
            self._names.append(text)
        return self._number_of[text]

    def text(self, code: int) -> str:
        """The character, entity or composition with that number."""
        return chr(code) if code < _NAMED else self._names[code - _NAMED]

    def keys(self, codes: Codes) -> str:
        """The keys of characters by their numbers."""
        unique, places = np.unique(codes, return_inverse=True)
        keys = np.array([ord(self.key(self.text(code))) for code in unique.tolist()], dtype="<u4")
        return keys[places].tobytes().decode("utf-32-le", "surrogatepass") if len(unique) else ""


@dataclass(frozen=True, slots=True)
class WitnessTokens:
    """The characters of an edition in the compared layers. Of character i `codes[i]` is the number by `numbers`,
    `keys[i]` the key, `starts[i]` and `ends[i]` its place in the file, `blocks[i]` the index of its block in the
    edition, and `layers[i]` the layer."""

    edition: Transcription
    numbers: Keys
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
        return self.numbers.text(int(self.codes[at]))

    def texts(self, start: int, end: int) -> Sequence[str]:
        """The texts of characters `start` to `end`."""
        codes = self.codes[start:end]
        if codes.size and codes.max() < _NAMED:
            return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        return [self.numbers.text(code) for code in codes.tolist()]

    def text(self, start: int, end: int) -> str:
        """The text of characters `start` to `end`."""
        return "".join(self.texts(start, end))

    def shown(self, start: int, end: int) -> str:
        """The text of characters `start` to `end` for display: of more than `MAX_SHOWN` the beginning and the end."""
        if end - start <= MAX_SHOWN:
            return self.text(start, end)
        return f"{self.text(start, start + MAX_SHOWN // 2)} … {self.text(end - MAX_SHOWN // 2, end)}"

    def index_before(self, place: int) -> int:
        """The index of the last character that begins before a code point of the file; -1 if there is none."""
        return bisect_right(self.starts, place - 1) - 1


def sequence_of(edition: Transcription, keys: Keys, layers: Iterable[Layer]) -> WitnessTokens:
    """The characters of `edition` in `layers`, in the order of the file."""
    wanted = frozenset(layers)
    codes, starts, ends, blocks, layer_of = array("i"), array("q"), array("q"), array("i"), list[Layer]()
    for number, block in enumerate(edition.blocks):
        for stretch in block.stretches:
            if stretch.layer not in wanted:
                continue
            if stretch.plain:
                codes.frombytes(stretch.source.encode("utf-32-le", "surrogatepass"))
                starts.extend(range(stretch.start, stretch.end))
                ends.extend(range(stretch.start + 1, stretch.end + 1))
            else:
                for cell in stretch.cells():
                    codes.append(keys.code(cell.text))
                    starts.append(cell.start)
                    ends.append(cell.end)
            added = len(codes) - len(blocks)
            blocks.extend([number] * added)
            layer_of += [stretch.layer] * added
    as_numbers = np.frombuffer(codes, dtype=np.int32) if codes else np.zeros(0, dtype=np.int32)
    return WitnessTokens(edition, keys, as_numbers, keys.keys(as_numbers), starts, ends, blocks, layer_of)


def shared_layers(first: Transcription, second: Transcription) -> tuple[frozenset[Layer], frozenset[Layer]]:
    """The layers to compare of each text: the running text, and further layers that both have. A layer of which one
    text has next to nothing, as a single date in brackets, does not count.

    If a page-marked text has subcommentary or glosses in full width, they cannot be distinguished from the classic:
    then all layers of both are compared."""
    mine, theirs = first.layers, second.layers
    if _mixed(first) or _mixed(second):
        return mine - {Layer.LEMMA, Layer.APPARATUS}, theirs - {Layer.LEMMA, Layer.APPARATUS}
    shares, other_shares = _shares(first), _shares(second)
    both = {
        layer
        for layer in _with_undivided(mine) & _with_undivided(theirs)
        if shares[layer] >= MIN_LAYER_SHARE * other_shares[layer]
        and other_shares[layer] >= MIN_LAYER_SHARE * shares[layer]
    }
    return mine & (RUNNING | both), theirs & (RUNNING | both)


def _shares(edition: Transcription) -> defaultdict[Layer, float]:
    """The code points of each layer relative to those of the running text; undivided commentary counts for both."""
    sizes: defaultdict[Layer, float] = defaultdict(float)
    for stretch in edition.stretches():
        sizes[stretch.layer] += len(stretch.source)
    sizes[Layer.COMMENTARY] += sizes[Layer.UNDIVIDED]
    running = sum(sizes[layer] for layer in RUNNING) or 1.0
    return defaultdict(float, {layer: size / running for layer, size in sizes.items()})


def _with_undivided(layers: frozenset[Layer]) -> frozenset[Layer]:
    """The layers, with commentary if it is undivided from the classic."""
    return layers | {Layer.COMMENTARY} if Layer.UNDIVIDED in layers else layers


def _mixed(edition: Transcription) -> bool:
    """Whether subcommentary is in full width like the classic."""
    if not edition.paged or Layer.SUBCOMMENTARY not in edition.layers:
        return False
    return any(
        stretch.layer is Layer.CANON and stretch.source.lstrip().startswith(("疏曰", "䟽曰"))
        for stretch in edition.stretches()
    )


class PairCounts:
    """The number of occurrences of pairs of adjacent characters in some texts."""

    def __init__(self, *texts: str) -> None:
        codes = [code_points(text).astype(np.int64) for text in texts]
        pairs = np.concatenate([(text_codes[:-1] << 32) | text_codes[1:] for text_codes in codes])
        self._pairs, self._counts = np.unique(pairs, return_counts=True)

    def __getitem__(self, pair: str) -> int:
        if len(pair) != 2:
            return 0
        wanted = (ord(pair[0]) << 32) | ord(pair[1])
        at = int(np.searchsorted(self._pairs, wanted))
        return int(self._counts[at]) if at < len(self._pairs) and self._pairs[at] == wanted else 0
