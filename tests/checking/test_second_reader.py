"""A second engine reads the pages with flags: what it reads is evidence beside each flag, and changes no score."""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path

import pytest

from proof.checking.pipeline import Progress, check
from proof.checking.recheck import Rechecker
from proof.errors import EngineError, UsageError
from proof.model.flags import Flag
from proof.model.result import PageResult
from proof.report.source import StoredRun
from proof.settings.config import Settings
from proof.store import Store
from tests.checking.test_recheck import _check_two_pages
from tests.conftest import MadeOnce

pytestmark = pytest.mark.engine


@pytest.fixture
def settings(made_once: MadeOnce, tmp_path: Path) -> Settings:
    """A project of two half-folios that were checked once."""
    return Settings.load(shutil.copytree(made_once("two-pages", _check_two_pages), tmp_path, dirs_exist_ok=True))


def results_in(settings: Settings) -> list[PageResult]:
    """The pages of the last check."""
    with Store.open(settings.store_address) as store:
        run = store.latest_run()
        assert run is not None
        return list(StoredRun(store, run.id).results())


def raised(results: list[PageResult]) -> dict[str, Flag]:
    """The raised flags about characters by their ids."""
    return {flag.id: flag for result in results for flag in result.flags if flag.raised and flag.line and flag.bbox}


def record(results: list[PageResult], folder: Path) -> None:
    """Write what other software read on the pages, as ALTO: their text, with what each flag suggests."""
    folder.mkdir()
    for result in results:
        assert result.image is not None
        strings = []
        for column in result.columns:
            source = column.source
            own = [flag for flag in result.flags if flag.raised and flag.line == column.number]
            for flag in sorted(own, key=lambda flag: -flag.offset):
                source = source[: flag.offset] + flag.suggested + source[flag.offset + flag.length :]
            box = column.box
            place = f'HPOS="{box.x:.0f}" VPOS="{box.y:.0f}" WIDTH="{box.w:.0f}" HEIGHT="{box.h:.0f}"'
            text = escape("".join(filter(str.isalpha, source)))
            strings.append(f'<TextLine {place}><String {place} CONTENT="{text}"/></TextLine>')
        width, height = result.image_size
        (folder / f"{result.image.stem}.xml").write_text(
            '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit>'
            f"<sourceImageInformation><fileName>{result.image.name}</fileName></sourceImageInformation></Description>"
            f'<Layout><Page WIDTH="{width}" HEIGHT="{height}"><PrintSpace><TextBlock>{"".join(strings)}</TextBlock>'
            "</PrintSpace></Page></Layout></alto>",
            encoding="utf-8",
        )


def test_what_a_second_engine_reads_stands_beside_each_flag_and_changes_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    """After a page is read again, too; a check without it forgets it."""
    alone = results_in(settings)
    record(alone, tmp_path / "recorded")
    both = settings.replace({"engine.second": "readings", "engine.recording": tmp_path / "recorded"})
    seen: list[Progress] = []
    check(both, seen.append)
    flagged = {result.page for result in alone if any(flag.raised for flag in result.flags)}
    assert [(progress.done, progress.total) for progress in seen if progress.second] == [
        (n + 1, len(flagged)) for n in range(len(flagged))
    ]
    beside = raised(results_in(both))
    before = raised(alone)
    assert before
    assert {key: flag.score for key, flag in beside.items()} == pytest.approx(
        {key: flag.score for key, flag in before.items()}
    )
    readings = {key: flag.evidence.witnesses for key, flag in beside.items()}
    assert all(
        [(reading.siglum, reading.weight) for reading in of_flag] == [("~readings", 0.0)]
        for of_flag in readings.values()
    )
    assert any(reading.side == "image" for of_flag in readings.values() for reading in of_flag)

    with Store.open(both.store_address) as store:
        [work] = store.queue.works()
        first = next(page for page in store.queue.pages(work.name) if page.page in flagged)
        again = Rechecker(both, store).read(work.name, first.position)
    assert raised([again.result]) == {key: flag for key, flag in beside.items() if flag.page == first.page}

    check(settings)
    assert not any(flag.evidence.witnesses for flag in raised(results_in(settings)).values())


def test_a_second_engine_is_another_one_and_can_run(settings: Settings, tmp_path: Path) -> None:
    """What keeps it from reading is said before anything is read."""
    with pytest.raises(UsageError, match="is the first engine, too; name another"):
        check(settings.replace({"engine.second": "ppocr"}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(EngineError, match="no PAGE XML, ALTO or hOCR"):
        check(settings.replace({"engine.second": "readings", "engine.recording": tmp_path / "empty"}))
