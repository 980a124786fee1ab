"""Adds to flags the number of what was deleted at one place (`FlagRow.former`), and to versions of texts the edits of
exports. A store made since has them."""

from __future__ import annotations

from itertools import groupby

import sqlalchemy as sa
from alembic import op

from proof.store.carried_places import FIRST_FORMER

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if any(column["name"] == "former" for column in sa.inspect(op.get_bind()).get_columns("flags")):
        return
    op.add_column("text_versions", sa.Column("edits", sa.JSON))
    op.add_column("flags", sa.Column("former", sa.Integer, nullable=False, server_default="0"))
    flags = sa.table(
        "flags", *map(sa.column, ("id", "text_id", "version_id", "start", "extent", "transcribed", "former"))
    )
    acts = sa.table("acts", *map(sa.column, ("flag_id", "act", "version", "line", "offset", "context")))
    place = flags.c.text_id, flags.c.version_id, flags.c.start
    stood = acts.c.line, acts.c.offset, acts.c.context
    first = (acts.c.flag_id == flags.c.id) & (acts.c.act == "decision") & (acts.c.version == 1)
    deleted = sa.select(flags.c.id, *place, *stood).join(acts, first)
    deleted = deleted.where(flags.c.extent == 0, flags.c.transcribed != "", flags.c.start.is_not(None))
    rows = op.get_bind().execute(deleted.order_by(*place, *stood)).all()
    for _, of_place in groupby(rows, lambda row: tuple(row[1:4])):
        for number, (_, same) in enumerate(groupby(of_place, lambda row: tuple(row[4:])), start=FIRST_FORMER):
            ids = [row[0] for row in same]
            op.execute(sa.update(flags).where(flags.c.id.in_(ids)).values(former=number))
