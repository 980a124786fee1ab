"""What is set right about a page's layout names what it takes back, as page states and rules do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("mends", sa.Column("about", big, nullable=True))


def downgrade() -> None:
    op.drop_column("mends", "about")
