"""The table of all settings for the documentation, in any language of the interface."""

from __future__ import annotations

from collections.abc import Iterable
from gettext import NullTranslations

from proof.locale.languages import translations
from proof.locale.marking import _
from proof.settings.config import SETTINGS
from proof.settings.setting import Setting, shown

HEADS = (_("setting"), _("value"), _("default"), _("meaning"))


def settings_table(language: str = "en") -> str:
    """All settings as a Markdown table in this language."""
    catalogue = translations(language)
    rows = [_row(catalogue.gettext(head) for head in HEADS), _row("---" for _head in HEADS)]
    for setting in SETTINGS.values():
        default, meaning = f"`{shown(setting.default)}`", catalogue.gettext(setting.help)
        rows.append(_row((f"`{setting.name}`", _values(setting, catalogue), default, meaning)))
    return "\n".join(rows) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _values(setting: Setting, catalogue: NullTranslations) -> str:
    """The allowed values of a setting, in words."""
    if setting.choices:
        return str(catalogue.gettext(_(", "))).join(f"`{choice}`" for choice in setting.choices)
    kind = catalogue.pgettext("setting", setting.kind.value)
    if setting.low is None or setting.high is None:
        return str(kind)
    limits = {"kind": kind, "low": shown(setting.low), "high": shown(setting.high)}
    return str(catalogue.gettext(_("%(kind)s, %(low)s to %(high)s")) % limits)
