"""The runtimes of a recogniser's network: onnxruntime on the CPU or a GPU, and OpenVINO for CPUs with bfloat16.

Their posteriors differ, since bfloat16 keeps two or three digits of a probability. Readings with a high probability
stay the same, and OpenVINO takes little more than half of the time.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from proof.errors import EngineError, UsageError
from proof.locale.marking import Sentence, _

CUDA = "CUDAExecutionProvider"
"""Name of onnxruntime's provider for NVIDIA GPUs."""

CPU = "CPUExecutionProvider"
"""Name of its provider for CPUs."""

NO_OPENVINO = Sentence(_("engine.runtime is openvino, which is not installed: pip install openvino"))

NO_CUDA = Sentence(
    _(
        "engine.device is a gpu, and this onnxruntime computes on none: pip install "
        "onnxruntime-gpu in place of onnxruntime, for a GPU of NVIDIA and its driver, or set "
        "engine.device to cpu"
    )
)

UNUSABLE_GPU = _(
    "engine.device is gpu:%(gpu)s, which onnxruntime cannot use (%(why)s): see with nvidia-smi that there is such a "
    "GPU, install the CUDA and cuDNN that onnxruntime-gpu needs, or set engine.device to cpu"
)

Line = NDArray[np.float32]
"""A line image as the network takes it, height x width: paper 1.0 to ink -1.0."""

_LOADING = threading.Lock()
"""Held while OpenVINO is imported."""

_INHERITED: list[Any] = []
"""Models that OpenVINO prepared in the parent process. They are kept alive: releasing one would wait for threads that
this process does not have."""

PAPER = 1.0
"""Value of paper in a line image."""

ONE_STEP_PX = 12
"""Maximum length (width) in pixels of a line for which the network gives a single step."""

MIN_LENGTH_PX = 16
"""Minimum length of a line for OpenVINO, in pixels; shorter lines are padded with paper."""


