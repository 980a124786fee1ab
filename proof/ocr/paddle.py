"""The `paddleocr` engine: the paddleocr package on onnxruntime, without PaddlePaddle.

A model is a folder with `inference.onnx` and `inference.yml`, an ONNX file that contains its dictionary, or the name of
one of PaddleOCR's models, which PaddleOCR then fetches; empty for the packaged one. Otherwise the engine works offline:
PaddleX's search for a model hub is switched off. Importing the package takes more than a second, so it is imported with
the first strip, as is the model.

The engine gives the characters of a strip, their places, and one score for all of them, but no posteriors.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module, metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.errors import EngineError, os_errors_as
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
from proof.ocr.ppocr import trained_classes
from proof.ocr.trained_characters import TrainedCharacters, TrainedEngine
from proof.paths import expanded

DETECTION_SIDE_PX = 1280
"""Longer side, in pixels, to which a page is scaled to detect lines. Measured on pages with tables, on a page with two
registers and on a colour scan: 960 missed an eighth of the characters in tables; 1600 gained none and took 150 MB more.
"""

DETECTION_SCORE = 0.4
"""Minimum mean probability of a line's outline. Measured on the same pages: the 0.6 of the packaged settings missed a
third of a table's cells and the notes of the two registers."""

# A line with a ratio between these has one or two characters. It is read both ways, and the better score decides.
MIN_VERTICAL_RATIO = 2.0
"""Height to width from which on a line is surely vertical."""

MAX_HORIZONTAL_RATIO = 0.5
"""Height to width up to which a line is surely horizontal."""


class _Model:
    """One of PaddleOCR's predictors, loaded at the first call and used by one thread at a time. Its folder is made in
    `cache` (None: `cache_folder()`).

    PaddleX keeps the batch size and its counters in the predictor itself, so calls must not overlap.
    """

    def __init__(
        self,
        kind: str,
        task: ModelTask,
        model_setting: str,
        threads: int,
        device: str,
        cache: Path | None,
        **options: Any,
    ) -> None:
        self._kind, self._task, self._model_setting = kind, task, model_setting
        self._threads, self._device, self._cache, self._options = threads, device, cache, options
        self._lock = threading.RLock()
        self._folder: ModelFolder | None = None
        self._predictor: Any = None

    @property
    def folder(self) -> ModelFolder:
        """The folder of the model. One of PaddleOCR's own models is fetched if necessary, others must be on disk."""
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
        if not self._model_setting:
            return model_folder(packaged_model(self._task), self._task, self._cache)
        if not _is_official_name(self._model_setting):
            return model_folder(expanded(self._model_setting), self._task, self._cache)
        fetched = Path(str(self._loaded().paddlex_predictor.model_dir))
        return replace(model_folder(fetched, self._task), title=self._model_setting)

    def _loaded(self) -> Any:
        """The predictor; the caller must hold the lock."""
        if self._predictor is None:
            self._predictor = self._load()
        return self._predictor

    def _load(self) -> Any:
        official = self._model_setting if _is_official_name(self._model_setting) else ""
        name, path = (official, None) if official else (self.folder.name, str(self.folder.path))
        package = _paddleocr()
        try:
            predictor = getattr(package, self._kind)(
                model_name=name,
                model_dir=path,
                engine="onnxruntime",
                engine_config={"intra_op_num_threads": self._threads, "enable_cpu_mem_arena": False},
                device=self._device,
                **self._options,
            )
        except Exception as error:  # the package raises bare Exception, RuntimeError and ValueError here
            raise EngineError(_load_failure(path, official, error)) from error
        if self._task is ModelTask.RECOGNITION and not official:
            _check_dictionary(self.folder, predictor)
        return predictor


class PaddleRecogniser(TrainedEngine):
    """Reads strips with a PaddleOCR recogniser (`proof.ocr.engine.Engine`).

    PaddleOCR gives one score for a strip. It becomes the probability of every character, and there are no alternatives;
    `Reading.posterior` is None. White space that the model puts between words is left out.
    """

    at_once = 1

    def __init__(self, model: str = "", threads: int = 1, device: str = "cpu", cache: Path | None = None) -> None:
        self._model = _Model("TextRecognition", ModelTask.RECOGNITION, model, threads, device, cache)

    @cached_property
    def identity(self) -> EngineIdentity:
        folder = self._model.folder
        return EngineIdentity("paddleocr", _versions(), folder.title, folder.checksum)

    def trained_characters(self) -> TrainedCharacters:
        return self._trained

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
    def _trained(self) -> TrainedCharacters:
        """The classes are the blank, the dictionary, and the space that PaddleX appends."""
        is_trained = trained_classes(lambda strip: self._model.posteriors(np.rot90(strip)))
        return TrainedCharacters(("", *dictionary(self._model.folder), " "), is_trained)


