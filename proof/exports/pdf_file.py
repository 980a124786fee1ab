"""A PDF file, object by object, after ISO 32000-1 (PDF 1.5). Equal objects give equal bytes: it holds no dates."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

HEADER = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n"
"""The version, and bytes that tell programs that the file is binary."""


class Name(str):
    """A name of PDF, written with a slash."""

    __slots__ = ()


class Reference(int):
    """The number of an object, from 1."""


BYTE_ORDER_MARK = "\ufeff"

ESCAPED = {ord(char): f"\\{char}" for char in "\\()"}
"""Characters of a string that have a meaning in PDF, and how they are written."""

CATALOGUE, PAGES = Reference(1), Reference(2)
"""The objects that each file has."""


class PdfFile:
    """Collects the objects and pages of a file in memory."""

    def __init__(self) -> None:
        self._objects = [b"", b""]
        self._pages: list[Reference] = []

    def reserve(self) -> Reference:
        """Reserve the number of an object that is added later."""
        self._objects.append(b"")
        return Reference(len(self._objects))

    def add(self, value: object, at: Reference | None = None) -> Reference:
        """Add an object, with the reserved number `at` if it has one. Gives its number."""
        return self._put(at or self.reserve(), _written(value).encode("ascii"))

    def add_stream(self, content: bytes, entries: Mapping[str, object] | None = None) -> Reference:
        """Add a stream. It is compressed, unless `entries` names the filter by which it is already."""
        entries = dict(entries or {})
        if "Filter" not in entries:
            content, entries["Filter"] = zlib.compress(content), Name("FlateDecode")
        entries["Length"] = len(content)
        stream = _written(entries).encode("ascii") + b"\nstream\n" + content + b"\nendstream"
        return self._put(self.reserve(), stream)

    def add_page(self, size: tuple[float, float], resources: Mapping[str, object], operators: Sequence[str]) -> None:
        """Add a page, `size` in points (1/72 inch)."""
        content = self.add_stream("\n".join(operators).encode("ascii"))
        page = {"Type": Name("Page"), "Parent": PAGES, "MediaBox": [0, 0, *size], "Contents": content}
        self._pages.append(self.add(page | {"Resources": resources}))

    def to_bytes(self, title: str, language: str = "zh-Hant") -> bytes:
        """The whole file; programs show `title` in their title bar."""
        # no Direction R2L: PDFium would take the lines for right-to-left, and reverse the text around a comma
        shown = {"DisplayDocTitle": True}
        self.add({"Type": Name("Catalog"), "Pages": PAGES, "Lang": language, "ViewerPreferences": shown}, CATALOGUE)
        self.add({"Type": Name("Pages"), "Kids": self._pages, "Count": len(self._pages)}, PAGES)
        information = self.add({"Title": title})
        file, starts = bytearray(HEADER), []
        for number, content in enumerate(self._objects, start=1):
            starts.append(len(file))
            file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
        size = len(starts) + 1
        table = "".join(f"{start:010} 00000 n \n" for start in starts)
        trailer = _written({"Size": size, "Root": CATALOGUE, "Info": information})
        end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(file)}\n%%EOF\n"
        return bytes(file) + end.encode("ascii")

    def _put(self, at: Reference, content: bytes) -> Reference:
        self._objects[at - 1] = content
        return at


def _written(value: object) -> str:
    """A value as PDF writes it."""
    match value:
        case Name():
            written = f"/{value}"
        case Reference():
            written = f"{int(value)} 0 R"
        case str() if value.isascii():
            written = f"({value.translate(ESCAPED)})"
        case str():
            written = f"<{(BYTE_ORDER_MARK + value).encode('utf-16-be').hex()}>"
        case bool():
            written = str(value).lower()
        case int():
            written = str(int(value))
        case float():
            written = f"{value:.3f}"
        case Mapping():
            written = f"<<{' '.join(f'/{key} {_written(entry)}' for key, entry in value.items())}>>"
        case Sequence():
            written = f"[{' '.join(_written(entry) for entry in value)}]"
        case _:
            raise TypeError(f"PDF has no value of the kind {type(value).__name__}")
    return written
