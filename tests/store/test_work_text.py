"""Words are found across the breaks of columns, notes and pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from proof.model.geometry import Box
from proof.model.result import CheckedCharacter
from proof.store import Store
from proof.store.carried_places import ExportEdits
from proof.store.decision_records import Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.work_text import TextColumn, WorkText, WorkTexts
from proof.text.edit import Edit
from proof.text.model import Row
from proof.text.positions import Span
from tests.build import PLACE, by_hand, check, check_at, decide, key, page
from tests.store import exported
from tests.web.drawn import LINES, WORK, fill

MARKUP = ("", "(", ")", "/", "\u3000", "，", "【", "<md:x>", "\u200b")


def work(*columns: str, pages: tuple[int, ...] = ()) -> WorkText:
    numbers = pages or (1,) * len(columns)
    numbered = enumerate(zip(numbers, columns, strict=True), 1)
    return WorkText([[TextColumn(n, at, source) for at, (n, source) in numbered]])


@pytest.mark.parametrize(
    ("columns", "wanted", "place", "words"),
    [
        (["主人(三揖/賓)升", "堂"], "三揖賓升", (1, 3, 1, 9), "三揖/賓)升"),
        (["主人(三/揖)", "(賓/升)堂"], "揖賓升", (1, 5, 2, 4), "揖)(賓/升"),
        (["學而時習之，不亦", "說乎"], "習之不亦說", (1, 3, 2, 1), "習之，不亦說"),
        (["學而時習之", "不亦說乎"], "習之，不亦", (1, 3, 2, 2), "習之不亦"),
        (["\u3000主人", "三", "揖賓¶"], "人三揖", (1, 2, 3, 1), "人三揖"),
        (["楅&KR0058;受"], "楅&KR0058;受", (1, 0, 1, 10), "楅&KR0058;受"),
        (["葛\U000e0100城"], "葛城", (1, 0, 1, 3), "葛\U000e0100城"),
    ],
)
def test_words_are_found_across_columns_notes_and_markup(
    columns: list[str], wanted: str, place: tuple[int, int, int, int], words: str
) -> None:
    (found,) = work(*columns).find(wanted)
    assert (found.first.number, found.offset, found.last.number, found.end) == place
    assert found.words == words


@given(
    st.lists(
        st.tuples(st.sampled_from("公卿大夫𫝊"), st.sampled_from(MARKUP), st.integers(0, 5)), min_size=1, max_size=40
    ),
    st.data(),
)
def test_any_part_of_a_text_is_found_at_its_place(written: list[tuple[str, str, int]], data: st.DataObject) -> None:
    """`written` has each character, the markup after it, and whether a column (0) or a page (1) ends there."""
    columns, pages = [""], [1]
    for char, markup, ends in written:
        columns[-1] += char + markup
        if ends < 2:
            columns.append("")
            pages.append(pages[-1] + ends)
    plain = "".join(char for char, _, _ in written)
    first = data.draw(st.integers(0, len(plain) - 1))
    wanted = plain[first : data.draw(st.integers(first + 1, len(plain)))]
    text = work(*columns, pages=tuple(pages))
    found = list(text.find(wanted))
    assert len(found) == text.count(wanted) == plain.count(wanted)
    for match in found:
        assert match.first.source[match.offset] == wanted[0]
        assert match.last.source[match.end - 1] == wanted[-1]
        assert "".join(char for char in match.words if char in "公卿大夫𫝊") == wanted


def test_a_page_has_its_columns_even_if_its_file_is_gone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path, work="other")
        listed = store.queue.uncounted_pages("other")
        Path(listed[0].text).unlink()
        found = store.queue.sources([page.number for page in listed])
        assert {tuple(columns.values()) for columns in found.values()} == {tuple(LINES)}


def test_words_are_found_in_all_variant_forms() -> None:
    for written in ("引証", "引證", "引证"):
        text = work(f"旁{written}經")
        for wanted in ("引証", "引證", "引证"):
            assert [words.words for words in text.find(wanted)] == [written]
    assert not list(work("引說").find("引證"))


def test_words_are_found_in_the_text_after_decisions(tmp_path: Path) -> None:
    """In 射人告具于公公升即位 a 公 is deleted and 司馬 inserted, and both are undone."""
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)
        page = store.queue.uncounted_pages(WORK)[0].number

        def places(words: str) -> list[tuple[int, int, str]]:
            return [
                (at.line, at.offset, at.words) for at in store.finder.find(WORK, words).columns if at.number == page
            ]

        assert places("公公升") == [(1, 5, "公公升")]
        correct(store, page, 5, 1, "")
        assert places("公公升") == []
        assert places("于公升") == [(1, 4, "于公升")]
        correct(store, page, 8, 0, "司馬")
        assert places("公升司馬即") == [(1, 6, "公升司馬即")]
        assert places("馬即位") == [(1, 8, "馬即位")]
        assert places("即位小臣") == [(1, 8, "即位小臣")]
        assert store.finder.find(WORK, "公公升").places == 2, "the other pages stand"
        assert len(store.finder.find_in_all("公升司馬").places) == 1
        store.acts.undo(WORK, "甲", "taken-back-1")
        store.acts.undo(WORK, "甲", "taken-back-2")
        assert places("公公升") == [(1, 5, "公公升")]


def test_words_of_a_line_on_two_pages_are_found_once_on_the_page_that_shows_them(tmp_path: Path) -> None:
    line = "射人告具于公公升即位"
    characters = [CheckedCharacter(1, n, 1, Row.MAIN, text, Box(0, n, 1, 1), text, 1.0) for n, text in enumerate(line)]
    shown = {"p1": characters[:3], "p2": characters[3:]}
    with Store.open(tmp_path / "proof.sqlite") as store:
        of_page = [replace(page(line, name=name), characters=tuple(own)) for name, own in shown.items()]
        place = replace(PLACE, lines={1: Span(0, len(line))})
        check_at(store, f"{line}\n", [(replace(place, position=n), result) for n, result in enumerate(of_page)])

        def places(words: str) -> list[tuple[str, int]]:
            matches = store.finder.find("KR1", words)
            assert matches.places == len(matches.columns)
            return [(at.page, at.offset) for at in matches.columns]

        for _ in range(2):
            assert places("射人") == [("p1", 0)]
            assert places("公升") == [("p2", 6)]
            assert places("位射") == []
            correction = by_hand(store, 1, 4, "乎", page="p2")
            assert (places("具于"), places("具乎")) == ([], [("p2", 3)])
            decide(store, correction.flag, Verdict.UNDO)


def test_a_search_that_began_before_a_decision_does_not_hide_it_from_later_searches(tmp_path: Path) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        fill(store, tmp_path)
        fill(store, tmp_path, work="KR0")
        page = store.queue.uncounted_pages(WORK)[0].number
        texts = WorkTexts()
        with Session(store.engine) as earlier, Session(store.engine) as later:
            assert [text.count("公公升") for _, text in texts.texts(earlier)] == [3, 3]
            earlier_search = texts.texts(earlier)
            assert next(earlier_search)[0].name == "KR0"
            correct(store, page, 5, 1, "")
            later_search = texts.texts(later)
            assert next(later_search)[0].name == "KR0"
            assert next(earlier_search)[1].count("公公升") == 3
            assert next(later_search)[1].count("公公升") == 2


def correct(store: Store, page: int, offset: int, length: int, reading: str) -> None:
    verdict = Verdict.TYPED if reading else Verdict.DELETE
    wanted = ManualCorrection(WORK, page, 1, offset, length, reading, "甲", key(), verdict)
    store.manual_corrections.correct(wanted)


def test_a_correction_in_another_script_that_is_taken_back_is_shown_as_the_next_export_restores_it(
    store: Store,
) -> None:
    check(store, page(*exported.LINES))
    number = store.queue.uncounted_pages("KR1")[0].number
    store.manual_corrections.correct(ManualCorrection("KR1", number, 3, 1, 1, "进", "甲", key(), transcribed="進"))
    before = exported.content(store)
    at = before.index("進")
    [decided] = exported.decided_places(store)
    edit = Edit(at, 1, "𨔈")  # the form in which the export wrote what was decided
    after = before.replace("進", "𨔈")
    store.texts.record_export(
        PLACE.text, before, after, "traditional", ExportEdits((edit,), {decided.flag.place.flag: 0}), lambda: True
    )
    check(store, page(*exported.LINES[:2], exported.LINES[2].replace("進", "𨔈")))
    column = (number, 3)
    assert store.queue.columns("KR1", [number])[column].source == "與𨔈者相左"
    store.acts.undo("KR1", "甲", key())
    assert store.queue.columns("KR1", [number])[column].source == "與進者相左"
