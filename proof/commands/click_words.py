"""Translates the messages of click itself into the language of the command line.

click uses the gettext of the process, which reads only compiled catalogues; the catalogues of `proof.locale` are text.
"""

from __future__ import annotations

import click

from proof.locale.marking import _
from proof.locale.terminal import say

WORDS = (
    _("Usage:"),
    _("Options"),
    _("Commands"),
    _("Error: {message}"),
    _("Try '{command} {option}' for help."),
    _("Show this message and exit."),
    _("Show the version and exit."),
    _("default: {default}"),
    _("%(prog)s, version %(version)s"),
    _("Invalid value: {message}"),
    _("Invalid value for {param_hint}: {message}"),
    _("Missing argument"),
    _("Missing option"),
    _("No such option {name!r}."),
    _("No such command {name!r}."),
    _("(Did you mean one of: {possibilities}?)"),
    _("Got unexpected extra arguments ({args})"),
    _("Option {name!r} does not take a value."),
    _("Option {name!r} requires {nargs} arguments."),
    _("{value!r} is not one of {choices}."),
    _("{value!r} is not a valid {number_type}."),
    _("{value} is not in the range {range}."),
    _("{name} {filename!r} does not exist."),
    _("{name} {filename!r} is a file."),
    _("{name} {filename!r} is a directory."),
    _("{name} {filename!r} is not readable."),
    _("{name} {filename!r} is not writable."),
    _("file"),
    _("directory"),
    _("path"),
)
"""The messages of click that this program can print, as click looks them up; of a pair of singular and plural only the
plural."""

MODULES = (click.core, click.decorators, click.exceptions, click.formatting, click.parser, click.types)


def translate_click() -> None:
    """Translate the messages of click into the language of the command line."""
    for module in MODULES:
        module._ = say  # type: ignore[attr-defined]
        module.ngettext = _plural  # type: ignore[attr-defined]


def _plural(singular: str, plural: str, number: int) -> str:
    text = say(plural)
    return singular if number == 1 and text == plural else text
