"""The command line in Chinese: help and outcome, in either script."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.cli import commands, main


def printed(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    main(line.split())
    out, err = capsys.readouterr()
    return out + err


@pytest.fixture(autouse=True)
def traditional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    monkeypatch.setattr(commands, "_help_option", None)  # click keeps it in the language of the first request


def test_the_list_of_commands_says_what_each_does(capsys: pytest.CaptureFixture[str]) -> None:
    stdout = printed("--help", capsys)
    assert "以書影校對數位化的古籍。" in stdout
    assert "以書影校對錄文。" in stdout


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--help", ["用法：", "選項", "命令", "顯示此說明。"]),
        ("chek", ["錯誤：無此命令：'chek'。", "說明見「proof --help」。"]),
        ("check --imagse out", ["錯誤：無此選項：'--imagse'。", "是否指 '--images'"]),
        ("export --form scroll", ["'--form' 的值有誤：'scroll' 不在可選之列"]),
        ("backup", ["錯誤：缺少參數 'FILE'"]),
        ("backup a.zip b.zip", ["錯誤：參數過多（b.zip）"]),
    ],
)
def test_what_is_mistyped_is_said_in_chinese(line: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(line, capsys)
    assert [word for word in words if word not in text] == []


def test_english_stays_english(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    printed("backup a.zip b.zip", capsys)
    monkeypatch.setenv("LC_ALL", "C")
    assert "Error: Got unexpected extra argument (b.zip)" in printed("backup a.zip b.zip", capsys)


def test_simplified_characters_where_the_locale_has_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "以书影校对录文。" in printed("check --help", capsys)


def test_a_check_says_its_counts_in_chinese(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("<pb:KR9x0001_SIM_001-1a>¶\n射人告具于公¶\n", encoding="utf-8")
    stdout = printed("check text.txt", capsys)
    assert "1 葉、皆未見書影、無書影者 1 葉：疑誤 0 處" in stdout
    assert "報告：out/report.html" in stdout
    assert "無書影：1 葉（KR9x0001_SIM_001-1a）" in stdout
    assert "config.toml：新建項目" in stdout
