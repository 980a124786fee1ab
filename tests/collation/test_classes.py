"""What a difference of two editions is: error, reading, orthography, script, taboo, layout, unencoded."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.collation.classes import Class
from proof.collation.collation import collate
from proof.collation.differences import Side
from proof.model.flags import Kind
from proof.text.layers import Layer
from proof.text.transcription import Format, Transcription
from tests.build import transcription

TEXT = (
    "商鞅三説秦孝公前二説不聽後一説用者前二帝王之論後一霸者之議也夫持帝王之論說霸者之主雖精見距更調霸説雖麤見受"
    "何則精遇孝公所不欲得麤遇孝公所欲行也故說者不在善在所說者善之才不待賢在所事者賢之馬圄之說無方而野人說之"
    "子貢之說有義野人不聽吹籟工為善聲因越王不喜更為野聲越王大說故為善於不欲得善之主雖善不見愛"
)


def edition(text: str, name: str) -> Transcription:
    return transcription(f"　　{text}", name, Format.INLINE)


def behind(before: str, *parts: str) -> tuple[Transcription, Transcription]:
    """The text with the one and with the other of these behind `before`."""
    assert TEXT.count(before) == 1
    first, second = (edition(TEXT.replace(before, before + part), f"{part}.txt") for part in parts)
    return first, second


def sorted_as(before: str, base: str, witness: str, pairs: Path | None = None) -> list[tuple[Class, str]]:
    """The class and the evidence where `base` and `witness` stand behind `before` in the one and in the other."""
    return [
        (difference.category, difference.rule)
        for difference in collate(*behind(before, base, witness), pairs).differences
    ]


@pytest.mark.parametrize(
    ("base", "witness", "category", "rule"),
    [
        ("仙", "山", Class.READING, "unlisted"),
        ("安", "不", Class.READING, "unlisted"),
        ("昭", "明", Class.READING, "unlisted"),
        ("刺", "剌", Class.ORTHOGRAPHY, "listed-moe-taiwan"),
        ("飢", "饑", Class.ORTHOGRAPHY, "listed-moe-taiwan"),
        ("享", "嚮", Class.ORTHOGRAPHY, "homophones"),
        ("已", "巳", Class.ORTHOGRAPHY, "one-shape"),
        ("畧", "略", Class.ORTHOGRAPHY, "prc-variants-1955"),
        ("玄", "元", Class.TABOO, "house"),
        ("縳", "縛", Class.ERROR, "look-alike-rare"),
        ("饉", "馑", Class.SCRIPT, "simplified-in-traditional"),
        ("&KR0058;", "庫", Class.UNENCODED, "no-code-point"),
        ("", "之", Class.READING, "particle"),
        ("", "馬", Class.ERROR, ""),
    ],
)
def test_a_pair_is_sorted_as_a_reader_of_editions_does(base: str, witness: str, category: Class, rule: str) -> None:
    (difference,) = sorted_as("善之才不待賢", base, witness)
    assert difference[0] is category
    assert rule in difference[1]
    (turned,) = sorted_as("善之才不待賢", witness, base)
    assert turned == difference


GLOSS, LABEL = (Class.PASSAGE, "gloss"), (Class.LAYOUT, "label")


@pytest.mark.parametrize(
    ("base", "witness", "expected"),
    [
        ("", "鄭注", [LABEL]),
        ("注", "鄭注", [LABEL]),
        ("朝直遥反", "鄭注", [GLOSS, LABEL]),
        ("鄭注", "與音預", [GLOSS, LABEL]),
        ("", "説吐活反又始銳反", [GLOSS]),
        ("", "音義朝直遥反", [GLOSS]),
        ("", "奇居宜反下同", [GLOSS]),
        ("注釋曰", "", [LABEL]),
        ("注仙", "山", [LABEL, (Class.READING, "unlisted")]),
        ("仙", "山疏", [(Class.READING, "unlisted"), LABEL]),
    ],
)
def test_words_that_announce_commentary_are_layout_and_how_a_character_is_read_is_a_passage(
    base: str, witness: str, expected: list[tuple[Class, str]]
) -> None:
    assert sorted_as("善之才不待賢", base, witness) == expected


def test_the_projects_own_word_overrules_all_evidence(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("飢\t饑\tdistinct\n仙\t山\tform\n", encoding="utf-8")
    assert sorted_as("善之才不待賢", "飢", "饑", pairs) == [(Class.READING, "project")]
    assert sorted_as("善之才不待賢", "仙", "山", pairs) == [(Class.ORTHOGRAPHY, "project")]


WORDS = "命上射曰某御于子命下射曰子與某子射卒遂命三耦取弓矢"
COMMENT = "御進也侍也進侍于子尊辭也子與某子射比選次其才相近者也"


def paged(*columns: str) -> Transcription:
    text = "<pb:KR1d0030_WYG_010-1a>¶\n" + "".join(f"{column}¶\n" for column in columns)
    return transcription(text, "paged.txt")


@pytest.mark.parametrize("swapped", [False, True])
def test_words_that_one_sets_as_text_and_the_other_as_a_note_are_layout(swapped: bool) -> None:
    """Both have notes; the remark in the middle is text in one of them."""
    half = len(COMMENT) // 2
    own = f"{WORDS[:12]}(比謂比偶/之為耦也){WORDS[12:]}"
    second = (f"大夫之西(某/某)比耦司射{WORDS[4:9]}", f"({COMMENT[:half]}/{COMMENT[half:]})")
    noted = paged(own, *second)
    plain = paged(own.translate(dict.fromkeys(map(ord, "(/)"))), *second)
    collation = collate(plain, noted) if swapped else collate(noted, plain)
    assert not collation.differences
    (first,) = collation.note_layouts
    assert collation.base.text(first.a0, first.a1) == "比謂比偶之為耦也"
    assert first.note is (Side.WITNESS if swapped else Side.BASE)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_text_that_has_the_notes_of_the_other_without_marks_is_compared_with_them(swapped: bool) -> None:
    half = len(COMMENT) // 2
    marked = paged(f"{WORDS[:12]}({COMMENT[:half]}/{COMMENT[half:]}){WORDS[12:]}", f"{TEXT[:20]}(比謂比偶/之為耦也)")
    wrong = f"{WORDS[:12]}{COMMENT.replace('尊', '馬')}{WORDS[12:]}{TEXT[:20]}比謂比偶之為耦也"
    unmarked = transcription(wrong, "unmarked.txt", Format.PLAIN)
    collation = collate(unmarked, marked) if swapped else collate(marked, unmarked)
    (difference,) = collation.differences
    assert {difference.base, difference.witness} == {"尊", "馬"}
    assert collation.uncompared_layers == ()
    assert {layout.note for layout in collation.note_layouts} == {Side.WITNESS if swapped else Side.BASE}
    noteless = transcription(f"{WORDS}{TEXT[:20]}", "noteless.txt", Format.PLAIN)
    assert collate(marked, noteless).uncompared_layers == (Layer.COMMENTARY,)


@pytest.mark.parametrize(("written", "right", "at"), [("鄧注", "鄭注", 0), ("今地疏本", "今注疏本", 1)])
def test_a_wrong_character_in_words_that_announce_commentary_is_one_difference(
    written: str, right: str, at: int
) -> None:
    def noted(words: str) -> Transcription:
        return paged(f"\u3000鄭注{TEXT[:18]}", WORDS, f"\u3000{words}{COMMENT[:16]}")

    for base, witness in ((written, right), (right, written)):
        (first,) = collate(noted(base), noted(witness)).differences
        assert (first.kind, first.base, first.witness) == (Kind.SUBSTITUTION, base[at], witness[at])


def test_a_part_of_the_words_that_announce_commentary_is_missing_in_a_text_that_has_them_whole_elsewhere() -> None:
    def noted(*words: str) -> Transcription:
        halves = TEXT[:24], TEXT[24:48], COMMENT[:14]
        return paged(*(f"\u3000{label}{half}" for label, half in zip(words, halves, strict=True)), WORDS)

    (difference,) = collate(noted("鄭注", "鄭注", "鄭注"), noted("鄭注", "鄭注", "注")).differences
    assert (difference.category, difference.base) == (Class.ERROR, "鄭")


def test_a_character_that_is_missing_is_no_layout_because_a_note_beside_it_says_it_too() -> None:
    half = len(COMMENT) // 2
    noted = f"{WORDS[:12]}({COMMENT[:half]}/{COMMENT[half:]}){WORDS[12:]}"
    (first,) = collate(paged(f"{WORDS[:12]}{COMMENT[3]}{WORDS[12:]}"), paged(noted)).differences
    assert (first.category, first.base) == (Class.ERROR, COMMENT[3])


WORDS_BY_WAY_OF_A_THIRD = [("日", "國"), ("下", "二"), ("生", "月"), ("事", "年"), ("恕", "怒"), ("冰", "溺")]
"""Each pair has a form in common (秊 is one of 年 and of 事), and is two words all the same."""


@pytest.mark.parametrize(("base", "witness"), WORDS_BY_WAY_OF_A_THIRD)
def test_words_that_share_a_form_are_a_difference(base: str, witness: str) -> None:
    ((category, _),) = sorted_as("見距更調霸", base, witness)
    assert category in (Class.READING, Class.ERROR)


@pytest.mark.parametrize(
    ("base", "witness", "expected"),
    [
        ("垢消", "穢銷", ("垢消", "穢銷", Class.READING)),
        ("山澤", "澤梁", ("山澤", "澤梁", Class.READING)),
        ("第一王", "一魏王", ("第一", "一魏", Class.READING)),
        ("眷屬殺親眷", "眷屬殺眷屬", ("親眷", "眷屬", Class.READING)),
        ("甲乙丙丁", "丙丁甲乙", ("甲乙丙丁", "丙丁甲乙", Class.ERROR)),
        ("子孔路曰", "孔路子曰", ("子孔路", "孔路子", Class.ERROR)),
        ("天地玄黃宇宙", "宇宙玄黃天地", ("天地玄黃宇宙", "宇宙玄黃天地", Class.ERROR)),
        ("無道甲", "甲无道", ("無道甲", "甲无道", Class.ERROR)),
    ],
)
def test_neighbours_that_differ_are_one_reading(base: str, witness: str, expected: tuple[str, str, Class]) -> None:
    (difference,) = collate(*behind("之才不待賢", base, witness)).differences
    assert (difference.base, difference.witness, difference.category) == expected
    same_words = sorted(base) == sorted(witness) or "无" in witness
    assert (difference.kind is Kind.TRANSPOSITION) is same_words


def test_one_more_character_before_the_same_one_all_over_is_systematic() -> None:
    numbers = [f"{word}十三年" for word in "春夏秋冬朝夕"]
    base = "".join(part + TEXT[20 * n : 20 * n + 20] for n, part in enumerate(numbers))
    collation = collate(edition(base, "a.txt"), edition(base.replace("十", "一十"), "b.txt"))
    assert [(difference.witness, difference.category) for difference in collation.differences] == [
        ("一", Class.SYSTEMATIC)
    ] * 6
    (pair,) = collation.systematic
    assert (pair.base, pair.witness, pair.side, pair.confirmed) == ("十", "一十", Side.WITNESS, 6)
