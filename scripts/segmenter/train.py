"""Train the network that sees what stands where on a page, on drawn pages, and write it as ONNX.

    python -m scripts.segmenter glyphs GLYPHS.npz FONTS [--seed 1]
    python -m scripts.segmenter train GLYPHS.npz OUT [--seconds 600] [--workers 15] [--batch 64] [--seed 1]
                                       [--state STATE.pt]
    python -m scripts.segmenter export STATE.pt SEGMENTER.onnx

Needs torch and onnx, which running the network does not. Processes draw pages into memory that they share; the newest
are kept on the device, where batches of one shape are photographed anew each time that they are taken. OUT gets a
state now and then, `segmenter.onnx`, and `figures.csv`: pages drawn and seen, seconds, loss, and the agreement (Dice)
of each label on pages that are never learned from.
"""

from __future__ import annotations

import argparse
import copy
import csv
import logging
import mmap
import multiprocessing
import time
from multiprocessing.queues import Queue as QueueOf
from pathlib import Path
from queue import Empty
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proof.layout.labels import Label
from scripts.segmenter.glyphs import GlyphPool, write_glyphs
from scripts.segmenter.network import Segmenter, export
from scripts.segmenter.pages import SHAPES, labelled_page
from scripts.segmenter.photograph import Photographer

LOG = logging.getLogger(__name__)

RATE = 3e-3
WARM_SHARE = 0.04
"""Of the time: over so much of it the rate rises."""

AVERAGED = 0.998
"""Of the average of the network's weights is kept at each step."""

LABEL_WEIGHTS = (3.0, 1.0, 1.0, 1.0, 0.7, 0.7, 0.5)
"""Of the labels, in their order."""

DICE_WEIGHT = 0.5
PAGES_PER_SLOT = 8
SLOTS = 64
SLOTS_PER_STEP = 6
"""So many are emptied before a step at most."""

KEPT_PAGES = 5000
"""Of each shape at most; the oldest give way."""

HELD_OUT_SEED = 900_000
HELD_OUT_PAGES = 12
STATES = 5
"""So many times in all a state is written."""


def draw_for_ever(
    glyphs: Path, seed: list[int], slots: NDArray[np.uint8], free: QueueOf[int], full: QueueOf[tuple[int, int]]
) -> None:
    """Fill free slots with pages of one shape each."""
    cv2.setNumThreads(1)
    rng = np.random.default_rng(seed)
    pool = GlyphPool(glyphs)
    while True:
        shape = int(rng.integers(len(SHAPES)))
        slot = free.get()
        _draw(pool, rng, shape, slots[slot])
        full.put((slot, shape))


def _draw(pool: GlyphPool, rng: np.random.Generator, shape: int, into: NDArray[np.uint8]) -> None:
    """Draw pages into an array (pages x 2 x bytes): ink and labels."""
    area = SHAPES[shape][0] * SHAPES[shape][1]
    for page in into:
        canvas = labelled_page(pool, rng, SHAPES[shape])
        page[0, :area], page[1, :area] = canvas.ink.ravel(), canvas.labels.ravel()


