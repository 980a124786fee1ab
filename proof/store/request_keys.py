"""The keys of requests: a request that is sent again is known by its key, whatever it asked for.

Each table of what people do holds the keys of its own acts. A key is one request's: where another kind of act has it,
what is asked for now is not what was answered then.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, union_all
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError
from proof.store.models import Base, CommentRow, DecisionRow, LayoutOverrideRow, PageEventRow, RuleRow

AT_ONCE = 200


def key_of_another() -> RefusedDecisionError:
    """What is raised where a key was used for something else."""
    return RefusedDecisionError(_("this key was used for something else; give every request its own"))


def must_be_own(session: Session, keys: Iterable[str], table: type[Base]) -> None:
    """Raises RefusedDecisionError where an act of another kind than those of `table` has one of these keys."""
    tables: tuple[type[Base], ...] = (DecisionRow, PageEventRow, LayoutOverrideRow, RuleRow, CommentRow)
    others = [each.__table__.c.key for each in tables if each is not table]
    asked = list(keys)
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        if session.execute(union_all(*(select(key).where(key.in_(part)) for key in others)).limit(1)).first():
            raise key_of_another()
