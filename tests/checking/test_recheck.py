"""A page set right and read again: a check honours it, decisions stay, and all of it can be taken back."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest

from proof.checking import recheck
from proof.checking.pipeline import Progress, check
from proof.checking.recheck import Rechecker, Reread
from proof.layout.overrides import LayoutOverrideShape
from proof.model.flags import WitnessReading
from proof.model.notices import Notice, NoticeCode
from proof.model.result import PageResult, Status
from proof.settings.config import Settings
from proof.store import Store
from proof.store.decision_records import DecisionRequest, State, Verdict
from proof.store.queue_records import Order, QueueFilter
from proof.text.model import Row
from proof.text.transcription import Transcription
from proof.text.witness_source import WitnessSource
from proof.text.witnesses import read_witnesses
from tests.conftest import MadeOnce
from tests.sample import lay_out

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]


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


def in_a_corner(hint: LayoutOverrideShape) -> LayoutOverrideShape:
    """A frame around the lower left of the page alone."""
    (left, top), _, (right, bottom), _ = hint.corners
    middle, low = left + (right - left) / 3, top + 0.6 * (bottom - top)
    return LayoutOverrideShape(((left, low), (middle, low), (middle, bottom), (left, bottom)), hint.rules)


def agreeing(result: PageResult) -> float:
    """The share of a page's characters that are read as they are transcribed, of all that its text has."""
    written = sum(len(column.source.strip()) for column in result.columns) or 1
    return sum(one.read == one.text for one in result.characters) / written


def test_a_layout_set_by_hand_is_honoured_by_every_later_check_until_it_is_taken_back(settings: Settings) -> None:
    check(settings)
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        place = store.queue.pages(work.name, 2, 1)[0]
        _, found = store.queue.page(work.name, place.number)
        numbers, _ = store.queue.find(work.name, QueueFilter(first_page=2, last_page=2, raised=None), Order.PAGE)
        first = numbers[0]
        store.decisions.decide(DecisionRequest(work.name, first, Verdict.KEEP, 0, "甲", "request-1"))
        reader = Rechecker(settings, store)

        # the wrong columns, as a machine might have found them
        wrong = in_a_corner(found_layout(found))
        store.layout_overrides.set(work.name, place.number, wrong, "", "", version=0, person="甲", key="layout-1")
        spoilt = reader.read(work.name, place.number)
        assert spoilt.result.status is Status.MISMATCH or agreeing(spoilt.result) < 0.5
        assert first in [flag.number for flag in spoilt.kept], "its place stands, though nothing is read there now"
        assert spoilt.lost == ()

        # the right ones beat them, and the decision is found again
        right = found_layout(found)
        store.layout_overrides.set(work.name, place.number, right, "", "", version=1, person="甲", key="layout-2")
        again = reader.read(work.name, place.number)
        assert agreeing(again.result) > 0.9 * agreeing(found)
        [decided] = store.queue.flags(work.name, [first])
        assert decided.state is State.KEPT
        assert not decided.stale
        _, kept = store.queue.page(work.name, place.number)
        assert kept.columns == again.result.columns

    seen: list[Progress] = []
    check(settings, seen.append)
    assert seen[-1].reused == 2, "what was read again is not read once more, and what was found before is not taken"
    with Store.open(settings.store_address) as store:
        assert store.queue.page(work.name, place.number)[1].columns == kept.columns
        store.layout_overrides.set(work.name, place.number, None, "", "", version=2, person="甲", key="layout-3")
    check(settings)
    with Store.open(settings.store_address) as store:
        assert store.queue.page(work.name, place.number)[1].columns == found.columns


def test_a_page_read_again_while_its_text_is_checked_anew_is_read_by_the_newer_text(settings: Settings) -> None:
    [text] = settings.text_files()
    calls = count(1)

    def edit_and_check_meanwhile() -> None:
        if next(calls) == 2:  # when the text was read, and nothing else yet
            text.write_text(text.read_text(encoding="utf-8").replace("西", "西也", 1), encoding="utf-8")
            check(settings)

    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        place = store.queue.pages(work.name, 2, 1)[0]
        again = Rechecker(settings, store).read(work.name, place.number, edit_and_check_meanwhile)
        assert store.text_versions.content(str(text)) == text.read_text(encoding="utf-8")
        assert again.result == store.queue.page(work.name, place.number)[1]


def test_an_image_given_to_a_page_is_the_one_that_is_read(settings: Settings) -> None:
    check(settings)
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        one, other = store.queue.pages(work.name, 1, 2)
        reader = Rechecker(settings, store)
        names = {path.stem: name for name, path in reader.images()}
        given = names[Path(str(store.queue.page(work.name, other.number)[1].image)).stem]
        store.layout_overrides.set(work.name, one.number, None, given, "", version=0, person="甲", key="layout-1")
        assert reader.read(work.name, one.number).result.status is Status.MISMATCH
        store.layout_overrides.set(work.name, one.number, None, "gone.png", "", version=1, person="甲", key="layout-2")
        result = reader.read(work.name, one.number).result
        assert result.status is Status.FAILED
        assert result.message == Notice.of(NoticeCode.ASSIGNED_GONE, image="gone.png", person="甲")
        store.layout_overrides.set(work.name, one.number, None, "", "", version=2, person="甲", key="layout-3")
        assert reader.read(work.name, one.number).result.status is Status.CHECKED


