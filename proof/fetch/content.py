"""Tests whether a server's answer is an image: many servers answer with a web page and status 200 if there is none."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from proof.images.formats import FORMATS
from proof.locale.marking import Sentence, _

_TITLE = re.compile(rb"<title[^>]*>\s*(.{1,120}?)\s*</title>", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title)", re.IGNORECASE | re.DOTALL)


def image_fault(path: Path) -> str:
    """Why the file at `path` is not a page image; empty if it is one. The image is decoded completely."""
    with path.open("rb") as file:
        head = file.read(4096)
    if not head:
        return Sentence(_("the server's answer is empty"))
    if _PAGE.match(head.removeprefix(b"\xef\xbb\xbf")):
        title = _TITLE.search(head)
        named = f" ({' '.join(title[1].decode('utf-8', 'replace').split())})" if title else ""
        return Sentence(_("the server sends a web page%(named)s, not an image"), named=named)
    return _undecodable(path, head)


def _undecodable(path: Path, head: bytes) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=FORMATS) as image:
                image.verify()
            with Image.open(path, formats=FORMATS) as image:
                image.load()
    except UnidentifiedImageError:
        message = _("the server's answer is not an image (%(head)s)")
        if head.isascii() and b"\0" not in head:
            message = _("the server's answer is a text, not an image (%(head)s)")
        return Sentence(message, head=repr(head[:24]))
    except (Image.DecompressionBombError, MemoryError):
        return Sentence(_("the image has more pixels than can be checked here; fetch it smaller with --width"))
    except Exception:  # Pillow's decoders raise almost any exception class on damaged data
        return Sentence(_("the image is cut short or damaged"))
    return ""
