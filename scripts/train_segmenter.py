#!/usr/bin/env python3
"""Train the network that sees what stands where on a page, on drawn pages, and write it as ONNX.

    train_segmenter.py OUT [--minutes 45] [--seed 1] [--threads 1] [--resume]

Needs torch, onnx and the free fonts of `proof.facsimile.glyph_pool`; none of them is needed to run the network. OUT
gets `segmenter.pt` (what training goes on from), `segmenter.onnx` and `figures.csv` (pages seen, seconds, loss, and on
20 pages that are never learned from the share of agreement (Dice) of each label), every few minutes. The network sees
LONG_SIDE_PX pixels of a page, grey from 0 (black) to 1, and gives the probability of each label at half that size.
"""

from __future__ import annotations

import argparse
import copy
import csv
import time
from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.multiprocessing import Process
from torch.multiprocessing import Queue as Shared

from proof.facsimile.glyph_pool import GlyphPool
from proof.facsimile.labelled_page import labelled_page
from proof.facsimile.photographed import photographed, squared
from proof.layout.labels import LONG_SIDE_PX, Label

CHANNELS = (16, 24, 48, 64, 96)
BATCH = 4
RATE = 2e-3
USUAL_LOGIT = -2.5
"""Where it begins: most labels stand at few pixels."""

HELD_OUT_SEED = 900_000
HELD_OUT_BATCHES = 5
RECENT_BATCHES = 24
"""So many of the last batches tell the means and spreads that the network is shipped with: running ones lag behind."""

REPORT_S = 240
REDRAW_PAGES = 2000
"""After so many pages a drawing process takes other characters."""


def convolution(inward: int, outward: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inward, outward, 3, stride, 1, bias=False),
        nn.BatchNorm2d(outward, momentum=0.03),
        nn.ReLU(inplace=True),
    )


class Segmenter(nn.Module):
    """Five levels down to a thirty-second of the page, three up again; what the levels give is added, not joined."""

    def __init__(self) -> None:
        super().__init__()
        c = CHANNELS
        self.stem = convolution(1, c[0], 2)
        self.down = nn.ModuleList(
            nn.Sequential(convolution(a, b, 2), convolution(b, b), *([convolution(b, b)] if b == c[4] else []))
            for a, b in pairwise(c)
        )
        self.narrow = nn.ModuleList(nn.Conv2d(c[k + 1], c[k], 1) for k in (3, 2, 1))
        self.up = nn.ModuleList(convolution(c[k], c[k]) for k in (3, 2, 1))
        self.larger = nn.Upsample(scale_factor=2, mode="nearest")
        self.head = nn.Conv2d(c[1], 4 * len(Label), 1)
        nn.init.constant_(self.head.bias, USUAL_LOGIT)

    def forward(self, page: Tensor) -> Tensor:
        levels = [self.stem(page)]
        for step in self.down:
            levels.append(step(levels[-1]))
        seen = levels.pop()
        for narrow, up in zip(self.narrow, self.up, strict=True):
            seen = up(levels.pop() + self.larger(narrow(seen)))
        return nn.functional.pixel_shuffle(self.head(seen), 2)


