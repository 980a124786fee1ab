"""Readings of a folder in the place of a recogniser: on the sample, and where they cannot serve."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from proof.cli import main
from proof.errors import EngineError
from proof.exports.alto import alto
from proof.exports.marked_pages import MarkedPage, mark
from proof.exports.pagexml import page_xml
from proof.images.find import FoundBy, PageImage
from proof.images.load import load_image
from proof.model.flags import Kind
from proof.model.result import PageResult
from proof.ocr.engine import Engine
from proof.ocr.external.folder import ExternalEngine
from proof.ocr.page import PageEngine
from proof.ocr.ppocr import PPOCR
from proof.text.read import read_transcription
from proof.text.variants import VariantPolicy
from proof.verify.page import Checker
from tests.accepted import accepted
from tests.sample import lay_out

PAGES = Path(__file__).resolve().parents[3] / "pages"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
OTHER = '<PcGts><Page imageFilename="other.png" imageWidth="100" imageHeight="700"/></PcGts>'

Found = set[tuple[int, int, Kind]]


def no_pipeline() -> PageEngine:
    raise AssertionError("the sample's pages are ruled")


def checked(engine: Engine, number: int) -> PageResult:
    text = read_transcription(PAGES / "dasheyi.txt")
    page = text.pages[number]
    path = PAGES / f"{page.ref}.png"
    checker = Checker.of(engine, VariantPolicy(text.script), 8, 21, 3.0, no_pipeline)
    return checker.check(page, str(page.ref), PageImage(path, "", FoundBy.REFERENCE), load_image(path), [])


@cache
def first_check(ppocr: PPOCR, number: int) -> PageResult:
    """What the recogniser finds on a page of the sample."""
    return checked(ppocr, number)


def raised(result: PageResult) -> Found:
    return {
        (flag.line, flag.offset, flag.kind) for flag in result.flags if flag.raised and flag.kind is not Kind.VARIANT
    }


def errors(result: PageResult) -> Found:
    """What is raised; of equal characters in a row any may be the one too many, so the first stands for all."""
    sources = {column.number: column.source for column in result.columns}
    found = set()
    for line, place, kind in raised(result):
        offset = place
        while kind is Kind.INSERTION and offset and sources[line][offset - 1] == sources[line][place]:
            offset -= 1
        found.add((line, offset, kind))
    return found


def corrected(result: PageResult) -> MarkedPage:
    """The page with all that was raised taken as the image reads."""
    taken = [flag for flag in result.flags if flag.raised and flag.kind not in (Kind.VARIANT, Kind.LAYOUT)]
    marked = mark(result, [accepted(flag) for flag in taken])
    assert marked is not None
    return marked


def test_an_exported_page_read_back_gives_the_flags_that_it_was_corrected_by(tmp_path: Path, ppocr: PPOCR) -> None:
    for number in (1, 3, 5, 8, 14, 18):
        first = first_check(ppocr, number)
        marked = corrected(first)
        assert errors(first)
        for form, document in (("page", page_xml(marked, NOW)), ("alto", alto(marked))):
            (tmp_path / form).mkdir(exist_ok=True)
            (tmp_path / form / f"{Path(marked.name).stem}.xml").write_bytes(document)
            assert errors(checked(ExternalEngine(tmp_path / form), number)) == errors(first), (number, form)


def test_a_column_that_the_text_left_empty_is_exported_with_what_was_given_back(ppocr: PPOCR) -> None:
    """It was written without a line, so that whoever read the file again found nothing missing."""
    first = first_check(ppocr, 8)
    lost = {column.number for column in first.columns if not column.source}
    restored = [line for column in corrected(first).columns if column.number in lost for line in column.lines]
    flags = [flag for flag in first.flags if flag.line in lost and flag.kind is Kind.OMISSION]
    assert [line.text for line in restored] == ["".join(flag.suggested for flag in flags)] != []
    for glyph, flag in zip(restored[0].glyphs, flags, strict=True):
        assert flag.bbox is not None
        assert glyph.box.contains(*flag.bbox.centre)


def test_a_reading_of_lines_alone_agrees_with_a_text_that_has_notes(tmp_path: Path, ppocr: PPOCR) -> None:
    first = first_check(ppocr, 1)
    marked = mark(first)
    assert marked is not None
    lines = re.sub(r"<Word.*?</Word>", "", page_xml(marked, NOW).decode())
    (tmp_path / "read.xml").write_text(lines, encoding="utf-8")
    again = checked(ExternalEngine(tmp_path), 1)
    assert again.characters_checked == first.characters_checked
    assert raised(again) == set()


def test_a_page_without_a_reading_and_one_of_another_image_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no PAGE XML, ALTO or hOCR"):
        ExternalEngine(tmp_path)
    (tmp_path / "a.xml").write_text(OTHER, encoding="utf-8")
    engine = ExternalEngine(tmp_path)
    assert engine.page_of(Path("other.png"), (100, 700)).lines == ()
    with pytest.raises(EngineError, match=r"no file there is a reading of 1a\.png"):
        engine.page_of(Path("1a.png"), (100, 700))
    with pytest.raises(EngineError, match=r"a\.xml: is of an image of 100 x 700"):
        engine.page_of(Path("other.png"), (700, 100))
    (tmp_path / "a.xml").rename(tmp_path / "1a.xml")
    with pytest.raises(EngineError, match=r"1a\.xml: is a reading of other\.png, not of 1a\.png"):
        ExternalEngine(tmp_path).page_of(Path("1a.png"), (100, 700))


def test_a_check_takes_a_folder_of_readings_from_the_command_line(
    tmp_path: Path, ppocr: PPOCR, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three pages are read by others; the others are not, and each says so."""
    monkeypatch.chdir(lay_out(tmp_path, 6))
    (tmp_path / "read").mkdir()
    expected: dict[str, Found] = {}
    for number in (1, 3, 5):
        first = first_check(ppocr, number)
        marked = corrected(first)
        (tmp_path / "read" / f"{Path(marked.name).stem}.xml").write_bytes(page_xml(marked, NOW))
        expected[first.page] = raised(first)
    check = ["check", "text.txt", "--images", "images", "--engine", "readings", "--recording"]
    assert main([*check, "read", "-q"]) == 1
    assert "no file there is a reading of WYG0103-0192c.png" in capsys.readouterr().err
    flags = [json.loads(line) for line in (tmp_path / "out" / "flags.jsonl").read_text(encoding="utf-8").splitlines()]
    found: dict[str, Found] = {page: set() for page in expected}
    for flag in flags:
        if flag["raised"] and flag["kind"] != "layout":
            found[flag["page"]].add((flag["line"], flag["offset"], Kind(flag["kind"])))
    assert found == expected
    assert main([*check, "nowhere"]) == 2
    assert "there is no file or folder" in capsys.readouterr().err
