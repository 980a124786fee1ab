"""Image lists: what a line says, which list serves a text, and lines that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import ImageListError
from proof.images.imglist import ImageList, ImageLists, find_image_lists
from proof.locale.notices import in_english
from proof.model.places import juan_key
from proof.model.refs import Folio, ImageRef
from proof.text.model import Page


def page(name: str, folio: str = "", ref: str = "", juan: str = "") -> Page:
    """An empty page: only its marks count here."""
    return Page(name, Folio.match(folio), ImageRef.match(ref), juan, 1, ())


def listed(path: Path, *lines: str) -> ImageList:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ImageList.read(path)


def test_a_line_gives_the_file_of_its_half_folio(tmp_path: Path) -> None:
    lists = ImageLists([listed(tmp_path / "l.txt", "010-1b00\tWYG 010-1b\tWYG0103/WYG0103-0192d.png")])
    entry = lists.entry(page("KR1d0030_WYG_010-1b"))
    assert entry is not None
    assert (entry.file, entry.line, entry.edition) == ("WYG0103/WYG0103-0192d.png", 1, "WYG")
    assert lists.entry(page("KR1d0030_WYG_010-2b")) is None
    assert lists.entry(page("KR1d0030_WYG_011-1b")) is None


def test_a_page_without_an_id_is_found_by_juan_and_folio(tmp_path: Path) -> None:
    lists = ImageLists([listed(tmp_path / "l.txt", "010-1b00\tWYG 010-1b\tWYG0103/WYG0103-0192d.png")])
    entry = lists.entry(page("WYG0103-0192d", folio="1b", ref="WYG0103-0192d", juan="卷十"))
    assert entry is not None
    assert entry.file == "WYG0103/WYG0103-0192d.png"


def test_of_several_editions_the_pages_own_is_taken(tmp_path: Path) -> None:
    lists = ImageLists(
        [listed(tmp_path / "l.txt", "010-1a00\tSBCK 010-3a\tSBCK/a.tif", "010-1a00\tWYG 010-1a\tWYG/a.png")]
    )
    wenyuange, other = lists.entry(page("KR1d0030_WYG_010-1a")), lists.entry(page("KR1d0030_SBCK_010-1a"))
    assert wenyuange is not None
    assert other is not None
    assert (wenyuange.file, other.file) == ("WYG/a.png", "SBCK/a.tif")
    assert lists.entry(page("KR1d0030_CHANT_010-1a")) is None


def test_marks_line_ends_comments_and_backslashes_of_other_systems_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "l.txt"
    path.write_bytes("\ufeff# list\r\n\r\n010-1a00\tWYG 010-1a\tWYG0103\\WYG0103-0192c.png\r\n".encode())
    result = ImageList.read(path)
    assert [(entry.file, entry.line) for entry in result.entries] == [("WYG0103/WYG0103-0192c.png", 3)]
    assert result.notices == ()


def test_a_line_that_cannot_be_used_is_named_and_the_others_serve(tmp_path: Path) -> None:
    result = listed(
        tmp_path / "l.txt", "010-1a00 WYG 010-1a WYG/a.png", "010-1b00\tWYG 010-1b\tWYG/b.png", "x\tWYG\tc.png"
    )
    assert [entry.file for entry in result.entries] == ["WYG/b.png"]
    assert [in_english(notice).split(": ")[0] for notice in result.notices] == [
        f"{tmp_path / 'l.txt'}:1",
        f"{tmp_path / 'l.txt'}:3",
    ]
    assert "separated by tabs" in in_english(result.notices[0])


def test_a_half_folio_listed_twice_keeps_its_first_file_and_is_named(tmp_path: Path) -> None:
    result = listed(tmp_path / "l.txt", "010-1a00\tWYG 010-1a\tWYG/a.png", "010-1a00\tWYG 010-1a\tWYG/b.png")
    assert [entry.file for entry in result.entries] == ["WYG/a.png"]
    assert "l.txt:2: 10-1a is listed twice" in in_english(result.notices[0])
    assert "line 1" in in_english(result.notices[0])


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


@pytest.mark.parametrize("file", ["WYG0140/../WYG0141/a.png", "./a.png", "a..b/c.png", "..a.png"])
def test_a_path_that_stays_inside_is_not_refused(tmp_path: Path, file: str) -> None:
    assert listed(tmp_path / "l.txt", f"010-1a00\tWYG 010-1a\t{file}").notices == ()


def test_a_list_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "l.txt"
    path.write_bytes(b"010-1a00\tWYG 010-1a\ta.png\n" + "010-1b00\tWYG 010-1b\t四庫.png\n".encode("big5"))
    with pytest.raises(ImageListError, match=r"l\.txt:2: .*not UTF-8"):
        ImageList.read(path)


def test_a_missing_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImageListError, match=r"none\.txt: .*cannot be read"):
        ImageList.read(tmp_path / "none.txt")
    with pytest.raises(ImageListError, match="no such image list"):
        find_image_lists(tmp_path / "text.txt", given=tmp_path / "none.txt")


@given(st.text(max_size=60).filter(lambda text: "\r" not in text))
def test_no_content_of_a_list_raises(tmp_path_factory: pytest.TempPathFactory, line: str) -> None:
    path = tmp_path_factory.mktemp("list") / "l.txt"
    path.write_bytes(line.encode())
    result = ImageList.read(path)
    assert len(result.entries) + len(result.notices) <= 2 * (line.count("\n") + 1)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("010", "10"),
        ("000", "0"),
        ("卷十", "10"),
        ("卷十二", "12"),
        ("卷二十", "20"),
        ("卷二百二十三", "223"),
        ("卷一百〇三", "103"),
        ("卷二二三", "223"),
        ("卷廿五", "25"),
        ("卷上", "卷上"),
        ("首", "首"),
        ("", ""),
    ],
)
def test_a_juan_is_one_however_it_is_counted(name: str, key: str) -> None:
    assert juan_key(name) == key


# --- which list serves a text -----------------------------------------------------------------------------


def test_the_list_beside_the_text_bears_the_texts_name(tmp_path: Path) -> None:
    for name in ("KR1d0030_010", "KR1d0030_011"):
        listed(tmp_path / f"imglist/{name}.txt")
    assert find_image_lists(tmp_path / "KR1d0030_010.txt") == (tmp_path / "imglist/KR1d0030_010.txt",)


def test_a_text_under_another_name_finds_its_lists_by_its_pages(tmp_path: Path) -> None:
    for name in ("KR1d0030_010", "KR1d0030_011", "KR1d0087_010"):
        listed(tmp_path / f"lists/{name}.txt")
    pages = [page("KR1d0030_WYG_010-49b"), page("KR1d0030_WYG_011-1a")]
    found = find_image_lists(tmp_path / "draft.txt", pages, tmp_path / "lists")
    assert [path.name for path in found] == ["KR1d0030_010.txt", "KR1d0030_011.txt"]


def test_a_text_without_work_takes_the_only_list_of_its_juan_and_none_of_two(tmp_path: Path) -> None:
    pages = [page("WYG0103-0192c", folio="1a", juan="卷十")]
    listed(tmp_path / "lists/KR1d0030_010.txt")
    listed(tmp_path / "lists/KR1d0030_011.txt")
    assert [path.name for path in find_image_lists(tmp_path / "t.txt", pages, tmp_path / "lists")] == [
        "KR1d0030_010.txt"
    ]
    listed(tmp_path / "lists/KR1d0087_010.txt")
    assert find_image_lists(tmp_path / "t.txt", pages, tmp_path / "lists") == ()


def test_a_list_that_is_named_serves_whatever_it_is_called(tmp_path: Path) -> None:
    listed(tmp_path / "my list.txt")
    assert find_image_lists(tmp_path / "t.txt", given=tmp_path / "my list.txt") == (tmp_path / "my list.txt",)


def test_a_text_without_lists_has_none(tmp_path: Path) -> None:
    assert find_image_lists(tmp_path / "t.txt", [page("KR1d0030_WYG_010-1a")]) == ()


# --- the real lists ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_line_of_the_kanripo_lists_is_understood(shared: Path) -> None:
    paths = sorted(shared.glob("kanripo/*/imglist/*.txt"))
    lists = [ImageList.read(path) for path in paths]
    assert sum(len(result.entries) for result in lists) == 29_983
    assert [notice for result in lists for notice in result.notices] == []
    assert all(ImageRef.match(entry.file) for result in lists for entry in result.entries)
