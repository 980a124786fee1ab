"""Collation notes are read as data: which character, which other reading, which witness, which verb."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from proof.collation.apparatus import apparatus_of
from proof.text.read import read_transcription
from tests.build import transcription

FOOTNOTES = [
    ("西：原作東，據嚴本校勘記改。", ("原作", "西", "東", "", "嚴本校勘記")),
    ("齊：原脫，朱子曰「注脫齊字，據疏文補之」。", ("原脫", "齊", "", "", "疏文")),
    ("退：據唐石經補。錢大昕云宋本及大射均有。", ("補", "退", "", "", "唐石經")),
    ("無能：諸本作無能對。", ("作", "無能", "無能對", "諸本", "")),
    ("令：嚴本校勘記作命，與疏合。", ("作", "令", "命", "嚴本校勘記", "")),
    ("禮，原作「豊」，據四庫本改。", ("原作", "禮", "豊", "", "四庫本")),
    ("骹：原作骰，從諸本改。", ("原作", "骹", "骰", "", "諸本")),
    ("拳：疑作奉。", ("疑作", "拳", "奉", "", "")),
    ("于：原作「与」，据监本改。", ("原作", "于", "与", "", "监本")),
    ("酬：原作州，依嚴本改。", ("原作", "酬", "州", "", "嚴本")),
    ("矣：原衍，據影像刪。", ("原衍", "", "矣", "", "影像")),
]
REMARKS = [
    ("案比今注疏本訛作北據唐石經及宋本改正", ("訛作", "比", "北", "今注疏本", "唐石經及宋本")),
    ("案比今注疏本讹作北据唐石经及宋本改正", ("訛作", "比", "北", "今注疏本", "唐石经及宋本")),
    ("案今注疏本脫遂字據唐石經及宋本補", ("脫", "遂", "", "今注疏本", "唐石經及宋本")),
    ("案今注疏本脫與卑二字據宋本補", ("脫", "與卑", "", "今注疏本", "宋本")),
    ("案此下今注疏本衍還字據唐石經及宋本刪", ("衍", "", "還", "今注疏本", "唐石經及宋本")),
    ("案告上今注疏本衍言字據宋本刪", ("衍", "", "言", "今注疏本", "宋本")),
    ("案足以二字今注疏本訛作一已字據宋本改正", ("訛作", "足以", "一已", "今注疏本", "宋本")),
    ("案此下今注疏本有也字宋本無", ("有", "", "也", "今注疏本", "宋本")),
    ("案敖繼公云進當作退鄉射云揖退是也", ("當作", "進", "退", "", "敖繼公")),
]


def parts(note: object) -> tuple[str, ...]:
    return tuple(getattr(note, name) for name in ("verb", "lemma", "reading", "witness", "authority"))


@pytest.mark.parametrize(("note", "expected"), FOOTNOTES)
def test_a_footnote_names_reading_and_authority(note: str, expected: tuple[str, ...]) -> None:
    text = f"東面于中西[^1]坐。<small>固東面矣。</small>\n\n[^1]: {note}\n"
    (read,) = apparatus_of(transcription(text))
    assert parts(read) == expected
    assert text[read.anchor - 1] == "西"


@pytest.mark.parametrize(("note", "expected"), REMARKS)
def test_an_editors_remark_names_reading_and_witness(note: str, expected: tuple[str, ...]) -> None:
    text = f"<pb:KR1_WYG_010-1a>¶\n大夫之西比({note[:8]}/{note[8:]})耦¶\n"
    (read,) = apparatus_of(transcription(text))
    assert parts(read) == expected


def test_what_is_no_collation_note_is_kept_as_not_understood() -> None:
    text = "<pb:KR1_WYG_010-1a>¶\n大射儀(案此篇文/義甚明)¶\n"
    (read,) = apparatus_of(transcription(text))
    assert not read.understood
    assert read.text == "案此篇文義甚明"


def test_every_note_of_the_seeds_is_extracted_and_nearly_every_one_understood(shared: Path) -> None:
    critical = apparatus_of(read_transcription(shared / "seeds/000_8d937d0b6d447d78.txt"))
    mirror = apparatus_of(read_transcription(shared / "seeds/003_ef0b6b28549717f0.txt"))
    assert (len(critical), len(mirror)) == (12, 21)
    notes = [*critical, *mirror]
    assert sum(not note.understood for note in notes) * 20 < len(notes)
    assert Counter(note.verb for note in mirror) == {"訛作": 10, "脫": 6, "衍": 2, "當作": 2, "有": 1}
