"""Which image file shows a page, on the layouts that image sets come in."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from proof.errors import ImageListError, UsageError
from proof.images.find import FoundBy, ImageIndex, PageImage
from proof.images.imglist import ImageList, find_image_lists
from proof.locale.notices import in_english
from proof.model.refs import Folio, ImageRef, PageId
from proof.text.model import Page
from tests.timing import seconds_of

LAST = "KR1d0087_WYG_223-17b"
LISTED = "223-17b00\tWYG 223-17b\tWYG0140/WYG0140-0330d.png"
"""The line of an image list about that page."""


def page(name: str, ref: str = "") -> Page:
    """An empty page: only its marks count here."""
    parts = PageId.match(name)
    if parts:
        return Page(name, parts.folio, ImageRef.match(ref), parts.juan, 1, ())
    return Page(name, Folio.match("1a"), ImageRef.match(name), "卷十", 1, ())


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def a_list(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def found(index: ImageIndex, wanted: Page) -> PageImage:
    image = index.find(wanted)
    assert image is not None
    return image


# --- by name and by reference ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "KR1d0087_WYG_223-17b.png",
        "kr1d0087_wyg_223-17B.PNG",
        "KR1d0087_223-17b.tif",
        "WYG_223-17b.webp",
        "WYG 223-17b.jp2",
        "223-17b.jpg",
        "223-017b.JPEG",
        "0223_17b.bmp",
        "223/17b.png",
        "KR1d0087_223/017b.png",
        "scans/KR1d0087/WYG/223-17b.gif",
        "17b.png",
    ],
)
def test_an_image_is_found_by_any_sensible_spelling_of_its_page(tmp_path: Path, name: str) -> None:
    image = found(ImageIndex([touch(tmp_path / "set", name)]), page(LAST))
    assert image == PageImage(tmp_path / "set" / name, "", FoundBy.NAME)


def test_another_page_is_never_taken_for_it(tmp_path: Path) -> None:
    others = ["KR1d0088_WYG_223-17b.png", "KR1d0087_SBCK_223-17b.png", "KR1d0087_224-17b.png", "223-17a.png"]
    others += ["223-7b.png", "1223-17b.png", "224/17b.png"]
    no_images = ["223-17b.txt", "223-17b", ".223-17b.png", "._223-17b.png"]
    index = ImageIndex([touch(tmp_path, *others, *no_images)])
    assert len(index) == len(others)
    assert index.find(page(LAST)) is None


# --- by image list ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "expected", "quadrant", "how"),
    [
        (["elsewhere/WYG0140-0330d.png"], "elsewhere/WYG0140-0330d.png", "", FoundBy.IMAGE_LIST),
        (
            ["elsewhere/WYG0140-0330d.png", "WYG0140/WYG0140-0330d.png"],
            "WYG0140/WYG0140-0330d.png",
            "",
            FoundBy.IMAGE_LIST,
        ),
        (["wyg0140/WYG0140-0330D.TIF"], "wyg0140/WYG0140-0330D.TIF", "", FoundBy.IMAGE_LIST),
        (["WYG0140-0330d.png", "223-17b.png", "WYG0001-0001a.png"], "WYG0140-0330d.png", "", FoundBy.IMAGE_LIST),
        (["WYG0140/WYG0140-0330.png"], "WYG0140/WYG0140-0330.png", "d", FoundBy.PLATE),
        (["WYG0140-0330.jpg"], "WYG0140-0330.jpg", "d", FoundBy.PLATE),
        (["223-17b.png"], "223-17b.png", "", FoundBy.NAME),
    ],
)
def test_the_lists_path_is_tried_as_it_stands_by_its_last_part_and_as_a_plate_and_then_the_pages_name(
    tmp_path: Path, files: list[str], expected: str, quadrant: str, how: FoundBy
) -> None:
    index = ImageIndex([touch(tmp_path / "set", *files)], [a_list(tmp_path / "l.txt", LISTED)])
    assert found(index, page(LAST, ref="WYG0001-0001a")) == PageImage(tmp_path / "set" / expected, quadrant, how)


@pytest.mark.parametrize(
    "named", ["scans/0007.jpg", "0007.jpg", "elsewhere/0007.png", "https://library.org/b/0007.jpg"]
)
def test_the_file_that_the_text_names_is_tried_behind_the_list_and_before_the_pages_name(
    tmp_path: Path, named: str
) -> None:
    folder = touch(tmp_path / "set", "scans/0007.jpg", "17b.png", "WYG0140/WYG0140-0330d.png")
    wanted = replace(page(LAST), image=named)
    assert found(ImageIndex([folder]), wanted) == PageImage(folder / "scans/0007.jpg", "", FoundBy.REFERENCE)
    listed = ImageIndex([folder], [a_list(tmp_path / "l.txt", LISTED)])
    assert found(listed, wanted).path.name == "WYG0140-0330d.png"
    assert found(ImageIndex([folder]), replace(wanted, image="0008.jpg")).path.name == "17b.png"


def test_the_list_gives_a_page_its_reference(tmp_path: Path) -> None:
    index = ImageIndex([tmp_path], [a_list(tmp_path / "l.txt", LISTED, "223-18a00\tWYG\t../x.png")])
    assert index.reference(page(LAST)) == ImageRef("WYG", 140, 330, "d")
    assert index.reference(page(LAST, ref="WYG0001-0001a")) == ImageRef("WYG", 1, 1, "a")
    assert index.reference(page("KR1d0087_WYG_223-18a")) is None
    assert index.reference(page("KR1d0087_WYG_223-18b")) is None


def test_lists_change_from_text_to_text_over_folders_read_once(tmp_path: Path) -> None:
    folders = ImageIndex([touch(tmp_path / "set", "a.png", "b.png")])
    first = folders.with_lists([a_list(tmp_path / "1.txt", "001-1a00\tWYG 001-1a\ta.png")])
    second = folders.with_lists([a_list(tmp_path / "2.txt", "001-1a00\tWYG 001-1a\tb.png")])
    names = [found(index, page("X_WYG_001-1a")).path.name for index in (first, second)]
    assert names == ["a.png", "b.png"]
    assert folders.find(page("X_WYG_001-1a")) is None


# --- what is refused --------------------------------------------------------------------------------------


def test_a_list_that_leads_out_of_the_folders_costs_only_its_page(tmp_path: Path) -> None:
    touch(tmp_path, "secret.png", "set/a.png")
    lists = [a_list(tmp_path / "l.txt", "001-1a00\tWYG 001-1a\t../secret.png", "001-1b00\tWYG 001-1b\ta.png")]
    index = ImageIndex([tmp_path / "set"], lists)
    with pytest.raises(ImageListError, match=r"l\.txt:1: \.\./secret\.png is outside"):
        index.find(page("X_WYG_001-1a"))
    assert found(index, page("X_WYG_001-1b")).path.name == "a.png"
    assert "secret.png" in in_english(index.notices[0])


@pytest.mark.parametrize(("link", "target", "listed"), [("a.png", "a.png", "a.png"), ("inner", "", "inner/a.png")])
def test_a_link_out_of_the_folders_is_refused_and_named(tmp_path: Path, link: str, target: str, listed: str) -> None:
    touch(tmp_path, "secret/a.png", "set/b.png")
    (tmp_path / "set" / link).symlink_to(tmp_path / "secret" / target)
    index = ImageIndex([tmp_path / "set"], [a_list(tmp_path / "l.txt", f"001-1a00\tWYG 001-1a\t{listed}")])
    with pytest.raises(ImageListError, match=r"l\.txt:1: .*link out of the image folders"):
        index.find(page("X_WYG_001-1a"))
    assert len(index) == 1
    assert "link out of the image folders" in in_english(index.notices[0])


def test_links_inside_the_folders_serve_and_those_in_a_circle_end(tmp_path: Path) -> None:
    touch(tmp_path, "one/001-1a.png", "two/x.png")
    (tmp_path / "two/001-1a.png").symlink_to(tmp_path / "one/001-1a.png")
    (tmp_path / "two/again").symlink_to(".")
    (tmp_path / "two/b.png").symlink_to("c.png")
    (tmp_path / "two/c.png").symlink_to("b.png")
    index = ImageIndex([tmp_path / "two", tmp_path / "one"])
    assert found(index, page("X_WYG_001-1a")) == PageImage(tmp_path / "two/001-1a.png", "", FoundBy.NAME)
    assert [name for name, _ in index.every_file()] == ["001-1a.png", "x.png", "001-1a.png"]
    messages = [in_english(notice) for notice in index.notices]
    assert [message.rpartition("/")[2].partition(":")[0] for message in messages] == ["b.png", "c.png"]


def test_a_name_that_is_not_utf8_is_left_out_and_named(tmp_path: Path) -> None:
    touch(tmp_path, os.fsdecode(b"\xe9/001-1a.png"), os.fsdecode(b"001-1b\xe9.png"), "001-2a.png")
    index = ImageIndex([tmp_path])
    assert [name for name, _ in index.files()] == ["001-2a.png"]
    assert [in_english(notice).rpartition("/")[2] for notice in index.notices] == [
        "001-1b\\udce9.png: cannot be read (rename it in UTF-8)",
        "\\udce9: cannot be read (rename it in UTF-8)",
    ]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none does not exist"):
        ImageIndex([tmp_path / "none"])
    touch(tmp_path, "a.png")
    with pytest.raises(UsageError, match=r"a\.png is a file"):
        ImageIndex([tmp_path / "a.png"])


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser reads every folder")
def test_a_subfolder_that_cannot_be_read_is_named_and_the_rest_serves(tmp_path: Path) -> None:
    touch(tmp_path, "shut/a.png", "001-1a.png")
    (tmp_path / "shut").chmod(0)
    try:
        index = ImageIndex([tmp_path])
    finally:
        (tmp_path / "shut").chmod(0o700)
    assert "shut" in in_english(index.notices[0])
    assert index.find(page("X_WYG_001-1a"))


def test_of_two_folders_the_first_wins_and_a_folder_inside_another_holds_its_files_once(tmp_path: Path) -> None:
    touch(tmp_path, "one/001-1a.png", "two/sub/001-1a.png", "two/001-1b.png")
    index = ImageIndex([tmp_path / "two", tmp_path / "two/sub", tmp_path / "one", tmp_path / "two"])
    image = found(index, page("X_WYG_001-1a"))
    assert image.path == tmp_path / "two/sub/001-1a.png"
    [notice] = image.notices
    assert in_english(notice).count("001-1a.png") == 2
    assert str(tmp_path / "one/001-1a.png") in in_english(notice)
    assert found(index, page("X_WYG_001-1b")).notices == ()
    assert len(index) == 3


# --- real layouts -----------------------------------------------------------------------------------------


def real_pages(path: Path) -> list[Page]:
    """The pages of a Kanripo transcription, by its page marks."""
    marks = (line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("<pb:"))
    return [page(mark.removeprefix("<pb:").partition(">")[0]) for mark in marks]


def test_the_plate_serves_its_four_half_folios_and_no_other_page_of_the_juan(shared: Path) -> None:
    text = shared / "kanripo/KR1d0087/KR1d0087_223.txt"
    pages = real_pages(text)
    index = ImageIndex([shared / "facsimile/plates"], find_image_lists(text, pages))
    served = {str(wanted.folio): image for wanted in pages if (image := index.find(wanted))}
    plate = shared / "facsimile/plates/WYG0140/WYG0140-0330.png"
    assert served == {
        folio: PageImage(plate, quadrant, FoundBy.PLATE)
        for folio, quadrant in zip(("16a", "16b", "17a", "17b"), "abcd", strict=True)
    }
    assert len(pages) > 100


@pytest.mark.slow
def test_a_work_of_9000_images_is_found_as_quickly_as_a_tenth_of_it_ten_times(shared: Path, tmp_path: Path) -> None:
    def seconds(folder: Path, lists: list[Path], enough: float = 0.0) -> tuple[int, float]:
        """So many images, and the computing that it takes to find them."""
        entries = [entry for path in lists for entry in ImageList.read(path).entries]
        touch(folder, *(entry.file for entry in entries))
        pages = [page(f"KR1d0087_WYG_{'-'.join(map(str, entry.page))}") for entry in entries]

        def search() -> None:
            index = ImageIndex([folder], lists)
            assert {found(index, wanted).how for wanted in pages} == {FoundBy.IMAGE_LIST}

        return len(pages), seconds_of(search, enough)

    lists = sorted((shared / "kanripo/KR1d0087/imglist").glob("*.txt"))[::3]
    few, short = seconds(tmp_path / "tenth", lists[::10])
    many, long = seconds(tmp_path / "whole", lists, 20 * short)
    assert many > 8_500 > 8 * few
    assert long < 40 * short  # each sought among all the others would be eighty times as long


# --- openings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "folio", "half"),
    [
        ("KR1d0030_WYG_010-1ab.jpg", "1a", "a"),
        ("KR1d0030_010-1ab.jpg", "1b", "b"),
        ("010-1b-2a.png", "1b", "a"),
        ("010-1b_2a.png", "2a", "b"),
        ("deep/010-0b-1a.tif", "1a", "b"),
    ],
)
def test_an_opening_is_found_by_the_two_half_folios_that_it_shows(
    tmp_path: Path, name: str, folio: str, half: str
) -> None:
    image = found(ImageIndex([touch(tmp_path, name)]), page(f"KR1d0030_WYG_010-{folio}"))
    assert image == PageImage(tmp_path / name, half, FoundBy.PLATE)


def test_a_list_names_the_halves_of_an_opening_by_the_letter_behind_its_name(tmp_path: Path) -> None:
    touch(tmp_path, "book/0012.jpg", "book/0013b.jpg", "book/0013.jpg")
    listed = a_list(
        tmp_path / "010.txt",
        "010-1b00\tWYG 010-1b\tbook/0012a.jpg",
        "010-2a00\tWYG 010-2a\tbook/0012b.jpg",
        "010-2b00\tWYG 010-2b\tbook/0013b.jpg",
        "010-3a00\tWYG 010-3a\tbook/0014a.jpg",
    )
    index = ImageIndex([tmp_path], [listed])
    images = [index.find(page(f"KR1d0030_WYG_010-{folio}")) for folio in ("1b", "2a", "2b", "3a")]
    assert images == [
        PageImage(tmp_path / "book/0012.jpg", "a", FoundBy.PLATE),
        PageImage(tmp_path / "book/0012.jpg", "b", FoundBy.PLATE),
        PageImage(tmp_path / "book/0013b.jpg", "", FoundBy.IMAGE_LIST),
        None,
    ]
