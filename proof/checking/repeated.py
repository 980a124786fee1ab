"""Notices about repeated material: pages in several texts, and images with one name in several places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from proof.checking.plan import PageTask
from proof.model.notices import Notice, NoticeCode


def repeated_material(tasks: Sequence[PageTask]) -> tuple[Notice, ...]:
    """A notice about pages in several texts, and one about images for which several files match."""
    return (*_pages(tasks), *_images(tasks))


def _pages(tasks: Sequence[PageTask]) -> Iterator[Notice]:
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for task in tasks:
        texts[task.page.id][task.place.text] = None
    twice = {page: list(paths) for page, paths in texts.items() if len(paths) > 1}
    if twice:
        page, (first, second, *_) = next(iter(twice.items()))
        yield Notice.of(NoticeCode.PAGES_IN_SEVERAL_TEXTS, number=len(twice), page=page, one=first, other=second)


def _images(tasks: Sequence[PageTask]) -> Iterator[Notice]:
    several = [
        dict(notice.values)
        for task in tasks
        if task.image is not None
        for notice in task.image.notices
        if notice.code is NoticeCode.SEVERAL_FILES
    ]
    if several:
        file, others = several[0]["file"], several[0]["others"]
        yield Notice.of(NoticeCode.IMAGES_IN_SEVERAL_PLACES, number=len(several), file=file, others=others)
