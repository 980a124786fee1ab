"""A recording repeats what an engine read, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from proof.errors import EngineError, OutputError
from proof.ocr.engine import Engine, EngineIdentity, Pixels, Posterior, ReadCharacter, Reading
from proof.ocr.ppocr import PPOCR
from proof.ocr.replay import (
    NullEngine,
    Recording,
    ReplayEngine,
    load_recording,
    record,
    save_recording,
    strip_key,
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


@st.composite
def posteriors(draw: st.DrawFn) -> Posterior:
    shape = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    finite = st.floats(-30, 0, width=32)
    sought = draw(st.integers(0, 3))
    return Posterior(
        draw(arrays.arrays(np.int32, shape, elements=st.integers(-1, 20_000))),
        draw(arrays.arrays(np.float32, shape, elements=finite)),
        draw(arrays.arrays(np.float32, shape[0], elements=finite)),
        draw(st.floats(-30, 0)),
        draw(arrays.arrays(np.int32, sought, elements=st.integers(0, 20_000))),
        draw(arrays.arrays(np.float32, (shape[0], sought), elements=finite)),
    )


readings = st.builds(Reading, st.lists(characters, max_size=5).map(tuple), st.one_of(st.none(), posteriors()))
recordings = st.builds(
    Recording,
    st.builds(EngineIdentity, st.text(letters), st.text(letters), st.text(letters), st.text(letters)),
    st.dictionaries(st.binary(min_size=16, max_size=16), readings, max_size=5),
    st.dictionaries(letters, st.integers(0, 20_000), max_size=10),
    st.dictionaries(letters, st.floats(0.01, 1), max_size=10),
)


def same(one: Reading, other: Reading) -> bool:
    """Equal in every figure; numpy's arrays have no equality of their own."""
    if one.characters != other.characters or (one.posterior is None) != (other.posterior is None):
        return False
    if one.posterior is None or other.posterior is None:
        return True
    pairs = (
        (one.posterior.classes, other.posterior.classes),
        (one.posterior.log_probs, other.posterior.log_probs),
        (one.posterior.centres, other.posterior.centres),
        (one.posterior.sought, other.posterior.sought),
        (one.posterior.sought_log_probs, other.posterior.sought_log_probs),
    )
    return one.posterior.floor == other.posterior.floor and all(
        a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all()) for a, b in pairs
    )


@settings(deadline=None)
@given(recording=recordings)
def test_what_is_recorded_comes_back(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("recordings") / "r.npz"
    save_recording(path, recording)
    again = load_recording(path)
    assert again.identity == recording.identity
    assert again.classes == recording.classes
    assert again.familiarity == recording.familiarity
    assert again.readings.keys() == recording.readings.keys()
    assert all(same(again.readings[key], reading) for key, reading in recording.readings.items())


@pytest.fixture(scope="module")
def strips(shared: Path) -> list[Pixels]:
    with Image.open(shared / "facsimile/JMML/images/JMML_000-1a.png") as image:
        page = np.asarray(image.convert("L"))
    return [page[157:727, 891:988], page[157:297, 788:885], page[260:1400, 685:785]]


def test_a_real_engine_is_replayed(tmp_path: Path, strips: list[Pixels]) -> None:
    engine = PPOCR()
    path = tmp_path / "made" / "recording.npz"
    with record(engine, path) as recorder:
        recorder.read(strips[:1])
        read = recorder.read(strips)

    replay = ReplayEngine(path)
    protocol: tuple[Engine, Engine, Engine] = (replay, recorder, NullEngine())
    assert protocol
    again = replay.read(strips)
    assert [reading.text for reading in again][:2] == ["欽定四庫全書簡明目錄", "聖諭"]
    assert all(same(one, other) for one, other in zip(read, again, strict=True))
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
    for strip in strips:
        with record(NullEngine(), path) as engine:
            engine.read([strip])
    assert len(ReplayEngine(path).read(strips)) == 3
    with pytest.raises(EngineError, match=r"recording\.npz: is a recording of .*null"):
        record(PPOCR(), path)


def test_the_same_readings_make_the_same_file(tmp_path: Path, strips: list[Pixels]) -> None:
    for name, order in (("one", strips), ("other", strips[::-1])):
        with record(NullEngine(), tmp_path / name) as engine:
            engine.read(order)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert ReplayEngine(tmp_path / "one").identity == ReplayEngine(tmp_path / "other").identity


def test_a_strip_that_was_not_recorded_is_an_error_that_says_so(tmp_path: Path, strips: list[Pixels]) -> None:
    path = tmp_path / "recording.npz"
    with record(NullEngine(), path) as engine:
        engine.read(strips[:1])
    changed = strips[0].copy()
    changed[300, 40] ^= 1
    with pytest.raises(EngineError, match=r"recording\.npz: no reading of this strip of 97 x 570 pixels"):
        ReplayEngine(path).read([changed])


def test_strips_are_told_apart_by_shape_and_content_not_by_how_they_lie_in_memory() -> None:
    strip = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert strip_key(strip) == strip_key(np.asfortranarray(strip)) == strip_key(np.tile(strip, 2)[:, :4])
    assert strip_key(strip) != strip_key(strip.reshape(4, 3))


def test_what_is_no_recording_is_named(tmp_path: Path) -> None:
    good, other = tmp_path / "good", tmp_path / "other"
    save_recording(good, Recording(IDENTITY, {}, {}, {}))
    for name, content in {
        "text": b"not a recording",
        "empty": b"",
        "cut": good.read_bytes()[:-40],
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(EngineError, match=rf"{name}: not a recording of format 2"):
            ReplayEngine(tmp_path / name)
    np.savez(other.with_suffix(".npz"), header=np.zeros(3, np.uint8))
    with pytest.raises(EngineError, match="not a recording"):
        ReplayEngine(other.with_suffix(".npz"))
    with pytest.raises(EngineError, match="missing: the recording cannot be read"):
        ReplayEngine(tmp_path / "missing")


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
