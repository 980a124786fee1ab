"""The network that labels each part of a page: an encoder down to 1/32 of the page's size, and a decoder back up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import torch
from torch import Tensor, nn
from torch.nn import functional

from proof.layout.labels import Label

CHANNELS = (16, 32, 64, 96, 128)
"""Number of channels of the levels at 1/2, 1/4, 1/8, 1/16 and 1/32 of the page's size."""

DILATIONS = (1, 2, 4, 1)
"""Dilations of the blocks of the lowest level."""

USUAL_LOGIT = -2.5
"""Initial bias of the logits: most labels apply to few pixels."""


def convolution(inward: int, outward: int, stride: int = 1, dilation: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inward, outward, 3, stride, dilation, dilation, bias=False),
        nn.BatchNorm2d(outward, momentum=0.02),
        nn.ReLU(inplace=True),
    )


class Block(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, channels: int, dilation: int = 1) -> None:
        super().__init__()
        self.first = convolution(channels, channels, 1, dilation)
        self.second = nn.Sequential(
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels, momentum=0.02)
        )

    def forward(self, features: Tensor) -> Tensor:
        return functional.relu(features + self.second(self.first(features)))


class Context(nn.Module):
    """Adds the means over its row, its column and the whole page to each place."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.narrow = nn.Conv2d(channels, half, 1)
        self.across = nn.Conv2d(half, half, (1, 5), padding=(0, 2))
        self.down = nn.Conv2d(half, half, (5, 1), padding=(2, 0))
        self.whole = nn.Conv2d(half, half, 1)
        self.widen = nn.Conv2d(half, channels, 1)
        nn.init.zeros_(self.widen.weight)

    def forward(self, features: Tensor) -> Tensor:
        own = functional.relu(self.narrow(features))
        columns = self.across(own.mean(2, keepdim=True))
        rows = self.down(own.mean(3, keepdim=True))
        page = self.whole(own.mean((2, 3), keepdim=True))
        return features + self.widen(functional.relu(own + columns + rows + page))


class Segmenter(nn.Module):
    """Maps grey pages (n x 1 x height x width, 0 black to 1 white) to the logits of the labels at half that size."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d, e = CHANNELS
        self.stem = convolution(1, a, 2)
        self.quarter = nn.Sequential(convolution(a, b, 2), convolution(b, b))
        self.eighth = nn.Sequential(convolution(b, c, 2), Block(c))
        self.sixteenth = nn.Sequential(convolution(c, d, 2), Block(d), Block(d), Context(d))
        self.low = nn.Sequential(convolution(d, e, 2), *(Block(e, n) for n in DILATIONS), Context(e))
        self.narrow = nn.ModuleList(nn.Conv2d(m, n, 1) for m, n in ((e, d), (d, c), (c, b)))
        self.up = nn.ModuleList(
            (nn.Sequential(Block(d), Context(d)), Block(c), nn.Sequential(Block(b), convolution(b, b)))
        )
        self.larger = nn.Upsample(scale_factor=2, mode="nearest")
        self.head = nn.Conv2d(b, 4 * len(Label), 1)
        nn.init.constant_(self.head.bias, USUAL_LOGIT)

    def forward(self, page: Tensor) -> Tensor:
        quarter = self.quarter(self.stem(page))
        eighth = self.eighth(quarter)
        sixteenth = self.sixteenth(eighth)
        features = self.low(sixteenth)
        for narrow, up, level in zip(self.narrow, self.up, (sixteenth, eighth, quarter), strict=True):
            features = up(level + self.larger(narrow(features)))
        return functional.pixel_shuffle(self.head(features), 2)


class Probabilities(nn.Module):
    """The network with probabilities instead of logits."""

    def __init__(self, net: Segmenter) -> None:
        super().__init__()
        self.net = net

    def forward(self, page: Tensor) -> Tensor:
        return torch.sigmoid(self.net(page))


def export(state: dict[str, Tensor], path: Path) -> None:
    """Write a network with this state as ONNX."""
    own = Segmenter()
    own.load_state_dict({name: value.float().cpu() for name, value in state.items()})
    own.eval()
    sizes = {"page": {2: "height", 3: "width"}, "labels": {2: "half_height", 3: "half_width"}}
    torch.onnx.export(
        Probabilities(own), (torch.zeros(1, 1, 640, 640),), str(path), input_names=["page"], output_names=["labels"],
        dynamic_axes=sizes, opset_version=17, dynamo=False,
    )  # fmt: skip
    halve(path)


def halve(path: Path) -> None:
    """Store the weights of an ONNX file as 16-bit numbers, which are turned into 32-bit ones when it is loaded."""
    model = onnx.load(str(path))
    casts = []
    for weight in model.graph.initializer:
        if weight.data_type == onnx.TensorProto.FLOAT:
            name = weight.name
            half = onnx.numpy_helper.to_array(weight).astype(np.float16)
            weight.CopyFrom(onnx.numpy_helper.from_array(half, f"{name}.half"))
            casts.append(onnx.helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    onnx.save(model, str(path))
