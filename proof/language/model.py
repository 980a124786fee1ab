"""The model of the language: how often which characters stand together in the texts that it was learned from.

It is counts and nothing else, so that what a text brought to them can be taken off again. A file of it is a NumPy
archive (`.npz`); `proof learn` makes one from any texts, one made by `scripts/make_language.py` comes with the program.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from proof.errors import UsageError
from proof.language.copies import BITS as RUN_BITS
from proof.language.copies import learned_places, runs
from proof.language.look_alikes import PLANE, Codes, Folding, LookAlikes
from proof.language.ngrams import BEFORE, PATTERNS, Counts, Keys, Numbers, mixed, packed, unpacked
from proof.language.ngrams import keys as keys_of
from proof.language.stream import MARGIN, UNKNOWN, TokenStream

FORMAT = 2
FILE = "data/language.npz"

SMALLEST = {"counts_number": zipfile.ZIP_LZMA}
"""How parts of the file are compressed, where it is not as usual: counts take a tenth less so."""

Least = Sequence[Sequence[int]]
"""How often an n-gram around a character that has look-alikes must have been met to be kept, by its pattern and by
how near the nearest of these is (`Nearness`); 0 where none is kept."""

EVERY: Least = tuple(
    (1, 1, 1) if len(pattern) == 1 or number in (2, 3, 4) else (2, 2, 2) for number, pattern in enumerate(PATTERNS)
)
"""What is kept of texts that anybody has learned."""

OTHERS = 3
"""How often two characters of which neither has look-alikes must have been met together to be kept."""


class Counted(Protocol):
    """What is asked for counts: a model, or one from which a text was taken off."""

    def of_keys(self, pattern: int, wanted: Keys) -> Numbers:
        """How often each key of a pattern was met."""

    def shares(self, candidates: Codes) -> NDArray[np.float32]:
        """For characters that may stand at a place (n x k, 0 for none) their shares among one another."""

    def frequency(self, codes: Codes) -> NDArray[np.float32]:
        """The share of each character among all; more than 0 for one that was never met."""

    def occurrences(self, codes: Codes) -> NDArray[np.float32]:
        """How often each character was met; 0 for what is none."""

    def learned(self, folded: Codes) -> NDArray[np.bool_]:
        """For every token of a text whether the model learned the passage in which it stands."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """`counts` are those of the n-grams, `known` how often each character was met (by code point), `learned_runs` what
    tells a text that was learned (`proof.language.copies`), `sources` the titles of what was learned, `patterns` the
    numbers of those of which n-grams are kept: a key of another could be found by a chance equality of hashes alone."""

    counts: Counts
    known: Numbers
    learned_runs: Keys
    sources: tuple[str, ...]
    patterns: frozenset[int]

    @property
    def characters(self) -> int:
        """Characters that it was learned from."""
        return int(self.known[UNKNOWN + 1 :].sum())

    def of_keys(self, pattern: int, wanted: Keys) -> Numbers:
        return self.counts.of_keys(wanted) if pattern in self.patterns else np.zeros(wanted.shape, np.int32)

    def shares(self, candidates: Codes) -> NDArray[np.float32]:
        return shares_of(self.known, candidates)

    def frequency(self, codes: Codes) -> NDArray[np.float32]:
        return frequency_of(self.known, codes)

    def occurrences(self, codes: Codes) -> NDArray[np.float32]:
        return occurrences_of(self.known, codes)

    def learned(self, folded: Codes) -> NDArray[np.bool_]:
        return learned_places(folded, self.learned_runs)

    def write(self, file: IO[bytes]) -> None:
        """Write it to an open file. Raises OSError."""
        codes = np.flatnonzero(self.known)
        arrays = {
            "format": np.array(FORMAT),
            "codes": codes.astype(np.uint32),
            "known": self.known[codes],
            "sources": np.array(self.sources, np.str_),
            "patterns": np.array(sorted(self.patterns), np.uint8),
        }
        arrays |= {f"counts_{name}": array for name, array in packed(self.counts).items()}
        learned = Counts(self.learned_runs, np.ones(len(self.learned_runs), np.int32), RUN_BITS)
        arrays |= {f"runs_{name}": array for name, array in packed(learned).items()}
        with zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                entry = zipfile.ZipInfo(f"{name}.npy")
                entry.compress_type = SMALLEST.get(name, zipfile.ZIP_DEFLATED)
                with archive.open(entry, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array)  # type: ignore[no-untyped-call]

    @classmethod
    def load(cls, path: Path) -> LanguageModel:
        """The model in a file. Raises UsageError where there is none."""
        try:
            with np.load(path) as arrays:
                if int(arrays["format"]) != FORMAT:
                    raise UsageError(f"{path}: a model in form {arrays['format']}: make it again with `proof learn`")
                known = np.zeros(PLANE, np.int32)
                known[arrays["codes"]] = arrays["known"]
                parts = {
                    name: unpacked({key: arrays[f"{name}_{key}"] for key in ("lower", "steps", "number", "shape")})
                    for name in ("counts", "runs")
                }
                runs_kept, sources = parts["runs"].known.astype(np.uint64), tuple(map(str, arrays["sources"]))
                return cls(parts["counts"], known, runs_kept, sources, frozenset(map(int, arrays["patterns"])))
        except UsageError:
            raise
        except Exception as error:  # a damaged archive makes its readers raise whatever they meet
            fault = "no model of the language, or a damaged one"
            if isinstance(error, OSError) and error.filename is not None:
                fault = f"cannot be read ({error.strerror})"
            raise UsageError(f"{path}: {fault}; make one with `proof learn`") from error

    @classmethod
    def shipped(cls) -> LanguageModel:
        """The one that comes with the program."""
        return ModelFile().model()


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model, loaded when it is asked for; without a path the one that comes with the program."""

    path: Path | None = None

    @property
    def checksum(self) -> str:
        """What the model can be told by. Raises UsageError where the file cannot be read."""
        with self._there() as path:
            try:
                return _checksum(path, path.stat().st_mtime_ns)
            except OSError as error:
                raise UsageError(f"{path}: {error}") from error

    def model(self) -> LanguageModel:
        """The model, kept in memory. Raises UsageError where there is none."""
        with self._there() as path:
            return _loaded(path, self.checksum)

    def _there(self) -> AbstractContextManager[Path]:
        own = resources.files("proof.language").joinpath(FILE)
        return nullcontext(self.path) if self.path else resources.as_file(own)


