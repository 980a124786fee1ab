"""The newest flag of a work is asked for with every request: it tells whether the list of flags changed."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_flags_work_id_id", "flags", ["work_id", "id"])


def downgrade() -> None:
    op.drop_index("ix_flags_work_id_id", "flags")
