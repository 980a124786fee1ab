"""One format becomes another: the text stays, what is lost is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.errors import UsageError
from proof.text.convert import Converted, convert
from proof.text.edition import parse_edition, read_edition
from proof.text.encoding import Decoded
from proof.text.witness import Edition, Format, Layer

RUNNING = [Format.INLINE, Format.ZHUSHU, Format.CRITICAL]


def characters(edition: Edition) -> str:
    return "".join(cell.text for stretch in edition.stretches() for cell in stretch.cells())


def reread(converted: Converted) -> Edition:
    return parse_edition(Decoded(converted.text, "utf-8", False), Path("converted.txt"), converted.format)


@pytest.mark.parametrize("target", RUNNING)
def test_no_character_of_a_seed_is_lost_on_the_way(shared: Path, target: Format) -> None:
    for path in sorted((shared / "seeds").iterdir()):
        source = read_edition(path)
        converted = convert(source, target)
        assert characters(reread(converted)) == characters(source)
        assert converted.losses == () or source.format is not target


def test_the_same_format_is_the_text_itself(shared: Path) -> None:
    for path in sorted((shared / "seeds").iterdir()):
        source = read_edition(path)
        assert convert(source, source.format).text == source.text


def test_inline_notes_become_small_commentary_and_come_back(shared: Path) -> None:
    source = read_edition(shared / "seeds/001_4b1015a6353d5b95.txt")
    there = reread(convert(source, Format.CRITICAL))
    back = reread(convert(there, Format.INLINE))
    assert characters(back) == characters(source)
    notes = sum(stretch.layer is Layer.COMMENTARY for stretch in back.stretches())
    assert notes == sum(stretch.layer is Layer.COMMENTARY for stretch in source.stretches())


def test_the_mirror_becomes_kanripo_with_its_columns(shared: Path) -> None:
    source = read_edition(shared / "seeds/003_ef0b6b28549717f0.txt")
    converted = convert(source, Format.KANRIPO, work="KR1d0030")
    there = reread(converted)
    assert [page.id for page in there.pages[:2]] == ["KR1d0030_WYG_010-1a", "KR1d0030_WYG_010-1b"]
    assert len(there.blocks) == len(source.blocks)
    assert "image references: 65" in converted.losses
    images = {after.id: str(before.ref) for before, after in zip(source.pages, there.pages, strict=True)}
    back = reread(convert(there, Format.MIRROR, references=images))
    assert [page.id for page in back.pages] == [page.id for page in source.pages]
    assert [block.stretches and block.stretches[0].source for block in back.blocks] == [
        block.stretches and block.stretches[0].source for block in source.blocks
    ]


def test_losses_are_counted(shared: Path) -> None:
    source = read_edition(shared / "seeds/000_8d937d0b6d447d78.txt")
    losses = convert(source, Format.INLINE).losses
    assert "footnotes: 12" in losses
    assert "anchors and levels of headings: 59" in losses


def test_what_has_no_pages_does_not_become_page_marked(shared: Path) -> None:
    source = read_edition(shared / "seeds/000_8d937d0b6d447d78.txt")
    with pytest.raises(UsageError, match="has no pages"):
        convert(source, Format.KANRIPO, work="KR1d0026")


def test_kanripo_marks_need_the_work_and_mirror_marks_the_images(shared: Path) -> None:
    mirror = read_edition(shared / "seeds/003_ef0b6b28549717f0.txt")
    with pytest.raises(UsageError, match="which work"):
        convert(mirror, Format.KANRIPO)
    kanripo = read_edition(shared / "kanripo/KR1d0030/KR1d0030_010.txt")
    with pytest.raises(UsageError, match="no image is known for page KR1d0030_WYG_010-1a"):
        convert(kanripo, Format.MIRROR)
