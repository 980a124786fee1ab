"""The engines by name, what each needs to run, and how to open one.

Availability is checked without importing the packages of an engine. Other distributions add engines by entry points of
the group `hanproof.engines`: each loads an `EngineEntry`, and its name is the name of the engine.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from proof.errors import EngineError, UsageError
from proof.locale.marking import _
from proof.ocr.engine import Engine, EngineIdentity
from proof.ocr.models import GET_PACKAGED, NO_PACKAGED, ModelTask, find_packaged
from proof.paths import expanded

if TYPE_CHECKING:
    from proof.ocr.paddle import PaddleRecogniser
    from proof.ocr.page import PageEngine
    from proof.ocr.trained_characters import ByteStore

DEFAULT = "ppocr"
"""The name of the engine that is used unless another is chosen."""

ENTRY_POINTS = "hanproof.engines"


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The settings of engines; each engine uses those that it knows.

    `model` is the recognition model, `detection_model` the one that finds lines on whole pages: a path, or with
    `paddleocr` the name of one of its models; empty for the packaged one. `threads` is the number of threads of one
    reading, 0 for one a core; `readers` the number of readings at once. `device` is `cpu`, `gpu` or `gpu:1`; `runtime`
    computes the network of `ppocr`. `recording` is the folder of what other software read, for `readings`.
    """

    name: str = DEFAULT
    model: str = ""
    detection_model: str = ""
    threads: int = 1
    device: str = "cpu"
    recording: Path | None = None
    runtime: str = "onnxruntime"
    readers: int = 1


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an engine can run here; if not, `reason` says why and `remedy` what to do. `pages` is true if it reads
    whole pages besides strips."""

    name: str
    summary: str
    pages: bool
    available: bool
    reason: str = ""
    remedy: str = ""

    @property
    def message(self) -> str:
        """One line for a user: `paddleocr: available`, or why not and what to do."""
        return f"{self.name}: available" if self.available else f"{self.name}: {self.reason}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class RequiredPackage:
    """A package that an engine needs: its module (empty if it is known to be missing), the name of its distribution,
    the argument of `pip install` that installs it, and the release that is required (major, minor), None for any."""

    module: str
    distribution: str
    installed_by: str
    release: tuple[int, int] | None = None

    def trouble(self) -> tuple[str, str] | None:
        """Why the package cannot be used and what to do; None if it can."""
        remedy = f"pip install '{self.installed_by}'"
        if not self.module or importlib.util.find_spec(self.module) is None:
            return f"the package {self.distribution} is not installed", remedy
        if self.release is None:
            return None
        try:
            version = metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return f"the version of the package {self.distribution} is not known", remedy
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if numbers is None or tuple(map(int, numbers.groups())) != self.release:
            major, minor = self.release
            return f"{self.distribution} {version} is installed, but {major}.{minor} is needed", remedy
        return None


_ONNXRUNTIME = RequiredPackage("onnxruntime", "onnxruntime", "onnxruntime>=1.20")
_OPENCV = RequiredPackage("cv2", "opencv-python-headless", "opencv-python-headless>=4.10,<5")
_PADDLEOCR = RequiredPackage("paddleocr", "paddleocr", "hanproof[paddleocr]", (3, 7))
_PADDLEX = RequiredPackage("paddlex", "paddlex", "hanproof[paddleocr]", (3, 7))


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """An engine that can be chosen. `open` opens it; its arguments are those of `open_engine`. `packages` and packaged
    `models` are what it needs to run. `open_pages` opens its reader of whole pages, None if it has none."""

    summary: str
    open: Callable[[EngineSettings, Container[EngineIdentity], ByteStore | None], Engine]
    packages: tuple[RequiredPackage, ...] = ()
    models: tuple[ModelTask, ...] = ()
    open_pages: Callable[[EngineSettings], PageEngine] | None = None


def names() -> tuple[str, ...]:
    """The names of all engines, the program's own first, of these the default first."""
    return tuple(engines())


def availability() -> tuple[Availability, ...]:
    """The availability of each engine with the packaged models."""
    return tuple(_availability(name, entry) for name, entry in engines().items())


@cache
def engines() -> Mapping[str, EngineEntry]:
    """The program's own engines, then those of other distributions, by name."""
    installed = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    return _BUILT_IN | {point.name: _entry_of(point) for point in installed if point.name not in _BUILT_IN}


