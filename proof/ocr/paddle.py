"""The `paddleocr` engine: the paddleocr package on onnxruntime, without PaddlePaddle.

It works offline unless the user names one of PaddleOCR's own models: the packaged models and the user's model folders
or ONNX files are loaded from disk, and PaddleX's search for a model hub is switched off. The package takes more than a
second to import, so it is imported, and the model loaded, with the first strip.

The engine gives the characters of a strip, their places, and one score for all of them, but no posteriors.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.errors import EngineError, reason_of
from proof.images.opencv import cv2
from proof.locale.marking import Sentence, _
from proof.ocr.engine import EngineIdentity, Pixels, ReadCharacter, Reading
from proof.ocr.models import (
    CACHE_REMEDY,
    ModelFolder,
    ModelTask,
    cache_folder,
    dictionary,
    model_folder,
    packaged_model,
)
from proof.ocr.page import PageLine, PageReading, Quad, reading_order
from proof.ocr.ppocr import familiarity
from proof.paths import expanded

DETECTION_SIDE_PX = 1280
"""Longer side, in pixels, to which a page is scaled to detect lines. On pages with tables, on two registers and a
colour scan 960 missed an eighth of the characters in tables; 1600 gained none and took 150 MB more."""

DETECTION_SCORE = 0.4
"""Least mean probability of a line's outline. The 0.6 of the packaged settings missed a third of a table's cells and
the notes of the two registers."""

# Between these a line has one or two characters: it is read both ways, and the better score decides.
MIN_VERTICAL_RATIO = 2.0
"""Height to width from which on a line is surely vertical."""

MAX_HORIZONTAL_RATIO = 0.5
"""Height to width below which a line is surely horizontal."""


@dataclass(frozen=True, slots=True)
class PaddleSettings:
    """The settings of the engine.

    `model` and `detection_model` are each a folder with `inference.onnx` and `inference.yml`, an ONNX file
    that carries its dictionary, or the name of one of PaddleOCR's models, which it then fetches; empty, the
    packaged one. `threads` are those of one reading (0: one a core). `device` is `cpu`, `gpu` or `gpu:1`;
    the latter two need onnxruntime-gpu. `cache` is where model folders are made (`cache_folder()`).
    """

    model: str = ""
    detection_model: str = ""
    threads: int = 1
    device: str = "cpu"
    cache: Path | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"cpu|gpu(:\d+)?", self.device):
            raise EngineError(
                _("paddleocr: unknown device %(device)s: cpu, gpu or gpu:<number>"), device=repr(self.device)
            )
        if self.threads < 0:
            raise EngineError(
                _("paddleocr: %(threads)s threads: give 1 or more, or 0 for one a core"), threads=self.threads
            )


class _Model:
    """One of PaddleOCR's predictors, loaded at the first call and used by one thread at a time.

    PaddleX keeps the batch size and its counters in the predictor itself, so calls must not overlap.
    """

    def __init__(self, kind: str, task: ModelTask, named: str, settings: PaddleSettings, **options: Any) -> None:
        self._kind, self._task, self._named = kind, task, named
        self._settings, self._options = settings, options
        self._lock = threading.RLock()
        self._folder: ModelFolder | None = None
        self._predictor: Any = None

    @property
    def folder(self) -> ModelFolder:
        """The folder of the model. One of PaddleOCR's own is fetched if need be, others must be on disk."""
        with self._lock:
            if self._folder is None:
                self._folder = self._locate()
            return self._folder

    def predict(self, image: Pixels, **options: Any) -> dict[str, Any]:
        """The predictor's result for one grey image, which it gets as three equal channels."""
        channels = np.repeat(image[:, :, np.newaxis], 3, axis=2)
        with self._lock:
            predictor = self._loaded()
            try:
                (result,) = predictor.predict([channels], batch_size=1, **options)
            except Exception as error:  # whatever the package or onnxruntime raises costs this reading alone
                raise EngineError(
                    _("paddleocr: %(title)s failed to read: %(error)s"), title=self.folder.title, error=error
                ) from error
        return dict(result)

    def posteriors(self, line: Pixels) -> NDArray[np.float32]:
        """A recogniser's posteriors (steps x classes), before PaddleOCR decodes them."""
        channels = np.repeat(line[:, :, np.newaxis], 3, axis=2)
        with self._lock:
            predictor = self._loaded().paddlex_predictor
            resized = predictor.pre_tfs["ReisizeNorm"](imgs=[channels])  # the spelling is the package's
            (output,) = predictor.runner(x=predictor.pre_tfs["ToBatch"](imgs=resized))
        return np.asarray(output[0], np.float32)

    def _locate(self) -> ModelFolder:
        if not self._named:
            return model_folder(packaged_model(self._task), self._task, self._settings.cache)
        if not _is_official_name(self._named):
            return model_folder(expanded(self._named), self._task, self._settings.cache)
        fetched = Path(str(self._loaded().paddlex_predictor.model_dir))
        return replace(model_folder(fetched, self._task), title=self._named)

    def _loaded(self) -> Any:
        """The predictor; the caller must hold the lock."""
        if self._predictor is None:
            self._predictor = self._load()
        return self._predictor

    def _load(self) -> Any:
        official = self._named if _is_official_name(self._named) else ""
        name, path = (official, None) if official else (self.folder.name, str(self.folder.path))
        package = _paddleocr()
        try:
            predictor = getattr(package, self._kind)(
                model_name=name,
                model_dir=path,
                engine="onnxruntime",
                engine_config={"intra_op_num_threads": self._settings.threads, "enable_cpu_mem_arena": False},
                device=self._settings.device,
                **self._options,
            )
        except Exception as error:  # the package raises bare Exception, RuntimeError and ValueError here
            raise EngineError(_load_failure(path, official, self._settings.device, error)) from error
        if self._task is ModelTask.RECOGNITION and not official:
            _check_dictionary(self.folder, predictor)
        return predictor


