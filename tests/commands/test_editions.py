"""`proof convert`, `proof export` and `proof collate` at the shell."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from proof.cli import main
from proof.exports.corrections import Correction
from proof.text.read import read_transcription

PAGE = "KR1_WYG_010-1a"
TEXT = f"<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n"


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "KR1_010.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def corrections(*decided: Correction) -> str:
    records = (asdict(correction) | {"witness": correction.authority} for correction in decided)
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    Path("decided.jsonl").write_text("".join(lines), encoding="utf-8")
    return "decided.jsonl"


def test_a_correction_reaches_a_copy_of_the_text_and_the_diff(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decided = corrections(Correction(PAGE, 1, 5, 1, "比", "北", authority="影像"))
    assert main(["export", "KR1_010.txt", "--corrections", decided, "--out", "out"]) == 0
    assert Path("out/KR1_010.txt").read_text(encoding="utf-8") == TEXT.replace("西北", "西比")
    assert text.read_text(encoding="utf-8") == TEXT
    assert Path("out/KR1_010.notes.txt").read_text(encoding="utf-8").endswith("比：原作北，據影像改。\n")
    assert "1 correction\n" in capsys.readouterr().out


def test_what_the_export_asks_is_what_it_takes_for_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A running text in simplified script: the place is a line and an offset."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("乃张侯下纲不及地武【侯谓所射布也】\n说为东面于大夫之西北耦\n", encoding="utf-8")
    decided = corrections(Correction("", 1, 8, 1, "乾", "武"), Correction("", 2, 8, 1, "乾", "西"))
    arguments = ["export", "text.txt", "--corrections", decided, "--out", "out"]
    assert main(arguments) == 1
    asked = re.findall(r"--choose (\S+@\S+)\)", capsys.readouterr().err)
    assert asked == ["乾@1:8=干", "乾@2:8=干"]
    assert main([*arguments, "--choose", asked[0], "--choose", "乾@2:8=乾"]) == 0
    written = Path("out/text.txt").read_text(encoding="utf-8")
    assert written == "乃张侯下纲不及地干【侯谓所射布也】\n说为东面于大夫之乾北耦\n"


def test_convert_writes_the_text_and_lists_what_is_lost(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "KR1_010.txt", "--to", "inline"]) == 0
    output = capsys.readouterr()
    assert output.out == "　　大夫之西北耦【案比今注訛作北據】\n"
    assert "lost: page marks: 1" in output.err
    assert main(["convert", "KR1_010.txt", "--to", "mirror"]) == 2
    assert "image list" in capsys.readouterr().err


def test_the_image_list_gives_the_mirror_its_page_marks(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(shared / "kanripo/KR1d0030/KR1d0030_010.txt"), "--to", "mirror"]) == 0
    assert "卷十 第 1a 頁 WYG0103-0192c.png\n" in capsys.readouterr().out


def test_a_folder_of_juan_is_collated_with_a_plain_text_in_one_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    juan = tmp_path / "juan"
    juan.mkdir()
    for number, line in (
        (1, "司射適西階西倚扑升自西階東面請射於公"),
        (2, "公許遂適西階上命賓御於公諸公卿則以耦告於上"),
    ):
        (juan / f"K_{number:03}.txt").write_text(f"<pb:K_WYG_{number:03}-1a>¶\n{line}¶\n", encoding="utf-8")
    plain = "司射適西階西倚扑升自西階東面請射于君\n公許遂適西階上命賓御於公諸公卿則以耦告於下\n"
    (tmp_path / "plain.txt").write_text(plain, encoding="utf-8")
    assert main(["collate", str(juan), str(tmp_path / "plain.txt")]) == 0
    stdout = capsys.readouterr().out
    assert "K_001.txt:2: 於公 → 于君" in stdout
    assert "K_002.txt:2: 上 → 下" in stdout


def test_the_texts_of_a_folder_are_joined_in_the_order_of_their_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ("司射適西階西倚扑升自西階", "東面請射於公公許遂適西階上", "命賓御於公諸公卿則以耦告於上")
    (tmp_path / "pages").mkdir()
    for number, line in zip((1, 2, 10), lines, strict=True):
        (tmp_path / "pages" / f"{number}.wiki").write_text(f"{line}\n", encoding="utf-8")
    (tmp_path / "whole.txt").write_text("\n".join(lines), encoding="utf-8")
    assert main(["collate", str(tmp_path / "whole.txt"), str(tmp_path / "pages")]) == 0
    assert "differences: 0" in capsys.readouterr().out


def test_of_long_texts_that_differ_the_beginning_and_the_end_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, words in (("a", "天地玄黃宇宙洪荒" * 20), ("b", "司射適西階西倚扑升" * 20)):
        (tmp_path / name).write_text(f"關關雎鳩在河之洲窈窕淑女君子好逑\n{words}\n", encoding="utf-8")
    assert main(["collate", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) < 120 + len(str(tmp_path))


def test_a_conversion_never_writes_over_its_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\u3000\u3000大射之儀【射義也】\n", encoding="utf-8")
    before = text.read_bytes()
    assert main(["convert", str(text), "--to", "critical", "--out", str(tmp_path / "." / "text.txt")]) == 2
    assert "is the source itself" in capsys.readouterr().err
    assert text.read_bytes() == before


def test_lines_that_end_in_cr_alone_are_read_or_refused_but_never_run_together(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paged, running = shared / "kanripo/KR1d0030/KR1d0030_015.txt", shared / "seeds/000_8d937d0b6d447d78.txt"
    for source in (paged, running):
        (tmp_path / source.name).write_bytes(source.read_bytes().replace(b"\n", b"\r"))
    assert len(read_transcription(tmp_path / paged.name).pages) == len(read_transcription(paged).pages)
    assert main(["convert", str(tmp_path / running.name), "--to", "inline"]) == 2
    assert "its lines end in CR alone" in capsys.readouterr().err


def test_a_folder_in_which_the_base_lies_is_a_witness_without_it_and_says_so(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("juan")
    folder.mkdir()
    (folder / "KR1_010.txt").write_text(TEXT, encoding="utf-8")
    (folder / "KR1_011.txt").write_text(TEXT, encoding="utf-8")
    assert main(["collate", str(text), "X=juan"]) == 2
    assert "all its files are the base itself" in capsys.readouterr().err
    (folder / "KR1_011.txt").write_text(TEXT.replace("北耦", "比耦").replace("010-1a", "011-1a"), encoding="utf-8")
    assert main(["collate", str(text), "X=juan"]) == 0
    output = capsys.readouterr()
    assert "left out of X, the base itself or a copy: " in output.err
    assert "against X (" in output.out
