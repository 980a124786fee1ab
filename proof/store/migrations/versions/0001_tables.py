"""Creates all tables as defined in `models`.

It uses the models as they are now, so a new store has their newest form; a later migration changes only older stores.
"""

from __future__ import annotations

from alembic import op

from proof.store.models import Base

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

APPEND_ONLY = ("acts", "account_events")
"""Tables whose rows must not be changed or deleted. SQLite and PostgreSQL enforce this by triggers."""


def upgrade() -> None:
    Base.metadata.create_all(op.get_bind())
    for table in APPEND_ONLY:
        _forbid_changes(table, op.get_bind().dialect.name)


def _forbid_changes(table: str, dialect: str) -> None:
    """Add triggers that refuse changes of a table, with a message of the database."""
    message = f"{table.replace('_', ' ')} are never altered or deleted"
    if dialect == "sqlite":
        for operation in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{operation.lower()} BEFORE {operation} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
            )
    elif dialect == "postgresql":
        op.execute(
            f"CREATE FUNCTION {table}_stay() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{message}'; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_stay()"
        )
