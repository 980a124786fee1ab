"""Loads an image file, or a page of a PDF: checks its header, decodes it once and converts it to grey.

Pillow decodes, not OpenCV. It is faster on grey JPEG scans (12 ms against 16 ms) and equal on RGB PNG, and OpenCV
returns a truncated JPEG as a page that is half grey, without an error."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import time
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, TiffImagePlugin, UnidentifiedImageError

from proof.errors import ImageError, reason_of
from proof.images.formats import DEFAULT_MAX_MEGAPIXELS, FORMATS, PILLOW_MEGAPIXELS
from proof.images.negative import is_negative
from proof.images.pdf import PdfPage, draw
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.ocr.engine import Pixels

MAX_BYTES_PER_PIXEL = 8
"""Bytes of a pixel of an uncompressed image with four channels of 16 bits, the most that a file has."""

MIN_SIDE_PX = 200
"""Minimum width and height of an image. On a smaller page of eight columns of 21 characters, a character has less than
ten pixels."""

MAX_INK_TONE_SHARE = 0.6
"""Share of the paper's tone below which something is ink."""

MIN_INK_SHARE = 0.005
"""Share of the page that ink must cover for its colour to be measured."""

MAX_RED_SHARE = 0.1
"""Ink of the red channel, as a share of the ink of the green one, below which a page counts as printed in red: with red
seals and marks beside black text it is far more."""

PAPER_PERCENTILE = 75
"""Percentile of the tones of a page that is taken for the tone of the paper."""

SAMPLE_STEP_PX = 7
"""Distance of the pixels at which the colour of the ink is measured."""

_SIGNATURES = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"II*\0",
    b"MM\0*",
    b"RIFF",
    b"GIF8",
    b"BM",
    b"\0\0\0\x0cjP",
    b"\xff\x4f\xff\x51",
)
"""First bytes of the files of `FORMATS`."""
_ORIENTATION = 0x0112  # EXIF tag; 1 is upright
_SUBFILE_TYPE = 0x00FE  # TIFF tag
_REDUCED_COPY = 0x1  # bit of that tag: the image is a reduced copy of another one in the file
_MTIME_RESOLUTION_NS = 2 * 10**9  # nanoseconds: resolution of modification times on FAT

