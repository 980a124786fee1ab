"""A correction as a flag suggests it, accepted."""

from __future__ import annotations

from proof.exports.corrections import Correction
from proof.model.flags import Flag


def accepted(flag: Flag) -> Correction:
    """The correction that takes what a flag suggests."""
    return Correction(
        page=flag.page,
        line=flag.line,
        offset=flag.offset,
        length=flag.length,
        replacement=flag.suggested,
        original=flag.transcribed,
        context=flag.context,
        kind=flag.kind,
        ref=flag.ref,
        flag=flag.id,
    )
