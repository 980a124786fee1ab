"""What decisions rest on: the image, a witness, or a way of reasoning, as collation notes name it (據影像改)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proof.locale.marking import _
from proof.model.flags import READER, WITHOUT_IMAGE
from proof.store.decision_records import Decision, DecisionRequest, RefusedDecisionError, Verdict
from proof.store.models import FlagRow, PageRow

IMAGE = "影像"
"""The image of the page."""
# Terms of 陳垣.
OTHER_BOOKS = "他校"
"""Other books that quote the passage."""

SAME_BOOK = "本校"
"""Other passages of the same book."""

REASON = "理校"
"""Reasoning alone."""

REASONED = (OTHER_BOOKS, SAME_BOOK, REASON)

CARRIED = "carried"
"""Where the evidence of a decision has the decision about another text that it was carried from."""

_WITHOUT = frozenset({Verdict.KEEP, Verdict.UNSURE, Verdict.SKIP, Verdict.UNDO, Verdict.REDO})
"""Verdicts that rest on nothing unless their request says so."""


def authority_of(demand: DecisionRequest, flag: FlagRow, page: PageRow) -> str:
    """What a decision rests on: what its request says, else what its flag came from. That is the image where the page
    has one; of a reading that a witness alone has, and of a flag that was raised without the image, the witness. That
    the copy reads so rests on the image alone. Raises RefusedDecisionError if a flag was raised without one, the page
    has none, and the request says nothing."""
    if demand.authority or demand.verdict in _WITHOUT:
        return demand.authority
    if demand.verdict is Verdict.COPY:
        if not shows_copy(flag.reason, imaged=page.image is not None):
            raise RefusedDecisionError(
                _("no image shows that the copy reads so: say what the decision rests on, or `keep` the text")
            )
        return IMAGE if page.image is not None else ""
    reading = demand.reading if demand.verdict in (Verdict.OTHER, Verdict.TYPED, Verdict.RETAIN) else flag.suggested
    of_image = page.image is not None and flag.reason not in WITHOUT_IMAGE
    witness = next((siglum for siglum, has in _witnesses(flag) if has == reading and not siglum.startswith(READER)), "")
    return witness if witness and not (of_image and reading in _of_image(flag)) else IMAGE if of_image else ""


def shows_copy(reason: str, *, imaged: bool) -> bool:
    """Whether an image shows what the copy reads at a flag: that of its page, or the one from which it was raised."""
    return imaged or reason not in WITHOUT_IMAGE


def witnesses_of(decision: Decision) -> dict[str, str]:
    """The sigla of the witnesses that a decision knows, with their full names, empty where none was given: those of its
    flag, and that on which it rested about another text, if it was carried."""
    known = {witness["siglum"]: witness.get("name", "") for witness in decision.evidence.get("witnesses", [])}
    carried = decision.evidence.get(CARRIED, {})
    return known | ({decision.authority: carried["witness"]} if "witness" in carried else {})


def seen_at(flag: FlagRow) -> frozenset[str]:
    """The readings that people are shown at a flag."""
    return _of_image(flag) | {reading for _, reading in _witnesses(flag)}


def _of_image(flag: FlagRow) -> frozenset[str]:
    alternatives: list[tuple[str, float]] = flag.evidence.get("alternatives", [])
    return frozenset({flag.suggested, *(text for text, _ in alternatives)})


def _witnesses(flag: FlagRow) -> Iterator[tuple[str, str]]:
    """The witnesses of a flag, and what they read there."""
    witnesses: list[dict[str, Any]] = flag.evidence.get("witnesses", [])
    yield from ((witness["siglum"], witness["reading"]) for witness in witnesses)
