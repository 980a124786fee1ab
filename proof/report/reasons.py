"""Findings in words. What is a message for the catalogues is marked `_`; values are filled in after."""

from __future__ import annotations

from collections.abc import Callable

from proof.flags import Flag, Kind
from proof.result import Status

Say = Callable[[str], str]
"""Gives a message in the language of the report."""


def _(message: str) -> str:
    """Marks a message for the catalogues; it is said later, in the language of the report."""
    return message


KINDS = {
    Kind.SUBSTITUTION: _("substitution"),
    Kind.INSERTION: _("insertion"),
    Kind.OMISSION: _("omission"),
    Kind.TRANSPOSITION: _("transposition"),
    Kind.VARIANT: _("variant"),
    Kind.LAYOUT: _("layout"),
}

SENTENCES = {
    Kind.SUBSTITUTION: _("The image reads %(suggested)s, the text has %(transcribed)s."),
    Kind.INSERTION: _("The text has %(transcribed)s; the image shows no such character here."),
    Kind.OMISSION: _("The image shows %(suggested)s here; the text has nothing."),
    Kind.TRANSPOSITION: _("The text has %(transcribed)s; on the image they stand the other way round."),
    Kind.VARIANT: _("The image shows the form %(suggested)s, the text has %(transcribed)s."),
}

READ = {
    Kind.SUBSTITUTION: _("The image reads %(suggested)s (%(best)s); the text's %(transcribed)s gets %(text)s."),
    Kind.VARIANT: _("The image shows the form %(suggested)s (%(best)s); the text's %(transcribed)s gets %(text)s."),
}
"""The same with the recogniser's posteriors, where it gave any."""

STATUSES = {
    Status.CHECKED: _("checked"),
    Status.NO_IMAGE: _("no image"),
    Status.MISMATCH: _("image mismatch"),
    Status.FAILED: _("failed"),
}

REASONS = {
    "column missing": _("A column of the text was not found on the image."),
    "column extra": _("A column of the image is not in the text."),
    "column doubled": _("A column stands twice in the text."),
    "column moved": _("A column stands elsewhere on the image."),
    "column swapped": _("Two columns have changed places."),
    "column lost": _("The text of this column is lost; the image has it."),
    "half-rows swapped": _("The half-rows of a note have changed places."),
    "half-rows mixed": _("The half-rows of a note are mixed up."),
    "wrong image": _("This image belongs to another page."),
    "sequence": _("The sequence of pages is broken here."),
    "layout": _("The layout of the page is not that of ruled columns."),
}


def kind_name(kind: Kind, say: Say) -> str:
    """What a kind of finding is called."""
    return say(KINDS[kind])


def status_name(status: Status, say: Say) -> str:
    """What a page's status is called."""
    return say(STATUSES[status])


def why(flag: Flag, say: Say) -> str:
    """Why a flag was raised, in a line of words."""
    evidence = flag.evidence
    parts: list[str] = []
    if flag.kind in SENTENCES:
        parts.append(_about_characters(flag, say))
    else:
        reason = REASONS.get(evidence.reason)
        parts.append(say(reason) if reason else _sentence(evidence.reason))
    if evidence.rule:
        parts.append(say(_("Rule: %(rule)s.")) % {"rule": evidence.rule})
    if evidence.ink:
        parts.append(say(_("Ink on the image: %(ink)s.")) % {"ink": evidence.ink})
    if evidence.note:
        parts.append(_sentence(evidence.note))
    return " ".join(parts)


def _about_characters(flag: Flag, say: Say) -> str:
    evidence = flag.evidence
    values = {"transcribed": flag.transcribed, "suggested": flag.suggested}
    if flag.kind in READ and evidence.p_best is not None and evidence.p_text is not None:
        values |= {"best": percent(evidence.p_best), "text": percent(evidence.p_text)}
        return say(READ[flag.kind]) % values
    return say(SENTENCES[flag.kind]) % values


def percent(p: float) -> str:
    """A probability as a reader takes it in: two figures, and no certainty that is none."""
    if p >= 0.9995:
        return "> 99.9%"
    if p < 0.0005:
        return "< 0.1%"
    return f"{100 * p:.0f}%" if 0.1 <= p < 0.99 else f"{100 * p:.1f}%"


def _sentence(words: str) -> str:
    words = words.strip()
    words = words[:1].upper() + words[1:]
    return words if not words or words[-1] in ".!?。！？" else words + "."
