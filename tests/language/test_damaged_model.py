"""A file that is not a language model, or is damaged, is named with what to do."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pytest

from proof.errors import UsageError
from proof.language.model import LanguageModel, ModelFile, learn
from proof.language.stream import stream_of
from proof.text.read import read_transcription

SAMPLE = Path(__file__).resolve().parents[2] / "pages" / "dasheyi.txt"
SAID = "not a language model, or damaged; make one with `proof learn`"


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The file cut short, with a piece lost, or with bytes changed, most often where the archive lists its parts."""
    at = chance.randrange(len(data))
    match chance.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + chance.randrange(1, 200) :]
        case 2:
            at = len(data) - chance.randrange(1, 1200)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def test_a_damaged_model_is_named_or_still_whole(tmp_path: Path) -> None:
    file, chance = tmp_path / "language.npz", random.Random(7)  # noqa: S311
    whole = io.BytesIO()
    learn([stream_of(read_transcription(SAMPLE))], ["大射儀"]).write(whole)
    messages: list[str] = []
    for _ in range(400):
        file.write_bytes(damaged(whole.getvalue(), chance))
        try:
            LanguageModel.load(file)
        except UsageError as error:
            messages.append(str(error))
    assert len(messages) > 300
    assert set(messages) == {f"{file}: {SAID}"}


def numbers_alone() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(5))
    return file.getvalue()


@pytest.mark.parametrize("data", [b"", b"a letter to my aunt", b"PK\x05\x06" + bytes(18), numbers_alone()])
def test_what_is_no_model_is_named(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "language.npz").write_bytes(data)
    with pytest.raises(UsageError, match=SAID):
        LanguageModel.load(tmp_path / "language.npz")


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    message = r"language\.npz: cannot be read \(No such file or directory\); make one with `proof learn`"
    with pytest.raises(UsageError, match=message):
        ModelFile(tmp_path / "language.npz").model()
