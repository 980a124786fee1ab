"""The images of a source in order, with the name under which each is stored, and the half-folios that it shows."""

from __future__ import annotations

from dataclasses import dataclass

from proof.model.half_folios import JuanFolio
from proof.model.notices import Notice


@dataclass(frozen=True, slots=True)
class WantedImage:
    """One image of a source. `number` counts from 1; `name` is its file in the image folder, with forward slashes;
    `places` are its half-folios, if the source gives them; `label` is the source's name for it, if there is one.
    `opening`: it shows two half-folios, the first of `places` on the right."""

    number: int
    name: str
    address: str
    label: str = ""
    places: tuple[JuanFolio, ...] = ()
    opening: bool = False


@dataclass(frozen=True, slots=True)
class ImageSource:
    """All images of a source. `rights` are its terms, in its own words; `notices` report what cannot be used,
    `failures` what could not be fetched."""

    title: str
    images: tuple[WantedImage, ...]
    rights: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    failures: tuple[str, ...] = ()
