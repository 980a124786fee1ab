"""What decisions rest on: the image, a witness, or a way of reasoning, as collation notes name it (據影像改)."""

from __future__ import annotations

from collections.abc import Mapping
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
    copies = copies_read(flag.evidence)
    witness = next((copy["siglum"] for copy in copies if copy["reading"] == reading), "")
    return witness if witness and not (of_image and reading in _of_image(flag)) else IMAGE if of_image else ""


def shows_copy(reason: str, *, imaged: bool) -> bool:
    """Whether an image shows what the copy reads at a flag: that of its page, or the one from which it was raised."""
    return imaged or reason not in WITHOUT_IMAGE


def witnesses_of(decision: Decision) -> dict[str, str]:
    """The sigla of the witnesses that a decision knows, with their full names, empty where none was given: those of its
    flag, and that on which it rested about another text, if it was carried. Other readers of the image are none."""
    known = {witness["siglum"]: witness.get("name", "") for witness in copies_read(decision.evidence)}
    carried = decision.evidence.get(CARRIED, {})
    return known | ({decision.authority: carried["witness"]} if "witness" in carried else {})


def copies_read(evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the witnesses of a flag with this evidence read there, without other readers of the image: these are no
    copies of the text, and nothing rests on them."""
    witnesses: list[dict[str, Any]] = evidence.get("witnesses", [])
    return [witness for witness in witnesses if not witness["siglum"].startswith(READER)]


def seen_at(flag: FlagRow) -> frozenset[str]:
    """The readings that people are shown at a flag."""
    return _of_image(flag) | {witness["reading"] for witness in flag.evidence.get("witnesses", [])}


def _of_image(flag: FlagRow) -> frozenset[str]:
    alternatives: list[tuple[str, float]] = flag.evidence.get("alternatives", [])
    return frozenset({flag.suggested, *(text for text, _ in alternatives)})
