"""A layout that a person set: what it says holds, and what no page can be is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proof.errors import UsageError
from proof.layout.half_folio import find_layout
from proof.layout.overrides import LayoutOverrideShape
from tests.layout.drawn import boxes_of

FRAME = ((100.0, 80.0), (500.0, 80.0), (500.0, 680.0), (100.0, 680.0))
BLANK = np.full((800, 600), 235, np.uint8)


def test_frame_rules_and_notes_stand_where_a_person_set_them() -> None:
    layout_override = LayoutOverrideShape(FRAME, (0.25, 0.6), (None, ((0.0, 0.5),), ()))
    assert LayoutOverrideShape.from_json(layout_override.as_json()) == layout_override
    layout = find_layout(BLANK, override=layout_override)
    assert layout.ruled
    assert not find_layout(BLANK).ruled
    boxes = boxes_of(layout)
    assert [(round(b.x), round(b.y), round(b.w), round(b.h)) for b in boxes] == [
        (340, 80, 160, 600),
        (200, 80, 140, 600),
        (100, 80, 100, 600),
    ]
    assert [column.notes for column in layout.columns] == [None, ((pytest.approx(80), pytest.approx(380)),), ()]


def test_registers_are_regions_whose_columns_are_counted_on_in_the_order_of_the_text() -> None:
    lower = LayoutOverrideShape(((100, 400), (500, 400), (500, 680), (100, 680)), (0.25,))
    upper = LayoutOverrideShape(((100, 80), (500, 80), (500, 370), (100, 370)), (0.5,), more=(lower,))
    layout_override = LayoutOverrideShape.from_json(upper.as_json())
    assert layout_override == upper
    image = BLANK.copy()
    image[420:460, 130:170] = 0
    layout = find_layout(image, override=layout_override)
    boxes = boxes_of(layout)
    assert [column.number for column in layout.columns] == [1, 2, 3, 4]
    assert [(round(b.x), round(b.y)) for b in boxes] == [(300, 80), (100, 80), (200, 400), (100, 400)]
    assert layout.ink_of(4).any()
    assert not layout.ink_of(2).any()


@pytest.mark.parametrize(
    ("corners", "rules", "notes"),
    [
        (FRAME[::-1], (), ()),
        (FRAME, (0.6, 0.4), ()),
        (FRAME, (1.2,), ()),
        (FRAME, (float("nan"),), ()),
        (FRAME, (0.5,), (None,)),
        (FRAME, (), (((0.5, 0.2),),)),
        (FRAME, (), (((0.1, 0.5), (0.4, 0.8)),)),
        (FRAME, tuple(n / 50 for n in range(1, 50)), ()),
    ],
)
def test_what_no_page_can_be_is_refused(corners: Any, rules: Any, notes: Any) -> None:
    with pytest.raises(UsageError):
        LayoutOverrideShape(corners, rules, notes)


def test_all_registers_together_have_no_more_than_forty_columns() -> None:
    twenty, thirty = (tuple(n / count for n in range(1, count)) for count in (20, 30))
    with pytest.raises(UsageError, match="40 columns"):
        LayoutOverrideShape(FRAME, thirty, more=(LayoutOverrideShape(FRAME, twenty),))
