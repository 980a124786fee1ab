"""What docs/asvs.md says of itself and of the tests is so."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SAID = (TESTS.parent / "docs" / "asvs.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r'`([\w/]+\.py)(?: -k (?:"([^"`]+)"|(\w+)))?`', SAID)))


@pytest.mark.parametrize(("file", "several", "one"), [each for each in NAMED if "test_" in each[0]])
def test_the_tests_that_it_names_are_there(file: str, several: str, one: str) -> None:
    source = (TESTS / file).read_text(encoding="utf-8")
    names = re.findall(r"def (test_\w+)", source)
    for part in (several or one).split(" or "):
        assert any(part in name for name in names), part


def test_it_counts_right() -> None:
    states = Counter(
        re.findall(r"^\| \d+\.\d+\.\d+ \| [^|]+ \| (met|in part|not met|deployment|nothing)\b", SAID, re.M)
    )
    states["nothing"] += len(re.findall(r"^10\.4\.1 to 10\.4\.5: nothing", SAID, re.M)) * 5
    numbers = [int(number) for number in re.findall(r"\d+", re.findall(r"^Of 70 points .*", SAID, re.M)[0])]
    assert numbers == [70, *(states[one] for one in ("met", "in part", "not met", "deployment", "nothing"))]
    assert states.total() == 70
