"""Places follow their texts: what was decided stands where its characters stand, is written once, and is listed where
it cannot be told."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from proof.model.flags import numbered
from proof.store import Store
from proof.store.decision_records import State, Verdict
from proof.store.texts import Writing
from proof.text.edit import Edit, edited
from tests.build import PLACE, check, check_at, decide, page, queued

LINES = ("上射揖坐", "東面于北耦大夫", "與進者相左")


FOUND = ((1, 3, "", "揖"), (2, 3, "北", "比"))


@pytest.fixture
def decided(store: Store) -> Store:
    """One character more of a run, and another for 北: both taken."""
    check(store, page(*LINES, flags=FOUND))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    return store


def wanted(store: Store) -> dict[str, tuple[str, bool]]:
    """What is to stand at the place of each decision, and whether the text has it."""
    places = [one.place for one in store.decided_places("KR1")]
    return {place.transcribed: (place.wanted, place.reads == place.wanted) for place in places}


def content(store: Store) -> str:
    return store.content(store.decided_places("KR1")[0].version)


def write(store: Store) -> str:
    """Write what is not written yet, as an export does; gives the text."""
    before = content(store)
    edits = {
        one.place.flag: Edit(one.place.start, one.place.extent, one.place.wanted)
        for one in store.decided_places("KR1")
        if one.place.reads != one.place.wanted
    }
    after = edited(before, edits.values())
    store.text_versions.wrote(
        PLACE.text, before, after, "traditional", Writing(tuple(edits.values()), edits), lambda: True
    )
    return after


def test_what_was_decided_is_written_once_however_often_the_text_is_written_and_checked(decided: Store) -> None:
    first = write(decided)
    assert "上射揖揖坐" in first
    for _ in range(5):
        check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2]))
        assert write(decided) == first
        assert decided.decisions.displaced("KR1") == []


@pytest.mark.parametrize(
    "lines",
    [
        ("又一行", *LINES),
        (LINES[1], LINES[0], LINES[2]),
        (LINES[0] + LINES[1], LINES[2]),
        ("上射揖坐", "東面", "于北耦大夫", LINES[2]),
        ("又上射揖坐也", "又東面于北耦大夫也", LINES[2]),
    ],
    ids=["line put in", "lines exchanged", "lines joined", "line parted", "words beside"],
)
def test_a_decision_follows_its_characters(decided: Store, lines: tuple[str, ...]) -> None:
    check(decided, page(*lines))
    assert decided.decisions.displaced("KR1") == []
    after = write(decided)
    assert "射揖揖坐" in after
    assert "于比耦" in after


def test_what_somebody_else_wrote_as_it_was_decided_is_written(decided: Store) -> None:
    check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2]))
    assert wanted(decided) == {"": ("揖", True), "北": ("比", True)}
    assert decided.decisions.displaced("KR1") == []


def test_what_cannot_be_told_is_listed_and_comes_back_with_its_text(decided: Store) -> None:
    check(decided, page("上射揖坐", "東面于南耦大夫", LINES[2]))
    assert [one.decision.transcribed for one in decided.decisions.displaced("KR1")] == ["北"]
    check(decided, page(*LINES, flags=FOUND))
    assert decided.decisions.displaced("KR1") == []
    assert [flag.state for flag in queued(decided)] == [State.CORRECTED] * 2


def test_a_decision_does_not_come_back_where_something_was_decided_since_of_what_may_be_the_same(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A line is doubled, asked of again, and one of the two is taken out: which, nobody can say."""
    once, twice = ("上射坐", LINES[2]), ("上射坐", "上射坐", LINES[2])
    asked = ((1, 1, "射", "躬"),)
    check(store, page(*once, flags=asked))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page(*twice, flags=asked))
    [again] = queued(store)
    decide(store, again.number, Verdict.KEEP)
    for lines in (once, (*once, "又"), once):
        check(store, page(*lines))
        assert len(store.decisions.displaced("KR1")) == 2
    if store.journal is not None:
        with Store.open(tmp_path_factory.mktemp("new") / "proof.sqlite") as new:
            check(new, page(*once, flags=asked))
            assert new.recover(store.journal.path).rebuilt == {"decision": 2}
            assert len(new.decisions.displaced("KR1")) == 2
            check(new, page(*once, "又", flags=asked))
            assert len(new.decisions.displaced("KR1")) == 2
            assert [flag.state for flag in queued(new)] == [State.OPEN]


def test_what_was_written_and_taken_back_is_put_back(decided: Store) -> None:
    before = content(decided)
    write(decided)
    for _ in range(2):
        decided.acts.undo("KR1", "甲", uuid.uuid4().hex)
    assert write(decided) == before


