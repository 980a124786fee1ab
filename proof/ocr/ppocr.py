"""The default recogniser: PP-OCRv6 without the PaddleOCR package, with full posteriors.

The model (18,708 characters) is installed with the program. It reads lines from left to right, 48 pixels high; a column
turned 90° counter-clockwise is such a line. A CPU reads strips one by one, which is faster than padded batches; a GPU
reads those of one length together.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from proof.errors import EngineError, reason_of
from proof.images.opencv import cv2
from proof.locale.marking import Sentence, _
from proof.ocr.engine import EngineIdentity, Pixels, Posterior, ReadCharacter, Reading
from proof.ocr.models import ModelTask, packaged_model
from proof.ocr.network import Network, open_network, version_of
from proof.ocr.trained_characters import ByteStore, TrainedCharacters, TrainedEngine

INPUT_HEIGHT = 48
"""Height of a line for the network, in pixels."""

STEP_PX = 8
"""Input pixels along the line for each step of the posterior."""

MIN_KEPT_PROBABILITY = 1e-5
"""Probability at a step up to which a class is left out. A class that is left out counts as this probable."""

LINES_PER_BATCH = 32
"""Lines of one length that a GPU reads together; on a CPU batches gain nothing."""

MIN_SOUGHT_PROBABILITY = 1e-18
"""The least probability that is reported of a sought class."""

MAX_CLASSES = 24
"""Maximum number of classes that are kept for one step."""

MIN_LIKELY_PROBABILITY = 1e-3
"""Probability of a likely class. Where `MAX_CLASSES` classes of a step are likely, the others are dropped before
sorting."""

BLANK = 0

NO_CLASSES = np.zeros(0, np.int32)

_MAX_INT32 = 0x7FFFFFFF

UNTAUGHT_NATS = 0.3
"""Distance of the scores of a class from those of untrained classes, in nats, up to which it is untrained itself."""


class PPOCR(TrainedEngine):
    """The PP-OCR recogniser. `threads` is the number of threads of one reading, `readers` that of concurrent readings;
    `runtime` and `gpu` are those of `proof.ocr.network.open_network`.

    The model is loaded with the first strip, or when its characters are needed and `kept` does not have them. A model
    that the user names is loaded at once, so that a file that is no model is reported early, unless its identity is
    among the `known` ones: those of engines that read before. Raises EngineError.
    """

    def __init__(
        self,
        model: Path | None = None,
        threads: int = 1,
        runtime: str = "onnxruntime",
        readers: int = 1,
        known: Container[EngineIdentity] = (),
        kept: ByteStore | None = None,
        gpu: int | None = None,
    ) -> None:
        self._path = model or packaged_model(ModelTask.RECOGNITION)
        self._open = partial(open_network, self._path, runtime, threads, readers, gpu)
        self.at_once = 1 if gpu is None else LINES_PER_BATCH
        self._identity = EngineIdentity("ppocr", version_of(runtime, gpu), self._path.stem, _checksum_of(self._path))
        self._kept = kept
        self._loading = RLock()
        self._network: Network | None = None
        self._trained: TrainedCharacters | None = None
        if model is not None and self._identity not in known:
            self._loaded()

    @property
    def identity(self) -> EngineIdentity:
        return self._identity

    def _loaded(self) -> Network:
        if self._network is None:
            with self._loading:
                if self._network is None:
                    self._network = self._open()
        return self._network

    def trained_characters(self) -> TrainedCharacters:
        if self._trained is None:
            with self._loading:
                if self._trained is None:
                    trained = TrainedCharacters.stored(self._kept, self._identity)
                    if trained is None:
                        trained = self._measure_training()
                        trained.keep(self._kept, self._identity)
                    self._trained = trained
        return self._trained

    def _measure_training(self) -> TrainedCharacters:
        return TrainedCharacters(("", *self._loaded().characters, " "), trained_classes(self._run))

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        class_of = self.trained_characters().classes
        classes = np.array(sorted({class_of[text] for text in sought if text in class_of}), np.int32)
        if self.at_once > 1:
            return self._read_together(strips, classes)
        return [self._read(strip, classes) for strip in strips]

    def _read_together(self, strips: Sequence[Pixels], sought: NDArray[np.int32]) -> list[Reading]:
        """Read strips of equal length together. None is padded, since that would change its reading."""
        lines = [_line_of(strip) for strip in strips]
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for number, line in enumerate(lines):
            by_length[line.shape[1]].append(number)
        readings: dict[int, Reading] = {}
        for numbers in by_length.values():
            for start in range(0, len(numbers), self.at_once):
                batch = numbers[start : start + self.at_once]
                probabilities = self._compute(np.stack([lines[number] for number in batch]))
                for number, line_probabilities in zip(batch, probabilities, strict=True):
                    readings[number] = self._reading_of(line_probabilities, sought)
        return [readings[number] for number in range(len(strips))]

    def _read(self, strip: Pixels, sought: NDArray[np.int32]) -> Reading:
        return self._reading_of(self._run(strip), sought)

    def _reading_of(self, probabilities: NDArray[np.float32], sought: NDArray[np.int32]) -> Reading:
        posterior = sparse(probabilities, sought)
        return Reading(self._decode(posterior), posterior)

    def _run(self, strip: Pixels) -> NDArray[np.float32]:
        """Posteriors (steps x classes) of an upright strip, valid until this thread's next call."""
        return self._compute(_line_of(strip))

    def _compute(self, lines: Pixels) -> NDArray[np.float32]:
        """Posteriors of a line (height x width), or of several of one length (lines x height x width)."""
        network, images = self._loaded(), lines.astype(np.float32) / 127.5 - 1.0
        try:
            return network.posteriors(images) if images.ndim == 2 else network.posteriors_of(images)
        except Exception as error:  # the runtimes raise classes of their own, some straight under Exception
            raise EngineError(
                _("%(model)s: reading failed: %(error)s"), model=self._identity.model, error=error
            ) from error

    def _decode(self, posterior: Posterior) -> tuple[ReadCharacter, ...]:
        """Best-path decoding: a run of steps with the same most probable class is one character; blanks are dropped."""
        best = posterior.classes[:, 0].tolist()
        characters: list[ReadCharacter] = []
        end = 0
        for number, run in groupby(best):
            start, end = end, end + len(list(run))
            if number != BLANK:
                peak = start + int(posterior.log_probs[start:end, 0].argmax())
                characters.append(self._character(posterior, peak, start / len(best), end / len(best)))
        return tuple(characters)

    def _character(self, posterior: Posterior, step: int, start: float, end: float) -> ReadCharacter:
        """The character read at a step, with at most six alternatives."""
        characters = self.trained_characters().characters
        alternatives = tuple(
            (characters[int(number)], float(np.exp(log_prob)))
            for number, log_prob in zip(posterior.classes[step, :6], posterior.log_probs[step, :6], strict=True)
            if number > BLANK and log_prob > posterior.floor
        )
        text, probability = alternatives[0]
        return ReadCharacter(text, start, end, probability, alternatives)


