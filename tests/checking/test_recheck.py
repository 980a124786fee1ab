"""A page set right and read again: a check honours it, decisions stay, and all of it can be taken back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from proof.checking import recheck
from proof.checking.pipeline import Progress, check
from proof.checking.recheck import Rechecker, RecheckOutcome
from proof.layout.overrides import LayoutOverrideShape
from proof.model.flags import WitnessReading
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import DecisionRequest, State, Verdict
from proof.store.queue_records import Order, QueueFilter
from proof.text.transcription import Transcription
from proof.text.witness_source import WitnessSource
from proof.text.witnesses import read_witnesses
from tests.conftest import MadeOnce
from tests.sample import lay_out

pytestmark = pytest.mark.engine


@pytest.fixture
def settings(made_once: MadeOnce, tmp_path: Path) -> Settings:
    """A project of two half-folios that were checked once: a check that changes nothing of it reads nothing."""
    return Settings.load(shutil.copytree(made_once("two-pages", _check_two_pages), tmp_path, dirs_exist_ok=True))


def _check_two_pages(folder: Path) -> None:
    lay_out(folder, 2)
    (folder / "config.toml").write_text(
        '[project]\ntexts = ["text.txt"]\nimages = ["images"]\nout = "out"\n', encoding="utf-8"
    )
    check(Settings.load(folder))


def found_layout(result: PageResult, columns: int = 8) -> LayoutOverrideShape:
    """The layout of a page as a check found it, told as a person would."""
    boxes = [column.box for column in result.columns]
    left, right = min(b.x for b in boxes), max(b.right for b in boxes)
    top, bottom = max(b.y for b in boxes), min(b.bottom for b in boxes)
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return LayoutOverrideShape(corners, tuple(n / columns for n in range(1, columns)))


def in_a_corner(layout_override: LayoutOverrideShape) -> LayoutOverrideShape:
    """A frame around the lower left of the page alone."""
    (left, top), _, (right, bottom), _ = layout_override.corners
    middle, low = left + (right - left) / 3, top + 0.6 * (bottom - top)
    return LayoutOverrideShape(((left, low), (middle, low), (middle, bottom), (left, bottom)), layout_override.rules)


def agreeing(result: PageResult) -> float:
    """The share of a page's characters that are read as they are transcribed, of all that its text has."""
    written = sum(len(column.source.strip()) for column in result.columns) or 1
    return sum(character.read == character.text for character in result.characters) / written


@dataclass(frozen=True)
class Project:
    """A project whose store is open: its one work, and who reads its pages again."""

    store: Store
    work: str
    reader: Rechecker

    def number(self, position: int) -> int:
        return self.store.queue.pages(self.work, position, 1)[0].number

    def found(self, number: int) -> PageResult:
        return self.store.queue.page(self.work, number)[1]

    def set_right(self, number: int, layout_override: LayoutOverrideShape | None = None, image: str = "") -> None:
        """A person says how a page is laid out and which image it has."""
        version = len(self.store.layout_overrides.history(self.work, number))
        key = f"layout-{number}-{version}"
        self.store.layout_overrides.set(
            self.work, number, layout_override, image, "", version=version, person="甲", key=key
        )

    def read_as(
        self, number: int, layout_override: LayoutOverrideShape | None = None, image: str = ""
    ) -> RecheckOutcome:
        self.set_right(number, layout_override, image)
        return self.reader.read(self.work, number)


@contextmanager
def opened(settings: Settings) -> Iterator[Project]:
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        yield Project(store, work.name, Rechecker(settings, store))


def test_a_layout_set_by_hand_is_honoured_by_every_later_check_until_it_is_taken_back(settings: Settings) -> None:
    check(settings)
    with opened(settings) as project:
        store, work = project.store, project.work
        page = project.number(2)
        result = project.found(page)
        [first, *_], _ = store.queue.find(work, QueueFilter(first_page=2, last_page=2, raised=None), Order.PAGE)
        store.decisions.decide(DecisionRequest(work, first, Verdict.KEEP, 0, "甲", "request-1"))

        # the wrong columns, as a machine might have found them
        spoilt = project.read_as(page, in_a_corner(found_layout(result)))
        assert spoilt.result.status is Status.MISMATCH or agreeing(spoilt.result) < 0.5
        assert first in [flag.number for flag in spoilt.kept], "its place stands, though nothing is read there now"
        assert spoilt.lost == ()

        # the right ones beat them, and the decision is found again
        again = project.read_as(page, found_layout(result))
        assert agreeing(again.result) > 0.9 * agreeing(result)
        [decided] = store.queue.flags(work, [first])
        assert decided.state is State.KEPT
        assert not decided.stale
        kept = project.found(page)
        assert kept.columns == again.result.columns

    seen: list[Progress] = []
    check(settings, seen.append)
    assert seen[-1].reused == 2, "what was read again is not read once more, and what was found before is not taken"
    with opened(settings) as project:
        assert project.found(page).columns == kept.columns
        project.set_right(page)
    check(settings)
    with opened(settings) as project:
        assert project.found(page).columns == result.columns


