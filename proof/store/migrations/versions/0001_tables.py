"""All tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

APPEND_ONLY = ("acts", "account_events")
"""Tables of which the databases that we know refuse to change or delete a row; on others the program alone does."""


TABLES = (
    "quality_flags",
    "acts",
    "glyphs",
    "flags",
    "columns",
    "characters",
    "pages",
    "text_versions",
    "runs",
    "account_events",
    "works",
    "texts",
    "readings",
    "library",
    "accounts",
)


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("handle", sa.String(length=255), nullable=False),
        sa.Column("role", sa.String(length=32), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("disabled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("provisional", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("stamp", sa.String(length=64), nullable=False),
        sa.Column("token_stamp", sa.String(length=64), server_default=sa.text("''"), nullable=False),
        sa.Column("made", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("handle", name=op.f("uq_accounts_handle")),
        sa.UniqueConstraint("name", name=op.f("uq_accounts_name")),
    )
    op.create_table(
        "library",
        sa.Column("folder", sa.String(length=512), nullable=False),
        sa.Column("work", sa.String(length=255), server_default=sa.text("''"), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("trouble", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("folder", name=op.f("pk_library")),
    )
    op.create_index(op.f("ix_library_work"), "library", ["work"], unique=False)
    op.create_table(
        "readings",
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_readings")),
    )
    op.create_index(op.f("ix_readings_used"), "readings", ["used"], unique=False)
    op.create_table(
        "texts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("version_id", BIG, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_texts")),
        sa.UniqueConstraint("path", name=op.f("uq_texts_path")),
    )
    op.create_table(
        "works",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_works")),
        sa.UniqueConstraint("name", name=op.f("uq_works_name")),
    )
    op.create_table(
        "account_events",
        sa.Column("id", BIG, nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("deed", sa.String(length=16), nullable=False),
        sa.Column("was", sa.String(length=32), nullable=False),
        sa.Column("now", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("way", sa.String(length=16), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_account_events_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_events")),
    )
    op.create_index(op.f("ix_account_events_account_id"), "account_events", ["account_id"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("engine_name", sa.String(length=255), nullable=False),
        sa.Column("engine_version", sa.String(length=255), nullable=False),
        sa.Column("engine_model", sa.Text(), nullable=False),
        sa.Column("engine_checksum", sa.String(length=255), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("texts", sa.JSON(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name=op.f("fk_runs_work_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(op.f("ix_runs_work_id"), "runs", ["work_id"], unique=False)
    op.create_table(
        "text_versions",
        sa.Column("id", BIG, nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=False),
        sa.Column("sha", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["text_id"], ["texts.id"], name=op.f("fk_text_versions_text_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_text_versions")),
        sa.UniqueConstraint("text_id", "sha", name=op.f("uq_text_versions_text_id_sha")),
    )
    op.create_table(
        "pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("result_run_id", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(length=255), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(length=1024), nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=True),
        sa.Column("version_id", BIG, nullable=True),
        sa.Column("start", sa.Integer(), server_default="0", nullable=False),
        sa.Column("juan", sa.String(length=255), nullable=False),
        sa.Column("folio", sa.String(length=64), nullable=False),
        sa.Column("absent", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("ref", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("notice", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("image_sha", sa.String(length=128), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("box", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("skew", sa.Double(), nullable=False),
        sa.Column("characters_checked", sa.Integer(), nullable=False),
        sa.Column("notices", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("changed_after", sa.Integer(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["result_run_id"], ["runs.id"], name=op.f("fk_pages_result_run_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_pages_run_id")),
        sa.ForeignKeyConstraint(["text_id"], ["texts.id"], name=op.f("fk_pages_text_id")),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name=op.f("fk_pages_work_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("work_id", "page", "repeat", name=op.f("uq_pages_work_id_page_repeat")),
    )
    op.create_index(op.f("ix_pages_image_sha"), "pages", ["image_sha"], unique=False)
    op.create_index(op.f("ix_pages_key"), "pages", ["key"], unique=False)
    op.create_index(op.f("ix_pages_page"), "pages", ["page"], unique=False)
    op.create_index(op.f("ix_pages_ref"), "pages", ["ref"], unique=False)
    op.create_index(op.f("ix_pages_run_id_position"), "pages", ["run_id", "position"], unique=False)
    op.create_index(op.f("ix_pages_work_id_text_position"), "pages", ["work_id", "text", "position"], unique=False)
    op.create_table(
        "characters",
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_characters_page_id")),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_characters")),
    )
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
        sa.Column("begins", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_columns_page_id")),
        sa.PrimaryKeyConstraint("page_id", "ordinal", name=op.f("pk_columns")),
    )
    op.create_table(
        "flags",
        sa.Column("id", BIG, nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(length=64), nullable=False),
        sa.Column("first_run_id", sa.Integer(), nullable=False),
        sa.Column("last_run_id", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("ref", sa.String(length=255), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("offset", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("transcribed", sa.Text(), nullable=False),
        sa.Column("suggested", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("raised", sa.Boolean(), nullable=False),
        sa.Column("x", sa.Double(), nullable=True),
        sa.Column("y", sa.Double(), nullable=True),
        sa.Column("w", sa.Double(), nullable=True),
        sa.Column("h", sa.Double(), nullable=True),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("reason", sa.String(length=255), nullable=False),
        sa.Column("rule", sa.String(length=255), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), server_default="open", nullable=False),
        sa.Column("reading", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("text_id", sa.Integer(), nullable=True),
        sa.Column("version_id", BIG, nullable=True),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("extent", sa.Integer(), server_default="0", nullable=False),
        sa.Column("reads", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["first_run_id"], ["runs.id"], name=op.f("fk_flags_first_run_id")),
        sa.ForeignKeyConstraint(["last_run_id"], ["runs.id"], name=op.f("fk_flags_last_run_id")),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_flags_page_id")),
        sa.ForeignKeyConstraint(["text_id"], ["texts.id"], name=op.f("fk_flags_text_id")),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name=op.f("fk_flags_work_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flags")),
        sa.UniqueConstraint("page_id", "uid", name=op.f("uq_flags_page_id_uid")),
    )
    op.create_index(
        op.f("ix_flags_text_id_version_id_start"), "flags", ["text_id", "version_id", "start"], unique=False
    )
    op.create_index(op.f("ix_flags_uid"), "flags", ["uid"], unique=False)
    op.create_index(op.f("ix_flags_work_id_id"), "flags", ["work_id", "id"], unique=False)
    op.create_index(
        op.f("ix_flags_work_id_stale_raised_score"), "flags", ["work_id", "stale", "raised", "score"], unique=False
    )
    op.create_index(
        op.f("ix_flags_work_id_stale_transcribed_suggested"),
        "flags",
        ["work_id", "stale", "transcribed", "suggested"],
        unique=False,
    )
    op.create_table(
        "glyphs",
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(length=64), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_glyphs_page_id")),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name=op.f("fk_glyphs_work_id")),
        sa.PrimaryKeyConstraint("work_id", "text", "page_id", name=op.f("pk_glyphs")),
    )
    op.create_index(op.f("ix_glyphs_page_id"), "glyphs", ["page_id"], unique=False)
    op.create_table(
        "acts",
        sa.Column("id", BIG, nullable=False),
        sa.Column("act", sa.String(length=16), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=True),
        sa.Column("flag_id", BIG, nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("batch", sa.String(length=64), nullable=True),
        sa.Column("person", sa.String(length=255), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("about", BIG, nullable=True),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("was_state", sa.String(length=16), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=True),
        sa.Column("assigned", sa.String(length=255), nullable=True),
        sa.Column("was", sa.Text(), nullable=True),
        sa.Column("reading", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("authority", sa.Text(), nullable=True),
        sa.Column("copy_reads", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("uid", sa.String(length=64), nullable=True),
        sa.Column("page", sa.String(length=255), nullable=True),
        sa.Column("ref", sa.String(length=255), nullable=True),
        sa.Column("line", sa.Integer(), nullable=True),
        sa.Column("offset", sa.Integer(), nullable=True),
        sa.Column("length", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(length=32), nullable=True),
        sa.Column("transcribed", sa.Text(), nullable=True),
        sa.Column("suggested", sa.Text(), nullable=True),
        sa.Column("context", sa.Text(), nullable=True),
        sa.Column("evidence", sa.JSON(), nullable=True),
        sa.Column("seeded", sa.Boolean(), nullable=True),
        sa.Column("layout", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("image", sa.Text(), nullable=True),
        sa.Column("quadrant", sa.String(length=1), nullable=True),
        sa.Column("holds", sa.Boolean(), nullable=True),
        sa.Column("planted", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(["flag_id"], ["flags.id"], name=op.f("fk_acts_flag_id")),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_acts_page_id")),
        sa.ForeignKeyConstraint(["work_id"], ["works.id"], name=op.f("fk_acts_work_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_acts")),
        sa.UniqueConstraint("act", "flag_id", "version", name=op.f("uq_acts_act_flag_id_version")),
        sa.UniqueConstraint("act", "page_id", "version", name=op.f("uq_acts_act_page_id_version")),
        sa.UniqueConstraint("key", name=op.f("uq_acts_key")),
    )
    for columns in (
        ["about"],
        ["flag_id"],
        ["page_id"],
        ["state", "assigned"],
        ["transcribed", "suggested"],
        ["work_id", "act", "id"],
    ):
        op.create_index(op.f(f"ix_acts_{'_'.join(columns)}"), "acts", columns, unique=False)
    op.create_table(
        "quality_flags",
        sa.Column("flag_id", BIG, nullable=False),
        sa.Column("sort", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["flag_id"], ["flags.id"], name=op.f("fk_quality_flags_flag_id")),
        sa.PrimaryKeyConstraint("flag_id", name=op.f("pk_quality_flags")),
    )

    for table in APPEND_ONLY:
        _forbid_changes(table, op.get_bind().dialect.name)


def _forbid_changes(table: str, dialect: str) -> None:
    said = f"{table.replace('_', ' ')} are never altered or deleted"
    if dialect == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{deed.lower()} BEFORE {deed} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            )
    elif dialect == "postgresql":
        op.execute(
            f"CREATE FUNCTION {table}_stay() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_stay()"
        )


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        for table in APPEND_ONLY:
            op.execute(f"DROP FUNCTION {table}_stay")
