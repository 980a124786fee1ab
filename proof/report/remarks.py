"""Remarks about text files (`proof.text.remarks`) as sentences: all of them, or each kind once."""

from __future__ import annotations

from collections.abc import Iterable

from proof.locale.marking import Say, _
from proof.locale.notices import in_words
from proof.model.notices import MessageCode
from proof.text.remarks import Remark


def sentence(remark: Remark, say: Say) -> str:
    """A remark in the language of `say`: the place, what is odd, and how it was read."""
    where = f"{remark.path}:{remark.line}" if remark.line else str(remark.path)
    return say(_("%(where)s: %(what)s")) % {"where": where, "what": in_words(remark.notice, say)}


def sentences(remarks: Iterable[Remark], say: Say, *, each: bool = False) -> list[str]:
    """The remarks as sentences: each kind once, with its first place and the number of remarks, in the order of first
    occurrence; or all of them (`each`)."""
    kinds: dict[MessageCode, list[Remark]] = {}
    for remark in dict.fromkeys(remarks):
        kinds.setdefault(remark.notice.code, []).append(remark)
    if each:
        return [sentence(remark, say) for alike in kinds.values() for remark in alike]
    return [_once(alike, say) for alike in kinds.values()]


_ALIKE = _("(%(number)s such remarks)")
_ALIKE_IN_FILES = _("(%(number)s such remarks in %(files)s files)")


def _once(alike: list[Remark], say: Say) -> str:
    text = sentence(alike[0], say)
    if len(alike) == 1:
        return text
    files = len({remark.path for remark in alike})
    values = {"number": f"{len(alike):,}", "files": f"{files:,}"}
    return f"{text} {say(_ALIKE if files == 1 else _ALIKE_IN_FILES) % values}"
