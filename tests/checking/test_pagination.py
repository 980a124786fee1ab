"""A running edition on its pages: each image has the slice of the text that it shows, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.checking.pagination import ReadImage, paginate, without_images
from proof.errors import TextError
from proof.text.encoding import Decoded
from proof.text.model import Page, Script
from proof.text.read import parse_transcription
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format, Transcription
from proof.text.variants import VariantPolicy

CANON = (
    "司射東面于大夫之西比耦大夫與大夫命上射曰某御于子命下射曰子與某子射卒遂比衆耦"
    "衆耦立于大夫之南西面北上若有士與大夫為耦則以大夫之耦為上命大夫之耦曰子與某子射告于大夫曰某御于子"
    "命衆耦如命三耦之辭諸公卿皆未降遂命三耦各與其耦拾取矢皆袒決遂執弓右挾之"
    "一耦出西面揖當楅北面揖及楅揖上射東面下射西面上射揖進坐橫弓卻手自弓下取一个兼諸弣順羽且興"
)
PAGES = [CANON[start : start + 32] for start in range(0, 128, 32)]
FOLD = VariantPolicy(Script.SIMPLIFIED).fold


def edition(text: str, form: Format = Format.INLINE) -> Transcription:
    return parse_transcription(Decoded(text, "utf-8", False), Path("text.txt"), form)


def images(*reads: str) -> list[ReadImage]:
    """Each image with columns of eight characters."""
    read_images = []
    for number, read in enumerate(reads):
        name = f"WYG0103-{192 + number // 4:04}{'abcd'[number % 4]}"
        read_images.append(ReadImage(name, tuple(read[at : at + 8] for at in range(0, len(read), 8))))
    return read_images


def said(page: Page) -> str:
    return "".join(cell.text for column in page.columns for cell in column.cells)


def slices(text: Transcription) -> dict[str, str]:
    return {page.id: said(page) for page in text.pages}


def test_every_page_has_its_slice_and_every_character_its_place_in_the_file() -> None:
    source = f"　　{CANON[:50]}，\n　　{CANON[50:70]}。【{CANON[70:90]}】{CANON[90:128]}\n"
    text = paginate(edition(source), images(*PAGES), FOLD)
    assert list(slices(text).values()) == PAGES
    lines = source.split("\n")
    for page in text.pages:
        assert page.running
        for column in page.columns:
            assert column.source == lines[column.file_line - 1]
            for cell in column.cells:
                assert column.source[cell.offset] == cell.text
                assert source[column.start + cell.offset] == cell.text
    assert text.remarks == ()


OTHER = "乃張侯下綱不及地武不繫左下綱中掩束之"
COMMENT = "釋曰自此盡未降論命衆耦之事云為上居羣士之上者以其大夫尊故也"
TWICE = PAGES[0][4:16]
APPARATUS = f"---\ntitle: 儀禮\n---\n\n{CANON[:20]}[^1]{CANON[20:64]}\n\n[^1]: 卒：原作率，據嚴本改。\n"


def missed(text: str) -> tuple[RemarkCode, dict[str, object]]:
    """The remark that this much of the text is on no image."""
    return RemarkCode.ON_NO_IMAGE, {"text": f"{text[:12]}…", "number": len(text)}


@pytest.mark.parametrize(
    ("source", "shown", "expected", "remarks"),
    [
        (f"　　{CANON[:128]}", PAGES[1:3], PAGES[1:3], [missed(PAGES[0]), missed(PAGES[3])]),
        (
            f"　　{PAGES[1]}{PAGES[2]}",
            [OTHER, *PAGES[1:3], OTHER, OTHER],
            PAGES[1:3],
            [(RemarkCode.IMAGES_BEFORE, {"number": 1}), (RemarkCode.IMAGES_AFTER, {"number": 2})],
        ),
        (f"　　{CANON[:128]}", [PAGES[0], *PAGES[2:]], [PAGES[0], *PAGES[2:]], [missed(PAGES[1])]),
        (f"　　{PAGES[0]}{PAGES[1]}{PAGES[3]}", PAGES, [*PAGES[:2], "", PAGES[3]], []),
        (f"　　{CANON[:40]}【{COMMENT}】{CANON[40:128]}", PAGES, PAGES, [missed(COMMENT)]),
        (
            f"　　{PAGES[0]}{PAGES[1]}{TWICE}{PAGES[2]}{PAGES[3]}",
            [PAGES[0], PAGES[1] + TWICE, *PAGES[2:]],
            [PAGES[0], PAGES[1] + TWICE, *PAGES[2:]],
            [],
        ),
        (f"　　{CANON[:31]}甲{CANON[32:128]}", PAGES, [f"{PAGES[0][:31]}甲", *PAGES[1:]], []),
        (f"　　{CANON[:31]}甲乙丙丁{CANON[32:128]}", PAGES, [f"{PAGES[0][:31]}甲乙丙丁", *PAGES[1:]], []),
        (APPARATUS, PAGES[:2], PAGES[:2], []),
    ],
    ids=[
        "the text begins before the images and ends after them",
        "images before and after the text are no pages of it",
        "a missing image costs its own page",
        "a page that the text leaves out has no columns",
        "what the images leave out is on no page",
        "a formula that stands elsewhere too does not draw a page there",
        "an error at the end of a page stays on its page",
        "so do several characters for one that the image shows there",
        "the apparatus of an edition is on no page",
    ],
)
def test_each_image_has_the_slice_that_it_shows_and_what_is_left_over_is_told(
    source: str, shown: list[str], expected: list[str], remarks: list[tuple[RemarkCode, dict[str, object]]]
) -> None:
    text = paginate(edition(source, Format.CRITICAL if source == APPARATUS else Format.INLINE), images(*shown), FOLD)
    assert list(slices(text).values()) == expected
    assert [(remark.notice.code, dict(remark.notice.values)) for remark in text.remarks] == remarks


@pytest.mark.parametrize(
    ("source", "shown", "joined"),
    [
        (CANON[:128], PAGES, [(False, True), (True, True), (True, True), (True, False)]),
        (CANON[:24] + CANON[32:128], PAGES, [(False, True), (True, True), (True, True), (True, False)]),
        (CANON[:24] + CANON[40:128], PAGES, [(False, False), (False, True), (True, True), (True, False)]),
        (CANON[:32] + OTHER + CANON[32:64], PAGES[:2], [(False, False), (False, False)]),
    ],
    ids=[
        "whole",
        "without the last column of a page",
        "nor the first of the next",
        "with a passage that is on no image",
    ],
)
def test_pages_are_joined_where_the_text_goes_on_at_the_edge_of_an_image(
    source: str, shown: list[str], joined: list[tuple[bool, bool]]
) -> None:
    text = paginate(edition(f"　　{source}"), images(*shown), FOLD)
    assert [page.joined for page in text.pages] == joined


@pytest.mark.parametrize("length", [11, 12, 16])
@pytest.mark.parametrize("place", [48, 64])
def test_a_surplus_passage_is_on_the_page_that_shows_the_text_around_it(length: int, place: int) -> None:
    """One that stands twice in a row, and one from elsewhere. The images read a character wrongly after it."""
    shown = [PAGES[0], f"{PAGES[1][:18]}甲{PAGES[1][19:]}", f"{PAGES[2][:2]}甲{PAGES[2][3:]}", *PAGES[3:]]
    for surplus in (CANON[place - length : place], CANON[100 : 100 + length]):
        text = f"{CANON[:place]}{surplus}{CANON[place:160]}"
        found = paginate(edition(f"　　{text}"), images(*shown, CANON[128:160]), FOLD)
        assert "".join(slices(found).values()) == text
        assert not found.remarks


def test_the_surplus_passages_of_another_edition_are_on_no_page() -> None:
    text = f"{CANON[:48]}{OTHER}{CANON[48:128]}"
    assert list(slices(paginate(edition(f"　　{text}"), images(*PAGES), FOLD)).values()) == PAGES


def test_without_images_every_character_is_on_a_page_at_its_place() -> None:
    lines = [f"{CANON[n : n + 10]}【{CANON[n + 10 : n + 14]}】\n" for n in range(0, 100, 2)]
    read = edition("".join(lines))
    text = without_images(read)
    assert [len(page.columns) for page in text.pages] == [20, 20, 10]
    assert len({page.id for page in text.pages}) == 3
    characters = [
        (column.start + cell.offset, cell.text)
        for page in text.pages
        for column in page.columns
        for cell in column.cells
    ]
    assert characters == [(cell.start, cell.text) for stretch in read.stretches() for cell in stretch.cells()]
    assert [run.is_note for run in text.pages[0].columns[0].runs] == [False, True]


def test_images_of_another_text_are_refused() -> None:
    with pytest.raises(TextError, match="none of the 2 images shows this text"):
        paginate(edition(f"　　{CANON}"), images("乃張侯下綱不及地武", "不繫左下綱中掩束之"), FOLD)


@given(st.lists(st.integers(0, 127), max_size=6, unique=True))
def test_no_character_is_lost_or_doubled_whatever_the_images_misread(places: list[int]) -> None:
    read = list(CANON[:128])
    for place in places:
        read[place] = "" if place % 2 else "甲"
    reads = ["".join(read[start : start + 32]) for start in range(0, 128, 32)]
    text = paginate(edition(f"　　{CANON[:128]}"), images(*reads), FOLD)
    offsets = [cell.offset for page in text.pages for column in page.columns for cell in column.cells]
    assert offsets == sorted(set(offsets))
    assert set(offsets) >= set(range(2 + 12, 2 + 116))