class PaddleRecogniser:
    """Reads strips with a PaddleOCR recogniser (`proof.ocr.engine.Engine`).

    PaddleOCR gives one score for a strip: every character gets that, and has no alternatives. `Reading.posterior` is
    None. White space that the model puts between words is left out.
    """

    at_once = 1

    def __init__(self, settings: PaddleSettings | None = None) -> None:
        self.settings = settings or PaddleSettings()
        self._model = _Model("TextRecognition", ModelTask.RECOGNITION, self.settings.model, self.settings)

    @cached_property
    def identity(self) -> EngineIdentity:
        folder = self._model.folder
        return EngineIdentity("paddleocr", _versions(), folder.title, folder.checksum)

    def knows(self, character: str) -> bool:
        """Whether the model was trained on `character`; being in its dictionary is not enough."""
        number = self._classes.get(character)
        return number is not None and bool(self._learned[number])

    def familiarity(self, character: str) -> float:
        return float(self.knows(character))

    def class_of(self, character: str) -> int | None:
        """The model's class of `character`, though readings of this engine have no posteriors."""
        return self._classes.get(character)

    def character_of(self, number: int) -> str:
        return self._characters[number]

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        """Read upright strips, each turned 90° counter-clockwise into a line. A strip without pixels gives an empty
        reading. Raises EngineError."""
        return [self.read_line(np.rot90(strip)) for strip in strips]

    def read_line(self, line: Pixels) -> Reading:
        """Read a line of text from left to right. Raises EngineError."""
        if 0 in line.shape:
            return Reading(())
        result = self._model.predict(np.ascontiguousarray(line), return_word_box=True)
        text, (steps, _, columns, _) = result["rec_text"]
        places = [(column + 0.5) / steps for word in columns for column in word]
        return Reading(spaced(text, places, float(result["rec_score"])))

    @cached_property
    def _characters(self) -> tuple[str, ...]:
        """The characters by class: the blank, the dictionary, and the space that PaddleX appends."""
        return ("", *dictionary(self._model.folder), " ")

    @cached_property
    def _classes(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self._characters) if text}

    @cached_property
    def _learned(self) -> NDArray[np.bool_]:
        return np.asarray(familiarity(lambda strip: self._model.posteriors(np.rot90(strip))) > 0.0)