class Network(Protocol):
    """A network that is ready to read. Safe to call from several threads."""

    @property
    def characters(self) -> list[str]:
        """The characters of its classes, in the order of the model."""
        ...

    def posteriors(self, line: Line) -> NDArray[np.float32]:
        """Probabilities (steps x classes), valid until this thread's next call."""
        ...

    def posteriors_of(self, lines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Probabilities (lines x steps x classes) of several lines of one length (lines x height x width)."""
        ...


@cache
def has_bfloat16() -> bool:
    """Whether OpenVINO is installed and finds that the processor computes in bfloat16 (AVX-512 BF16, AMX)."""
    if importlib.util.find_spec("openvino") is None:
        return False
    return "BF16" in _openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


def _openvino() -> Any:
    """The module `openvino`, which is imported only here. If the package `openvino_telemetry` can be imported, openvino
    reports its import to an analytics host; otherwise it uses stand-ins that send nothing."""
    with _LOADING:
        sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: as if missing
        import openvino  # noqa: PLC0415 - nearly half a second

        # It makes its tables of types when they are first used. Two threads that do so at once wait for ever, one for
        # the table and the other, which makes it, for the interpreter.
        tensor = openvino.Tensor(np.zeros(1, np.float32))
        tensor.get_element_type().to_dtype()
        return openvino


def gpu_of(device: str) -> int | None:
    """The number of the GPU in `device`, the setting `engine.device`; None for the CPU. Raises UsageError if the
    setting is invalid, EngineError if the installed onnxruntime cannot compute on a GPU."""
    match = re.fullmatch(r"cpu|gpu(?::(\d+))?", device)
    if match is None:
        raise UsageError(_("engine.device is %(device)s: give cpu, gpu or gpu:<number>"), device=repr(device))
    if device == "cpu":
        return None
    import onnxruntime  # noqa: PLC0415 - as in `OnnxRuntime`

    if CUDA not in onnxruntime.get_available_providers():
        raise EngineError(NO_CUDA)
    return int(match[1] or 0)


def version_of(runtime: str, gpu: int | None = None) -> str:
    """Name and version of the runtime, for the identity of the engine; loads no network. Raises EngineError if OpenVINO
    is requested and not installed, UsageError if it is requested on a GPU."""
    runtime = _resolved(runtime, gpu)
    if runtime == "onnxruntime":
        return f"onnxruntime {_onnxruntime_version()}{'' if gpu is None else ' on CUDA'}"
    if importlib.util.find_spec("openvino") is None:
        raise EngineError(NO_OPENVINO)
    return f"openvino {metadata.version('openvino')} in {'bfloat16' if has_bfloat16() else 'single precision'}"


def _onnxruntime_version() -> str:
    """The version of onnxruntime, which comes from either of two distributions."""
    try:
        return metadata.version("onnxruntime-gpu")
    except metadata.PackageNotFoundError:
        return metadata.version("onnxruntime")


def _resolved(runtime: str, gpu: int | None) -> str:
    """The runtime for the setting `engine.runtime`. Raises UsageError for OpenVINO on a GPU."""
    if runtime == "auto":
        return "openvino" if gpu is None and has_bfloat16() else "onnxruntime"
    if runtime == "openvino" and gpu is not None:
        raise UsageError(_("engine.runtime is openvino, which computes on the cpu; set engine.device to cpu"))
    return runtime


def open_network(model: Path, runtime: str, threads: int, readers: int, gpu: int | None = None) -> Network:
    """The network in `model` (ONNX, its characters in the metadata) on a `runtime`: `onnxruntime`, `openvino`, or
    `auto` for the faster one. `readers` readings run at once, each on `threads` threads; `gpu` is the number of the GPU
    for onnxruntime, None for the CPU.

    Raises EngineError if the file is no such model, OpenVINO is not installed, or the GPU cannot be used; UsageError
    for OpenVINO on a GPU.
    """
    runtime = _resolved(runtime, gpu)
    if runtime == "openvino" and importlib.util.find_spec("openvino") is None:
        raise EngineError(NO_OPENVINO)
    try:
        return OpenVino(model, threads, readers) if runtime == "openvino" else OnnxRuntime(model, threads, gpu)
    except EngineError:
        raise
    # the runtimes raise classes of their own, some straight under Exception; their messages do not help the user
    except Exception as error:
        raise EngineError(
            _(
                "%(model)s: not a PP-OCR recogniser with its characters; name an ONNX file of one, "
                "or none for the packaged model"
            ),
            model=model,
        ) from error


def _opened_on_gpu(open_on: Callable[..., Any], gpu: int) -> Any:
    """The session that `open_on` makes on the GPU number `gpu`. Raises EngineError if the GPU cannot be used; if the
    CPU cannot be used either, what the runtime raises for it."""
    cuda = (CUDA, {"device_id": gpu, "use_tf32": 0, "cudnn_conv_algo_search": "HEURISTIC"})
    try:
        session = open_on(providers=[cuda, CPU])
    except Exception as error:
        open_on(providers=[CPU])
        raise EngineError(UNUSABLE_GPU, gpu=gpu, why=error) from error
    if session.get_providers()[0] != CUDA:
        raise EngineError(UNUSABLE_GPU, gpu=gpu, why=Sentence(_("it fell back to the cpu; its log says why")))
    return session


class OnnxRuntime:
    """The network on onnxruntime, in single precision, on the GPU number `gpu`, or on the CPU if that is None. The
    results of GPU and CPU differ only in rounding."""

    def __init__(self, model: Path, threads: int, gpu: int | None = None) -> None:
        import onnxruntime  # noqa: PLC0415 - it takes a quarter of a second, which `proof --help` need not pay

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # strips have many lengths, and onnxruntime would keep a memory pattern for each
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        content = model.read_bytes()
        open_on = partial(onnxruntime.InferenceSession, content, options)
        self._session = open_on(providers=[CPU]) if gpu is None else _opened_on_gpu(open_on, gpu)
        self._characters: list[str] = self._session.get_modelmeta().custom_metadata_map["character"].split("\n")
        self._input = self._session.get_inputs()[0].name

    @property
    def characters(self) -> list[str]:
        return self._characters

    def posteriors(self, line: Line) -> NDArray[np.float32]:
        return np.asarray(self.posteriors_of(line[None])[0])

    def posteriors_of(self, lines: NDArray[np.float32]) -> NDArray[np.float32]:
        count, height, width = lines.shape
        batch = np.ascontiguousarray(np.broadcast_to(lines[:, None], (count, 3, height, width)))
        (output,) = self._session.run(None, {self._input: batch})
        return np.asarray(output, dtype=np.float32)


class OpenVino:
    """The network on OpenVINO, in bfloat16 where the processor has it. OpenVINO keeps memory for every length of line,
    so strips are cut in a few lengths only (`proof.layout.strips.LENGTH_STEPS_PX`).

    After a line of a single step OpenVINO 2026.4 in bfloat16 gives NaN for lines of other lengths. So short lines are
    padded with paper, and NaN is an error."""

    def __init__(self, model: Path, threads: int, readers: int) -> None:
        self._model, self._threads, self._readers = model, threads, readers
        self._preparing = threading.Lock()
        self._of_thread = threading.local()
        self._prepare()

    def _prepare(self) -> None:
        core = _openvino().Core()
        bfloat16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        network = core.read_model(str(self._model))
        self._characters: list[str] = network.get_rt_info()["framework"]["character"].astype(str).split("\n")
        self._compiled = core.compile_model(
            network,
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": "bf16" if bfloat16 else "f32",
                "NUM_STREAMS": self._readers,
                "INFERENCE_NUM_THREADS": self._threads * self._readers,
                "ENABLE_CPU_PINNING": False,
            },
        )
        self._process = os.getpid()

    @property
    def characters(self) -> list[str]:
        return self._characters

    def posteriors(self, line: Line) -> NDArray[np.float32]:
        height, length = line.shape
        if length < MIN_LENGTH_PX:
            line = np.pad(line, ((0, 0), (0, MIN_LENGTH_PX - length)), constant_values=PAPER)
        batch = np.ascontiguousarray(np.broadcast_to(line, (1, 3, height, line.shape[1])))
        (output,) = self._request().infer({0: batch}, share_inputs=True, share_outputs=True).values()
        posteriors = np.asarray(output[0], dtype=np.float32)
        if not np.isfinite(posteriors[:, 0]).all():  # one NaN makes its whole step NaN by softmax
            raise ArithmeticError("the network gave NaN")
        return posteriors[:1] if length <= ONE_STEP_PX else posteriors

    def posteriors_of(self, lines: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.stack([self.posteriors(line) for line in lines])

    def _request(self) -> Any:
        """The inference request of this thread, since a request runs one inference at a time. A forked process prepares
        the network anew, because the threads of its parent's network do not exist there."""
        process = os.getpid()
        process_of_request, request = getattr(self._of_thread, "request", (0, None))
        if process_of_request != process:
            with self._preparing:
                if self._process != process:
                    _INHERITED.append((self._compiled, self._of_thread))
                    self._of_thread = threading.local()
                    self._prepare()
            request = self._compiled.create_infer_request()
            self._of_thread.request = process, request
        return request
