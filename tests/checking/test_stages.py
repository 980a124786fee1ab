"""Reading, judging, deciding: each stage is taken up from what the stage before it left in the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from proof.checking.pipeline import check
from proof.ocr.engine import Pixels, Reading
from proof.ocr.network import Network
from proof.ocr.page_record import PageRecord
from proof.ocr.ppocr import PPOCR
from proof.store import Store
from tests.checking.test_pipeline import (
    FIRST,
    PLANTED,
    SECOND,
    THIRD,
    Material,
    again,
    checked,
    lines,
    places,
    raw,
    read_pages,
)

pytestmark = pytest.mark.engine

__all__ = ["again", "checked", "read_pages"]

NOTHING: list[Pixels] = []


@pytest.fixture
def strips(monkeypatch: pytest.MonkeyPatch) -> list[Pixels]:
    """The strips that the recogniser is shown from now on."""
    shown: list[Pixels] = []
    real = PPOCR.read

    def counted(self: PPOCR, given: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        shown.extend(given)
        return real(self, given, sought)

    monkeypatch.setattr(PPOCR, "read", counted)
    return shown


def from_nothing(material: Material, **settings: object) -> bytes:
    """The flags of a check that knows of no other."""
    return raw(check(material.settings("anew", store="anew", **settings)))


def test_another_threshold_raises_other_flags_and_judges_no_page(again: Material, strips: list[Pixels]) -> None:
    outcome = check(again.settings(flags__threshold=0.5))
    assert strips == NOTHING
    assert raw(outcome) == from_nothing(again, flags__threshold=0.5)
    assert all(line["raised"] == (line["score"] >= 0.5) for line in lines(outcome) if line["kind"] != "variant")


def test_another_list_of_variants_is_judged_by_what_was_read(again: Material, strips: list[Pixels]) -> None:
    """北 for 比 is the planted error of the second page; here the project says that they are one word."""
    pairs = again.folder / "pairs.tsv"
    pairs.write_text("北\t比\tform\n", encoding="utf-8")
    outcome = check(again.settings(variants__file=str(pairs)))
    assert strips == NOTHING
    assert [line["kind"] for line in lines(outcome) if (line["transcribed"], line["suggested"]) == ("北", "比")] == [
        "variant"
    ]
    assert raw(outcome) == from_nothing(again, variants__file=str(pairs))


@pytest.mark.usefixtures("from_scratch")
def test_another_release_judges_all_pages_reads_none_and_loads_no_recogniser(
    again: Material, strips: list[Pixels], read_pages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, *_: object) -> Network:
        raise AssertionError(f"{path} was loaded")

    monkeypatch.setattr("proof.__version__", "another")
    with monkeypatch.context() as patch:
        patch.setattr("proof.ocr.ppocr.open_network", refused)
        outcome = check(again.settings())
    assert strips == NOTHING
    assert sorted(read_pages) == [FIRST, SECOND, THIRD]
    assert raw(outcome) == from_nothing(again)


def test_a_corrected_character_is_judged_by_what_was_read(
    again: Material, strips: list[Pixels], read_pages: list[str]
) -> None:
    """北 is the planted error of the second page, and 比 is what was read there."""
    again.change("西北耦", "西比耦")
    outcome = check(again.settings())
    assert (strips, read_pages) == (NOTHING, [SECOND])
    assert places(outcome) == []
    assert raw(outcome) == from_nothing(again)


def test_another_character_that_was_not_read_asks_for_the_strips_of_its_run_alone(
    again: Material, strips: list[Pixels], read_pages: list[str]
) -> None:
    again.change("命大夫之耦曰子与某子射告", "命大夫之耦曰子与某子谢告")
    outcome = check(again.settings())
    few = len(strips)
    assert 0 < few <= 4
    assert read_pages == [THIRD]
    assert [(page, there) for page, _, there, _ in places(outcome)] == [(SECOND, "北"), (THIRD, "谢")]
    strips.clear()
    assert raw(outcome) == from_nothing(again)
    assert few < len(strips) / 8


def test_a_damaged_record_is_read_again(
    again: Material, strips: list[Pixels], checked: tuple[Material, object]
) -> None:
    assert PageRecord.unpacked(b"nothing of the kind") == PageRecord()
    with Store.open(again.settings().store_address) as store:
        store.cache.prune(0)
    pairs = again.folder / "pairs.tsv"
    pairs.write_text("畧\t略\tform\n", encoding="utf-8")
    outcome = check(again.settings(variants__file=str(pairs)))
    assert strips != NOTHING
    assert places(outcome) == PLANTED
