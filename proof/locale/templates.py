"""The templates in a language of the interface."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from proof.locale.languages import translations
from proof.paths import templates_dir


def templates_in(language: str) -> Environment:
    """The templates, with their messages in a language. Raises UsageError for one that there is no catalogue of."""
    environment = Environment(
        loader=FileSystemLoader(templates_dir()),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment
