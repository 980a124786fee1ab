"""The catalogue says everything that the code and the templates say, in either script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import polib
import pytest
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir

from proof.cli import COMMANDS, commands
from proof.errors import UsageError
from proof.locale.languages import catalogue_path, translations
from proof.locale.terminal import paragraphs
from proof.settings.config import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDER = re.compile(r"%\((\w+)\)s")


HELP = {"setting_field": (3,), "_setting": (3,), "counted": (2, 3)}
"""Beside the usual words: the help of a setting is a message where it is declared, and so is what is counted."""


def help_of(command: click.Command) -> Iterator[str]:
    """The paragraphs of the help of a command, its own options and its subcommands."""
    yield from paragraphs(command.help or "")
    for option in command.params:
        if isinstance(option, click.Option) and option.help and str(option.name).replace("__", ".") not in SETTINGS:
            yield option.help
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        yield from help_of(inner)


def messages() -> set[tuple[str | None, str]]:
    """What is marked for translation anywhere: context and singular form."""
    marked: set[tuple[str | None, str]] = set()
    for folder, methods in (("proof", [("**.py", "python")]), ("templates", [("**.html", "jinja2")])):
        options = {"**.html": {"trim_blocks": "true", "lstrip_blocks": "true"}}
        for _, _, message, _, context in extract_from_dir(ROOT / folder, methods, options, DEFAULT_KEYWORDS | HELP):
            marked.add((context, message if isinstance(message, str) else message[0]))
    root = click.Context(commands)
    each = [command for name in COMMANDS if (command := commands.get_command(root, name))]
    return marked | {(None, message) for command in (commands, *each) for message in help_of(command)}


def of_file(language: str) -> dict[tuple[str | None, str], polib.POEntry]:
    """The messages of a catalogue file, by context and singular form."""
    return {(entry.msgctxt, entry.msgid): entry for entry in polib.pofile(str(catalogue_path(language)))}


@pytest.mark.slow
def test_the_catalogue_has_every_message_and_no_other() -> None:
    catalogue = of_file("zh-Hant")
    assert set(catalogue) == messages()
    assert set(of_file("zh-Hans")) <= set(catalogue)
    for (_, source), message in catalogue.items():
        forms = list(message.msgstr_plural.values()) or [message.msgstr]
        for form in forms:
            assert form, f"{source!r} is not translated"
            assert set(PLACEHOLDER.findall(form)) == set(PLACEHOLDER.findall(source)), source
        assert not message.fuzzy


def test_the_simplified_catalogue_is_the_traditional_one_but_for_script_words_and_what_is_quoted() -> None:
    say = translations("zh-Hans").gettext
    assert say("Log in") == "登录"
    assert (
        say("several files match: %(file)s is used, not %(others)s") == "有数个文件可用：取 %(file)s，不取 %(others)s"
    )
    assert "儀禮" in say("the front matter is broken: expected ---, then lines such as title: 儀禮, then ---")


def test_a_language_that_is_not_there_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="klingon"):
        translations("klingon")


def test_chinese_is_spoken_in_either_script() -> None:
    assert translations("zh-Hant").gettext("not checked") == "未校"
    assert translations("zh-Hans").gettext("transposition") == "倒"
    assert translations("zh-Hans").gettext("omission") == "脱"
    assert translations("en").gettext("omission") == "omission"
