"""The text of a store that a given file is.

A text is a file: the same pages can stand in several files of one work (two branches of a repository), and the same
file can be a part of several works. A file that was moved or copied is matched by its name where the old file is gone
or has the same content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.errors import UsageError
from proof.locale.marking import Sentence, _
from proof.store.store import Store
from proof.store.text_files import StoredText
from proof.text.transcription import Transcription


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


def find_text(store: Store, edition: Transcription) -> TextInStore:
    """The text of `edition` in a store.

    Raises UsageError where nothing was checked yet, where this text was not, or where it could be any of several texts
    that were moved.
    """
    known = store.texts.checked()
    if not known:
        raise UsageError(_("%(name)s: nothing was checked yet; run proof check first"), name=store.name)
    own = [text for text in known if _same_file(Path(text.path), edition.path)] or _moved(store, known, edition)
    if not own:
        raise UsageError(_unknown(store, edition, known))
    return TextInStore(tuple(own), tuple(text for text in known if text not in own))


def _same_file(stored: Path, given: Path) -> bool:
    return stored.resolve() == given.resolve() or (stored.exists() and given.exists() and stored.samefile(given))


def _moved(store: Store, known: Sequence[StoredText], edition: Transcription) -> list[StoredText]:
    """The stored texts of the same name whose file is gone, or that have the content of the edition in the store or in
    their file; of several the one whose path has the most last parts in common with the edition's. Raises UsageError
    where several have equally many."""
    pages = {page.id for page in edition.pages}
    alike = [
        text
        for text in known
        if Path(text.path).name == edition.path.name
        and _replaced(store, text.path, edition)
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


def _replaced(store: Store, stored: str, edition: Transcription) -> bool:
    path = Path(stored)  # the file of the edition is not looked at: an export may have written it since it was read
    return not path.is_file() or store.texts.content(stored) == edition.text or path.read_bytes() == edition.data()


def _in_common(path: Path, other: Path) -> int:
    pairs = zip(reversed(path.parts), reversed(other.parts), strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(path.parts), len(other.parts)))


def _unknown(store: Store, edition: Transcription, known: Sequence[StoredText]) -> str:
    pages = {page.id for page in edition.pages}
    near = [text for text in known if pages & text.pages or Path(text.path).name == edition.path.name]
    message = _("%(path)s was not checked in this project (%(name)s), so nothing was decided for it")
    if near:
        message = _(
            "%(path)s was not checked in this project (%(name)s), so nothing was decided for it. Other files with the "
            "same pages or the same name were: name one of them, or check this one first%(listed)s"
        )
    listed = "".join(f"\n  {text.path} (work {text.work})" for text in near)
    return Sentence(message, path=edition.path, name=store.name, listed=listed)