class Store:
    """The newest pages of each shape on the device."""

    def __init__(self, device: torch.device, kept: int) -> None:
        self.pages = [torch.zeros(kept, 2, *shape, dtype=torch.uint8, device=device) for shape in SHAPES]
        self.drawn = [0] * len(SHAPES)
        self.kept = kept

    def add(self, shape: int, pages: NDArray[np.uint8]) -> None:
        height, width = SHAPES[shape]
        own = torch.from_numpy(pages[:, :, : height * width].reshape(-1, 2, height, width))
        at = self.drawn[shape] % self.kept
        count = min(len(own), self.kept - at)
        self.pages[shape][at : at + count] = own[:count].to(self.pages[shape].device)
        self.drawn[shape] += len(own)

    def batch(self, shape: int, count: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Ink and labels of pages at random."""
        own = torch.from_numpy(rng.integers(0, min(self.drawn[shape], self.kept), count))
        pages = self.pages[shape][own.to(self.pages[shape].device)]
        return pages[:, 0], pages[:, 1]


def unpacked(labels: Tensor) -> Tensor:
    bits = torch.tensor([int(label) for label in Label], dtype=torch.uint8, device=labels.device)
    return ((labels[:, None] & bits[None, :, None, None]) > 0).float()


def loss_of(seen: Tensor, truth: Tensor, weights: Tensor) -> Tensor:
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(seen, truth, reduction="none").mean((0, 2, 3))
    share = torch.sigmoid(seen)
    agreed = 2 * (share * truth).sum((0, 2, 3)) / (share.sum((0, 2, 3)) + truth.sum((0, 2, 3)) + 1)
    return (entropy * weights).mean() + DICE_WEIGHT * (1 - agreed).mean()


def dice(net: Segmenter, held: list[tuple[Tensor, Tensor]]) -> list[float]:
    """The agreement of each label with the truth on pages that are held out."""
    net.eval()
    both, total = torch.zeros(len(Label)), torch.zeros(len(Label))
    with torch.no_grad(), torch.backends.cudnn.flags(benchmark=False, allow_tf32=True):
        for pages, labels in held:
            truth, seen = unpacked(labels), (net(pages) > 0).float()
            both += 2 * (seen * truth).sum((0, 2, 3)).cpu()
            total += (seen.sum((0, 2, 3)) + truth.sum((0, 2, 3))).cpu()
    return [round(float(value), 4) for value in both / total.clamp(min=1)]


def held_out(glyphs: Path, device: torch.device) -> list[tuple[Tensor, Tensor]]:
    pool, examples = GlyphPool(glyphs), []
    camera = Photographer(device, HELD_OUT_SEED)
    for shape, (height, width) in enumerate(SHAPES):
        pages = np.zeros((HELD_OUT_PAGES, 2, height * width), np.uint8)
        _draw(pool, np.random.default_rng([HELD_OUT_SEED, shape]), shape, pages)
        both = torch.from_numpy(pages.reshape(-1, 2, height, width)).to(device)
        examples.append(camera(both[:, 0], both[:, 1]))
    return examples


class Trainer:
    """A network, its average, what it learns from and what it is measured on."""

    def __init__(self, options: argparse.Namespace, device: torch.device) -> None:
        torch.manual_seed(options.seed)
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        self.options, self.device = options, device
        self.net = Segmenter().to(device, memory_format=torch.channels_last)
        if options.state:
            state = torch.load(options.state, map_location=device)
            self.net.load_state_dict(
                {name: value.float() if value.is_floating_point() else value for name, value in state.items()}
            )
        self.average = copy.deepcopy(self.net).eval()
        self.descent = torch.optim.AdamW(self.net.parameters(), options.rate, weight_decay=0.02)
        self.camera = Photographer(device, options.seed)
        self.weights = torch.tensor(LABEL_WEIGHTS, device=device)
        self.store = Store(device, options.kept)
        self.rng = np.random.default_rng(options.seed)
        self.steps, self.loss = 0, torch.zeros((), device=device)

    def step(self, share: float) -> None:
        """Learn from a batch when this share of the time has gone by."""
        rate = self.options.rate * min(1.0, share / WARM_SHARE) * (0.5 + 0.5 * np.cos(np.pi * min(share, 1.0))) + 1e-6
        for group in self.descent.param_groups:
            group["lr"] = float(rate)
        ready = [n for n in range(len(SHAPES)) if self.store.drawn[n] >= self.options.batch]
        shape = int(self.rng.choice(ready))
        with torch.no_grad():
            pages, labels = self.camera(*self.store.batch(shape, self.options.batch, self.rng))
        with torch.autocast(self.device.type, torch.bfloat16):
            seen = self.net(pages.contiguous(memory_format=torch.channels_last))
        loss = loss_of(seen.float(), unpacked(labels), self.weights)
        self.descent.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)
        self.descent.step()
        self.steps += 1
        self.loss = loss.detach() if self.steps == 1 else 0.98 * self.loss + 0.02 * loss.detach()
        kept = min(AVERAGED, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.net.parameters()), 1 - kept)
            for own, new in zip(self.average.buffers(), self.net.buffers(), strict=True):
                own.copy_(new) if own.dtype == torch.int64 else own.lerp_(new, 1 - kept)

    def report(self, held: list[tuple[Tensor, Tensor]], seconds: float, name: str) -> None:
        own = self.average.state_dict().items()
        state = {key: value.half() if value.is_floating_point() else value for key, value in own}
        torch.save(state, self.options.out / f"{name}.pt")
        path = self.options.out / "figures.csv"
        new = not path.exists()
        seen, loss = self.steps * self.options.batch, round(float(self.loss), 4)
        row = [sum(self.store.drawn), seen, self.steps, round(seconds), loss, *dice(self.average, held)]
        with path.open("a", newline="") as file:
            rows = csv.writer(file)
            if new:
                rows.writerow(
                    ["drawn", "seen", "steps", "seconds", "loss", *(str(label.name).lower() for label in Label)]
                )
            rows.writerow(row)
        LOG.info(" ".join(map(str, (name, *row))))


def train(options: argparse.Namespace) -> None:
    started = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    largest = max(height * width for height, width in SHAPES)
    memory = mmap.mmap(-1, SLOTS * PAGES_PER_SLOT * 2 * largest)
    slots = np.frombuffer(memory, np.uint8).reshape(SLOTS, PAGES_PER_SLOT, 2, largest)
    context = multiprocessing.get_context("fork")
    free, full = context.Queue(), context.Queue()
    for slot in range(SLOTS):
        free.put(slot)
    workers = [
        context.Process(target=draw_for_ever, args=(options.glyphs, [options.seed, n], slots, free, full), daemon=True)
        for n in range(options.workers)
    ]
    for worker in workers:
        worker.start()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(options.threads)
    trainer = Trainer(options, device)
    held = held_out(options.glyphs, device)
    LOG.info("ready after %.1f s", time.monotonic() - started)
    reports, first = 0, None
    limit = options.seconds
    while (spent := time.monotonic() - started) < limit - options.spare:
        for _ in range(SLOTS_PER_STEP if first else SLOTS):
            try:
                slot, shape = full.get(block=first is None)
            except Empty:
                break
            trainer.store.add(shape, slots[slot])
            free.put(slot)
            if first is None and max(trainer.store.drawn) >= options.batch:
                first = time.monotonic() - started
                break
        share = (spent - (first or spent)) / (limit - options.spare - (first or spent))
        trainer.step(share)
        if spent > (reports + 1) * limit / STATES:
            reports += 1
            trainer.report(held, spent, f"state-{reports}")
    trainer.report(held, time.monotonic() - started, "state-last")
    for worker in workers:
        worker.terminate()
    export(trainer.average.state_dict(), options.out / "segmenter.onnx")
    LOG.info(" ".join(map(str, ("done", round(time.monotonic() - started, 1)))))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    todo = parser.add_subparsers(required=True, dest="todo")
    subcommand: Any = todo.add_parser("glyphs")
    subcommand.add_argument("glyphs", type=Path)
    subcommand.add_argument("fonts", type=Path)
    subcommand.add_argument("--seed", type=int, default=1)
    subcommand = todo.add_parser("train")
    subcommand.add_argument("glyphs", type=Path)
    subcommand.add_argument("out", type=Path)
    subcommand.add_argument("--seconds", type=float, default=600)
    subcommand.add_argument("--spare", type=float, default=15, help="seconds left for the last state and the export")
    subcommand.add_argument("--workers", type=int, default=15)
    subcommand.add_argument("--threads", type=int, default=1, help="of the network, where there is no GPU")
    subcommand.add_argument("--batch", type=int, default=64)
    subcommand.add_argument("--kept", type=int, default=KEPT_PAGES)
    subcommand.add_argument("--seed", type=int, default=1)
    subcommand.add_argument("--rate", type=float, default=RATE)
    subcommand.add_argument("--state", type=Path, help="go on from a network that was trained before")
    subcommand = todo.add_parser("export")
    subcommand.add_argument("state", type=Path)
    subcommand.add_argument("onnx", type=Path)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if options.todo == "glyphs":
        write_glyphs(options.glyphs, options.fonts, options.seed)
    elif options.todo == "train":
        train(options)
    else:
        export(torch.load(options.state, map_location="cpu"), options.onnx)
