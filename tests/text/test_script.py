"""Telling traditional from simplified text."""

from __future__ import annotations

import pytest

from proof.text.model import Script
from proof.text.script import script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("司射適西階西倚扑升自西階東面請射于公", Script.TRADITIONAL),
        ("司射适西阶西倚扑升自西阶东面请射于公", Script.SIMPLIFIED),
        ("皇后制于里云几余干后", Script.TRADITIONAL),
        ("大射正", Script.TRADITIONAL),
        ("", Script.TRADITIONAL),
        ("釋曰自此盡西紘論射前預戒諸官, 制于后里, 从与", Script.TRADITIONAL),
        ("𫝊㑹厯畧葢皆古文也大夫與", Script.TRADITIONAL),
        ("郑注讱觯髤骜醢俎", Script.SIMPLIFIED),
        # compatibility ideographs of one character belong to no script
        ("\uf96d\uf99a\uf901學", Script.TRADITIONAL),
    ],
)
def test_the_script_is_that_of_most_telling_characters(text: str, script: Script) -> None:
    assert script_of([text]) is script
