"""The files of the texts of a store: their contents, the works they are parts of, and what was decided in them.

A text is a file: the same pages can stand in several files of one work (two branches of a repository), and the same
file can be a part of several works. A file that was moved or copied is matched by its name where the old file is gone
or has the same content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select, update

from proof.errors import UsageError
from proof.locale.marking import Sentence, _
from proof.store.lookup import Sessions, StorePart, find_work_id, raise_revision, work_id_subquery
from proof.store.models import DecisionRow, FlagRow, PageRow, RunRow, TextRow, TextVersionRow, WorkRow
from proof.store.seeded import IS_SEEDED
from proof.store.text_changes import ExportEdits, Place
from proof.store.texts import content_of, lock_texts, place_of, record_content, stored_content
from proof.text.transcription import Transcription


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
    version `present` is another. `imaged`: its page has an image. `first` is the id of the first decision about the
    flag."""

    text: str
    version: int
    present: int
    place: Place
    imaged: bool
    first: int


@dataclass(frozen=True, slots=True)
class TextInStore:
    """A text in a store: `own` are its records, one for each work in which it was checked, `others` the other texts."""

    own: tuple[StoredText, ...]
    others: tuple[StoredText, ...]

    def pages(self, work: str) -> frozenset[str]:
        """The ids of the text's pages in a work."""
        return frozenset(page for text in self.own if text.work == work for page in text.pages)

    @property
    def latest(self) -> StoredText:
        """The text as it was checked last."""
        return max(self.own, key=lambda text: text.run)


class Texts(StorePart):
    """The texts of the store that messages call `name`; `Store.texts` is one."""

    def __init__(self, reading: Sessions, writing: Sessions, name: str) -> None:
        super().__init__(reading, writing)
        self._name = name

    def record_content(self, path: str, content: str, script: str, still: Callable[[], bool]) -> bool:
        """Record that the text at `path` has `content`. Returns False and records nothing if the store no longer has a
        text at `path`, or if `still`, called while the text is locked, says that the content is outdated."""
        with self._writing() as session:
            is_current = bool(lock_texts(session, [path])) and still()
            if is_current:
                record_content(session, path, content, script)
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

    def find(self, edition: Transcription) -> TextInStore:
        """The text that `edition` is.

        Raises UsageError where nothing was checked yet, where this text was not, or where it could be any of several
        texts that were moved.
        """
        known = self.checked()
        if not known:
            raise UsageError(_("%(name)s: nothing was checked yet; run proof check first"), name=self._name)
        own = [text for text in known if _same_file(Path(text.path), edition.path)] or self._moved(known, edition)
        if not own:
            raise UsageError(self._unknown(edition, known))
        return TextInStore(tuple(own), tuple(text for text in known if text not in own))

    def _moved(self, known: Sequence[StoredText], edition: Transcription) -> list[StoredText]:
        """The stored texts of the same name whose file is gone, or that have the content of the edition in the store or
        in their file; of several the one whose path has the most last parts in common with the edition's. Raises
        UsageError where several have equally many."""
        pages = {page.id for page in edition.pages}
        alike = [
            text
            for text in known
            if Path(text.path).name == edition.path.name
            and self._replaced(text.path, edition)
            and (not edition.paged or pages & text.pages)
        ]
        common = {text.path: _in_common(Path(text.path), edition.path.resolve()) for text in alike}
        nearest = {path for path, shared in common.items() if shared == max(common.values())}
        if len(nearest) > 1:
            listed = "".join(f"\n  {path}" for path in sorted(nearest))
            raise UsageError(
                _("%(path)s could be any of these texts, which were moved; check it again:%(listed)s"),
                path=edition.path,
                listed=listed,
            )
        return [text for text in alike if text.path in nearest]

    def _replaced(self, stored: str, edition: Transcription) -> bool:
        path = Path(stored)  # the file of the edition is not looked at: an export may have written it since it was read
        return not path.is_file() or self.content(stored) == edition.text or path.read_bytes() == edition.data()

    def _unknown(self, edition: Transcription, known: Sequence[StoredText]) -> str:
        pages = {page.id for page in edition.pages}
        near = [text for text in known if pages & text.pages or Path(text.path).name == edition.path.name]
        message = _("%(path)s was not checked in this project (%(name)s), so nothing was decided for it")
        if near:
            message = _(
                "%(path)s was not checked in this project (%(name)s), so nothing was decided for it. Other files "
                "with the same pages or the same name were: name one of them, or check this one first%(listed)s"
            )
        listed = "".join(f"\n  {text.path} (work {text.work})" for text in near)
        return Sentence(message, path=edition.path, name=self._name, listed=listed)

    def work_of(self, path: str) -> str | None:
        """The work that the text at `path` was last checked as a part of."""
        last = select(func.max(PageRow.run_id)).where(PageRow.text == path, PageRow.absent.is_(False))
        query = select(WorkRow.name).join(RunRow, RunRow.work_id == WorkRow.id)
        with self._reading() as session:
            return session.scalar(query.where(RunRow.id == last.scalar_subquery()))

    def decided_places(self, work: str) -> list[DecidedPlace]:
        """The places of a work of which something was decided, or was written and taken back since."""
        first = select(func.min(DecisionRow.id)).where(DecisionRow.flag_id == FlagRow.id).scalar_subquery()
        query = select(FlagRow, TextRow, PageRow.image, first).join(TextRow, TextRow.id == FlagRow.text_id)
        query = query.join(PageRow, PageRow.id == FlagRow.page_id).order_by(FlagRow.id)
        query = query.where(FlagRow.work_id == work_id_subquery(work), FlagRow.version > 0, ~IS_SEEDED)
        with self._reading() as session:
            return [
                DecidedPlace(
                    text.path, flag.version_id or 0, text.version_id or 0, place_of(flag), image is not None, number
                )
                for flag, text, image, number in session.execute(query)
            ]

    def content_of_version(self, version: int) -> str:
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
            number = find_work_id(session, work)
            session.execute(update(PageRow).where(PageRow.work_id == number, PageRow.text == old).values(text=new))
            known = {text.path: text for text in lock_texts(session, [old, new])}
            if old in known and new not in known:
                known[old].path = new
            raise_revision(session, number)

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

    def record_export(
        self, path: str, before: str, after: str, script: str, written: ExportEdits, still: Callable[[], bool]
    ) -> None:
        """Record that an export changed the file at `path` from `before` to `after` by `written`.

        Records nothing if `still` says that the content is outdated, or if a check has recorded `after` already.
        """
        with self._writing() as session:
            texts = lock_texts(session, [path])
            if still() and not any(stored_content(session, known.version_id) == after for known in texts):
                record_content(session, path, before, script)
                record_content(session, path, after, script, written=written)


def _same_file(stored: Path, given: Path) -> bool:
    return stored.resolve() == given.resolve() or (stored.exists() and given.exists() and stored.samefile(given))


def _in_common(path: Path, other: Path) -> int:
    pairs = zip(reversed(path.parts), reversed(other.parts), strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(path.parts), len(other.parts)))
