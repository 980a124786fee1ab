"""The folders of a library, and indexes to find a page or a confusion in all works."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "library",
        sa.Column("folder", sa.String(512), nullable=False),
        sa.Column("work", sa.String(255), server_default=sa.text("''"), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("trouble", sa.JSON, nullable=True),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("folder", name="pk_library"),
    )
    op.create_index("ix_library_work", "library", ["work"])
    op.create_index("ix_pages_page", "pages", ["page"])
    op.create_index("ix_pages_ref", "pages", ["ref"])


def downgrade() -> None:
    op.drop_index("ix_pages_ref", "pages")
    op.drop_index("ix_pages_page", "pages")
    op.drop_table("library")
