"""The catalogues say everything that the code and the templates say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po

from proof.errors import UsageError
from proof.locale.languages import LANGUAGES, catalogue_path, translations

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDER = re.compile(r"%\((\w+)\)s")


HELP = {"setting_field": (3,), "_setting": (3,)}
"""Beside the usual words: the help of a setting is a message where it is declared."""


def messages() -> set[tuple[str | None, str]]:
    """What is marked for translation anywhere: context and singular form."""
    found: set[tuple[str | None, str]] = set()
    for folder, methods in (("proof", [("**.py", "python")]), ("templates", [("**.html", "jinja2")])):
        options = {"**.html": {"trim_blocks": "true", "lstrip_blocks": "true"}}
        for _, _, message, _, context in extract_from_dir(ROOT / folder, methods, options, DEFAULT_KEYWORDS | HELP):
            found.add((context, message if isinstance(message, str) else message[0]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_a_catalogue_has_every_message_and_no_other(language: str) -> None:
    with catalogue_path(language).open("rb") as file:
        catalogue = read_po(file)
    said = {(m.context, m.id if isinstance(m.id, str) else m.id[0]): m for m in catalogue if m.id}
    assert set(said) == messages()
    for (_, source), message in said.items():
        forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
        for form in forms:
            assert form, f"{source!r} is not translated into {language}"
            assert set(PLACEHOLDER.findall(form)) == set(PLACEHOLDER.findall(source)), source
        assert not message.fuzzy


def test_a_language_that_is_not_there_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="klingon"):
        translations("klingon")


def test_chinese_is_spoken_in_either_script() -> None:
    assert translations("zh-Hant").gettext("not checked") == "未校"
    assert translations("zh-Hans").gettext("transposition") == "倒"
    assert translations("zh-Hans").gettext("omission") == "脱"
    assert translations("en").gettext("omission") == "omission"
