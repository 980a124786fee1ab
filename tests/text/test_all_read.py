"""Every character of a file is read, or its line is remarked: counted by a reader of ten lines beside the program's."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from proof.text.mirror import MARK
from proof.text.read import read_transcription
from proof.text.remarks import Code

HAN = re.compile("[\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
NO_TEXT = re.compile(r"#|:[A-Za-z]+:|(?:\S+ )?第 \S+ [页頁]|---|title: |\[\^")


def counted(text: str) -> Counter[int]:
    """Han characters of each line that is no property, page mark or footnote, tags, comments and signs of the
    subcommentary aside; of the mirror from the first page mark on: what its web site has above is no text."""
    lines = re.split(r"\r\n|\n|\r", re.sub(r"<[^<>]*>|\[疏\]|○[釋释][曰云]", "", text))
    first = next((n for n, line in enumerate(lines) if MARK.match(line)), 0)
    lines[:first] = [""] * first
    return Counter({n: len(HAN.findall(line)) for n, line in enumerate(lines, 1) if not NO_TEXT.match(line)})


def unread(path: Path) -> tuple[int, int]:
    """How many Han characters a file has, and how many of them are neither read nor on a line that is remarked."""
    edition = read_transcription(path)
    wanted = counted(edition.text)
    read: Counter[int] = Counter()
    for block in edition.blocks:
        read[block.file_line] += sum(len(HAN.findall(one.source)) for one in block.stretches)
    remarked = {remark.line for remark in edition.remarks}
    before = 0
    for remark in edition.remarks:
        before = max(before, int(dict(remark.values).get("number", 0)) if remark.code is Code.LINES_ON_NO_PAGE else 0)
    lost = {line: number - read[line] for line, number in wanted.items() if number > read[line]}
    first = min(read, default=0)
    return sum(wanted.values()), sum(
        number for line, number in lost.items() if line not in remarked and not (before and line < first)
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["seeds", "kanripo", "corpus", "facsimile"])
def test_every_character_is_read_or_its_line_is_remarked(shared: Path, folder: str) -> None:
    paths = [path for path in sorted((shared / folder).rglob("*.txt")) if "imglist" not in path.parts]
    paths = paths[::60] if len(paths) > 60 else paths
    counts = {path: unread(path) for path in paths}
    assert sum(all_of for all_of, _ in counts.values()) > 1000
    assert {str(path): lost for path, (_, lost) in counts.items() if lost} == {}
