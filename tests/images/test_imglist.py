"""Image lists: what a line says, which list serves a text, and lines that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import ImageListError
from proof.images.imglist import ImageList, ImageLists, find_image_lists, write_entries
from proof.locale.notices import in_english
from proof.model.half_folios import juan_key
from proof.model.refs import Folio, ImageRef
from proof.text.model import Page

MIRROR = Page("WYG0103-0192d", Folio.match("1b"), ImageRef.match("WYG0103-0192d"), "卷十", 1, ())
"""A page whose mark names no work."""


def page(name: str) -> Page:
    """An empty page: only its mark counts here."""
    return Page(name, None, None, "", 1, ())


def listed(path: Path, *lines: str) -> ImageList:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ImageList.read(path)


def test_a_line_gives_the_file_of_its_half_folio_for_the_pages_own_edition(tmp_path: Path) -> None:
    lines = ["010-1b00\tSBCK 010-3a\tSBCK/a.tif", "010-1b00\tWYG 010-1b\tWYG0103/WYG0103-0192d.png"]
    lists = ImageLists([listed(tmp_path / "l.txt", *lines)])
    for known, file, line in (
        (page("KR1d0030_WYG_010-1b"), "WYG0103/WYG0103-0192d.png", 2),
        (page("KR1d0030_SBCK_010-1b"), "SBCK/a.tif", 1),
        (MIRROR, "WYG0103/WYG0103-0192d.png", 2),
    ):
        entry = lists.entry(known)
        assert entry is not None
        assert (entry.file, entry.line) == (file, line)
    for unknown in ("KR1d0030_WYG_010-2b", "KR1d0030_WYG_011-1b", "KR1d0030_CHANT_010-1b"):
        assert lists.entry(page(unknown)) is None


def test_marks_line_ends_comments_and_backslashes_of_other_systems_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "l.txt"
    path.write_bytes("\ufeff# list\r\n\r\n010-1a00\tWYG 010-1a\tWYG0103\\WYG0103-0192c.png\r\n".encode())
    result = ImageList.read(path)
    assert [(entry.file, entry.line) for entry in result.entries] == [("WYG0103/WYG0103-0192c.png", 3)]
    assert result.notices == ()


def test_a_line_that_cannot_be_used_or_comes_twice_is_named_and_the_others_serve(tmp_path: Path) -> None:
    lines = ["010-1a00 WYG 010-1a WYG/a.png", "010-1b00\tWYG 010-1b\tWYG/b.png", "x\tWYG\tc.png"]
    result = listed(tmp_path / "l.txt", *lines, "010-1b00\tWYG 010-1b\tWYG/other.png")
    assert [entry.file for entry in result.entries] == ["WYG/b.png"]
    messages = [in_english(notice) for notice in result.notices]
    assert [message.split(": ")[0] for message in messages] == [
        f"{tmp_path / 'l.txt'}:{number}" for number in (1, 3, 4)
    ]
    assert "separated by tabs" in messages[0]
    assert "10-1b is listed twice" in messages[2]
    assert "line 2" in messages[2]


def test_a_page_that_is_no_half_folio_is_listed_by_its_id(tmp_path: Path) -> None:
    path, numbered = tmp_path / "l.txt", page("L55n1638_p0001a")
    path.write_text("# by hand\nL55n1638_p0002a\t\tb.jpg\n", encoding="utf-8")
    write_entries(path, {numbered.id: "a.jpg", ("10", Folio(1, "a")): "c.jpg"})
    written = "# by hand\nL55n1638_p0002a\t\tb.jpg\nL55n1638_p0001a\t\ta.jpg\n010-1a00\t\tc.jpg\n"
    assert path.read_text(encoding="utf-8") == written
    write_entries(path, {numbered.id: "a.jpg"})
    assert path.read_text(encoding="utf-8").count("a.jpg") == 1
    result = ImageList.read(path, [numbered])
    entry = ImageLists([result]).entry(numbered)
    assert entry is not None
    assert entry.file == "a.jpg"
    assert [in_english(notice).split(": ")[0] for notice in result.notices] == [f"{path}:2"]  # no page of this text


@pytest.mark.parametrize(
    "file",
    [
        "../../etc/passwd",
        "WYG0140/../../secret.png",
        "..\\..\\secret.png",
        "/etc/passwd",
        "//server/share/a.png",
        "C:\\images\\a.png",
        "c:/images/a.png",
        "..",
        "a\0.png",
    ],
)
def test_a_file_outside_the_folders_is_refused_for_its_page_alone(tmp_path: Path, file: str) -> None:
    result = listed(tmp_path / "l.txt", "010-1a00\tWYG 010-1a\tWYG/a.png", f"010-1b00\tWYG 010-1b\t{file}")
    lists = ImageLists([result])
    assert lists.entry(page("KR1d0030_WYG_010-1a")) is not None
    with pytest.raises(ImageListError, match=r"l\.txt:2: .*outside the image folders") as caught:
        lists.entry(page("KR1d0030_WYG_010-1b"))
    assert caught.value.line == 2
    assert tuple(map(in_english, lists.notices)) == (str(caught.value),)


def test_a_list_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "l.txt"
    path.write_bytes(b"010-1a00\tWYG 010-1a\ta.png\n" + "010-1b00\tWYG 010-1b\t四庫.png\n".encode("big5"))
    with pytest.raises(ImageListError, match=r"l\.txt:2: .*not UTF-8"):
        ImageList.read(path)
    with pytest.raises(ImageListError, match=r"none\.txt: .*cannot be read"):
        ImageList.read(tmp_path / "none.txt")
    with pytest.raises(ImageListError, match="no such image list"):
        find_image_lists(tmp_path / "text.txt", given=tmp_path / "none.txt")


@given(st.text(max_size=60).filter(lambda text: "\r" not in text))
def test_no_content_of_a_list_raises(tmp_path_factory: pytest.TempPathFactory, line: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any-list.txt"
    path.write_bytes(line.encode())
    result = ImageList.read(path)
    assert len(result.entries) + len(result.notices) <= 2 * (line.count("\n") + 1)


def test_a_juan_is_one_however_it_is_counted() -> None:
    named = {"010": "10", "000": "0", "卷十": "10", "卷十二": "12", "卷二十": "20", "卷二百二十三": "223"}
    named |= {"卷一百〇三": "103", "卷二二三": "223", "卷廿五": "25", "卷上": "卷上", "首": "首", "": ""}
    assert {name: juan_key(name) for name in named} == named


def test_the_lists_of_a_text_bear_its_name_or_work_and_juan_of_its_pages(tmp_path: Path) -> None:
    for name in ("KR1d0030_010", "KR1d0030_011", "KR1d0087_010"):
        listed(tmp_path / f"imglist/{name}.txt")
    pages = [page("KR1d0030_WYG_010-49b"), page("KR1d0030_WYG_011-1a")]
    beside = tmp_path / "imglist"
    assert find_image_lists(tmp_path / "KR1d0030_010.txt") == (beside / "KR1d0030_010.txt",)
    by_pages = (beside / "KR1d0030_010.txt", beside / "KR1d0030_011.txt")
    assert find_image_lists(tmp_path / "draft.txt", pages) == by_pages
    assert find_image_lists(tmp_path / "elsewhere" / "draft.txt", pages, beside) == by_pages
    assert find_image_lists(tmp_path / "elsewhere" / "draft.txt", pages) == ()


def test_a_text_without_work_takes_the_only_list_of_its_juan_and_none_of_two(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    listed(lists / "KR1d0030_010.txt")
    listed(lists / "KR1d0030_011.txt")
    assert find_image_lists(tmp_path / "t.txt", [MIRROR], lists) == (lists / "KR1d0030_010.txt",)
    listed(lists / "KR1d0087_010.txt")
    assert find_image_lists(tmp_path / "t.txt", [MIRROR], lists) == ()
    assert find_image_lists(tmp_path / "t.txt", given=lists / "KR1d0087_010.txt") == (lists / "KR1d0087_010.txt",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "# note\u2028 more\n010-1a00\tWYG 010-1a\told.png\n010-1b00\tWYG 010-1b\tkeep.png\n",
            "# note\u2028 more\n010-1a00\tWYG 010-1a\told.png\n010-1b00\t\tnew.png\n",
            id="a line ends where the list is read to end it",
        ),
        pytest.param(
            "010-1b00\tWYG 010-1b\tfirst.png\n010-1b00\tWYG 010-1b\tsecond.png\n",
            "010-1b00\t\tnew.png\n",
            id="all lines about the half-folio give way",
        ),
        pytest.param(
            "# list\r\n010-1b00\tWYG 010-1b\told.png\r\n010-2a00\tWYG 010-2a\tkeep.png",
            "# list\r\n010-2a00\tWYG 010-2a\tkeep.png\r\n010-1b00\t\tnew.png\r\n",
            id="line ends of other systems stay",
        ),
    ],
)
def test_a_file_that_is_written_is_that_of_its_half_folio_and_all_other_lines_stay_as_they_are(
    tmp_path: Path, before: str, after: str
) -> None:
    path = tmp_path / "l.txt"
    path.write_bytes(before.encode())
    write_entries(path, {("10", Folio(1, "b")): "new.png"})
    assert path.read_bytes().decode() == after
    entry = ImageLists([ImageList.read(path)]).entry(MIRROR)
    assert entry is not None
    assert entry.file == "new.png"
