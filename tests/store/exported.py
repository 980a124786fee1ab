"""A page with two decisions, and the export of pending decisions to its text."""

from __future__ import annotations

from proof.store import Store
from proof.store.carried_places import ExportEdits
from proof.text.edit import Edit, edited
from tests.build import PLACE

LINES = ("上射揖坐", "東面于北耦大夫", "與進者相左")
"""The columns of the page."""

FOUND = ((1, 3, "", "揖"), (2, 3, "北", "比"))
"""Its findings: an insertion, and another character for 北."""


def decided_readings(store: Store) -> dict[str, tuple[str, bool]]:
    """The decided reading of each place, by transcribed reading, and whether the text has it."""
    places = [decided.place for decided in store.texts.decided_places("KR1")]
    return {place.transcribed: (place.decided_reading, place.reads == place.decided_reading) for place in places}


def content(store: Store) -> str:
    return store.texts.content_of_version(store.texts.decided_places("KR1")[0].present)


def export(store: Store) -> str:
    """Record the export of all pending decisions; returns the text."""
    before = content(store)
    edits = {
        decided.place.flag: Edit(decided.place.start, decided.place.extent, decided.place.decided_reading)
        for decided in store.texts.decided_places("KR1")
        if decided.place.reads != decided.place.decided_reading and decided.version == decided.present
    }
    after = edited(before, edits.values())
    written = ExportEdits(tuple(edits.values()), edits)
    store.texts.record_export(PLACE.text, before, after, "traditional", written, lambda: True)
    return after
