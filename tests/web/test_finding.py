"""One box finds anything in a work; its answers are addresses."""

from __future__ import annotations

import pytest

from tests.web.drawn import WORK, Served


@pytest.mark.parametrize("address", ["010-2a", "卷十 2a", "WYG0103-0193a"])
def test_a_page_is_at_the_address_that_reference_works_give_it(served: Served, address: str) -> None:
    led = served.client.get(f"/works/{WORK}/pages/{address}")
    assert led.status_code == 302
    assert led.headers["Location"] == f"/works/{WORK}/pages/2"
    assert (
        served.client.get(f"/works/{WORK}/find", query_string={"q": address}).headers["Location"].endswith("/pages/2")
    )


def test_an_address_that_no_page_has_is_not_found(served: Served) -> None:
    assert served.client.get(f"/works/{WORK}/pages/099-1a").status_code == 404
    assert "Nothing was found." in served.client.get(f"/works/{WORK}/find?q=099-1a").text


def test_several_pages_are_offered(served: Served) -> None:
    led = served.client.get(f"/works/{WORK}/pages/WYG0103")
    found = served.client.get(led.headers["Location"]).text
    assert found.count(f"/works/{WORK}/pages/") > 3


def test_words_and_characters_are_found_where_they_stand(served: Served) -> None:
    words = served.client.get(f"/works/{WORK}/find?q=公公").text
    assert words.count("<mark>公公</mark>") == 3
    assert f"/works/{WORK}/pages/1#1-5" in words
    one = served.client.get(f"/works/{WORK}/find?q=告").text
    assert f"/works/{WORK}/glyphs?text=" in one
    assert "告 → 吿" in one
