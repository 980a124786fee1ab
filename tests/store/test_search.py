"""Search in one work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from proof.store import PagePlace, Store
from proof.store.lookup import NoPlaceError
from proof.store.queue_records import ListedPage
from proof.store.search import addressed
from proof.text.positions import Span
from tests.build import check_at, page, run_info

JUAN = ("序", "卷一", "卷二", "卷三")
FOLIOS = ("1a", "1b", "2a", "2b", "5b")
WORDS = "射人告具于公公升即位"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two similar works, each with a preface of five half-folios and three juan."""
    with Store.open(tmp_path_factory.mktemp("finder") / "proof.sqlite") as opened:
        for work in ("KR1d0030", "KR1d0031"):
            checked = []
            for number, (juan, folio) in enumerate((juan, folio) for juan in JUAN for folio in FOLIOS):
                name = f"{work}_WYG_{JUAN.index(juan):03d}-{folio}"
                result = replace(page(WORDS, name=name), ref=f"WYG0140-{330 + number:04d}b")
                lines = {1: Span(number * (len(WORDS) + 1), len(WORDS))}
                checked.append((PagePlace(number, "text.txt", juan, folio, lines=lines), result))
            check_at(opened, f"{WORDS}\n" * len(checked), checked, info=run_info(work), text="text.txt")
        yield opened


@pytest.mark.parametrize(
    "wanted", ["001-2a", "1-2a", "卷一 2a", "卷一2a", "1 2A", "KR1d0030_WYG_001-2a", "wyg140-337b"]
)
def test_the_address_of_a_page_in_reference_works_leads_to_it(store: Store, wanted: str) -> None:
    found = store.finder.find("KR1d0030", wanted)
    assert found.page is not None
    assert (found.page.juan, found.page.folio) == ("卷一", "2a")


def test_a_half_folio_alone_is_of_the_juan_where_one_is(store: Store) -> None:
    pages = store.queue.uncounted_pages("KR1d0030")
    assert [page.juan for page in addressed(pages, "5b", near=pages[-2].number)] == ["卷三"]
    assert [page.juan for page in addressed(pages, "5b")] == list(JUAN)


@pytest.mark.parametrize(("wanted", "juan"), [("卷二", "卷二"), ("第二卷", "卷二"), ("2", "卷二"), ("序", "序")])
def test_a_juan_leads_to_its_first_page(store: Store, wanted: str, juan: str) -> None:
    found = store.finder.find("KR1d0030", wanted)
    assert found.page is not None
    assert (found.page.juan, found.page.folio) == (juan, "1a")


def test_what_is_replaced_stands_so_and_in_no_other_form(store: Store) -> None:
    every = len(JUAN) * len(FOLIOS)
    assert store.finder.standing("KR1d0030", "公公升")[1] == every
    assert store.finder.find("KR1d0030", "於公公").places == every, "a search finds every form"
    assert store.finder.standing("KR1d0030", "於公公") == ((), 0)
    places, count = store.finder.standing("KR1d0030", "于公公")
    assert (len(places), count) == (every, every)
    assert {place.words for place in places} == {"于公公"}
    with pytest.raises(NoPlaceError, match="no work KR0"):
        store.finder.standing("KR0", "公公升")


def test_words_lead_to_the_columns_of_this_work_that_have_them(store: Store) -> None:
    found = store.finder.find("KR1d0030", "公公升")
    assert found.page is None
    assert len(found.columns) == len(JUAN) * len(FOLIOS)
    first = found.columns[0]
    assert (first.line, first.offset, first.before, first.words, first.after) == (1, 5, "射人告具于", "公公升", "即位")
    assert {place.page[:8] for place in found.columns} == {"KR1d0030"}


@pytest.mark.parametrize("wanted", ["烏有", "999-1a", "卷九", "%", "\x00", "", "  "])
def test_what_is_not_there_is_not_found(store: Store, wanted: str) -> None:
    assert not store.finder.find("KR1d0030", wanted)


def test_a_page_without_folio_is_found_by_its_id(store: Store) -> None:
    page = replace(store.queue.uncounted_pages("KR1d0030")[0], page="p1", folio="", juan="")
    assert addressed([page], "P1") == [page]
    assert addressed([page], "1a") == []
    assert isinstance(page, ListedPage)
