"""A running edition against images alone: its errors are found, and the corrections go into the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.checking.pipeline import CheckOutcome, check
from proof.errors import FontError
from proof.exports.source import correct
from proof.facsimile.files import render
from proof.facsimile.wear import LEVELS
from proof.model.flags import Flag, Kind
from proof.model.result import PageResult, Status
from proof.report.source import StoredRun
from proof.settings.config import Settings
from proof.store import Store
from proof.text.convert import convert
from proof.text.encoding import Decoded
from proof.text.model import is_han
from proof.text.read import parse_transcription, read_transcription
from proof.text.remarks import RemarkCode
from proof.text.transcription import Format
from tests.accepted import accepted

pytestmark = pytest.mark.engine

ERRORS = [
    ("降取弓矢于堂西", "降取弓失于堂西"),
    ("釋獲者坐取中之八", "釋獲者取中之八"),
    ("公許適西階東", "公許而適西階東"),
]
"""What the text should read, and what it reads: a character misread, one lost, one too many."""

SURE = 5.0
"""The score of each of these errors at least; a stain on the page may be flagged below."""


@pytest.fixture(scope="module")
def drawn(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three half-folios drawn from a juan, and the whole juan as running text with errors."""
    folder = tmp_path_factory.mktemp("running")
    source = (shared / "kanripo/KR1d0030/KR1d0030_010.txt").read_text(encoding="utf-8")
    head, *parts = source.split("<pb:")
    (folder / "drawn.txt").write_text("<pb:".join([head, *parts[10:13]]), encoding="utf-8")
    try:
        render(read_transcription(folder / "drawn.txt"), folder / "images", wear=LEVELS["light"], seed=3)
    except FontError as error:
        pytest.skip(str(error))
    (folder / "whole.txt").write_text("<pb:".join([head, *parts[7:15]]), encoding="utf-8")
    return folder


def running(drawn: Path, form: Format) -> str:
    """The whole juan as running text."""
    return convert(read_transcription(drawn / "whole.txt"), form).text


def settings_of(folder: Path, out: Path, *texts: Path) -> Settings:
    return Settings().replace({"project.texts": texts, "project.images": [folder / "images"], "project.out": out})


def results_of(settings: Settings) -> list[PageResult]:
    with Store.open(settings.store_address) as store:
        run = store.latest_run()
        assert run is not None
        return list(StoredRun(store, run.id).results())


def checked(folder: Path, text: Path, out: str) -> tuple[CheckOutcome, list[PageResult]]:
    settings = settings_of(folder, folder / out, text)
    return check(settings), results_of(settings)


def raised(results: list[PageResult]) -> list[Flag]:
    return [flag for result in results for flag in result.flags if flag.raised]


def test_each_error_is_found_and_its_correction_gives_back_the_very_file(drawn: Path) -> None:
    clean = running(drawn, Format.INLINE)
    spoiled = clean
    for right, wrong in ERRORS:
        assert spoiled.count(right) == 1
        spoiled = spoiled.replace(right, wrong)
    text = drawn / "inline.txt"
    text.write_bytes(spoiled.encode())
    outcome, results = checked(drawn, text, "out-inline")
    assert [result.status for result in results] == [Status.CHECKED] * 3
    assert sum(result.characters_checked for result in results) > 250
    assert RemarkCode.ON_NO_IMAGE in {remark.notice.code for remark in outcome.remarks}
    raised_flags = raised(results)
    sure = sorted((flag for flag in raised_flags if flag.score > SURE), key=lambda flag: flag.line)
    assert [flag.kind for flag in sure] == [Kind.OMISSION, Kind.SUBSTITUTION, Kind.INSERTION]
    assert len(raised_flags) <= len(sure) + 1
    lines = spoiled.split("\n")
    for flag in raised_flags:
        assert lines[flag.line - 1][flag.offset : flag.offset + flag.length] == flag.transcribed
        assert flag.bbox is not None
    corrected = correct(read_transcription(text), [accepted(flag) for flag in sure])
    assert corrected.data == clean.encode()


