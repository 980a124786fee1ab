"""What was decided in the store reaches the text, and nothing that was not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from proof.cli import main
from proof.errors import UsageError
from proof.exports.collation_notes import notes_of
from proof.exports.decided import Unused, decided_in, note_written
from proof.exports.script import FormChoice
from proof.exports.source import correct
from proof.model.flags import Evidence, Flag, Kind
from proof.model.result import PageResult
from proof.ocr.engine import EngineIdentity
from proof.store import RunInfo, Store
from proof.store.decision_records import STATE_OF, ConflictError, DecisionRequest, Verdict
from proof.store.manual_corrections import ManualCorrection
from proof.store.models import FlagRow
from proof.store.saving import CheckedResult
from proof.store.texts import DecidedPlace
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from tests.standing import page_place, text_info

PAGE = "KR1_WYG_010-1a"
TEXT = f"<pb:{PAGE}>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n¶\n命上射&KR0058;曰告¶\n"


def flag(uid: str, line: int, offset: int, text: str, suggested: str, context: str) -> Flag:
    kind = Kind.SUBSTITUTION if text and suggested else Kind.INSERTION
    evidence = Evidence("posterior")
    return Flag(PAGE, "r", line, offset, len(text), kind, text, suggested, 5.0, True, None, evidence, context, uid)


@pytest.fixture
def edition(tmp_path: Path) -> Transcription:
    path = tmp_path / "KR1_010.txt"
    path.write_text(TEXT, encoding="utf-8")
    return read_transcription(path)


@pytest.fixture
def store(tmp_path: Path, checked: PageResult, edition: Transcription) -> Iterator[Store]:
    flags = (
        flag("f-north", 1, 5, "北", "比", "夫之西[北]耦(案"),
        flag("f-say", 3, 11, "曰", "", "58;[曰]告"),
        flag("f-order", 3, 0, "命", "令", "[命]上射&"),
        flag("f-shoot", 3, 2, "射", "身", "命上[射]&KR"),
    )
    with Store.open(tmp_path / "proof.sqlite") as opened:
        texts = (text_info(edition.path),)
        run = opened.begin_run(RunInfo("KR1", "書", texts, EngineIdentity("none", "1", "none", "0")))
        opened.save_pages(run, [CheckedResult(page_place(0, edition.path, PAGE), "", replace(checked, flags=flags))])
        yield opened


def test_only_what_was_decided_is_corrected(store: Store, edition: Transcription) -> None:
    decisions = {"f-north": (Verdict.TAKE, ""), "f-say": (Verdict.TYPED, "白"), "f-shoot": (Verdict.COPY, "")}
    for uid, (verdict, reading) in decisions.items():
        found = _flag_number(store, uid)
        store.decisions.decide(DecisionRequest("KR1", found, verdict, 0, "甲", f"request-{uid}", reading))
    corrected = correct(edition, decided_in(store, edition).corrections)
    assert corrected.text == TEXT.replace("西北", "西比").replace("曰告", "白告")
    assert [note.words for note in notes_of(corrected).notes] == [
        "比：原作北，據影像改。",
        "射：原文如此。",
        "白：原作曰，據影像改。",
    ]


def test_what_was_taken_back_or_left_unsure_stays_out(store: Store, edition: Transcription) -> None:
    north, say = _flag_number(store, "f-north"), _flag_number(store, "f-say")
    store.decisions.decide(DecisionRequest("KR1", north, Verdict.TAKE, 0, "甲", "request-1"))
    store.decisions.decide(DecisionRequest("KR1", north, Verdict.UNDO, 1, "乙", "request-2"))
    store.decisions.decide(DecisionRequest("KR1", say, Verdict.UNSURE, 0, "甲", "request-3"))
    assert decided_in(store, edition).corrections == ()


def test_a_second_export_finds_its_corrections_in_the_text(store: Store, edition: Transcription) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    corrected = correct(edition, decided_in(store, edition).corrections)
    edition.path.write_bytes(corrected.data)
    again = read_transcription(edition.path)
    decided = decided_in(store, again)
    second = correct(again, decided.corrections)
    assert second.data == corrected.data
    assert (second.placed, len(decided.applied)) == ((), 1)


@pytest.mark.parametrize("checked_again", [False, True])
@pytest.mark.parametrize(
    "verdicts", [(Verdict.TAKE, Verdict.TAKE), (Verdict.TAKE, Verdict.KEEP), (Verdict.KEEP, Verdict.TAKE)]
)
def test_corrections_that_stand_beside_each_other_are_found_in_the_text(
    store: Store, edition: Transcription, checked: PageResult, verdicts: tuple[Verdict, Verdict], checked_again: bool
) -> None:
    """Each is part of what stood around the other."""
    for uid, verdict in zip(("f-order", "f-shoot"), verdicts, strict=True):
        store.decisions.decide(DecisionRequest("KR1", _flag_number(store, uid), verdict, 0, "甲", f"request-{uid}"))
    corrected = correct(edition, decided_in(store, edition).corrections)
    edition.path.write_bytes(corrected.data)
    if checked_again:
        line = corrected.text.splitlines()[3].removesuffix("¶")
        columns = (*checked.columns[:-1], replace(checked.columns[-1], source=line))
        check(store, "KR1", edition.path, "traditional", replace(checked, columns=columns, flags=()))
        assert store.decisions.displaced("KR1") == []
    again = read_transcription(edition.path)
    found = decided_in(store, again)
    second = correct(again, found.corrections)
    assert second.data == corrected.data
    assert len(found.applied) + len(second.applied) == verdicts.count(Verdict.TAKE)
    assert found.left_out == ()


def test_a_correction_beside_one_that_reaches_farther_than_its_surroundings_is_found_in_the_text(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    """What is known around a place are three characters; beside it more may be gone."""
    page = store.queue.pages("KR1")[0].number
    for offset, length in ((3, 1), (6, 2)):
        wanted = ManualCorrection("KR1", page, 1, offset, length, "", "甲", f"by-hand-{offset}", delete=True)
        store.manual_corrections.correct(wanted)
    corrected = correct(edition, decided_in(store, edition).corrections)
    assert corrected.text == TEXT.replace("大夫之西北耦(案", "大夫西北案")
    edition.path.write_bytes(corrected.data)
    again = read_transcription(edition.path)
    found = decided_in(store, again)
    second = correct(again, found.corrections)
    assert (second.data, len(found.applied) + len(second.applied), found.left_out) == (corrected.data, 2, ())
    first = replace(checked.columns[0], source=corrected.text.splitlines()[1].removesuffix("¶"))
    now = replace(checked, columns=(first, *checked.columns[1:]), flags=())
    check(store, "KR1", edition.path, "traditional", now)
    assert store.decisions.displaced("KR1") == []


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.COPY, Verdict.UNSURE])
def test_what_was_said_beside_a_correction_holds_once_that_is_in_the_text(
    store: Store, edition: Transcription, checked: PageResult, verdict: Verdict
) -> None:
    for uid, said in (("f-order", Verdict.TAKE), ("f-shoot", verdict)):
        store.decisions.decide(DecisionRequest("KR1", _flag_number(store, uid), said, 0, "甲", f"request-{uid}"))
    edition.path.write_bytes(correct(edition, decided_in(store, edition).corrections).data)
    columns = (*checked.columns[:-1], replace(checked.columns[-1], source="令上射&KR0058;曰告"))
    found = flag("f-shoot-now", 3, 2, "射", "身", "令上[射]&KR")
    check(store, "KR1", edition.path, "traditional", replace(checked, columns=columns, flags=(found,)))
    [now] = store.queue.flags("KR1", [_flag_number(store, "f-shoot")])
    assert (now.state, now.version) == (STATE_OF[verdict], 1)
    assert store.decisions.displaced("KR1") == []


def test_an_export_is_of_one_moment_while_people_decide(
    store: Store, edition: Transcription, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither half of an act nor one act without that before it is written: here somebody corrects a place by hand,
    then takes a suggestion and changes what they had taken before, while the store is read."""
    asked = Store.decided_places
    north, order = _flag_number(store, "f-north"), _flag_number(store, "f-order")
    store.decisions.decide(DecisionRequest("KR1", north, Verdict.TAKE, 0, "甲", "request-1"))

    def meanwhile(self: Store, work: str) -> list[DecidedPlace]:
        found = asked(self, work)
        page = store.queue.pages("KR1")[0].number
        store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 1, 1, "天", "乙", "by-hand-1"))
        store.decisions.decide(DecisionRequest("KR1", order, Verdict.TAKE, 0, "乙", "request-2"))
        store.decisions.decide(DecisionRequest("KR1", north, Verdict.TYPED, 1, "乙", "request-3", "此"))
        return found

    monkeypatch.setattr(Store, "decided_places", meanwhile)
    line = [
        "export",
        str(edition.path),
        "--store",
        f"sqlite:///{tmp_path}/proof.sqlite",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(line) == 0
    assert (tmp_path / "out" / edition.path.name).read_text(encoding="utf-8") == TEXT.replace("西北", "西比")
    monkeypatch.setattr(Store, "decided_places", asked)
    assert main(line) == 0
    now = TEXT.replace("西北", "西此").replace("命上", "令上").replace("大夫", "天夫")
    assert (tmp_path / "out" / edition.path.name).read_text(encoding="utf-8") == now


def _flag_number(store: Store, uid: str) -> int:
    """The number under which the store knows a flag."""
    with store._reading() as session:
        found = session.scalar(select(FlagRow.id).where(FlagRow.uid == uid))
    assert found is not None
    return found


def test_a_later_check_of_another_work_takes_nothing_from_a_text(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    another = edition.path.with_name("another.txt")
    another.write_text(TEXT, encoding="utf-8")
    check(store, "another", another, "traditional", replace(checked, flags=()))
    assert correct(edition, decided_in(store, edition).corrections).text == TEXT.replace("西北", "西比")


def test_a_text_that_was_never_checked_is_refused_with_those_that_have_its_pages(
    store: Store, edition: Transcription, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "branch.txt"
    other.parent.mkdir()
    other.write_text(TEXT + "後\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"branch.txt was not checked(.|\n)*KR1_010.txt \(work KR1\)"):
        decided_in(store, read_transcription(other))


def test_decisions_about_another_file_with_the_same_pages_are_told_and_not_written(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    branch = edition.path.with_name("branch.txt")
    branch.write_text(TEXT, encoding="utf-8")
    check(store, "KR1-branch", branch, "traditional", replace(checked, flags=()))
    found = decided_in(store, read_transcription(branch))
    assert found.nothing
    assert [(one.reason, one.text) for one in found.left_out] == [(Unused.OTHER_TEXT, str(edition.path))]


def test_a_page_that_another_file_took_over_leaves_the_first_its_decisions(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    branch = edition.path.with_name("branch.txt")
    branch.write_text(TEXT.replace("西北", "西比"), encoding="utf-8")
    check(store, "KR1", branch, "traditional", replace(checked, flags=()))
    assert [one.flag for one in decided_in(store, edition).corrections] == ["f-north"]


def test_a_moved_text_keeps_its_decisions_and_a_changed_copy_beside_the_old_one_has_none(
    store: Store, edition: Transcription, tmp_path: Path
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    copy = tmp_path / "moved" / edition.path.name
    copy.parent.mkdir()
    copy.write_text(TEXT.replace("告¶", "吿¶"), encoding="utf-8")
    with pytest.raises(UsageError, match="was not checked"):
        decided_in(store, read_transcription(copy))
    edition.path.unlink()
    assert [one.flag for one in decided_in(store, read_transcription(copy)).corrections] == ["f-north"]


def test_who_says_that_a_place_is_right_and_who_corrects_it_by_hand_later_contradict_each_other(
    store: Store, edition: Transcription
) -> None:
    keep = DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.KEEP, 0, "甲", "request-1")
    store.decisions.decide(keep)
    page = store.queue.pages("KR1")[0].number
    store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 5, 1, "此", "乙", "by-hand-1"))
    found = decided_in(store, edition)
    assert found.corrections == ()
    assert {(one.reason, one.decision.person) for one in found.left_out} == {
        (Unused.CONFLICT, "甲"),
        (Unused.CONFLICT, "乙"),
    }


def test_what_is_typed_at_an_open_flag_decides_it_and_who_says_otherwise_is_told(
    store: Store, edition: Transcription
) -> None:
    number = _flag_number(store, "f-north")
    page = store.queue.pages("KR1")[0].number
    made = store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 5, 1, "此", "乙", "by-hand-1"))
    assert made.flag == number
    with pytest.raises(ConflictError):
        store.decisions.decide(DecisionRequest("KR1", number, Verdict.KEEP, 0, "甲", "request-1"))
    assert [one.replacement for one in decided_in(store, edition).corrections] == ["此"]


def test_what_was_kept_in_one_work_and_corrected_in_another_is_told(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    """A file that is checked as a part of two works."""
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    flags = (flag("f-again", 1, 5, "北", "比", "夫之西[北]耦(案"),)
    check(store, "KR2", edition.path, "traditional", replace(checked, flags=flags))
    assert [one.replacement for one in decided_in(store, edition).corrections] == ["比"]
    store.decisions.decide(DecisionRequest("KR2", _flag_number(store, "f-again"), Verdict.KEEP, 0, "乙", "request-2"))
    found = decided_in(store, edition)
    assert (found.corrections, [one.decision.person for one in found.left_out]) == ((), ["甲", "乙"])


def test_what_contradicts_itself_or_is_left_open_is_told(store: Store, edition: Transcription) -> None:
    said = {"f-north": Verdict.TAKE, "f-say": Verdict.UNSURE, "f-order": Verdict.SKIP, "f-shoot": Verdict.KEEP}
    for uid, verdict in said.items():
        store.decisions.decide(DecisionRequest("KR1", _flag_number(store, uid), verdict, 0, "甲", f"request-{uid}"))
    page = store.queue.pages("KR1")[0].number
    store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 5, 1, "此", "乙", "by-hand-1"))
    found = decided_in(store, edition)
    assert (found.corrections, found.settled) == ((), 1)
    assert sorted((one.reason, one.decision.transcribed) for one in found.left_out) == [
        (Unused.CONFLICT, "北"),
        (Unused.CONFLICT, "北"),
        (Unused.UNSURE, "曰"),
        (Unused.SKIPPED, "命"),
    ]


def test_the_same_said_twice_of_a_place_is_one_correction(store: Store, edition: Transcription) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    page = store.queue.pages("KR1")[0].number
    store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 5, 1, "比", "乙", "by-hand-1"))
    assert [one.replacement for one in decided_in(store, edition).corrections] == ["比"]


