"""What computes the network: both runtimes read the same, whatever the length of a line."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from proof.errors import EngineError
from proof.images.load import load_image
from proof.layout.half_folio import find_layout
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.ocr.models import ModelTask, packaged_model
from proof.ocr.network import OnnxRuntime, OpenVino, has_bfloat16, open_network, version_of
from proof.ocr.ppocr import INPUT_HEIGHT, PPOCR
from tests.conftest import PATIENCE
from tests.forked_commands import FORKED

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("from_scratch")]

PAGE = Path(__file__).resolve().parents[2] / "pages" / "WYG0103-0192d.png"

Line = np.ndarray


def must_have_openvino() -> None:
    """Looks without importing: an import of its own would do what the program's does not, and ask a host."""
    if importlib.util.find_spec("openvino") is None:
        pytest.skip("OpenVINO has no build for this processor")


@pytest.fixture(scope="module")
def openvino() -> OpenVino:
    must_have_openvino()
    return OpenVino(packaged_model(ModelTask.RECOGNITION), threads=1, readers=2)


@pytest.fixture(scope="module")
def onnxruntime() -> OnnxRuntime:
    return OnnxRuntime(packaged_model(ModelTask.RECOGNITION), threads=1)


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    """The columns of a half-folio of the sample without a seal as lines, top of the column to the left."""
    layout = find_layout(load_image(PAGE).pixels)
    strips = [strip for area in layout.columns for strip in cut_strips(layout, area, None, 21, CutBy.SEEN)]
    return [np.rot90(strip.pixels).astype(np.float32) / 127.5 - 1.0 for strip in strips]


def test_where_one_is_sure_the_other_reads_the_same(
    openvino: OpenVino, onnxruntime: OnnxRuntime, lines: list[Line]
) -> None:
    assert openvino.characters == onnxruntime.characters
    assert "射" in openvino.characters
    steps = 0
    for line in lines:
        exact, quick = onnxruntime.posteriors(line).copy(), openvino.posteriors(line)
        assert exact.shape == quick.shape
        sure = exact.max(axis=1) > 0.9
        steps += int(sure.sum())
        assert np.array_equal(exact.argmax(axis=1)[sure], quick.argmax(axis=1)[sure])
        assert np.abs(exact - quick).max() < 0.35
        assert np.abs(exact - quick).mean() < 1e-5
    assert steps > 200


def test_a_line_of_one_step_leaves_the_next_lines_as_they_are(openvino: OpenVino, lines: list[Line]) -> None:
    fresh = OpenVino(packaged_model(ModelTask.RECOGNITION), threads=1, readers=2)
    fresh.posteriors(np.ones((INPUT_HEIGHT, 8), np.float32))
    for line in lines:
        assert np.array_equal(fresh.posteriors(line), openvino.posteriors(line))


def test_the_version_tells_what_computes_and_auto_takes_openvino_for_bfloat16_alone() -> None:
    assert version_of("onnxruntime").startswith("onnxruntime ")
    assert version_of("openvino").startswith("openvino ")
    assert version_of("openvino").endswith("in bfloat16" if has_bfloat16() else "in single precision")
    assert PPOCR(runtime="auto").identity.version.startswith("openvino ") == has_bfloat16()


def _read_and_fork(runtime: str, line: Line, results: Connection) -> None:
    """Tells the exit status of a process that was forked after this one had read, and reads with the same network."""
    network = open_network(packaged_model(ModelTask.RECOGNITION), runtime, threads=1, readers=2)
    here = network.posteriors(line).copy()
    child = os.fork()
    if not child:
        signal.alarm(round(PATIENCE / 5))  # ended, where it waits for ever
        os._exit(not np.array_equal(network.posteriors(line), here))
    results.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on this system")
@pytest.mark.parametrize("runtime", ["onnxruntime", "openvino"])
def test_a_process_that_is_forked_from_one_that_has_read_reads_the_same(runtime: str, lines: list[Line]) -> None:
    if runtime == "openvino":
        must_have_openvino()
    status, results = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=_read_and_fork, args=(runtime, lines[0], results), daemon=True)
    process.start()
    results.close()
    assert status.recv() == 0
    process.join()


@pytest.mark.parametrize("runtime", ["onnxruntime", "openvino"])
@pytest.mark.parametrize("content", [None, b"", b"no model at all"])
def test_a_file_that_is_no_recogniser_is_named(tmp_path: Path, runtime: str, content: bytes | None) -> None:
    if runtime == "openvino":
        must_have_openvino()
    path = tmp_path / "mine.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EngineError, match=r"mine\.onnx"):
        open_network(path, runtime, 1, 1)


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_gpu_that_cannot_be_used_is_named_and_not_the_model(tmp_path: Path) -> None:
    """No machine has a GPU of that number, most have none. A file that is no model is told on a GPU as on the CPU."""
    with pytest.raises(EngineError, match=r"^engine\.device is gpu:99, .*set engine\.device to cpu$"):
        open_network(packaged_model(ModelTask.RECOGNITION), "onnxruntime", 1, 1, gpu=99)
    (tmp_path / "mine.onnx").write_bytes(b"no model at all")
    with pytest.raises(EngineError, match=r"mine\.onnx: not a PP-OCR recogniser"):
        open_network(tmp_path / "mine.onnx", "onnxruntime", 1, 1, gpu=99)


FIRST_USE = """
import sys, threading
import numpy as np
from proof.ocr import network

openvino = network._openvino()
sys.setswitchinterval(1e-6)
together = threading.Barrier(8)

def use():
    together.wait()
    openvino.Type.f32.to_dtype()
    openvino.Tensor(np.zeros((2, 3), np.float32)).data

threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_use_openvino_for_the_first_time_at_once_do_not_wait_for_each_other() -> None:
    must_have_openvino()
    subprocess.run([sys.executable, "-c", FIRST_USE], check=True, timeout=PATIENCE)  # noqa: S603
