"""Hooks of MkDocs: the pages of docs/zh say in which script they are, and are made once more in simplified characters.

What is quoted stays as it is written: code, links, and the characters that are spoken of, between 「 and 」. A word of
the interface among them is said as the simplified interface says it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from opencc import OpenCC

from proof.locale.languages import catalogue_of

FROM, TO, TITLE = "zh/", "zh-hans/", "中文（简体）"
SIMPLE = OpenCC("tw2sp")
SCRIPTS = {FROM: "zh-Hant", TO: "zh-Hans"}
WORDS = {"影像": "影像", "存檔": "存档", "預設": "默认", "帳戶": "账户", "游標": "游标", "試算表": "电子表格"}
"""What the interface calls otherwise than OpenCC."""
QUOTED = re.compile(
    r"(^```.*?^```$|`[^`\n]+`|\]\([^)\s]+\)|\{#[\w-]+\}|「[^」]*」|" + "|".join(WORDS) + ")", re.M | re.S
)


def on_config(config: MkDocsConfig) -> None:
    """Give the pages a place in the navigation, as those that they are made of have it."""
    nav: list[dict[str, Any]] = config.nav  # type: ignore[assignment] # as `mkdocs.yml` has it
    chinese = next(part["中文"] for part in nav if "中文" in part)
    nav.append({TITLE: _moved(chinese)})


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say in which script a page is, so that browsers take the font for it."""
    script = next((tag for folder, tag in SCRIPTS.items() if page.file.src_uri.startswith(folder)), "en")
    return output.replace('<html lang="en"', f'<html lang="{script}"', 1)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for file in files.documentation_pages():
        if file.src_uri.startswith(FROM):
            files.append(File.generated(config, _address(file.src_uri), content=simplified(file.content_string)))
    return files


def simplified(text: str) -> str:
    """`text` in simplified characters and the words that go with them."""
    parts = QUOTED.split(text)
    return "".join(_kept(part) if number % 2 else SIMPLE.convert(part) for number, part in enumerate(parts))


def _kept(text: str) -> str:
    quoted = text[1:-1]
    return f"「{_interface().get(quoted, quoted)}」" if text.startswith("「") else WORDS.get(text, text)


@cache
def _interface() -> dict[str, str]:
    """What the interface says in traditional characters, and how it says it in simplified ones."""
    traditional, simple = (catalogue_of(language) for language in ("zh-Hant", "zh-Hans"))
    return {message.msgstr: other.msgstr for message, other in zip(traditional, simple, strict=True) if message.msgstr}


def _moved(part: Any) -> Any:
    if isinstance(part, str):
        return _address(part)
    if isinstance(part, dict):
        return {simplified(title): _moved(inner) for title, inner in part.items()}
    return [_moved(item) for item in part]


def _address(name: str) -> str:
    return TO + name.removeprefix(FROM)
