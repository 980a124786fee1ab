"""Plain text of CBETA: a header (`【經文資訊】`), then either the lines of the print, each after its place
(`T08n0235_p0748c17║`), or paragraphs. `[誤>正]` is read as its correction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from proof.text.extraction import Draft, Extraction, as_it_is
from proof.text.formats import TextFormat
from proof.text.formats.columns import UNSAFE, page_mark
from proof.text.formats.text_file import TextFile

_INFORMATION = "【經文資訊】".encode()
_HEAD = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:#[^\n]*\n)*#?\s*" + _INFORMATION)
_PAGE = r"[A-Z]{1,3}[0-9]+n[A-Za-z0-9]+_p[A-Za-z]?[0-9]+[a-z]"
_PLACE = re.compile(rf"(?P<page>{_PAGE})[0-9]+[^║\n]{{0,4}}║")
"""The place of a line in the print: work, page and line."""

_PLACE_BYTES = re.compile(rf"^{_PAGE}[0-9]+[^\n]{{0,9}}".encode() + "║".encode(), re.MULTILINE)
_HEAD_LINE = re.compile(
    r"#|【(?:經文資訊|版本記錄|編輯說明|原始資料|其[他它]事項)】|[-=]{5,}"
    r"|(?:Taisho|CBETA|Distributor|Source|Copyright)\b"
)
"""A line of the header, which ends with the first other line that is not empty."""

_CORRECTED = re.compile(r"\[[^\[\]<>]*>(?P<read>[^\[\]<>]*)\]")
_TITLE = re.compile(r"【經文資訊】.*?(?:No\. *[0-9A-Za-z]+ *)?《?(?P<title>[^《》\s0-9A-Za-z.]+)》?\s*$")


def _extract(data: bytes, path: Path) -> Extraction:
    file = TextFile(data, path)
    draft = Draft(data, as_it_is, UNSAFE)
    page, in_head, next_line = "", True, 0
    for raw in file.text.splitlines(keepends=True):
        line, begin = raw.rstrip("\r\n"), next_line
        next_line += len(raw)
        place = _PLACE.match(line)
        in_head = in_head and place is None and (_HEAD_LINE.match(line) is not None or not line.strip())
        if in_head:
            if title := _TITLE.match(line.lstrip("# ")):
                draft.mark(f"#+TITLE: {title['title']}\n")
            continue
        if place and place["page"] != page:
            page = place["page"]
            page_mark(draft, page)
        if line.strip() or page:
            for part_start, part_end in _read_parts(line, place.end() if place else 0):
                draft.add(file.run(begin + part_start, begin + part_end))
            draft.mark("¶\n" if page else "\n")
    return draft.done()


def _read_parts(line: str, begin: int) -> Iterator[tuple[int, int]]:
    """Start and end of each part of a line that is text, from `begin` on: of a correction the corrected text."""
    for correction in _CORRECTED.finditer(line, begin):
        yield begin, correction.start()
        yield correction.span("read")
        begin = correction.end()
    yield begin, len(line)


FORMAT = TextFormat(
    "cbeta",
    frozenset({".txt"}),
    lambda data, _: bool(_HEAD.match(data) or _PLACE_BYTES.search(data[: 1 << 14])),
    _extract,
)
