"""The images of a Kanripo repository. Its `imglist/` has the names of the image files, `imglist/imginfo.cfg` their
addresses."""

from __future__ import annotations

import configparser
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from proof.errors import AddressError, SourceError, reason_of
from proof.fetch.model import ImageSource, WantedImage
from proof.fetch.ssrf import web_address
from proof.images.imglist import Entry, ImageList
from proof.locale.marking import Sentence, _
from proof.model.notices import Notice, NoticeCode

INFO = "imginfo.cfg"
_SECTION = "Versions"


def base_addresses(path: Path) -> Mapping[str, str]:
    """The base address of every edition in an `imginfo.cfg`, by the edition's siglum in upper case.

    Raises SourceError, naming file and line.
    """
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#", ";"), empty_lines_in_values=False)
    parser.optionxform = str.upper  # type: ignore[method-assign, assignment]
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")
        parser.read_string(text)
    except OSError as error:
        message = Sentence(
            _("cannot be read (%(reason)s); it says where the images are: [%(section)s] and WYG=http://..."),
            reason=reason_of(error),
            section=_SECTION,
        )
        raise SourceError(path, message) from error
    except UnicodeDecodeError as error:
        raise SourceError(path, _("is not UTF-8; save it in that encoding")) from error
    except configparser.MissingSectionHeaderError as error:
        raise SourceError(
            path, _("expected [%(section)s] before the first address"), error.lineno, section=_SECTION
        ) from error
    except configparser.ParsingError as error:
        raise SourceError(path, _("is not a setting, expected NAME=ADDRESS"), error.errors[0][0]) from error
    except configparser.Error as error:
        why = f"{error.message.partition(']: ')[2] or error.message}".replace("\n", " ")
        raise SourceError(path, why, getattr(error, "lineno", None)) from error
    if not parser.has_section(_SECTION) or not parser.options(_SECTION):
        raise SourceError(
            path,
            _("names no address: expected [%(section)s] and below it a line such as WYG=http://..."),
            section=_SECTION,
        )
    addresses = {}
    for edition, address in parser.items(_SECTION):
        try:
            addresses[edition] = str(web_address(address)).rstrip("/") + "/"
        except AddressError as error:
            raise SourceError(path, str(error), _line_of_setting(text, edition)) from error
    return addresses


def _line_of_setting(text: str, name: str) -> int | None:
    """The number of the line that sets `name`, from 1; None if no line does."""
    setting = re.compile(rf"{re.escape(name)}\s*=", re.IGNORECASE)
    return next((number for number, line in enumerate(text.splitlines(), 1) if setting.match(line)), None)


def listed_images(path: Path) -> ImageSource:
    """The images that the image lists at `path` name. `path` is a folder `imglist`, the folder that contains it, a
    single list, or an `imginfo.cfg`.

    Raises SourceError and ImageListError.
    """
    folder = path if path.is_dir() else path.parent
    if path.is_dir() and not (path / INFO).is_file() and (path / "imglist").is_dir():
        folder = path / "imglist"
    is_single_list = not path.is_dir() and path.name != INFO
    lists = [path] if is_single_list else sorted(folder.glob("*.txt"))
    bases = base_addresses(folder / INFO)
    if not lists:
        raise SourceError(folder, _("contains no image list: expected files such as KR1d0030_010.txt"))
    images: dict[str, WantedImage] = {}
    notices: list[Notice] = []
    for listed in map(ImageList.read, lists):
        notices += listed.notices
        for entry in _usable(listed.entries, bases, notices):
            name = posixpath.normpath(entry.file)
            image = images.get(name) or WantedImage(len(images) + 1, name, _base(entry, bases) + quote(name))
            places = () if isinstance(entry.page, str) else (entry.page,)
            images[name] = replace(image, places=(*image.places, *places))
    return ImageSource(folder.resolve().parent.name, tuple(images.values()), (), tuple(notices))


def _usable(entries: Iterable[Entry], bases: Mapping[str, str], notices: list[Notice]) -> Iterable[Entry]:
    """The entries whose images can be fetched; each edition without an address is added to `notices` once."""
    unknown: set[str] = set()
    for entry in entries:
        if entry.error:
            continue  # the list itself has a notice about it
        if _base(entry, bases):
            yield entry
        elif entry.edition not in unknown:
            unknown.add(entry.edition)
            code = NoticeCode.EDITION_WITHOUT_ADDRESS if entry.edition else NoticeCode.FILE_WITHOUT_EDITION
            place, known_editions = f"{entry.source}:{entry.line}", ", ".join(bases)
            notices.append(Notice.of(code, where=place, info=INFO, edition=entry.edition, known=known_editions))


def _base(entry: Entry, bases: Mapping[str, str]) -> str:
    """The base address of an entry's edition, or of the only edition if the entry names none; empty if unknown."""
    if not entry.edition and len(bases) == 1:
        return next(iter(bases.values()))
    return bases.get(entry.edition, "")
