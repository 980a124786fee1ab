"""What stands where on a page, as a network sees it that has learned from drawn pages.

`scripts/train_segmenter.py` makes the network; `proof.facsimile.labelled` draws what it learns from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proof.images.opencv import cv2
from proof.layout.labels import Label

NETWORK = Path(__file__).with_name("segmenter.onnx")

SEEN_SIDE_PX = 800
"""How long the longer side of a page is when the network sees it: more than what it learned from, which on drawn books
that it was not taught with finds 626 of 627 boxes where LONG_SIDE_PX finds 618."""

STRIDE_PX = 32
"""The network takes pages whose sides are multiples of this."""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """How probable each label is for every part of a page: `values` (labels x height x width), and how many of its
    pixels one pixel of the page is."""

    values: NDArray[np.float32]
    scale: float

    def of(self, label: Label) -> NDArray[np.float32]:
        return np.asarray(self.values[list(Label).index(label)], np.float32)


@lru_cache(maxsize=1)
def _session() -> Any:
    import onnxruntime  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(NETWORK), options, providers=["CPUExecutionProvider"])


def label_map(page: NDArray[np.uint8]) -> LabelMap:
    """The labels of a page (grey, height x width, 0 black)."""
    scale = SEEN_SIDE_PX / max(page.shape)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = np.asarray(cv2.resize(page, None, fx=scale, fy=scale, interpolation=how), np.float32) / 255
    height, width = (-(-side // STRIDE_PX) * STRIDE_PX for side in small.shape)
    whole = np.ones((1, 1, height, width), np.float32)
    whole[0, 0, : small.shape[0], : small.shape[1]] = small
    values = _session().run(None, {"page": whole})[0][0]
    return LabelMap(values[:, : (small.shape[0] + 1) // 2, : (small.shape[1] + 1) // 2], scale / 2)