class PaddlePages:
    """Reads whole pages that are not ruled columns: PaddleOCR's detector finds the lines, its recogniser reads them.

    PaddleOCR's classifiers of orientation are not used: none is packaged, and the pages are upright.
    """

    def __init__(
        self,
        recogniser: PaddleRecogniser,
        detection_model: str = "",
        threads: int = 1,
        device: str = "cpu",
        cache: Path | None = None,
    ) -> None:
        self._recogniser = recogniser
        self._detector = _Model(
            "TextDetection",
            ModelTask.DETECTION,
            detection_model,
            threads,
            device,
            cache,
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
        unordered: list[PageLine] = []
        for outline in self._find(page):
            vertical, reading = self._read_outline(page, outline)
            if reading.characters:
                unordered.append(PageLine(reading.characters, _score(reading), outline, vertical, register=0, column=0))
        order = reading_order(page, [line.outline for line in unordered])
        return PageReading(
            tuple(replace(unordered[place.index], register=place.register, column=place.column) for place in order)
        )

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
    """The piece of a page inside an outline, made rectangular, in the direction in which it stands on the page."""
    corners = np.asarray(outline, np.float32)
    top_left, top_right, bottom_right, bottom_left = corners
    longer_width = max(np.hypot(*(top_right - top_left)), np.hypot(*(bottom_right - bottom_left)))
    longer_height = max(np.hypot(*(bottom_left - top_left)), np.hypot(*(bottom_right - top_right)))
    width, height = max(1, round(float(longer_width))), max(1, round(float(longer_height)))
    rectangle = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    transform = cv2.getPerspectiveTransform(corners, rectangle)
    piece = cv2.warpPerspective(
        page, transform, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(piece, np.uint8)


def spaced(text: str, places: Sequence[float], score: float) -> tuple[ReadCharacter, ...]:
    """The characters of a reading with their extents, without white space.

    `places` are the middles of the characters, 0 to 1 along the strip. A character reaches half-way to its neighbours,
    the outermost as far outwards as inwards. If there are more or fewer places than characters, the characters are
    spaced evenly over the strip."""
    if len(places) != len(text):
        places = [(number + 0.5) / len(text) for number in range(len(text))]
    inked = [number for number, character in enumerate(text) if not character.isspace()]
    if not inked:
        return ()
    middles = [min(max(places[number], 0.0), 1.0) for number in inked]
    between = [(middle + following) / 2 for middle, following in pairwise(middles)]
    first = max(0.0, 2 * middles[0] - between[0]) if between else 0.0
    last = min(1.0, 2 * middles[-1] - between[-1]) if between else 1.0
    extents = pairwise([first, *between, last])
    return tuple(
        ReadCharacter(text[number], start, end, score, ((text[number], score),))
        for number, (start, end) in zip(inked, extents, strict=True)
    )


def _score(reading: Reading) -> float:
    """The score of a reading, which all of its characters have; 0 if it has none."""
    return reading.characters[0].probability if reading.characters else 0.0


def _is_official_name(setting: str) -> bool:
    """Whether a setting is the name of one of PaddleOCR's models and not a path."""
    is_name = re.fullmatch(r"[\w.-]+", setting) is not None
    return is_name and not setting.endswith(".onnx") and not Path(setting).exists()


def _versions() -> str:
    packages = ("paddleocr", "paddlex", "onnxruntime")
    try:
        return ", ".join(f"{package} {metadata.version(package)}" for package in packages)
    except metadata.PackageNotFoundError as error:
        raise EngineError(
            _("the package %(name)s is not installed: pip install 'hanproof[paddleocr]'"), name=error.name
        ) from error


def _paddleocr() -> Any:
    """The package `paddleocr`, imported so that it does not call a model hub, print, or need a home folder.

    It reads its environment variables at import; those that the user has set are kept. Models that it fetched before
    are in ~/.paddlex; if there is no such folder, it keeps its files in this program's cache.
    """
    os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
    os.environ.setdefault("PADDLEOCR_DISABLE_AUTO_LOGGING_CONFIG", "1")
    if not expanded("~/.paddlex").is_dir():
        own = Path(os.environ.get("PADDLE_PDX_CACHE_HOME") or cache_folder() / "paddlex")
        _make_cache(own)
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


def _make_cache(folder: Path) -> None:
    """Make the folder for the package's files before its import. If the import itself failed at that, a second import
    would fail with a misleading message."""
    message = _("%(folder)s: paddleocr cannot store its models there: %(reason)s; %(remedy)s")
    with os_errors_as(EngineError, message, folder=folder, remedy=CACHE_REMEDY):
        (folder / "temp").mkdir(parents=True, exist_ok=True)


def _check_dictionary(folder: ModelFolder, predictor: Any) -> None:
    """Raise EngineError if the dictionary is not that of the model: every reading would be a wrong text."""
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


def _load_failure(path: str | None, official: str, error: Exception) -> str:
    if official:
        return Sentence(
            _(
                "paddleocr: the model %(model)s could not be downloaded: %(error)s; check its name and the "
                "network, or name a folder with inference.onnx and inference.yml"
            ),
            model=official,
            error=error,
        )
    return Sentence(_("%(path)s: the model could not be loaded: %(error)s"), path=path, error=error)