def _checksum_of(model: Path) -> str:
    """The SHA-256 of a model's file. Raises EngineError."""
    try:
        return hashlib.sha256(model.read_bytes()).hexdigest()
    except OSError as error:
        why = Sentence(_("cannot be read (%(reason)s)"), reason=reason_of(error))
        raise EngineError(
            _("%(path)s: %(why)s; name an ONNX file, or none for the packaged model"), path=model, why=why
        ) from error


def _line_of(strip: Pixels) -> Pixels:
    """A strip as a line: turned and scaled to the height that the network needs."""
    line = cv2.rotate(strip, cv2.ROTATE_90_COUNTERCLOCKWISE)
    if line.shape[0] != INPUT_HEIGHT:
        width = max(STEP_PX, round(line.shape[1] * INPUT_HEIGHT / line.shape[0]))
        line = cv2.resize(line, (width, INPUT_HEIGHT), interpolation=cv2.INTER_AREA)
    return np.asarray(line, dtype=np.uint8)


def trained_classes(run: Callable[[Pixels], NDArray[np.float32]]) -> NDArray[np.bool_]:
    """Whether each class was trained: whether its score depends on the image.

    A class that never occurred in training gets the same score on every image, up to an offset that all such classes
    share. So three patterns of blots are read, and a class whose log-probabilities stay near those of the untrained
    classes is untrained. At each step the untrained classes share one value: that at which the log-probabilities of all
    classes are densest.
    """
    random = np.random.default_rng(0)
    log_probs_of_patterns = []
    for blur_px in (2.0, 3.0, 4.0):
        noise = cv2.GaussianBlur(random.integers(0, 256, (480, INPUT_HEIGHT)).astype(np.uint8), (0, 0), blur_px)
        pattern = np.where(noise > 127, 255, 0).astype(np.uint8)
        log_probs_of_patterns.append(np.log(run(pattern) + 1e-12))
    log_probs = np.vstack(log_probs_of_patterns)
    ordered = np.sort(log_probs, axis=1)
    tenth = max(1, ordered.shape[1] // 10)
    densest = (ordered[:, tenth:] - ordered[:, :-tenth]).argmin(axis=1)
    untaught = ordered[np.arange(len(ordered)), densest + tenth // 2]
    distance = np.sqrt(np.square(log_probs - untaught[:, None]).mean(axis=0))
    return np.asarray(distance > UNTAUGHT_NATS)


def sparse(probabilities: NDArray[np.float32], sought: NDArray[np.int32] = NO_CLASSES) -> Posterior:
    """The posterior (steps x classes) with only the classes of each step that are more probable than
    `MIN_KEPT_PROBABILITY`, at most `MAX_CLASSES`, and with the `sought` classes."""
    count = len(probabilities)
    steps, numbers, kept = _kept_classes(probabilities)
    # Step, improbability and class in one whole number: sorting these takes a tenth of the time of sorting by two keys.
    # The bits of positive floats have the order of the floats.
    bits = kept.view(np.int32).astype(np.int64)
    ranked = np.sort(steps << 48 | (_MAX_INT32 - bits) << 17 | numbers)
    starts = np.searchsorted(ranked, np.arange(count + 1) << 48)
    counts = np.diff(starts)
    rank = np.arange(ranked.size) - np.repeat(starts[:-1], counts)
    ranked, rank = ranked[rank < MAX_CLASSES], rank[rank < MAX_CLASSES]
    steps = ranked >> 48
    width = max(1, min(MAX_CLASSES, int(counts.max(initial=0))))
    classes = np.full((count, width), -1, np.int32)
    log_probs = np.full((count, width), np.log(MIN_KEPT_PROBABILITY), np.float32)
    classes[steps, rank] = ranked & 0x1FFFF
    log_probs[steps, rank] = np.log((_MAX_INT32 - (ranked >> 17 & _MAX_INT32)).astype(np.int32).view(np.float32))
    centres = ((np.arange(count) + 0.5) / count).astype(np.float32)
    sought_log_probs = np.log(np.maximum(probabilities[:, sought], MIN_SOUGHT_PROBABILITY))
    return Posterior(classes, log_probs, centres, float(np.log(MIN_KEPT_PROBABILITY)), sought, sought_log_probs)


def _kept_classes(
    probabilities: NDArray[np.float32],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """The steps, classes and probabilities of those classes that may be kept, step by step. Likely classes are all
    there, even if they are more than `MAX_CLASSES`."""
    # hardly any class is probable at any step: only those that are probable somewhere are compared step by step
    candidates = np.flatnonzero((probabilities > MIN_KEPT_PROBABILITY).any(axis=0))
    of_candidates = probabilities[:, candidates]
    flat = np.flatnonzero(of_candidates > MIN_KEPT_PROBABILITY)
    kept = of_candidates.ravel()[flat]
    starts = np.searchsorted(flat, np.arange(len(probabilities) + 1) * candidates.size)
    steps = np.repeat(np.arange(len(probabilities)), np.diff(starts))
    # an unsure step has thousands of probable classes: where enough of them are likely, the others are dropped
    likely = kept > MIN_LIKELY_PROBABILITY
    likely_before = np.concatenate([[0], np.cumsum(likely)])[starts]
    chosen = likely | (np.diff(likely_before) < MAX_CLASSES)[steps]
    flat, kept, steps = flat[chosen], kept[chosen], steps[chosen]
    return steps, candidates[flat - steps * candidates.size], kept
