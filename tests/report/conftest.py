"""A run over real pages: half-folio 2a of the JMML facsimile, with its known errors and a few made ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from proof.model.flags import Evidence, Flag, Kind, flag_id
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.model.result import CheckedCharacter, CheckedColumn, PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import RunInfo, StoredRunInfo, TextInfo
from proof.text.model import Row
from tests.remarks import error_notice
from tests.report.held import HeldRun

PAGE = "JMML_WYG_000-2a"
RULES = [1013, 899, 796, 693, 589, 487, 382, 279, 174]
"""Right to left, in pixels of the image: read off it."""
HEAD, FOOT = 166.0, 1393.0
LINES = [
    "　稱為藏書之家即應將其姓名附載于各書提要末",
    "　其在百種以下者亦應將由其省督撫主人採訪所",
    "　得附載於後其官板刊刻及各處陳設庫貯者俱載",
    "　內府所藏使其眉目分明更為詳細至現辦四庫全",
    "　書總目提要多至萬餘種卷帙甚繁將來抄刻成書",
    "　總閱已頗為不易自應於提要之外別刊簡明書目",
    "　一編祗載其書若干卷註其朝代人撰則篇幅不繁",
    "　而檢查較易俾學者由書目而尋提要由提要而得",
]


def cell(line: int, offset: int) -> Box:
    """Where the character at `offset` of column `line` stands."""
    right, left = RULES[line - 1], RULES[line]
    pitch = (FOOT - HEAD) / 21
    middle = (right + left) / 2 + 6
    return Box(middle - 36, HEAD + offset * pitch, 72.0, pitch)


def column(line: int) -> CheckedColumn:
    """A column of the page, indentation included."""
    right, left = RULES[line - 1], RULES[line]
    return CheckedColumn(line, Box(float(left), HEAD, float(right - left), FOOT - HEAD), LINES[line - 1])


def flag(line: int, offset: int, suggested: str, **changes: object) -> Flag:
    """A raised substitution at that place, as the engine saw it."""
    text = LINES[line - 1][offset]
    seen = ((suggested, 0.9712), (text, 0.0008), ("甘", 0.0161), ("基", 0.0042)) if suggested else ()
    evidence = Evidence("posterior", p_text=0.0008, p_best=0.9712, alternatives=seen)
    source = LINES[line - 1]
    context = f"{source[max(offset - 3, 0) : offset]}【{text}】{source[offset + 1 : offset + 4]}"
    place, kind = (PAGE, "JMML_000-2a", line, offset, 1), Kind.SUBSTITUTION
    made = Flag(*place, kind, text, suggested, 7.1, True, cell(line, offset), evidence, context)
    made = replace(made, **changes)  # type: ignore[arg-type]
    return replace(made, id=flag_id(PAGE, made.line, made.kind, f"{made.context}{made.offset}", 0))


@pytest.fixture(scope="session")
def facsimile(shared: Path) -> Path:
    """The image of the half-folio."""
    return shared / "facsimile" / "JMML" / "images" / "JMML_000-2a.png"


@pytest.fixture(scope="session")
def checked(facsimile: Path) -> PageResult:
    """The half-folio as a check leaves it: substitutions that are really there, and one flag of every other kind."""
    no_room = Notice.of(NoticeCode.ROOM, number=0.2)
    missing = Evidence("posterior", p_best=0.88, alternatives=(("較", 0.88), ("軗", 0.04)))
    moved = Evidence("column moved", note="得附載於後")
    flags = (
        flag(2, 12, "某"),
        flag(2, 16, "某"),
        flag(6, 1, "繙"),
        flag(7, 5, "某", score=9.3),
        flag(7, 18, "目"),
        flag(4, 9, "", kind=Kind.INSERTION, evidence=Evidence("no glyph", ink=no_room), score=4.0),
        flag(8, 4, "較", kind=Kind.OMISSION, length=0, transcribed="", evidence=missing, score=5.5),
        flag(5, 3, "提目", kind=Kind.TRANSPOSITION, length=2, transcribed="目提", bbox=None, score=3.2),
        flag(1, 15, "於", kind=Kind.VARIANT, raised=False, evidence=Evidence("variant", rule="one to one")),
        flag(3, 3, "于", kind=Kind.VARIANT, raised=False, evidence=Evidence("variant", rule="one to one")),
        flag(3, 0, "", kind=Kind.LAYOUT, length=0, transcribed="", bbox=column(3).box, evidence=moved),
    )
    characters = tuple(
        CheckedCharacter(line, offset, 1, Row.MAIN, text, cell(line, offset), text, 0.98)
        for line in range(1, 9)
        for offset, text in enumerate(LINES[line - 1])
        if text != "　"
    )
    return PageResult(
        page=PAGE,
        ref="JMML_000-2a",
        status=Status.CHECKED,
        image=facsimile,
        image_sha="00" * 32,
        image_size=(1160, 1559),
        image_box=Box(0.0, 0.0, 1160.0, 1559.0),
        characters_checked=len(characters),
        columns=tuple(column(line) for line in range(1, 9)),
        characters=characters,
        flags=flags,
        notices=(error_notice("the fold strip is cut off on the left"),),
        seconds=0.21,
    )


@pytest.fixture(scope="session")
def run() -> StoredRunInfo:
    """The run that the pages belong to."""
    engine = EngineIdentity("ppocr", "1.31.1", "PP-OCRv6 small", "0123456789abcdef0123")
    text = TextInfo("JMML_000.txt", "fedcba9876543210", "kanripo", "traditional")
    started = datetime(2025, 3, 14, 9, 30, tzinfo=UTC)
    return StoredRunInfo(
        id=1,
        info=RunInfo("JMML", "欽定四庫全書簡明目錄", (text,), engine, {"columns": 8, "column_length": 21}),
        started=started,
        finished=started.replace(second=4),
        findings=(error_notice("after 3b comes 5a: leaf 4 is missing"),),
        reused=1,
    )


@pytest.fixture(scope="session")
def held(run: StoredRunInfo, checked: PageResult) -> HeldRun:
    """Four pages: one with flags, one clean, one without an image, one that failed."""
    clean = replace(checked, page="JMML_WYG_000-2b", ref="JMML_000-2b", flags=(), notices=())
    absent = PageResult("JMML_WYG_000-3a", "JMML_000-3a", Status.NO_IMAGE)
    failed = PageResult(
        "JMML_WYG_000-3b", "JMML_000-3b", Status.FAILED, error_notice("images/JMML_000-3b.png: cut short")
    )
    return HeldRun(run, (checked, clean, absent, failed))
