"""Reading image files: every kind that pages come in, and every way a file can be bad."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import time
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from proof.errors import ImageError
from proof.images.load import LoadedImage, load_image, sha256_of
from proof.locale.notices import in_english
from proof.model.geometry import Box

WIDTH, HEIGHT = 240, 360
BLOCK = (20, 30, 80, 120)
"""Left, top, right, bottom of the black block on the drawn page: off centre, so that a turn shows."""
LOSSY = {".jpg", ".webp", ".jp2"}

Colour = str | int | tuple[int, int, int]


def page(ground: Colour = "white", ink: Colour = "black", mode: str = "RGB") -> Image.Image:
    """A small page: a black block upper left, a frame, and thin strokes."""
    image = Image.new(mode, (WIDTH, HEIGHT), ground)
    draw = ImageDraw.Draw(image)
    draw.rectangle((BLOCK[0], BLOCK[1], BLOCK[2] - 1, BLOCK[3] - 1), fill=ink)
    draw.rectangle((8, 8, WIDTH - 9, HEIGHT - 9), outline=ink)
    for y in range(140, 330, 12):
        draw.line((30, y, 200, y), fill=ink, width=2)
    return image


def saved(path: Path, image: Image.Image, **options: Any) -> Path:
    image.save(path, **options)
    return path


def shows_page(loaded: LoadedImage, tolerance: int = 0) -> bool:
    """Whether the block is dark, the paper light, and the size that of the drawn page."""
    left, top, right, bottom = BLOCK
    block = loaded.pixels[top + 8 : bottom - 8, left + 8 : right - 8]
    paper = loaded.pixels[20:120, 100:220]
    return (
        loaded.size == (WIDTH, HEIGHT)
        and loaded.pixels.shape == (HEIGHT, WIDTH)
        and int(block.max()) <= tolerance
        and int(paper.min()) >= 255 - tolerance
    )


# --- kinds of images -------------------------------------------------------------------------------------


def ink_in_the_alpha_channel() -> Image.Image:
    image = Image.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0))
    image.putalpha(page().convert("L").point(lambda value: 255 - value))
    return image


def with_transparent_paper() -> tuple[Image.Image, dict[str, Any]]:
    image = page().convert("P")
    return image, {"transparency": image.getpixel((150, 60))}


def of_sixteen_bits(full_scale: int) -> Image.Image:
    return Image.fromarray((np.asarray(page().convert("L")).astype(np.uint32) * full_scale // 255).astype(np.uint16))


def turned_with_a_note(orientation: int, turn: Image.Transpose) -> tuple[Image.Image, dict[str, Any]]:
    """As a camera writes it that was held otherwise."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return page().transpose(turn), {"exif": exif}


def in_a_pyramid() -> tuple[Image.Image, dict[str, Any]]:
    """With a reduced copy of itself behind it."""
    small = page().resize((120, 180))
    small.encoderinfo = {"tiffinfo": {254: 1}}
    return page(), {"save_all": True, "append_images": [small]}