def told(store: Store, work: str) -> list[tuple[str, float, bool, tuple[WitnessReading, ...]]]:
    return sorted((one.id, one.score, one.raised, one.evidence.witnesses) for one in store.flags(work))


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
    with Store.open(there.store_address) as store:
        [work] = store.queue.works()
        reader = Rechecker(there, store)
        first = reader.read(work.name, 1)
        assert first.trouble is None
        assert first.fresh == first.gone == ()

        # from then on the page is of the text in the new place, whatever becomes of the old
        assert store.queue.page(work.name, 1)[0].text == str(copied / "text.txt")
        text = (copied / "text.txt").read_text(encoding="utf-8")
        assert text.count("\n司射适西阶西") == 1
        (copied / "text.txt").write_text(text.replace("\n司射适西阶西", "\n司龘适西阶西"), encoding="utf-8")
        assert [one.flag.transcribed for one in reader.read(work.name, 1).fresh] == ["龘"]


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
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        before = told(store, work.name)
        assert any(one.side == "image" for *_, heard in before for one in heard), "the witness backs the image"
        reader = Rechecker(settings, store)
        for page in store.queue.pages(work.name, 1, 2):
            # as if read otherwise once, so that the page is weighed anew and not merely found in the store
            store.layout_overrides.set(
                work.name, page.number, None, "", "", version=0, person="甲", key=f"layout-{page.number}"
            )
            reader.read(work.name, page.number)
        assert told(store, work.name) == before
        assert read == [witness]
        witness.write_text(wrong.replace("大夫则降", "大夫将降"), encoding="utf-8")
        reader.read(work.name, store.queue.pages(work.name, 1, 1)[0].number)
        assert read == [witness, witness]
        sides = {one.side for *_, heard in told(store, work.name) for one in heard}
        assert sides == {"text"}, "the witness agrees with the text now, and the flags of the page are told so"


def test_a_rule_on_the_wrong_place_costs_its_columns_and_put_right_gives_boxes_and_flags_back(
    settings: Settings,
) -> None:
    check(settings)
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        number = store.queue.pages(work.name, 1, 1)[0].number
        reader = Rechecker(settings, store)

        def read_as(hint: LayoutOverrideShape | None) -> Reread:
            version = len(store.layout_overrides.history(work.name, number))
            key = f"layout-{version}"
            store.layout_overrides.set(work.name, number, hint, "", "", version=version, person="甲", key=key)
            return reader.read(work.name, number)

        right = found_layout(store.queue.page(work.name, number)[1])
        straight = read_as(right)
        rules = list(right.rules)
        rules[5] -= 0.8 / 8  # the rule between the second and the third column, which leaves a strip of the third
        askew = read_as(LayoutOverrideShape(right.corners, tuple(rules)))
        assert edge(askew.result, 2) < edge(straight.result, 2) - 10, "the box of a character follows the rule"
        assert edge(askew.result, 6) == edge(straight.result, 6), "and no other does"
        assert any(one.flag.line == 3 for one in askew.fresh)
        again = read_as(right)
        assert {one.number for one in askew.fresh} <= {one.number for one in again.gone}
        assert again.result.characters == straight.result.characters
    check(settings)
    with Store.open(settings.store_address) as store:
        assert store.queue.page(work.name, number)[1].characters == again.result.characters
        assert store.layout_overrides.of_work(work.name)[again.result.page, 0].layout == right


def edge(result: PageResult, line: int) -> float:
    """How far to the left the characters of a column reach."""
    return min(one.box.x for one in result.characters if one.line == line and one.box)


def test_note_rows_are_where_a_person_says_that_they_are(settings: Settings) -> None:
    """Page 1b has a note in double rows above its sixth column. Read as one row it is read wrongly."""
    check(settings)
    with Store.open(settings.store_address) as store:
        [work] = store.queue.works()
        number = store.queue.pages(work.name, 2, 1)[0].number
        reader = Rechecker(settings, store)
        right = found_layout(store.queue.page(work.name, number)[1])
        agreed = {}
        for version, spans in enumerate(((), ((0.0, 4.2 / 21),), None)):
            notes = tuple(spans if line == 6 else None for line in range(1, 9))
            hint = LayoutOverrideShape(right.corners, right.rules, notes) if spans is not None else None
            key = f"layout-{version}"
            store.layout_overrides.set(work.name, number, hint, "", "", version=version, person="甲", key=key)
            of_column = [one for one in reader.read(work.name, number).result.characters if one.line == 6]
            agreed[spans] = sum(one.read == one.text for one in of_column if one.row is not Row.MAIN)
        assert agreed[()] < agreed[(0.0, 4.2 / 21),] == agreed[None] > 5
