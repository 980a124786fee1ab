"""Selects images of a source, assigns half-folios to them, and writes the image list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath

from proof.errors import UsageError
from proof.fetch.model import WantedImage
from proof.images.imglist import ListedPage, write_entries
from proof.locale.marking import Sentence, _
from proof.model.half_folios import (
    JuanFolio,
    half_folio_name,
    half_folios_from,
    juan_key,
    parse_half_folio,
    with_blank_sides,
)
from proof.model.refs import ImageRef

_NUMBERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{0,9}))?")

_NO_LAST = 10**9
"""The last number of an open range (`12-`): larger than any that `_NUMBERS` allows."""


def in_ranges(images: Sequence[WantedImage], ranges: Iterable[str]) -> tuple[WantedImage, ...]:
    """The images with these numbers: `12`, `12-40`, `12-`. Raises UsageError if no image has a number of a range."""
    chosen: set[int] = set()
    for given in ranges:
        match = _NUMBERS.fullmatch(given.strip())
        if match is None:
            raise UsageError(_("%(given)s is not a range of images: write 12, 12-40 or 12-"), given=repr(given))
        first = int(match[1])
        last = first if match[2] is None else int(match[2] or _NO_LAST)
        inside = {wanted.number for wanted in images if first <= wanted.number <= last}
        if not inside:
            raise UsageError(
                _("the source has no images %(given)s: it has %(number)s; --dry-run lists them"),
                given=given,
                number=len(images),
            )
        chosen |= inside
    return tuple(wanted for wanted in images if wanted.number in chosen)


def of_parts(images: Sequence[WantedImage], parts: Iterable[str]) -> tuple[WantedImage, ...]:
    """The images of these parts of the text: a juan (`010`), a half-folio (`010-3a`), an image reference
    (`WYG0103-0192c`), or all from one of these to another (`010-3a..010-9b`). Raises UsageError if a part has no
    image."""
    chosen: set[int] = set()
    for part in parts:
        first, *rest = (_indices(images, end.strip()) for end in part.split("..", 1))
        indices: Sequence[int] = range(first[0], rest[0][-1] + 1) if rest else first
        if not indices:  # the range ends before it begins
            raise _missing(images, part)
        chosen.update(indices)
    return tuple(wanted for index, wanted in enumerate(images) if index in chosen)


def _indices(images: Sequence[WantedImage], part: str) -> list[int]:
    """The indices of the images that show `part`, which is not a range. Raises UsageError if there are none."""
    indices = [index for index, wanted in enumerate(images) if _shows(wanted, part)]
    if not indices:
        raise _missing(images, part)
    return indices


def _missing(images: Iterable[WantedImage], part: str) -> UsageError:
    """The error about a part that no image shows; it names the first and the last half-folio that the images show."""
    names = [half_folio_name(place) for wanted in images for place in wanted.places]
    span = Sentence(_("no half-folio by name"))
    if names:
        span = Sentence(_("from %(first)s to %(last)s"), first=names[0], last=names[-1])
    return UsageError(
        _(
            "the source has no %(missing)s; it shows %(span)s. Name a juan (010), a half-folio "
            "(010-3a), a reference (WYG0103-0192c), or from one to another (010-3a..010-9b); "
            "--numbers goes by the images' numbers"
        ),
        missing=part,
        span=span,
    )


def with_half_folios(
    images: Sequence[WantedImage], first: str, of_text: Iterable[JuanFolio] = (), *, openings: bool = False
) -> tuple[WantedImage, ...]:
    """The images, each with the half-folio that it shows: `first` (`010-1a`), then those that follow it among the
    half-folios `of_text`. With `openings` each image shows two, and blank half-folios that the text omits count too.

    Raises UsageError if `first` is not a half-folio.
    """
    places = half_folios_from(parse_half_folio(first), of_text)
    if openings:
        leaves = with_blank_sides(places)
        return tuple(replace(wanted, places=tuple(islice(leaves, 2)), opening=True) for wanted in images)
    return tuple(replace(wanted, places=(place,)) for wanted, place in zip(images, places, strict=False))


def write_list(path: Path, images: Iterable[WantedImage]) -> int:
    """Write the half-folios of `images` into the image list at `path`, and return the number of lines.

    Raises UsageError if no half-folio is known, and the errors of `write_entries`.
    """
    files: dict[ListedPage, str] = {}
    for wanted in images:
        if not wanted.opening:
            files |= dict.fromkeys(wanted.places, wanted.name)
            continue
        for place, half in zip(wanted.places, "ab", strict=False):
            files[place] = _half_of_opening(wanted.name, half)
    if not files:
        raise UsageError(
            _(
                "no label of the source names a half-folio, so there is nothing to list: say which "
                "one the first image shows with --first 010-1a (and which image that is with "
                "--numbers)"
            )
        )
    write_entries(path, files)
    return len(files)


def _half_of_opening(name: str, half: str) -> str:
    """The name of one half (`a` or `b`) of an opening in image lists: `book/0012a.jpg` for `book/0012.jpg`."""
    path = PurePosixPath(name)
    return str(path.with_name(f"{path.stem}{half}{path.suffix}"))


def _shows(wanted: WantedImage, part: str) -> bool:
    """Whether `part` names the reference of an image, a half-folio that it shows, or the juan of one."""
    ref = ImageRef.match(part)
    if ref and ImageRef.match(wanted.name) == ref:
        return True
    try:
        return parse_half_folio(part) in wanted.places
    except UsageError:
        return any(juan == juan_key(part) for juan, _ in wanted.places)
