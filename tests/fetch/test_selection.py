"""Which images a person means, and the image list that says which half-folio each shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.errors import ImageListError, UsageError
from proof.fetch.kanripo import listed_images
from proof.fetch.model import ImageSource, WantedImage
from proof.fetch.selection import in_ranges, of_parts, with_half_folios, write_list
from proof.locale.languages import translations
from proof.locale.marking import in_words
from proof.model.half_folios import parse_half_folio

PLAIN = tuple(WantedImage(number, f"book/{number:04}.jpg", f"http://example.org/{number}") for number in range(1, 8))


@pytest.fixture(scope="module")
def work(shared: Path) -> ImageSource:
    return listed_images(shared / "kanripo" / "KR1d0030")


def names(images: tuple[WantedImage, ...]) -> list[str]:
    return [Path(wanted.name).stem for wanted in images]


@pytest.mark.parametrize(
    ("ranges", "chosen"), [("3", [3]), ("2-4", [2, 3, 4]), ("6-", [6, 7]), ("5-99", [5, 6, 7]), ("6 1-2 2", [1, 2, 6])]
)
def test_images_are_chosen_by_their_numbers(ranges: str, chosen: list[int]) -> None:
    assert [wanted.number for wanted in in_ranges(PLAIN, ranges.split())] == chosen


@pytest.mark.parametrize("given", ["8", "0", "5-4", "x", "-3", "1,2", ""])
def test_a_range_without_images_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="images"):
        in_ranges(PLAIN, [given])


def test_a_juan_a_half_folio_a_reference_and_from_one_to_another_are_parts(work: ImageSource) -> None:
    juan = of_parts(work.images, ["010"])
    assert {wanted.places[0][0] for wanted in juan} == {"10"}
    assert names(juan)[0] == "WYG0103-0192c"
    assert (
        names(of_parts(work.images, ["010-2a"])) == names(of_parts(work.images, ["WYG0103-0193a"])) == ["WYG0103-0193a"]
    )
    assert of_parts(work.images, ["卷十"]) == juan
    first, last = juan[-1], of_parts(work.images, ["011"])[1]
    assert len(of_parts(work.images, [f"010-{first.places[0][1]}..011-{last.places[0][1]}"])) == 3
    assert of_parts(work.images, ["010..011"]) == of_parts(work.images, ["011", "010"])


@pytest.mark.parametrize(
    "part", ["099", "010-99a", "WYG9999-0001a", "010..099", "010..011..012", "..", "011..010", "010-2a..010-1a"]
)
def test_a_part_that_the_source_lacks_is_named_with_what_it_has(work: ImageSource, part: str) -> None:
    with pytest.raises(UsageError, match="it shows from 000-1a to 030-"):
        of_parts(work.images, [part])
    with pytest.raises(UsageError, match="no half-folio by name"):
        of_parts(PLAIN, [part])


def test_what_the_source_has_instead_is_told_in_the_language_of_the_reader(work: ImageSource) -> None:
    for images in (work.images, PLAIN):
        with pytest.raises(UsageError) as refused:
            of_parts(images, ["099"])
        messages = [str(in_words(refused.value, translations(tag).gettext)) for tag in ("zh-Hant", "zh-Hans")]
        assert not any("half-folio" in words or " to " in words for words in messages)


def test_lines_about_other_half_folios_stay_also_in_a_second_run(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("# mine\n009-9b00\tWYG 009-9b\ta.png\n010-1a00\tWYG 010-1a\twrong.png\n", encoding="utf-8")
    for _ in range(2):
        write_list(path, with_half_folios(PLAIN[:1], "010-1a"))
        assert path.read_text(encoding="utf-8") == "# mine\n009-9b00\tWYG 009-9b\ta.png\n010-1a00\t\tbook/0001.jpg\n"


def test_there_is_no_list_of_half_folios_that_nobody_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--first 010-1a"):
        write_list(tmp_path / "list.txt", PLAIN)
    assert not (tmp_path / "list.txt").exists()


def test_a_list_that_cannot_be_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ImageListError):
        write_list(path, with_half_folios(PLAIN, "010-1a"))
    assert path.read_bytes() == b"\xff\xfe"


def test_openings_show_two_half_folios_each_the_blank_ones_included(tmp_path: Path) -> None:
    """A book lies open at 0b | 1a first; juan 10 ends with 2a, and the next one begins on a new leaf."""
    text = [parse_half_folio(place) for place in ("010-1a", "010-1b", "010-2a", "011-1a")]
    images = [WantedImage(number, f"book/{number:04}.jpg", "") for number in (1, 2, 3)]
    shown = with_half_folios(images, "010-0b", text, openings=True)
    assert [" ".join(str(folio) for _, folio in wanted.places) for wanted in shown] == ["0b 1a", "1b 2a", "2b 1a"]
    listed = tmp_path / "010.txt"
    assert write_list(listed, shown) == 6
    assert listed.read_text(encoding="utf-8").splitlines()[2:] == [
        "010-1b00\t\tbook/0002a.jpg",
        "010-2a00\t\tbook/0002b.jpg",
        "010-2b00\t\tbook/0003a.jpg",
        "011-1a00\t\tbook/0003b.jpg",
    ]
