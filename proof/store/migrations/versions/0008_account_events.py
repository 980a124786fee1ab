"""What was done to accounts: events that are only ever added."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "account_events",
        sa.Column("id", BIG, nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("deed", sa.String(16), nullable=False),
        sa.Column("was", sa.String(32), nullable=False),
        sa.Column("now", sa.String(32), nullable=False),
        sa.Column("person", sa.String(255), nullable=False),
        sa.Column("way", sa.String(16), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_account_events_account_id"),
        sa.PrimaryKeyConstraint("id", name="pk_account_events"),
    )
    op.create_index("ix_account_events_account_id", "account_events", ["account_id"])
    _forbid_changes(op.get_bind().dialect.name)


def _forbid_changes(dialect: str) -> None:
    """As with decisions: the databases that we know refuse to change or delete an event."""
    said = "what was done to accounts is never altered or deleted"
    if dialect == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER account_events_no_{deed.lower()} BEFORE {deed} ON account_events "
                f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            )
    elif dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION account_events_stay() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER account_events_stay BEFORE UPDATE OR DELETE ON account_events "
            "FOR EACH ROW EXECUTE FUNCTION account_events_stay()"
        )


def downgrade() -> None:
    op.drop_table("account_events")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION account_events_stay")
