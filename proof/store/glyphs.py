"""The glyphs of a work by character: the place and the shape of each occurrence, packed into some 220 bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, or_, select, tuple_

from proof.model.flags import Origin
from proof.model.result import CheckedCharacter
from proof.store.decision_records import State
from proof.store.double_readings import own_states
from proof.store.lookup import StorePart, find_work, work_id_subquery
from proof.store.models import FlagRow, GlyphRow, PageRow
from proof.store.seeded_errors import BY_HAND, IS_SEEDED
from proof.text.components import LACUNAS, is_unencoded

Shapes = NDArray[np.int8]
"""The shapes of glyphs (glyphs × `SHAPE_LENGTH`), as `proof.layout.glyph_shapes` computes them."""

GlyphsByCharacter = tuple[tuple[str, int, bytes], ...]
"""For each character of a page: the character, the number of its glyphs, and the glyphs as bytes of `OCCURRENCE`."""

SHAPE_LENGTH = 200
"""Number of values of a shape."""

MAX_NOTATION_LENGTH = 64
"""Code points of the longest notation of one character (such as an entity) whose glyphs are kept."""

OCCURRENCES_PER_PART = 20_000
"""Number of occurrences that are compared at once. Those of a more frequent character are divided into parts of about
this size, each with pages from the whole work."""

OCCURRENCE = np.dtype(
    [
        ("line", "<i4"),
        ("offset", "<i4"),
        ("length", "u1"),
        ("posterior", "u1"),
        ("x", "<f4"),
        ("y", "<f4"),
        ("shape", "i1", SHAPE_LENGTH),
    ]
)
"""One packed occurrence: its place in the text, the posterior of the transcribed character (0 to 255), the middle of
its box on the image, and its shape."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Occurrences of a character: `pages` (n) are the numbers of their pages, `glyphs` (n) is an array of `OCCURRENCE`.
    The `total` occurrences in the work are divided into `parts`; these are part `part`, counted from 0."""

    pages: NDArray[np.int64]
    glyphs: NDArray[Any]
    total: int
    part: int
    parts: int

    def __len__(self) -> int:
        return len(self.pages)


@dataclass(frozen=True, slots=True)
class GlyphState:
    """The state of an occurrence: the number and state of its flag, and the decided reading ('' if undecided).
    `by_hand`: the flag is a correction by hand, not of a check."""

    flag: int
    state: State
    reading: str
    by_hand: bool


class Glyphs(StorePart):
    """The glyphs of a store, as `Store.glyphs`."""

    def stamp(self, work: str) -> tuple[int, int]:
        """A value that changes with the glyphs of a work. Raises NoPlaceError."""
        with self._reading() as session:
            stored_work = find_work(session, work)
            return stored_work.id, stored_work.revision

    def known_on(self, image_sha: str) -> bool:
        """Whether the store has the glyphs of a page with this image."""
        query = select(GlyphRow.page_id).join(PageRow, GlyphRow.page_id == PageRow.id)
        with self._reading() as session:
            return session.scalar(query.where(PageRow.image_sha == image_sha).limit(1)) is not None

    def of(self, work: str, text: str, part: int = 0) -> Occurrences:
        """Part number `part` of the occurrences of a character in the checked text of a work; the last part if there
        are fewer."""
        table = GlyphRow.__table__.c  # selecting table columns takes a quarter of the time of selecting attributes
        of_character = (table.work_id == work_id_subquery(work), table.text == text)
        with self._reading() as session:
            total = int(session.scalar(select(func.sum(table.count)).where(*of_character)) or 0)
            parts = max(-(-total // OCCURRENCES_PER_PART), 1)
            part = min(part, parts - 1)
            query = select(table.page_id, table.count, table.data).where(*of_character).order_by(table.page_id)
            if parts > 1:
                query = query.where(table.page_id % parts == part)
            rows = session.execute(query).all()
        pages = np.repeat([row[0] for row in rows], [row[1] for row in rows]).astype(np.int64)
        glyphs = np.frombuffer(b"".join(row[2] for row in rows), dtype=OCCURRENCE)
        return Occurrences(pages, glyphs, total, part, parts)

    def unencoded(self, work: str) -> list[tuple[str, int]]:
        """The names, descriptions and placeholders of unencoded characters in the text of a work, each with its number
        of occurrences, the most frequent first. Raises NoPlaceError."""
        is_description, is_private = func.length(GlyphRow.text) > 1, GlyphRow.text.between("\ue000", "\uf8ff")
        count = func.sum(GlyphRow.count)
        query = select(GlyphRow.text, count).where(or_(is_description, is_private, GlyphRow.text.in_(LACUNAS)))
        with self._reading() as session:
            query = query.where(GlyphRow.work_id == find_work(session, work).id).group_by(GlyphRow.text)
            rows = session.execute(query.order_by(count.desc(), GlyphRow.text))
            return [(text, int(number)) for text, number in rows if is_unencoded(text)]

    def occurrences(self, work: str, texts: Collection[str], omitted: str = "") -> dict[str, int]:
        """The number of glyphs of each of these characters in a work, without those on the page with the id
        `omitted`."""
        query = select(func.sum(GlyphRow.count)).where(GlyphRow.work_id == work_id_subquery(work))
        if omitted:
            query = query.where(GlyphRow.page_id.not_in(select(PageRow.id).where(PageRow.page == omitted)))
        with self._reading() as session:
            return {text: int(session.scalar(query.where(GlyphRow.text == text)) or 0) for text in texts}

    def flagged(self, work: str, text: str, suggested: str) -> set[tuple[int, int, int]]:
        """The places (page, line, offset) where the text has `text` and a check read `suggested` on the image."""
        query = select(FlagRow.page_id, FlagRow.line, FlagRow.offset)
        query = query.where(FlagRow.work_id == work_id_subquery(work))
        query = query.where(FlagRow.stale.is_(False), FlagRow.transcribed == text, FlagRow.suggested == suggested)
        with self._reading() as session:
            rows = session.execute(query.where(FlagRow.origin == Origin.FINDING.value))
            return {(page, line, offset) for page, line, offset in rows}

    def states(self, places: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], GlyphState]:
        """The states of the occurrences at these places (page, line, offset); those without a flag are left out."""
        on_pages = FlagRow.page_id.in_({page for page, _, _ in places})
        query = select(FlagRow).where(tuple_(FlagRow.page_id, FlagRow.line, FlagRow.offset).in_(places), on_pages)
        query = query.where(FlagRow.length == 1, ~IS_SEEDED)
        query = query.where((FlagRow.stale.is_(False) & FlagRow.raised.is_(True)) | BY_HAND)
        state_of: dict[tuple[int, int, int], GlyphState] = {}
        with self._reading() as session:
            own = own_states(session, on_pages)
            for row in session.scalars(query.order_by(FlagRow.id)):
                state, reading, version = own.get(row.id, (row.state, row.reading, row.version))
                by_hand = row.origin == Origin.PERSON.value
                if not by_hand or state != State.OPEN.value:
                    place = (row.page_id, row.line, row.offset)
                    state_of[place] = GlyphState(row.id, State(state), reading if version else "", by_hand)
        return state_of


def glyph_values(page: PageRow, glyphs: GlyphsByCharacter) -> list[dict[str, Any]]:
    """The column values of the rows for the glyphs of a page, one row for each character."""
    place = {"work_id": page.work_id, "page_id": page.id}
    return [{**place, "text": text, "count": count, "data": data} for text, count, data in glyphs]


def by_character(characters: Sequence[CheckedCharacter], shapes: Shapes) -> GlyphsByCharacter:
    """The glyphs of the characters of a page, by character. `shapes` has a row for each of `characters`, all zeros if
    it has no ink."""
    by_text: dict[str, list[int]] = defaultdict(list)
    inked = np.asarray(shapes.any(axis=1))
    for number, character in enumerate(characters):
        if inked[number] and not character.text.isspace() and len(character.text) <= MAX_NOTATION_LENGTH:
            by_text[character.text].append(number)
    if not by_text:
        return ()
    # packed all at once, grouped by character, since packing each character separately is much slower
    grouped = [number for numbers in by_text.values() for number in numbers]
    data = _packed(characters, shapes)[grouped].tobytes()
    groups, start = [], 0
    for text, numbers in by_text.items():
        end = start + len(numbers) * OCCURRENCE.itemsize
        groups.append((text, len(numbers), data[start:end]))
        start = end
    return tuple(groups)


def _packed(characters: Sequence[CheckedCharacter], shapes: Shapes) -> NDArray[Any]:
    """The characters as an array of `OCCURRENCE`."""
    packed = np.zeros(len(characters), dtype=OCCURRENCE)
    packed["line"] = [character.line for character in characters]
    packed["offset"] = [character.offset for character in characters]
    packed["length"] = [min(character.length, 255) for character in characters]
    packed["posterior"] = [round(255 * (character.p_text or 0.0)) for character in characters]
    centres = np.array([character.box.centre for character in characters])
    packed["x"], packed["y"] = centres[:, 0], centres[:, 1]
    packed["shape"] = shapes
    return packed


def kept_shapes(kept: Sequence[bytes], characters: Sequence[CheckedCharacter]) -> Shapes:
    """The shape of each character: that of the glyph at the same place of the image among the `kept` ones (bytes of
    `OCCURRENCE`) of an earlier check, zeros if there is none."""
    glyphs = np.frombuffer(b"".join(kept), dtype=OCCURRENCE)
    places = zip(np.rint(glyphs["x"]).tolist(), np.rint(glyphs["y"]).tolist(), strict=True)
    index_at = {place: index for index, place in enumerate(places)}
    shapes = np.zeros((len(characters), SHAPE_LENGTH), np.int8)
    for number, character in enumerate(characters):
        x, y = character.box.centre
        index = index_at.get((round(x), round(y)))
        if index is not None:
            shapes[number] = glyphs["shape"][index]
    return shapes
