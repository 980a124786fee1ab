"""A hook of MkDocs: the pages of docs/zh once more in simplified characters, made while the documentation is built.

What is quoted stays as it is written: code, links, and the characters that are spoken of, between 「 and 」. A word of
the interface among them is said as the simplified interface says it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from babel.messages.pofile import read_po
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from opencc import OpenCC

from proof.locale.languages import catalogue_path

FROM, TO, TITLE = "zh/", "zh-hans/", "中文（简体）"
QUOTED = re.compile(r"(^```.*?^```$|`[^`\n]+`|\]\([^)\s]+\)|\{#[\w-]+\}|「[^」]*」)", re.M | re.S)
WORDS = {"存盘": "存档", "预设": "默认", "帐户": "账户", "光标": "游标"}
"""Where the interface has another word than OpenCC."""


def on_config(config: MkDocsConfig) -> None:
    """Give the pages a place in the navigation, as those that they are made of have it."""
    nav: list[dict[str, Any]] = config.nav  # type: ignore[assignment] # as `mkdocs.yml` has it
    chinese = next(part["中文"] for part in nav if "中文" in part)
    nav.append({TITLE: _moved(chinese)})


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for file in files.documentation_pages():
        if file.src_uri.startswith(FROM):
            files.append(File.generated(config, _address(file.src_uri), content=simplified(file.content_string)))
    return files


def simplified(text: str) -> str:
    """`text` in simplified characters and the words that go with them."""
    parts = QUOTED.split(text)
    return "".join(_quoted(part) if number % 2 else _converted(part) for number, part in enumerate(parts))


def _converted(text: str) -> str:
    text = OpenCC("tw2sp").convert(text)
    return re.sub("|".join(WORDS), lambda found: WORDS[found[0]], text)


def _quoted(text: str) -> str:
    return f"「{_interface().get(text[1:-1], text[1:-1])}」" if text.startswith("「") else text


@cache
def _interface() -> dict[str, str]:
    """What the interface says in traditional characters, and how it says it in simplified ones."""
    said = []
    for language in ("zh-Hant", "zh-Hans"):
        with catalogue_path(language).open("rb") as file:
            said.append({(one.context, str(one.id)): str(one.string) for one in read_po(file)})
    return {traditional: said[1][key] for key, traditional in said[0].items()}


def _moved(part: Any) -> Any:
    if isinstance(part, str):
        return _address(part)
    if isinstance(part, dict):
        return {simplified(title): _moved(inner) for title, inner in part.items()}
    return [_moved(one) for one in part]


def _address(name: str) -> str:
    return TO + name.removeprefix(FROM)
