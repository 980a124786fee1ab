"""The authority of a decision: the witness that has the reading, but never another reader of the image."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.model.flags import Origin
from proof.store.authorities import IMAGE, authority_of
from proof.store.decision_records import DecisionRequest, RefusedDecisionError, Verdict
from proof.store.models import FlagRow, PageRow


@pytest.mark.parametrize(("siglum", "authority"), [("四部", "四部"), ("~vlm", IMAGE)])
def test_a_reading_that_one_alone_has_rests_on_a_copy_or_on_the_image(siglum: str, authority: str) -> None:
    evidence = {"witnesses": [{"siglum": siglum, "reading": "鬼"}], "alternatives": []}
    flag = FlagRow(suggested="吿", reason="posterior", evidence=evidence)
    demand = DecisionRequest("work", 1, Verdict.TYPED, 0, "甲", "key-of-one", "鬼")
    assert authority_of(demand, flag, PageRow(image="page.png")) == authority


def test_that_the_copy_reads_so_rests_on_its_image_or_on_what_a_person_names() -> None:
    flag = FlagRow(suggested="吿", reason="collation", evidence={})
    demand = DecisionRequest("work", 1, Verdict.COPY, 0, "甲", "key-of-one")
    assert authority_of(demand, flag, PageRow(image="page.png")) == IMAGE
    with pytest.raises(RefusedDecisionError, match="no image shows"):
        authority_of(demand, flag, PageRow(image=None))
    assert authority_of(replace(demand, authority="原書"), flag, PageRow(image=None)) == "原書"


@pytest.mark.parametrize(("reading", "authority"), [("鬼", ""), ("", "四部")])
def test_a_deletion_rests_on_a_witness_only_where_that_lacks_the_characters(reading: str, authority: str) -> None:
    witnesses = {"witnesses": [{"siglum": "四部", "reading": reading}], "alternatives": []}
    flag = FlagRow(suggested=reading, reason="collation", evidence=witnesses)
    request = DecisionRequest("work", 1, Verdict.DELETE, 0, "甲", "key-of-one")
    assert authority_of(request, flag, PageRow(image=None)) == authority


@pytest.mark.parametrize(
    ("origin", "suggested", "authority"),
    [(Origin.FINDING, "鬼", ""), (Origin.FINDING, "", IMAGE), (Origin.PERSON, "", "")],
)
def test_a_deletion_rests_on_the_image_only_where_a_check_found_nothing_there(
    origin: Origin, suggested: str, authority: str
) -> None:
    flag = FlagRow(origin=origin.value, suggested=suggested, reason="posterior", evidence={})
    request = DecisionRequest("work", 1, Verdict.DELETE, 0, "甲", "key-of-one")
    assert authority_of(request, flag, PageRow(image="page.png")) == authority
    assert authority_of(replace(request, authority=IMAGE), flag, PageRow(image="page.png")) == IMAGE
