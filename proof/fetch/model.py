"""What a source shows: its images in order, under which name each is kept, and which half-folio it is."""

from __future__ import annotations

from dataclasses import dataclass

from proof.model.notices import Notice
from proof.model.places import Place


@dataclass(frozen=True, slots=True)
class WantedImage:
    """One image. `number` counts from 1 in the source; `name` is its file in the image folder, with forward slashes;
    `places` the half-folios that it shows, where the source says so; `label` what the source calls it,
    where that is not its name. `opening`: it shows two half-folios, the first of `places` on the right."""

    number: int
    name: str
    address: str
    label: str = ""
    places: tuple[Place, ...] = ()
    opening: bool = False


@dataclass(frozen=True, slots=True)
class ImageSource:
    """All images of a source. `rights` are its terms, as it words them; `notices` say what of it cannot be used,
    `failures` what could not be had."""

    title: str
    images: tuple[WantedImage, ...]
    rights: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    failures: tuple[str, ...] = ()
