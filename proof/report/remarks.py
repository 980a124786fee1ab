"""Remarks about text files (`proof.text.remarks`) in words."""

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
    """The remarks as sentences, grouped by kind in the order of first occurrence. Without `each`, a kind gives one
    sentence: its first remark, with the number of remarks and files."""
    by_code: dict[MessageCode, list[Remark]] = {}
    for remark in dict.fromkeys(remarks):
        by_code.setdefault(remark.notice.code, []).append(remark)
    if each:
        return [sentence(remark, say) for alike in by_code.values() for remark in alike]
    return [_summarised(alike, say) for alike in by_code.values()]


_ALIKE = _("(%(number)s such remarks)")
_ALIKE_IN_FILES = _("(%(number)s such remarks in %(files)s files)")


def _summarised(alike: list[Remark], say: Say) -> str:
    text = sentence(alike[0], say)
    if len(alike) == 1:
        return text
    files = len({remark.path for remark in alike})
    values = {"number": f"{len(alike):,}", "files": f"{files:,}"}
    return f"{text} {say(_ALIKE if files == 1 else _ALIKE_IN_FILES) % values}"
