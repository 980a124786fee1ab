"""The characters of a work that are not encoded, each with its glyphs and with what it may be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.web.drawn import Served, add_page, checked, shapes_of

NAMES = {(1, 0): "&KR0058;", (1, 4): "[金*本]", (2, 0): "&KR0058;", (3, 2): "〓"}


def add_work(served: Served, folder: Path) -> None:
    """A work with a page on which names and stopgaps stand for four of the characters."""
    page = checked("WYG0109-0001a", folder / "page.png", served.sha, ())
    there = tuple(
        replace(character, text=NAMES.get((character.line, character.offset), character.text))
        for character in page.characters
    )
    add_page(served.store, replace(page, characters=there), work="rare", text="rare.txt", shapes=shapes_of(page))


def test_names_and_stopgaps_are_listed_with_their_glyphs(served: Served, tmp_path: Path) -> None:
    add_work(served, tmp_path)
    answer = served.client.get("/api/v1/works/rare/unencoded").get_json()["items"]
    assert [(entity["text"], entity["count"]) for entity in answer] == [("&KR0058;", 2), ("[金*本]", 1), ("〓", 1)]
    assert answer[1]["made_of"][0] == "鉢"
    page = served.client.get("/works/rare/unencoded").text
    assert page.count("data:image/webp;base64,") == 4
    assert "/works/rare/glyphs?text=%5B%E9%87%91*%E6%9C%AC%5D&amp;against=%E9%89%A2" in page
