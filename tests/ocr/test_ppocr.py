"""The default recogniser with its packaged model: what it reads, what it believes, what it never learned."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from proof.errors import EngineError
from proof.images.load import load_image
from proof.layout.half_folio import find_layout
from proof.layout.runs import CutBy
from proof.layout.strips import cut_strips
from proof.ocr.engine import Pixels, Reading
from proof.ocr.models import ModelTask, packaged_model
from proof.ocr.network import Network, open_network
from proof.ocr.ppocr import KEPT, MAX_CLASSES, PPOCR, familiarity, sparse

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("from_scratch")]

PAGES = Path(__file__).resolve().parents[2] / "pages"

SHOWN = (
    "司射適西階西倚扑升自西階東面請射于公",
    "鄭注倚扑者將即君前不敢佩刑器也升堂者欲諸",
)
"""Two columns of the sample's first half-folio, as its image shows them."""


@pytest.fixture(scope="session")
def strips() -> list[Pixels]:
    """The strips of the two columns."""
    layout = find_layout(load_image(PAGES / "WYG0103-0192c.png").pixels)
    return [cut_strips(layout, layout.columns[number], None, 21, CutBy.SEEN)[0].pixels for number in (3, 4)]


@pytest.fixture(scope="session")
def readings(ppocr: PPOCR, strips: list[Pixels]) -> list[Reading]:
    return ppocr.read(strips)


def test_a_column_is_read_from_top_to_bottom_one_character_below_the_other(readings: list[Reading]) -> None:
    for reading, shown in zip(readings, SHOWN, strict=True):
        assert Levenshtein.distance(reading.text, shown) <= 2, reading.text
        assert all(0 <= one.start < one.end <= 1 for one in reading.characters)
        assert all(a.end <= b.start for a, b in zip(reading.characters, reading.characters[1:], strict=False))
        steps = np.diff([(one.start + one.end) / 2 for one in reading.characters])
        assert steps.max() < 2 * np.median(steps), "cells are equal: so are the distances, nearly"


def test_alternatives_are_most_probable_first_and_hold_what_was_read(readings: list[Reading]) -> None:
    for one in (character for reading in readings for character in reading.characters):
        probabilities = [p for _, p in one.alternatives]
        assert one.alternatives[0] == (one.text, one.probability)
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
        assert posterior.floor == pytest.approx(np.log(KEPT))
        assert set(reading.text) <= {ppocr.character_of(int(number)) for number in posterior.classes[:, 0]}


def test_strips_are_read_alike_alone_together_and_by_several_threads(
    ppocr: PPOCR, strips: list[Pixels], readings: list[Reading]
) -> None:
    assert ppocr.read([]) == []
    assert [one.text for one in ppocr.read(strips[::-1])] == [one.text for one in readings[::-1]]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda n: ppocr.read([strips[n % 2]])[0], range(8)))
    assert [one.characters for one in together] == [readings[n % 2].characters for n in range(8)]
    assert [one.text for one in PPOCR(threads=2).read(strips)] == [one.text for one in readings]


def test_a_strip_of_another_width_is_brought_to_the_models(
    ppocr: PPOCR, strips: list[Pixels], readings: list[Reading]
) -> None:
    wide = np.asarray(cv2.resize(strips[0], None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    assert Levenshtein.distance(ppocr.read([wide])[0].text, readings[0].text) <= 2


def test_on_blank_paper_nothing_is_read(ppocr: PPOCR) -> None:
    paper = [np.full(shape, 255, np.uint8) for shape in ((400, 48), (24, 48), (1, 48), (60, 3))]
    assert [reading.text for reading in ppocr.read(paper)] == [""] * 4


def test_classes_and_characters_answer_one_another(ppocr: PPOCR) -> None:
    for character in "射大夫之三一畧":
        number = ppocr.class_of(character)
        assert number is not None
        assert ppocr.character_of(number) == character
    assert ppocr.character_of(0) == ""
    assert (ppocr.class_of(""), ppocr.class_of("大射")) == (None, None)


def test_characters_of_every_text_are_known_well_and_what_was_never_taught_is_not(ppocr: PPOCR) -> None:
    for character in "之也者其為曰大夫射人不以公司三一":
        assert ppocr.knows(character), character
        assert ppocr.familiarity(character) > 0.9, character
    for never in (*"葢𫝊㑹庿𤣥𩔖", "&KR0058;", "大夫", ""):
        assert (ppocr.knows(never), ppocr.familiarity(never)) == (False, 0.0), never
    values = np.array([ppocr.familiarity(ppocr.character_of(n)) for n in range(1, 18_000, 7)])
    assert (values.min(), values.max()) == (0.0, 1.0)
    # a good quarter of the list was never taught, and most of the rest was
    assert 0.1 < np.mean(values == 0) < 0.5


def test_a_class_is_learned_whose_score_depends_on_the_image() -> None:
    rng = np.random.default_rng(3)

    def recogniser(taught: int) -> np.ndarray:
        """How familiar two hundred classes are of which so many were taught."""

        def run(strip: Pixels) -> np.ndarray:
            scores = np.zeros((strip.shape[0] // 8, 200))
            scores[:, :taught] = rng.normal(0, 3, (len(scores), taught))
            exponentials = np.exp(scores)
            return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True), dtype=np.float32)

        return familiarity(run)

    assert np.flatnonzero(recogniser(40)).tolist() == list(range(40))
    assert not recogniser(0).any()


def test_the_identity_names_the_model_by_its_checksum(ppocr: PPOCR) -> None:
    model, identity = packaged_model(ModelTask.RECOGNITION), ppocr.identity
    assert (identity.name, identity.model) == ("ppocr", model.stem)
    assert identity.checksum == hashlib.sha256(model.read_bytes()).hexdigest()
    assert identity.version.startswith("onnxruntime ")


@pytest.mark.parametrize("content", [None, b"", b"no model at all"])
def test_a_file_that_is_no_recogniser_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "mine.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EngineError, match=r"mine\.onnx"):
        PPOCR(path)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(2, 60), st.floats(0.1, 20), st.integers(0, 2**32 - 1))
def test_the_sparse_posterior_keeps_the_most_probable_classes(
    steps: int, classes: int, sharpness: float, seed: int
) -> None:
    scores = np.random.default_rng(seed).normal(0, sharpness, (steps, classes))
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities = (exponentials / exponentials.sum(axis=1, keepdims=True)).astype(np.float32)
    kept = sparse(probabilities)
    for step in range(steps):
        order = np.argsort(-probabilities[step], kind="stable")
        wanted = [int(n) for n in order if probabilities[step, n] > KEPT][:MAX_CLASSES]
        listed = [int(n) for n in kept.classes[step] if n >= 0]
        assert np.allclose(probabilities[step, listed], probabilities[step, wanted])
        assert np.allclose(np.exp(kept.log_probs[step, : len(listed)]), probabilities[step, listed], rtol=1e-4)
        assert np.all(kept.log_probs[step, len(listed) :] == np.float32(kept.floor))


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
