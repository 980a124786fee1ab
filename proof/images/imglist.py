"""Reads and writes Kanripo image lists, which map half-folios to image files.

A line has three columns separated by tabs: the place in the text (juan, half-folio and line, `010-1a00`), the edition
and its own page (`WYG 010-1a`), and the file (`WYG0103/WYG0103-0192c.png`). A Kanripo repository has a list for each
juan, such as `imglist/KR1d0030_010.txt`.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """One line of a list. `file` is the path as listed, with forward slashes; `error` says why it is refused."""

    place: JuanFolio
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
    def read(cls, path: Path | str) -> ImageList:
        """Raises ImageListError if the file cannot be read or is not UTF-8; for single lines see `notices`."""
        path = Path(path)
        entries: dict[tuple[str, JuanFolio], Entry] = {}
        notices: list[Notice] = []
        text = utf8_text(path, _("image list"), ImageListError)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                entry = _entry(path, number, line)
            except ImageListError as error:
                notices.append(Notice.of_error(error))
                continue
            if entry.error:
                notices.append(Notice.of_error(entry.error))
            first = entries.setdefault((entry.edition, entry.place), entry)
            if first.file != entry.file:
                juan, folio = entry.place
                place, half_folio = f"{path}:{number}", f"{juan}-{folio}"
                notices.append(Notice.of(NoticeCode.LISTED_TWICE, where=place, page=half_folio, first=first.line))
        return cls(path, tuple(entries.values()), tuple(notices))


class ImageLists:
    """The image lists of one text, looked up by page."""

    def __init__(self, lists: Iterable[ImageList] = ()) -> None:
        self._lists = tuple(lists)
        self.notices = tuple(notice for image_list in self._lists for notice in image_list.notices)
        self._entries: dict[JuanFolio, list[Entry]] = defaultdict(list)
        for entry in self.all():
            self._entries[entry.place].append(entry)

    def all(self) -> Iterator[Entry]:
        """The entries of all lists, in their order."""
        for image_list in self._lists:
            yield from image_list.entries

    def entry(self, page: Page) -> Entry | None:
        """The line about `page`, for the page's edition if it names one. Raises ImageListError if the line names a file
        outside the image folders."""
        place, edition = place_of(page), edition_of(page)
        if place is None:
            return None
        for entry in self._entries.get(place, ()):
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


def write_entries(path: Path, files: Mapping[JuanFolio, str]) -> None:
    """Write the files of half-folios into the image list at `path`; its lines about other half-folios are kept
    unchanged. Raises ImageListError for a list that cannot be read, OutputError."""
    text = utf8_text(path, _("image list"), ImageListError) if path.exists() else ""
    line_end = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += line_end
    other_lines = [
        f"{line}\n"
        for number, line in enumerate(text.split("\n")[:-1], start=1)
        if _place_in(path, number, line) not in files
    ]
    with whole_file(path) as file:
        file.writelines(
            [*other_lines, *(f"{half_folio_name(place)}00\t\t{name}{line_end}" for place, name in files.items())]
        )


def _place_in(path: Path, number: int, line: str) -> JuanFolio | None:
    """The half-folio that line `number` of the list at `path` is about; None if the line is no entry."""
    try:
        return None if line.startswith("#") else _entry(path, number, line).place
    except ImageListError:
        return None


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


def _entry(path: Path, number: int, line: str) -> Entry:
    """The entry in line `number` of the list at `path`. Raises ImageListError for a line without the columns of an
    entry."""
    columns = [column.strip() for column in line.split("\t")]
    place = _PLACE.fullmatch(columns[0])
    if len(columns) < 2 or place is None or not columns[-1]:
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
    return Entry((juan_key(place["juan"]), Folio.parse(place["folio"])), edition, file, path, number, error)


def _leaves_its_folder(file: str) -> bool:
    """Whether the path of a file, as listed, is absolute or leads out of the folder to which it is relative."""
    if _DRIVE.match(file) or "\0" in file:
        return True
    first = posixpath.normpath(file.replace("\\", "/")).partition("/")[0]
    return first in ("", "..")