# Pillow warns on stderr from 89 megapixels on; here the limit is a setting, and passing it an error.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """A page image, or the part of it inside `box`.

    `pixels` is height x width, uint8, C-contiguous and read-only: 0 black to 255 white, ink dark. `size` is width and
    height of the whole image with its EXIF orientation applied, as browsers show it. `sha256` is that of `sha256_of`.
    `notices` report changes of the image beyond decoding.
    """

    path: Path
    pixels: Pixels
    size: tuple[int, int]
    sha256: str
    box: Box | None = None
    notices: tuple[Notice, ...] = ()

    def crop(self, box: Box) -> LoadedImage:
        """The part inside `box` (pixels of the whole image), clipped to this image: a plate is decoded once for all its
        quadrants. Raises ImageError if the box lies outside."""
        dx, dy = (self.box.x, self.box.y) if self.box else (0.0, 0.0)
        height, width = self.pixels.shape
        left, right = max(0, round(box.x - dx)), min(width, round(box.right - dx))
        top, bottom = max(0, round(box.y - dy)), min(height, round(box.bottom - dy))
        if left >= right or top >= bottom:
            w, h = self.size
            raise ImageError(self.path, NoticeCode.PART_OUTSIDE, part=str(box.rounded()), width=w, height=h)
        pixels = np.ascontiguousarray(self.pixels[top:bottom, left:right])
        pixels.flags.writeable = False
        return replace(self, pixels=pixels, box=Box(left + dx, top + dy, right - left, bottom - top))


def load_image(
    path: Path | str, box: Box | None = None, *, max_megapixels: float = DEFAULT_MAX_MEGAPIXELS
) -> LoadedImage:
    """The image at `path` in grey, or its part inside `box` (pixels of the upright image).

    For a colour image this is the red channel: black ink is as dark there as in luma, and vermilion (seals, reading
    marks) has a sixth of the ink's depth instead of two thirds. For a page printed in red it is the green channel.
    Transparent areas become white. A negative (white on black microfilm) is inverted, with a notice.

    `path` can be a page of a PDF, `scan.pdf#12`.

    Raises ImageError if the file is missing, empty, truncated or no image, if it is larger than `max_megapixels`
    (according to its header, before decoding) or less than 200 pixels wide or high, or if it holds several frames (an
    animation, a multi-page TIFF: only the user knows which one is the page).
    """
    path = Path(path)
    page = PdfPage.match(path)
    if page:
        digest = sha256_of(path)
        drawn = draw(page, max_megapixels)
        _check_sides(path, drawn)
        pixels = _grey(drawn)
    else:
        data = _bytes_of(path, max_megapixels)
        digest = hashlib.sha256(data).hexdigest()
        pixels = _decoded(path, data, max_megapixels)
    notices: tuple[Notice, ...] = ()
    if is_negative(pixels):
        pixels = np.subtract(255, pixels)
        notices = (Notice.of(NoticeCode.INVERTED),)
    pixels.flags.writeable = False
    height, width = pixels.shape
    loaded = LoadedImage(path, pixels, (width, height), digest, notices=notices)
    return loaded.crop(box) if box else loaded


def load_picture(path: Path) -> Image.Image | None:
    """The image at `path` as browsers show it, grey or RGB; None if it cannot be read, which the check reports."""
    page = PdfPage.match(path)
    try:
        if page:
            return draw(page, PILLOW_MEGAPIXELS)
        with Image.open(path) as file:
            image = _opaque(_upright(file))
            if _is_deep(image):
                return Image.fromarray(_deep_grey(np.asarray(image)))
            picture: Image.Image = image.convert("L" if image.mode in ("1", "L") else "RGB")
            return picture
    except (ImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def _decoded(path: Path, data: bytes, max_megapixels: float) -> Pixels:
    """An image file in grey. Raises ImageError."""
    try:
        with _open(path, data, max_megapixels) as image:
            return _grey(_upright(image))
    except ImageError:
        raise
    except MemoryError as error:
        raise ImageError(path, NoticeCode.NO_MEMORY_TO_DECODE) from error
    except Exception as error:  # Pillow's decoders raise many classes on damaged data
        raise ImageError(path, NoticeCode.IMAGE_DAMAGED) from error


def sha256_of(path: Path | str) -> str:
    """The SHA-256 of a file's bytes, or, for a page of a PDF, of the PDF's hash and the page's number (`<hash>#12`).

    It is cached by size and modification time, unless the file was changed within the last two seconds, which is the
    resolution of some file systems. Raises ImageError if the file is missing or unreadable.
    """
    path = Path(path)
    page = PdfPage.match(path)
    if page:
        return hashlib.sha256(f"{sha256_of(page.file)}#{page.number}".encode()).hexdigest()
    status = _status(path)
    if abs(time.time_ns() - status.st_mtime_ns) < _MTIME_RESOLUTION_NS:
        return _sha256(path)
    return _cached_sha256(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=100_000)
def _cached_sha256(path: Path, size: int, mtime_ns: int) -> str:
    """The SHA-256 of a file, computed once for each size and modification time."""
    return _sha256(path)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ImageError(path, NoticeCode.FILE_UNREADABLE, error=reason_of(error)) from error


def _status(path: Path) -> os.stat_result:
    """The status of a regular file. Raises ImageError for anything else."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise ImageError(path, NoticeCode.FILE_MISSING) from None
    except (OSError, ValueError) as error:
        raise ImageError(path, NoticeCode.FILE_UNREADABLE, error=str(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise ImageError(path, NoticeCode.FILE_IS_FOLDER)
    if not stat.S_ISREG(status.st_mode):
        raise ImageError(path, NoticeCode.FILE_IRREGULAR)
    return status


def _bytes_of(path: Path, max_megapixels: float) -> bytes:
    """The bytes of a file. Raises ImageError if it is empty, or too large for an image within the limit."""
    size = _status(path).st_size
    if size == 0:
        raise ImageError(path, NoticeCode.FILE_EMPTY)
    # a megabyte for all other content of the file
    if size > (max_megapixels * MAX_BYTES_PER_PIXEL + 1) * 1e6:
        raise ImageError(path, NoticeCode.FILE_TOO_LARGE, size=f"{size / 1e6:,.0f}", limit=f"{max_megapixels:g}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImageError(path, NoticeCode.FILE_UNREADABLE, error=reason_of(error)) from error


def _open(path: Path, data: bytes, max_megapixels: float) -> Image.Image:
    """The image after checking its header, not yet decoded."""
    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
        _check_header(path, image, max_megapixels)
        return image
    except Image.DecompressionBombError as error:
        limit = min(max_megapixels, PILLOW_MEGAPIXELS)
        raise ImageError(path, NoticeCode.IMAGE_BOMB, limit=f"{limit:g}") from error
    except UnidentifiedImageError as error:
        if data.startswith(_SIGNATURES):
            raise ImageError(path, NoticeCode.HEADER_DAMAGED) from error
        raise ImageError(path, NoticeCode.IMAGE_UNKNOWN_KIND) from error


def _check_header(path: Path, image: Image.Image, max_megapixels: float) -> None:
    width, height = image.size
    megapixels = width * height / 1e6
    if megapixels > max_megapixels:
        size, limit = f"{megapixels:,.0f}", f"{max_megapixels:g}"
        raise ImageError(path, NoticeCode.IMAGE_TOO_LARGE, width=width, height=height, size=size, limit=limit)
    _check_sides(path, image)
    frames = _frames(image)
    if frames > 1:
        raise ImageError(path, NoticeCode.SEVERAL_FRAMES, frames=frames)


def _check_sides(path: Path, image: Image.Image) -> None:
    width, height = image.size
    if min(width, height) < MIN_SIDE_PX:
        raise ImageError(path, NoticeCode.IMAGE_TOO_SMALL, width=width, height=height, least=MIN_SIDE_PX)


def _frames(image: Image.Image) -> int:
    """The number of images in the file, without previews (in JPEG of telephones and in TIFF)."""
    frames: int = getattr(image, "n_frames", 1)
    if image.format == "MPO":  # Pillow's name for a JPEG with a preview behind the photograph
        return 1
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return frames
    reduced = 0
    for number in range(1, frames):
        image.seek(number)
        reduced += bool(int(image.tag_v2.get(_SUBFILE_TYPE, 0)) & _REDUCED_COPY)
    image.seek(0)
    return frames - reduced


def _upright(image: Image.Image) -> Image.Image:
    """The decoded image with its EXIF orientation applied."""
    # Pillow turns a TIFF while it loads, and then removes the tag
    image.load()
    if image.getexif().get(_ORIENTATION, 1) != 1:
        ImageOps.exif_transpose(image, in_place=True)
    return image


def _grey(image: Image.Image) -> Pixels:
    """An image of any mode in 8-bit grey."""
    if _is_deep(image):
        return _deep_grey(np.asarray(image))
    image = _opaque(image)
    if image.mode in ("1", "L"):
        return np.asarray(image.convert("L"))
    if image.mode == "LAB":
        return np.asarray(image.getchannel("L"))
    if image.mode not in ("RGB", "RGBA", "RGBX"):
        image = image.convert("RGB")
    return np.asarray(image.getchannel("G" if _is_printed_in_red(image) else "R"))


def _opaque(image: Image.Image) -> Image.Image:
    """The image with white in place of its transparent areas."""
    if not image.has_transparency_data:
        return image
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))


def _is_deep(image: Image.Image) -> bool:
    """Whether the image is grey of more than eight bits."""
    return image.mode.startswith(("I", "F"))


def _is_printed_in_red(image: Image.Image) -> bool:
    """Whether the red channel of a page has hardly any of the ink of the green one."""
    size = max(1, image.width // SAMPLE_STEP_PX), max(1, image.height // SAMPLE_STEP_PX)
    sample = image.resize(size, Image.Resampling.NEAREST)

    def ink_share(channel: str) -> float:
        tones = np.asarray(sample.getchannel(channel))
        return float((tones < MAX_INK_TONE_SHARE * np.percentile(tones, PAPER_PERCENTILE)).mean())

    red, green = ink_share("R"), ink_share("G")
    return green > MIN_INK_SHARE and red < MAX_RED_SHARE * green


def _deep_grey(tones: NDArray[Any]) -> Pixels:
    """Grey of more than eight bits converted to eight, from the darkest pixel to the brightest: files often hold twelve
    bits in sixteen."""
    finite = np.nan_to_num(tones.astype(np.float32))
    low, high = float(finite.min()), float(finite.max())
    return ((finite - low) * (255 / (high - low or 1))).astype(np.uint8)