def _entry_of(point: metadata.EntryPoint) -> EngineEntry:
    """The engine of an entry point. If it cannot be imported, it is listed as an engine whose package is missing."""
    try:
        entry: EngineEntry = point.load()
    except ImportError:
        package = point.dist.name if point.dist else point.module
        return EngineEntry(f"installed as {point.value}", _open_null, (RequiredPackage("", point.module, package),))
    return entry


def open_engine(
    settings: EngineSettings, known: Container[EngineIdentity] = (), store: ByteStore | None = None
) -> Engine:
    """The engine that the settings name. `known` are the identities of engines that read before. `store` keeps bytes
    between runs: from it a known engine may take its characters, so as to load its model only with the first strip.
    Raises UsageError for an unknown name, EngineError if the engine cannot run."""
    return _usable(settings).open(settings, known, store)


def open_page_engine(settings: EngineSettings) -> PageEngine:
    """The engine's reader of whole pages. Raises as `open_engine` does, and UsageError if it has none."""
    entry = _usable(settings)
    if entry.open_pages is None:
        able = ", ".join(name for name, each in engines().items() if each.open_pages)
        raise UsageError(
            _("the engine %(name)s reads strips, not whole pages: choose %(able)s"), name=settings.name, able=able
        )
    return entry.open_pages(settings)


def _usable(settings: EngineSettings) -> EngineEntry:
    """The entry of the engine that the settings name. Raises as `open_engine` does."""
    entry = engines().get(settings.name)
    if entry is None:
        raise UsageError(
            _("unknown engine %(name)s: choose one of %(engines)s"),
            name=repr(settings.name),
            engines=", ".join(engines()),
        )
    availability = _availability(settings.name, entry, packaged=not settings.model)
    if not availability.available:
        raise EngineError(availability.message)
    return entry


def _availability(name: str, entry: EngineEntry, *, packaged: bool = True) -> Availability:
    """The availability of one engine; `packaged`: the packaged models are used, not one that the user names."""
    pages = entry.open_pages is not None
    for package in entry.packages:
        if trouble := package.trouble():
            return Availability(name, entry.summary, pages, False, *trouble)
    for task in entry.models if packaged else ():
        if find_packaged(task) is None:
            return Availability(name, entry.summary, pages, False, NO_PACKAGED[task], GET_PACKAGED[task])
    return Availability(name, entry.summary, pages, True)


def _open_ppocr(settings: EngineSettings, known: Container[EngineIdentity], store: ByteStore | None) -> Engine:
    from proof.ocr.network import gpu_of  # noqa: PLC0415
    from proof.ocr.ppocr import PPOCR  # noqa: PLC0415

    model = expanded(settings.model) if settings.model else None
    gpu = gpu_of(settings.device)
    return PPOCR(model, settings.threads, settings.runtime, settings.readers, known, store, gpu)


def _open_paddle(settings: EngineSettings, *_unused: object) -> PaddleRecogniser:
    from proof.ocr.network import gpu_of  # noqa: PLC0415
    from proof.ocr.paddle import PaddleRecogniser  # noqa: PLC0415

    gpu_of(settings.device)  # raises an error if the device cannot be used
    return PaddleRecogniser(settings.model, settings.threads, settings.device)


def _open_paddle_pages(settings: EngineSettings) -> PageEngine:
    from proof.ocr.paddle import PaddlePages  # noqa: PLC0415

    return PaddlePages(_open_paddle(settings), settings.detection_model, settings.threads, settings.device)


def _open_readings(settings: EngineSettings, *_unused: object) -> Engine:
    from proof.ocr.external.folder import ExternalEngine  # noqa: PLC0415

    if settings.recording is None:
        raise UsageError(_("the engine readings needs a folder of readings: name it (engine.recording)"))
    return ExternalEngine(settings.recording)


def _open_null(*_unused: object) -> Engine:
    from proof.ocr.null import NullEngine  # noqa: PLC0415

    return NullEngine()


_BUILT_IN = {
    "ppocr": EngineEntry(
        "PP-OCRv6 straight on onnxruntime or OpenVINO, with full posteriors",
        _open_ppocr,
        (_ONNXRUNTIME, _OPENCV),
        (ModelTask.RECOGNITION,),
    ),
    "paddleocr": EngineEntry(
        "the paddleocr package on onnxruntime: text and a score, any of its models, whole pages",
        _open_paddle,
        (_PADDLEOCR, _PADDLEX, _ONNXRUNTIME, _OPENCV),
        (ModelTask.RECOGNITION, ModelTask.DETECTION),
        _open_paddle_pages,
    ),
    "readings": EngineEntry("takes what other software read: PAGE XML, ALTO, hOCR", _open_readings),
    "null": EngineEntry("reads nothing", _open_null),
}
