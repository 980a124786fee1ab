"""Writes the suggestions of a check in those forms of characters that the text uses (only 于 for 於)."""

from __future__ import annotations

from dataclasses import replace

from proof.checking.executor import CheckedPage
from proof.model.flags import Flag, Kind, is_about_moved_text
from proof.text.variants import VariantPolicy

READ_ON_IMAGE = (Kind.SUBSTITUTION, Kind.OMISSION, Kind.LAYOUT)
"""Kinds of flags whose suggestions are written into the text as they are read on the image."""


def spelled(page: CheckedPage, policy: VariantPolicy) -> CheckedPage:
    """A checked page with its suggestions as its text writes them. Where the text uses several forms of a character or
    none of them, the likeliest is suggested, and the others are in the evidence. The text's own characters, such as
    those of a column that moved, do not change, nor does a result that came from the store."""
    if page.reused:
        return page
    by_id = {flag.id: flag for flag in page.result.flags}

    def of_text(flag: Flag) -> Flag:
        if flag.kind not in READ_ON_IMAGE or is_about_moved_text(flag, by_id.get(flag.moved)):
            return flag
        return flag.spelled(policy.spellings(page.task.text.text, flag.suggested, flag.transcribed))

    return replace(page, result=replace(page.result, flags=tuple(map(of_text, page.result.flags))))
