"""The authority of a decision, as collation notes name it (據影像改): the image, a witness, or a kind of reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proof.locale.marking import _
from proof.model.flags import READER_SIGN, WITHOUT_IMAGE, Origin
from proof.store.decision_records import Decision, DecisionRequest, RefusedDecisionError, Verdict
from proof.store.models import FlagRow, PageRow

IMAGE = "影像"
"""The image of the page."""

# The kinds of reasoning are those of 陳垣.
OTHER_BOOKS = "他校"
"""Other books that quote the passage."""

SAME_BOOK = "本校"
"""Other passages of the same book."""

REASON = "理校"
"""Reasoning alone."""

REASONED = (OTHER_BOOKS, SAME_BOOK, REASON)

CARRIED = "carried"
"""The key in the evidence of a decision that was carried from another text; its value describes that decision."""

_WITHOUT_AUTHORITY = frozenset({Verdict.KEEP, Verdict.UNSURE, Verdict.SKIP, Verdict.UNDO, Verdict.REDO})
"""Verdicts that have no authority unless their request names one."""


def authority_of(request: DecisionRequest, flag: FlagRow, page: PageRow) -> str:
    """The authority of a decision: the one that its request names, else one derived from its flag.

    A `COPY` rests on the image. Other decisions rest on the first witness with the decided reading, if the image does
    not suggest that reading too, or the flag was raised without the image, or the page has none; else on the image, if
    there is one ('' otherwise). A deletion rests on the image only where a check found that it lacks the characters.
    Raises RefusedDecisionError for a `COPY` without an authority that no image supports.
    """
    if request.authority or request.verdict in _WITHOUT_AUTHORITY:
        return request.authority
    if request.verdict is Verdict.COPY:
        if not shows_copy(flag.reason, has_image=page.image is not None):
            raise RefusedDecisionError(
                _("no image shows that the copy reads so: say what the decision rests on, or `keep` the text")
            )
        return IMAGE if page.image is not None else ""
    reading = flag.suggested if request.verdict is Verdict.TAKE else request.reading
    from_image = page.image is not None and flag.reason not in WITHOUT_IMAGE
    if from_image and reading in _image_readings(flag):
        return IMAGE
    is_suggested = reading in (flag.suggested, *flag.evidence.get("spellings", ()))
    witness = next(
        (
            copy["siglum"]
            for copy in copies_read(flag.evidence)
            if copy["reading"] == reading or (is_suggested and copy["side"] == "image")
        ),
        "",
    )
    return witness or (IMAGE if from_image and reading else "")


def shows_copy(reason: str, *, has_image: bool) -> bool:
    """Whether an image shows the reading of the copy at a flag: that of its page, or one from which the flag was
    raised."""
    return has_image or reason not in WITHOUT_IMAGE


def witnesses_of(decision: Decision) -> dict[str, str]:
    """The names ('' if unknown) of the witnesses of a decision, by siglum: those of its flag and, if it was carried,
    the witness on which the decision on the other text rested. Other readers of the image are no witnesses."""
    name_of = {witness["siglum"]: witness.get("name", "") for witness in copies_read(decision.evidence)}
    carried = decision.evidence.get(CARRIED, {})
    if "witness" in carried:
        name_of[decision.authority] = carried["witness"]
    return name_of


def copies_read(evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The readings of the witnesses in the evidence of a flag, without other readers of the image: these are no copies
    of the text, and no decision rests on them."""
    witnesses: list[dict[str, Any]] = evidence.get("witnesses", [])
    return [witness for witness in witnesses if not witness["siglum"].startswith(READER_SIGN)]


def seen_at(flag: FlagRow) -> frozenset[str]:
    """The readings that people see at a flag: the suggestion, the alternatives, and those of the witnesses."""
    return _image_readings(flag) | {witness["reading"] for witness in flag.evidence.get("witnesses", [])}


def _image_readings(flag: FlagRow) -> frozenset[str]:
    """The readings of the image: the suggestion, in whatever spelling, and the alternatives of a check. What a person
    says is none of them."""
    if flag.origin == Origin.PERSON.value:
        return frozenset()
    alternatives: list[tuple[str, float]] = flag.evidence.get("alternatives", [])
    return frozenset({flag.suggested, *flag.evidence.get("spellings", ()), *(text for text, _ in alternatives)})
