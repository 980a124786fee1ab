"""The texts of a store as files: their contents, the works that they are parts of, and the decided places in them.

A text is a file. Several files of a work can have the same pages (two branches of a repository), and a file can be a
part of several works. A file that was moved or copied is recognised by its name if the old file is gone or has the same
content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import func, select, update

from proof.errors import UsageError
from proof.locale.marking import Sentence, _
from proof.store.carried_places import DecidedFlag, ExportEdits, TextChange
from proof.store.decision_records import Decision, State
from proof.store.decisions import last_decision
from proof.store.lookup import Sessions, StorePart, find_work_id, raise_revision
from proof.store.models import DecisionRow, FlagRow, PageRow, RunRow, TextRow, TextVersionRow, WorkRow
from proof.store.seeded_errors import IS_SEEDED
from proof.store.texts import (
    content_of,
    decided_flags,
    lock_texts,
    record_content,
    stored_content,
)
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class StoredText:
    """A transcription file as a part of a work: its `path` and `script` in its last check, whose number is `run`;
    `pages` are the ids of its present pages."""

    work: str
    path: str
    script: str
    run: int
    pages: frozenset[str]


class CheckedPlace(NamedTuple):
    """The place of a flag on its page as that was checked, `length` code points from `offset` of column `line`.
    `is_present`: the text has not changed since."""

    page: str
    line: int
    offset: int
    length: int
    is_present: bool


class DecidedPlace(NamedTuple):
    """A decided `flag` with its last decision. `has_image`: its page has an image."""

    flag: DecidedFlag
    decision: Decision
    has_image: bool
    checked: CheckedPlace


@dataclass(frozen=True, slots=True)
class TextInStore:
    """A text in the store: its records, one for each work in which it was checked."""

    own: tuple[StoredText, ...]

    @property
    def paths(self) -> frozenset[str]:
        """The paths under which the store has the text."""
        return frozenset(text.path for text in self.own)

    def pages(self, work: str) -> frozenset[str]:
        """The ids of the text's pages in a work."""
        return frozenset(page for text in self.own if text.work == work for page in text.pages)

    @property
    def latest(self) -> StoredText:
        """The record of the last check."""
        return max(self.own, key=lambda text: text.run)


