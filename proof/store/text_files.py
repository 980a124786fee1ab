"""The files of the texts of a store: their contents, the works they are parts of, and what was decided in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import func, select, update

from proof.errors import UsageError
from proof.locale.marking import _
from proof.store.lookup import StorePart, changed, number_of, work_of
from proof.store.models import FlagRow, PageRow, RunRow, TextRow, TextVersionRow, WorkRow
from proof.store.seeded import IS_SEEDED
from proof.store.texts import Place, Writing, arrive, content_in, content_of, hold, place_of


@dataclass(frozen=True, slots=True)
class StoredText:
    """A transcription file as a part of a work: its `path` and `script` in its last check, the `run` of that number;
    `pages` are the ids of its present pages."""

    work: str
    path: str
    script: str
    run: int
    pages: frozenset[str]


@dataclass(frozen=True, slots=True)
class DecidedPlace:
    """The place of a decided flag in version `version` of the text at the path `text`; the place is lost if the present
    version `present` is another. `imaged`: its page has an image."""

    text: str
    version: int
    present: int
    place: Place
    imaged: bool


class Texts(StorePart):
    """The texts of a store; `Store.texts` is one."""

    def arrive(self, path: str, content: str, script: str, still: Callable[[], bool]) -> bool:
        """Record that the text at `path` has `content`. Returns False and records nothing if the store no longer has a
        text at `path`, or if `still`, called while the text is locked, says that the content is outdated."""
        with self._writing() as session:
            is_current = bool(hold(session, [path])) and still()
            if is_current:
                arrive(session, path, content, script)
        return is_current

    def checked(self) -> list[StoredText]:
        """The texts of all works, as they were checked last."""
        scripts: dict[tuple[str, str], tuple[str, int]] = {}
        pages_of: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        runs = select(WorkRow.name, RunRow.texts, RunRow.id).join(WorkRow, RunRow.work_id == WorkRow.id)
        pages = select(WorkRow.name, PageRow.text, PageRow.page).join(WorkRow, PageRow.work_id == WorkRow.id)
        with self._reading() as session:
            for work, texts, run in session.execute(runs.order_by(RunRow.id)):
                scripts |= {(work, text["path"]): (text.get("script", ""), run) for text in texts}
            for work, path, page in session.execute(pages.where(PageRow.absent.is_(False))):
                pages_of[work, path].add(page)
        return [
            StoredText(work, path, *scripts.get((work, path), ("", 0)), frozenset(pages_of[work, path]))
            for work, path in sorted({*scripts, *pages_of})
        ]

    def work_of(self, path: str) -> str | None:
        """The work that the text at `path` was last checked as a part of."""
        last = select(func.max(PageRow.run_id)).where(PageRow.text == path, PageRow.absent.is_(False))
        query = select(WorkRow.name).join(RunRow, RunRow.work_id == WorkRow.id)
        with self._reading() as session:
            return session.scalar(query.where(RunRow.id == last.scalar_subquery()))

    def decided_places(self, work: str) -> list[DecidedPlace]:
        """The places of a work of which something was decided, or was written and taken back since."""
        query = select(FlagRow, TextRow, PageRow.image).join(TextRow, TextRow.id == FlagRow.text_id)
        query = query.join(PageRow, PageRow.id == FlagRow.page_id).order_by(FlagRow.id)
        query = query.where(FlagRow.work_id == number_of(work), FlagRow.version > 0, ~IS_SEEDED)
        with self._reading() as session:
            return [
                DecidedPlace(text.path, flag.version_id or 0, text.version_id or 0, place_of(flag), image is not None)
                for flag, text, image in session.execute(query)
            ]

    def in_version(self, version: int) -> str:
        """The content of a text in the version of that number. Raises UsageError where the store does not have it."""
        with self._reading() as session:
            row = session.get(TextVersionRow, version)
            if row is None:
                raise UsageError(_("version %(version)s of a text is not in the store"), version=version)
            return content_of(row)

    def move(self, work: str, old: str, new: str) -> None:
        """Record that a text of a work lies at another path now, unless the store has another text there: its pages
        stay what they are."""
        with self._writing() as session:
            number = work_of(session, work)
            session.execute(update(PageRow).where(PageRow.work_id == number, PageRow.text == old).values(text=new))
            known = {text.path: text for text in hold(session, [old, new])}
            if old in known and new not in known:
                known[old].path = new
            changed(session, number)

    def paths(self) -> set[str]:
        """The paths of all texts in the store, as of their last check or export."""
        with self._reading() as session:
            return set(session.scalars(select(TextRow.path)))

    def content(self, path: str) -> str:
        """The content of the text at `path` when it was last checked or written; empty for an unknown text."""
        with self._reading() as session:
            version = select(TextVersionRow).join(TextRow, TextRow.version_id == TextVersionRow.id)
            newest = session.scalar(version.where(TextRow.path == path))
            return content_of(newest) if newest is not None else ""

    def wrote(
        self, path: str, before: str, after: str, script: str, written: Writing, still: Callable[[], bool]
    ) -> None:
        """Record that an export changed the file at `path` from `before` to `after` by `written`.

        Records nothing if `still` says that the content is outdated, or if a check has recorded `after` already.
        """
        with self._writing() as session:
            texts = hold(session, [path])
            if still() and not any(content_in(session, known.version_id) == after for known in texts):
                arrive(session, path, before, script)
                arrive(session, path, after, script, written=written)
