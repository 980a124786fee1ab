"""Label the parts of a page with a small network that was trained on drawn pages.

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
"""Sides of the image that is given to the network are multiples of this."""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The probability of each label at every pixel (`values`: labels x height x width); `scale` is the pixels of the
    map per pixel of the page."""

    values: NDArray[np.float32]
    scale: float

    def of(self, label: Label) -> NDArray[np.float32]:
        """The probability of a label; of several joined by `|`, that of the most probable."""
        joined = [values for bit, values in zip(Label, self.values, strict=True) if bit & label]
        return np.asarray(np.max(joined, axis=0), np.float32)


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
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=how), np.float32) / 255
    height, width = small.shape
    below, right = -height % STRIDE_PX, -width % STRIDE_PX
    whole = cv2.copyMakeBorder(small, 0, below, 0, right, cv2.BORDER_REPLICATE)
    values = _session().run(None, {"page": whole[None, None]})[0][0]
    return LabelMap(values[:, : (height + 1) // 2, : (width + 1) // 2], scale / 2)