def test_a_page_without_line_breaks_is_checked_column_by_column(drawn: Path) -> None:
    """Its pages are marked, and each is one line: a column that it lacks is missing within that line."""
    head, *parts = (drawn / "drawn.txt").read_text(encoding="utf-8").split("<pb:")
    pages = [part.replace("¶", "").split("\n") for part in parts]
    clean = head + "".join(f"<pb:{mark}¶\n{''.join(columns)}¶\n" for mark, *columns in pages)
    whole = [column for page in pages for column in page if len(column) > 10 and all(map(is_han, column))]
    misread, lost, short, long = whole[1::2][:4]
    spoiled = clean.replace(misread, f"{misread[:5]}龍{misread[6:]}").replace(lost, "")
    spoiled = spoiled.replace(short, short[:5] + short[6:]).replace(long, f"{long[:5]}龍{long[5:]}")
    text = drawn / "unbroken.txt"
    text.write_bytes(spoiled.encode())
    _, results = checked(drawn, text, "out-unbroken")
    raised_flags = raised(results)
    assert [flag.kind for flag in raised_flags] == [Kind.SUBSTITUTION, Kind.OMISSION, Kind.OMISSION, Kind.INSERTION]
    assert correct(read_transcription(text), [accepted(flag) for flag in raised_flags]).data == clean.encode()


def test_a_text_with_its_subcommentary_is_found_on_the_images(shared: Path, tmp_path: Path) -> None:
    """The source has a line a paragraph: its characters, layer after layer, are drawn as columns of twenty."""
    source = read_transcription(shared / "kanripo/KR1d0085/KR1d0085_008.txt")
    clean = convert(source, Format.ZHUSHU).text
    body = "".join(
        cell.text
        for stretch in parse_transcription(Decoded(clean, "utf-8", False), tmp_path / "clean.txt").stretches()
        for cell in stretch.cells()
        if len(cell.text) == 1 and is_han(cell.text)
    )[600:1080]
    columns = [f"{body[start : start + 20]}¶" for start in range(0, len(body), 20)]
    pages = [
        f"<pb:KR1d0085_WYG_008-{n // 2 + 1}{'ab'[n % 2]}>¶\n" + "\n".join(columns[8 * n : 8 * n + 8]) for n in range(3)
    ]
    (tmp_path / "drawn.txt").write_text("\n".join(["#+TITLE: 書", *pages, ""]), encoding="utf-8")
    try:
        render(read_transcription(tmp_path / "drawn.txt"), tmp_path / "images", wear=LEVELS["light"], seed=3)
    except FontError as error:
        pytest.skip(str(error))
    spoiled = clean
    for near, wrong in ((70, ""), (200, "龍"), (400, "鳥")):  # one lost, two misread, each within a line
        around = next(body[at - 5 : at + 6] for at in range(near, len(body)) if clean.count(body[at - 5 : at + 6]) == 1)
        spoiled = spoiled.replace(around, around[:5] + wrong + around[6:])
    text = tmp_path / "zhushu.txt"
    text.write_bytes(spoiled.encode())
    assert read_transcription(text).format is Format.ZHUSHU
    _, results = checked(tmp_path, text, "out")
    assert [result.status for result in results] == [Status.CHECKED] * 3
    raised_flags = sorted(raised(results), key=lambda flag: (flag.page, flag.line, flag.offset))
    assert [flag.kind for flag in raised_flags] == [Kind.OMISSION, Kind.SUBSTITUTION, Kind.SUBSTITUTION]
    assert correct(read_transcription(text), [accepted(flag) for flag in raised_flags]).data == clean.encode()


def test_a_second_check_reads_nothing_again_and_an_edit_one_page(drawn: Path, tmp_path: Path) -> None:
    text = tmp_path / "inline.txt"
    text.write_text(running(drawn, Format.INLINE), encoding="utf-8")
    settings = settings_of(drawn, tmp_path / "out", text)
    reused: list[int] = []
    for right, wrong in (("", ""), ("", ""), ERRORS[0]):
        if right:
            text.write_text(text.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
        last = [0]
        check(settings, lambda progress, last=last: last.__setitem__(0, progress.reused))  # type: ignore[misc]
        reused.append(last[0])
    assert reused == [0, 3, 2]


def test_what_stands_on_a_page_keeps_its_line_where_lines_were_put_in_before_it(drawn: Path, tmp_path: Path) -> None:
    text = tmp_path / "inline.txt"
    text.write_text(running(drawn, Format.INLINE), encoding="utf-8")
    settings = settings_of(drawn, tmp_path / "out", text)
    check(settings)
    text.write_text("新刻序\n\n" + text.read_text(encoding="utf-8"), encoding="utf-8")
    check(settings)
    lines = text.read_text(encoding="utf-8").split("\n")
    for result in results_of(settings):
        assert result.characters
        for character in result.characters:
            assert lines[character.line - 1].startswith(character.text, character.offset)
