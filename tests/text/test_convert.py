"""One format becomes another: the text stays, what is lost is told."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from proof.errors import UsageError
from proof.text.convert import Converted, convert
from proof.text.layers import Layer
from proof.text.read import detect_format, read_transcription
from proof.text.transcription import PAGED, Format, Transcription
from tests.build import transcription

MIRROR = "seeds/003_ef0b6b28549717f0.txt"
BARE = "<pb:KR1d0030_WYG_010-1a>¶\n大射之儀¶\n"
SUBCOMMENTARY = (
    "宾与大夫辞,坐受觯以兴。辞,辞其坐奠觯。\n[疏]“宾与”至“以兴”。○注“辞辞其坐奠觯”。○释曰:必辞者,赞者不敢亲授。\n"
)
TEXTS = (
    *(f"seeds/{number}_*" for number in ("000", "001", "002", "003", "004")),
    "kanripo/KR1d0030/KR1d0030_000.txt",
    "kanripo/KR1d0028/KR1d0028_005.txt",
    "kanripo/KR1d0085/KR1d0085_008.txt",
    "kanripo/KR1d0087/KR1d0087_223.txt",
)
PAIRS = [(text, list(Format)[(number + shift) % len(Format)]) for number, text in enumerate(TEXTS) for shift in (0, 1)]
"""Each text in two formats, each format of several texts."""


def characters(edition: Transcription) -> str:
    return "".join(cell.text for stretch in edition.stretches() for cell in stretch.cells())


def reread(converted: Converted) -> Transcription:
    return transcription(converted.text, "converted.txt", converted.format)


def layers(edition: Transcription) -> list[Layer]:
    return [stretch.layer for stretch in edition.stretches() for _ in stretch.cells()]


def moved(losses: tuple[str, ...]) -> int:
    """Of how many characters the losses say that they are in another layer."""
    return sum(int(loss.rpartition(": ")[2]) for loss in losses if loss.startswith("layers of characters"))


def signs(losses: tuple[str, ...]) -> int:
    """How many characters the losses say that signs of layers became."""
    chosen_losses = [loss for loss in losses if loss.startswith("signs of layers")]
    return sum(len(loss.partition("(")[2].partition(")")[0]) * int(loss.rpartition(": ")[2]) for loss in chosen_losses)


def holds(text: str, part: str) -> bool:
    """Whether all characters of `part` stand in `text` in this order."""
    rest = iter(text)
    return all(char in rest for char in part)


@cache
def read_once(path: Path) -> Transcription:
    """What is in the file, which several tests turn into other formats."""
    return read_transcription(path)


@pytest.fixture
def mirror(shared: Path) -> Transcription:
    return read_once(shared / MIRROR)


def turned(source: Transcription, target: Format) -> Converted | str:
    """The edition in another format, or why it is refused."""
    references = {page.id: str(page.ref or f"WYG0001-{number:04}a") for number, page in enumerate(source.pages)}
    try:
        return convert(source, target, work=source.work or "KR1d0030", references=references)
    except UsageError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize(("text", "target"), PAIRS)
def test_there_and_back_every_difference_is_a_listed_loss(shared: Path, text: str, target: Format) -> None:
    source = read_once(next(shared.glob(text)))
    converted = turned(source, target)
    if isinstance(converted, str):
        assert ("has no pages" in converted) == (target in PAGED and not source.paged)
        assert "has no pages" in converted or "could not be recognised again: it has no subcomm" in converted
        return
    if target is source.format:
        assert converted.text == source.text
    assert detect_format(converted.text) is target
    there = reread(converted)
    added = signs(converted.losses)
    assert len(characters(there)) == len(characters(source)) + added
    assert holds(characters(there), characters(source))
    if not added:
        assert sum(a is not b for a, b in zip(layers(source), layers(there), strict=True)) == moved(converted.losses)
    assert not (source.footnotes and not there.footnotes) or any("footnotes" in loss for loss in converted.losses)
    returned = turned(there, source.format)
    if isinstance(returned, str):
        # pages, subcommentary or notes went on the way there, and that was said
        assert converted.losses
        return
    assert detect_format(returned.text) is source.format
    back = reread(returned)
    if added:  # what became words is a sign again
        assert holds(characters(there), characters(back))
        assert (characters(back) == characters(there)) is not any("reads otherwise" in loss for loss in returned.losses)
        return
    assert characters(back) == characters(source)
    changed = sum(a is not b for a, b in zip(layers(source), layers(back), strict=True))
    assert changed <= moved(converted.losses) + moved(returned.losses)


def test_a_subcommentary_becomes_a_note_that_says_that_it_is_one_and_no_word_of_its_signs_is_lost() -> None:
    source = transcription(SUBCOMMENTARY, "zhushu.txt")
    converted = convert(source, Format.INLINE)
    assert converted.text.split("\n")[1] == (
        "\u3000\u3000【疏曰“宾与”至“以兴”。○注“辞辞其坐奠觯”。○释曰:必辞者,赞者不敢亲授。】"
    )
    assert converted.losses == (
        "signs of layers, which are words of the text now (疏曰): 1",
        "signs of layers, which are words of the text now (释曰): 1",
        "layers of characters (起止 becomes 疏): 12",
    )
    there = reread(converted)
    assert {stretch.layer for stretch in there.stretches()} == {Layer.CANON, Layer.COMMENTARY, Layer.SUBCOMMENTARY}
    again = convert(reread(convert(there, Format.ZHUSHU)), Format.INLINE)
    assert again.text == converted.text, "what says that it is subcommentary is not told so twice"


def test_in_the_critical_edition_its_label_is_lost_and_listed_and_its_words_stay() -> None:
    converted = convert(transcription(SUBCOMMENTARY, "zhushu.txt"), Format.CRITICAL)
    assert "<small>○释曰:必辞者,赞者不敢亲授。</small>" in converted.text
    assert "layers of characters (疏 becomes 注): 9" in converted.losses
    assert "signs of layers, which are words of the text now (释曰): 1" in converted.losses


def test_what_could_not_be_recognised_again_is_not_written() -> None:
    source = transcription(BARE, "bare.txt")
    for target, lacking in ((Format.INLINE, "note"), (Format.ZHUSHU, "subcommentary")):
        with pytest.raises(
            UsageError, match=rf"bare\.txt as {target} could not be recognised again: it has no {lacking}"
        ):
            convert(source, target)


def test_the_mirror_becomes_kanripo_with_its_columns_and_comes_back(mirror: Transcription) -> None:
    converted = convert(mirror, Format.KANRIPO, work="KR1d0030")
    there = reread(converted)
    assert [page.id for page in there.pages[:2]] == ["KR1d0030_WYG_010-1a", "KR1d0030_WYG_010-1b"]
    assert len(there.blocks) == len(mirror.blocks)
    assert "image references: 65" in converted.losses
    assert "names of juan (卷十 becomes 010): 1" in converted.losses
    images = {after.id: str(before.ref) for before, after in zip(mirror.pages, there.pages, strict=True)}
    back = reread(convert(there, Format.MIRROR, references=images))
    assert [page.id for page in back.pages] == [page.id for page in mirror.pages]
    assert [block.stretches and block.stretches[0].source for block in back.blocks] == [
        block.stretches and block.stretches[0].source for block in mirror.blocks
    ]


def test_losses_are_counted_and_what_has_no_pages_does_not_become_page_marked(shared: Path) -> None:
    source = read_once(shared / "seeds/000_8d937d0b6d447d78.txt")
    losses = convert(source, Format.INLINE).losses
    assert "footnotes: 12" in losses
    assert "anchors and levels of headings: 59" in losses
    with pytest.raises(UsageError, match="has no pages"):
        convert(source, Format.KANRIPO, work="KR1d0026")


def test_kanripo_marks_need_the_work_and_mirror_marks_the_images(mirror: Transcription) -> None:
    with pytest.raises(UsageError, match="which work"):
        convert(mirror, Format.KANRIPO)
    for work in ("KR1 d0030", "KR1d0030>", "KR1d0030_WYG"):
        with pytest.raises(UsageError, match="is not the id of a work"):
            convert(mirror, Format.KANRIPO, work=work)
    with pytest.raises(UsageError, match="no image is known for page KR1d0030_WYG_010-1a"):
        convert(transcription(BARE), Format.MIRROR)
