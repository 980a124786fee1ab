"""What the glyphs of a page look like, by character: all occurrences of one are found without reading every page."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "glyphs",
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(64), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name=op.f("fk_glyphs_work_id")),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_glyphs_page_id")),
        sa.PrimaryKeyConstraint("work_id", "text", "page_id", name=op.f("pk_glyphs")),
    )
    op.create_index(op.f("ix_glyphs_page_id"), "glyphs", ["page_id"])


def downgrade() -> None:
    op.drop_table("glyphs")
