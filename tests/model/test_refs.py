"""Folios, image references and page ids: parsing, successors, and breaks in sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import UsageError
from proof.locale.notices import in_english
from proof.model.refs import Folio, ImageRef, PageId, SequencePage, sequence_findings

FOLIOS = st.builds(Folio, st.integers(0, 9999), st.sampled_from("ab"))
NUMBERS = st.integers(0, 9999)
QUADRANTS = st.builds(ImageRef, st.sampled_from(["WYG", "SBCK", "CK-KZ"]), NUMBERS, NUMBERS, st.sampled_from("abcd"))


def image_ref(text: str) -> ImageRef:
    ref = ImageRef.match(text)
    assert ref is not None
    return ref


def next_ref(ref: ImageRef) -> ImageRef:
    """The next quadrant of a page of four half-folios."""
    step = "abcd".index(ref.quadrant) + 1
    return ImageRef(ref.edition, ref.volume, ref.page + step // 4, "abcd"[step % 4])


def test_a_folio_is_a_leaf_and_a_side() -> None:
    assert [Folio.parse(text) for text in ("1a", "10b", "007A", " 3b ")] == [
        Folio(1, "a"),
        Folio(10, "b"),
        Folio(7, "a"),
        Folio(3, "b"),
    ]
    with pytest.raises(ValueError, match="sides are a and b"):
        Folio(1, "c")


@pytest.mark.parametrize("text", ["", "a", "10", "10c", "1ab", "-1a", "十a", "1٣a", "1" * 5000 + "a"])
def test_other_text_is_refused_as_a_folio(text: str) -> None:
    assert Folio.match(text) is None
    with pytest.raises(UsageError, match="not a half-folio"):
        Folio.parse(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("WYG0103-0192c.png", "WYG0103-0192c"),
        ("WYG0103-0192c", "WYG0103-0192c"),
        ("WYG0103/WYG0103-0192c.png", "WYG0103-0192c"),
        ("C:\\scans\\WYG0103-0192c.TIFF", "WYG0103-0192c"),
        ("wyg103-192C.jpg", "WYG0103-0192c"),
        ("WYG0140-0330.png", "WYG0140-0330"),
        ("SBCK012-0034.jp2", "SBCK0012-0034"),
        ("CK-KZ0001-0002d", "CK-KZ0001-0002d"),
    ],
)
def test_an_image_reference_is_found_in_names_and_paths(text: str, written: str) -> None:
    assert str(image_ref(text)) == written


@pytest.mark.parametrize(
    "text", ["", "WYG", "WYG0103", "0103-0192c", "WYG0103-0192e", "JMML_000-1a.png", "WYG0103-0192c.png.part", "scan 1"]
)
def test_other_text_is_not_an_image_reference(text: str) -> None:
    assert ImageRef.match(text) is None


@given(QUADRANTS)
def test_an_image_reference_is_parsed_as_written_and_the_next_one_is_one_image_later(ref: ImageRef) -> None:
    assert image_ref(str(ref)) == ref
    assert image_ref(str(ref.plate)) == ref.plate
    assert ref.distance(next_ref(ref)) == 1
    assert next_ref(ref) > ref
    assert ref.distance(ref.plate) is None, "a plate and a quadrant cannot be counted through"


def test_after_the_last_quadrant_comes_the_next_page_and_after_a_plate_the_next_plate() -> None:
    ref = image_ref("WYG0103-0192c")
    following = [image_ref(f"WYG0103-{image}") for image in ("0192d", "0193a", "0193b")]
    assert [ref.distance(other) for other in following] == [1, 2, 3]
    plate = image_ref("WYG0140-0330")
    assert (plate.is_plate, plate.quadrant_index) == (True, None)
    assert plate.distance(image_ref("WYG0140-0331")) == 1
    for other in ("WYG0104-0192c", "SBCK0103-0192c"):
        assert ref.distance(image_ref(other)) is None, "another volume or edition cannot be counted through"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("KR1d0087_WYG_223-17b", ("KR1d0087", "WYG", "223", Folio(17, "b"))),
        ("JMML_WYG_000-1a", ("JMML", "WYG", "000", Folio(1, "a"))),
        ("MY_OWN_WORK_WYG_001-12a", ("MY_OWN_WORK", "WYG", "001", Folio(12, "a"))),
    ],
)
def test_a_page_id_names_work_edition_juan_and_folio(text: str, parts: tuple[str, str, str, Folio]) -> None:
    page = PageId.match(text)
    assert page is not None
    assert (page.work, page.edition, page.juan, page.folio) == parts
    assert str(page) == text
    assert not any(map(PageId.match, ("", "KR1d0087", "KR1d0087_WYG_223", "KR1d0087_WYG_223-17", "WYG0103-0192c")))


# --- sequences of pages -----------------------------------------------------------------------------------


def pages(*places: str) -> list[SequencePage]:
    """`1a/WYG0001-0001a 1b/-` as a sequence of pages."""
    halves = (place.split("/") for place in places)
    return [(Folio.match(folio), ImageRef.match(ref)) for folio, ref in halves]


def following(folio: Folio, ref: ImageRef, count: int) -> list[SequencePage]:
    """`count` consecutive pages."""
    sequence: list[SequencePage] = []
    for _ in range(count):
        sequence.append((folio, ref))
        folio, ref = folio.successor(), next_ref(ref)
    return sequence


@given(FOLIOS, QUADRANTS, st.integers(0, 40))
def test_consecutive_pages_give_no_finding(folio: Folio, ref: ImageRef, count: int) -> None:
    sequence = following(folio, ref, count)
    assert sequence_findings(sequence) == []
    assert sequence_findings((f, None) for f, _ in sequence) == []
    assert sequence_findings((None, r) for _, r in sequence) == []
    assert sequence_findings((f, r.plate if r else None) for f, r in sequence) == [], "a plate serves four pages"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("10a/WYG0103-0192c", "11a/WYG0103-0193a", "one half-folio is missing"),
        ("10a/WYG0103-0192c", "12a/WYG0103-0193c", "3 half-folios are missing"),
        ("10a/-", "11a/-", "one half-folio is missing"),
        ("-/WYG0103-0192c", "-/WYG0103-0193a", "one half-folio is missing"),
        ("10a/WYG0103-0192c", "10a/WYG0103-0192c", "the same page twice"),
        ("10a/WYG0103-0192c", "10a/WYG0103-0192d", "folio stays"),
        ("1a/WYG0103-0192c", "1a/WYG0103-0192d", "folio stays"),
        ("10a/WYG0103-0192c", "10b/WYG0103-0192c", "one image for two pages"),
        ("10b/WYG0103-0192d", "10a/WYG0103-0192c", "go back by 1"),
        ("10a/WYG0103-0192c", "10b/WYG0103-0193b", "the folios advance by 1, the images by 3"),
        ("3b/WYG0103-0192b", "4a/WYG0103-0193a", "the folios advance by 1, the images by 3"),
        ("10a/WYG0103-0192c", "11b/WYG0103-0192d", "the folios advance by 3, the images by 1"),
        ("10a/WYG0103-0192c", "10b/WYG0104-0001a", "change volume"),
        ("10a/WYG0103-0192c", "10b/WYG0103-0193", "quadrants to plates"),
        ("10b/WYG0103-0192d", "1a/WYG0103-0190a", "a juan starts, but the images go back"),
        ("10b/WYG0103-0192d", "1a/WYG0103-0192d", "a juan starts on the image"),
        ("10a/WYG0103-0192", "10b/WYG0103-0194", "the images by 8"),
    ],
)
def test_a_break_in_a_sequence_is_described(before: str, after: str, words: str) -> None:
    (finding,) = sequence_findings(pages(before, after))
    assert words in in_english(finding)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10b/WYG0103-0192d", "1a/WYG0103-0193a"),
        ("10a/WYG0103-0192a", "1a/WYG0103-0193c"),
        ("10b/WYG0103-0192d", "1a/WYG0104-0001a"),
        ("1a/WYG0103-0192a", "1a/WYG0103-0192c"),
        ("1b/WYG0103-0058b", "2a/WYG0103-0059a"),
        ("10b/WYG0103-0192", "1a/WYG0103-0192"),
    ],
)
def test_at_the_start_of_a_juan_the_images_may_skip(before: str, after: str) -> None:
    assert sequence_findings(pages(before, after)) == []


def test_passages_advance_by_a_leaf() -> None:
    assert sequence_findings(pages("1a/-", "2a/-", "3a/-", "4a/-", "1a/-", "2a/-")) == []
    (finding,) = sequence_findings(pages("1a/-", "2a/-", "4a/-", "5a/-"))
    assert "one half-folio is missing" in in_english(finding)
