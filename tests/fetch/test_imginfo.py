"""Kanripo's own word on where its images are: `imginfo.cfg` and the image lists beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import SourceError
from proof.fetch.kanripo import base_addresses, listed_images
from proof.locale.notices import in_english

WYG = "http://img.kanripo.org/general/skqs/wyg/"
INFO = "[Versions]\n# base urls for the existing versions\nWYG=http://img.example.org/wyg/\n"


def imglist(folder: Path, info: str = INFO, lines: str = "010-1a00\tWYG 010-1a\tWYG0103/WYG0103-0192c.png\n") -> Path:
    (folder / "imginfo.cfg").write_text(info, encoding="utf-8")
    (folder / "KR1d0030_010.txt").write_text(lines, encoding="utf-8")
    return folder


def addresses(folder: Path) -> list[str]:
    return [wanted.address for wanted in listed_images(folder).images]


def test_each_edition_has_its_own_address_with_or_without_a_slash_at_its_end(tmp_path: Path) -> None:
    lines = "010-1a00\tWYG 010-1a\t卷十/第 1#a?.png\n010-1a00\tSBCK 010-1a\ts.png\n"
    assert addresses(imglist(tmp_path, f"{INFO}sbck = https://example.com/sbck\n", lines)) == [
        "http://img.example.org/wyg/%E5%8D%B7%E5%8D%81/%E7%AC%AC%201%23a%3F.png",
        "https://example.com/sbck/s.png",
    ]


def test_an_edition_without_an_address_is_told_once(tmp_path: Path) -> None:
    lines = "".join(f"010-{leaf}a00\tSBCK 010-{leaf}a\t{leaf}.png\n" for leaf in range(1, 5))
    source = listed_images(imglist(tmp_path, lines=lines))
    assert source.images == ()
    (notice,) = source.notices
    assert "KR1d0030_010.txt:1: imginfo.cfg has no address for edition SBCK; it has WYG" in in_english(notice)


def test_a_line_that_leads_out_of_the_folder_is_no_image(tmp_path: Path) -> None:
    source = listed_images(imglist(tmp_path, lines="010-1a00\tWYG 010-1a\t../../1.png\n"))
    assert source.images == ()
    assert "outside the image folders" in in_english(source.notices[0])


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ("", r"imginfo\.cfg: names no address"),
        ("[Versions]\n", r"imginfo\.cfg: names no address"),
        ("WYG=http://example.org/\n", r"imginfo\.cfg:1: expected \[Versions\]"),
        ("[Versions]\nWYG\n", r"imginfo\.cfg:2: is not a setting, expected NAME=ADDRESS"),
        ("[Versions]\nWYG=http://a.org/\nwyg=http://b.org/\n", r"imginfo\.cfg:3: option 'WYG'.* already exists"),
        ("[Versions]\n\nWYG=/srv/images/\n", r"imginfo\.cfg:3: .*http://"),
        ("[Versions]\nWYG=file:///etc/\n", r"imginfo\.cfg:2: .*http://"),
    ],
)
def test_an_unusable_imginfo_names_its_line(tmp_path: Path, info: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        listed_images(imglist(tmp_path, info))


def test_a_folder_without_imginfo_is_told_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"imginfo\.cfg: cannot be read .*WYG=http"):
        listed_images(tmp_path)


@given(info=st.text() | st.text(alphabet="[]=\n:#VersionsWYG http/.").map("[Versions]\n{}".format))
def test_any_imginfo_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, info: str) -> None:
    path = tmp_path_factory.getbasetemp() / "imginfo.cfg"
    path.write_text(info, encoding="utf-8", errors="replace", newline="")
    try:
        assert all(address.endswith("/") for address in base_addresses(path).values())
    except SourceError as error:
        assert "imginfo.cfg" in str(error)  # noqa: PT017 - either is right
