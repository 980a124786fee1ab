"""The keys of requests: a request that is sent again is known by its key, whatever it asked for.

A key is one request's: where another kind of act has it, what is asked for now is not what was answered then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.locale.marking import _
from proof.store.decision_records import RefusedDecisionError
from proof.store.models import ActRow

AT_ONCE = 200
Act = TypeVar("Act", bound=ActRow)


def key_of_another() -> RefusedDecisionError:
    """What is raised where a key was used for something else."""
    return RefusedDecisionError(_("this key was used for something else; give every request its own"))


def must_be_own(session: Session, keys: Iterable[str], kind: type) -> None:
    """Raises RefusedDecisionError where an act of another kind, a class of rows, has one of these keys."""
    asked = list(keys)
    for start in range(0, len(asked), AT_ONCE):
        same = select(ActRow).where(ActRow.key.in_(asked[start : start + AT_ONCE]))
        if any(not isinstance(act, kind) for act in session.scalars(same)):
            raise key_of_another()


def answered(session: Session, kind: type[Act], key: str, **asked: object) -> Act | None:
    """The act that a request with this key made before. Raises RefusedDecisionError where that is not what is `asked`
    for now, by column."""
    act = session.scalar(select(ActRow).where(ActRow.key == key))
    if act is None:
        return None
    if not isinstance(act, kind) or any(getattr(act, name) != value for name, value in asked.items()):
        raise key_of_another()
    return act
