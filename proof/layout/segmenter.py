"""Labels the parts of a page with a small network that was trained on drawn pages.

`scripts/segmenter` draws the pages, trains the network and writes it as ONNX.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.labels import SIDE_PX, Label

NETWORK = Path(__file__).with_name("segmenter.onnx")

STRIDE_PX = 32
"""The sides of the image that is given to the network are multiples of this."""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The probability of each label at every pixel (labels x height x width); `scale` is the number of pixels of the
    map per pixel of the page."""

    probabilities: NDArray[np.float32]
    scale: float

    def of(self, label: Label) -> NDArray[np.float32]:
        """The probability of a label; of several joined by `|`, that of the most probable."""
        chosen = [plane for bit, plane in zip(Label, self.probabilities, strict=True) if bit & label]
        return np.asarray(np.max(chosen, axis=0), np.float32)


@lru_cache(maxsize=1)
def _session() -> Any:
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(NETWORK), options, providers=["CPUExecutionProvider"])


def label_map(page: NDArray[np.uint8]) -> LabelMap:
    """The label map of a page (grey, height x width, 0 black)."""
    scale = SIDE_PX / float(np.sqrt(page.shape[0] * page.shape[1]))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    scaled = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=interpolation), np.float32) / 255
    height, width = scaled.shape
    padded = cv2.copyMakeBorder(scaled, 0, -height % STRIDE_PX, 0, -width % STRIDE_PX, cv2.BORDER_REPLICATE)
    probabilities = _session().run(None, {"page": padded[None, None]})[0][0]
    return LabelMap(probabilities[:, : (height + 1) // 2, : (width + 1) // 2], scale / 2)
