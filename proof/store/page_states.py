"""Where pages stand: what people said of each as a whole, from not proofread to validated by a second person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import NotYoursError, RefusedDecisionError
from proof.store.lookup import PageConflictError, page_of
from proof.store.models import PageEventRow, PageRow
from proof.store.request_keys import key_of_another, must_be_own
from proof.store.sessions import StorePart
from proof.store.standing import Event, standing
from proof.store.typed_text import check_note

AT_ONCE = 500


class PageState(StrEnum):
    """Page states as proofreaders know them; a page is validated by another person than who proofread it."""

    NOT_PROOFREAD = "not proofread"
    PROOFREAD = "proofread"
    VALIDATED = "validated"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class PageEvent:
    """What somebody said of a page as a whole; `back`: by taking something back, or doing it again."""

    page: int
    version: int
    state: PageState
    person: str
    at: datetime
    note: str
    back: bool = False


SOUND = frozenset({PageState.PROOFREAD, PageState.VALIDATED})
"""What is said of a text as it is, and of no other."""


class PageStanding(NamedTuple):
    """Where a page stands, and how often something was said of it. `changed`: it is not proofread any more, since its
    text was changed after that."""

    state: PageState = PageState.NOT_PROOFREAD
    version: int = 0
    changed: bool = False


class PageSaid(NamedTuple):
    """What was said of a page: `id` is that of the event."""

    id: int
    state: PageState
    person: str


class SaidOfPage(NamedTuple):
    """Of a page: the `state` that the last of `version` events left, the one that stands, and whether the text was
    `changed` since that."""

    page: int
    state: PageState
    version: int
    standing: PageSaid | None
    changed: bool


class PageStates(StorePart):
    """What people say of pages; `Store.page_states` is one."""

    def history(self, work: str, page: int) -> list[PageEvent]:
        """What was said of a page, oldest first."""
        with self._reading() as session:
            row = page_of(session, work, page)
            query = select(PageEventRow).where(PageEventRow.page_id == row.id).order_by(PageEventRow.version)
            return [page_event(one) for one in session.scalars(query)]

    def said_by(self, work: str, page: int) -> str:
        """Who said where a page stands; empty where nobody did, or its text was changed since."""
        with self._reading() as session:
            said = next(said_of_pages(session, PageRow.id == page_of(session, work, page).id), None)
            return said.standing.person if said and said.standing and not said.changed else ""

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
        """Say where a page stands, seen at `version`. Raises PageConflictError where somebody was quicker,
        RefusedDecisionError where who proofread a page would validate it too, NotYoursError for taking back what
        somebody else said where `person` does not overrule others."""
        check_note(note)
        with self._writing() as session:
            row = page_of(session, work, page, held=True)
            must_be_own(session, [key], PageEventRow)
            again = session.scalar(select(PageEventRow).where(PageEventRow.key == key))
            if again is not None:
                said = (again.page_id, again.state, again.person, again.note, again.about)
                if said != (page, state.value, person, note, None):
                    raise key_of_another()
                return page_event(again)
            events = select(PageEventRow).where(PageEventRow.page_id == page).order_by(PageEventRow.version)
            last = session.scalars(events.order_by(None).order_by(PageEventRow.version.desc())).first()
            _must_be_seen(row, last, version)
            known = next(said_of_pages(session, PageRow.id == page), None)
            stands = known.standing if known and not known.changed else None
            _must_be_allowed(row.page, stands, state, person, overrules=overrules)
            event = PageEventRow(
                work_id=row.work_id,
                page_id=page,
                version=version + 1,
                key=key,
                state=state.value,
                person=person,
                at=datetime.now(UTC),
                note=note,
            )
            session.add(event)
            session.flush()
            return page_event(event)


def _must_be_allowed(page: str, stands: PageSaid | None, state: PageState, person: str, *, overrules: bool) -> None:
    """Raise RefusedDecisionError or NotYoursError where `person` may not say this of a page that stands so."""
    proofread_by_another = stands is not None and stands.state is PageState.PROOFREAD and stands.person != person
    if state is PageState.VALIDATED and stands is not None and stands[1:] == (PageState.PROOFREAD, person):
        raise RefusedDecisionError(_("%(page)s: you proofread this page; someone else must validate it"), page=page)
    if state is PageState.VALIDATED and not proofread_by_another:
        raise RefusedDecisionError(_("%(page)s: a second person validates a page that was proofread"), page=page)
    if state is PageState.PROOFREAD and proofread_by_another and stands is not None:
        raise RefusedDecisionError(
            _("%(page)s: %(person)s proofread it already; say that it is validated"), page=page, person=stands.person
        )
    if not overrules and stands is not None and stands.person != person and _takes_back(stands, state):
        raise NotYoursError(
            _("%(page)s: %(person)s said it is %(state)s; they or an administrator take it back"),
            page=page,
            person=stands.person,
            state=stands.state,
        )


def said_of_pages(session: Session, *wanted: ColumnElement[bool]) -> Iterator[SaidOfPage]:
    """What was said of those pages that are wanted, of which anything was, and stands."""
    columns = (PageEventRow.page_id, PageEventRow.id, PageEventRow.about, PageEventRow.person, PageEventRow.state)
    query = select(*columns, PageRow.changed_after).join(PageRow, PageRow.id == PageEventRow.page_id)
    found = session.execute(query.where(*wanted).order_by(PageEventRow.page_id, PageEventRow.version))
    for page, events in groupby(found, itemgetter(0)):
        said = list(events)
        back = any(about is not None for _, _, about, *_ in said)
        number = standing([Event(*one[1:4]) for one in said]) if back else len(said)
        _, _, _, _, last, changed_after = said[-1]
        state, stands = PageState(last), None
        if number:
            _, event, _, person, what, _ = said[number - 1]
            stands = PageSaid(event, PageState(what), person)
        yield SaidOfPage(page, state, len(said), stands, state in SOUND and 0 < number <= changed_after)


def page_states(session: Session, pages: Sequence[int]) -> dict[int, PageStanding]:
    """Where pages stand. Which event stands matters, and is asked, of those alone whose text was changed."""
    states = dict.fromkeys(pages, PageStanding())
    query = select(PageEventRow.page_id, PageEventRow.state, PageEventRow.version, PageRow.changed_after)
    query = query.join(PageRow, PageRow.id == PageEventRow.page_id).order_by(PageEventRow.version)
    for start in range(0, len(pages), AT_ONCE):
        changed = []
        for page, state, version, after in session.execute(
            query.where(PageEventRow.page_id.in_(pages[start : start + AT_ONCE]))
        ):
            states[page] = PageStanding(PageState(state), version)
            changed += [page] if after else []
        for one in said_of_pages(session, PageEventRow.page_id.in_(changed)) if changed else ():
            if one.changed:
                states[one.page] = PageStanding(PageState.NOT_PROOFREAD, one.version, changed=True)
    return states


def note_text_changed(session: Session, pages: Sequence[PageRow]) -> None:
    """Note that the text of pages is another than the one of which something was said."""
    for page, stands in page_states(session, [page.id for page in pages]).items():
        session.get_one(PageRow, page).changed_after = stands.version


def _must_be_seen(page: PageRow, last: PageEventRow | None, version: int) -> None:
    """Raises PageConflictError where something was said of the page after the `version` that was seen."""
    if (last.version if last else 0) != version:
        if last is None:
            raise PageConflictError(_("%(page)s: nothing was said of it yet; look at the page again"), page=page.page)
        raise PageConflictError(
            _("%(page)s: changed in the meantime (%(person)s said: %(state)s); look at the page again"),
            page=page.page,
            person=last.person,
            state=PageState(last.state),
        )


def _takes_back(last: PageSaid, state: PageState) -> bool:
    """Whether `state` says less of a page than what was said last; that there is a problem can always be said."""
    ways = (PageState.NOT_PROOFREAD, PageState.PROOFREAD, PageState.VALIDATED)
    return state in ways and last.state in ways and ways.index(state) < ways.index(last.state)


def page_event(row: PageEventRow) -> PageEvent:
    """What was said of a page, from its row."""
    return PageEvent(
        row.page_id, row.version, PageState(row.state), row.person, row.at, row.note, row.about is not None
    )
