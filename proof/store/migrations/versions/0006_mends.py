"""What people set right about how pages are read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "mends",
        sa.Column("id", BIG, nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("layout", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("image", sa.Text(), nullable=False),
        sa.Column("quadrant", sa.String(1), nullable=False),
        sa.Column("person", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_mends_page_id"),
        sa.PrimaryKeyConstraint("id", name="pk_mends"),
        sa.UniqueConstraint("page_id", "version", name="uq_mends_page_id_version"),
        sa.UniqueConstraint("key", name="uq_mends_key"),
    )


def downgrade() -> None:
    op.drop_table("mends")
