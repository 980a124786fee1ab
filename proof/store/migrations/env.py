"""Alembic's entry point: runs the migrations on the connection that `proof.store.database` passes."""

from __future__ import annotations

from alembic import context

from proof.store.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
