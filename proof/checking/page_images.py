"""Which image each page of a project's texts has, and image lists that a person's word is written into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.checking.plan import image_lists
from proof.errors import ImageListError, UsageError
from proof.images.find import ImageIndex, PageImage, natural
from proof.images.imglist import Entry, ImageList, place_of, write_entries
from proof.model.places import Place, place_given, spelled
from proof.settings.config import Settings
from proof.text.model import Page
from proof.text.read import read_transcription
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page of a text, and the image that a check would take for it."""

    text: Transcription
    page: Page
    image: PageImage | None

    @property
    def place(self) -> Place | None:
        return place_of(self.page)


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image file by its name inside the image folders, with `/` between folders."""

    name: str
    path: Path


class PageImages:
    """The pages of a project's texts in order, and the images of its folders, as names and image lists match them.
    Texts without page marks are laid out by the images themselves and left out."""

    def __init__(self, settings: Settings) -> None:
        """Raises TextError, UsageError for an image folder that is not there, ImageListError."""
        self._settings = settings
        self._index = ImageIndex(settings.project.images)
        self.pages: list[TextPage] = []
        for path in settings.text_files():
            text = read_transcription(path)
            if text.paged:
                self.pages += self._pages_of(text)
        self.files = sorted((ImageFile(*file) for file in self._index.files()), key=lambda file: natural(file.name))

    def lacking(self) -> list[TextPage]:
        """The pages without an image."""
        return [each for each in self.pages if each.image is None]

    def left(self) -> list[ImageFile]:
        """The images of no page, as people count their names."""
        used = {each.image.path for each in self.pages if each.image is not None}
        return [file for file in self.files if file.path not in used]

    def page(self, named: str) -> TextPage:
        """The page called `named`, by its id or its half-folio (`010-1a`). Raises UsageError unless there is one."""
        matching = [each for each in self.pages if each.page.id == named] or self._at(named)
        if len(matching) == 1:
            return matching[0]
        if matching:
            known = " and ".join(f"{each.page.id} of {each.text.path}" for each in matching)
            raise UsageError(f"{named} is the name of several pages, {known}: name one by its id, or give --texts")
        raise UsageError(f"no page is called {named}: give its id or its half-folio, as `proof pair` lists them")

    def file(self, named: str) -> ImageFile:
        """The image called `named`, by its name inside the image folders or as a path, or the part of one as image
        lists name it (`0012a.jpg`, half of `0012.jpg`). Raises UsageError."""
        path = Path(named).absolute()
        for file in self.files:
            if file.name == named or file.path.absolute() == path:
                return file
        part = self._index.listed(named)
        if part is not None:
            return ImageFile(named, part.path)
        folders = ", ".join(map(str, self._settings.project.images)) or "none"
        raise UsageError(f"{named} is no image in the image folders ({folders}): `proof pair` lists them")

    def write(self, pairs: Sequence[tuple[TextPage, ImageFile]]) -> list[tuple[Path, int]]:
        """Write pairs into the image lists of their texts; gives the lists, each with the number of its new lines.

        Raises UsageError for a page without a half-folio, ImageListError, OutputError; then no list is changed.
        """
        lists: dict[Path, dict[Place, str]] = {}
        for each, file in pairs:
            place = each.place
            if place is None:
                raise UsageError(
                    f"{each.page.id} of {each.text.path} has no half-folio, which an image list needs: assign its "
                    "image in the browser, on the page's view"
                )
            lists.setdefault(self._list_for(each), {})[place] = file.name
        for path, files in lists.items():
            write_entries(path, files)
        return [(path, len(files)) for path, files in lists.items()]

    def _pages_of(self, text: Transcription) -> list[TextPage]:
        index = self._index.with_lists(image_lists(self._settings, text))
        return [TextPage(text, page, _image_of(index, text, number)) for number, page in enumerate(text.pages)]

    def _at(self, named: str) -> list[TextPage]:
        try:
            place = place_given(named)
        except UsageError:
            return []
        return [each for each in self.pages if each.place == place]

    def _list_for(self, each: TextPage) -> Path:
        """The image list to write a page's image into: the one in use, else a new one where it will be looked for."""
        in_use = image_lists(self._settings, each.text)
        if in_use:
            about = [path for path in in_use if any(entry.place == each.place for entry in _entries(path))]
            return (about or list(in_use))[0]
        folder = self._settings.project.imglist or each.text.path.parent / "imglist"
        return folder / f"{each.text.path.stem}.txt"


def in_order(
    pages: Sequence[TextPage], files: Sequence[ImageFile], first: tuple[TextPage, ImageFile] | None
) -> list[tuple[TextPage, ImageFile]]:
    """Pages and images one by one, in their order; from `first` on, where it is given. Raises UsageError."""
    if first is not None:
        pages = list(pages)[list(pages).index(first[0]) :]
        files = list(files)[list(files).index(first[1]) :]
    return list(zip(pages, files, strict=False))


def named(each: TextPage) -> str:
    """A page as a person can name it: by its half-folio, else by its id."""
    return spelled(each.place) if each.place else each.page.id


def _entries(path: Path) -> Sequence[Entry]:
    """The lines of an image list. Raises UsageError for a file of which none is understood: it is none."""
    entries = ImageList.read(path).entries
    if not entries:
        raise UsageError(f"{path} is no image list: move it away, or name another with --imglist")
    return entries


def _image_of(index: ImageIndex, text: Transcription, number: int) -> PageImage | None:
    try:
        return index.find(text.pages[number]) or index.counted(text.path.stem, number, len(text.pages))
    except ImageListError:
        return None
