"""`proof bench` on pages of the sample: its own check, findings of another program, and the naive verifier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof.cli import main
from tests.sample import PAGES, lay_out

Told = pytest.CaptureFixture[str]


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    """Two half-folios of the sample, with the one error that was planted there."""
    (tmp_path / "texts").mkdir()
    lay_out(tmp_path, 2, "texts/a.txt")
    header, first, *_ = (PAGES / "planted.tsv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "key.tsv").write_text(f"{header}\n{first}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_check_of_this_program_is_scored(benchmark: Path, capsys: Told) -> None:
    out = benchmark / "out"
    assert main(["bench", str(benchmark), "--out", str(out), "--details"]) == 0
    stdout = capsys.readouterr().out
    assert "planted errors found: 1 of 1, 1.000" in stdout
    assert "calibration: Brier" in stdout
    saved = json.loads((out / "score.json").read_text(encoding="utf-8"))
    assert (saved["pages"], saved["recall"]["planted"]["found"], saved["suggested"]) == (2, 1, 1)
    assert saved["characters"] > 200
    # what was found is a file of findings like any other program's
    assert main(["bench", str(benchmark), "--findings", str(out / "flags.jsonl")]) == 0
    assert "planted errors found: 1 of 1" in capsys.readouterr().out


def test_findings_of_another_program_are_scored(benchmark: Path, capsys: Told) -> None:
    page = "WYG0103-0192d"
    findings = [
        {"page": page, "line": 5, "offset": 9, "length": 1, "suggested": "比", "probability": 0.9},
        {"page": page, "line": 1, "offset": 0, "length": 1},
    ]
    theirs = benchmark / "theirs.jsonl"
    theirs.write_text("".join(json.dumps(record) + "\n" for record in findings), encoding="utf-8")
    assert main(["bench", str(benchmark), "--findings", str(theirs)]) == 0
    stdout = capsys.readouterr().out
    assert "planted errors found: 1 of 1" in stdout
    assert "false findings: 1," in stdout
    assert "right reading suggested: 1 of 1" in stdout


@pytest.mark.parametrize(
    ("here", "other", "message"),
    [("北\t比", "南\t比", "is not in the texts"), ("\t5\t9\t1\t北", "\t99\t0\t0\t", "key.tsv:2:")],
    ids=["another character", "a line that is not there"],
)
def test_a_key_of_other_texts_is_refused(benchmark: Path, capsys: Told, here: str, other: str, message: str) -> None:
    key = benchmark / "key.tsv"
    key.write_text(key.read_text(encoding="utf-8").replace(here, other), encoding="utf-8")
    (benchmark / "none.jsonl").write_text("", encoding="utf-8")
    assert main(["bench", str(benchmark), "--findings", str(benchmark / "none.jsonl")]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_without_texts_is_told_what_it_needs(tmp_path: Path, capsys: Told) -> None:
    (tmp_path / "key.tsv").write_bytes((PAGES / "planted.tsv").read_bytes())
    assert main(["bench", str(tmp_path)]) == 2
    assert "has no texts: a benchmark has texts/, images/ and key.tsv" in capsys.readouterr().err


def test_errors_of_a_benchmark_are_in_the_language_of_the_terminal(
    tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    (tmp_path / "key.tsv").write_text("page\tline\n", encoding="utf-8")
    assert main(["bench", str(tmp_path)]) == 2
    assert "缺 offset 一欄：答案須有 page, line, offset" in capsys.readouterr().err
