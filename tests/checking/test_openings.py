"""A check against openings, from the folder to the exports: two half-folios on one image, each found, cut and read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from proof.checking.pipeline import CheckOutcome, check
from proof.images.load import load_image
from proof.locale.notices import in_english
from proof.model.result import PageResult, Status
from proof.settings.config import Settings
from proof.store import Store
from tests.layout.openings import Opening, Photograph, side_by_side
from tests.sample import TEXT, half_folios

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "pages"
FIRST, SECOND = ("WYG0103-0193d", "WYG0103-0194a"), ("WYG0103-0194c", "WYG0103-0194d")
"""3b beside 4a, as a book lies open, and 5a beside 5b, a leaf that was never folded; each of the four has one error."""

ERRORS = {
    ("WYG0103-0193d", 3, 5, "还内", "内还"),
    ("WYG0103-0194a", 4, 13, "令", "今"),
    ("WYG0103-0194c", 8, 0, "", "与"),
    ("WYG0103-0194d", 3, 3, "失", "矢"),
}
HOW = Photograph(gutter=0.1, skew=0.8, shadow=0.5, lower=0.01)


@dataclass(frozen=True)
class Project:
    """A folder with the four half-folios' text and their openings, under names that a test chooses."""

    folder: Path
    openings: tuple[Opening, Opening]

    def put(self, first: str, second: str) -> Settings:
        images = self.folder / "images"
        images.mkdir()
        for name, opening in zip((first, second), self.openings, strict=True):
            (images / name).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(opening.image).save(images / name, resolution=150.0)  # which a PDF heeds
        return Settings().replace(
            {
                "project.texts": [str(self.folder / "text.txt")],
                "project.images": [str(images)],
                "project.out": str(self.folder / "out"),
                "store.url": f"sqlite:///{self.folder / 'proof.sqlite'}",
            }
        )

    def listed(self, settings: Settings, *files: str) -> Settings:
        path = self.folder / "list.txt"
        places = ("010-3b", "010-4a", "010-5a", "010-5b")
        lines = (f"{place}00\tWYG {place}\t{file}\n" for place, file in zip(places, files, strict=True))
        path.write_text("".join(lines), encoding="utf-8")
        return settings.replace({"project.imglist": str(path)})


@pytest.fixture(scope="module")
def openings() -> tuple[Opening, Opening]:
    first, second = (
        side_by_side(load_image(SAMPLE / f"{right}.png").pixels, load_image(SAMPLE / f"{left}.png").pixels, HOW)
        for right, left in (FIRST, SECOND)
    )
    return first, second


@pytest.fixture
def project(tmp_path: Path, openings: tuple[Opening, Opening]) -> Project:
    head, marked = half_folios(TEXT.read_text(encoding="utf-8"))
    chosen_pages = [page for page in marked if any(f"{ref}.png" in page for ref in (*FIRST, *SECOND))]
    assert len(chosen_pages) == 4
    (tmp_path / "text.txt").write_text(head + "".join(chosen_pages), encoding="utf-8")
    return Project(tmp_path, openings)


def results(settings: Settings, outcome: CheckOutcome) -> dict[str, PageResult]:
    with Store.open(settings.store_address) as store:
        return {result.page: result for result in store.results(run=outcome.run_id)}


def raised(results: dict[str, PageResult]) -> set[tuple[str, int, int, str, str]]:
    return {
        (flag.page, flag.line, flag.offset, flag.transcribed, flag.suggested)
        for result in results.values()
        for flag in result.flags
        if flag.raised
    }


def named(project: Project) -> Settings:
    return project.put("10-3b-4a.png", "10-5ab.png")


def test_the_errors_of_both_halves_are_found_in_their_places(project: Project) -> None:
    settings = project.put("book/0012.png", "book/0013.png")
    settings = project.listed(settings, "book/0012a.png", "book/0012b.png", "book/0013a.png", "book/0013b.png")
    outcome = check(settings)
    by_page = results(settings, outcome)
    assert {result.page: result.message for result in by_page.values() if result.status is not Status.CHECKED} == {}
    raised_flags = raised(by_page)
    assert raised_flags >= ERRORS
    assert len(raised_flags - ERRORS) <= 1, raised_flags - ERRORS
    for opening, pair in zip(project.openings, (FIRST, SECOND), strict=True):
        right, left = (by_page[ref] for ref in pair)
        assert right.image == left.image
        assert right.image_size == left.image_size
        # every character lies on its own half
        assert min(character.box.x for character in right.characters) > max(
            character.box.right for character in left.characters
        )
        height, width = opening.image.shape
        assert right.image_size == (width, height)
        for result in (right, left):
            assert result.image_box is not None
            assert all(result.image_box.contains(*character.box.centre) for character in result.characters)


def test_a_second_check_reads_neither_half_again_and_an_altered_opening_both(project: Project) -> None:
    settings = named(project)
    check(settings)
    known: list[int] = []
    check(settings, watch=lambda progress: known.append(progress.reused))
    assert known[-1] == 4
    path = project.folder / "images" / "10-5ab.png"
    Image.open(path).rotate(0.2, fillcolor=246).save(path)
    check(settings, watch=lambda progress: known.append(progress.reused))
    assert known[-1] == 2


def test_a_half_of_what_is_no_opening_costs_its_page_and_says_so(project: Project) -> None:
    settings = project.put("book/0012.png", "book/0013.png")
    Image.open(SAMPLE / f"{FIRST[0]}.png").save(project.folder / "images" / "book" / "0012.png")
    settings = project.listed(settings, "book/0012a.png", "book/0012b.png", "book/0013a.png", "book/0013b.png")
    by_page = results(settings, check(settings))
    assert [by_page[ref].status for ref in FIRST] == [Status.FAILED] * 2
    message = by_page[FIRST[0]].message
    assert message
    assert "no opening of two" in in_english(message)
    assert [by_page[ref].status for ref in SECOND] == [Status.CHECKED] * 2


def test_a_page_is_given_half_of_an_opening_by_hand(project: Project) -> None:
    """As the page view does it: an image that no page would find, and which half of it."""
    settings = project.put("book/0012.png", "book/0013.png")
    with Store.open(settings.store_address) as store:
        check(settings)
        (work,) = store.queue.works()
        for place, quadrant in ((1, "a"), (2, "b")):
            number = store.queue.pages(work.name, place, 1)[0].number
            given = (work.name, number, None, "book/0012.png", quadrant)
            store.layout_overrides.set(*given, version=0, person="甲", key=f"given-{quadrant}-key")
    by_page = results(settings, check(settings))
    assert [by_page[ref].status for ref in FIRST] == [Status.CHECKED] * 2
    assert raised(by_page) >= {error for error in ERRORS if error[0] in FIRST}
