"""Whether the text of a page was changed since it was proofread."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from proof.model.result import PageResult
from proof.store.decision_records import State
from proof.store.models import ColumnRow, FlagRow, PageRow, RunRow
from proof.store.page_states import note_text_changed
from proof.text.model import Script
from proof.text.variants import VariantPolicy, policy_of


def note_otherwise(session: Session, pages: Sequence[tuple[PageRow, PageResult]]) -> None:
    """Note which of the pages to be saved have another text than the proofread one: a line was changed otherwise than
    by writing a decision into it."""
    ids = [page.id for page, _ in pages]
    before: defaultdict[int, dict[int, str]] = defaultdict(dict)
    columns = select(ColumnRow.page_id, ColumnRow.number, ColumnRow.source).where(ColumnRow.page_id.in_(ids))
    for number, line, source in session.execute(columns.order_by(ColumnRow.page_id, ColumnRow.ordinal)):
        before[number][line] = source
    changed = []
    for page, result in pages:
        now = {column.number: column.source for column in result.columns}
        if before[page.id] and now and before[page.id] != now:
            changed.append((page, now))
    policies = _policies(session, [page for page, _ in changed])
    found = [page for page, now in changed if _reads_otherwise(session, page, before[page.id], now, policies[page.id])]
    note_text_changed(session, found)


def _policies(session: Session, pages: Sequence[PageRow]) -> dict[int, VariantPolicy]:
    """How words may be written in the scripts of pages, by page."""
    scripts: dict[int, dict[str, str]] = {}
    for run in session.scalars(select(RunRow).where(RunRow.id.in_({page.run_id for page in pages}))):
        scripts[run.id] = {text["path"]: text.get("script", "") for text in run.texts}
    named = {page.id: scripts[page.run_id].get(page.text, "") for page in pages}
    return {
        number: policy_of(Script(script) if script in set(Script) else Script.TRADITIONAL)
        for number, script in named.items()
    }


def _reads_otherwise(
    session: Session, page: PageRow, before: dict[int, str], now: dict[int, str], policy: VariantPolicy
) -> bool:
    decided: defaultdict[int, list[FlagRow]] = defaultdict(list)
    known = select(FlagRow).where(FlagRow.page_id == page.id, FlagRow.version > 0)
    for row in session.scalars(known):
        if row.state == State.CORRECTED.value or row.reads != row.transcribed:
            decided[row.line].append(row)
    lines = ((number, source, now.get(number, source)) for number, source in before.items())
    return any(
        source != there and re.fullmatch(_either(source, decided[number], policy), there) is None
        for number, source, there in lines
    )


def _either(source: str, decided: Iterable[FlagRow], policy: VariantPolicy) -> str:
    """A pattern of a line with its decisions, written or not."""
    pattern, reached = "", 0
    for row in sorted(decided, key=lambda row: (row.offset, row.length)):
        readings = sorted({row.transcribed, row.reading, row.reads}, key=len, reverse=True)
        stands = next((text for text in readings if source.startswith(text, row.offset)), None)
        if row.offset < reached or stands is None:
            continue
        either = "|".join(policy.pattern(text) for text in readings)
        pattern += f"{re.escape(source[reached : row.offset])}(?:{either})"
        reached = row.offset + len(stands)
    return pattern + re.escape(source[reached:])
