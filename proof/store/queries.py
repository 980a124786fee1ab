"""Queries over works: page results, flags and texts, in their order.

The numbers of all rows are read first, then the rows in pieces, so that neither memory nor a transaction grows with the
work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from proof.model.flags import Flag, Kind, Origin
from proof.model.result import PageResult
from proof.store import rows
from proof.store.lookup import Sessions, number_of
from proof.store.models import CharactersRow, ColumnRow, FlagRow, PageRow, RunRow
from proof.store.rows import KeptPage
from proof.text.model import Script
from proof.text.variants import VariantPolicy, policy_of

PAGES_AT_ONCE = 64
FLAGS_AT_ONCE = 2000

FOUND = (FlagRow.origin == Origin.FINDING.value, FlagRow.stale.is_(False))
"""What tells the findings of the present result of a page."""


def pages_in_order(session: Session, run: int | None, work: str | None, raised: bool = False) -> list[int]:
    """The pages of a run by position, or of a work by text and position; those with `raised` findings alone."""
    query = select(PageRow.id)
    if raised:
        query = query.where(exists().where(FlagRow.page_id == PageRow.id, FlagRow.raised, *FOUND))
    if run is not None:
        query = query.where(PageRow.run_id == run).order_by(PageRow.position, PageRow.id)
    else:
        query = query.where(PageRow.work_id == number_of(work), PageRow.absent.is_(False))
        query = query.order_by(PageRow.text, PageRow.position, PageRow.id)
    return list(session.scalars(query))


def pages_of(session: Session, numbers: Sequence[int]) -> list[PageRow]:
    """The rows of these pages, in the order given."""
    of_number = {page.id: page for page in session.scalars(select(PageRow).where(PageRow.id.in_(numbers)))}
    return [of_number[number] for number in numbers if number in of_number]


def results(
    session: Session, pages: Sequence[PageRow], outline: bool = False, *, characters: bool = True
) -> list[PageResult]:
    """The results of these pages, in their order; without `characters` they lack these, and as an `outline` columns
    and characters."""
    ids = [page.id for page in pages]
    flags_of: dict[int, list[FlagRow]] = defaultdict(list)
    current = select(FlagRow).where(FlagRow.page_id.in_(ids), *FOUND)
    for flag in session.scalars(current.order_by(FlagRow.page_id, FlagRow.ordinal)):
        flags_of[flag.page_id].append(flag)
    columns: dict[int, list[ColumnRow]] = defaultdict(list)
    packed: dict[int, bytes] = {}
    if not outline:
        of_pages = select(ColumnRow).where(ColumnRow.page_id.in_(ids))
        for column in session.scalars(of_pages.order_by(ColumnRow.page_id, ColumnRow.ordinal)):
            columns[column.page_id].append(column)
    if characters and not outline:
        packed = packed_characters(session, ids)
    return [rows.result_of(page, columns[page.id], packed.get(page.id), flags_of[page.id]) for page in pages]


def packed_characters(session: Session, pages: Sequence[int]) -> dict[int, bytes]:
    """The characters of pages as `codec` packs them; pages without any are left out."""
    query = select(CharactersRow.page_id, CharactersRow.data).where(CharactersRow.page_id.in_(pages))
    return {row.page_id: row.data for row in session.execute(query)}


def flags(
    reading: Sessions,
    work: str,
    origins: Iterable[Origin],
    kinds: Iterable[Kind],
    transcribed: Iterable[str],
    text: str = "",
) -> Iterator[Flag]:
    """The flags of a work, of some kinds and characters and of the text at one path where these are given, in page
    order, then by line and offset."""
    characters = list(transcribed)
    # all flags are found by way of their pages, which lie in order; the flags of a few characters by these
    of_work = FlagRow.work_id if characters else PageRow.work_id
    wanted = select(FlagRow.id).join(PageRow, FlagRow.page_id == PageRow.id).where(of_work == number_of(work))
    wanted = wanted.where(FlagRow.stale.is_(False), PageRow.absent.is_(False))
    for column, values in (
        (FlagRow.origin, [origin.value for origin in origins]),
        (FlagRow.kind, [kind.value for kind in kinds]),
        (FlagRow.transcribed, characters),
        (PageRow.text, [text] if text else []),
    ):
        wanted = wanted.where(column.in_(values)) if values else wanted
    order = (PageRow.text, PageRow.position, PageRow.id, FlagRow.line, FlagRow.offset, FlagRow.id)
    with reading() as session:
        numbers = list(session.scalars(wanted.order_by(*order)))
    query = select(FlagRow, PageRow.page).join(PageRow, FlagRow.page_id == PageRow.id)
    for start in range(0, len(numbers), FLAGS_AT_ONCE):
        part = numbers[start : start + FLAGS_AT_ONCE]
        with reading() as session:
            rows_of_part = session.execute(query.where(FlagRow.id.in_(part)))
            stored = {flag.id: rows.flag_of(page, flag) for flag, page in rows_of_part}
        yield from (stored[number] for number in part if number in stored)


def kept_pages(session: Session, work: str) -> dict[tuple[str, int], KeptPage]:
    """The keys and image hashes of the results of a work, by page id and repeat."""
    query = select(PageRow.page, PageRow.repeat, PageRow.key, PageRow.image_sha)
    pages = session.execute(query.where(PageRow.work_id == number_of(work)))
    return {(page, repeat): KeptPage(key, sha) for page, repeat, key, sha in pages}


def policies_of(session: Session, pages: Sequence[PageRow]) -> dict[int, VariantPolicy]:
    """For each page by its number: which forms of a word count as one in the script of its text."""
    runs = session.execute(select(RunRow.id, RunRow.texts).where(RunRow.id.in_({page.run_id for page in pages})))
    scripts = {number: {text["path"]: text.get("script", "") for text in texts} for number, texts in runs}
    named = {page.id: scripts[page.run_id].get(page.text, "") for page in pages}
    return {
        number: policy_of(Script(script) if script in set(Script) else Script.TRADITIONAL)
        for number, script in named.items()
    }