@pytest.mark.parametrize("verdict", [Verdict.COPY, Verdict.TAKE])
def test_what_the_copy_is_said_to_read_and_a_correction_of_it_contradict_each_other(
    store: Store, edition: Transcription, verdict: Verdict
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-shoot"), verdict, 0, "甲", "request-1"))
    page = store.queue.pages("KR1")[0].number
    store.manual_corrections.correct(ManualCorrection("KR1", page, 3, 2, 1, "社", "乙", "by-hand-1"))
    found = decided_in(store, edition)
    assert found.corrections == ()
    assert [one.reason for one in found.left_out] == [Unused.CONFLICT] * 2


def _a_run_is_checked(store: Store, edition: Transcription, checked: PageResult, *flags: Flag) -> Transcription:
    edition = read_transcription(edition.path)
    line = edition.text.split("¶\n")[1]
    columns = (replace(checked.columns[0], source=line), *checked.columns[1:])
    texts = (text_info(edition.path),)
    run = store.begin_run(RunInfo("KR1", "書", texts, EngineIdentity("none", "1", "none", "0")))
    result = replace(checked, columns=columns, flags=flags)
    store.save_pages(run, [CheckedResult(page_place(0, edition.path, PAGE), f"key-{run}", result)])
    store.finish_run(run, whole=True)
    return edition


@pytest.mark.parametrize("by_hand", [False, True], ids=["of a flag", "by hand"])
@pytest.mark.parametrize("check", [False, True], ids=["before the next check", "after it"])
def test_one_more_of_a_run_goes_into_a_text_once(
    store: Store, edition: Transcription, checked: PageResult, *, by_hand: bool, check: bool
) -> None:
    edition.path.write_text(TEXT.replace("大夫之西", "大夫□□□之西"), encoding="utf-8")
    flags = () if by_hand else (flag("f-gap", 1, 3, "", "□", "　大夫[]□□□"),)
    edition = _a_run_is_checked(store, edition, checked, *flags)
    if by_hand:
        page = store.queue.pages("KR1")[0].number
        store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 3, 0, "□", "甲", "by-hand-1"))
    else:
        found = _flag_number(store, "f-gap")
        store.decisions.decide(DecisionRequest("KR1", found, Verdict.TAKE, 0, "甲", "request-1"))
    decided = decided_in(store, edition)
    edition.path.write_text(correct(edition, decided.corrections).text, encoding="utf-8")
    edition = read_transcription(edition.path)
    assert "大夫□□□□之西" in edition.text
    if check:
        edition = _a_run_is_checked(store, edition, checked)
    again = decided_in(store, edition)
    assert (again.corrections, again.left_out, len(again.applied)) == ((), (), 1)


