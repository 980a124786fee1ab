"""Runs of missing and surplus characters, from the check to the written text."""

from __future__ import annotations

from pathlib import Path

from proof.checking.pipeline import check
from proof.cli import main
from proof.facsimile.files import half_folios, write_image
from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import DecisionRequest, State, Verdict
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from proof.text.read import read_transcription
from tests.verify.test_passages import LINES, text_of


def asked(store: Store) -> list[QueuedFlag]:
    """The questions that are open."""
    (work,) = store.queue.works()
    numbers, _ = store.queue.find(work.name, QueueFilter(states=(State.OPEN,)), Order.PAGE)
    return store.queue.flags(work.name, numbers)


def test_a_text_with_runs_is_put_right_by_one_decision_each_and_not_asked_of_again(tmp_path: Path, kai: str) -> None:
    text, images = tmp_path / "text.txt", tmp_path / "images"
    images.mkdir()
    text.write_text(text_of(LINES), encoding="utf-8")
    ((name, drawn),) = half_folios(read_transcription(text), seed=4)
    write_image(images / f"{name}.png", drawn.image)
    lines = list(LINES)
    lines[1] = lines[1].replace("西階西倚", "")
    lines[3] = lines[3].replace("夫/卿", "/")
    lines[4] = lines[4].replace("命賓", "命賓主人北面拜")
    lines[5] = lines[5].replace("即位", "□□")
    lines[6], lines[7] = lines[6][:-3], lines[7][2:]
    text.write_text(text_of(tuple(lines)), encoding="utf-8")
    address = f"sqlite:///{tmp_path}/proof.sqlite"
    settings = Settings().replace(
        {"project.texts": [text], "project.images": [images], "project.out": tmp_path / "out", "store.url": address}
    )
    decided = 0
    for _ in range(3):
        check(settings, None)
        with Store.open(address) as store:
            while open_flags := asked(store):
                flag = open_flags[0]
                (work,) = store.queue.works()
                demand = DecisionRequest(work.name, flag.number, Verdict.TAKE, flag.version, "甲", f"request-{decided}")
                store.decisions.decide(demand)
                decided += 1
        assert not main(["export", str(text), "--in-place", "--store", address, "--out", str(tmp_path / "out")])
        assert (text.read_text(encoding="utf-8"), decided) == (text_of(LINES), 5)
