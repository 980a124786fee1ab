"""Image tiles of glyphs, for flags and for any character of a page."""

from __future__ import annotations

from flask import Blueprint, Response, request

from proof.locale.marking import _
from proof.model.flags import Flag
from proof.model.result import CheckedCharacter, PageResult
from proof.report.crops import data_uri
from proof.report.glyphs import GlyphPlace, character_place, flag_place
from proof.store.lookup import NoPlaceError
from proof.web.iiif import image_answer
from proof.web.images import GoneImageError, NoPieceError, name_of
from proof.web.project import project

CACHE_CONTROL = "private, max-age=600"
"""Tiles are cached for a short time only: reading a page again may move its glyphs."""

glyph_tiles = Blueprint("glyph_tiles", __name__, url_prefix="/works/<work>")


@glyph_tiles.get("/flags/<int:number>/glyph.webp")
def of_flag(work: str, number: int) -> Response:
    """The tile of a flag's glyph, or of the gap if its character has no glyph."""
    queue = project().store.queue
    queued = queue.flags(work, [number])[0]
    result = queue.results([queued.page.number])[queued.page.number]
    place = flag_place(result, queued.flag) if queued.page.image_sha else None
    if place is None:
        raise NoPlaceError(_("%(work)s: flag %(number)s has no place on an image"), work=work, number=number)
    return _tile(name_of(queued.page.image_sha, result.skew), place)


@glyph_tiles.get("/pages/<int:page>/glyphs/<int:line>-<int:offset>.webp")
def of_character(work: str, page: int, line: int, offset: int) -> Response:
    """The tile of a character of a page."""
    listed, result = project().store.queue.page(work, page)
    character = character_at(result, line, offset)
    if character is None or not listed.image_sha:
        raise NoPlaceError(_("%(page)s: column %(column)s has no such place"), page=listed.page, column=line)
    return _tile(name_of(listed.image_sha, result.skew), character_place(result, character))


def character_at(result: PageResult, line: int, offset: int) -> CheckedCharacter | None:
    """The character with a glyph at that place of a page's text; None if there is none."""
    return next((char for char in result.characters if (char.line, char.offset) == (line, offset)), None)


def character_tile_uri(sha: str, result: PageResult, line: int, offset: int) -> str | None:
    """The tile of a character as a data URL, so that many tiles need one request; None if there is none."""
    character = character_at(result, line, offset)
    return _tile_uri(name_of(sha, result.skew), character_place(result, character) if character else None)


def flag_tile_uri(sha: str, result: PageResult, flag: Flag) -> str | None:
    """The tile of a flag as a data URL; None if there is none."""
    return _tile_uri(name_of(sha, result.skew), flag_place(result, flag))


def _tile_uri(name: str, place: GlyphPlace | None) -> str | None:
    if place is None:
        return None
    try:
        tile = project().images.glyph(name, place)
    except (GoneImageError, NoPieceError):
        return None
    return data_uri(tile.data)


def _tile(name: str, place: GlyphPlace) -> Response:
    return image_answer(project().images.glyph(name, place, request.if_none_match), CACHE_CONTROL)
