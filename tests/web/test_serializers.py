"""What the desk gets of a flag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proof.model.flags import Evidence
from proof.store import Store
from proof.web.serializers import details
from tests.build import PLACE, WORK, check_at, flag, page, queued

SEEN = Evidence("posterior", alternatives=(("開", 0.6), ("聞", 0.3), ("關", 0.03), ("闻", 0.02), ("=", 0.01)))


@pytest.mark.parametrize(
    ("script", "alternatives"),
    [("simplified", {"开": 0.6, "闻": 0.32, "关": 0.03}), ("traditional", {"開": 0.6, "聞": 0.32, "關": 0.03})],
)
def test_alternatives_are_written_as_the_text_is(tmp_path: Path, script: str, alternatives: dict[str, float]) -> None:
    text = "公卿辩闻也"
    asked = flag(1, 3, "闻", "开", source=text, evidence=SEEN)
    with Store.open(f"sqlite:///{tmp_path}/proof.sqlite") as store:
        check_at(store, text, [(PLACE, page(text, flags=(asked,)))], script=script)
        [detail] = details(store, WORK, queued(store))
    assert {alternative.text: round(alternative.p, 5) for alternative in detail.alternatives} == alternatives


@pytest.mark.parametrize(
    ("reason", "image", "can_copy"), [("collation", "", False), ("collation", "a", True), ("posterior", "", True)]
)
def test_that_the_copy_reads_so_is_offered_where_an_image_shows_it(
    tmp_path: Path, reason: str, image: str, can_copy: bool
) -> None:
    seen = replace(
        page("北耦", flags=(flag(1, 0, "北", "比", source="北耦", evidence=Evidence(reason)),)),
        image=Path(image) if image else None,
        image_sha=image,
    )
    with Store.open(f"sqlite:///{tmp_path}/proof.sqlite") as store:
        check_at(store, "北耦", [(PLACE, seen)])
        [detail] = details(store, WORK, queued(store))
    assert detail.can_copy is can_copy
