"""Samples and seeded errors in tables of their own: which flags they are, and which decisions answer a seeded error."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

PLANTED = "planted"
"""The kind that a seeded error and what was decided of it had."""

FLAGS = sa.table("flags", *map(sa.column, ("id", "kind", "suggested")))
DECISIONS = sa.table("decisions", *map(sa.column, ("id", "kind")))
BIG_KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")
ANSWER_KEY = "fk_seeded_answers_decision_id_decisions"
SORTS = {"audit": "sample", PLANTED: "seeded"}


def upgrade() -> None:
    op.create_table(
        "quality_flags",
        sa.Column("flag_id", BIG_KEY, sa.ForeignKey("flags.id", name="fk_quality_flags_flag_id_flags")),
        sa.Column("sort", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("flag_id", name="pk_quality_flags"),
    )
    op.create_table(
        "seeded_answers",
        sa.Column(
            "decision_id",
            BIG_KEY,
            sa.ForeignKey("decisions.id", name=ANSWER_KEY),
        ),
        sa.PrimaryKeyConstraint("decision_id", name="pk_seeded_answers"),
    )
    overlay = sa.table("quality_flags", sa.column("flag_id"), sa.column("sort"))
    for kind, sort in SORTS.items():
        known = sa.select(FLAGS.c.id, sa.literal(sort)).where(FLAGS.c.kind == kind)
        op.execute(sa.insert(overlay).from_select(["flag_id", "sort"], known))
    answered = sa.select(DECISIONS.c.id).where(DECISIONS.c.kind == PLANTED)
    op.execute(sa.insert(sa.table("seeded_answers", sa.column("decision_id"))).from_select(["decision_id"], answered))
    shown = sa.case((FLAGS.c.suggested == "", "insertion"), else_="substitution")
    op.execute(sa.update(FLAGS).where(FLAGS.c.kind == PLANTED).values(kind=shown))


def downgrade() -> None:
    overlay = sa.table("quality_flags", sa.column("flag_id"), sa.column("sort"))
    seeded = sa.select(overlay.c.flag_id).where(overlay.c.sort == SORTS[PLANTED])
    op.execute(sa.update(FLAGS).where(FLAGS.c.id.in_(seeded)).values(kind=PLANTED))
    op.drop_table("seeded_answers")
    op.drop_table("quality_flags")
