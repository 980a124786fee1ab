"""A page without columns, read line by line: a few findings, or one that says that its lines are in no order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from proof.layout.half_folio import Outline
from proof.layout.rules import Rectification
from proof.model.result import PageResult, Status
from proof.ocr.engine import ReadCharacter
from proof.ocr.page import PageLine, PageReading
from proof.ocr.page_record import PageSheet
from proof.text.model import Page, Script
from proof.text.variants import VariantPolicy
from proof.verify.unruled import check_unruled
from tests.half_folios import MakePage

ROWS = ("司射適西階西釋弓矢", "視算如初反位升飲如", "北面請釋獲于公公許", "反搢扑遂命釋獲者設", "中以弓爲畢大史實八")


def read(lines: Sequence[str]) -> PageReading:
    """Lines as columns from right to left."""
    found = []
    for number, text in enumerate(lines):
        x, step = 500.0 - 60 * number, 1 / len(text)
        outline = ((x, 0.0), (x + 50, 0.0), (x + 50, 400.0), (x, 400.0))
        characters = tuple(ReadCharacter(char, n * step, (n + 1) * step, 0.99) for n, char in enumerate(text))
        found.append(PageLine(characters, 0.99, outline, True, 1, number + 1))
    return PageReading(tuple(found))


def checked(page: Page, lines: Sequence[str]) -> PageResult:
    outline = Outline(Rectification.of(1.0, 0.0, 0.0, 500, 600, (0, 0)), (), False, None, 0.0, ())
    sheet = PageSheet((500, 600), "", None, (), outline, 600, 0.1, 40.0, 20.0)
    blank = PageResult(page.id, "", Status.CHECKED)
    return check_unruled(page, "pages", read(lines), sheet, blank, VariantPolicy(Script.TRADITIONAL, None), (), 3.0)


def test_what_differs_here_and_there_is_told_place_by_place(make_page: MakePage) -> None:
    result = checked(make_page(*ROWS), [ROWS[0].replace("矢", "失"), *ROWS[1:]])
    assert result.status is Status.CHECKED
    assert [(flag.line, flag.offset) for flag in result.flags] == [(1, 8)]


@pytest.mark.parametrize("order", [(2, 1, 0, 4, 3), (4, 3, 2, 1, 0)])
def test_lines_in_another_order_are_one_finding(make_page: MakePage, order: Sequence[int]) -> None:
    result = checked(make_page(*ROWS), [ROWS[number] for number in order])
    assert [(flag.line, flag.evidence.reason) for flag in result.flags] == [(0, "page not in columns")]
    assert result.characters_checked == 0


def test_another_page_is_said_to_be_one(make_page: MakePage) -> None:
    result = checked(make_page(*ROWS), ["平身贊引唱復位分獻", "官三祭酒執事者跪進", "位導駕同太常卿導引"])
    assert [flag.evidence.reason for flag in result.flags] == ["image mismatch"]
