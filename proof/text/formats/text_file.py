"""Files whose text is in no XML (CBETA, page lines, footnotes, wikitext): where each character is in their bytes."""

from __future__ import annotations

import codecs
from pathlib import Path

from proof.text.encoding import decode
from proof.text.extraction import Site, SourceRun


class TextFile:
    """A file in UTF-8. Raises TextError for any other file."""

    def __init__(self, data: bytes, path: Path) -> None:
        decoded = decode(path, data)
        self.text = decoded.text
        self._at, self._byte = 0, len(codecs.BOM_UTF8) if decoded.bom else 0

    def run(self, start: int, end: int) -> SourceRun:
        """The characters from `start` to `end`."""
        return SourceRun(self.text[start:end], self.site(start, end))

    def site(self, start: int, end: int) -> Site:
        """The bytes of the characters from `start` to `end`. Fast if `start` is near that of the call before."""
        if start < self._at:
            self._byte -= len(self.text[start : self._at].encode())
        else:
            self._byte += len(self.text[self._at : start].encode())
        self._at = start
        return Site(self._byte, len(self.text[start:end].encode()))
