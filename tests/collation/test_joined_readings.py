"""Phrases in another order."""

from __future__ import annotations

import pytest

from proof.collation.classes import Class
from proof.collation.collation import collate
from proof.model.flags import Kind
from proof.text.transcription import Format
from tests.build import transcription

HEAVENS = "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結爲霜"
EMPEROR = "昔在黃帝生而神靈{}長而敦敏成而登天乃問於天師曰余聞上古之人{}春秋皆度百歲而動作不衰"
LIU_YAN = "宰相劉晏{}曹州南華人也年七歲舉神童授秘書正字累授夏縣令有能名{}歷殿中侍御史遷度支郎中"
LI_YING = "李膺字元禮潁川襄城人也{}膺性簡亢無所交接唯以同郡荀淑陳寔爲師友{}"


def found(base: str, witness: str) -> list[tuple[Kind, Class, str, str, str]]:
    mine, theirs = (transcription(f"{HEAVENS}\n{text}\n", "text.txt", Format.INLINE) for text in (base, witness))
    return [
        (difference.kind, difference.category, difference.rule, difference.base, difference.witness)
        for difference in collate(mine, theirs).differences
    ]


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (EMPEROR, "弱而能言", "弱而能言"),
        (LIU_YAN, "字士安", "字仕安"),
        (LI_YING, "祖父脩安帝時爲太尉父益趙國相", "祖父脩安帝時爲大尉父益趙國相"),
        ("賢賢易色{}事君能致其身與朋友交言而有信{}雖曰未學吾必謂之學矣", "事父母能竭其力", "事父母能盡其力"),
        (LIU_YAN.replace("神童", "神{{}}童"), "字士安", "字仕安"),
    ],
    ids=["as it was", "a name", "long", "a boundary that may be elsewhere", "over another difference"],
)
def test_a_phrase_that_moved_is_two_rows_that_say_so(words: str, first: str, second: str) -> None:
    base, witness = words.format(first, ""), words.format("", second)
    there = found(base.replace("{}", ""), witness.replace("{}", "奇"))
    moved = [row for row in there if row[2] == "moved"]
    assert [row[:2] for row in moved] == [(Kind.INSERTION, Class.ERROR), (Kind.OMISSION, Class.ERROR)]
    assert (sorted(moved[0][3]), sorted(moved[1][4])) == (sorted(first), sorted(second))
    assert len(there) == len(moved) + base.count("{}")


@pytest.mark.parametrize(
    ("first", "second", "changed"),
    [("弱而能言", "幼而徇齊", ""), ("弱而能言", "幼而徇齊", "弱"), ("學而時習之不亦說乎", "有朋自遠方來不亦樂乎", "")],
    ids=["neighbours", "with another character", "sentences"],
)
def test_neighbours_that_changed_places_are_one_transposition(first: str, second: str, changed: str) -> None:
    other = first.replace(changed, "若") if changed else first
    ((kind, category, _, mine, theirs),) = found(EMPEROR.format(first + second, ""), EMPEROR.format(second + other, ""))
    assert (kind, category) == (Kind.TRANSPOSITION, Class.ERROR)
    alike = "乎" * first.endswith("乎")  # what both end with is no part of the difference
    assert (mine + alike, theirs + alike) == (first + second, second + other)