@lru_cache(maxsize=4)
def _checksum(path: Path, changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@lru_cache(maxsize=1)
def _loaded(path: Path, checksum: str) -> LanguageModel:
    return LanguageModel.load(path)


def shares_of(known: Numbers, candidates: Codes) -> NDArray[np.float32]:
    """Shares of characters among one another, by how often each was met."""
    share = np.where(candidates > 0, known[np.minimum(candidates, PLANE - 1)] + 0.5, 0.0)
    return np.asarray(share / np.maximum(share.sum(1, keepdims=True), 1e-9), np.float32)


def frequency_of(known: Numbers, codes: Codes) -> NDArray[np.float32]:
    """The share of each character among all that were met."""
    return np.asarray((known[np.minimum(codes, PLANE - 1)] + 0.5) / max(int(known[UNKNOWN + 1 :].sum()), 1), np.float32)


def occurrences_of(known: Numbers, codes: Codes) -> NDArray[np.float32]:
    """How often each character was met; 0 for breaks and what is no single character."""
    return np.where(codes > UNKNOWN, known[np.minimum(codes, PLANE - 1)], 0).astype(np.float32)


def all_keys(raw: Codes, folded: Codes, pattern: int) -> Keys:
    """The key of every token of a text in one pattern, but for the `MARGIN` tokens at either end."""
    size = len(folded) - 2 * MARGIN
    keys = np.full(size, mixed(np.array([pattern + 1], np.uint64))[0], np.uint64)
    for offset in PATTERNS[pattern]:
        beside = folded[MARGIN + offset : MARGIN + offset + size].astype(np.uint64)
        keys = mixed(keys ^ (beside + np.uint64((offset + 16) << 40)))
    return keys_of(keys, raw[MARGIN : MARGIN + size])


def learn(
    streams: Sequence[TokenStream],
    sources: Sequence[str] = (),
    least: Least = EVERY,
    others: int = OTHERS,
    bits: int = 40,
    beside: Sequence[TokenStream] = (),
) -> LanguageModel:
    """A model of what these texts say.

    `others` says how often two characters that have no look-alikes must be met together to be kept; `bits` are those
    of a key: the fewer, the smaller is the file and the more often two n-grams are taken for one. Texts `beside` are
    counted too, but what was met once in them and nowhere else is not kept.
    """
    every = [*streams, *beside]
    raw = np.concatenate([stream.tokens for stream in every] or [np.zeros(2 * MARGIN, np.uint32)])
    main = np.arange(len(raw) - 2 * MARGIN) < sum(map(len, streams))
    look_alikes = LookAlikes.shipped()
    folded = Folding(look_alikes)(raw)
    near = look_alikes.nearness_of(raw[MARGIN:-MARGIN])
    kept = []
    for number in range(len(PATTERNS)):
        met = all_keys(raw, folded, number)
        for nearness, times in enumerate(least[number]):
            if times:
                here = near == nearness
                counts = Counts.of(met[here], bits)
                enough = counts.number >= times
                if beside and times == 1:
                    enough = (counts.number > 1) | counts.also_in(Counts.of(met[here & main], bits))
                kept.append(counts.where(enough))
        if number == BEFORE:
            kept.append(Counts.of(met[plain_pairs(raw)], bits).at_least(others))
    known = np.bincount(np.minimum(raw, PLANE - 1), minlength=PLANE).astype(np.int32)
    patterns = frozenset(number for number in range(len(PATTERNS)) if number == BEFORE or any(least[number]))
    return LanguageModel(Counts.merged(kept, bits), known, np.unique(runs(folded)[0]), tuple(sources), patterns)


def plain_pairs(raw: Codes) -> NDArray[np.bool_]:
    """For every token but the `MARGIN` at either end whether it and the one before it are characters without
    look-alikes: pairs with one that has them are kept around this."""
    row_of = LookAlikes.shipped().row_of
    first, second = raw[MARGIN - 1 : -MARGIN - 1], raw[MARGIN:-MARGIN]
    plain = (row_of[np.minimum(first, PLANE - 1)] < 0) & (row_of[np.minimum(second, PLANE - 1)] < 0)
    return np.asarray(plain & (first > UNKNOWN) & (second > UNKNOWN))