TURNED = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}
KINDS: dict[str, tuple[str, Image.Image, dict[str, Any]]] = {
    **{ending: (ending, page(), {}) for ending in (".png", ".jpg", ".tif", ".webp", ".jp2", ".gif", ".bmp")},
    **{
        f"bilevel {compression}": (".tif", page().convert("1"), {"compression": compression})
        for compression in ("group4", "tiff_lzw", "tiff_adobe_deflate", "raw")
    },
    **{f"mode {mode}": (".png", page().convert(mode), {}) for mode in ("1", "L", "P")},
    **{f"ink in {mode}": (".png", ink_in_the_alpha_channel().convert(mode), {}) for mode in ("RGBA", "LA")},
    "transparent paper": (".png", *with_transparent_paper()),
    **{f"CMYK {ending}": (ending, page().convert("CMYK"), {}) for ending in (".jpg", ".tif")},
    **{
        f"{full_scale} {ending}": (ending, of_sixteen_bits(full_scale), {})
        for full_scale in (65535, 4095)
        for ending in (".png", ".tif")
    },
    **{f"32 bits {mode}": (".tif", page().convert("L").convert(mode), {}) for mode in ("I", "F")},
    **{
        f"orientation {noted} {ending}": (ending, *turned_with_a_note(noted, turn))
        for noted, turn in TURNED.items()
        for ending in (".jpg", ".png", ".tif", ".webp")
    },
    "PNG called JPEG": (".jpg", page(), {"format": "PNG"}),
    "with a preview": (".jpg", page(), {"format": "MPO", "save_all": True, "append_images": [page().resize((90, 90))]}),
    "pyramid": (".tif", *in_a_pyramid()),
}
"""What a page may be kept in: the ending of the file, the image, how it is written."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_read_upright_in_grey_from_every_kind_of_file(tmp_path: Path, kind: str) -> None:
    ending, image, options = KINDS[kind]
    path = saved(tmp_path / f"page{ending}", image, **options)
    loaded = load_image(path)
    assert shows_page(loaded, 24 if ending in LOSSY else 0)
    assert loaded.notices == ()
    assert loaded.pixels.dtype == np.uint8
    assert loaded.pixels.flags.c_contiguous
    assert loaded.sha256 == sha256_of(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(ValueError, match="read-only"):
        loaded.pixels[0, 0] = 1


def test_white_on_black_microfilm_is_turned_over_and_says_so_and_a_page_in_poor_light_is_not(tmp_path: Path) -> None:
    film = load_image(saved(tmp_path / "film.png", page(ground="black", ink="white", mode="L")))
    assert shows_page(film)
    assert "inverted" in in_english(film.notices[0])
    dim = load_image(saved(tmp_path / "dim.png", page(ground=90, ink=15, mode="L")))
    assert (dim.notices, dim.pixels[60, 150]) == ((), 90)


def test_a_part_is_the_pixels_inside_its_box_counted_from_the_whole_image(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.png", page())
    whole, part = load_image(path), load_image(path, Box(20, 30, 60, 90))
    assert np.array_equal(part.pixels, whole.pixels[30:120, 20:80])
    assert part.pixels.flags.c_contiguous
    assert (part.box, part.size, part.sha256) == (Box(20, 30, 60, 90), whole.size, whole.sha256)
    once, twice = whole.crop(Box(30, 50, 20, 40)), part.crop(Box(30, 50, 20, 40))
    assert once.box == twice.box
    assert np.array_equal(once.pixels, twice.pixels)
    assert load_image(path, Box(200, 300, 500, 500)).box == Box(200, 300, 40, 60)
    with pytest.raises(ImageError, match=r"page\.png.*outside the image of 240 x 360"):
        load_image(path, Box(240, 0, 50, 50))


# --- bad files --------------------------------------------------------------------------------------------


def refused(path: Path, **options: Any) -> str:
    """The message that refuses `path`; it always names the file."""
    with pytest.raises(ImageError) as caught:
        load_image(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert caught.value.path == path
    return message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><title>404</title>", "not an image"),
        (b"\0" * 5000, "not an image"),
        ("卷十 第 1a 页".encode(), "not an image"),
    ],
)
def test_what_is_no_image_says_so(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "page.png"
    path.write_bytes(content)
    assert why in refused(path)


def test_what_is_no_file_says_so_and_a_pipe_is_not_waited_on(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.png")
    with pytest.raises(ImageError, match="no such file"):
        sha256_of(tmp_path / "none.png")
    assert "folder" in refused(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        assert "regular file" in refused(tmp_path / "pipe.png")


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        *((suffix, {}) for suffix in (".jpg", ".png", ".tif", ".webp", ".jp2", ".gif", ".bmp")),
        (".jpg", {"progressive": True}),
        (".tif", {"compression": "tiff_lzw"}),
    ],
)
def test_a_file_cut_short_or_filled_up_is_an_error_and_not_a_page_half_grey(
    tmp_path: Path, suffix: str, options: dict[str, Any]
) -> None:
    path = saved(tmp_path / f"page{suffix}", page(), **options)
    whole = path.read_bytes()
    for kept in (0.02, 0.3, 0.6, 0.95):
        path.write_bytes(whole[: int(len(whole) * kept)])
        assert "cut short or damaged; fetch" in refused(path) or "its header" in refused(path)
    if suffix == ".jpg":  # as a download leaves it whose file was made in its full size first
        half = len(whole) // 2
        path.write_bytes(whole[:half] + bytes(len(whole) - half))
        assert "cut short or damaged; fetch" in refused(path)


def bomb(width: int, height: int) -> bytes:
    """A PNG whose header promises `width` x `height`, with a few bytes of data behind it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [11_000, 60_000, 2_000_000_000])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_bomb_is_refused_by_its_header_without_the_memory(tmp_path: Path, side: int) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(bomb(side, side))
    tracemalloc.start()
    try:
        message = refused(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert "megapixels" in message
    assert "scale it down" in message


def test_a_file_too_large_for_any_image_within_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse.png"
    with path.open("wb") as file:
        file.truncate(20_000_000_000)
    assert "20,000 MB" in refused(path)


@pytest.mark.parametrize("size", [(1, 1), (199, 4000), (4000, 199)])
def test_an_image_too_small_for_a_page_is_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    path = saved(tmp_path / "dot.png", Image.new("L", size, 255))
    assert f"only {size[0]} x {size[1]} pixels" in refused(path)


@pytest.mark.parametrize("suffix", [".gif", ".png", ".webp", ".tif"])
def test_an_animation_or_a_book_in_one_file_is_refused_with_its_frames_counted(tmp_path: Path, suffix: str) -> None:
    others = [page(ink="blue"), page(ink="green")]
    message = refused(saved(tmp_path / f"pages{suffix}", page(), save_all=True, append_images=others))
    assert "contains 3 frames" in message
    assert "as a separate file" in message


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    suffix=st.sampled_from(["png", "jpeg", "tiff", "webp", "gif", "bmp", "jpeg2000"]),
    damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=4)), max_size=5),
)
def test_damaged_bytes_give_an_image_or_an_image_error_and_nothing_else(
    tmp_path: Path, suffix: str, damage: list[tuple[float, bytes]]
) -> None:
    stream = io.BytesIO()
    page().save(stream, format=suffix)
    data = bytearray(stream.getvalue())
    for place, junk in damage:
        start = int(place * len(data))
        data[start : start + len(junk)] = junk
    path = tmp_path / "page"
    path.write_bytes(data)
    try:
        loaded = load_image(path, max_megapixels=1)
    except ImageError:
        return
    assert loaded.pixels.shape == loaded.size[::-1]
    assert min(loaded.size) >= 200


# --- checksums --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds_ago", [1, 10**9])
def test_the_checksum_follows_a_changed_file_even_within_one_tick_of_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds_ago: int
) -> None:
    """As on a file system that tells times to two seconds; long after, its time tells a file from the one before."""
    path, now = tmp_path / "page.png", 2 * 10**18
    monkeypatch.setattr(time, "time_ns", lambda: now)
    for number, content in enumerate((b"one", b"two")):
        path.write_bytes(content)
        ticks = number if seconds_ago > 1 else 0
        os.utime(path, ns=(now, now - seconds_ago * 10**9 + ticks))
        assert sha256_of(path) == hashlib.sha256(content).hexdigest()


@pytest.mark.slow
def test_real_scans_load_at_their_size_and_none_is_taken_for_a_negative(shared: Path) -> None:
    paths = [path for path in (shared / "facsimile").rglob("*") if path.suffix in {".jpg", ".png"}]
    assert len(paths) >= 14
    for path in paths:
        loaded = load_image(path)
        with Image.open(path) as image:
            assert loaded.size == image.size
        assert loaded.notices == ()
        assert np.median(loaded.pixels) > 128
