"""The default recogniser with its packaged model: what it reads, what it believes, what it never learned."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proof.errors import EngineError
from proof.images.load import load_image
from proof.layout.half_folio import find_layout
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.ocr.engine import Pixels, Reading
from proof.ocr.models import ModelTask, packaged_model
from proof.ocr.network import Network, open_network
from proof.ocr.ppocr import MAX_CLASSES, MIN_KEPT_PROBABILITY, PPOCR

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("from_scratch")]

PAGES = Path(__file__).resolve().parents[2] / "pages"


@pytest.fixture(scope="session")
def strips() -> list[Pixels]:
    """The strips of the two columns."""
    layout = find_layout(load_image(PAGES / "WYG0103-0192c.png").pixels)
    return [cut_strips(layout, layout.columns[number], None, 21, CutBy.SEEN)[0].pixels for number in (3, 4)]


@pytest.fixture(scope="session")
def readings(ppocr: PPOCR, strips: list[Pixels]) -> list[Reading]:
    return ppocr.read(strips)


def test_alternatives_are_most_probable_first_and_hold_what_was_read(readings: list[Reading]) -> None:
    for read in (character for reading in readings for character in reading.characters):
        probabilities = [p for _, p in read.alternatives]
        assert read.alternatives[0] == (read.text, read.probability)
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < sum(probabilities) <= 1.001


def test_the_posterior_is_sparse_sums_to_nearly_one_and_names_what_was_read(
    ppocr: PPOCR, readings: list[Reading]
) -> None:
    for reading in readings:
        posterior = reading.posterior
        assert posterior is not None
        assert posterior.classes.shape == posterior.log_probs.shape
        assert posterior.classes.shape[1] <= MAX_CLASSES
        listed = np.where(posterior.classes >= 0, np.exp(posterior.log_probs), 0).sum(axis=1)
        assert listed.max() <= 1.001
        assert np.median(listed) > 0.99
        assert np.all(np.diff(posterior.centres) > 0)
        assert 0 < posterior.centres[0] < posterior.centres[-1] < 1
        assert posterior.floor == pytest.approx(np.log(MIN_KEPT_PROBABILITY))
        assert set(reading.text) <= {ppocr.character_of(int(number)) for number in posterior.classes[:, 0]}


def test_strips_are_read_alike_alone_together_and_by_several_threads(
    ppocr: PPOCR, strips: list[Pixels], readings: list[Reading]
) -> None:
    assert ppocr.read([]) == []
    assert [reading.text for reading in ppocr.read(strips[::-1])] == [reading.text for reading in readings[::-1]]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda n: ppocr.read([strips[n % 2]])[0], range(8)))
    assert [reading.characters for reading in together] == [readings[n % 2].characters for n in range(8)]
    assert [reading.text for reading in PPOCR(threads=2).read(strips)] == [reading.text for reading in readings]


def test_on_blank_paper_nothing_is_read(ppocr: PPOCR) -> None:
    paper = [np.full(shape, 255, np.uint8) for shape in ((400, 48), (24, 48), (1, 48), (60, 3))]
    assert [reading.text for reading in ppocr.read(paper)] == [""] * 4


def test_characters_of_every_text_are_known_and_what_was_never_taught_is_not(ppocr: PPOCR) -> None:
    for character in "之也者其為曰大夫射人不以公司三一":
        assert ppocr.knows(character), character
    for never in (*"葢𫝊㑹庿𤣥𩔖", "&KR0058;", "大夫", ""):
        assert not ppocr.knows(never), never
    # a good quarter of the list was never taught, and most of the rest was
    assert 0.5 < np.mean([ppocr.knows(ppocr.character_of(n)) for n in range(1, 18_000, 7)]) < 0.9


@pytest.mark.parametrize("content", [None, b"", b"no model at all"])
def test_a_file_that_is_no_recogniser_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "mine.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EngineError, match=r"mine\.onnx"):
        PPOCR(path)


def test_what_is_sought_has_a_probability_far_below_what_is_kept_that_tells_look_alikes(
    ppocr: PPOCR, strips: list[Pixels], readings: list[Reading]
) -> None:
    """射 is nearer to 謝 than 西 is, though neither glyph could be taken for it; nothing that is kept changes by it."""
    (reading,) = ppocr.read(strips[:1], ("士", "謝", "土"))
    posterior, plain = reading.posterior, readings[0].posterior
    assert posterior is not None
    assert plain is not None
    numbers = {text: ppocr.class_of(text) or 0 for text in "土士謝射西"}
    assert posterior.sought.tolist() == sorted(numbers[text] for text in "土士謝")
    assert posterior.sought_log_probs.shape == (len(posterior.classes), 3)
    assert posterior.sought_log_probs.min() < posterior.floor - 3
    assert np.array_equal(plain.classes, posterior.classes)
    best = posterior.classes[:, 0]
    far = posterior.sought_log_probs[:, posterior.sought.tolist().index(numbers["謝"])]
    assert far[best == numbers["射"]].max() > far[best == numbers["西"]].max() + 5


def test_a_recogniser_that_has_read_before_is_loaded_with_the_first_strip(
    ppocr: PPOCR, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []

    def counted(path: Path, *given: Any) -> Network:
        opened.append(path)
        return open_network(path, *given)

    monkeypatch.setattr("proof.ocr.ppocr.open_network", counted)
    again = PPOCR(known={ppocr.identity})
    assert again.identity == ppocr.identity
    assert not opened
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(again.knows, "射" * 8)) == {True}
    assert opened == [packaged_model(ModelTask.RECOGNITION)]