def test_a_page_read_again_while_its_text_is_checked_anew_is_read_by_the_newer_text(settings: Settings) -> None:
    [text] = settings.text_files()
    calls = count(1)

    def edit_and_check_meanwhile() -> None:
        if next(calls) == 2:  # when the text was read, and nothing else yet
            text.write_text(text.read_text(encoding="utf-8").replace("西", "西也", 1), encoding="utf-8")
            check(settings)

    with opened(settings) as project:
        page = project.number(2)
        again = project.reader.read(project.work, page, edit_and_check_meanwhile)
        assert project.store.texts.content(str(text)) == text.read_text(encoding="utf-8")
        assert again.result == project.found(page)


def test_an_image_given_to_a_page_is_the_one_that_is_read(settings: Settings) -> None:
    check(settings)
    with opened(settings) as project:
        first, second = project.number(1), project.number(2)
        names = {path.stem: name for name, path in project.reader.images()}
        given = names[Path(str(project.found(second).image)).stem]
        assert project.read_as(first, image=given).result.status is Status.MISMATCH
        gone = project.read_as(first, image="gone.png").result
        assert gone.status is Status.FAILED
        assert gone.message == Notice.of(NoticeCode.ASSIGNED_GONE, image="gone.png", person="甲")
        assert project.read_as(first).result.status is Status.CHECKED


def told(project: Project) -> list[tuple[str, float, bool, tuple[WitnessReading, ...]]]:
    """What the flags of a work say, and what witnesses said of them."""
    flags = project.store.flags(project.work)
    return sorted((flag.id, flag.score, flag.raised, flag.evidence.witnesses) for flag in flags)


@pytest.mark.parametrize("old", ["stays", "is gone"])
def test_a_project_that_was_copied_or_moved_reads_its_own_text_again(
    made_once: MadeOnce, tmp_path: Path, old: str
) -> None:
    folder = shutil.copytree(made_once("two-pages", _check_two_pages), tmp_path / "project")
    check(Settings.load(folder))
    copied = shutil.copytree(folder, tmp_path / "copied")
    if old == "is gone":
        folder.rename(tmp_path / "away")
    there = Settings.load(copied)
    with opened(there) as project:
        first = project.reader.read(project.work, 1)
        assert first.trouble is None
        assert first.fresh == first.gone == ()

        # from then on the page is of the text in the new place, whatever becomes of the old
        assert project.store.queue.page(project.work, 1)[0].text == str(copied / "text.txt")
        text = (copied / "text.txt").read_text(encoding="utf-8")
        assert text.count("\n司射适西阶西") == 1
        (copied / "text.txt").write_text(text.replace("\n司射适西阶西", "\n司龘适西阶西"), encoding="utf-8")
        assert [flag.flag.transcribed for flag in project.reader.read(project.work, 1).fresh] == ["龘"]


def test_witnesses_weigh_the_flags_of_a_page_read_again_as_a_check_has_them_weighed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text without the error that was put into it is a witness; nothing but a change of it has it read anew."""
    folder = settings.folder
    assert folder is not None
    witness = folder / "witness.txt"
    witness.write_text((folder / "text.txt").read_text(encoding="utf-8"), encoding="utf-8")
    text = (folder / "text.txt").read_text(encoding="utf-8")
    wrong = text.replace("司射适西阶西倚扑", "司射适西阶西倚朴")
    (folder / "text.txt").write_text(wrong, encoding="utf-8")
    config = folder / "config.toml"
    config.write_text(config.read_text(encoding="utf-8") + 'witnesses = ["witness.txt"]\n', encoding="utf-8")
    settings = Settings.load(folder)
    check(settings)
    read: list[Path] = []

    def noted(sources: Sequence[WitnessSource]) -> list[Transcription]:
        read.extend(source.path for source in sources)
        return read_witnesses(sources)

    monkeypatch.setattr(recheck, "read_witnesses", noted)
    with opened(settings) as project:
        before = told(project)
        assert any(reading.side == "image" for *_, heard in before for reading in heard), "the witness backs the image"
        for position in (1, 2):
            # as if read otherwise once, so that the page is weighed anew and not merely found in the store
            project.read_as(project.number(position))
        assert told(project) == before
        assert read == [witness]
        witness.write_text(wrong.replace("大夫则降", "大夫将降"), encoding="utf-8")
        project.reader.read(project.work, project.number(1))
        assert read == [witness, witness]
        sides = {reading.side for *_, heard in told(project) for reading in heard}
        assert sides == {"text"}, "the witness agrees with the text now, and the flags of the page are told so"
