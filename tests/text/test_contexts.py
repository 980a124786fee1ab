"""Contexts: the characters of a text around a place, and none of its markup."""

from __future__ import annotations

import pytest

from proof.text.contexts import before, behind, context_of


@pytest.mark.parametrize(
    ("source", "context"),
    [
        ("西面而[立]揖進坐", "西面而[立]揖進坐"),
        ("　[立]揖", "　[立]揖"),
        ("告者(侍/從)[立](某/人)揖進", "者侍從[立]某人揖"),
        ("司射<small>案復位</small>[立]<small>鄭注</small>", "案復位[立]鄭注"),
        ("曰【釋】[立]【案今】", "曰釋[立]案今"),
        ("其之&KR0058;某[立][^3]上[金*本]下也", "之&KR0058;某[立]上[金*本]下"),
        ("<pb:KR1d0030_WYG_010-1a>¶\n射[立]¶", "射[立]"),
        ("[疏]## 卷[立]十 {#juan-10}", " 卷[立]十 "),
    ],
)
def test_a_context_has_characters_only(source: str, context: str) -> None:
    at = source.index("[立]")
    source = source.replace("[立]", "立")
    assert context_of(source, at, 1) == context


def test_a_tag_at_the_end_of_what_is_looked_at_is_no_text() -> None:
    source = f"<pb n='{'x' * 200}'/>射立命<pb n='{'x' * 200}'/>"
    at = source.index("立")
    assert (before(source, at, 9), behind(source, at + 1, 9)) == ("射", "命")
