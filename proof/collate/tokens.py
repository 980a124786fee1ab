"""A witness as a sequence: its characters in reading order, each with a key under which forms of a word are equal."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from proof.text.variants import unified
from proof.text.witness import Edition, Layer, WitnessCell

RUNNING = frozenset({Layer.CANON, Layer.UNDIVIDED, Layer.HEADING})
"""Layers that every witness of a text has; the others are compared only where both have them. What is a heading in one
may be a column of text in another."""

_UNKNOWN = 0x100000
"""Where the keys of entities and compositions begin: a private plane, in which no text has characters."""


class Keys:
    """Gives every character, entity and composition a key of one code point. `fold` is the key of a character."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        self._fold = fold
        self._known: dict[str, str] = {}
        self._others = 0

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


@dataclass(frozen=True, slots=True)
class WitnessTokens:
    """The characters of an edition in the layers that are compared. `keys[i]` belongs to `cells[i]`; `blocks[i]` is
    the number in the edition's blocks of the one that it stands in, `layers[i]` its layer."""

    edition: Edition
    cells: tuple[WitnessCell, ...]
    keys: str
    blocks: tuple[int, ...]
    layers: tuple[Layer, ...]
    starts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.cells)

    def text(self, start: int, end: int) -> str:
        """What cells `start` to `end` say."""
        return "".join(cell.text for cell in self.cells[start:end])

    def index_before(self, place: int) -> int:
        """The number of the last cell that begins before a code point of the file; -1 where there is none."""
        return bisect_right(self.starts, place - 1) - 1


def sequence_of(edition: Edition, keys: Keys, layers: Iterable[Layer]) -> WitnessTokens:
    """The characters of `edition` in `layers`, in the order of the file."""
    wanted = frozenset(layers)
    cells: list[WitnessCell] = []
    blocks: list[int] = []
    of_layer: list[Layer] = []
    for number, block in enumerate(edition.blocks):
        for stretch in block.stretches:
            if stretch.layer in wanted:
                found = list(stretch.cells())
                cells += found
                blocks += [number] * len(found)
                of_layer += [stretch.layer] * len(found)
    return WitnessTokens(
        edition,
        tuple(cells),
        "".join(keys.key(cell.text) for cell in cells),
        tuple(blocks),
        tuple(of_layer),
        tuple(cell.start for cell in cells),
    )


def shared_layers(one: Edition, other: Edition) -> tuple[frozenset[Layer], frozenset[Layer]]:
    """The layers to compare of each: the running text, and what else both have.

    In a page-marked text that prints subcommentary or glosses in full width they cannot be told from the classic:
    then everything of both is compared.
    """
    mine, theirs = one.layers, other.layers
    if _mixed(one) or _mixed(other):
        return mine - {Layer.LEMMA, Layer.APPARATUS}, theirs - {Layer.LEMMA, Layer.APPARATUS}
    common = RUNNING | (_told(mine) & _told(theirs))
    return mine & common, theirs & common


def _told(layers: frozenset[Layer]) -> frozenset[Layer]:
    """The layers, commentary that runs together with the classic among them."""
    return layers | {Layer.COMMENTARY} if Layer.UNDIVIDED in layers else layers


def _mixed(edition: Edition) -> bool:
    """Whether subcommentary stands in full width although the classic does too."""
    if not edition.paged or Layer.SUBCOMMENTARY not in edition.layers:
        return False
    return any(
        stretch.layer is Layer.CANON and stretch.source.lstrip().startswith(("疏曰", "䟽曰"))
        for stretch in edition.stretches()
    )