def test_what_was_written_and_taken_back_is_put_back_behind_what_was_put_in_before_it(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    number = _flag_number(store, "f-order")
    store.decisions.decide(DecisionRequest("KR1", number, Verdict.TYPED, 0, "甲", "request-1", reading="令某"))
    corrected = correct(edition, decided_in(store, edition).corrections)
    edition.path.write_text(corrected.text, encoding="utf-8")
    note_written(store, corrected)
    before = flag("f-before", 3, 0, "", "又", "[]令某上")
    edition = _a_run_is_checked(store, read_transcription(edition.path), checked, before)
    store.decisions.decide(DecisionRequest("KR1", number, Verdict.UNDO, 1, "甲", "request-2"))
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-before"), Verdict.TAKE, 0, "甲", "request-3"))
    assert "\n又命上射" in correct(edition, decided_in(store, edition).corrections).text


def test_one_more_of_a_run_that_a_check_still_finds_missing_is_written(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    gap = flag("f-gap", 1, 3, "", "□", "　大夫[]□□□")
    edition.path.write_text(TEXT.replace("大夫之西", "大夫□□□之西"), encoding="utf-8")
    _a_run_is_checked(store, edition, checked, gap)
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-gap"), Verdict.TAKE, 0, "甲", "request-1"))
    edition.path.write_text(TEXT.replace("大夫之西北", "大夫□□□之西比"), encoding="utf-8")
    for now in (read_transcription(edition.path), _a_run_is_checked(store, edition, checked, gap)):
        decided = decided_in(store, now)
        assert (len(decided.corrections), decided.left_out) == (1, ())


def test_a_decision_whose_place_the_last_check_no_longer_saw_keeps_no_other_back(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    for uid in ("f-north", "f-say"):
        store.decisions.decide(
            DecisionRequest("KR1", _flag_number(store, uid), Verdict.TAKE, 0, "甲", f"request-{uid}")
        )
    edition.path.write_text(TEXT.replace("西北", "西東"), encoding="utf-8")
    columns = tuple(replace(one, source=one.source.replace("西北", "西東")) for one in checked.columns)
    kept = flag("f-say", 3, 11, "曰", "", "58;[曰]告")
    check(store, "KR1", edition.path, "traditional", replace(checked, columns=columns, flags=(kept,)))
    found = decided_in(store, read_transcription(edition.path))
    assert [one.flag for one in found.corrections] == ["f-say"]
    assert [(one.reason, one.decision.transcribed) for one in found.left_out] == [(Unused.GONE, "北")]


def lower(store: Store, edition: Transcription, checked: PageResult, by: int) -> Transcription:
    """The text with so many lines put in above the others, checked again."""
    head, _, body = TEXT.partition("\n")
    edition.path.write_text(head + "\n" + "上¶\n" * by + body, encoding="utf-8")
    flags = (flag(f"f-north-{by}", 1 + by, 5, "北", "比", "夫之西[北]耦(案"),)
    columns = tuple(replace(one, number=one.number + by) for one in checked.columns)
    check(store, "KR1", edition.path, "traditional", replace(checked, columns=columns, flags=flags))
    return read_transcription(edition.path)


@pytest.mark.parametrize("lines", [(1,), (1, 2), (1, 0), (1, 2, 0)])
def test_a_decision_is_written_once_where_its_place_is_now(
    store: Store, edition: Transcription, checked: PageResult, lines: tuple[int, ...]
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    for by in lines:
        now = lower(store, edition, checked, by)
    found = decided_in(store, now)
    assert [(one.line, one.replacement, one.person) for one in found.corrections] == [(1 + lines[-1], "比", "甲")]
    assert correct(now, found.corrections).text == now.text.replace("西北", "西比")


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.UNDO])
@pytest.mark.parametrize("back", [False, True])
def test_what_was_overruled_on_another_line_is_never_written(
    store: Store, edition: Transcription, checked: PageResult, verdict: Verdict, back: bool
) -> None:
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    now = lower(store, edition, checked, 1)
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), verdict, 1, "乙", "request-2"))
    now = lower(store, edition, checked, 0) if back else now
    assert correct(now, decided_in(store, now).corrections).text == now.text


