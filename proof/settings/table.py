"""The table of all settings, as the documentation shows it."""

from __future__ import annotations

from proof.settings.config import SETTINGS
from proof.settings.setting import shown


def settings_table() -> str:
    """All settings as a Markdown table, for the documentation."""
    rows = ["| setting | value | default | meaning |", "| --- | --- | --- | --- |"]
    rows += [
        f"| `{setting.name}` | {setting.values} | `{shown(setting.default)}` | {setting.help} |"
        for setting in SETTINGS.values()
    ]
    return "\n".join(rows) + "\n"
