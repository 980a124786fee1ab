"""Oddities that a transcription can be read with, but that a proofreader should know of."""

from __future__ import annotations

import pytest

from tests.build import transcription
from tests.remarks import remark_codes

PAGE = "<pb:K_WYG_001-{}>¶\n甲¶\n"
MIRROR = "卷一 第 {} 页 WYG0103-0192{}.png\n甲\n"
FULL = "".join(f"<pb:K_WYG_001-{folio}>¶\n" + "甲¶\n" * 8 for folio in ("1a", "1b", "2a", "2b"))
PASSAGES = "".join(f"<pb:K_tls_001-{number}a>¶\n" + "甲¶\n" * 50 for number in (1, 2, 3, 5))
LEAVES = ("2a", "2b", "7a", "3b")


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("<pb:K_WYG_001-1a>¶\n\n<pb:K_WYG_001-1b>¶\n甲¶\n", [(1, "no-column")]),
        ("<pb:p1>¶\n甲¶\n<pb:p2>¶\n乙¶\n", [(1, "mark-without-folio"), (3, "mark-without-folio")]),
        (FULL, []),
        (FULL + "版本\n目次¶\n", [(37, "no-pilcrow")]),
        (FULL.replace("甲¶", "甲"), []),  # where none has it, none is missed
        ("".join(map(PAGE.format, LEAVES)), [(5, "pages-missing"), (7, "pages-back")]),
        ("".join(map(MIRROR.format, LEAVES, "abcd")), [(5, "pages-missing"), (7, "pages-back")]),
        (PASSAGES, [(154, "pages-missing")]),  # pages of one side and any length
    ],
)
def test_pages_without_columns_folio_pilcrow_or_sequence_are_told(text: str, remarks: list[tuple[int, str]]) -> None:
    assert remark_codes(transcription(text)) == remarks
