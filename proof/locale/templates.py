"""The templates in a language of the interface, and self-contained pages made from them."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from proof.atomic import whole_file
from proof.locale.languages import translations
from proof.paths import templates_dir


@cache
def templates_in(language: str) -> Environment:
    """The environment of the templates, with messages in a language. Raises UsageError for an unknown language."""
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


def write_page(environment: Environment, name: str, path: Path, **context: Any) -> None:
    """Write the page of the template `NAME.html` atomically, with the style sheets and the scripts of the folders
    `page` and `NAME` embedded. Raises OutputError."""
    style, script = (
        "".join(
            file.read_text(encoding="utf-8") for part in ("page", name) for file in (templates_dir() / part).glob(kind)
        )
        for kind in ("*.css", "*.js")
    )
    stream = environment.get_template(f"{name}.html").stream(
        style=Markup(style),  # noqa: S704 - the project's own file
        script=Markup(script),  # noqa: S704
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        **context,
    )
    stream.enable_buffering(200)
    with whole_file(path) as file:
        file.writelines(stream)
