"""Translates the help of commands into the language of the command line."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import click

from proof.commands.options import option_help
from proof.locale.terminal import paragraphs, say
from proof.settings.config import SETTINGS


def translated(command: click.Command) -> click.Command:
    """A command with its help, and that of its options and subcommands, in the language of the command line."""
    translation = copy.copy(command)
    translation.help = "\n\n".join(map(say, paragraphs(command.help or "")))
    translation.params = in_the_language(translation.params)
    if isinstance(translation, click.Group):
        translation.commands = {name: translated(inner) for name, inner in translation.commands.items()}
    return translation


def in_the_language(params: Sequence[click.Parameter]) -> list[click.Parameter]:
    """Options and arguments of a command, with the help of the options in the language of the command line."""
    return [_translated_option(param) if isinstance(param, click.Option) else param for param in params]


def _translated_option(option: click.Option) -> click.Option:
    translation = copy.copy(option)
    setting = SETTINGS.get((option.name or "").replace("__", "."))
    if setting:
        translation.help = option_help(setting, say)
    elif option.help:
        translation.help = say(option.help)
    else:
        translation.help = None
    return translation
