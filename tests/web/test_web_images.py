"""Pieces of page images: cut on demand at the right place, kept for good, and nothing else of the machine."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from proof.web import create_app
from tests.web.drawn import Served, cell


def piece(served: Served, place: str, size: str = "max") -> Image.Image:
    """That piece of the drawn page."""
    answer = served.client.get(f"/iiif/{place.format(sha=served.sha)}/{size}/0/default.webp")
    return Image.open(io.BytesIO(answer.data)).convert("L")


def test_a_piece_shows_its_place(unchanged: Served) -> None:
    box = cell(1, 2)
    image = piece(unchanged, f"{{sha}}/{int(box.x)},{int(box.y)},60,56")
    assert image.size == (60, 56)
    assert image.getpixel((30, 28)) < 80  # type: ignore[operator]
    assert image.getpixel((2, 28)) > 200  # type: ignore[operator]
    sizes = {"max": (200, 100), "100,": (100, 50), ",50": (100, 50), "50,50": (50, 50), "900,": (200, 100)}
    assert {size: piece(unchanged, "{sha}/0,0,200,100", size).size for size in sizes} == sizes


def test_a_piece_is_kept_for_good_and_not_sent_twice(unchanged: Served) -> None:
    path = f"/iiif/{unchanged.sha}/full/100,/0/default.webp"
    answer = unchanged.client.get(path)
    assert "immutable" in answer.headers["Cache-Control"]
    etag, weak = answer.get_etag()
    assert etag
    assert not weak
    again = unchanged.client.get(path, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    other = unchanged.client.get(path.replace("100,", "101,"))
    assert other.get_etag()[0] != etag


def test_a_viewer_is_told_the_size_and_the_tiles(unchanged: Served) -> None:
    info: Any = unchanged.client.get(f"/iiif/{unchanged.sha}/info.json").json
    assert (info["width"], info["height"], info["profile"]) == (1000, 800, "level1")
    assert info["id"].endswith(f"/iiif/{unchanged.sha}")


def test_an_image_that_lies_turned_has_a_name_under_which_it_is_upright(unchanged: Served) -> None:
    """Turned clockwise by a quarter what was below on the left is above on the left."""
    info: Any = unchanged.client.get(f"/iiif/{unchanged.sha}-90/info.json").json
    assert (info["width"], info["height"]) == (800, 1000)
    shown = piece(unchanged, "{sha}-90/0,0,300,200")
    expected = piece(unchanged, "{sha}/0,500,200,300").transpose(Image.Transpose.ROTATE_270)
    assert shown.size == expected.size == (300, 200)
    assert np.abs(np.asarray(shown, np.int16) - np.asarray(expected, np.int16)).mean() < 4
    assert unchanged.client.get(f"/iiif/{unchanged.sha}-45/info.json").status_code == 404


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("{sha}/10,10,0,5/max", 400),
        ("{sha}/5000,0,5,5/max", 400),
        ("{sha}/-1,0,5,5/max", 400),
        ("{sha}/full/0x", 400),
        ("{sha}/full/pct:50", 400),
        ("{none}/full/max", 404),
        ("..%2f..%2fetc%2fpasswd/full/max", 404),
        ("page.png/full/max", 404),
        ("{sha}/..%2f..%2fconfig.toml/max", 404),
    ],
)
def test_what_is_no_piece_of_a_checked_image_is_refused(unchanged: Served, address: str, status: int) -> None:
    path = address.format(sha=unchanged.sha, none="0" * 64)
    answer = unchanged.client.get(f"/iiif/{path}/0/default.webp")
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"


def test_an_image_that_was_moved_with_its_project_is_found(served: Served, tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "page.png").rename(tmp_path / "deeper" / "page.png")
    assert served.client.get(f"/iiif/{served.sha}/full/50,/0/default.webp").status_code == 200


def test_an_image_that_changed_since_it_was_checked_is_not_shown(served: Served, tmp_path: Path) -> None:
    Image.new("L", (1000, 800), 128).save(tmp_path / "page.png")
    assert served.client.get(f"/iiif/{served.sha}/full/max/0/default.webp").status_code == 404


@pytest.mark.parametrize(
    "path", ["../config.toml", "..%2f..%2fapp.py", "%2e%2e/%2e%2e/app.py", "/etc/passwd", "nothing.js"]
)
def test_static_files_are_those_of_the_program_and_no_others(unchanged: Served, path: str) -> None:
    version = unchanged.client.get("/works/dasheyi/").text.split("/static/")[1].split("/")[0]
    assert unchanged.client.get(f"/static/{version}/{path}").status_code in (404, 308)
    known = unchanged.client.get(f"/static/{version}/desk.js")
    assert known.status_code == 200
    assert "immutable" in known.headers["Cache-Control"]
    assert unchanged.client.get("/static/0000/desk.js").status_code == 404


def test_a_font_for_rare_characters_is_sent_to_browsers(served: Served, tmp_path: Path) -> None:
    faces = sorted(Path("/usr/share/fonts").rglob("*.ttf"))
    if not faces:
        pytest.skip("no TrueType font on this machine")
    font = tmp_path / 'rare "1".ttf'
    shutil.copy(faces[0], font)
    client = create_app(served.settings.replace({"serve.font": font}), store=served.store).test_client()
    (sheet,) = re.findall(r'href="(/font/[^"]+)"', client.get("/works/dasheyi/desk").text)
    style = client.get(sheet)
    assert (style.status_code, style.mimetype) == (200, "text/css")
    assert '"Proof Han"' in style.text
    (name,) = re.findall(r'url\("([^"]+)"\)', style.text)
    sent = client.get(sheet.replace("font.css", name))
    assert (sent.data, sent.mimetype) == (font.read_bytes(), "font/ttf")
    assert "immutable" in sent.headers["Cache-Control"]
    assert client.get(sheet.replace("font.css", "config.toml")).status_code == 404
    assert "/font/" not in served.client.get("/works/dasheyi/desk").text


def test_pages_ask_for_nothing_elsewhere_and_forbid_it(unchanged: Served) -> None:
    answer = unchanged.client.get("/works/dasheyi/")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "http://" not in answer.text.replace("http://www.w3.org", "")
    assert "https://" not in answer.text
