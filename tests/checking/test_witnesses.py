"""Witnesses in a check: what they read raises or lowers the flags, is kept with them, and is heard once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from proof.checking.pipeline import check
from proof.errors import FontError
from proof.facsimile.files import render
from proof.facsimile.wear import LEVELS
from proof.model.flags import Flag
from proof.report.source import StoredRun
from proof.settings.config import Settings
from proof.store import Store
from proof.text.read import read_transcription

pytestmark = pytest.mark.engine

WRONG = {"降取弓矢于堂西": "降取弓失于堂西", "公許適西階東": "公言適西階東"}


@pytest.fixture(scope="module")
def folder(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two half-folios, drawn, and their text with two errors; and the whole juan as another witness has it."""
    folder = tmp_path_factory.mktemp("witnesses")
    source = (shared / "kanripo/KR1d0030/KR1d0030_010.txt").read_text(encoding="utf-8")
    head, *parts = source.split("<pb:")
    clean = "<pb:".join([head, *parts[11:13]])
    drawn = folder / "drawn.txt"
    drawn.write_text(clean, encoding="utf-8")
    try:
        render(read_transcription(drawn), folder / "images", wear=LEVELS["light"], seed=3)
    except FontError as error:
        pytest.skip(str(error))
    for right, wrong in WRONG.items():
        assert clean.count(right) == 1
        clean = clean.replace(right, wrong)
    (folder / "text.txt").write_text(clean, encoding="utf-8")
    (folder / "agrees.txt").write_text(clean.replace("弓失", "弓 失"), encoding="utf-8")
    return folder


def flags_with(folder: Path, out: Path, witnesses: Sequence[Path | str]) -> dict[str, Flag]:
    """The flags of a check with these witnesses, by what is transcribed and suggested."""
    settings = Settings().replace(
        {
            "project.texts": [folder / "text.txt"],
            "project.images": [folder / "images"],
            "project.out": out,
            "project.witnesses": list(witnesses),
        }
    )
    check(settings)
    with Store.open(settings.store_address) as store:
        run = store.latest_run()
        assert run is not None
        return {
            f"{flag.transcribed}{flag.suggested}": flag
            for result in StoredRun(store, run.id).results()
            for flag in result.flags
        }


def test_witnesses_speak_for_and_against_and_are_kept_with_the_flag(folder: Path, shared: Path, tmp_path: Path) -> None:
    other = shared / "kanripo/KR1d0028/KR1d0028_007.txt"
    alone = flags_with(folder, tmp_path, [])
    heard = flags_with(folder, tmp_path, [other, folder / "agrees.txt"])
    flag, before = heard["失矢"], alone["失矢"]
    assert [(witness.siglum, witness.reading, witness.side) for witness in flag.evidence.witnesses] == [
        ("KR1d0028_007", "矢", "image"),
        ("agrees", "失", "text"),
    ]
    assert flag.id == before.id
    assert flag.score == pytest.approx(before.score + sum(witness.weight for witness in flag.evidence.witnesses))
    assert [witness.weight > 0 for witness in flag.evidence.witnesses] == [True, False]


def test_a_second_check_hears_nobody_twice_and_one_without_witnesses_forgets_them(
    folder: Path, shared: Path, tmp_path: Path
) -> None:
    witness = [shared / "kanripo/KR1d0028/KR1d0028_007.txt"]
    alone = flags_with(folder, tmp_path, [])
    first = flags_with(folder, tmp_path, witness)
    assert flags_with(folder, tmp_path, witness) == first
    again = flags_with(folder, tmp_path, [])
    assert {key: (flag.raised, flag.evidence) for key, flag in again.items()} == {
        key: (flag.raised, flag.evidence) for key, flag in alone.items()
    }
    assert all(flag.score == pytest.approx(alone[key].score, abs=1e-5) for key, flag in again.items())


def test_what_the_apparatus_of_a_witness_says_comes_with_its_reading(folder: Path, tmp_path: Path) -> None:
    witness = tmp_path / "edition.txt"
    text = "".join(
        cell.text
        for page in read_transcription(folder / "drawn.txt").pages
        for column in page.columns
        for cell in column.cells
        if cell.han
    )
    at = text.index("弓矢") + 2
    note = "矢：原作失，據嚴本改。"
    witness.write_text(f"---\ntitle: 儀禮\n---\n\n{text[:at]}[^1]{text[at:]}\n\n[^1]: {note}\n", encoding="utf-8")
    plain = flags_with(folder, tmp_path, [folder / "drawn.txt"])["失矢"].evidence.witnesses[0]
    (reading,) = flags_with(folder, tmp_path, [witness])["失矢"].evidence.witnesses
    assert (reading.reading, reading.side, reading.note) == ("矢", "image", note)
    assert 0 < reading.weight < plain.weight
