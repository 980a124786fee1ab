"""Confirmed errors that a check no longer finds, since an export wrote their corrections into the text."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session, aliased

from proof.model.flags import Kind
from proof.store.decision_records import State
from proof.store.flag_arrays import IN_HALVES
from proof.store.models import FlagRow, PageRow
from proof.store.seeded_errors import BY_HAND, IS_SEEDED

PAGE: ColumnElement[int] = FlagRow.__table__.c["page_id"]
WORK: ColumnElement[int] = FlagRow.__table__.c["work_id"]


def is_second_half() -> ColumnElement[bool]:
    """The condition in a query of flags that the flag is the later one of two that are one question: about
    moved text, a moved column, or a run in two parts."""
    other = aliased(FlagRow)
    is_other_half = and_(
        other.page_id == FlagRow.page_id,
        other.uid == FlagRow.evidence["moved"].as_string(),
        other.id < FlagRow.id,
        other.state == FlagRow.state,
        other.stale == FlagRow.stale,
        other.raised == FlagRow.raised,
    )
    return FlagRow.kind.in_([kind.value for kind in IN_HALVES]) & select(other.id).where(is_other_half).exists()


def exported_flags(session: Session, by: ColumnElement[int], *which: ColumnElement[bool]) -> Counter[tuple[int, bool]]:
    """The number of exported corrections of the flags that meet the conditions `which`, `by` their page or their work,
    and by whether they are corrections by hand. The two halves of a moved character or column are one."""
    query = select(by, BY_HAND, func.count()).where(
        FlagRow.stale.is_(True),
        FlagRow.state == State.CORRECTED.value,
        FlagRow.reads != FlagRow.transcribed,
        FlagRow.kind != Kind.AUDIT.value,
        ~IS_SEEDED,
        ~is_second_half(),
        *which,
    )
    query = query.join(PageRow, PageRow.id == FlagRow.page_id).where(PageRow.absent.is_(False))
    rows = session.execute(query.group_by(by, BY_HAND))
    return Counter({(number, bool(by_hand)): count for number, by_hand, count in rows})
