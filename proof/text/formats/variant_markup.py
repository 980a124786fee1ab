"""The markup of MediaWiki's language converter (`-{text}-`, `-{zh-hans:云;zh-hant:雲}-`), resolved as for readers who
chose no variant of Chinese.

Its rules are those of https://www.mediawiki.org/wiki/Writing_systems/Syntax, with the order of variants of MediaWiki's
`ZhConverter`.
"""

from __future__ import annotations

import re

NOT_SHOWN = "\ufdd0"
"""The substitute of a character that the page does not show: a noncharacter of Unicode."""

_VARIANTS = ("zh", "zh-hans", "zh-hant", "zh-cn", "zh-tw", "zh-hk", "zh-sg", "zh-mo", "zh-my")
"""The variants of Chinese. The first one for which there is a rule is shown."""

_HIDING = frozenset("HTDN-")
"""Flags of markup that shows no text: a rule for the rest of the page, a title, a description, a name."""

_LITERAL = r"<!--.*?-->|<(?P<tag>nowiki|pre|math)\b[^>]*>.*?</(?P=tag)>"
_MARKUP = re.compile(rf"{_LITERAL}|-\{{(?!\{{)(?P<inside>(?:(?!-\{{|\}}-).)*)\}}-", re.DOTALL)
_NESTED = r"\[\[.*?\]\]|\{\{.*?\}\}"
_FLAGS = re.compile(rf"(?P<flags>(?:{_NESTED}|[^|])*+)\|", re.DOTALL)
_RULE = re.compile(rf"\s*(?P<variant>[a-z-]+)\s*:(?P<text>(?:{_NESTED}|[^;])*+)(?:;\s*|\Z)", re.DOTALL)


def shown(source: str) -> str:
    """The source with `NOT_SHOWN` in place of each character of such markup that is not shown. Its length does not
    change."""
    return _MARKUP.sub(_masked, source)


def _masked(markup: re.Match[str]) -> str:
    inside = markup["inside"]
    if inside is None:
        return markup[0]
    start, end = _shown_in(inside)
    return NOT_SHOWN * (start + 2) + inside[start:end] + NOT_SHOWN * (len(inside) - end + 2)


def _shown_in(inside: str) -> tuple[int, int]:
    """Start and end of the part of the markup's content that is shown."""
    match = _FLAGS.match(inside)
    flags = {flag.strip() for flag in match["flags"].split(";")} if match else set()
    start = match.end() if match else 0
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
