"""What bad input gets: a message that names file and line; it costs its own page, and what was done stays.

Everything goes through the command line, with the real recogniser, on the sample's pages.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Material, Run

pytestmark = pytest.mark.engine

CHECK = ("check", "text.txt", "--images", "images", "--out", "out")


def summary_of(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return read


def flags_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "flags.jsonl").read_text(encoding="utf-8").splitlines()]


def test_broken_markup_and_an_empty_page_are_told_with_their_lines_and_cost_themselves(
    material: Material, run: Run
) -> None:
    folder = material(4)
    path = folder / "text.txt"
    text = path.read_text(encoding="utf-8").replace("讹作北据)", "讹作北据", 1)
    mark = text.index("卷十 第 2a")
    after = text.index("\n", mark) + 1
    path.write_text(text[:after] + text[text.index("卷十 第 2b") :], encoding="utf-8")
    ran = run(*CHECK)
    assert ran.returncode == 0
    broken, empty = (text.count("\n", 0, place) + 1 for place in (text.index("讹作北据"), mark))
    assert re.search(rf"{path}:{broken}: page WYG0103-0192d, .*column 5: a note is not closed", ran.stderr)
    assert f"{path}:{empty}: page WYG0103-0193a has no column" in ran.stderr
    pages = summary_of(folder / "out")["pages"]
    assert len(pages) == 4
    assert {state for page, state in pages.items() if page != "WYG0103-0193a"} == {"checked"}
    flags = flags_of(folder / "out")
    assert {flag["kind"] for flag in flags if flag["page"] == "WYG0103-0193a"} <= {"layout"}
    raised = [flag for flag in flags if flag["page"] == "WYG0103-0192d" and flag["raised"]]
    assert (5, 9, "北", "比") in [
        (flag["line"], flag["offset"], flag["transcribed"], flag["suggested"]) for flag in raised
    ]
