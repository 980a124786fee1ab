"""The first tables: works, runs, pages, columns, characters, flags, readings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "works",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_works"),
        sa.UniqueConstraint("name", name="uq_works_name"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("engine_name", sa.String(255), nullable=False),
        sa.Column("engine_version", sa.String(255), nullable=False),
        sa.Column("engine_model", sa.Text(), nullable=False),
        sa.Column("engine_checksum", sa.String(255), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name="fk_runs_work_id"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_work_id", "runs", ["work_id"])
    _pages()
    _parts_of_pages()
    _flags()
    op.create_table(
        "readings",
        sa.Column("key", sa.String(128), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_readings"),
    )
    op.create_index("ix_readings_used", "readings", ["used"])


def _pages() -> None:
    op.create_table(
        "pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("result_run_id", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(255), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(1024), nullable=False),
        sa.Column("juan", sa.String(255), nullable=False),
        sa.Column("folio", sa.String(64), nullable=False),
        sa.Column("absent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("key", sa.String(128), nullable=False),
        sa.Column("ref", sa.String(255), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("image_sha", sa.String(128), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("box", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("skew", sa.Double(), nullable=False),
        sa.Column("characters_checked", sa.Integer(), nullable=False),
        sa.Column("notices", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name="fk_pages_work_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_pages_run_id"),
        sa.ForeignKeyConstraint(["result_run_id"], ["runs.id"], name="fk_pages_result_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_pages"),
        sa.UniqueConstraint("work_id", "page", "repeat", name="uq_pages_work_id_page_repeat"),
    )
    op.create_index("ix_pages_key", "pages", ["key"])
    op.create_index("ix_pages_image_sha", "pages", ["image_sha"])
    op.create_index("ix_pages_run_id_position", "pages", ["run_id", "position"])
    op.create_index("ix_pages_work_id_text_position", "pages", ["work_id", "text", "position"])


def _parts_of_pages() -> None:
    op.create_table(
        "columns",
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("x", sa.Double(), nullable=False),
        sa.Column("y", sa.Double(), nullable=False),
        sa.Column("w", sa.Double(), nullable=False),
        sa.Column("h", sa.Double(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_columns_page_id"),
        sa.PrimaryKeyConstraint("page_id", "ordinal", name="pk_columns"),
    )
    op.create_table(
        "characters",
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_characters_page_id"),
        sa.PrimaryKeyConstraint("page_id", name="pk_characters"),
    )


def _flags() -> None:
    op.create_table(
        "flags",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(64), nullable=False),
        sa.Column("first_run_id", sa.Integer(), nullable=False),
        sa.Column("last_run_id", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("ref", sa.String(255), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("offset", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("transcribed", sa.Text(), nullable=False),
        sa.Column("suggested", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("raised", sa.Boolean(), nullable=False),
        sa.Column("x", sa.Double(), nullable=True),
        sa.Column("y", sa.Double(), nullable=True),
        sa.Column("w", sa.Double(), nullable=True),
        sa.Column("h", sa.Double(), nullable=True),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("reason", sa.String(255), nullable=False),
        sa.Column("rule", sa.String(255), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name="fk_flags_work_id"),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_flags_page_id"),
        sa.ForeignKeyConstraint(["first_run_id"], ["runs.id"], name="fk_flags_first_run_id"),
        sa.ForeignKeyConstraint(["last_run_id"], ["runs.id"], name="fk_flags_last_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_flags"),
        sa.UniqueConstraint("page_id", "uid", name="uq_flags_page_id_uid"),
    )
    op.create_index("ix_flags_uid", "flags", ["uid"])
    op.create_index("ix_flags_work_id_stale_raised_score", "flags", ["work_id", "stale", "raised", "score"])
    op.create_index(
        "ix_flags_work_id_stale_transcribed_suggested", "flags", ["work_id", "stale", "transcribed", "suggested"]
    )


def downgrade() -> None:
    for table in ("readings", "flags", "characters", "columns", "pages", "runs", "works"):
        op.drop_table(table)