class PaddlePages:
    """Reads whole pages that are not ruled columns: PaddleOCR's detector finds the lines, its recogniser reads them.

    PaddleOCR's classifiers of orientation are not used: none is packaged, and the pages are upright.
    """

    def __init__(self, settings: PaddleSettings | None = None, recogniser: PaddleRecogniser | None = None) -> None:
        self.settings = settings or PaddleSettings()
        self._recogniser = recogniser or PaddleRecogniser(self.settings)
        self._detector = _Model(
            "TextDetection",
            ModelTask.DETECTION,
            self.settings.detection_model,
            self.settings,
            limit_side_len=DETECTION_SIDE_PX,
            limit_type="max",
            box_thresh=DETECTION_SCORE,
        )

    @cached_property
    def identity(self) -> EngineIdentity:
        """The identity of detector and recogniser together; the checksum is the SHA-256 of both checksums."""
        detector, reader = self._detector.folder, self._recogniser.identity
        both = hashlib.sha256(f"{detector.checksum}{reader.checksum}".encode()).hexdigest()
        return EngineIdentity("paddleocr", reader.version, f"{detector.title} + {reader.model}", both)

    def read_page(self, page: Pixels) -> PageReading:
        """Find the lines of a grey page, read them, and put them into reading order, without lines whose reading is
        empty. Raises EngineError."""
        if 0 in page.shape:
            return PageReading(())
        read = [(outline, *self._read_outline(page, outline)) for outline in self._find(page)]
        read = [(outline, vertical, reading) for outline, vertical, reading in read if reading.characters]
        lines: list[PageLine] = []
        for place in reading_order(page, [line[0] for line in read]):
            outline, vertical, reading = read[place.index]
            score = reading.characters[0].probability
            lines.append(PageLine(reading.characters, score, outline, vertical, place.register, place.column))
        return PageReading(tuple(lines))

    def _find(self, page: Pixels) -> list[Quad]:
        """The outlines of the lines, in pixels of the page."""
        scale = min(1.0, DETECTION_SIDE_PX / max(page.shape))
        small = page if scale == 1.0 else cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        result = self._detector.predict(np.asarray(small, np.uint8))
        outlines: list[Quad] = []
        for corners in result["dt_polys"]:
            a, b, c, d = ((float(x) / scale, float(y) / scale) for x, y in corners)
            outlines.append((a, b, c, d))
        return outlines

    def _read_outline(self, page: Pixels, outline: Quad) -> tuple[bool, Reading]:
        """Whether a line is vertical, and its reading."""
        piece = cut(page, outline)
        ratio = piece.shape[0] / piece.shape[1]
        if ratio >= MIN_VERTICAL_RATIO:
            return True, self._recogniser.read([piece])[0]
        flat = self._recogniser.read_line(piece)
        if ratio <= MAX_HORIZONTAL_RATIO:
            return False, flat
        upright = self._recogniser.read([piece])[0]
        return (True, upright) if _score(upright) >= _score(flat) else (False, flat)


