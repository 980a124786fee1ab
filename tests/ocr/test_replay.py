"""A recording repeats what an engine read, to the last bit."""

from __future__ import annotations

from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from proof.errors import EngineError, OutputError
from proof.ocr.engine import Engine, EngineIdentity, Pixels, Posterior, ReadCharacter, Reading
from proof.ocr.ppocr import PPOCR
from proof.ocr.replay import (
    KEY_BYTES,
    NullEngine,
    Recording,
    RecordingEngine,
    ReplayEngine,
    load_recording,
    save_recording,
)

pytestmark = pytest.mark.engine

IDENTITY = EngineIdentity("some", "1.2", "model", "abc")

probabilities = st.floats(0, 1)
letters = st.characters(exclude_categories=["Cs"])
characters = st.builds(
    ReadCharacter,
    st.text(letters, min_size=1, max_size=2),
    probabilities,
    probabilities,
    probabilities,
    st.lists(st.tuples(letters, probabilities), max_size=4).map(tuple),
)


def posterior_of(steps: int, kept: int, sought: int, seed: int) -> Posterior:
    rng = np.random.default_rng(seed)
    return Posterior(
        rng.integers(-1, 20_000, (steps, kept), np.int32),
        rng.uniform(-30, 0, (steps, kept)).astype(np.float32),
        rng.uniform(0, 1, steps).astype(np.float32),
        float(rng.uniform(-30, 0)),
        rng.integers(0, 20_000, sought, np.int32),
        rng.uniform(-30, 0, (steps, sought)).astype(np.float32),
    )


posteriors = st.builds(posterior_of, st.integers(0, 6), st.integers(1, 4), st.integers(0, 3), st.integers(0, 2**32))
readings = st.builds(Reading, st.lists(characters, max_size=5).map(tuple), st.none() | posteriors)
recordings = st.builds(
    Recording,
    st.builds(EngineIdentity, st.text(letters), st.text(letters), st.text(letters), st.text(letters)),
    st.dictionaries(st.binary(min_size=16, max_size=16), readings, max_size=5),
    st.dictionaries(letters, st.integers(0, 20_000), max_size=10),
    st.dictionaries(letters, st.floats(0.01, 1), max_size=10),
)


def figures(reading: Reading) -> object:
    """A reading as what compares in every figure; numpy's arrays have no equality of their own."""
    if reading.posterior is None:
        return reading
    parts = astuple(reading.posterior)
    arrays = [(one.dtype, one.shape, one.tobytes()) if isinstance(one, np.ndarray) else one for one in parts]
    return reading.characters, arrays


@given(recording=recordings)
def test_what_is_recorded_comes_back(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "any-recording.npz"
    save_recording(path, recording)
    again = load_recording(path)
    assert again.identity == recording.identity
    assert again.classes == recording.classes
    assert again.familiarity == recording.familiarity
    assert {key: figures(one) for key, one in again.readings.items()} == {
        key: figures(one) for key, one in recording.readings.items()
    }


@pytest.fixture(scope="module")
def strips(shared: Path) -> list[Pixels]:
    with Image.open(shared / "facsimile/JMML/images/JMML_000-1a.png") as image:
        page = np.asarray(image.convert("L"))
    return [page[157:727, 891:988], page[157:297, 788:885], page[260:1400, 685:785]]


def test_a_real_engine_is_replayed(tmp_path: Path, strips: list[Pixels]) -> None:
    engine = PPOCR()
    path = tmp_path / "made" / "recording.npz"
    with RecordingEngine(engine, path) as recorder:
        recorder.read(strips[:1])
        read = recorder.read(strips)

    replay = ReplayEngine(path)
    protocol: tuple[Engine, Engine, Engine] = (replay, recorder, NullEngine())
    assert protocol
    again = replay.read(strips)
    assert [reading.text for reading in again][:2] == ["欽定四庫全書簡明目錄", "聖諭"]
    assert [figures(one) for one in read] == [figures(one) for one in again]
    assert replay.recorded == recorder.identity == engine.identity
    assert (replay.identity.name, replay.identity.model) == ("replay", "ppocr PP-OCRv6_rec_small")
    for letter in map(chr, range(0x3400, 0x9FFF)):
        assert replay.knows(letter) == recorder.knows(letter) == engine.knows(letter)
        assert replay.class_of(letter) == recorder.class_of(letter) == engine.class_of(letter)
    assert all(replay.character_of(number) == engine.character_of(number) for number in range(18_710))
    assert recorder.character_of(7) == engine.character_of(7)
    assert path.stat().st_size < 300_000


def test_a_recording_is_added_to_by_the_same_engine_and_no_other(tmp_path: Path, strips: list[Pixels]) -> None:
    path = tmp_path / "recording.npz"
    for strip in strips[:2]:
        with RecordingEngine(NullEngine(), path) as engine:
            engine.read([strip])
    assert len(ReplayEngine(path).read(strips[:2])) == 2
    with pytest.raises(EngineError, match=r"recording\.npz: is a recording of .*null"):
        RecordingEngine(PPOCR(), path)
    changed = strips[0].copy()
    changed[300, 40] ^= 1
    with pytest.raises(EngineError, match=r"recording\.npz: no reading of this strip of 97 x 570 pixels"):
        ReplayEngine(path).read([changed])


def test_what_is_no_recording_is_named(tmp_path: Path) -> None:
    save_recording(tmp_path / "good", Recording(IDENTITY, {}, {}, {}))
    np.savez(tmp_path / "other.npz", header=np.zeros(3, np.uint8))
    contents = {"text": b"not a recording", "empty": b"", "cut": (tmp_path / "good").read_bytes()[:-40]}
    contents["other"] = (tmp_path / "other.npz").read_bytes()
    flipped = bytearray((tmp_path / "other.npz").read_bytes())
    flipped[flipped.index(b"PK\x01\x02") + 8] ^= 1  # the bit that calls a member encrypted
    contents["encrypted"] = bytes(flipped)
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(EngineError, match=rf"{name}: not a recording of format 2"):
            ReplayEngine(tmp_path / name)
    with pytest.raises(EngineError, match="missing: the recording cannot be read"):
        ReplayEngine(tmp_path / "missing")


def test_a_recording_that_lacks_a_posterior_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "recording.npz"
    save_recording(path, Recording(IDENTITY, {bytes(KEY_BYTES): Reading(())}, {}, {}))
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(path, **{**arrays, "has_posterior": np.array([True])})
    with pytest.raises(EngineError, match=r"recording\.npz: not a recording of format 2, or damaged"):
        load_recording(path)


def test_a_recording_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "recording.npz"
    save_recording(path, Recording(IDENTITY, {}, {}, {}))
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OutputError, match=r"recording\.npz: .*No space left"):
        save_recording(path, Recording(replace(IDENTITY, name="other"), {}, {}, {}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_null_engine_reads_nothing_and_knows_nothing(strips: list[Pixels]) -> None:
    engine = NullEngine()
    assert [reading.text for reading in engine.read(strips)] == ["", "", ""]
    assert (engine.knows("天"), engine.class_of("天"), engine.character_of(1)) == (False, None, "")
    assert engine.identity.name == "null"
