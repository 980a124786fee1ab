"""Of real texts every character and page mark is read, or its line is remarked, and every byte is written back:
counted by a reader of ten lines beside the program's."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from proof.exports.source import correct
from proof.text.mirror import MARK
from proof.text.read import read_transcription
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format, Transcription
from tests.sampling import cross_section, looks_wide

HAN = re.compile("[\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
NO_TEXT = re.compile(r"#|:[A-Za-z]+:|(?:\S+ )?第 \S+ [页頁]|---|title: |\[\^")
MARKS_IN = {"kanripo": 1_500, "corpus": 1_500, "seeds": 0, "facsimile": 0}
"""Folders of material, and how many page marks the texts that are looked at have at least."""


def counted(text: str) -> Counter[int]:
    """Han characters of each line that is no property, page mark or footnote, tags, comments and signs of the
    subcommentary aside; of the mirror from the first page mark on: what its web site has above is no text."""
    lines = re.split(r"\r\n|\n|\r", re.sub(r"<[^<>]*>|\[疏\]|○[釋释][曰云]", "", text))
    first = next((n for n, line in enumerate(lines) if MARK.match(line)), 0)
    lines[:first] = [""] * first
    return Counter({n: len(HAN.findall(line)) for n, line in enumerate(lines, 1) if not NO_TEXT.match(line)})


def unread(edition: Transcription) -> dict[int, int]:
    """The lines that have more Han characters than were read and are not remarked, with how many."""
    read: Counter[int] = Counter()
    for block in edition.blocks:
        read[block.file_line] += sum(len(HAN.findall(stretch.source)) for stretch in block.stretches)
    remarked = {remark.line for remark in edition.remarks}
    on_no_page = any(remark.notice.code is RemarkCode.LINES_ON_NO_PAGE for remark in edition.remarks)
    first = min(read, default=0) if on_no_page else 0
    wanted = counted(edition.text)
    return {
        line: number - read[line]
        for line, number in wanted.items()
        if number > read[line] and line not in remarked and line >= first
    }


def unread_marks(edition: Transcription) -> list[int]:
    """The lines of page marks that begin no page and are not remarked."""
    standing = [mark.start() for mark in re.finditer("<pb:", edition.text)]
    missing = {edition.text.count("\n", 0, at) + 1 for at in standing if at not in edition.marks}
    named_lines = {
        remark.line
        for remark in edition.remarks
        if remark.notice.code in (RemarkCode.MARK_MALFORMED, RemarkCode.MARK_NOT_READ)
    }
    return sorted(missing - named_lines)


@pytest.mark.slow
@pytest.mark.parametrize("folder", MARKS_IN)
def test_every_character_and_mark_is_read_or_remarked_and_every_byte_written_back(shared: Path, folder: str) -> None:
    paths = [path for path in sorted((shared / folder).rglob("*.txt")) if "imglist" not in path.parts]
    characters = marks = 0
    for path in cross_section(paths, 2, lambda path: path.parent):
        edition = read_transcription(path)
        assert unread(edition) == {}, path
        assert all(edition.text[s.start : s.end] == s.source for s in edition.stretches()), path
        assert correct(edition, []).data == path.read_bytes(), path
        characters += sum(counted(edition.text).values())
        if edition.format is Format.KANRIPO:
            assert unread_marks(edition) == [], path
            implied = sum(remark.notice.code is RemarkCode.PAGE_IMPLIED for remark in edition.remarks)
            marks += len(edition.marks) - implied
    assert characters > 1000
    assert marks >= MARKS_IN[folder] * (20 if looks_wide() else 1)
