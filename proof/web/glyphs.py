"""The API for the glyphs of all occurrences of a character: listing them by likeness, and correcting many at once."""

from __future__ import annotations

from collections.abc import Sequence

from flask import Response
from flask_openapi3.models.tag import Tag

from proof.store import Store
from proof.store.decision_records import Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.text.components import made_of
from proof.web import answers, schemas
from proof.web.answers import ListOf
from proof.web.api import answer, api_blueprint, decision_or_conflict, part_of
from proof.web.glyph_orders import OrderedOccurrences, Place
from proof.web.glyph_tiles import character_tile_uri
from proof.web.people import person
from proof.web.project import project

SUGGESTED_CHARACTERS = 5
"""Maximum number of encoded characters that are suggested for an unencoded one."""

UNUSUAL_GLYPHS = 6
"""Maximum number of glyphs that are shown of an unencoded character."""

GLYPHS = Tag(name="glyphs", description="The glyphs of a character, and unencoded characters")
glyphs = api_blueprint("glyphs", GLYPHS)


@glyphs.get("/works/<string:work>/glyphs", responses={200: answers.GlyphsOut})
def glyph_occurrences(path: schemas.WorkPath, query: schemas.GlyphsQuery) -> Response:
    """List the occurrences of a character in the order of the likeness of their glyphs."""
    store = project().store
    ordered = project().glyphs.of(path.work, query.text, query.against, query.part)
    occurrences = ordered.occurrences
    order = ordered.order if query.order == "unlike" else ordered.order[::-1]
    listed, following = part_of(order.tolist(), query.cursor, query.limit)
    return answer(
        answers.GlyphsOut(
            items=_items(store, path.work, ordered, listed, tiles=query.tiles),
            next=following,
            total=occurrences.total,
            compared=len(occurrences),
            part=occurrences.part,
            parts=occurrences.parts,
        )
    )


@glyphs.get("/components", responses={200: answers.ComposedCharactersOut})
def composed_characters(query: schemas.PartsQuery) -> Response:
    """Find characters by their components, or by an ideographic description."""
    return answer(answers.ComposedCharactersOut(items=made_of(query.parts)))


@glyphs.get("/works/<string:work>/unencoded", responses={200: ListOf[answers.UnencodedCharacterOut]})
def unencoded_characters(path: schemas.WorkPath) -> Response:
    """List the entities, descriptions and placeholders for unencoded characters in a work."""
    return answer(ListOf[answers.UnencodedCharacterOut](items=unencoded_of(path.work)))


def unencoded_of(work: str) -> list[answers.UnencodedCharacterOut]:
    """The unencoded characters of a work, the most frequent first."""
    counted = project().store.glyphs.unencoded(work)
    return [
        answers.UnencodedCharacterOut(text=text, count=count, made_of=made_of(text, SUGGESTED_CHARACTERS))
        for text, count in counted
    ]


def unusual_glyphs(work: str, text: str) -> list[answers.GlyphOut]:
    """The occurrences of a character with the most unusual shapes, each with its tile."""
    ordered = project().glyphs.of(work, text, "", 0)
    return _items(project().store, work, ordered, ordered.order[:UNUSUAL_GLYPHS].tolist(), tiles=True)


def _items(
    store: Store, work: str, ordered: OrderedOccurrences, indices: Sequence[int], *, tiles: bool
) -> list[answers.GlyphOut]:
    """The occurrences with these indices, with their flags and, with `tiles`, their image tiles."""
    occurrences = ordered.occurrences
    places = [
        (int(occurrences.pages[n]), int(occurrences.glyphs["line"][n]), int(occurrences.glyphs["offset"][n]))
        for n in indices
    ]
    listed = store.queue.listed(work, [page for page, _line, _offset in places])
    states = store.glyphs.states(places)
    if tiles:
        image_shas = {page: entry.image_sha for page, entry in listed.items() if entry.image_sha}
        _cut_tiles(store, ordered, {place: image_shas[place[0]] for place in places if place[0] in image_shas})
    items = []
    for n, place in zip(indices, places, strict=True):
        page, line, offset = place
        if page not in listed:  # the page is no longer in the work
            continue
        state = states.get(place)
        items.append(
            answers.GlyphOut(
                page=page,
                name=listed[page].page,
                line=line,
                offset=offset,
                length=int(occurrences.glyphs["length"][n]),
                image=listed[page].image_sha,
                unlike=round(float(ordered.unlike[n]), 3),
                flag=state.flag if state else None,
                state=state.state if state else None,
                reading=state.reading if state else "",
                tile=ordered.tiles.get(place) if tiles else None,
            )
        )
    return items


def _cut_tiles(store: Store, ordered: OrderedOccurrences, image_shas: dict[Place, str]) -> None:
    """Cut the tiles that `ordered.tiles` still lacks. `image_shas` has the hash of the image for each place."""
    with ordered.cutting:
        missing = [place for place in image_shas if place not in ordered.tiles]
        results = store.queue.results(sorted({page for page, _line, _offset in missing})) if missing else {}
        for place in missing:
            page, line, offset = place
            if page in results:
                ordered.tiles[place] = character_tile_uri(image_shas[place], results[page], line, offset)


@glyphs.post(
    "/works/<string:work>/glyphs/corrections",
    responses={200: ListOf[answers.GlyphOutcomeOut], 428: answers.UnconfirmedReadingOut},
)
def correct_glyphs(path: schemas.WorkPath, body: schemas.GlyphCorrectionsBody) -> Response:
    """Correct several occurrences of a character at once.

    At places with a flag this decides on the flag. Places that somebody else has decided meanwhile are left as they
    are."""
    shared = {"work": path.work, "person": person(), **body.model_dump(exclude={"places", "delete"})}
    shared["verdict"] = Verdict.DELETE if body.delete else Verdict.TYPED
    corrections = [
        ManualCorrection(length=len(place.transcribed), **place.model_dump(), **shared) for place in body.places
    ]
    outcomes = project().store.manual_corrections.correct_glyphs(corrections)
    items = [
        answers.GlyphOutcomeOut(page=place.page, line=place.line, offset=place.offset, **decision_or_conflict(outcome))
        for place, outcome in zip(body.places, outcomes, strict=True)
    ]
    return answer(ListOf[answers.GlyphOutcomeOut](items=items))
