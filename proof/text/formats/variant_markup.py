"""The markup of MediaWiki's language converter (`-{text}-`, `-{zh-hans:云;zh-hant:雲}-`), as a page shows it to readers
who chose no variant of Chinese.

Rules: https://www.mediawiki.org/wiki/Writing_systems/Syntax, and the order in which `ZhConverter` falls back on
variants.
"""

from __future__ import annotations

import re

NOT_SHOWN = "\ufdd0"
"""Stands for each character that a page does not show: a noncharacter of Unicode."""

_VARIANTS = ("zh", "zh-hans", "zh-hant", "zh-cn", "zh-tw", "zh-hk", "zh-sg", "zh-mo", "zh-my")
"""The variants of Chinese, the first that a rule has is shown."""

_HIDING = frozenset("HTDN-")
"""Flags of markup that shows no text of its own: a rule for the rest of the page, a title, a description, a name."""

_LITERAL = r"<!--.*?-->|<(?P<tag>nowiki|pre|math)\b[^>]*>.*?</(?P=tag)>"
_MARKUP = re.compile(rf"{_LITERAL}|-\{{(?!\{{)(?P<inside>(?:(?!-\{{|\}}-).)*)\}}-", re.DOTALL)
_NESTED = r"\[\[.*?\]\]|\{\{.*?\}\}"
_FLAGS = re.compile(rf"(?P<flags>(?:{_NESTED}|[^|])*+)\|", re.DOTALL)
_RULE = re.compile(rf"\s*(?P<variant>[a-z-]+)\s*:(?P<text>(?:{_NESTED}|[^;])*+)(?:;\s*|\Z)", re.DOTALL)


def shown(source: str) -> str:
    """The source with `NOT_SHOWN` for each character of this markup that is not shown; as long as `source`."""
    return _MARKUP.sub(_masked, source)


def _masked(markup: re.Match[str]) -> str:
    inside = markup["inside"]
    if inside is None:
        return markup[0]
    start, end = _shown_in(inside)
    return NOT_SHOWN * (start + 2) + inside[start:end] + NOT_SHOWN * (len(inside) - end + 2)


def _shown_in(inside: str) -> tuple[int, int]:
    """Where the shown part of the markup's content begins and ends."""
    named = _FLAGS.match(inside)
    flags = {flag.strip() for flag in named["flags"].split(";")} if named else set()
    start = named.end() if named else 0
    if "R" in flags:
        return start, len(inside)
    if flags & _HIDING or "=>" in inside:
        return start, start
    rules: dict[str, tuple[int, int]] = {}
    at = start
    while (rule := _RULE.match(inside, at)) and rule["variant"] in _VARIANTS and at < len(inside):
        rules.setdefault(rule["variant"], rule.span("text"))
        at = rule.end()
    if not rules or at < len(inside):
        return start, len(inside)
    return next(rules[variant] for variant in _VARIANTS if variant in rules)
