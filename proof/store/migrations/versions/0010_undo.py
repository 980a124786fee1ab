"""Rules and page states name what they take back; a rule is asked for under a key, as everything else is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("page_events", sa.Column("about", BIG, nullable=True))
    op.add_column("rules", sa.Column("about", BIG, nullable=True))
    op.add_column("rules", sa.Column("key", sa.String(64), nullable=True))
    op.create_index("ix_rules_key", "rules", ["key"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_rules_key", "rules")
    op.drop_column("rules", "key")
    op.drop_column("rules", "about")
    op.drop_column("page_events", "about")
