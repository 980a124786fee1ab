"""The result of an undo or a redo, for the API and in words."""

from __future__ import annotations

from collections.abc import Sequence

from proof.report.reasons import STATES
from proof.store.acts import Undone
from proof.store.decision_records import Decision, State
from proof.web import answers
from proof.web.language import say
from proof.web.messages import PAGE_STATES, SCRIPT_MESSAGES, UNDO_MESSAGES


def undone_of(undone: Undone) -> answers.UndoneOut:
    """An undone or redone act for the API."""
    return answers.UndoneOut(
        what=undone.what,
        redone=undone.is_redo,
        message=say(UNDO_MESSAGES["again" if undone.is_redo else "back"]) % {"what": _words(undone)},
        decisions=list(undone.decisions),
        rule=undone.rule,
        page=undone.page,
        reread_page=undone.page_to_read,
        repeated=undone.repeated,
    )


def _words(undone: Undone) -> str:
    """An undone or redone act in words."""
    if undone.rule is not None:
        was_set = undone.rule.holds is undone.is_redo  # the undone or redone act set the rule
        values = {"text": undone.rule.text or "∅", "reading": undone.rule.image or "∅"}
        return say(UNDO_MESSAGES["rule" if was_set else "lifted"]) % values
    if undone.page is not None:
        state = undone.page.state if undone.is_redo else undone.was
        return say(UNDO_MESSAGES["page"]) % {"page": undone.name, "state": say(PAGE_STATES[state.value])}
    if undone.page_to_read is not None:
        return say(UNDO_MESSAGES["layout"]) % {"page": undone.name}
    first = undone.decisions[0]
    if _are_halves(undone.decisions):
        return " · ".join([_moved_words(undone.decisions, undone.is_redo), first.page, _columns(undone.decisions)])
    words = _decision_words(first, undone.is_redo)
    if len(undone.decisions) > 1:
        return say(UNDO_MESSAGES["many"]) % {"num": len(undone.decisions), "what": words}
    parts = [words, first.page]
    if first.line:
        parts.append(say(SCRIPT_MESSAGES["column"]) % {"number": first.line})
    return " · ".join(parts)


def _are_halves(events: Sequence[Decision]) -> bool:
    """Whether these are the decisions on the two halves of a character that moved."""
    if len(events) != 2 or events[0].verdict is not events[1].verdict or events[0].kind == events[1].kind:
        return False
    first, second = events
    return first.evidence.get("moved") == second.uid and second.evidence.get("moved") == first.uid


def _moved_words(events: Sequence[Decision], again: bool) -> str:
    text = "".join(event.transcribed for event in events)
    state = events[0].state if again else events[0].was_state
    if state is State.CORRECTED:
        return say(SCRIPT_MESSAGES["moves"]) % {"text": text}
    return f"{text} · {say(STATES[state.value])}"


def _columns(events: Sequence[Decision]) -> str:
    """The column in the text and that on the image, or one column if both are the same."""
    lines = [event.line for event in sorted(events, key=lambda event: not event.transcribed)]
    return say(SCRIPT_MESSAGES["column"]) % {"number": " → ".join(map(str, dict.fromkeys(lines)))}


def _decision_words(event: Decision, again: bool) -> str:
    """The decision that was undone or redone (`again`), in words."""
    state, reading = (event.state, event.reading) if again else (event.was_state, event.was)
    if state is not State.CORRECTED:
        state_name = say(STATES[state.value])
        return f"{event.transcribed} · {state_name}" if event.transcribed else state_name
    if not reading:
        return say(SCRIPT_MESSAGES["deletes"]) % {"text": event.transcribed}
    if not event.transcribed:
        return say(SCRIPT_MESSAGES["inserts"]) % {"reading": reading}
    return say(SCRIPT_MESSAGES["corrects"]) % {"text": event.transcribed, "reading": reading}
