"""The language model: counts of characters in context in the training texts.

It consists of counts only, so that the contribution of a text can be subtracted. Its file is a NumPy archive (`.npz`);
`proof learn` makes one from any texts, and one made by `scripts/make_language.py` comes with the program.
"""

from __future__ import annotations

import hashlib
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from proof.errors import UsageError, reason_of
from proof.language.copies import RUN_BITS, learned_places, runs
from proof.language.look_alikes import HAN_END, Codes, Folding, LookAlikes
from proof.language.ngrams import BEFORE, PATTERNS, Counts, Keys, Numbers, contexts, keys, packed, unpacked
from proof.language.stream import MARGIN_TOKENS, UNKNOWN, TokenStream
from proof.locale.marking import Sentence, _

FORMAT_VERSION = 2
FILE = "data/language.npz"

COMPRESSION = {"counts_number": zipfile.ZIP_LZMA}
"""Parts of the file that are not compressed by Deflate. LZMA makes the counts a tenth smaller."""

MinCounts = Sequence[Sequence[int]]
"""Minimum count of an n-gram around a character with look-alikes for it to be kept, by pattern and by the nearness of
the nearest of these (`Nearness`); 0 if none is kept."""

MIN_COUNTS: MinCounts = tuple(
    (1, 1, 1) if len(pattern) == 1 or number in (2, 3, 4) else (2, 2, 2) for number, pattern in enumerate(PATTERNS)
)
"""The minimum counts for models that users make."""

MIN_PLAIN_PAIR_COUNT = 3
"""Minimum count of a pair of characters without look-alikes for it to be kept."""


