"""Which image each page of a project's texts has; and writing the pairs that a person made into image lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.checking.plan import image_lists
from proof.errors import ImageListError, UsageError
from proof.images.find import ImageIndex, PageImage
from proof.images.imglist import Entry, ImageList, ListedPage, listed_page, write_entries
from proof.locale.marking import AND, Sentence, _, joined
from proof.model.half_folios import half_folio_name, parse_half_folio
from proof.paths import natural
from proof.settings.config import Settings
from proof.text.model import Page
from proof.text.read import read_transcription
from proof.text.transcription import Transcription


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page of a text, and the image that a check would use for it."""

    text: Transcription
    page: Page
    image: PageImage | None

    @property
    def listed(self) -> ListedPage:
        """The page as image lists name it."""
        return listed_page(self.page)


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image file by its name inside the image folders, with `/` between folders."""

    name: str
    path: Path


class PageImages:
    """The `pages` of a project's texts in order, each with the image that file names and image lists give it; and the
    image `files` of its folders. Texts without page marks are left out, since a check divides them by the images."""

    def __init__(self, settings: Settings) -> None:
        """Raises TextError, ImageListError, UsageError for an image folder that does not exist."""
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
        return [page for page in self.pages if page.image is None]

    def unused(self) -> list[ImageFile]:
        """The image files that are used for no page, in the order of the numbers in their names."""
        used = {page.image.path for page in self.pages if page.image is not None}
        return [file for file in self.files if file.path not in used]

    def page(self, named: str) -> TextPage:
        """The page called `named`, by its id or its half-folio (`010-1a`). Raises UsageError unless there is one."""
        matching = [page for page in self.pages if page.page.id == named] or self._at(named)
        if len(matching) == 1:
            return matching[0]
        if matching:
            known = joined(
                (Sentence(_("%(page)s of %(text)s"), page=page.page.id, text=page.text.path) for page in matching), AND
            )
            raise UsageError(
                _("%(named)s is the name of several pages, %(known)s: name one by its id, or give --texts"),
                named=named,
                known=known,
            )
        raise UsageError(
            _("no page is called %(named)s: give its id or its half-folio, as `proof pair` lists them"), named=named
        )

    def file(self, named: str) -> ImageFile:
        """The image file `named` by its name inside the image folders or by a path; or the part of an image that is
        named as in image lists (`0012a.jpg`, half of `0012.jpg`). Raises UsageError."""
        path = Path(named).absolute()
        for file in self.files:
            if file.name == named or file.path.absolute() == path:
                return file
        part = self._index.listed(named)
        if part is not None:
            return ImageFile(named, part.path)
        folders = ", ".join(map(str, self._settings.project.images)) or Sentence(_("none"))
        raise UsageError(
            _("%(named)s is not an image in the image folders (%(folders)s): `proof pair` lists them"),
            named=named,
            folders=folders,
        )

    def write(self, pairs: Sequence[tuple[TextPage, ImageFile]]) -> list[tuple[Path, int]]:
        """Write pairs into the image lists of their texts; gives the lists, each with the number of its pairs.

        Raises UsageError for a file that is no image list, and ImageListError; then no list is changed. Raises
        OutputError if one cannot be written; then those before it are.
        """
        lists: dict[Path, dict[ListedPage, str]] = {}
        for page, file in pairs:
            lists.setdefault(self._list_for(page), {})[page.listed] = file.name
        for path, files in lists.items():
            write_entries(path, files)
        return [(path, len(files)) for path, files in lists.items()]

    def _pages_of(self, text: Transcription) -> list[TextPage]:
        index = self._index.with_lists(image_lists(self._settings, text), text.pages)
        return [TextPage(text, page, _image_of(index, text, number)) for number, page in enumerate(text.pages)]

    def _at(self, named: str) -> list[TextPage]:
        """The pages with the half-folio `named`."""
        try:
            place = parse_half_folio(named)
        except UsageError:
            return []
        return [page for page in self.pages if page.listed == place]

    def _list_for(self, page: TextPage) -> Path:
        """The image list to write a page's image into: of the lists in use the first that has the page, else the first.
        If none is in use, it is a new one, in the folder where a check looks for it."""
        in_use = image_lists(self._settings, page.text)
        if in_use:
            pages = page.text.pages
            with_page = [path for path in in_use if any(entry.page == page.listed for entry in _entries(path, pages))]
            return (with_page or in_use)[0]
        folder = self._settings.project.imglist or page.text.path.parent / "imglist"
        return folder / f"{page.text.path.stem}.txt"


def in_order(
    pages: Sequence[TextPage], files: Sequence[ImageFile], first: tuple[TextPage, ImageFile] | None
) -> list[tuple[TextPage, ImageFile]]:
    """Pairs of a page and an image, both in their order, until one of the two ends; from the pair `first` on, if given.

    Raises UsageError if the image of `first` is not one of `files`, but a part of one.
    """
    if first is not None:
        page, file = first
        if file not in files:
            raise UsageError(
                _(
                    "there is no image file %(name)s, and --in-order pairs pages with whole files: begin at "
                    "one, such as %(path)s"
                ),
                name=file.name,
                path=file.path,
            )
        pages, files = pages[pages.index(page) :], files[files.index(file) :]
    return list(zip(pages, files, strict=False))


def name_of(page: TextPage) -> str:
    """The name by which `PageImages.page` finds a page: its half-folio, else its id."""
    return page.listed if isinstance(page.listed, str) else half_folio_name(page.listed)


def _entries(path: Path, pages: Sequence[Page]) -> Sequence[Entry]:
    """The lines of an image list of the `pages` of a text. Raises UsageError for a file of which no line is
    understood."""
    entries = ImageList.read(path, pages).entries
    if not entries:
        raise UsageError(_("%(path)s is not an image list: move it away, or name another with --imglist"), path=path)
    return entries


def _image_of(index: ImageIndex, text: Transcription, number: int) -> PageImage | None:
    """The image of a page. None also if its line of the image list cannot be used, so that a person can pair it."""
    try:
        return index.image_of(text, number)
    except ImageListError:
        return None
