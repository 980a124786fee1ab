"""What is said of a place, and of a page, while its text is changed: a flag names the first of its place, and a page
how often something had been said of it when its text was changed last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("flags", sa.Column("thread", sa.String(64), nullable=False, server_default=sa.text("''")))
    _follow_carried()
    op.add_column("pages", sa.Column("changed_after", sa.Integer(), nullable=False, server_default=sa.text("0")))


def _follow_carried() -> None:
    """Have flags to which a check carried a decision over name the first of their place."""
    flags = sa.table("flags", sa.column("id"), sa.column("uid"), sa.column("thread"))
    made = sa.table("decisions", sa.column("id"), sa.column("flag_id"), sa.column("about"), sa.column("verdict"))
    about = made.alias()
    now, was = flags.alias(), flags.alias()
    carried = sa.select(now.c.id, now.c.uid, was.c.id, was.c.uid).select_from(
        made.join(about, about.c.id == made.c.about)
        .join(now, now.c.id == made.c.flag_id)
        .join(was, was.c.id == about.c.flag_id)
    )
    bind = op.get_bind()
    first: dict[int, str] = {}
    for number, uid, before, uid_before in bind.execute(
        carried.where(made.c.verdict == "carried").order_by(made.c.id)
    ).all():
        thread = first.get(before, uid_before)
        if number not in first and uid != thread:
            first[number] = thread
            bind.execute(sa.update(flags).where(flags.c.id == number).values(thread=thread))


def downgrade() -> None:
    op.drop_column("pages", "changed_after")
    op.drop_column("flags", "thread")
