"""What readers remark is said by every command that reads a text, each kind once; -v says all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from proof.cli import main
from proof.commands.remarks import sentence, sentences
from proof.locale.languages import LANGUAGES, translations
from proof.text.remarks import Remark, RemarkCode

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


PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def open_note(file: str, line: int, column: int) -> Remark:
    return Remark.of(Path(file), line, RemarkCode.NOTE_OPEN, page="K_WYG_001-1a", column=column, what="")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_has_a_sentence_in_every_language(language: str) -> None:
    for code in RemarkCode:
        assert code.sentence
        values = dict.fromkeys(PLACEHOLDER.findall(code.sentence + code.done), "12")
        words = sentence(Remark.of(Path("juan.txt"), 3, code, **values), translations(language).gettext)
        assert words.startswith("juan.txt:3")
        assert "%(" not in words


def test_each_kind_is_said_once_with_its_number_its_first_place_and_what_was_done() -> None:
    remarks = [open_note("a.txt", line, line) for line in range(2, 1302)]
    remarks += [Remark.of(Path("a.txt"), 5, RemarkCode.NO_COLUMN, page="K_WYG_001-2a"), open_note("b.txt", 2, 1)]
    assert sentences(remarks, str) == [
        "a.txt:2: page K_WYG_001-1a, column 2: a note is not closed in this column; it ends with the column "
        "(1,301 such remarks in 2 files)",
        "a.txt:5: page K_WYG_001-2a has no column; read as an empty page",
    ]
    assert len(sentences(remarks, str, each=True)) == len(remarks)
    assert sentences(remarks[:1], translations("zh-Hant").gettext) == [
        "a.txt:2：K_WYG_001-1a 葉第 2 行：注文在本行未閉合；至行末為止"
    ]
