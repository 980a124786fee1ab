"""A page with two decisions, and the export of pending decisions to its text."""

from __future__ import annotations

from proof.store import Store
from proof.store.carried_places import ExportEdits
from proof.store.text_files import DecidedPlace
from proof.text.edit import edited
from tests.build import PLACE

LINES = ("上射揖坐", "東面于北耦大夫", "與進者相左")
"""The columns of the page."""

FOUND = ((1, 3, "", "揖"), (2, 3, "北", "比"))
"""Its findings: an insertion, and another character for 北."""


def content(store: Store) -> str:
    """The present content of the text."""
    return store.texts.content(PLACE.text)


def decided_places(store: Store) -> list[DecidedPlace]:
    """The decided places of all texts."""
    texts = {path: store.texts.content(path) for path in sorted(store.texts.paths())}
    return [
        decided
        for path, present in texts.items()
        for decided in store.texts.decided_places([path], present, "traditional")
    ]


def decided_readings(store: Store) -> dict[str, tuple[str, bool]]:
    """The decided reading of each place, by transcribed reading, and whether the text has it."""
    places = [decided.flag.place for decided in decided_places(store)]
    return {place.transcribed: (place.decided_reading, place.reads == place.decided_reading) for place in places}


def export(store: Store) -> str:
    """Record the export of all pending decisions; returns the text."""
    before = content(store)
    edits = {
        decided.flag.place.flag: decided.flag.place.edit(before, decided.flag.place.decided_reading)
        for decided in decided_places(store)
        if decided.flag.place.reads != decided.flag.place.decided_reading and decided.flag.present is not None
    }
    after = edited(before, edits.values())
    written = ExportEdits(tuple(edits.values()), {flag: index for index, flag in enumerate(edits)})
    store.texts.record_export(PLACE.text, before, after, "traditional", written, lambda: True)
    return after
