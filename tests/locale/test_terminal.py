"""The language of the command line is that of the surroundings."""

from __future__ import annotations

import pytest

from proof.errors import PublicError, UsageError
from proof.locale.terminal import counted, error_text, paragraphs, say, terminal_language

WANTED = {
    "": "en",
    "LANG=C.UTF-8 LANGUAGE=zh_TW": "en",
    "LANG=zh_TW.UTF-8": "zh-Hant",
    "LANG=zh_HK.UTF-8": "zh-Hant",
    "LANG=zh_CN.UTF-8": "zh-Hans",
    "LANG=zh_SG": "zh-Hans",
    "LANG=en_GB.UTF-8": "en",
    "LANG=zh_TW.UTF-8 LC_ALL=POSIX": "en",
    "LANG=en_US.UTF-8 LC_MESSAGES=zh_TW.UTF-8": "zh-Hant",
    "LANG=de_DE.UTF-8 LANGUAGE=fr:zh_Hant:en": "zh-Hant",
    "LANG=de_DE.UTF-8": "en",
}


def test_the_language_is_the_first_that_the_surroundings_want_and_the_interface_has() -> None:
    environments = {variables: dict(part.split("=", 1) for part in variables.split()) for variables in WANTED}
    assert {variables: terminal_language(given) for variables, given in environments.items()} == WANTED


def test_messages_and_counts_are_said_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert counted(1, "%(number)s page", "%(number)s pages") == "1 page"
    assert counted(2000, "%(number)s page", "%(number)s pages") == "2,000 pages"
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert counted(2000, "%(number)s page", "%(number)s pages") == "2,000 葉"
    assert say("report: %(path)s", path="out/report.html") == "報告：out/report.html"
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert say("report: %(path)s", path="out/report.html") == "报告：out/report.html"


def test_an_error_is_said_in_it_where_it_is_a_message_of_the_catalogues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert error_text(PublicError("the text was kept")) == say("the text was kept")
    assert error_text(UsageError("plain English")) == "plain English"


def test_the_paragraphs_of_a_help_are_lines() -> None:
    assert list(
        paragraphs("""Check texts.

    Writes flags
    and reports.
    """)
    ) == ["Check texts.", "Writes flags and reports."]