def cut(page: Pixels, outline: Quad) -> Pixels:
    """The piece of a page inside an outline, made rectangular, upright as it stands on the page."""
    top_left, top_right, bottom_right, bottom_left = np.asarray(outline, np.float32)
    width = max(np.hypot(*(top_right - top_left)), np.hypot(*(bottom_right - bottom_left)))
    height = max(np.hypot(*(bottom_left - top_left)), np.hypot(*(bottom_right - top_right)))
    size = max(1, round(float(width))), max(1, round(float(height)))
    target = np.array([[0, 0], [size[0], 0], [size[0], size[1]], [0, size[1]]], np.float32)
    turn = cv2.getPerspectiveTransform(np.asarray(outline, np.float32), target)
    piece = cv2.warpPerspective(page, turn, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(piece, np.uint8)


def spaced(text: str, places: Sequence[float], score: float) -> tuple[ReadCharacter, ...]:
    """The characters of a reading with their extents, without white space.

    `places` are the positions of the characters, 0 to 1 along the strip; a character reaches half-way to its
    neighbours, and the outermost as far outwards as inwards. If their number is not that of the characters, these are
    spaced evenly over the strip."""
    if len(places) != len(text):
        places = [(number + 0.5) / len(text) for number in range(len(text))]
    pairs = [(character, min(max(place, 0.0), 1.0)) for character, place in zip(text, places, strict=True)]
    pairs = [(character, place) for character, place in pairs if not character.isspace()]
    if not pairs:
        return ()
    at = [place for _, place in pairs]
    between = [(place + following) / 2 for place, following in pairwise(at)]
    first = max(0.0, 2 * at[0] - between[0]) if between else 0.0
    last = min(1.0, 2 * at[-1] - between[-1]) if between else 1.0
    edges = [first, *between, last]
    return tuple(
        ReadCharacter(character, edges[number], edges[number + 1], score, ((character, score),))
        for number, (character, _) in enumerate(pairs)
    )


def _score(reading: Reading) -> float:
    return reading.characters[0].probability if reading.characters else 0.0


def _is_official_name(named: str) -> bool:
    """Whether a setting is the name of one of PaddleOCR's models and not a path."""
    return bool(re.fullmatch(r"[\w.-]+", named)) and not named.endswith(".onnx") and not Path(named).exists()


def _versions() -> str:
    packages = ("paddleocr", "paddlex", "onnxruntime")
    try:
        return ", ".join(f"{package} {metadata.version(package)}" for package in packages)
    except metadata.PackageNotFoundError as error:
        raise EngineError(
            _("the package %(name)s is not installed: pip install 'hanproof[paddleocr]'"), name=error.name
        ) from error


def _paddleocr() -> Any:
    """The package, imported so that it neither calls a model hub, nor prints, nor needs a home folder.

    It reads its environment variables at import; those that the user has set are kept. Models that it fetched before
    are in ~/.paddlex; if there is no such folder, its files go into our cache.
    """
    os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
    os.environ.setdefault("PADDLEOCR_DISABLE_AUTO_LOGGING_CONFIG", "1")
    if not expanded("~/.paddlex").is_dir():
        own = Path(os.environ.get("PADDLE_PDX_CACHE_HOME") or cache_folder() / "paddlex")
        _prepare(own)
        os.environ["PADDLE_PDX_CACHE_HOME"] = str(own)
    log = logging.getLogger("paddlex")
    if not log.handlers:
        log.addHandler(logging.NullHandler())  # else the package adds one that writes to stderr
    try:
        package = import_module("paddleocr")
    except (ImportError, OSError) as error:
        raise EngineError(
            _("paddleocr cannot be imported: %(error)s; pip install 'hanproof[paddleocr]'"), error=error
        ) from error
    log.setLevel(logging.WARNING)
    log.propagate = True
    return package


def _prepare(folder: Path) -> None:
    """Make the folder for the package's files beforehand: if its import fails at that, a second import fails with a
    misleading message."""
    try:
        (folder / "temp").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineError(
            _("%(folder)s: paddleocr can keep nothing there: %(reason)s; %(remedy)s"),
            folder=folder,
            reason=reason_of(error),
            remedy=CACHE_REMEDY,
        ) from error


def _check_dictionary(folder: ModelFolder, predictor: Any) -> None:
    """Raise EngineError if the dictionary is not that of the model, which would turn every reading into another
    text."""
    classes = predictor.paddlex_predictor.runner.session.get_outputs()[0].shape[-1]
    characters = len(dictionary(folder))
    # The blank comes before the dictionary; the space after it is not in every model.
    if isinstance(classes, int) and classes not in (characters + 1, characters + 2):
        raise EngineError(
            _(
                "%(path)s: the model has %(classes)s classes, its dictionary %(characters)s "
                "characters: they do not belong together"
            ),
            path=folder.path,
            classes=classes,
            characters=characters,
        )


def _load_failure(path: str | None, official: str, device: str, error: Exception) -> str:
    if device != "cpu" and "CUDAExecutionProvider" in str(error):
        return Sentence(
            _("paddleocr: device %(device)s needs the package onnxruntime-gpu and a CUDA driver; or set device to cpu"),
            device=device,
        )
    if official:
        return Sentence(
            _(
                "paddleocr: the model %(model)s could not be had: %(error)s; check its name and the "
                "network, or name a folder with inference.onnx and inference.yml"
            ),
            model=official,
            error=error,
        )
    return Sentence(_("%(path)s: the model could not be loaded: %(error)s"), path=path, error=error)