class Texts(StorePart):
    """The texts of a store, whose name in messages is `name`; `Store.texts` is one."""

    def __init__(self, reading: Sessions, writing: Sessions, name: str) -> None:
        super().__init__(reading, writing)
        self._name = name

    def record_content(self, path: str, content: str, script: str, is_current: Callable[[], bool]) -> bool:
        """Record that the text at `path` has `content`. Returns False and records nothing if the store no longer has a
        text at `path`, or if the content is not current; `is_current` is called while the text is locked."""
        with self._writing() as session:
            if not lock_texts(session, [path]) or not is_current():
                return False
            record_content(session, path, content, script)
            return True

    def checked(self) -> list[StoredText]:
        """The texts of all works as they were last checked, by work and path."""
        last_check: dict[tuple[str, str], tuple[str, int]] = {}
        pages_of: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        runs = select(WorkRow.name, RunRow.texts, RunRow.id).join(WorkRow, RunRow.work_id == WorkRow.id)
        pages = select(WorkRow.name, PageRow.text, PageRow.page).join(WorkRow, PageRow.work_id == WorkRow.id)
        with self._reading() as session:
            for work, texts, run in session.execute(runs.order_by(RunRow.id)):
                for text in texts:
                    last_check[work, text["path"]] = text["script"], run
            for work, path, page in session.execute(pages.where(PageRow.absent.is_(False))):
                pages_of[work, path].add(page)
        stored = []
        for work, path in sorted({*last_check, *pages_of}):
            script, run = last_check.get((work, path), ("", 0))
            stored.append(StoredText(work, path, script, run, frozenset(pages_of[work, path])))
        return stored

    def find(self, edition: Transcription) -> TextInStore:
        """The text in the store that `edition` is.

        Raises UsageError if nothing was checked yet, if this text was not, or if it could be any of several texts that
        were moved.
        """
        stored = self.checked()
        if not stored:
            raise UsageError(_("%(name)s: nothing was checked yet; run proof check first"), name=self._name)
        own = [text for text in stored if _is_same_file(Path(text.path), edition.path)] or self._moved(stored, edition)
        if not own:
            raise UsageError(self._unknown(edition, stored))
        return TextInStore(tuple(own))

    def _moved(self, stored: Sequence[StoredText], edition: Transcription) -> list[StoredText]:
        """The stored texts that may have been moved to the path of `edition`: they have its file name and some of its
        pages, and their file is gone or has the content of the edition. Of several paths, the one that has most parts
        at its end in common with the edition's. Raises UsageError if several have equally many."""
        pages = {page.id for page in edition.pages}
        same_name = [text for text in stored if Path(text.path).name == edition.path.name]
        moved = [text for text in same_name if self._is_replaced(text.path, edition)]
        if edition.paged:
            moved = [text for text in moved if pages & text.pages]
        moved = nearest(moved, edition.path)
        paths = {text.path for text in moved}
        if len(paths) > 1:
            listed = "".join(f"\n  {path}" for path in sorted(paths))
            raise UsageError(
                _("%(path)s could be any of these texts, which were moved; check it again:%(listed)s"),
                path=edition.path,
                listed=listed,
            )
        return moved

    def _is_replaced(self, path: str, edition: Transcription) -> bool:
        """Whether the file at `path` is gone, or it or the stored text has the content of the edition. The file of the
        edition is not read: an export may have written it since."""
        file = Path(path)
        return not file.is_file() or self.content(path) == edition.text or file.read_bytes() == edition.data()

    def _unknown(self, edition: Transcription, stored: Sequence[StoredText]) -> str:
        """The message for a text that was not checked; it lists stored texts with the same pages or the same name."""
        pages = {page.id for page in edition.pages}
        similar = [text for text in stored if pages & text.pages or Path(text.path).name == edition.path.name]
        message = _("%(path)s was not checked in this project (%(name)s), so nothing was decided for it")
        if similar:
            message = _(
                "%(path)s was not checked in this project (%(name)s), so nothing was decided for it. Other files "
                "with the same pages or the same name were: name one of them, or check this one first%(listed)s"
            )
        listed = "".join(f"\n  {text.path} (work {text.work})" for text in similar)
        return Sentence(message, path=edition.path, name=self._name, listed=listed)

    def work_of(self, path: str) -> str | None:
        """The work in which the text at `path` was last checked; None if it was not."""
        last = select(func.max(PageRow.run_id)).where(PageRow.text == path, PageRow.absent.is_(False))
        query = select(WorkRow.name).join(RunRow, RunRow.work_id == WorkRow.id)
        with self._reading() as session:
            return session.scalar(query.where(RunRow.id == last.scalar_subquery()))

    def decided_places(self, paths: Collection[str], content: str, script: str) -> list[DecidedPlace]:
        """The decided flags of the texts at `paths`, also those that are open again, without seeded errors. `content`
        is the present content of these texts, whose script is `script`."""
        columns = (PageRow.page, FlagRow.line, FlagRow.offset, FlagRow.length, PageRow.version_id)
        query = select(DecisionRow, PageRow.image, *columns).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
        query = query.join(PageRow, PageRow.id == FlagRow.page_id).where(DecisionRow.version == FlagRow.version)
        places = []
        with self._reading() as session:
            for text in session.scalars(select(TextRow).where(TextRow.path.in_(paths)).order_by(TextRow.id)).all():
                rows = {row[0].flag_id: row for row in session.execute(query.where(FlagRow.text_id == text.id))}
                decided = decided_flags(session, text.id)
                stored = stored_content(session, text.version_id)
                present = TextChange(stored, content, text.version_id, script).carried([flag.place for flag in decided])
                is_current = stored == content
                for flag in decided:
                    row, image, page, line, offset, length, version = rows[flag.flag]
                    flag_now = replace(flag, present=present.get(flag.flag))
                    checked = CheckedPlace(page, line, offset, length, is_current and version == text.version_id)
                    places.append(DecidedPlace(flag_now, last_decision(session, row), image is not None, checked))
        return places

    def decided_elsewhere(self, paths: Collection[str]) -> list[tuple[Decision, str]]:
        """The last decisions in other texts on pages that the texts at `paths` have too, each with the path of its
        text; without those that keep the text, and without seeded errors."""
        pages = select(PageRow.page).where(PageRow.text.in_(paths), PageRow.absent.is_(False))
        query = select(DecisionRow, TextRow.path).join(FlagRow, FlagRow.id == DecisionRow.flag_id)
        query = query.join(PageRow, PageRow.id == FlagRow.page_id).join(TextRow, TextRow.id == FlagRow.text_id)
        query = query.where(DecisionRow.version == FlagRow.version, ~IS_SEEDED, PageRow.page.in_(pages))
        query = query.where(TextRow.path.not_in(paths), FlagRow.state.not_in([State.KEPT.value, State.OPEN.value]))
        with self._reading() as session:
            decided = session.execute(query.order_by(FlagRow.work_id, FlagRow.id)).all()
            return [(last_decision(session, row), path) for row, path in decided]

    def move(self, work: str, old: str, new: str) -> None:
        """Record that a text of a work moved to another path. Its pages move with it; the text itself only if the store
        has no text at the new path."""
        with self._writing() as session:
            work_id = find_work_id(session, work)
            session.execute(update(PageRow).where(PageRow.work_id == work_id, PageRow.text == old).values(text=new))
            texts = {text.path: text for text in lock_texts(session, [old, new])}
            if old in texts and new not in texts:
                texts[old].path = new
            raise_revision(session, work_id)

    def paths(self) -> set[str]:
        """The paths of all texts in the store."""
        with self._reading() as session:
            return set(session.scalars(select(TextRow.path)))

    def content(self, path: str) -> str:
        """The content of the text at `path` when it was last checked or exported; empty for an unknown text."""
        with self._reading() as session:
            version = select(TextVersionRow).join(TextRow, TextRow.version_id == TextVersionRow.id)
            newest = session.scalar(version.where(TextRow.path == path))
            return content_of(newest) if newest is not None else ""

    def record_export(
        self, path: str, before: str, after: str, script: str, written: ExportEdits, is_current: Callable[[], bool]
    ) -> None:
        """Record that an export changed the file at `path` from `before` to `after` by the edits `written`.

        Records nothing if `after` is not current, or if a check has recorded it already; `is_current` is called while
        the text is locked.
        """
        with self._writing() as session:
            texts = lock_texts(session, [path])
            is_known = before != after and any(stored_content(session, text.version_id) == after for text in texts)
            if is_current() and not is_known:
                record_content(session, path, before, script)
                record_content(session, path, after, script, written=written)


def _is_same_file(stored: Path, given: Path) -> bool:
    if stored.exists() and given.exists():
        return stored.samefile(given)
    return stored.resolve() == given.resolve()


def nearest(texts: Sequence[StoredText], path: Path) -> list[StoredText]:
    """Of these texts, those whose paths have most parts at their ends in common with `path`."""

    def common_parts(text: StoredText) -> int:
        pairs = zip(reversed(Path(text.path).parts), reversed(path.resolve().parts), strict=False)
        return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))

    most = max(map(common_parts, texts), default=0)
    return [text for text in texts if common_parts(text) == most]
