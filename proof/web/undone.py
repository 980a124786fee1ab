"""What was taken back or done again, as the API answers it and in words."""

from __future__ import annotations

from proof.store.acts import Undone
from proof.store.decisions import Decision, State
from proof.store.marks import PageEvent
from proof.web import schemas
from proof.web.language import say
from proof.web.messages import PAGE_STATES, SCRIPT, STATES, UNDONE


def undone_of(undone: Undone) -> schemas.UndoneOut:
    """An act that was taken back or done again, as the API shows it."""
    rule, page = undone.rule, undone.page
    return schemas.UndoneOut(
        what=undone.what,
        again=undone.again,
        told=say(UNDONE["again" if undone.again else "back"]) % {"what": _words(undone)},
        decisions=[schemas.decision_of(one) for one in undone.decisions],
        rule=schemas.RuleChangeOut(text=rule.transcribed, image=rule.suggested, holds=rule.holds) if rule else None,
        page=event_of(page) if page else None,
        repeated=undone.repeated,
    )


def event_of(event: PageEvent) -> schemas.PageEventOut:
    """What was said of a page, as the API shows it."""
    return schemas.PageEventOut(**{name: getattr(event, name) for name in schemas.PageEventOut.model_fields})


def _words(undone: Undone) -> str:
    """The act that was taken back or done again."""
    if undone.rule is not None:
        made = undone.rule.holds is undone.again
        values = {"text": undone.rule.transcribed or "∅", "reading": undone.rule.suggested or "∅"}
        return say(UNDONE["rule" if made else "lifted"]) % values
    if undone.page is not None:
        state = undone.page.state if undone.again else undone.was
        return say(UNDONE["page"]) % {"page": undone.name, "state": say(PAGE_STATES[state.value])}
    first = undone.decisions[0]
    said = _decided(first, undone.again)
    if len(undone.decisions) > 1:
        return say(UNDONE["many"]) % {"num": len(undone.decisions), "what": said}
    column = say(SCRIPT["column"]) % {"number": first.line}
    return " · ".join([said, first.page, *([column] if first.line else [])])


def _decided(event: Decision, again: bool) -> str:
    """What stands after an event that does something again, or stood before one that takes it back."""
    state, reading = (event.state, event.reading) if again else (event.was_state, event.was)
    if state is not State.CORRECTED:
        return f"{event.transcribed} · {say(STATES[state.value])}" if event.transcribed else say(STATES[state.value])
    if not reading:
        return say(SCRIPT["deletes"]) % {"text": event.transcribed}
    if not event.transcribed:
        return say(SCRIPT["inserts"]) % {"reading": reading}
    return say(SCRIPT["corrects"]) % {"text": event.transcribed, "reading": reading}
