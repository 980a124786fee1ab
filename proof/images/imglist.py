"""Reads and writes Kanripo image lists, which map half-folios to image files.

A line has three columns separated by tabs: the place in the text (juan, half-folio and line, `010-1a00`), the edition
and its own page (`WYG 010-1a`), and the file (`WYG0103/WYG0103-0192c.png`). A Kanripo repository has a list for each
juan, such as `imglist/KR1d0030_010.txt`. A page that is no half-folio (`12` of a plain text, `L55n1638_p0001a` of a
TEI file) is listed by its id.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.atomic import whole_file
from proof.errors import ImageListError
from proof.locale.marking import Sentence, _
from proof.model.half_folios import JuanFolio, half_folio_name, juan_key
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import Folio, PageId
from proof.text.encoding import utf8_text
from proof.text.model import Page

_PLACE = re.compile(r"(?P<juan>\S+)-(?P<folio>[0-9]+[abAB])(?P<line>[0-9]{2})?")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
"""The beginning of an absolute path of Windows."""


ListedPage = JuanFolio | str
"""A page as lists name it: its half-folio, or the id of a page without one."""


def listed_page(page: Page) -> ListedPage:
    """The half-folio of `page`, or its id if it has none."""
    return place_of(page) or page.id


def place_of(page: Page) -> JuanFolio | None:
    """The juan and half-folio of `page`, from its id or else from the text; None if it has no half-folio."""
    parts = PageId.match(page.id)
    if parts:
        return juan_key(parts.juan), parts.folio
    return (juan_key(page.juan), page.folio) if page.folio else None


def edition_of(page: Page) -> str:
    """The siglum of the edition in the page's id or image reference, in upper case; '' if neither has one."""
    parts = PageId.match(page.id)
    if parts:
        return parts.edition.upper()
    return page.ref.edition if page.ref else ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list, about `page`. `file` is the path as listed, with forward slashes; `error` says why it is
    refused."""

    page: ListedPage
    edition: str
    file: str
    source: Path
    line: int
    error: ImageListError | None = None


@dataclass(frozen=True, slots=True)
class ImageList:
    """An image list. `notices` are about unusable lines, which affect only their own page."""

    path: Path
    entries: tuple[Entry, ...]
    notices: tuple[Notice, ...]

    @classmethod
    def read(cls, path: Path | str, pages: Iterable[Page] = ()) -> ImageList:
        """The list at `path`, whose lines name half-folios, or one of these `pages` by its id. Raises ImageListError if
        the file cannot be read or is not UTF-8; for single lines see `notices`."""
        path, known = Path(path), frozenset(map(listed_page, pages))
        entries: dict[tuple[str, ListedPage], Entry] = {}
        notices: list[Notice] = []
        text = utf8_text(path, _("image list"), ImageListError)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                entry = _entry(path, number, line, known)
            except ImageListError as error:
                notices.append(Notice.of_error(error))
                continue
            if entry.error:
                notices.append(Notice.of_error(entry.error))
            first = entries.setdefault((entry.edition, entry.page), entry)
            if first.file != entry.file:
                where, name = f"{path}:{number}", _name_in_list(entry.page)
                notices.append(Notice.of(NoticeCode.LISTED_TWICE, where=where, page=name, first=first.line))
        return cls(path, tuple(entries.values()), tuple(notices))


class ImageLists:
    """The image lists of one text, looked up by page."""

    def __init__(self, lists: Iterable[ImageList] = ()) -> None:
        self._lists = tuple(lists)
        self.notices = tuple(notice for image_list in self._lists for notice in image_list.notices)
        self._entries: dict[ListedPage, list[Entry]] = defaultdict(list)
        for entry in self.all():
            self._entries[entry.page].append(entry)

    def all(self) -> Iterator[Entry]:
        """The entries of all lists, in their order."""
        for image_list in self._lists:
            yield from image_list.entries

    def entry(self, page: Page) -> Entry | None:
        """The line about `page`, for the page's edition if it names one. Raises ImageListError if the line names a file
        outside the image folders."""
        edition = edition_of(page)
        for entry in self._entries.get(listed_page(page), ()):
            if not edition or not entry.edition or entry.edition == edition:
                if entry.error:
                    raise entry.error
                return entry
        return None


def find_image_lists(text: Path, pages: Iterable[Page] = (), given: Path | None = None) -> tuple[Path, ...]:
    """The list files of the transcription at `text`.

    `given` is a list, or a folder of lists; by default the folder `imglist` beside the text. In a folder it is the list
    with the text's name, or with work and juan of its pages (`KR1d0087_223.txt` for `KR1d0087_WYG_223-17b`), or the
    only list of that juan. Raises ImageListError if `given` does not exist.
    """
    folder = given or text.parent / "imglist"
    if folder.is_file():
        return (folder,)
    if not folder.is_dir():
        if given:
            raise ImageListError(given, None, _("there is no such image list, file or folder"))
        return ()
    named = folder / f"{text.stem}.txt"
    if named.is_file():
        return (named,)
    juans = dict.fromkeys(map(_work_and_juan, pages))
    return tuple(dict.fromkeys(path for work, juan in juans for path in _lists_of(folder, work, juan)))


def write_entries(path: Path, files: Mapping[ListedPage, str]) -> None:
    """Write the files of pages into the image list at `path`; its lines about other pages are kept unchanged. Raises
    ImageListError for a list that cannot be read, OutputError."""
    text = utf8_text(path, _("image list"), ImageListError) if path.exists() else ""
    line_end = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += line_end
    other_lines = [
        f"{line}\n"
        for number, line in enumerate(text.split("\n")[:-1], start=1)
        if not _is_about(path, number, line, files)
    ]
    with whole_file(path) as file:
        file.writelines([*other_lines, *(f"{_first_column(page)}\t\t{name}{line_end}" for page, name in files.items())])


def _name_in_list(page: ListedPage) -> str:
    return page if isinstance(page, str) else half_folio_name(page)


def _first_column(page: ListedPage) -> str:
    """The place in the text that a line about `page` begins with: of a half-folio with the line 00."""
    return page if isinstance(page, str) else f"{half_folio_name(page)}00"


def _is_about(path: Path, number: int, line: str, pages: Container[ListedPage]) -> bool:
    """Whether line `number` of the list at `path` is an entry about one of `pages`."""
    try:
        return not line.startswith("#") and _entry(path, number, line, pages).page in pages
    except ImageListError:
        return False


def _work_and_juan(page: Page) -> tuple[str, str]:
    """The work ('' if the page's id has none) and the juan of a page, as they are spelled."""
    parts = PageId.match(page.id)
    return (parts.work, parts.juan) if parts else ("", page.juan)


def _lists_of(folder: Path, work: str, juan: str) -> Sequence[Path]:
    """The list of a juan in a folder: the list with that work and juan in its name, or, if the work is unknown, the
    only list with that juan."""
    if work:
        path = folder / f"{work}_{juan}.txt"
        return [path] if path.is_file() else []
    key = juan_key(juan)
    of_juan = [path for path in sorted(folder.glob("*.txt")) if juan_key(path.stem.rpartition("_")[2]) == key]
    return of_juan if len(of_juan) == 1 else []


def _entry(path: Path, number: int, line: str, known: Container[ListedPage]) -> Entry:
    """The entry in line `number` of the list at `path`, about a half-folio or another of the `known` pages. Raises
    ImageListError for a line without the columns of an entry."""
    columns = [column.strip() for column in line.split("\t")]
    page = _page_named(columns[0], known)
    if len(columns) < 2 or page is None or not columns[-1]:
        expected = Sentence(
            _("the place, the edition's page and the file, separated by tabs (010-1a00, WYG 010-1a, WYG/0192c.png)")
        )
        raise ImageListError(path, number, _("cannot be used, expected %(expected)s"), expected=expected)
    edition = columns[1].split()[0].upper() if len(columns) > 2 and columns[1] else ""
    file = columns[-1].replace("\\", "/")
    error = None
    if _leaves_its_folder(columns[-1]):
        message = Sentence(
            _("%(file)s is outside the image folders; write a path inside them, such as WYG0103/WYG0103-0192c.png"),
            file=columns[-1],
        )
        error = ImageListError(path, number, message)
    return Entry(page, edition, file, path, number, error)


def _page_named(name: str, known: Container[ListedPage]) -> ListedPage | None:
    """The page that a line calls `name`: a `known` page, or a half-folio (`010-1a00`); None if it is neither."""
    if name in known:
        return name
    place = _PLACE.fullmatch(name)
    return (juan_key(place["juan"]), Folio.parse(place["folio"])) if place else None


def _leaves_its_folder(file: str) -> bool:
    """Whether the path of a file, as listed, is absolute or leads out of the folder to which it is relative."""
    if _DRIVE.match(file) or "\0" in file:
        return True
    first = posixpath.normpath(file.replace("\\", "/")).partition("/")[0]
    return first in ("", "..")
