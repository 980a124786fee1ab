"""A column edited as a whole: what is corrected of it, and that it then reads as it was typed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.store import Store
from proof.text.edit import Edit, edited
from proof.text.positions import Span
from proof.web import create_app
from proof.web.column_edits import PlaceCorrection, corrections_of
from tests import build
from tests.build import PLACE, check_at, page
from tests.store.exported import export
from tests.web.drawn import LINES, WORK, Served, settings_in

SOURCE = "　周易(鄭玄/注)⿰金本卷"


def reads(source: str, edits: list[Edit], corrections: list[PlaceCorrection]) -> str:
    """The column once the corrections stand, in place of the edits that they are about."""
    kept = [edit for edit in edits if edit not in [correction.edit for correction in corrections]]
    return edited(
        source, [*kept, *(Edit(correction.offset, correction.length, correction.reading) for correction in corrections)]
    )


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        (SOURCE, []),
        ("　周昜(鄭玄/注)⿰金本卷", [(2, 1, "昜")]),
        ("　周(鄭玄/注)⿰金本卷一", [(2, 1, ""), (13, 0, "一")]),
        ("　周易(鄭玄/注)⿰金木卷", [(9, 3, "⿰金木")]),
        ("　周易(鄭康成/注)⿰金本卷", [(5, 0, "康"), (5, 1, "成")]),
    ],
)
def test_what_differs_is_corrected_character_by_character(typed: str, places: list[tuple[int, int, str]]) -> None:
    corrections = corrections_of(SOURCE, [], typed)
    assert [(correction.offset, correction.length, correction.reading) for correction in corrections] == places
    assert reads(SOURCE, [], corrections) == typed


TEXT = st.text("甲乙丙(/)　", max_size=8)


@given(TEXT, TEXT, st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.text("丁戊", max_size=2)), max_size=3))
def test_the_column_reads_as_it_was_typed_whatever_was_decided_before(
    source: str, typed: str, decided: list[tuple[int, int, str]]
) -> None:
    edits: list[Edit] = []
    for start, length, replacement in sorted(decided):
        free = not edits or start > edits[-1].end
        if (
            free
            and start + length <= len(source)
            and (length or replacement)
            and source[start : start + length] != replacement
        ):
            edits.append(Edit(start, length, replacement))
    assert reads(source, edits, corrections_of(source, edits, typed)) == typed
    assert corrections_of(source, edits, edited(source, edits)) == []


def test_a_column_is_edited_as_one_act_which_flags_export_and_undo_know(served: Served) -> None:
    """The flagged 告 is read 吿, a character deleted and one inserted; then the column is edited again."""
    client, base = served.client, f"/api/v1/works/{WORK}"
    page = client.get(f"{base}/pages/1").get_json()
    assert page["columns"][0]["now"] == LINES[0]

    def edit(seen: str, text: str, key: str) -> dict[str, Any]:
        made = client.post(f"{base}/pages/1/columns/1", json={"seen": seen, "text": text, "key": key})
        return {"status": made.status_code, **made.get_json()}

    first = "射人吿具于公升阼即位"
    assert edit(LINES[0], first, "edit-0001") == {"status": 200, "corrected": 3, "conflicts": []}
    assert edit(LINES[0], first, "edit-0002")["status"] == 404
    assert client.get(f"{base}/pages/1").get_json()["columns"][0]["now"] == first
    flags = served.store.queue.flags(WORK, [1])
    assert (flags[0].state.value, flags[0].reading) == ("corrected", "吿")
    second = "射人告具于公升即位乃"
    assert edit(first, second, "edit-0003")["corrected"] == 3
    assert client.get(f"{base}/pages/1").get_json()["columns"][0]["now"] == second
    assert edit(second, "射人(告具于公升即位乃", "edit-0004")["status"] == 422
    for key, text in (("undo-0001", first), ("undo-0002", LINES[0])):
        assert client.post(f"{base}/undo", json={"key": key}).status_code == 200
        assert client.get(f"{base}/pages/1").get_json()["columns"][0]["now"] == text


def test_a_line_on_two_pages_is_one_column_on_both(tmp_path: Path) -> None:
    """In a text without page marks: what is corrected on one page stands on the other, and is decided anew there."""
    line = "射人告具于公升阼階"
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        lines = {1: Span(0, len(line))}
        pages = [
            (replace(PLACE, position=n, lines=lines), page(line, name=name)) for n, name in enumerate(("p1", "p2"))
        ]
        check_at(store, f"{line}\n", pages)
        first, second = (listed.number for listed in store.queue.uncounted_pages(build.WORK))
        client, base = (
            Served(settings, store, create_app(settings, store=store), "").client,
            f"/api/v1/works/{build.WORK}",
        )

        def edit(page: int, seen: str, text: str, key: str) -> dict[str, Any]:
            body = {"seen": seen, "text": text, "key": key}
            made = client.post(f"{base}/pages/{page}/columns/1", json=body)
            texts = [client.get(f"{base}/pages/{number}").get_json()["columns"][0]["now"] for number in (first, second)]
            return {"status": made.status_code, "texts": texts}

        assert edit(second, line, "射人告具于某升阼階", "edit-0001")["texts"] == ["射人告具于某升阼階"] * 2
        assert edit(first, line, "射人告具于乙升阼階", "edit-0002")["status"] == 404
        assert (
            edit(first, "射人告具于某升阼階", "射人告具于乙升阼階", "edit-0003")["texts"] == ["射人告具于乙升阼階"] * 2
        )
        assert export(store) == "射人告具于乙升阼階\n"
        undone = client.post(f"{base}/undo", json={"key": "undo-0001"})
        assert undone.get_json()["decisions"][0]["reading"] == "某"
        assert edit(first, "射人告具于某升阼階", line, "edit-0004")["texts"] == [line] * 2


def test_a_column_that_the_image_lacks_is_shown_where_it_stands_and_edited(tmp_path: Path) -> None:
    settings, result = settings_in(tmp_path), page("上射揖坐", "與進者相左")
    first, second = result.columns
    with Store.open(settings.store_address) as store:
        lines = {1: Span(0, 4), 2: Span(5, 3), 3: Span(9, 5)}
        shown = replace(result, columns=(first, replace(second, number=3)))
        check_at(store, "上射揖坐\n天地玄\n與進者相左\n", [(replace(PLACE, lines=lines), shown)])
        client, base = (
            Served(settings, store, create_app(settings, store=store), "").client,
            f"/api/v1/works/{build.WORK}",
        )
        columns = client.get(f"{base}/pages/1").get_json()["columns"]
        assert [column["now"] for column in columns] == ["上射揖坐", "天地玄", "與進者相左"]
        assert [column["box"] for column in columns] == [[100, 0, 90, 100], [100, 0, 0, 100], [200, 0, 90, 100]]
        body = {"seen": "天地玄", "text": "天玄黃", "key": "edit-0001"}
        assert client.post(f"{base}/pages/1/columns/2", json=body).get_json()["corrected"] == 2
        assert client.get(f"{base}/pages/1").get_json()["columns"][1]["now"] == "天玄黃"
        assert export(store) == "上射揖坐\n天玄黃\n與進者相左\n"