class Counted(ABC):
    """A source of counts: a model, or a model from which a text was subtracted. `character_counts` has the count of
    each character by code point."""

    __slots__ = ()
    character_counts: Numbers

    @abstractmethod
    def of_keys(self, pattern: int, sought: Keys) -> Numbers:
        """The count of each key of a pattern."""

    @abstractmethod
    def learned(self, folded: Codes) -> NDArray[np.bool_]:
        """Whether each token of a text is in a passage of the training texts."""

    def shares(self, candidates: Codes) -> NDArray[np.float32]:
        """The shares of the candidates of each place among one another (n x k, 0 for none)."""
        share = np.where(candidates > 0, self.character_counts[np.minimum(candidates, HAN_END - 1)] + 0.5, 0.0)
        return np.asarray(share / np.maximum(share.sum(1, keepdims=True), 1e-9), np.float32)

    def frequency(self, codes: Codes) -> NDArray[np.float32]:
        """The share of each character among all; more than 0 also for unknown ones."""
        total = max(int(self.character_counts[UNKNOWN + 1 :].sum()), 1)
        return np.asarray((self.character_counts[np.minimum(codes, HAN_END - 1)] + 0.5) / total, np.float32)

    def occurrences(self, codes: Codes) -> NDArray[np.float32]:
        """The count of each character; 0 for other tokens."""
        return np.where(codes > UNKNOWN, self.character_counts[np.minimum(codes, HAN_END - 1)], 0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class LanguageModel(Counted):
    """A model: the `counts` of n-grams; `learned_runs`, by which training texts are recognised
    (`proof.language.copies`); their titles (`sources`); and the numbers of the `patterns` whose n-grams are kept (keys
    of others would match only by equal hashes)."""

    counts: Counts
    character_counts: Numbers
    learned_runs: Keys
    sources: tuple[str, ...]
    patterns: frozenset[int]

    @property
    def characters(self) -> int:
        """The number of characters of the training texts."""
        return int(self.character_counts[UNKNOWN + 1 :].sum())

    def of_keys(self, pattern: int, sought: Keys) -> Numbers:
        return self.counts.of_keys(sought) if pattern in self.patterns else np.zeros(sought.shape, np.int32)

    def learned(self, folded: Codes) -> NDArray[np.bool_]:
        return learned_places(folded, self.learned_runs)

    def write(self, file: IO[bytes]) -> None:
        """Write the model to an open file. Raises OSError."""
        codes = np.flatnonzero(self.character_counts)
        arrays = {
            "format": np.array(FORMAT_VERSION),
            "codes": codes.astype(np.uint32),
            "known": self.character_counts[codes],
            "sources": np.array(self.sources, np.str_),
            "patterns": np.array(sorted(self.patterns), np.uint8),
        }
        arrays |= {f"counts_{name}": array for name, array in packed(self.counts).items()}
        learned = Counts(self.learned_runs, np.ones(len(self.learned_runs), np.int32), RUN_BITS)
        arrays |= {f"runs_{name}": array for name, array in packed(learned).items()}
        with zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                entry = zipfile.ZipInfo(f"{name}.npy")
                entry.compress_type = COMPRESSION.get(name, zipfile.ZIP_DEFLATED)
                with archive.open(entry, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array)  # type: ignore[no-untyped-call]

    @classmethod
    def load(cls, path: Path) -> LanguageModel:
        """The model in a file. Raises UsageError if there is none."""
        try:
            with np.load(path) as arrays:
                if int(arrays["format"]) != FORMAT_VERSION:
                    raise UsageError(
                        _("%(path)s: a model of the format %(form)s: make it again with `proof learn`"),
                        path=path,
                        form=arrays["format"],
                    )
                character_counts = np.zeros(HAN_END, np.int32)
                character_counts[arrays["codes"]] = arrays["known"]

                def counts(name: str) -> Counts:
                    return unpacked({key: arrays[f"{name}_{key}"] for key in ("lower", "steps", "number", "shape")})

                return cls(
                    counts("counts"),
                    character_counts,
                    counts("runs").keys.astype(np.uint64),
                    tuple(map(str, arrays["sources"])),
                    frozenset(map(int, arrays["patterns"])),
                )
        except UsageError:
            raise
        except Exception as error:  # on a damaged archive the readers raise many classes
            raise _unusable(path, error) from error

    @classmethod
    def shipped(cls) -> LanguageModel:
        """The model that comes with the program."""
        return ModelFile().model()


def _unusable(path: Path, error: Exception) -> UsageError:
    """The error for a file that cannot be read, or is no model."""
    fault = Sentence(_("not a language model, or damaged"))
    if isinstance(error, OSError) and error.filename is not None:
        fault = Sentence(_("cannot be read (%(reason)s)"), reason=reason_of(error))
    return UsageError(_("%(path)s: %(fault)s; make one with `proof learn`"), path=path, fault=fault)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The file of a model, loaded on demand; without a path the one that comes with the program."""

    path: Path | None = None

    @property
    def checksum(self) -> str:
        """The checksum of the model. Raises UsageError if the file cannot be read."""
        with self._path() as path:
            try:
                return _checksum(path, path.stat().st_mtime_ns)
            except OSError as error:
                raise _unusable(path, error) from error

    def model(self) -> LanguageModel:
        """The model, cached. Raises UsageError if there is none."""
        with self._path() as path:
            return _loaded(path, self.checksum)

    def _path(self) -> AbstractContextManager[Path]:
        shipped = resources.files("proof.language").joinpath(FILE)
        return nullcontext(self.path) if self.path else resources.as_file(shipped)


@lru_cache(maxsize=4)
def _checksum(path: Path, changed: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@lru_cache(maxsize=1)
def _loaded(path: Path, checksum: str) -> LanguageModel:
    return LanguageModel.load(path)


def all_keys(raw: Codes, folded: Codes, pattern: int) -> Keys:
    """The key of every token of a text in one pattern, without the `MARGIN_TOKENS` tokens at either end."""
    size = len(folded) - 2 * MARGIN_TOKENS
    beside = [folded[MARGIN_TOKENS + offset : MARGIN_TOKENS + offset + size] for offset in PATTERNS[pattern]]
    return keys(contexts(beside, PATTERNS[pattern], pattern), raw[MARGIN_TOKENS : MARGIN_TOKENS + size])


def learn(
    streams: Sequence[TokenStream],
    sources: Sequence[str] = (),
    min_counts: MinCounts = MIN_COUNTS,
    min_plain_count: int = MIN_PLAIN_PAIR_COUNT,
    bits: int = 40,
    beside: Sequence[TokenStream] = (),
) -> LanguageModel:
    """Make a model of these texts.

    `min_plain_count` is the minimum count of a pair of characters without look-alikes. `bits` is the length of a key:
    shorter keys make a smaller file, but more collisions of n-grams. Texts `beside` are counted too, but n-grams that
    occur only once, and only in them, are not kept."""
    all_streams = [*streams, *beside]
    raw = np.concatenate([stream.tokens for stream in all_streams] or [np.zeros(2 * MARGIN_TOKENS, np.uint32)])
    is_in_streams = np.arange(len(raw) - 2 * MARGIN_TOKENS) < sum(map(len, streams))
    look_alikes = LookAlikes.shipped()
    folded = Folding(look_alikes)(raw)
    nearness_of_tokens = look_alikes.nearness_of(raw[MARGIN_TOKENS:-MARGIN_TOKENS])
    kept = []
    for number in range(len(PATTERNS)):
        token_keys = all_keys(raw, folded, number)
        for nearness, min_count in enumerate(min_counts[number]):
            if min_count:
                is_so_near = nearness_of_tokens == nearness
                counts = Counts.of(token_keys[is_so_near], bits)
                is_kept = counts.counts >= min_count
                if beside and min_count == 1:
                    in_streams = Counts.of(token_keys[is_so_near & is_in_streams], bits)
                    is_kept = (counts.counts > 1) | np.isin(counts.keys, in_streams.keys)
                kept.append(counts.where(is_kept))
        if number == BEFORE:
            counts = Counts.of(token_keys[plain_pairs(raw)], bits)
            kept.append(counts.where(counts.counts >= min_plain_count))
    character_counts = np.bincount(np.minimum(raw, HAN_END - 1), minlength=HAN_END).astype(np.int32)
    patterns = frozenset(number for number in range(len(PATTERNS)) if number == BEFORE or any(min_counts[number]))
    return LanguageModel(
        Counts.merged(kept, bits), character_counts, np.unique(runs(folded)[0]), tuple(sources), patterns
    )


def plain_pairs(raw: Codes) -> NDArray[np.bool_]:
    """Whether each token and the one before it are characters without look-alikes, for all tokens but the
    `MARGIN_TOKENS` at either end. Other pairs are counted as patterns around the character with look-alikes."""
    plain = ~LookAlikes.shipped().has(raw) & (raw > UNKNOWN)
    return np.asarray(plain[MARGIN_TOKENS - 1 : -MARGIN_TOKENS - 1] & plain[MARGIN_TOKENS:-MARGIN_TOKENS])
