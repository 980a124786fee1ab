"""Texts whose files were moved, renamed or copied with their project: under what name the store knows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proof.settings.config import FILE_NAME, STORE_NAME
from proof.store import Store
from proof.store.rows import StoredText
from proof.text.transcription import Transcription
from proof.text.versions import most_alike


def follow_renamed(store: Store, work: str, texts: Sequence[Transcription], base: Path) -> None:
    """Have the pages of a text of a work that lies elsewhere now, or is called otherwise, stay its pages, so that those
    which it no longer has do not stay beside it. `base` is the folder of the project."""
    for text in texts:
        was = earlier_name(store, text, texts, base)
        if was is not None and was.work == work:
            store.move_text(work, was.path, str(text.path))


def earlier_name(
    store: Store, text: Transcription, texts: Sequence[Transcription], base: Path | None = None
) -> StoredText | None:
    """The text as the store knows it whose file is gone and which this one is now: the one of that name or, where there
    is none, the one that read most like it. Of the same name in a project of which this one in the folder `base` is a
    copy, too. None where the store knows the file itself."""
    known, here = store.text_versions.paths(), {str(stored.path) for stored in texts}
    if str(text.path) in known:
        return None
    others = [stored for stored in store.texts() if stored.path in known - here]
    gone = [stored for stored in others if not Path(stored.path).exists()]
    named = [stored for stored in gone if Path(stored.path).name == text.path.name]
    copied = [stored for stored in others if base and _is_copied(Path(stored.path), text.path, base)]
    if named or copied:
        return (named + copied)[0] if len({stored.path for stored in (*named, *copied)}) == 1 else None
    alike = most_alike(text.text, {stored.path: store.text_versions.content(stored.path) for stored in gone})
    return next((stored for stored in gone if stored.path == alike), None)


def _is_copied(old: Path, new: Path, base: Path) -> bool:
    """Whether the text at `new` lies in its project as the one at `old` does in another, which has a store too."""
    if not new.is_relative_to(base) or old.is_relative_to(base):
        return False
    inside = new.relative_to(base).parts
    other = Path(*old.parts[: -len(inside)])
    return (
        old.name == new.name
        and old.parts[-len(inside) :] == inside
        and any((other / name).is_file() for name in (FILE_NAME, STORE_NAME))
    )
