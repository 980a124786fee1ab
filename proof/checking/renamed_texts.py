"""Files that were moved, renamed or copied with their project since they were checked: which text of the store each of
them is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from proof.settings.config import FILE_NAME, STORE_NAME
from proof.store import Store
from proof.store.text_files import StoredText, nearest
from proof.text.transcription import Transcription
from proof.text.versions import most_alike


def follow_renamed(store: Store, work: str, texts: Sequence[Transcription], base: Path) -> None:
    """Give every text of a work that was moved, renamed or copied its new path in the store, so that the store has no
    second text of the same pages. `base` is the folder of the project."""
    for text in texts:
        earlier = earlier_text(store, text, texts, base)
        if earlier is not None and earlier.work == work:
            store.texts.move(work, earlier.path, str(text.path))


def earlier_text(
    store: Store, text: Transcription, texts: Sequence[Transcription], base: Path | None = None
) -> StoredText | None:
    """The text of the store that `text` was before its file was moved, renamed or copied. None if the store knows the
    file of `text` itself.

    Candidates are the texts with the same file name whose files are gone, and those with the same path in a project of
    which the project in `base` is a copy. Of several candidates it is the nearest by its path, or none if several are
    as near. If there is no candidate, it is the most similar text among those whose files are gone. The other `texts`
    that are checked now are left out.
    """
    stored_paths, checked_paths = store.texts.paths(), {str(checked.path) for checked in texts}
    if str(text.path) in stored_paths:
        return None
    others = [stored for stored in store.texts.checked() if stored.path in stored_paths - checked_paths]
    gone = [stored for stored in others if not Path(stored.path).exists()]
    same_name = [stored for stored in gone if Path(stored.path).name == text.path.name]
    copied_from = [stored for stored in others if base and _is_copied(Path(stored.path), text.path, base)]
    if candidates := nearest([*same_name, *copied_from], text.path):
        return candidates[0] if len({stored.path for stored in candidates}) == 1 else None
    most_similar = most_alike(text.text, {stored.path: store.texts.content(stored.path) for stored in gone})
    return next((stored for stored in gone if stored.path == most_similar), None)


def _is_copied(old: Path, new: Path, base: Path) -> bool:
    """Whether `old` is a file in another project and has the same path in it as `new` in the project at `base`."""
    if not new.is_relative_to(base) or old.is_relative_to(base):
        return False
    inside = new.relative_to(base).parts
    other_base = Path(*old.parts[: -len(inside)])
    is_project = any((other_base / name).is_file() for name in (FILE_NAME, STORE_NAME))
    return is_project and old.parts[-len(inside) :] == inside