def batch(pool: GlyphPool, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Pages (n x 1 x side x side) and the bits of their labels at half size."""
    pages, labels = [], []
    for _ in range(BATCH):
        page, where = photographed(labelled_page(pool, rng))
        page, where = squared(page, where, LONG_SIDE_PX, int(rng.choice([255, np.median(page), 0])))
        pages.append(page)
        half = where.reshape(LONG_SIDE_PX // 2, 2, LONG_SIDE_PX // 2, 2)
        labels.append(np.bitwise_or.reduce(half, axis=(1, 3)))
    return torch.from_numpy(np.stack(pages)[:, None]), torch.from_numpy(np.stack(labels))


def draw_for_ever(queue: Queue[Any], seed: int) -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    while True:
        pool = GlyphPool.drawn(rng)
        for _ in range(REDRAW_PAGES // BATCH):
            queue.put(batch(pool, rng))


def unpacked(labels: Tensor) -> Tensor:
    bits = torch.tensor([int(label) for label in Label], dtype=torch.uint8)
    return ((labels[:, None] & bits[None, :, None, None]) > 0).float()


def loss_of(seen: Tensor, truth: Tensor) -> Tensor:
    weight = torch.tensor([3.0, 1.0, 1.0, 0.7, 0.7, 0.5])[:, None, None]
    entropy = nn.functional.binary_cross_entropy_with_logits(seen, truth, reduction="none") * weight
    share = torch.sigmoid(seen)
    agreed = 2 * (share * truth).sum((0, 2, 3)) / (share.sum((0, 2, 3)) + truth.sum((0, 2, 3)) + 1)
    return entropy.mean() + 0.5 * (1 - agreed).mean()


def dice(net: Segmenter, held: list[tuple[Tensor, Tensor]]) -> list[float]:
    net.eval()
    both, total = torch.zeros(len(Label)), torch.zeros(len(Label))
    with torch.no_grad():
        for pages, labels in held:
            truth = unpacked(labels)
            found = (net(pages.float() / 255) > 0).float()
            both += 2 * (found * truth).sum((0, 2, 3))
            total += found.sum((0, 2, 3)) + truth.sum((0, 2, 3))
    net.train()
    return [round(float(value), 4) for value in both / total.clamp(min=1)]


class Answer(nn.Module):
    """The network with the probabilities as its output."""

    def __init__(self, net: Segmenter) -> None:
        super().__init__()
        self.net = net

    def forward(self, page: Tensor) -> Tensor:
        return torch.sigmoid(self.net(page))


def settled(net: Segmenter, recent: Iterable[Tensor]) -> Segmenter:
    """The network with the means and spreads of its layers as they are on recent pages."""
    own = copy.deepcopy(net)
    for layer in own.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.reset_running_stats()
            layer.momentum = None
    own.train()
    with torch.no_grad():
        for pages in recent:
            own(pages)
    return own


def export(net: Segmenter, path: Path) -> None:
    own = Segmenter()
    own.load_state_dict(net.state_dict())
    own.eval()
    page = torch.zeros(1, 1, LONG_SIDE_PX, LONG_SIDE_PX)
    sizes = {"page": {2: "height", 3: "width"}, "labels": {2: "half_height", 3: "half_width"}}
    torch.onnx.export(
        Answer(own), (page,), str(path), input_names=["page"], output_names=["labels"], dynamic_axes=sizes,
        opset_version=17, dynamo=False,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    net = Segmenter().to(memory_format=torch.channels_last)
    best = torch.optim.AdamW(net.parameters(), RATE, weight_decay=1e-4)
    pages, before = 0, 0.0
    if options.resume:
        state = torch.load(options.out / "segmenter.pt")
        net.load_state_dict(state["net"])
        best.load_state_dict(state["optimiser"])
        pages, before = state["pages"], state["seconds"]
    queue: Any = Shared(4)
    Process(target=draw_for_ever, args=(queue, options.seed * 1000 + pages), daemon=True).start()
    rng = np.random.default_rng(HELD_OUT_SEED)
    pool = GlyphPool.drawn(rng)
    held = [batch(pool, rng) for _ in range(HELD_OUT_BATCHES)]
    started = reported = time.monotonic()
    mean = 0.0
    recent: deque[Tensor] = deque(maxlen=RECENT_BATCHES)
    limit = options.minutes * 60
    while (spent := before + time.monotonic() - started) < limit:
        images, labels = queue.get()
        images = (images.float() / 255).to(memory_format=torch.channels_last)
        recent.append(images)
        for group in best.param_groups:
            group["lr"] = float(
                RATE * min(1.0, (pages + BATCH) / 300) * (0.5 + 0.5 * np.cos(np.pi * spent / limit)) + 1e-6
            )
        with torch.autocast("cpu", torch.bfloat16):
            seen = net(images)
        loss = loss_of(seen.float(), unpacked(labels))
        best.zero_grad()
        loss.backward()
        best.step()
        pages += BATCH
        mean = 0.98 * mean + 0.02 * loss.item() if mean else loss.item()
        if time.monotonic() - reported > REPORT_S:
            reported = time.monotonic()
            report(options.out, net, best, held, recent, (pages, before + reported - started, mean))
    report(options.out, net, best, held, recent, (pages, spent, mean))


def report(
    out: Path, net: Segmenter, best: torch.optim.Optimizer, held: list[tuple[Tensor, Tensor]],
    recent: Iterable[Tensor], figures: tuple[int, float, float],
) -> None:  # fmt: skip
    pages, seconds, loss = figures
    torch.save(
        {"net": net.state_dict(), "optimiser": best.state_dict(), "pages": pages, "seconds": seconds},
        out / "segmenter.pt",
    )
    ready = settled(net, recent)
    export(ready, out / "segmenter.onnx")
    path = out / "figures.csv"
    new = not path.exists()
    with path.open("a", newline="") as file:
        rows = csv.writer(file)
        if new:
            rows.writerow(["pages", "seconds", "loss", *(str(label.name).lower() for label in Label)])
        rows.writerow([pages, round(seconds), round(loss, 4), *dice(ready, held)])


if __name__ == "__main__":
    main()
