"""Notices in words, in the language of the reader."""

from __future__ import annotations

from typing import Any

from proof.locale import marking
from proof.locale.marking import Say, _
from proof.model.notices import Notice, NoticeCode, Value


def in_words(notice: Notice, say: Say) -> str:
    """A notice in the language of `say`."""
    values = {name: _value(value, say) for name, value in notice.values}
    message = notice.message if notice.code is NoticeCode.AS_TOLD else say(notice.message)
    what = message % values
    if not notice.code.done:
        return what
    return say(_("%(what)s; %(done)s")) % {"what": what, "done": say(notice.code.done) % values}


def _value(value: Value, say: Say) -> object:
    return in_words(value, say) if isinstance(value, Notice) else marking.in_words(value, say)


def in_english(notice: Notice) -> str:
    """A notice in English, for files, logs and other programs."""
    return in_words(notice, str)


def as_record(notice: Notice) -> dict[str, Any]:
    """A notice as JSON for other programs: its `text` in English, its `code` and its `values`."""
    return {"text": in_english(notice), **notice.as_json()}
