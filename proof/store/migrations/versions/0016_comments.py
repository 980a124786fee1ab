"""Comments: what people say to each other about a flag or a page. Rows are only ever added."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SAID = "comments are never altered or deleted"


def upgrade() -> None:
    op.create_table(
        "comments",
        sa.Column("id", BIG, nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(64), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("assigned", sa.String(255), nullable=False),
        sa.Column("person", sa.String(255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("offset", sa.Integer(), nullable=False),
        sa.Column("transcribed", sa.Text(), nullable=False),
        sa.Column("suggested", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_comments_page_id_pages"),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sa.UniqueConstraint("key", name="uq_comments_key"),
    )
    op.create_index("ix_comments_page_id_uid", "comments", ["page_id", "uid"])
    op.create_index("ix_comments_state_assigned", "comments", ["state", "assigned"])
    dialect = op.get_bind().dialect.name
    if dialect == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER comments_no_{deed.lower()} BEFORE {deed} ON comments "
                f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END"
            )
    elif dialect == "postgresql":
        op.execute(
            "CREATE FUNCTION comments_stay() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{SAID}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER comments_stay BEFORE UPDATE OR DELETE ON comments "
            "FOR EACH ROW EXECUTE FUNCTION comments_stay()"
        )


def downgrade() -> None:
    op.drop_table("comments")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION comments_stay()")
