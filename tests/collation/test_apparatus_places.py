"""What the apparatus of one seed says of another: places found by plain search, and by collation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import opencc
import pytest

from proof.collation.apparatus import ApparatusNote, apparatus_of
from proof.collation.collation import Collation, collate
from proof.collation.findings import flags
from proof.text.read import read_transcription
from proof.text.transcription import Transcription

AROUND = 4
"""Characters on a side that a plain search asks for; either side will do, as the seed has damage of its own."""


@dataclass(frozen=True)
class Sought:
    """What a plain search for a note in the other text finds: whether it has the passage at all, and how often it has
    the words around with the edition's own reading or with the other one."""

    note: ApparatusNote
    passage: bool
    own: int
    other: int


def bare(text: str) -> str:
    """Han characters alone, simplified, without markup and headings."""
    text = re.sub(r"<[^>]*>|\[\^\d+\]|^#.*$", "", text, flags=re.MULTILINE)
    return str(opencc.OpenCC("t2s").convert("".join(c for c in text if "\u3400" <= c <= "\u9fff" or c > "\U00020000")))


def seek(note: ApparatusNote, text: str, plain: str) -> Sought:
    """Where `plain` has the words around a note of the file `text`, by nothing but string search."""
    lemma, reading = bare(note.lemma), bare(note.reading)
    left = bare(text[max(0, note.anchor - 400) : note.anchor])
    assert left.endswith(lemma)
    left, right = left[: len(left) - len(lemma)], bare(text[note.anchor : note.anchor + 400])

    def count(word: str) -> int:
        return plain.count(left[-AROUND:] + word + right[:AROUND])

    whole = left[-40:] + "|" + right[:40]
    shared = sum(whole[at : at + 6] in plain for at in range(len(whole) - 5))
    return Sought(note, shared > len(whole) // 3, count(lemma), count(reading))


@pytest.fixture(scope="module")
def editions(shared: Path) -> tuple[Transcription, Transcription]:
    """The critical edition with its footnotes, and the 注疏 text that is damaged."""
    critical, damaged = (read_transcription(next((shared / "seeds").glob(f"{one}_*"))) for one in ("000", "002"))
    return critical, damaged


@pytest.fixture(scope="module")
def collation(editions: tuple[Transcription, Transcription]) -> Collation:
    return collate(editions[1], editions[0])


@pytest.fixture(scope="module")
def sought(editions: tuple[Transcription, Transcription]) -> list[Sought]:
    critical, damaged = editions
    plain = bare(damaged.text)
    return [seek(note, critical.text, plain) for note in apparatus_of(critical)]


def test_of_twelve_notes_the_other_text_has_six_places_and_four_of_the_readings(sought: list[Sought]) -> None:
    """The other six notes are on what stands before the passage with which the 注疏 text begins."""
    assert len(sought) == 12
    assert [one.note.lemma for one in sought if one.passage] == ["雖", "拳", "儁", "射", "骹", "躬"]
    assert [one.note.reading for one in sought if one.other] == ["進", "備", "躬", "射"]
    assert not [one for one in sought if one.other and not one.passage]


@pytest.mark.slow
def test_every_place_that_still_has_the_other_reading_is_found_and_carries_its_footnote(
    sought: list[Sought], collation: Collation, editions: tuple[Transcription, Transcription]
) -> None:
    told = flags(collation)
    for one in sought:
        carried = [difference for difference in collation.differences if one.note in difference.notes]
        if not one.other:
            assert not carried
            continue
        (difference,) = carried
        assert (bare(difference.base), bare(difference.witness)) == (bare(one.note.reading), bare(one.note.lemma))
        assert editions[1].text[difference.start : difference.start + difference.length] == difference.base
        (flag,) = [flag for flag in told if flag.raised and one.note.text in (flag.evidence.note or "")]
        assert bare(flag.suggested) == bare(one.note.lemma)


def test_two_places_agree_with_the_edition_against_their_notes(sought: list[Sought]) -> None:
    """拳 and 骹: the note names another reading, and the text has the edition's own."""
    agreeing = [one for one in sought if one.passage and not one.other]
    assert [(one.note.lemma, one.note.reading) for one in agreeing] == [("拳", "奉"), ("骹", "骰")]
    # 髤 before 拳 is damaged in the text, so that only half of the words around are found
    assert [one.own for one in agreeing] == [0, 1]
