"""The modules that the documentation shows whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FORMATS = Path(__file__).parents[1] / "docs" / "reference" / "formats.md"


def module_in_guide(name: str) -> dict[str, Any]:
    """What the module defines that the page about formats shows; its first line names it in a comment."""
    module: dict[str, Any] = {}
    [source] = re.findall(rf"```python\n(# {name}.*?)```", FORMATS.read_text(encoding="utf-8"), re.DOTALL)
    exec(source, module)  # noqa: S102 - our own text
    return module