def test_what_was_decided_and_written_is_not_asked_again(decided: Store) -> None:
    write(decided)
    again = ((2, 3, "比", "北"), (1, 2, "揖揖", "揖"), (3, 0, "與", "興"))
    check(decided, page("上射揖揖坐", "東面于比耦大夫", LINES[2], flags=again))
    assert [flag.flag.transcribed for flag in queued(decided)] == ["揖揖", "與"]


def test_of_several_questions_about_one_place_none_is_asked_once_one_is_answered(store: Store) -> None:
    twice = page(*LINES, flags=((1, 3, "", "揖"), (1, 3, "", "坐")))
    twice = replace(twice, flags=numbered(twice.flags))
    check(store, twice)
    assert len(queued(store)) == 2
    decide(store, queued(store)[0].number, Verdict.TAKE)
    for _ in range(2):
        assert [flag.state for flag in queued(store)] == [State.CORRECTED]
        check(store, twice)


def test_what_was_taken_back_is_not_asked_where_another_question_about_the_place_is_answered(store: Store) -> None:
    for suggested, taken_back in (("", True), ("日", False)):
        check(store, page("上射坐", flags=((1, 1, "射", suggested),)))
        [open_flag] = queued(store, states=(State.OPEN,))
        decide(store, open_flag.number, Verdict.TAKE)
        if taken_back:
            decide(store, open_flag.number, Verdict.UNDO)
    check(store, page("上射坐", flags=((1, 1, "射", ""),)))
    assert queued(store, states=(State.OPEN,)) == []


def test_a_text_that_was_renamed_meanwhile_is_not_noted_under_its_old_name(decided: Store) -> None:
    decided.move_text("KR1", PLACE.text, "other.txt")
    assert not decided.text_versions.arrive(PLACE.text, content(decided) + "又", "traditional", lambda: True)
    assert decided.text_versions.paths() == {"other.txt"}


def test_a_flag_goes_to_the_page_on_which_its_characters_stand(decided: Store) -> None:
    first = page(LINES[0], flags=FOUND[:1])
    check(decided, first, page(*LINES[1:], flags=((1, 3, "北", "比"),), name="p2"))
    assert [(flag.flag.page, flag.state) for flag in queued(decided)] == [
        ("p1", State.CORRECTED),
        ("p2", State.CORRECTED),
    ]


def test_a_flag_goes_to_a_page_that_stands_among_the_columns_of_another(decided: Store) -> None:
    text = content(decided)
    first, second, third = (text.index(line) for line in LINES)
    around = page(LINES[0], LINES[2], flags=FOUND[:1])
    among = page(LINES[1], flags=((1, 3, "北", "比"),), name="p2")
    places = (replace(PLACE, lines={1: first, 2: third}), replace(PLACE, position=1, lines={1: second}))
    check_at(decided, text, list(zip(places, (around, among), strict=True)))
    assert [(flag.flag.page, flag.flag.line, flag.state) for flag in queued(decided)] == [
        ("p1", 1, State.CORRECTED),
        ("p2", 1, State.CORRECTED),
    ]


def test_what_stands_beside_a_correction_that_somebody_wrote_keeps_its_place(store: Store) -> None:
    """Of two equal characters side by side nobody could tell which one is new, but for what was decided."""
    check(store, page("上射坐", LINES[2], flags=((1, 1, "", "射"), (1, 1, "射", "躬"))))
    missing, kept = queued(store)
    decide(store, missing.number, Verdict.TAKE)
    decide(store, kept.number, Verdict.KEEP)
    check(store, page("上射射坐", LINES[2]))
    assert store.decisions.displaced("KR1") == []
    assert wanted(store) == {"": ("射", True), "射": ("射", True)}


def test_two_decisions_side_by_side_are_both_written(store: Store) -> None:
    check(store, page("甲乙丙", flags=((1, 1, "乙", "己"), (1, 2, "丙", "兩"))))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    assert write(store) == "<pb:p1>\n甲己兩\n"


