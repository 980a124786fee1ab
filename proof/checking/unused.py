"""What of the material of a check was of no use: images that belong to no page, lists and files that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.checking.plan import PageTask, image_lists
from proof.images.find import ImageIndex, names_of
from proof.images.imglist import ImageList, place_of
from proof.model.notices import Notice, NoticeCode
from proof.settings.config import Settings
from proof.text.model import Page
from proof.text.transcription import Transcription

HARMLESS = frozenset({NoticeCode.LINK_OUTWARD, NoticeCode.LINK_BROKEN, NoticeCode.PDF_OTHER_LENGTH})
"""Notices about image folders that leave nothing unread."""


@dataclass(frozen=True, slots=True)
class Unused:
    """What was named for a check and served no page: `unusable` is no success of it, `left_over` may well be meant."""

    unusable: tuple[Notice, ...] = ()
    left_over: tuple[Notice, ...] = ()


def unused_material(
    settings: Settings,
    texts: Sequence[Transcription],
    tasks: Sequence[PageTask],
    index: ImageIndex,
    others: Callable[[], Iterable[Path]],
) -> Unused:
    """What was named and served no page: folders and PDFs that cannot be read; where pages lack an image, also folders
    without images or with none of any page, image lists of no use, and how many images of each folder are left over.

    `tasks` are all pages of the `texts`; `others` gives the images of the other pages of their work.
    """
    unusable = [notice for notice in index.notices if notice.code not in HARMLESS]
    lacking = [task.page for task in tasks if task.image is None]
    if not lacking:
        return Unused(tuple(unusable))
    used = {*(task.image.path for task in tasks if task.image is not None), *others()}
    first = dict(index.files())
    files = index.every_file()
    left = []
    for folder in settings.project.images:
        inside = [path for _, path in files if path.is_relative_to(folder)]
        # another folder's file of the same name may serve its page: that there are several is another notice
        serving = [first[name] for name, path in files if path.is_relative_to(folder)]
        if not used.isdisjoint(serving):
            number = sum(path not in used for path in serving)
            left += [Notice.of(NoticeCode.IMAGES_LEFT_OVER, number=number, folder=str(folder))] if number else []
        else:
            unusable.append(_of_no_use(folder, inside, lacking[0]))
    unusable += _of_lists(settings, texts, index, lacking)
    return Unused(tuple(unusable), tuple(left))


def _of_no_use(folder: Path, files: Sequence[Path], lacking: Page) -> Notice:
    """What is said of a folder none of whose images belongs to a page; `lacking` is a page without one."""
    if not files:
        return Notice.of(NoticeCode.NO_IMAGES_IN, folder=str(folder))
    called = " or ".join(f"{name}{files[0].suffix.partition('#')[0]}" for name in names_of(lacking))
    return Notice.of(NoticeCode.IMAGES_OF_NO_PAGE, number=len(files), folder=str(folder), example=called)


def _of_lists(
    settings: Settings, texts: Sequence[Transcription], index: ImageIndex, lacking: Sequence[Page]
) -> Iterator[Notice]:
    """Lists of which no line was understood, and those that name no file that is there."""
    places = {place_of(page) for page in lacking}
    paths = dict.fromkeys(path for text in texts for path in image_lists(settings, text))
    for path in paths:
        listed = ImageList.read(path)
        about = [entry for entry in listed.entries if entry.place in places]
        if not listed.entries:
            yield Notice.of(NoticeCode.LIST_NOT_UNDERSTOOD, path=str(path))
        elif about and not any(index.listed(entry.file) for entry in listed.entries):
            file = about[0].file
            yield Notice.of(NoticeCode.LISTED_FILES_MISSING, path=str(path), number=len(about), file=file)
        yield from listed.notices[:1] if listed.entries else ()
