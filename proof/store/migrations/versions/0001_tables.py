"""All tables, as `models` has them.

While this is the only migration, the models are its one definition. Whoever adds a second one first writes these tables
out as statements (`alembic revision --autogenerate` on an empty database): they must stay what they were then.
"""

from __future__ import annotations

from alembic import op

from proof.store.models import Base

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

APPEND_ONLY = ("acts", "account_events")
"""Tables of which the databases that we know refuse to change or delete a row; on others the program alone does."""


def upgrade() -> None:
    Base.metadata.create_all(op.get_bind())
    for table in APPEND_ONLY:
        _forbid_changes(table, op.get_bind().dialect.name)


def _forbid_changes(table: str, dialect: str) -> None:
    said = f"{table.replace('_', ' ')} are never altered or deleted"
    if dialect == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{deed.lower()} BEFORE {deed} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            )
    elif dialect == "postgresql":
        op.execute(
            f"CREATE FUNCTION {table}_stay() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_stay()"
        )
