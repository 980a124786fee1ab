"""What readers remark is said by every command that reads a text, each kind once; -v says all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proof.cli import main

TEXT = "#+PROPERTY: ID K\n<pb:K_WYG_001-1a>¶\n大射(之儀¶\n司射(東面¶\n<pb:K_WYG_001-1b¶\n公入驁士(旅酌¶\n"
SAID = "text.txt:3: page K_WYG_001-1a, column 1: a note is not closed in this column; it ends with the column"


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("text.txt")
    path.write_text(TEXT, encoding="utf-8")
    Path("witness.txt").write_text(TEXT.replace("東", "西"), encoding="utf-8")
    Path("corrections.jsonl").write_text("", encoding="utf-8")
    return path


COMMANDS = {
    "convert": ("convert", "text.txt", "--to", "inline", "--out", "other.txt"),
    "collate": ("collate", "text.txt", "witness.txt"),
    "export": ("export", "text.txt", "--corrections", "corrections.jsonl"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_kind_once_and_with_v_all(name: str, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = 2 if name == "collate" else 1
    number = f"({3 * files} such remarks{' in 2 files' if files == 2 else ''})"
    assert main(COMMANDS[name]) == 0
    error_lines = capsys.readouterr().err.splitlines()
    assert f"{SAID} {number}" in error_lines
    assert sum("a note is not closed" in line for line in error_lines) == 1
    assert sum("the page mark K_WYG_001-1b is not closed; read as a page" in line for line in error_lines) == 1
    assert f"remarks: {4 * files} in total; -v prints them" in error_lines
    assert main((*COMMANDS[name], "-v")) == 0
    error_lines = capsys.readouterr().err.splitlines()
    assert sum("a note is not closed" in line for line in error_lines) == 3 * files
    assert not any("-v prints them" in line for line in error_lines)


def test_witnesses_are_called_as_the_user_calls_them(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "juan"
    folder.mkdir()
    for number, part in enumerate(("大射之儀", "司射西面公入驁"), 1):
        (folder / f"{number}.txt").write_text(f"<pb:K_SBCK_00{number}-1a>¶\n{part}¶\n", encoding="utf-8")
    assert main(("collate", "text.txt", "四部=juan", "舊=witness.txt", "--out", "out")) == 0
    header = (tmp_path / "out" / "places.csv").read_text(encoding="utf-8-sig").splitlines()[0]
    assert header == "page,line,offset,base,四部,class,舊,class"
    flags = [json.loads(line) for line in (tmp_path / "out" / "flags.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {flag["witness"] for flag in flags} <= {"四部", "舊"}
    assert main(("collate", "text.txt", "四部=juan", "別=juan")) == 2
    assert "named as a witness already" in capsys.readouterr().err
