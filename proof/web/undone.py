"""The result of an undo or a redo, for the API and in words."""

from __future__ import annotations

from collections.abc import Sequence

from proof.store.acts import Undone
from proof.store.decision_records import Decision, State
from proof.web import answers
from proof.web.language import say
from proof.web.messages import PAGE_STATES, SCRIPT, STATES, UNDONE


def undone_of(undone: Undone) -> answers.UndoneOut:
    """An undone or redone act for the API."""
    return answers.UndoneOut(
        what=undone.what,
        again=undone.is_redo,
        told=say(UNDONE["again" if undone.is_redo else "back"]) % {"what": _words(undone)},
        decisions=[answers.DecisionOut(decision) for decision in undone.decisions],
        rule=answers.RuleChangeOut(undone.rule) if undone.rule else None,
        page=answers.PageEventOut(undone.page) if undone.page else None,
        laid_out=undone.page_to_read,
        repeated=undone.repeated,
    )


def _words(undone: Undone) -> str:
    """An undone or redone act in words."""
    if undone.rule is not None:
        made = undone.rule.holds is undone.is_redo
        values = {"text": undone.rule.text or "∅", "reading": undone.rule.image or "∅"}
        return say(UNDONE["rule" if made else "lifted"]) % values
    if undone.page is not None:
        state = undone.page.state if undone.is_redo else undone.was
        return say(UNDONE["page"]) % {"page": undone.name, "state": say(PAGE_STATES[state.value])}
    if undone.page_to_read is not None:
        return say(UNDONE["layout"]) % {"page": undone.name}
    first = undone.decisions[0]
    if _of_one_question(undone.decisions):
        return " · ".join([_moved(undone.decisions, undone.is_redo), first.page, _columns(undone.decisions)])
    words = _decided(first, undone.is_redo)
    if len(undone.decisions) > 1:
        return say(UNDONE["many"]) % {"num": len(undone.decisions), "what": words}
    column = say(SCRIPT["column"]) % {"number": first.line}
    return " · ".join([words, first.page, *([column] if first.line else [])])


def _of_one_question(events: Sequence[Decision]) -> bool:
    """Whether these are the decisions on the two halves of a character that moved."""
    if len(events) != 2 or events[0].verdict is not events[1].verdict or events[0].kind == events[1].kind:
        return False
    return all(first.evidence.get("moved") == second.uid for first, second in (events, events[::-1]))


def _moved(events: Sequence[Decision], again: bool) -> str:
    text = "".join(event.transcribed for event in events)
    state = events[0].state if again else events[0].was_state
    if state is State.CORRECTED:
        return say(SCRIPT["moves"]) % {"text": text}
    return f"{text} · {say(STATES[state.value])}"


def _columns(events: Sequence[Decision]) -> str:
    """The column in the text, then that on the image; one column if both are the same."""
    lines = [event.line for event in sorted(events, key=lambda event: not event.transcribed)]
    return say(SCRIPT["column"]) % {"number": " → ".join(map(str, dict.fromkeys(lines)))}


def _decided(event: Decision, again: bool) -> str:
    """The decision that was redone or undone, in words."""
    state, reading = (event.state, event.reading) if again else (event.was_state, event.was)
    if state is not State.CORRECTED:
        return f"{event.transcribed} · {say(STATES[state.value])}" if event.transcribed else say(STATES[state.value])
    if not reading:
        return say(SCRIPT["deletes"]) % {"text": event.transcribed}
    if not event.transcribed:
        return say(SCRIPT["inserts"]) % {"reading": reading}
    return say(SCRIPT["corrects"]) % {"text": event.transcribed, "reading": reading}
