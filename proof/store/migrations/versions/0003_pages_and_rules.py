"""What people say of whole pages, and the rules of a project."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "page_events",
        sa.Column("id", BIG, nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("person", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_page_events_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_page_events"),
        sa.UniqueConstraint("page_id", "version", name="uq_page_events_page_id_version"),
        sa.UniqueConstraint("key", name="uq_page_events_key"),
    )
    op.create_table(
        "rules",
        sa.Column("id", BIG, nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("transcribed", sa.Text(), nullable=False),
        sa.Column("suggested", sa.Text(), nullable=False),
        sa.Column("holds", sa.Boolean(), nullable=False),
        sa.Column("person", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name="fk_rules_work_id"),
        sa.PrimaryKeyConstraint("id", name="pk_rules"),
    )
    op.create_index("ix_rules_work_id_transcribed_suggested", "rules", ["work_id", "transcribed", "suggested"])


def downgrade() -> None:
    for table in ("rules", "page_events"):
        op.drop_table(table)
