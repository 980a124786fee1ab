"""Texts whose files were moved or renamed, or copied with their project: the texts of the store that they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proof.settings.config import FILE_NAME, STORE_NAME
from proof.store import Store
from proof.store.text_files import StoredText
from proof.text.transcription import Transcription
from proof.text.versions import most_alike


def follow_renamed(store: Store, work: str, texts: Sequence[Transcription], base: Path) -> None:
    """Give the pages of every text of a work that was moved, renamed or copied to its new path, so that the store has
    no second text of the same pages. `base` is the folder of the project."""
    for text in texts:
        earlier = earlier_text(store, text, texts, base)
        if earlier is not None and earlier.work == work:
            store.texts.move(work, earlier.path, str(text.path))


def earlier_text(
    store: Store, text: Transcription, texts: Sequence[Transcription], base: Path | None = None
) -> StoredText | None:
    """The text of the store that `text` was before its file was moved, renamed or copied: one of the same name whose
    file is gone, or that lies in a project of which the one in the folder `base` is a copy; where there is none, the
    text most alike among those whose files are gone. None where the store knows the file itself, or where several have
    the name."""
    known, current = store.texts.paths(), {str(stored.path) for stored in texts}
    if str(text.path) in known:
        return None
    others = [stored for stored in store.texts.checked() if stored.path in known - current]
    gone = [stored for stored in others if not Path(stored.path).exists()]
    named = [stored for stored in gone if Path(stored.path).name == text.path.name]
    copied = [stored for stored in others if base and _is_copied(Path(stored.path), text.path, base)]
    if named or copied:
        return (named + copied)[0] if len({stored.path for stored in (*named, *copied)}) == 1 else None
    alike = most_alike(text.text, {stored.path: store.texts.content(stored.path) for stored in gone})
    return next((stored for stored in gone if stored.path == alike), None)


def _is_copied(old: Path, new: Path, base: Path) -> bool:
    """Whether `old` has the path in another project that `new` has in the project at `base`."""
    if not new.is_relative_to(base) or old.is_relative_to(base):
        return False
    inside = new.relative_to(base).parts
    other = Path(*old.parts[: -len(inside)])
    return (
        old.name == new.name
        and old.parts[-len(inside) :] == inside
        and any((other / name).is_file() for name in (FILE_NAME, STORE_NAME))
    )
