"""Notices about the material of a check: images that belong to no page, lists and files that cannot be read, pages in
several texts, and images with one name in several places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.checking.plan import PageTask, image_lists
from proof.images.find import ImageIndex, names_of
from proof.images.imglist import ImageList, listed_page
from proof.model.notices import Notice, NoticeCode
from proof.settings.config import Settings
from proof.text.model import Page
from proof.text.transcription import Transcription

HARMLESS = frozenset({NoticeCode.LINK_OUTWARD, NoticeCode.LINK_BROKEN, NoticeCode.PDF_OTHER_LENGTH})
"""Notices about image folders that do not keep a check from succeeding."""


@dataclass(frozen=True, slots=True)
class UnusedMaterial:
    """Notices about the material of a check that serves no page. With an `unusable` one the check is no success; those
    on what is `left_over` are only for information, since that may be intended."""

    unusable: tuple[Notice, ...] = ()
    left_over: tuple[Notice, ...] = ()


def unused_material(
    settings: Settings,
    texts: Sequence[Transcription],
    tasks: Sequence[PageTask],
    index: ImageIndex,
    others: Callable[[], Iterable[Path]],
) -> UnusedMaterial:
    """Notices about folders and PDFs that cannot be read. If pages lack an image, also about folders without images or
    with images of no page, about image lists of no use, and on how many images of each folder are left over.

    `tasks` are all pages of the `texts`. `others` gives the images of the other pages of their work; it is called only
    if pages lack an image.
    """
    unusable = [notice for notice in index.notices if notice.code not in HARMLESS]
    without_image = [task.page for task in tasks if task.image is None]
    if not without_image:
        return UnusedMaterial(tuple(unusable))
    used = {*(task.image.path for task in tasks if task.image is not None), *others()}
    first_of_name = dict(index.files())
    left_over = []
    for folder in settings.project.images:
        files = [(name, path) for name, path in index.every_file() if path.is_relative_to(folder)]
        # a file counts as used if one of the same name in another folder serves the page; `SEVERAL_FILES` reports it
        number = sum(first_of_name[name] not in used for name, _ in files)
        if number == len(files):
            unusable.append(_about_folder(folder, [path for _, path in files], without_image[0]))
        elif number:
            left_over.append(Notice.of(NoticeCode.IMAGES_LEFT_OVER, number=number, folder=str(folder)))
    unusable += _about_lists(settings, texts, index, without_image)
    return UnusedMaterial(tuple(unusable), tuple(left_over))


def _about_folder(folder: Path, files: Sequence[Path], without_image: Page) -> Notice:
    """The notice about a folder of whose image `files` none belongs to a page; `without_image` is a page without an
    image, for an example of a file name."""
    if not files:
        return Notice.of(NoticeCode.NO_IMAGES_IN, folder=str(folder))
    suffix = files[0].suffix.partition("#")[0]  # of a page of a PDF without its number
    example = " or ".join(f"{name}{suffix}" for name in names_of(without_image))
    return Notice.of(NoticeCode.IMAGES_OF_NO_PAGE, number=len(files), folder=str(folder), example=example)


def _about_lists(
    settings: Settings, texts: Sequence[Transcription], index: ImageIndex, without_image: Sequence[Page]
) -> Iterator[Notice]:
    """Notices about lists without a valid line, and about lists that have lines for pages `without_image` but name no
    existing file; of every other list the first notice about a line."""
    wanted = set(map(listed_page, without_image))
    pages = [page for text in texts for page in text.pages]
    for path in dict.fromkeys(path for text in texts for path in image_lists(settings, text)):
        listed = ImageList.read(path, pages)
        if not listed.entries:
            yield Notice.of(NoticeCode.LIST_NOT_UNDERSTOOD, path=str(path))
            continue
        files = [entry.file for entry in listed.entries if entry.page in wanted]
        if files and not any(index.listed(entry.file) for entry in listed.entries):
            yield Notice.of(NoticeCode.LISTED_FILES_MISSING, path=str(path), number=len(files), file=files[0])
        yield from listed.notices[:1]


def repeated_material(tasks: Sequence[PageTask]) -> tuple[Notice, ...]:
    """A notice about pages in several texts, and one about images for which several files match."""
    return (*_repeated_pages(tasks), *_repeated_images(tasks))


def _repeated_pages(tasks: Sequence[PageTask]) -> Iterator[Notice]:
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for task in tasks:
        texts[task.page.id][task.place.text] = None
    repeated = {page: list(paths) for page, paths in texts.items() if len(paths) > 1}
    if repeated:
        page, (first, second, *_) = next(iter(repeated.items()))
        yield Notice.of(NoticeCode.PAGES_IN_SEVERAL_TEXTS, number=len(repeated), page=page, one=first, other=second)


def _repeated_images(tasks: Sequence[PageTask]) -> Iterator[Notice]:
    notices = [notice for task in tasks if task.image is not None for notice in task.image.notices]
    repeated = [dict(notice.values) for notice in notices if notice.code is NoticeCode.SEVERAL_FILES]
    if repeated:
        file, others = repeated[0]["file"], repeated[0]["others"]
        yield Notice.of(NoticeCode.IMAGES_IN_SEVERAL_PLACES, number=len(repeated), file=file, others=others)
