"""What of the material of a check was of no use: images that belong to no page, lists and files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from proof.check.plan import PageTask, image_lists
from proof.images.find import ImageIndex, names_of
from proof.images.imglist import ImageList, place_of
from proof.model.notices import Notice, NoticeCode
from proof.settings.config import Settings
from proof.text.model import Page, Transcription

HARMLESS = frozenset({NoticeCode.LINK_OUTWARD, NoticeCode.LINK_BROKEN, NoticeCode.PDF_OTHER_LENGTH})
"""Notices about image folders that leave nothing unread."""


def unusable_material(
    settings: Settings, texts: Sequence[Transcription], tasks: Sequence[PageTask], index: ImageIndex
) -> tuple[Notice, ...]:
    """What was named and served no page: folders and PDFs that cannot be read; where pages lack an image, also folders
    without images or with none of any page, and image lists of no use. `tasks` are all pages of the `texts`."""
    found = [notice for notice in index.notices if notice.code not in HARMLESS]
    lacking = [task.page for task in tasks if task.found is None]
    if lacking:
        used = {task.found.path for task in tasks if task.found is not None}
        files = [path for _, path in index.files()]
        for folder in settings.project.images:
            found += _of_folder(folder, [path for path in files if path.is_relative_to(folder)], used, lacking[0])
        found += _of_lists(settings, texts, index, lacking)
    return tuple(found)


def left_over(settings: Settings, tasks: Sequence[PageTask], index: ImageIndex) -> tuple[Notice, ...]:
    """How many images of each folder belong to none of the pages, where other images of it do and pages lack one."""
    if all(task.found is not None for task in tasks):
        return ()
    used = {task.found.path for task in tasks if task.found is not None}
    found = []
    for folder in settings.project.images:
        inside = {path for _, path in index.files() if path.is_relative_to(folder)}
        if inside & used and inside - used:
            found.append(Notice.of(NoticeCode.IMAGES_LEFT_OVER, number=len(inside - used), folder=str(folder)))
    return tuple(found)


def _of_folder(folder: Path, files: Sequence[Path], used: set[Path], lacking: Page) -> Iterator[Notice]:
    if not files:
        yield Notice.of(NoticeCode.NO_IMAGES_IN, folder=str(folder))
    elif used.isdisjoint(files):
        called = " or ".join(f"{name}{files[0].suffix.partition('#')[0]}" for name in names_of(lacking))
        yield Notice.of(NoticeCode.IMAGES_OF_NO_PAGE, number=len(files), folder=str(folder), example=called)


def _of_lists(
    settings: Settings, texts: Sequence[Transcription], index: ImageIndex, lacking: Sequence[Page]
) -> Iterator[Notice]:
    """Lists that no line was understood of, and those whose lines about pages without an image name missing files."""
    places = {place_of(page) for page in lacking}
    paths = dict.fromkeys(path for text in texts for path in image_lists(settings, text))
    for path in paths:
        listed = ImageList.read(path)
        about = [entry for entry in listed.entries if entry.place in places]
        if not listed.entries:
            yield Notice.of(NoticeCode.LIST_NOT_UNDERSTOOD, path=str(path))
        elif about and not any(index.listed(entry.file) for entry in about):
            file = about[0].file
            yield Notice.of(NoticeCode.LISTED_FILES_MISSING, path=str(path), number=len(about), file=file)
        yield from listed.notices[:1] if listed.entries else ()