def test_the_script_is_the_one_in_which_the_text_was_checked(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    check(store, "KR1", edition.path, "simplified", checked)
    page = store.queue.pages("KR1")[0].number
    store.manual_corrections.correct(ManualCorrection("KR1", page, 1, 5, 1, "後", "乙", "by-hand-1"))
    found = decided_in(store, edition)
    assert "西后" in correct(found.edition, found.corrections).text


def test_of_two_forms_the_likelier_is_not_taken_for_decided(
    store: Store, edition: Transcription, checked: PageResult
) -> None:
    evidence = Evidence("posterior", alternatives=(("乾", 0.9), ("北", 0.01)))
    dry = replace(flag("f-dry", 1, 5, "北", "干", "夫之西[北]耦(案"), evidence=evidence)
    check(store, "KR1", edition.path, "simplified", replace(checked, flags=(dry,)))
    store.decisions.decide(DecisionRequest("KR1", _flag_number(store, "f-north"), Verdict.TAKE, 0, "甲", "request-1"))
    found = decided_in(store, edition)
    [refused] = correct(found.edition, found.corrections).refused
    assert "is 乾 干 or 乾" in refused.reason
    assert "西乾" in correct(found.edition, found.corrections, choices=[FormChoice("乾", "乾")]).text


@pytest.fixture
def moved(store: Store, edition: Transcription, checked: PageResult) -> Store:
    """The store after a check that found the 射 of the third column to stand where it does not belong."""
    flags = (
        replace(flag("f-out", 3, 2, "射", "", "命上[射]&KR"), moved="f-in"),
        replace(flag("f-in", 3, 0, "", "射", "[]命上射"), kind=Kind.OMISSION, moved="f-out"),
    )
    check(store, "KR1", edition.path, "traditional", replace(checked, flags=flags))
    return store


@pytest.mark.parametrize("half", ["f-out", "f-in"])
def test_a_character_that_moved_is_decided_once_and_noted_once(moved: Store, edition: Transcription, half: str) -> None:
    other = {"f-out": "f-in", "f-in": "f-out"}[half]
    made = moved.decisions.decide(DecisionRequest("KR1", _flag_number(moved, half), Verdict.TAKE, 0, "甲", "request-1"))
    corrected = correct(edition, decided_in(moved, edition).corrections)
    assert corrected.text == TEXT.replace("命上射", "射命上")
    assert [note.words for note in notes_of(corrected).notes] == ["射：原在上下，據影像乙正。"]
    again = moved.decisions.decide(
        DecisionRequest("KR1", _flag_number(moved, other), Verdict.TAKE, 0, "甲", "request-2")
    )
    assert (again.repeated, again.state) == (True, made.state)
    moved.decisions.decide(DecisionRequest("KR1", _flag_number(moved, other), Verdict.UNDO, 1, "甲", "request-3"))
    assert list(decided_in(moved, edition).corrections) == []


def test_what_was_said_of_one_half_alone_stays(moved: Store, edition: Transcription) -> None:
    moved.decisions.decide(
        DecisionRequest("KR1", _flag_number(moved, "f-in"), Verdict.TYPED, 0, "甲", "request-1", "身")
    )
    moved.decisions.decide(DecisionRequest("KR1", _flag_number(moved, "f-out"), Verdict.TAKE, 0, "乙", "request-2"))
    assert correct(edition, decided_in(moved, edition).corrections).text == TEXT.replace("命上射", "身命上")
    moved.decisions.decide(DecisionRequest("KR1", _flag_number(moved, "f-out"), Verdict.UNDO, 1, "乙", "request-3"))
    assert correct(edition, decided_in(moved, edition).corrections).text == TEXT.replace("命上射", "身命上射")


def check(store: Store, work: str, path: Path, script: str, result: PageResult) -> None:
    """Check one page of a text once more."""
    texts = (text_info(path, script),)
    run = store.begin_run(RunInfo(work, "書", texts, EngineIdentity("none", "1", "none", "0")))
    store.save_pages(run, [CheckedResult(page_place(0, path, result.page), "", result)])
    store.finish_run(run, whole=True)
