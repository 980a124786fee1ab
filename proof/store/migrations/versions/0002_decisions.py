"""Decisions: events that are only ever added, and on each flag where it stands after them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("flags", sa.Column("state", sa.String(16), server_default="open", nullable=False))
    op.add_column("flags", sa.Column("reading", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column("flags", sa.Column("version", sa.Integer(), server_default="0", nullable=False))
    op.create_table(
        "decisions",
        sa.Column("id", BIG, nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("flag_id", BIG, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("batch", sa.String(64), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("was_state", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("was", sa.Text(), nullable=False),
        sa.Column("reading", sa.Text(), nullable=False),
        sa.Column("person", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("about", BIG, nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("uid", sa.String(64), nullable=False),
        sa.Column("page", sa.String(255), nullable=False),
        sa.Column("ref", sa.String(255), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("offset", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("transcribed", sa.Text(), nullable=False),
        sa.Column("suggested", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name="fk_decisions_work_id"),
        sa.ForeignKeyConstraint(["flag_id"], ["flags.id"], name="fk_decisions_flag_id"),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
        sa.UniqueConstraint("flag_id", "version", name="uq_decisions_flag_id_version"),
        sa.UniqueConstraint("key", name="uq_decisions_key"),
    )
    op.create_index("ix_decisions_about", "decisions", ["about"])
    op.create_index("ix_decisions_work_id_id", "decisions", ["work_id", "id"])
    _forbid_changes(op.get_bind().dialect.name)


def _forbid_changes(dialect: str) -> None:
    """The databases that we know refuse to change or delete a decision; on others the program alone does."""
    said = "decisions are never altered or deleted"
    if dialect == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER decisions_no_{deed.lower()} BEFORE {deed} ON decisions "
                f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            )
    elif dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION decisions_stay() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER decisions_stay BEFORE UPDATE OR DELETE ON decisions "
            "FOR EACH ROW EXECUTE FUNCTION decisions_stay()"
        )


def downgrade() -> None:
    op.drop_table("decisions")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION decisions_stay")
    with op.batch_alter_table("flags") as table:
        for column in ("version", "reading", "state"):
            table.drop_column(column)
