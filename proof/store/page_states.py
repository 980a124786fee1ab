"""States of pages, from not proofread to validated by a second person; a change of the text ends proofreading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.carried_places import Place
from proof.store.decision_records import NotYoursError, RefusedDecisionError
from proof.store.events import answered, changes_since, standing
from proof.store.lookup import PageConflictError, StorePart, batches, filled, find_page, find_work_id
from proof.store.models import FlagRow, PageEventRow, PageRow
from proof.store.rows import PagePlace
from proof.store.seeded_errors import IS_SEEDED
from proof.store.texts import checked_place, contents, find_version, place_of
from proof.store.typed_text import check_note
from proof.text.edit import edited, merged
from proof.text.lines import LINE_ENDING
from proof.text.positions import Span


class PageState(StrEnum):
    """The state of a page. A page is validated by another person than the one who proofread it."""

    NOT_PROOFREAD = "not proofread"
    PROOFREAD = "proofread"
    VALIDATED = "validated"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class PageEvent:
    """A change of the state of a page; `back`: by undo or redo."""

    page: int
    version: int
    state: PageState
    person: str
    at: datetime
    note: str
    back: bool = False


STATES_OF_TEXT = frozenset({PageState.PROOFREAD, PageState.VALIDATED})
"""States that are valid for the text that the person saw, and end when the text is changed."""


class PageStanding(NamedTuple):
    """The state of a page after `version` events. `given_state` is the state that `person` set by the valid event,
    whose number is `event` ("" and 0 if all events were undone). `changed`: the text was changed after that event."""

    given_state: PageState = PageState.NOT_PROOFREAD
    version: int = 0
    changed: bool = False
    event: int = 0
    person: str = ""

    @property
    def state(self) -> PageState:
        """The present state of the page: `given_state`, or not proofread if the text was changed."""
        return PageState.NOT_PROOFREAD if self.changed else self.given_state


class PageStates(StorePart):
    """States of pages; `Store.page_states` is one."""

    def history(self, work: str, page: int) -> list[PageEvent]:
        """The events of a page, oldest first. Raises NoPlaceError."""
        with self._reading() as session:
            row = find_page(session, work, page)
            query = select(PageEventRow).where(PageEventRow.page_id == row.id).order_by(PageEventRow.version)
            return [page_event(event) for event in session.scalars(query)]

    def set_by(self, work: str, page: int) -> str:
        """The person who set the state of a page; empty if nobody did, or if the text was changed since. Raises
        NoPlaceError."""
        with self._reading() as session:
            standing_now = page_states(session, [find_page(session, work, page).id])[page]
            return "" if standing_now.changed else standing_now.person

    def of_work(self, work: str) -> dict[str, PageState]:
        """The states of the pages of a work that have events, by the ids of the pages. Raises NoPlaceError."""
        with self._reading() as session:
            of_work = _of_work(session, work)
            page_ids = dict(session.execute(select(PageRow.id, PageRow.page).where(*of_work)).all())
            return {page_ids[number]: of_page.state for number, of_page in standings(session, *of_work).items()}

    def by_person(self, work: str) -> tuple[dict[str, int], dict[str, int]]:
        """The number of pages of a work that each person proofread, and that each validated, by their present states.
        A validated page also counts for the person who last proofread it. Raises NoPlaceError."""
        proofread: Counter[str] = Counter()
        validated: Counter[str] = Counter()
        with self._reading() as session:
            for _page, events in _events_by_page(session, *_of_work(session, work)):
                of_page = _standing_of(events)
                if of_page.state is PageState.VALIDATED:
                    validated[of_page.person] += 1
                    proofread[_last_proofreader(events) or of_page.person] += 1
                elif of_page.state is PageState.PROOFREAD:
                    proofread[of_page.person] += 1
        return dict(proofread.most_common()), dict(validated.most_common())

    def set(
        self,
        work: str,
        page: int,
        state: PageState,
        version: int,
        person: str,
        key: str,
        note: str = "",
        *,
        overrules: bool = True,
    ) -> PageEvent:
        """Set the state of a page, seen at `version`; `key` is that of the request.

        Raises NoPlaceError; PageConflictError if the page has a later version; RefusedDecisionError if a person
        validates a page that they proofread; NotYoursError for taking back the state that another person set, unless
        `person` overrules others."""
        check_note(note)
        with self._writing() as session:
            row = find_page(session, work, page, locked=True)
            values = {"page_id": page, "state": state.value, "person": person, "note": note}
            repeated = answered(session, PageEventRow, key, **values, about=None)
            if repeated is not None:
                return page_event(repeated)
            before = page_states(session, [page])[page]
            if before.version != version:
                raise _conflict(session, row)
            _check_allowed(row.page, before, state, person, overrules=overrules)
            event = PageEventRow(work_id=row.work_id, version=version + 1, key=key, **values)
            session.add(event)
            session.flush()
            return page_event(event)


def _check_allowed(page: str, before: PageStanding, state: PageState, person: str, *, overrules: bool) -> None:
    """Raise RefusedDecisionError or NotYoursError if `person` may not set `state` on the page, which is as `before`."""
    by_another = before.person not in ("", person) and not before.changed
    is_proofread = before.state is PageState.PROOFREAD
    if state is PageState.VALIDATED and is_proofread and before.person == person:
        raise RefusedDecisionError(_("%(page)s: you proofread this page; someone else must validate it"), page=page)
    if state is PageState.VALIDATED and not (is_proofread and by_another):
        raise RefusedDecisionError(_("%(page)s: a second person validates a page that was proofread"), page=page)
    if state is PageState.PROOFREAD and is_proofread and by_another:
        raise RefusedDecisionError(
            _("%(page)s: %(person)s proofread it already; say that it is validated"), page=page, person=before.person
        )
    if not overrules and by_another and _takes_back(before.state, state):
        raise NotYoursError(
            _("%(page)s: %(person)s said it is %(state)s; they or an administrator take it back"),
            page=page,
            person=before.person,
            state=before.state,
        )


EventRows = Sequence[Row[*tuple[Any, ...]]]
"""The events of one page, oldest first: columns of `PageEventRow`, and `PageRow.changed_after`."""


def standings_in(session: Session, work: str) -> dict[int, PageStanding]:
    """The standings of the pages of a work that have events, by page number. Raises NoPlaceError."""
    return standings(session, *_of_work(session, work))


def _of_work(session: Session, work: str) -> tuple[ColumnElement[bool], ...]:
    """The conditions that select the pages of a work. Raises NoPlaceError."""
    return PageRow.work_id == find_work_id(session, work), PageRow.absent.is_(False)


def standings(session: Session, *which: ColumnElement[bool]) -> dict[int, PageStanding]:
    """The standings of the pages that meet the conditions `which` and have events, by page number."""
    return {page: _standing_of(events) for page, events in _events_by_page(session, *which)}


def _events_by_page(session: Session, *which: ColumnElement[bool]) -> Iterator[tuple[int, EventRows]]:
    """The pages that meet the conditions `which` and have events: their numbers and events, oldest first."""
    columns = (PageEventRow.page_id, PageEventRow.id, PageEventRow.about, PageEventRow.person, PageEventRow.state)
    query = select(*columns, PageRow.changed_after).join(PageRow, PageRow.id == PageEventRow.page_id)
    rows = session.execute(query.where(*which).order_by(PageEventRow.page_id, PageEventRow.version))
    for page, events in groupby(rows, attrgetter("page_id")):
        yield page, list(events)


def _standing_of(page_events: EventRows) -> PageStanding:
    """The standing of the page with these events."""
    state, version = PageState(page_events[-1].state), len(page_events)
    number = standing(page_events)
    if not number:  # all events were undone
        return PageStanding(state, version)
    valid = page_events[number - 1]
    is_changed = state in STATES_OF_TEXT and number <= valid.changed_after
    return PageStanding(state, version, is_changed, valid.id, valid.person)


def _last_proofreader(page_events: EventRows) -> str:
    """The person who last proofread the page with these events, without undone events; empty if nobody did."""
    changes = reversed(changes_since(page_events, 0))
    return next((event.person for event in changes if event.state == PageState.PROOFREAD.value), "")


def page_states(session: Session, pages: Sequence[int]) -> dict[int, PageStanding]:
    """The standing of each of these pages, by page number."""
    states = dict.fromkeys(pages, PageStanding())
    for numbers in batches(pages):
        states |= standings(session, PageEventRow.page_id.in_(numbers))
    return states


def note_text_changed(session: Session, pages: Sequence[PageRow]) -> None:
    """Record that the text of pages was changed after the last of their events."""
    for page, of_page in page_states(session, [page.id for page in pages]).items():
        session.get_one(PageRow, page).changed_after = of_page.version


def _conflict(session: Session, page: PageRow) -> PageConflictError:
    """The error for a page that has later events than the person saw."""
    events = select(PageEventRow).where(PageEventRow.page_id == page.id).order_by(PageEventRow.version.desc())
    last = session.scalars(events).first()
    if last is None:
        return PageConflictError(_("%(page)s: nothing was said of it yet; look at the page again"), page=page.page)
    return PageConflictError(
        _("%(page)s: changed in the meantime (%(person)s said: %(state)s); look at the page again"),
        page=page.page,
        person=last.person,
        state=PageState(last.state),
    )


def _takes_back(last: PageState, state: PageState) -> bool:
    """Whether `state` takes back the proofreading or validation of `last`. Marking a problem never does."""
    steps = (PageState.NOT_PROOFREAD, PageState.PROOFREAD, PageState.VALIDATED)
    return state in steps and last in steps and steps.index(state) < steps.index(last)


def page_event(row: PageEventRow) -> PageEvent:
    """The event in a row."""
    return filled(PageEvent, row, page=row.page_id, state=PageState(row.state), back=row.about is not None)


def note_changed_texts(session: Session, pages: Sequence[tuple[PageRow, PagePlace]]) -> None:
    """Record a text change on each of `pages` whose new columns differ from the stored ones by more than decisions. To
    be called before the new places of the pages are saved."""
    content = contents(session)
    changed: list[PageRow] = []
    for page, place in pages:
        version = find_version(session, place.text, place.sha)
        if version is None or page.version_id in (None, version.id) or not (page.lines and place.lines):
            continue
        old, new = content(page.version_id), content(version.id)
        if _as_transcribed(old, page.spans, ()) == _as_transcribed(new, place.lines, ()):
            continue
        decided = select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.version > 0, FlagRow.line > 0, ~IS_SEEDED)
        flags = session.scalars(decided.where(FlagRow.version_id == version.id)).all()
        flags = sorted(flags, key=lambda flag: (flag.start, flag.extent, flag.former))
        before = _as_transcribed(old, page.spans, (checked_place(page, flag, old) for flag in flags))
        if before != _as_transcribed(new, place.lines, map(place_of, flags)):
            changed.append(page)
    note_text_changed(session, changed)


def _as_transcribed(content: str, columns: Mapping[int, Span], places: Iterable[Place]) -> str:
    """The columns of a page in a content of its text, with the transcribed characters at decided places."""
    text = edited(
        content, merged(place.edit(content, place.transcribed) for place in places if place.reads != place.transcribed)
    )
    end = max(span.end for span in columns.values())
    ending = LINE_ENDING.match(content, end)
    behind = len(content) - (ending.end() if ending is not None else end)
    return text[min(span.start for span in columns.values()) : len(text) - behind]
