"""The table of settings says of each what it is, in every language of the interface."""

from __future__ import annotations

import re

import pytest

from proof.locale.languages import LANGUAGES, translations
from proof.settings.config import SETTINGS
from proof.settings.setting import ValueKind
from proof.settings.table import settings_table

CHINESE = [language for language in LANGUAGES if language != "en"]
QUOTED = re.compile(r"`[^`]+`")


@pytest.mark.parametrize("language", CHINESE)
def test_what_is_typed_as_it_stands_is_the_same_in_chinese(language: str) -> None:
    say = translations(language).gettext
    for setting in SETTINGS.values():
        explained = {f"`{choice}`" for choice in setting.choices}
        assert set(QUOTED.findall(say(setting.help))) - explained == set(QUOTED.findall(setting.help)) - explained


@pytest.mark.parametrize("language", CHINESE)
def test_every_kind_of_value_has_a_name_in_chinese(language: str) -> None:
    catalogue = translations(language)
    assert [kind for kind in ValueKind if catalogue.pgettext("setting", kind.value) == kind.value] == []


def test_limits_and_choices_stand_with_the_value() -> None:
    english, chinese = settings_table(), settings_table("zh-Hant")
    assert "| `page.column_length` | whole number, 1 to 100 | `21` |" in english
    assert "| `page.column_length` | 整數，1 至 100 | `21` |" in chinese
    assert "| `page.script` | `auto`, `traditional`, `simplified` |" in english
    assert "| `page.script` | `auto`、`traditional`、`simplified` |" in chinese
    assert "| `serve.names` | 文字 |" in chinese