def test_of_a_line_that_was_doubled_and_corrected_in_one_of_the_two_neither_is_guessed(store: Store) -> None:
    check(store, page("上射坐", LINES[2], flags=((1, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上躬坐", "上射坐", LINES[2]))
    assert [one.decision.transcribed for one in store.decisions.displaced("KR1")] == ["射"]


def test_a_place_stays_where_its_line_stands_and_another_was_doubled_that_reads_as_decided(store: Store) -> None:
    check(store, page("上躬坐", "上射坐", LINES[2], flags=((2, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上躬坐", "上躬坐", "上射坐", LINES[2]))
    assert store.decisions.displaced("KR1") == []
    assert wanted(store) == {"射": ("躬", False)}


def test_what_moved_is_not_taken_for_written_where_its_line_was_doubled(store: Store) -> None:
    line, moved = "上若有大夫士與為耦則以", ((1, 3, "", "士與"), (1, 5, "士與", ""))
    check(store, page(line, LINES[2], flags=moved))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    check(store, page(line, line, LINES[2]))
    assert {one.place.reads for one in store.decided_places("KR1")} == {"", "士與"}
    assert len(store.decisions.displaced("KR1")) == 2


def test_what_moved_is_not_taken_for_written_where_somebody_else_changed_what_it_moved_by(store: Store) -> None:
    check(store, page("上若有大夫士與為耦", flags=((1, 3, "", "士與"), (1, 5, "士與", ""))))
    for flag in queued(store):
        decide(store, flag.number, Verdict.TAKE)
    check(store, page("上若有大士與為耦"))
    assert write(store) == "<pb:p1>\n上若有士與大為耦\n"


def test_what_comes_out_of_the_journal_stands_where_it_stood(
    decided: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    write(decided)
    if decided.journal is None:
        pytest.skip("a store on a server has its journal elsewhere")
    with Store.open(tmp_path_factory.mktemp("new") / "proof.sqlite") as new:
        check(new, page("上射揖揖坐", "東面于比耦大夫", LINES[2]))
        done = new.recover(decided.journal.path)
        assert (done.rebuilt, done.unplaced) == ({"decision": 2}, ())
        assert wanted(new) == wanted(decided) == {"": ("揖", True), "北": ("比", True)}
        assert new.recover(decided.journal.path).rebuilt == {}


def test_a_place_that_was_lost_before_the_database_was_is_lost_when_it_is_recovered(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of a line that was doubled nobody can say which was meant, also where one of the two is changed since."""
    check(store, page("上射坐", LINES[2], flags=((1, 1, "射", "躬"),)))
    decide(store, queued(store)[0].number, Verdict.TAKE)
    check(store, page("上射坐", "上射坐", LINES[2], flags=((3, 0, "與", "興"),)))
    decide(store, next(flag.number for flag in queued(store) if flag.flag.transcribed == "與"), Verdict.TAKE)
    changed = page("上也射坐", "上射坐", LINES[2])
    check(store, changed)
    if store.journal is None:
        pytest.skip("a store on a server has its journal elsewhere")
    with Store.open(tmp_path_factory.mktemp("new") / "proof.sqlite") as new:
        check(new, changed)
        new.recover(store.journal.path)
        displaced = [[one.decision.transcribed for one in each.decisions.displaced("KR1")] for each in (store, new)]
        assert displaced == [["射"], ["射"]]


def test_what_was_written_before_the_database_was_lost_is_not_taken_for_unwritten_when_it_is_recovered(
    decided: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also where the lines were doubled since: what was written into them stands in both."""
    write(decided)
    doubled = page("上射揖揖坐", "東面于比耦大夫", "上射揖揖坐", "東面于比耦大夫", LINES[2])
    check(decided, doubled)
    if decided.journal is None:
        pytest.skip("a store on a server has its journal elsewhere")
    with Store.open(tmp_path_factory.mktemp("new") / "proof.sqlite") as new:
        check(new, doubled)
        new.recover(decided.journal.path)
        assert wanted(new) == wanted(decided) == {"": ("揖", True), "北": ("比", True)}
        assert len(new.decisions.displaced("KR1")) == len(decided.decisions.displaced("KR1")) == 2


def test_a_text_that_was_read_before_another_version_came_does_not_take_its_place(decided: Store) -> None:
    before = content(decided)
    after = write(decided)
    assert not decided.text_versions.arrive(PLACE.text, before, "", lambda: False)
    assert decided.text_versions.content(PLACE.text) == after


def test_what_an_export_wrote_is_not_noted_over_what_came_since(decided: Store) -> None:
    before = content(decided)
    newer = edited(before, [Edit(0, 0, "又\n")])
    decided.text_versions.arrive(PLACE.text, newer, "", lambda: True)
    decided.text_versions.wrote(PLACE.text, before, f"{before}也", "", Writing(()), lambda: False)
    assert decided.text_versions.content(PLACE.text) == newer


def test_a_page_that_two_flags_leave_keeps_their_ids_apart(decided: Store) -> None:
    names = {flag.flag.id for flag in queued(decided)}
    moved = page(LINES[1], LINES[0], LINES[2], flags=((1, 3, "北", "比"), (2, 3, "", "揖")))
    check(decided, replace(moved))
    assert {flag.flag.id for flag in queued(decided)} == names
