"""Reading image files: every kind that pages come in, and every way a file can be bad."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import subprocess
import sys
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


def shows_page(loaded: LoadedImage, tolerance: int = 24) -> bool:
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


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".webp", ".jp2", ".gif", ".bmp"])
def test_a_page_is_read_from_every_format(tmp_path: Path, suffix: str) -> None:
    loaded = load_image(saved(tmp_path / f"page{suffix}", page()))
    assert shows_page(loaded)
    assert loaded.notices == ()


@pytest.mark.parametrize("compression", ["group4", "tiff_lzw", "tiff_adobe_deflate", "raw"])
def test_a_bilevel_tiff_keeps_ink_dark(tmp_path: Path, compression: str) -> None:
    assert shows_page(load_image(saved(tmp_path / "page.tif", page().convert("1"), compression=compression)), 0)


def test_pixels_are_grey_bytes_in_rows_that_cannot_be_changed(tmp_path: Path) -> None:
    pixels = load_image(saved(tmp_path / "page.png", page())).pixels
    assert pixels.dtype == np.uint8
    assert pixels.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        pixels[0, 0] = 1


def test_the_ending_does_not_matter_the_content_does(tmp_path: Path) -> None:
    page().save(tmp_path / "page.jpg", format="PNG")
    assert shows_page(load_image(tmp_path / "page.jpg"), 0)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_grey_palette_and_bilevel_read_alike(tmp_path: Path, mode: str) -> None:
    assert shows_page(load_image(saved(tmp_path / "page.png", page().convert(mode))), 0)


def test_a_palette_with_a_transparent_ground_lies_on_white(tmp_path: Path) -> None:
    image = page().convert("P")
    image.save(tmp_path / "page.png", transparency=image.getpixel((150, 60)))
    assert shows_page(load_image(tmp_path / "page.png"), 0)


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_ink_kept_in_the_alpha_channel_alone_is_seen(tmp_path: Path, mode: str) -> None:
    alpha = page().convert("L").point(lambda value: 255 - value)
    image = Image.new("RGBA", (WIDTH, HEIGHT), (0, 0, 0, 0))
    image.putalpha(alpha)
    assert shows_page(load_image(saved(tmp_path / "page.png", image.convert(mode))), 0)


@pytest.mark.parametrize("suffix", [".jpg", ".tif"])
def test_cmyk_keeps_ink_dark(tmp_path: Path, suffix: str) -> None:
    assert shows_page(load_image(saved(tmp_path / f"page{suffix}", page().convert("CMYK"))))


@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("full_scale", [65535, 4095])
def test_sixteen_bits_are_brought_to_eight_whatever_depth_they_use(
    tmp_path: Path, suffix: str, full_scale: int
) -> None:
    deep = (np.asarray(page().convert("L")).astype(np.uint32) * full_scale // 255).astype(np.uint16)
    assert shows_page(load_image(saved(tmp_path / f"page{suffix}", Image.fromarray(deep))), 0)


@pytest.mark.parametrize("mode", ["I", "F"])
def test_thirty_two_bit_tiffs_are_brought_to_eight(tmp_path: Path, mode: str) -> None:
    assert shows_page(load_image(saved(tmp_path / "page.tif", page().convert("L").convert(mode))), 0)


@pytest.mark.parametrize("ink", [(190, 40, 35), (215, 90, 80)])
def test_a_page_printed_in_red_is_as_dark_as_one_printed_in_black(tmp_path: Path, ink: tuple[int, int, int]) -> None:
    image = page(ground=(238, 226, 200), ink=ink)
    pixels = load_image(saved(tmp_path / "red.png", image)).pixels
    paper, red = int(pixels[60, 210]), int(pixels[60, 50])
    assert red < 0.5 * paper


def test_vermilion_fades_and_black_ink_does_not(tmp_path: Path) -> None:
    image = page(ground=(217, 197, 170), ink=(64, 58, 52))
    ImageDraw.Draw(image).rectangle((100, 30, 180, 110), fill=(195, 55, 40))
    pixels = load_image(saved(tmp_path / "seal.png", image)).pixels
    paper, seal, ink = (int(pixels[y, x]) for y, x in ((60, 210), (60, 140), (60, 50)))
    assert paper - seal < 0.2 * (paper - ink)


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
@pytest.mark.parametrize(
    ("orientation", "turn"),
    [(3, Image.Transpose.ROTATE_180), (6, Image.Transpose.ROTATE_90), (8, Image.Transpose.ROTATE_270)],
)
def test_a_photograph_stands_upright_as_its_camera_noted(
    tmp_path: Path, suffix: str, orientation: int, turn: Image.Transpose
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert shows_page(load_image(saved(tmp_path / f"page{suffix}", page().transpose(turn), exif=exif)))


def test_white_on_black_microfilm_is_turned_over_and_says_so(tmp_path: Path) -> None:
    loaded = load_image(saved(tmp_path / "film.png", page(ground="black", ink="white", mode="L")))
    assert shows_page(loaded, 0)
    assert "inverted" in in_english(loaded.notices[0])


def test_a_page_in_poor_light_is_not_taken_for_a_negative(tmp_path: Path) -> None:
    loaded = load_image(saved(tmp_path / "dim.png", page(ground=90, ink=15, mode="L")))
    assert loaded.notices == ()
    assert loaded.pixels[60, 150] == 90


def test_the_preview_behind_a_telephones_photograph_is_no_second_page(tmp_path: Path) -> None:
    path = tmp_path / "phone.jpg"
    page().save(path, format="MPO", save_all=True, append_images=[page().resize((120, 180))])
    with Image.open(path) as image:
        assert image.format == "MPO"
    assert shows_page(load_image(path))


def test_the_reduced_copies_in_a_pyramid_tiff_are_no_further_pages(tmp_path: Path) -> None:
    path, small = tmp_path / "pyramid.tif", page().resize((120, 180))
    small.encoderinfo = {"tiffinfo": {254: 1}}
    page().save(path, save_all=True, append_images=[small])
    assert shows_page(load_image(path), 0)


# --- a part of an image -----------------------------------------------------------------------------------


def test_a_part_is_the_pixels_inside_its_box(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.png", page())
    whole = load_image(path)
    part = load_image(path, Box(20, 30, 60, 90))
    assert part.pixels.shape == (90, 60)
    assert part.pixels.flags.c_contiguous
    assert np.array_equal(part.pixels, whole.pixels[30:120, 20:80])
    assert part.box == Box(20, 30, 60, 90)
    assert (part.size, part.sha256) == (whole.size, whole.sha256)


def test_a_part_of_a_part_counts_from_the_whole_image(tmp_path: Path) -> None:
    whole = load_image(saved(tmp_path / "page.png", page()))
    once, twice = whole.crop(Box(30, 50, 20, 40)), whole.crop(Box(10, 20, 200, 300)).crop(Box(30, 50, 20, 40))
    assert np.array_equal(once.pixels, twice.pixels)
    assert once.box == twice.box


def test_a_part_is_clipped_to_the_image_and_refused_outside_it(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.png", page())
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


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.png")


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "empty.png"
    path.touch()
    assert "empty" in refused(path)


def test_a_folder_is_no_image(tmp_path: Path) -> None:
    assert "folder" in refused(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes exist on POSIX systems only")
def test_a_pipe_is_refused_without_waiting_on_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert "regular file" in refused(tmp_path / "pipe.png")


@pytest.mark.parametrize("content", [b"<!DOCTYPE html><title>404</title>", b"\0" * 5000, "卷十 第 1a 页".encode()])
def test_what_is_no_image_says_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page.png"
    path.write_bytes(content)
    assert "not an image" in refused(path)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("kept", [0.02, 0.3, 0.6, 0.95])
@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        (".jpg", {}),
        (".jpg", {"progressive": True}),
        (".png", {}),
        (".tif", {}),
        (".tif", {"compression": "tiff_lzw"}),
        (".webp", {}),
        (".jp2", {}),
        (".gif", {}),
        (".bmp", {}),
    ],
)
def test_a_file_cut_short_is_an_error_and_not_a_page_half_grey(
    tmp_path: Path, suffix: str, options: dict[str, Any], kept: float
) -> None:
    path = saved(tmp_path / f"page{suffix}", page(), **options)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    assert "cut short or damaged" in refused(path)


def test_a_real_scan_that_lost_its_last_bytes_is_an_error(shared: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.jpg"
    path.write_bytes((shared / "facsimile/JMML/images/JMML_001-1a.jpg").read_bytes()[:-20_000])
    assert "cut short" in refused(path)


def test_a_download_filled_up_with_zeros_is_an_error(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.jpg", page())
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + bytes(len(data) - len(data) // 2))
    assert "cut short or damaged" in refused(path)


def bomb(width: int, height: int) -> bytes:
    """A PNG whose header promises `width` x `height`, with a few bytes of data behind it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(("width", "height"), [(60_000, 60_000), (2_000_000_000, 2_000_000_000), (11_000, 11_000)])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_bomb_is_refused_by_its_header_without_the_memory(tmp_path: Path, width: int, height: int) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(bomb(width, height))
    tracemalloc.start()
    try:
        message = refused(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert "megapixels" in message
    assert "scale it down" in message


def test_the_limit_is_a_setting(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.png", page())
    assert "the limit is 0.05" in refused(path, max_megapixels=0.05)
    assert shows_page(load_image(path, max_megapixels=0.1), 0)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_large_plate_within_the_limit_is_read_and_nothing_printed(tmp_path: Path) -> None:
    path = tmp_path / "large.tif"
    Image.new("1", (15_000, 10_000), 1).save(path, compression="group4")
    assert "150 megapixels; the limit is 100" in refused(path)
    code = f"from proof.images.load import load_image; assert load_image({str(path)!r}, max_megapixels=178).size[0]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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
    path = saved(tmp_path / f"pages{suffix}", page(), save_all=True, append_images=others)
    message = refused(path)
    assert "holds 3 frames" in message
    assert "file of its own" in message


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


def test_the_checksum_is_of_the_files_bytes_with_and_without_decoding(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.png", page())
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert load_image(path).sha256 == expected
    assert sha256_of(path) == expected


def test_the_checksum_follows_a_changed_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "page.png", page())
    before = sha256_of(path)
    saved(path, page(ink="blue"))
    os.utime(path, ns=(1, 1))
    assert sha256_of(path) == hashlib.sha256(path.read_bytes()).hexdigest() != before


def test_the_checksum_follows_a_file_changed_twice_within_one_tick_of_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that tells times to two seconds."""
    path, tick = tmp_path / "page.png", 1_000_000_000 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: tick + 10**9)
    sums = []
    for content in (b"one", b"two"):
        path.write_bytes(content)
        os.utime(path, ns=(tick, tick))
        sums.append(sha256_of(path))
    assert sums == [hashlib.sha256(content).hexdigest() for content in (b"one", b"two")]


def test_the_checksum_of_a_missing_file_is_an_image_error(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="no such file"):
        sha256_of(tmp_path / "none.png")


# --- real scans -------------------------------------------------------------------------------------------


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
