"""What was decided in the store reaches the text, and nothing that was not."""

from __future__ import annotations

import csv
import re
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from lxml import etree

from proof.cli import main
from proof.errors import UsageError
from proof.exports.collation_notes import notes_of
from proof.exports.corrections import Refusal
from proof.exports.decided_corrections import Decided, Unused, decided_in, note_written
from proof.exports.files import Material, marked_pages
from proof.exports.forms.cbeta import collation_list, marked_text
from proof.exports.noted_text import Change as RunChange
from proof.exports.noted_text import noted_text
from proof.exports.script import FormChoice
from proof.exports.source import CorrectedSource, correct
from proof.exports.spreadsheet import spreadsheet
from proof.exports.tei import tei
from proof.model.flags import LINE_BREAK, Evidence, Flag, Kind, WitnessReading
from proof.store import Store
from proof.store.column_changes import ColumnChange
from proof.store.copying import copy_store
from proof.store.decision_records import STATE_OF, ConflictError, Decision, RefusedDecisionError, State, Verdict
from proof.store.lookup import NoPlaceError
from proof.store.manual_corrections import ManualCorrection
from proof.store.text_files import DecidedPlace, Texts
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from tests.build import by_hand, check_files, number_of, page_number, queued, say, transcription
from tests.build import flag as raised
from tests.exports.conftest import page_of
from tests.sampling import cross_section, examples

PAGE = "KR1_WYG_010-1a"
COLUMN_1 = "　大夫之西北耦(案比今注/訛作北據)"
TEXT = f"<pb:{PAGE}>¶\n{COLUMN_1}¶\n¶\n命上射&KR0058;曰告¶\n"


def flag(uid: str, line: int, offset: int, text: str, suggested: str, context: str, **more: Any) -> Flag:
    kind = Kind.SUBSTITUTION if text and suggested else Kind.INSERTION
    made = raised(line, offset, text, suggested, name=PAGE, kind=kind, context=context, id=uid)
    return replace(made, **more)


def column_flag(uid: str, line: int, here: str, there: str, column: int, **more: Any) -> Flag:
    kind, evidence = Kind.LAYOUT, Evidence("column moved", column=column)
    return flag(uid, line, 0, here, there, "column moved", kind=kind, evidence=evidence, **more)


NORTH = flag("f-north", 1, 5, "北", "比", "夫之西[北]耦(案")
SAY = flag("f-say", 3, 11, "曰", "", "58;[曰]告")
GAP = flag("f-gap", 1, 3, "", "□", "　大夫[]□□□")

LINES = ("天地玄黃宇宙", "洪荒日月盈昃", "辰宿列張寒來", "暑往秋收冬藏")
ADDED = {ColumnChange.ADD_BEFORE: "新前之文", ColumnChange.ADD_AFTER: "新後之文"}
SPLIT_OFFSET = 3
ENDINGS = ("¶\n", "", f"¶\n<pb:{PAGE.replace('1a', '1b')}>¶\n辰宿列張¶\n")
THREE = ("天地玄黃", "宇宙洪荒", "日月盈昃")
PLAIN = "".join(f"{line}¶\n" for line in (f"<pb:{PAGE}>", *LINES))


@dataclass
class Project:
    """A text of one page that was checked, and the store of the check."""

    store: Store
    path: Path

    @property
    def edition(self) -> Transcription:
        """The text as it is now."""
        return read_transcription(self.path)

    @property
    def decided(self) -> Decided:
        return decided_in(self.store, self.edition)

    @property
    def corrected(self) -> CorrectedSource:
        decided = self.decided
        return correct(decided.edition, decided.corrections)

    def begin(self, lines: Iterable[str], *flags: Flag) -> str:
        """Replace the text by a page of these lines and check it; returns the text."""
        text = "".join(f"{line}¶\n" for line in (f"<pb:{PAGE}>", *lines))
        self.write(text)
        self.check(*flags)
        return text

    def write(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")

    def export(self) -> str:
        """Correct the text in place; returns it."""
        corrected = self.corrected
        self.write(corrected.text)
        note_written(self.store, corrected, lambda: self.path.read_bytes() == corrected.data)
        return self.edition.text

    def export_and_check(self) -> None:
        self.export()
        self.check()

    def check(self, *flags: Flag, path: Path | None = None, **more: Any) -> int:
        """Check the first page of the text, or of another file, as it is now."""
        path = path or self.path
        sources = [column.source for column in read_transcription(path).pages[0].columns]
        return check_files(self.store, [(path, replace(page_of(sources), flags=flags))], **more)

    def say(self, flag: str | int, verdict: Verdict, reading: str = "", person: str = "甲", **more: Any) -> Decision:
        return say(self.store, flag, verdict, reading, person, **more)

    def take_back(self, *decisions: Decision) -> None:
        for decision in decisions:
            self.say(decision.uid, Verdict.UNDO)

    def change(self, line: int, change: ColumnChange, text: str | None = None) -> Decision:
        """Change a column as a whole: add `text`, or that of `ADDED`; split it at `SPLIT_OFFSET`."""
        offset = SPLIT_OFFSET if change is ColumnChange.SPLIT else 0
        added = ADDED.get(change, "") if text is None else text
        changed = ManualCorrection("KR1", 1, line, offset, 0, added, "乙", uuid4().hex, change=change)
        return self.store.manual_corrections.correct(changed)

    def do(self, *acts: Act) -> None:
        """Do these acts in their order. `take f-north`, `typed f-order 令某`: what is said of a flag. `1:5 此`, `1:5`:
        the character at an offset of a line is replaced by hand, or deleted; `1:4+2`, `1:5+0 東`: two are, or something
        is put in. `add before 2 新文`, `join 2`: a column is changed as a whole. `back 0`: the first change by hand is
        taken back. `export` and `check`. A check that finds flags is these flags; a text is what an editor writes."""
        made: list[Decision] = []
        for act in acts:
            if not isinstance(act, str):
                self.check(*act)
            elif isinstance(act, Reads):
                assert (self.export(), left_out(self.decided)) == (act, [])
            elif "\n" in act:
                self.write(act)
            elif act in ("export", "check"):
                getattr(self, act)()
            elif place := re.fullmatch(r"(\d+):(\d+)(?:\+(\d+))?(?: (.+))?", act):
                line, offset, length, reading = place.groups()
                made.append(self.by_hand(int(line), int(offset), reading or "", length=int(length or 1)))
            elif change := re.fullmatch(rf"({'|'.join(ColumnChange)}) (\d+)(?: (.+))?", act):
                made.append(self.change(int(change[2]), ColumnChange(change[1]), change[3]))
            elif act.startswith("back "):
                self.take_back(made[int(act[5:])])
            else:
                verdict, uid, *reading_of_flag = act.split()
                self.say(uid, Verdict(verdict), *reading_of_flag)

    def open_flags(self) -> list[str]:
        """What is asked of the text."""
        flags = queued(self.store, states=(State.OPEN,))
        return [shown.flag.transcribed for shown in flags]

    def shown(self, line: int) -> str:
        """The text of a line as the desk shows it, after decisions."""
        return self.store.queue.columns("KR1", [1])[1, line].source

    def by_hand(self, line: int, offset: int, reading: str, **more: Any) -> Decision:
        return by_hand(self.store, line, offset, reading, **more)


@contextmanager
def project_in(folder: Path) -> Iterator[Project]:
    """A project of one page in this folder, as it was checked first."""
    flags = (
        NORTH,
        SAY,
        flag("f-order", 3, 0, "命", "令", "[命]上射&"),
        flag("f-shoot", 3, 2, "射", "身", "命上[射]&KR"),
    )
    with Store.open(folder / "proof.sqlite") as store:
        project = Project(store, folder / "KR1_010.txt")
        project.write(TEXT)
        project.check(*flags)
        yield project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with project_in(tmp_path) as project:
        yield project


def left_out(decided: Decided) -> list[tuple[str, str, str]]:
    """What is not written: why, what stood there, and who decided it."""
    return sorted(
        (unused.reason.code, unused.decision.transcribed, unused.decision.person) for unused in decided.left_out
    )


def test_only_what_was_decided_is_corrected(project: Project) -> None:
    project.say("f-north", Verdict.TAKE)
    project.say("f-say", Verdict.TYPED, "白")
    project.say("f-shoot", Verdict.COPY)
    assert project.corrected.text == TEXT.replace("西北", "西比").replace("曰告", "白告")
    assert [note.words for note in notes_of(project.corrected).notes] == [
        "比：原作北，據影像改。",
        "射：原文如此。",
        "白：原作曰，據影像改。",
    ]


def test_another_reader_of_the_image_is_no_witness_of_the_notes(project: Project) -> None:
    readings = tuple(WitnessReading(siglum, "比", "image", "", 0.0, name) for siglum, name in READERS)
    with_readers = replace(NORTH, evidence=replace(NORTH.evidence, witnesses=readings))
    project.check(with_readers, SAY)
    project.say("f-north", Verdict.TAKE)
    notes = notes_of(project.corrected)
    assert [note.words for note in notes.notes] == ["比：原作北，明本作比，據影像改。"]
    assert notes.witnesses == {"明本": "明通津草堂本"}


READERS = (("明本", "明通津草堂本"), ("~vlm", ""))


def test_what_was_taken_back_or_left_unsure_stays_out_and_what_stays_is_written_once(project: Project) -> None:
    project.say("f-north", Verdict.TAKE)
    project.say("f-order", Verdict.TAKE)
    project.say("f-order", Verdict.UNDO, person="乙")
    project.say("f-say", Verdict.UNSURE)
    first = project.corrected
    assert first.text == TEXT.replace("西北", "西比")
    project.path.write_bytes(first.data)
    assert (project.corrected.data, project.corrected.placed, len(project.decided.applied)) == (first.data, (), 1)


def test_a_correction_beside_one_that_reaches_farther_than_its_surroundings_is_found_in_the_text(
    project: Project,
) -> None:
    """What is known around a place are three characters; beside it more may be gone."""
    project.by_hand(3, 1, "")
    project.by_hand(3, 3, "", length=8)
    first = project.corrected
    assert first.text == TEXT.replace("命上射&KR0058;曰", "命射曰")
    project.path.write_bytes(first.data)
    decided, second = project.decided, project.corrected
    assert (second.data, len(decided.applied) + len(second.applied), decided.left_out) == (first.data, 2, ())
    project.check()
    assert project.store.decisions.displaced("KR1") == []


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.UNSURE])
def test_what_was_said_beside_a_correction_holds_once_that_is_in_the_text(project: Project, verdict: Verdict) -> None:
    project.say("f-order", Verdict.TAKE)
    project.say("f-shoot", verdict)
    project.path.write_bytes(project.corrected.data)
    project.check(flag("f-shoot-now", 3, 2, "射", "身", "令上[射]&KR"))
    [now] = project.store.queue.flags("KR1", [number_of(project.store, "f-shoot")])
    assert (now.state, now.version) == (STATE_OF[verdict], 1)
    assert project.store.decisions.displaced("KR1") == []


def test_an_export_is_of_one_moment_while_people_decide(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither half of an act nor one act without that before it is written: here somebody corrects a place by hand,
    then takes a suggestion and changes what they had taken before, while the store is read."""
    asked = Texts.decided_places
    project.say("f-north", Verdict.TAKE)

    def meanwhile(self: Texts, *which: Any) -> list[DecidedPlace]:
        places = asked(self, *which)
        project.by_hand(1, 1, "天")
        project.say("f-order", Verdict.TAKE, person="乙")
        project.say("f-north", Verdict.TYPED, "此", "乙")
        return places

    monkeypatch.setattr(Texts, "decided_places", meanwhile)
    out = tmp_path / "out"
    line = ["export", str(project.path), "--store", f"sqlite:///{tmp_path}/proof.sqlite", "--out", str(out)]
    assert main(line) == 0
    assert (out / project.path.name).read_text(encoding="utf-8") == TEXT.replace("西北", "西比")
    monkeypatch.setattr(Texts, "decided_places", asked)
    assert main(line) == 0
    now = TEXT.replace("西北", "西此").replace("命上", "令上").replace("大夫", "天夫")
    assert (out / project.path.name).read_text(encoding="utf-8") == now


def test_a_text_that_was_never_checked_is_refused_with_those_that_have_its_pages(
    project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "branch.txt"
    other.parent.mkdir()
    other.write_text(TEXT + "後\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"branch.txt was not checked(.|\n)*KR1_010.txt \(work KR1\)"):
        decided_in(project.store, read_transcription(other))


def test_decisions_about_another_file_with_the_same_pages_are_told_and_not_written(project: Project) -> None:
    """They stay those of the first, whatever work is checked later."""
    project.say("f-north", Verdict.TAKE)
    branch = project.path.with_name("branch.txt")
    branch.write_text(TEXT, encoding="utf-8")
    project.check(path=branch, work="KR1-branch")
    decided = decided_in(project.store, read_transcription(branch))
    assert decided.is_empty
    assert [(unused.reason, unused.text) for unused in decided.left_out] == [(Unused.OTHER_TEXT, str(project.path))]
    assert project.corrected.text == TEXT.replace("西北", "西比")


def test_a_page_that_another_file_took_over_leaves_the_first_its_decisions(project: Project) -> None:
    project.say("f-north", Verdict.TAKE)
    branch = project.path.with_name("branch.txt")
    branch.write_text(TEXT.replace("西北", "西比"), encoding="utf-8")
    project.check(path=branch)
    assert [correction.flag for correction in project.decided.corrections] == ["f-north"]


def test_a_moved_text_keeps_its_decisions_and_a_changed_copy_beside_the_old_one_has_none(
    project: Project, tmp_path: Path
) -> None:
    project.say("f-north", Verdict.TAKE)
    copy = tmp_path / "moved" / project.path.name
    copy.parent.mkdir()
    copy.write_text(TEXT.replace("告¶", "吿¶"), encoding="utf-8")
    with pytest.raises(UsageError, match="was not checked"):
        decided_in(project.store, read_transcription(copy))
    project.path.unlink()
    assert [correction.flag for correction in decided_in(project.store, read_transcription(copy)).corrections] == [
        "f-north"
    ]


def test_what_is_written_into_a_copy_is_noted_though_the_old_file_stands_unchanged(
    project: Project, tmp_path: Path
) -> None:
    project.say("f-north", Verdict.TAKE)
    copy = tmp_path / "copied" / project.path.name
    copy.parent.mkdir()
    copy.write_bytes(project.path.read_bytes())
    corrected = Project(project.store, copy).corrected
    copy.write_bytes(corrected.data)
    note_written(project.store, corrected, lambda: True)
    assert decided_in(project.store, read_transcription(copy)).corrections == ()


def test_what_is_typed_at_an_open_flag_decides_it_and_who_says_otherwise_is_told(project: Project) -> None:
    assert project.by_hand(1, 5, "此").flag == number_of(project.store, "f-north")
    with pytest.raises(ConflictError):
        project.say("f-north", Verdict.KEEP, version=0)
    assert [correction.replacement for correction in project.decided.corrections] == ["此"]


def test_what_was_kept_in_one_work_and_corrected_in_another_is_told(project: Project) -> None:
    """A file that is checked as a part of two works."""
    project.say("f-north", Verdict.TAKE)
    project.check(replace(NORTH, id="f-again"), work="KR2")
    assert [correction.replacement for correction in project.decided.corrections] == ["比"]
    project.say("f-again", Verdict.KEEP, person="乙", work="KR2")
    assert project.decided.corrections == ()
    assert [unused.decision.person for unused in project.decided.left_out] == ["甲", "乙"]


@pytest.mark.parametrize(
    "missing",
    [
        flag("f-missing", 1, 5, "", "東", "夫之西[]北耦", kind=Kind.OMISSION),
        flag("f-missing", 3, 0, "", "甲甲", "column missing", kind=Kind.LAYOUT, evidence=Evidence("column missing")),
    ],
)
@pytest.mark.parametrize("between", [False, True])
def test_what_is_missing_in_two_works_is_written_once(project: Project, missing: Flag, between: bool) -> None:
    """Also where the first is exported before the second is accepted."""
    project.check(missing)
    project.check(replace(missing, id="f-again"), work="KR2")
    project.say("f-missing", Verdict.TAKE)
    if between:
        project.export()
    again = project.say("f-again", Verdict.TAKE, person="乙", work="KR2")
    project.export()
    text = project.edition.text
    assert text.count(missing.suggested) == TEXT.count(missing.suggested) + 1
    assert project.export() == text
    project.say("f-again", Verdict.UNDO, person="乙", work="KR2")
    assert project.export() == text
    assert again.state is State.CORRECTED


def test_what_is_left_open_is_told(project: Project) -> None:
    for uid, verdict in {"f-say": Verdict.UNSURE, "f-order": Verdict.SKIP, "f-shoot": Verdict.KEEP}.items():
        project.say(uid, verdict)
    assert (project.decided.corrections, project.decided.settled) == ((), 1)
    assert left_out(project.decided) == [(Unused.SKIPPED.code, "命", "甲"), (Unused.UNSURE.code, "曰", "甲")]


class Change(NamedTuple):
    """A correction by hand of the first line: so many characters from `offset` on become `reading`."""

    offset: int
    length: int
    reading: str


CHANGES = [Change(at, 1, new) for at in (4, 5) for new in ("", "某")] + [Change(at, 0, "甲") for at in (4, 5, 6)]


def with_changes(changes: Iterable[Change]) -> str:
    """The naive model: the text with these changes, whose places are those of the text as it was checked."""
    head, first, rest = TEXT.partition("　")
    line = list(first + rest)
    for change in sorted(changes, reverse=True):
        line[change.offset : change.offset + change.length] = change.reading
    return head + "".join(line)


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@example([Change(4, 1, ""), Change(5, 1, "")], {0}, False, False)
@example([Change(5, 1, ""), Change(5, 0, "甲")], set(), True, False)
@example([Change(5, 1, ""), Change(6, 0, "甲")], set(), True, False)
@example([Change(5, 1, "某"), Change(5, 0, "甲")], set(), True, False)
@example([Change(5, 1, "某"), Change(6, 0, "甲")], set(), True, False)
@given(
    st.permutations(CHANGES).map(lambda order: order[:2]),
    st.sets(st.sampled_from([0, 1])),
    st.booleans(),
    st.booleans(),
)
def test_two_corrections_beside_each_other_are_written_and_taken_back_as_a_naive_model_has_it(
    changes: list[Change], back: set[int], one_by_one: bool, back_one_by_one: bool
) -> None:
    """Or the export says which decision it could not write."""
    assume(len({change.offset for change in changes if change.length}) == sum(change.length for change in changes))
    with TemporaryDirectory() as folder, project_in(Path(folder)) as project:
        made = []
        for change in changes:
            made.append(project.by_hand(1, change.offset, change.reading, length=change.length))
            if one_by_one:
                project.export()
        assert project.export() == with_changes(changes)
        for number in back:
            project.take_back(made[number])
            if back_one_by_one:
                project.export()
        unwritten = project.decided.left_out
        project.export()
        stays = [change for number, change in enumerate(changes) if number not in back]
        assert unwritten or project.edition.text == with_changes(stays)


@pytest.mark.parametrize("offset", [0, 5, 12])
def test_nothing_is_inserted_by_hand_into_a_column_that_is_deleted(project: Project, offset: int) -> None:
    project.change(3, ColumnChange.DELETE)
    with pytest.raises(ConflictError):
        project.by_hand(3, offset, "與", length=0)


def test_a_deleted_column_comes_back_when_the_columns_around_it_are_no_longer_joined(project: Project) -> None:
    text = project.begin(THREE)
    deleted = project.change(2, ColumnChange.DELETE)
    project.export_and_check()
    joined = project.change(1, ColumnChange.JOIN)
    project.export()
    project.take_back(deleted)
    assert [refused.reason.code for refused in project.corrected.refused] == [Refusal.JOINED]
    project.take_back(joined)
    project.export()
    assert project.export() == text


def test_the_note_on_a_column_added_behind_another_names_its_own_line(project: Project) -> None:
    project.change(3, ColumnChange.ADD_AFTER, "新增之文")
    [note] = notes_of(project.corrected).notes
    assert note.line == 4


@pytest.mark.parametrize(("back", "left"), [((0,), [Unused.GONE.code]), ((0, 1), [Unused.WAITS.code])])
def test_an_added_column_of_which_a_part_was_corrected_is_named_where_it_is_not_taken_back(
    project: Project, back: tuple[int, ...], left: list[str]
) -> None:
    """The next export takes it out where the later decision was taken back as well."""
    project.begin(LINES)
    made = [project.change(2, ColumnChange.ADD_BEFORE)]
    project.export_and_check()
    made.append(project.by_hand(2, 1, "改"))
    project.export()
    for number in back:
        project.take_back(made[number])
    assert [reason for reason, *_ in left_out(project.decided)] == left
    project.export()
    assert (project.export() == PLAIN) == (len(back) == 2)


def test_what_is_put_in_where_a_deletion_was_taken_back_replaces_what_had_been_there(project: Project) -> None:
    deleted = project.by_hand(1, 4, "")
    project.export()
    project.take_back(deleted)
    project.check(flag("f-missing", 1, 4, "", "東", "夫之[]北耦(", kind=Kind.OMISSION))
    project.say("f-missing", Verdict.TAKE)
    for _ in range(3):
        assert project.export() == TEXT.replace("西", "東")
        assert project.shown(1) == COLUMN_1.replace("西", "東")
        project.check()
    project.say("f-missing", Verdict.UNDO)
    assert project.export() == TEXT


@settings(max_examples=examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["insert", "replace", "delete"]), min_size=1, max_size=3))
@example(["insert", "delete"])
@example(["replace", "replace"])
@example(["delete", "insert"])
def test_one_place_is_corrected_again_and_again_and_all_is_taken_back(acts: list[str]) -> None:
    """Each correction is exported and checked before the next one; nothing is asked again."""
    with TemporaryDirectory() as folder, project_in(Path(folder)) as project:
        line, texts, made = "天地玄黃宇宙", ["天地玄黃宇宙"], []

        def export(expected: str) -> None:
            assert project.export() == f"<pb:{PAGE}>¶\n{expected}¶\n日月盈昃¶\n"
            assert project.shown(1) == expected
            assert left_out(project.decided) == []
            assert project.store.decisions.displaced("KR1") == []
            project.check()

        project.begin([line, "日月盈昃"])
        for act, new in zip(acts, "甲乙丙", strict=False):
            reading, length = "" if act == "delete" else new, 0 if act == "insert" else 1
            made.append(project.by_hand(1, 2, reading, length=length))
            line = line[:2] + reading + line[2 + length :]
            export(line)
            export(line)
            texts.append(line)
        for decision, text in zip(reversed(made), reversed(texts[:-1]), strict=True):
            project.take_back(decision)
            export(text)


NEIGHBOURS = [Change(at, 0, "新") for at in (2, 3, 4)]
NEIGHBOURS += [Change(at, length, new) for at in (2, 3) for length in (1, 2) for new in ("", "改補"[:length])]


class LineModel:
    """The naive model: the characters of a line in their order, and what each change made of which of them."""

    def __init__(self, line: str) -> None:
        self.characters = list(range(len(line)))
        self.changes: list[dict[int, str]] = [dict(enumerate(line))]

    def read(self, back: Collection[int] = ()) -> list[tuple[int, str]]:
        """The characters that are there and what they read, but for the changes that were taken back."""
        stays = {number: new for n, made in enumerate(self.changes) if n not in back for number, new in made.items()}
        return [(number, stays[number]) for number in self.characters if stays.get(number)]

    def change(self, change: Change, new: str) -> None:
        there = [number for number, _ in self.read()]
        changed = there[change.offset : change.offset + change.length]
        if not change.length:
            changed = [len(self.characters)]
            self.characters.insert(self.characters.index(there[change.offset]), *changed)
        self.changes.append({number: new[n : n + 1] for n, number in enumerate(changed)})

    def is_torn(self, number: int) -> bool:
        """Whether a later change made something of some of the characters of this one, and not of all."""
        made = self.changes[number].keys()
        return any(made & later.keys() not in (set(), made) for later in self.changes[number + 1 :])


@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(NEIGHBOURS), min_size=2, max_size=3), st.permutations([1, 2, 3]), st.integers(1, 3))
@example([Change(3, 0, "新"), Change(3, 2, "")], [1, 2, 3], 1)
@example([Change(3, 0, "新"), Change(3, 2, "")], [1, 2, 3], 3)
@example([Change(2, 2, "改補"), Change(3, 1, "改")], [2, 1, 3], 1)
@example([Change(2, 1, ""), Change(2, 0, "新")], [1, 2, 3], 1)
@example([Change(3, 0, "新"), Change(3, 1, "改"), Change(3, 1, "改")], [1, 2, 3], 3)
def test_neighbours_are_corrected_one_after_the_other_and_some_are_taken_back_together(
    changes: list[Change], order: list[int], count: int
) -> None:
    """What was put in where something had been deleted may stand before or behind what comes back. A decision can only
    be left out if a part of what it had written was decided again."""
    model = LineModel("天地玄黃宇宙")
    with TemporaryDirectory() as folder, project_in(Path(folder)) as project:

        def export(back: Sequence[int]) -> None:
            is_torn = any(model.is_torn(number) for number in back)
            assert is_torn or left_out(project.decided) == []
            line = project.export().split("\n")[1].removesuffix("¶")
            assert is_torn or sorted(line) == sorted(new for _, new in model.read(back))
            assert project.shown(1) == line
            project.check()
            if not is_torn:
                again = project.export().split("\n")[1].removesuffix("¶")
                assert (again, left_out(project.decided)) == (line, [])

        project.begin(["天地玄黃宇宙", "日月盈昃"])
        made = []
        for change, new in zip(changes, ("甲乙", "丙丁", "戊己"), strict=False):
            reading = new[: len(change.reading)]
            assume(change.offset + change.length < len(model.read()))
            made.append(project.by_hand(1, change.offset, reading, length=change.length))
            model.change(change, reading)
            export([])
        back = [number for number in order if number <= len(made)][:count]
        for number in back:
            project.take_back(made[number - 1])
        export(back)


COLUMN_CHANGES = [*((line, change) for line in (1, 2, 3) for change in ColumnChange), (2, 0), (2, 5), (3, 0)]
"""Changes of the column of that number as a whole, or the replacement of its character at an offset."""


def with_column_changes(changes: Iterable[tuple[int, ColumnChange | int]]) -> str:
    """The naive model: a page of four lines with these changes."""
    made = set(changes)
    text = f"<pb:{PAGE}>\n"
    for number, line in enumerate(LINES, start=1):
        characters = ["改" if (number, at) in made else character for at, character in enumerate(line)]
        if (number, ColumnChange.SPLIT) in made:
            characters.insert(SPLIT_OFFSET, "\n")
        text += ADDED[ColumnChange.ADD_BEFORE] + "\n" if (number, ColumnChange.ADD_BEFORE) in made else ""
        if (number, ColumnChange.DELETE) not in made:
            text += "".join(characters) + ("" if (number, ColumnChange.JOIN) in made else "\n")
        text += ADDED[ColumnChange.ADD_AFTER] + "\n" if (number, ColumnChange.ADD_AFTER) in made else ""
    return text.replace("\n", "¶\n")


class Reads(str):
    """An export writes this text, and leaves nothing out."""

    __slots__ = ()


Act = str | Sequence[Flag]


class History(NamedTuple):
    """What is done with the text (`Project.do`), and what its exports then write, the second as the first. `left` is
    what they do not write, as `left_out` has it; `shown` is what the desk shows of some columns. Where all is written,
    the desk shows the text after another check."""

    name: str
    acts: Sequence[Act]
    text: str = TEXT
    left: Sequence[tuple[str, str, str]] = ()
    shown: Mapping[int, str] = {}


def missing(line: int, offset: int, text: str) -> Flag:
    """At a place of the text nothing is transcribed, where the image has this."""
    return flag("f-missing", line, offset, "", text, "[]", kind=Kind.OMISSION)


PAGE_OF_THREE = "".join(f"{line}¶\n" for line in (f"<pb:{PAGE}>", *THREE))
WITHOUT_2 = with_column_changes([(2, ColumnChange.DELETE)])
COLUMN_3 = "命上射&KR0058;曰告"
FIRST, SECOND = ADDED.values()
DOUBLED = flag("f-column", 2, 0, THREE[1], "", "", kind=Kind.LAYOUT, evidence=Evidence("column doubled"))
MOVED = (
    flag("f-out", 3, 2, "射", "", "命上[射]&KR", moved="f-in"),
    flag("f-in", 3, 0, "", "射", "[]命上射", kind=Kind.OMISSION, moved="f-out"),
)
IN_ORDER = [column_flag(f"f-{n}", 3, "", text, n) for n, text in enumerate(("甲甲", "乙乙", "丙丙"), start=1)]

RUN = "天天天天天天"


def run_without(others: Sequence[int], offset: int) -> str:
    """The run without some of its characters, with another one before and in place of that at an offset."""
    return "".join("乙甲" if at == offset else character for at, character in enumerate(RUN) if at not in others)


LACUNAS = TEXT.replace("大夫之西", "大夫□□□之西")


def lower(by: int) -> list[Act]:
    """So many lines are put in above the others, and the text is checked."""
    head, _, body = TEXT.partition("\n")
    return [head + "\n" + "上¶\n" * by + body, [replace(NORTH, id=f"f-north-{by}", line=1 + by)]]


ALIKE = [
    (f"{LINES[1]}¶\n", PLAIN.replace(LINES[1], f"{LINES[1]}¶\n{LINES[1]}"), ("delete 3", "delete 2")),
    ("人", PLAIN.replace("洪荒", "人人"), ("2:1", "2:0")),
]
"""A column or a character, a text in which two of it stand side by side, and how each of the two is deleted."""

WITHIN = ("2:2+0 甲", "2:2 甲", "2:2", "2:0+2")
"""Changes within a column."""


def changed_within(act: str) -> str:
    """The naive model: the page of four lines with a change within the second."""
    place, _, reading = act.partition(" ")
    offset, length = map(int, (place.removeprefix("2:") + "+1").split("+")[:2])
    return PLAIN.replace(LINES[1], LINES[1][:offset] + reading + LINES[1][offset + length :])


END, BEGINNING = "2:4+2", "3:0+2"
ROUNDS: list[tuple[Sequence[Sequence[str]], Sequence[int]]] = [
    ([["add after 4"], ["delete 4"]], (0, 1)),
    ([["delete 3"], ["delete 3"]], (0, 1)),
    ([["add before 2"], ["add after 2"]], (0, 1)),
    ([[END, BEGINNING, "join 2"]], (2, 1, 0)),
    ([["add after 2"], [END, "4:0+2"]], (1, 2)),
    ([[END, BEGINNING], ["add after 2"]], (0, 1)),
    ([["add after 1", "delete 3"], ["delete 3"]], (1, 2)),
    ([["add after 1", "delete 3"], ["delete 3"]], (2, 1)),
    ([["add after 3", "delete 4"]], (1,)),
]
"""Changes of several rounds, and which of them are taken back. A change that stays adds a column."""


def in_rounds(rounds: Sequence[Sequence[str]], back: Sequence[int], is_checked: bool, one_by_one: bool) -> History:
    """The history in which each round is exported and checked, the last one only if `is_checked`."""
    acts = [act for changes in rounds for act in (*changes, "export", "check")][: None if is_checked else -1]
    taken_back = [act for number in back for act in (f"back {number}", *["export"] * one_by_one)]
    stays = [act for number, act in enumerate(chain(*rounds)) if number not in back]
    text = with_column_changes((int(act[-1]), ColumnChange.ADD_AFTER) for act in stays)
    return History("neighbouring changes of several rounds are taken back", [PLAIN, "check", *acts, *taken_back], text)


HISTORIES = [
    *(
        History(
            "who decides a flag and who corrects its place otherwise contradict each other",
            [f"{verdict} f-north", "1:5 此"],
            left=[("conflict", "北", "乙"), ("conflict", "北", "甲")],
        )
        for verdict in ("keep", "copy", "take")
    ),
    History(
        "a decision is not written over what a newer one has written, which was made of it and done again since",
        ["take f-north", "export", "check", "1:5 北", "undo f-north", "undo f-north"],
        TEXT.replace("西北", "西比"),
        left=[("conflict", "比", "乙")],
    ),
    History(
        "of what was left unsure nothing is left to be said where somebody else corrected the character",
        ["unsure f-say", "skip f-order", TEXT.replace("曰", "云").replace("命", "令")],
        TEXT.replace("曰", "云").replace("命", "令"),
    ),
    History(
        "the same said twice of a place is one correction",
        ["take f-north", "1:5 比"],
        TEXT.replace("西北", "西比"),
    ),
    *(
        History(
            "one more of a run goes into a text once",
            [LACUNAS, [GAP] * of_flag, "take f-gap" if of_flag else "1:3+0 □", LACUNAS.replace("□", "□□", 1), *then],
            LACUNAS.replace("□", "□□", 1),
        )
        for of_flag, then in product((True, False), ([], ["check"]))
    ),
    *(
        History(
            "one more of a run that a check still finds missing is written",
            [LACUNAS, [GAP], "take f-gap", LACUNAS.replace("西北", "西比"), *then],
            LACUNAS.replace("西北", "西比").replace("□", "□□", 1),
        )
        for then in ([], [[GAP]])
    ),
    *(
        History(
            "one of a run is corrected beside exported ones that no check has seen",
            [f"<pb:{PAGE}>¶\n{RUN}¶\n日月¶\n", "check", *chain.from_iterable((f"1:{at}", "export") for at in others),
             f"1:{offset} 甲", f"1:{offset}+0 乙"],
            f"<pb:{PAGE}>¶\n{run_without(others, offset)}¶\n日月¶\n",
            shown={1: run_without(others, offset)},
        )
        for offset, exports in cross_section([*product(range(6), (1, 3))], 4)
        for others in [[at for at in range(6) if at != offset][:exports]]
    ),
    *(
        History(
            "equal neighbours that were typed are deleted, and what stood there before is theirs",
            [PLAIN, "check", "1:1 某", "1:2 某", "export", "check", *deleted, "export", *back],
            PLAIN.replace("地玄", text),
        )
        for deleted in (("1:2", "1:1"), ("1:1", "1:2"))
        for back, text in (([], ""), (["back 2", "export", "back 3", "export"], "某某"))
    ),
    *(
        History(
            "a decision is written once where its place is now",
            ["take f-north", *chain.from_iterable(map(lower, lines))],
            str(lower(lines[-1])[0]).replace("西北", "西比"),
        )
        for lines in ((1, 2), (1, 2, 0))
    ),
    History(
        "what was overruled on another line is never written", ["take f-north", *lower(1), "keep f-north", *lower(0)]
    ),
    History(
        "what was taken back on another line is never written",
        ["take f-north", *lower(1), "undo f-north"],
        str(lower(1)[0]),
    ),
    *(
        History(
            "of two equal neighbours that were deleted each comes back",
            [text, "check", second, *then, first, *then, Reads(text.replace(alike, "")), f"back {back}",
             Reads(text.replace(alike, "", 1)), f"back {1 - back}"],
            text,
        )
        for (alike, text, (second, first)), then, back in product(ALIKE, ([], ["export", "check"]), (0, 1))
    ),
    History(
        "what was written and taken back is put back behind what was put in before it",
        ["typed f-order 令某", "export", [missing(3, 0, "又")], "undo f-order", "take f-missing"],
        TEXT.replace("命上射", "又命上射"),
    ),
    History(
        "what was taken back is not put back over what was decided and written of the place since",
        ["take f-north", "export", TEXT.replace("西北", "西此"), [replace(NORTH, id="f-again", transcribed="此")],
         "undo f-north", "take f-again"],
        TEXT.replace("西北", "西比"),
        left=[("gone", "北", "甲")],
    ),
    *(
        History(
            "a gap at which nothing is missing takes back what was deleted there",
            [[NORTH, missing(1, 5, "東")], "1:5", *acts],
        )
        for acts in (["keep f-missing", "export", "back 0"], ["export", "back 0", "keep f-missing"])
    ),
    *(
        History(
            "what was to be deleted and was moved in its line is named as not written",
            [f"1:{offset}", TEXT.replace("西北耦", moved), *then],
            TEXT.replace("西北耦", moved),
            left=[("gone", "西北"[offset - 4], "乙")],
        )
        for offset, moved, then in ((4, "北西耦", []), (5, "北西耦", ["check"]), (5, "西耦北", []))
    ),
    History(
        "a character missing at the beginning of a column that is deleted does not reach the next",
        [[missing(3, 0, "與")], "delete 3", "take f-missing"],
        left=[("conflict", "", "甲"), ("conflict", COLUMN_3, "乙")],
    ),
    *(
        History(
            "a character missing at the beginning of a deleted column is not written into the next",
            [PAGE_OF_THREE, [missing(2, 0, "與"), DOUBLED], delete, "export", "take f-missing"],
            PAGE_OF_THREE.replace(f"{THREE[1]}¶\n", ""),
            left=[("gone", "", "甲")],
        )
        for delete in ("delete 2", "take f-column")
    ),
    *(
        History(
            "a deleted column comes back before what was put in at the beginning of the next",
            [PAGE_OF_THREE, "check", "delete 2", "export", "check", put_in, "export", "back 0"],
            PAGE_OF_THREE.replace(THREE[2], f"{written}{THREE[2]}"),
        )
        for put_in, written in (("add before 2 新增之文", "新增之文¶\n"), ("2:0+0 與", "與"))
    ),
    History(
        "a column added by hand stands before what is put in at the beginning of the next",
        ["3:0+0 與", "add before 3 新增之文"],
        TEXT.replace("命上射", "新增之文¶\n與命上射"),
    ),
    *(
        History(
            "what was decided in a column that was deleted later is taken back before or after the deletion",
            [PLAIN, "check", act, Reads(changed_within(act)), "check", "delete 2", Reads(WITHOUT_2), *then,
             *(["back 1", Reads(changed_within(act)), *then, "back 0"] if column_first else ["back 0", "back 1"])],
            PLAIN,
        )
        for act, then, column_first in cross_section([*product(WITHIN, ([], ["check"]), (False, True))], 5)
    ),
    *(
        in_rounds(*rounds, is_checked, one_by_one)
        for rounds, is_checked, one_by_one in cross_section([*product(ROUNDS, (True, False), (True, False))], 12)
    ),
    History(
        "what came back with a deleted column is shown nowhere else",
        [PLAIN, "check", "2:2 改", "export", "check", "delete 1", "delete 2", "export", "check", "back 2", "export"],
        PLAIN.replace(f"{LINES[0]}¶\n", "").replace("日", "改"),
        shown={1: f"{LINES[1].replace('日', '改')}¶{LINES[2]}", 2: LINES[3]},
    ),
    *(
        History(
            "what is said not to be missing after its deletion was taken back does not return, but another does",
            ["1:4", "export", "back 0", [missing(1, 4, character)], "keep f-missing"],
            text,
        )
        for character, text in (("西", TEXT.replace("西", "")), ("東", TEXT))
    ),
    History(
        "characters are deleted behind a gap at which one is missing",
        [[missing(1, 4, "東")], "1:4+2", "take f-missing"],
        TEXT.replace("西北", "東"),
    ),
    *(
        History(
            "what is said of the written characters after an undo holds these",
            ["take f-north", "export", "undo f-north", [flag("f-anew", 1, 5, "比", "此", "夫之西[比]耦(案")],
             f"{verdict} f-anew"],
            TEXT.replace("西北", "西比"),
            left=[("unsure", "比", "甲")] * (verdict == "unsure"),
            shown={1: COLUMN_1.replace("西北", "西比")},
        )
        for verdict in ("keep", "unsure", "copy")
    ),
    *(
        History(
            "what was written and kept after all is shown as it was before the next check",
            ["take f-north", "export", "check", f"{verdict} f-north"],
            left=[("unsure", "北", "甲")] * (verdict == "unsure"),
            shown={1: COLUMN_1},
        )
        for verdict in ("keep", "unsure", "copy")
    ),
    *(
        History(
            "a change of a column that somebody wrote into the file is not written again",
            [PLAIN, "check", f"{change} 2", by_hand, "check", Reads(by_hand), "back 0"],
            PLAIN,
        )
        for change, by_hand in ((change, with_column_changes([(2, change)])) for change in ColumnChange)
    ),
    History(
        "two columns that were accepted and typed into the file are not written again",
        [PLAIN, [column_flag("f-1", 3, "", FIRST, 3), column_flag("f-2", 3, "", SECOND, 4)], "take f-1", "take f-2",
         PLAIN.replace(LINES[2], f"{FIRST}¶\n{SECOND}¶\n{LINES[2]}"), "check"],
        PLAIN.replace(LINES[2], f"{FIRST}¶\n{SECOND}¶\n{LINES[2]}"),
    ),
    History(
        "a column of which the same text stands elsewhere is not taken for the written one",
        [PLAIN, "check", "add before 2", PLAIN.replace(LINES[3], FIRST), "check"],
        PLAIN.replace(LINES[3], FIRST).replace(LINES[1], f"{FIRST}¶\n{LINES[1]}"),
    ),
    History(
        "a last column that was deleted behind an added character stays on its page",
        [PLAIN, "check", "3:6+0 丙", "delete 4", "export", "check", "back 1"],
        PLAIN.replace(LINES[2], f"{LINES[2]}丙"),
        shown={3: f"{LINES[2]}丙{LINE_BREAK}{LINES[3]}"},
    ),
    History(
        "a column that is deleted and added again is written once",
        [PLAIN, "check", "delete 2", f"add before 2 {LINES[1]}", Reads(PLAIN), "back 1", Reads(WITHOUT_2), "back 0"],
        PLAIN,
    ),
    *(
        History(
            "characters that were put in and taken out again are not shown beside what had been deleted there",
            [PLAIN, "check", "2:0+0 乙", "2:0", "export", "check", "back 0", *["export", "back 1"] * also],
            PLAIN.replace(LINES[1], LINES[1][not also :]),
            shown={2: LINES[1][not also :]},
        )
        for also in (False, True)
    ),
    History(
        "a column is shown again although what was decided in it after its deletion comes back with it",
        [PLAIN, [flag("f-last", 2, 5, LINES[1][5], "", f"月盈[{LINES[1][5]}]")], "delete 2", "export", "take f-last",
         "export", "check", "undo f-last", "back 0"],
        PLAIN,
        shown={2: f"{LINES[1]}{LINE_BREAK}{LINES[2]}"},
    ),
    History(
        "a character is put in behind a line ending that was deleted since the check",
        [PLAIN, "check", "join 2", "export", "3:0+0 乙", Reads(PLAIN.replace(f"¶\n{LINES[2]}", f"乙{LINES[2]}")),
         "back 0"],
        PLAIN.replace(LINES[2], f"乙{LINES[2]}"),
    ),
    *(
        History(
            "an added column that was taken back is not shown",
            [PLAIN, "check", f"{change} 2", "export", "check", "back 0"],
            PLAIN,
            shown={line: ""},
        )
        for change, line in ((ColumnChange.ADD_BEFORE, 2), (ColumnChange.ADD_AFTER, 3))
    ),
    History(
        "a decision whose place the last check no longer saw keeps no other back",
        ["take f-north", "take f-say", TEXT.replace("西北", "西東"), [SAY]],
        TEXT.replace("西北", "西東").replace("曰告", "告"),
        left=[("gone", "北", "甲")],
    ),
    History(
        "a column that is missing behind the last one is shown there",
        [[column_flag("f-column", 4, "", "甲甲", 4)], "take f-column"],
        f"{TEXT}甲甲¶\n",
        shown={3: f"{COLUMN_3}¶甲甲"},
    ),
    *(
        History(
            "missing columns stand in the order of the image in whatever order they are written",
            [IN_ORDER, f"take f-{first}", "export", f"take f-{second}", f"take f-{third}"],
            TEXT.replace("命上", "甲甲¶\n乙乙¶\n丙丙¶\n命上"),
        )
        for first, second, third in cross_section(list(permutations((1, 2, 3))), 2)
    ),
    *(
        History(
            "a missing column goes before what is missing at the beginning of a line",
            [[IN_ORDER[0], missing(3, 0, "乙")], f"take {first}", *between, f"take {second}"],
            TEXT.replace("命上", "甲甲¶\n乙命上"),
        )
        for (first, second), between in product(permutations(("f-1", "f-missing")), ([], ["export"]))
    ),
    History(
        "that nothing is missing does not contradict a line ending at the place",
        [[flag("f-end", 3, 2, "", LINE_BREAK, "命上[]&KR", kind=Kind.LAYOUT), missing(3, 2, "雷")],
         "keep f-missing", "take f-end"],
        TEXT.replace("命上射", "命上¶\n射"),
    ),
    History(
        "of two missing columns at one place one is rejected",
        [IN_ORDER[:2], "keep f-1", "take f-2"],
        TEXT.replace("命上", "乙乙¶\n命上"),
    ),
    *(
        History(
            "what moved goes back whole when the moved text was checked",
            [MOVED, "take f-out", "export", "check", f"undo {half}"],
        )
        for half in ("f-out", "f-in")
    ),
    History(
        "what an editor moved by hand, and put something else where it stood, does not go from both places",
        [MOVED, "take f-in", TEXT.replace("命上射", "射命上之"), "export", "undo f-in"],
        TEXT.replace("命上射", "射命上之"),
        left=[("other-half", "", "甲")],
    ),
]  # fmt: skip


@pytest.mark.parametrize("history", HISTORIES, ids=[history.name for history in HISTORIES])
def test_what_was_decided_is_written_once_and_what_is_not_written_is_named(project: Project, history: History) -> None:
    project.do(*history.acts)
    for _ in range(2):
        assert left_out(project.decided) == list(history.left)
        assert {line: project.shown(line) for line in history.shown} == history.shown
        assert project.export() == history.text
    project.check()
    columns = project.edition.pages[0].columns if not history.left else ()
    assert [project.shown(column.number) for column in columns] == [column.source for column in columns]


@pytest.mark.parametrize(("change", "between"), cross_section([*product((*ColumnChange, 0, 3), (False, True))], 3))
def test_what_two_works_decide_alike_is_written_once_and_comes_back_once_both_take_it_back(
    project: Project, change: ColumnChange | int, between: bool
) -> None:
    """Also where the first is exported before the second is decided, who does not see it before their check."""
    project.write(PLAIN)
    made = []
    for work in ("KR1", "KR2"):
        project.check(work=work)
    for work in ("KR1", "KR2"):
        wanted = ManualCorrection(work, page_number(project.store, work), 2, 0, 0, "", "乙", uuid4().hex)
        if isinstance(change, ColumnChange):
            offset = SPLIT_OFFSET if change is ColumnChange.SPLIT else 0
            wanted = replace(wanted, change=change, offset=offset, reading=ADDED.get(change, ""))
        else:
            wanted = replace(wanted, offset=change, length=1, verdict=Verdict.DELETE)
        made.append(project.store.manual_corrections.correct(wanted))
        if between:
            project.export()
    project.export()
    assert left_out(project.decided) == []
    if isinstance(change, ColumnChange):
        once = with_column_changes([(2, change)])
    else:
        once = PLAIN.replace(LINES[1][change], "")
    assert project.edition.text == once
    for decision, work, now in zip(made, ("KR1", "KR2"), (once, PLAIN), strict=True):
        project.say(decision.flag, Verdict.UNDO, work=work)
        assert project.export() == now
        assert left_out(project.decided) == []


def test_what_moves_in_two_works_moves_with_both_halves_in_each(project: Project) -> None:
    line = LINES[2]
    project.write(PLAIN)
    for work in ("KR1", "KR2"):
        away, here = f"f-away-{work}", f"f-here-{work}"
        away_flag, here_flag = column_flag(away, 3, line, "", 1), column_flag(here, 1, "", line, 1)
        project.check(replace(away_flag, moved=here), replace(here_flag, moved=away), work=work)
    for work in ("KR1", "KR2"):
        project.say(f"f-here-{work}", Verdict.TAKE, work=work)
    moved = project.export()
    assert moved == with_column_changes([(3, ColumnChange.DELETE)]).replace(LINES[0], f"{line}¶\n{LINES[0]}")
    project.say("f-here-KR1", Verdict.UNDO)
    assert project.export() == moved


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(COLUMN_CHANGES).map(lambda order: order[:3]), st.sets(st.sampled_from([0, 1, 2])), st.booleans())
def test_changes_of_columns_are_written_and_taken_back_as_a_naive_model_has_it(
    changes: list[tuple[int, ColumnChange | int]], back: set[int], one_by_one: bool
) -> None:
    """Or they are refused when they are decided, or the export says which one it could not write."""
    with TemporaryDirectory() as folder, project_in(Path(folder)) as project:
        project.begin(LINES)
        made: list[tuple[Decision, tuple[int, ColumnChange | int]]] = []
        for line, change in changes:
            with suppress(RefusedDecisionError, ConflictError):
                if isinstance(change, ColumnChange):
                    decision = project.change(line, change)
                else:
                    decision = project.by_hand(line, change, "改")
                made.append((decision, (line, change)))
        unwritten = [*project.decided.left_out, *project.corrected.refused]
        project.export()
        assert unwritten or project.edition.text == with_column_changes(change for _, change in made)
        stays = [change for number, (_, change) in enumerate(made) if number not in back]
        for number in sorted(back & set(range(len(made)))):
            project.take_back(made[number][0])
            if one_by_one:
                project.export()
        unwritten += [*project.decided.left_out, *project.corrected.refused]
        project.export()
        assert unwritten or project.edition.text == with_column_changes(stays)


@pytest.mark.parametrize("change", ColumnChange)
def test_a_column_with_an_exported_correction_is_changed_before_the_next_check(
    project: Project, change: ColumnChange
) -> None:
    project.begin(LINES)
    project.by_hand(2, 5, "改")
    project.export()
    if change is ColumnChange.DELETE:
        with pytest.raises(RefusedDecisionError):
            project.change(2, change)
    else:
        project.change(2, change)
        assert project.export() == with_column_changes([(2, 5), (2, change)])


@pytest.mark.parametrize("back", cross_section(list(permutations(range(3))), 2))
def test_the_last_columns_of_a_page_are_deleted_together_and_come_back_in_any_order(
    project: Project, back: Sequence[int]
) -> None:
    project.begin(LINES)
    made = [project.change(line, ColumnChange.DELETE) for line in (2, 3, 4)]
    left = {2, 3, 4}
    assert project.export() == with_column_changes((line, ColumnChange.DELETE) for line in left)
    project.check()
    for number in back:
        project.take_back(made[number])
        left.remove(2 + number)
        assert project.export() == with_column_changes((line, ColumnChange.DELETE) for line in left)
        assert project.shown(1) == LINE_BREAK.join(LINES[line - 1] for line in (1, 2, 3, 4) if line not in left)


@pytest.mark.parametrize("back", [0, 1])
def test_neighbours_that_were_deleted_come_back_in_a_store_of_an_older_version(
    project: Project, tmp_path: Path, back: int
) -> None:
    """It did not number what was deleted at one place."""
    made = [project.by_hand(1, offset, "") for offset in (4, 5)]
    project.export()
    path = tmp_path / "older.sqlite"
    with closing(sqlite3.connect(tmp_path / "proof.sqlite")) as stored, closing(sqlite3.connect(path)) as older_store:
        stored.backup(older_store)
        for table, column in (("flags", "former"), ("text_versions", "edits")):
            older_store.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        older_store.execute("UPDATE alembic_version SET version_num = '0001'")
        older_store.commit()
    with Store.open(path) as store:
        older = replace(project, store=store)
        for decision in (made[back], made[1 - back]):
            older.take_back(decision)
            older.export()
    assert project.edition.text == TEXT


@pytest.mark.parametrize("back", [0, 1])
def test_neighbours_that_were_deleted_come_back_in_a_store_rebuilt_from_the_journal(
    project: Project, tmp_path: Path, back: int
) -> None:
    made = [project.by_hand(1, offset, "") for offset in (4, 5)]
    project.export()
    project.take_back(made[back])
    project.export()
    assert project.store.journal is not None
    (tmp_path / "new").mkdir()
    shutil.copy(project.store.journal.path, tmp_path / "new")
    with Store.open(tmp_path / "new" / "proof.sqlite") as store:
        rebuilt = replace(project, store=store)
        rebuilt.check()
        assert store.recover().unplaced == ()
        rebuilt.take_back(made[1 - back])
        assert rebuilt.shown(1) == COLUMN_1
        assert rebuilt.export() == TEXT


@pytest.mark.parametrize("change", cross_section([*ColumnChange, None], 3))
def test_what_was_exported_after_a_backup_of_the_store_is_taken_back_after_its_recovery(
    project: Project, tmp_path: Path, change: ColumnChange | None
) -> None:
    """The journal knows what the older store does not: what the export wrote."""
    text = project.begin(LINES)
    made = project.by_hand(2, 2, "") if change is None else project.change(2, change)
    with Store.open(tmp_path / "older" / "proof.sqlite") as older:
        copy_store(project.store, older, cache=False)
    assert project.export() == with_column_changes([(2, 2 if change is None else change)]).replace("改", "")
    assert project.store.journal is not None
    shutil.copy(project.store.journal.path, tmp_path / "older")
    with Store.open(tmp_path / "older" / "proof.sqlite") as older:
        restored = replace(project, store=older)
        restored.check()
        assert older.recover().unplaced == ()
        assert older.decisions.displaced("KR1") == []
        restored.take_back(made)
        assert restored.export() == text


@pytest.mark.parametrize("verdict", [Verdict.KEEP, Verdict.UNSURE])
def test_a_surplus_column_that_was_put_back_is_not_asked_again(project: Project, verdict: Verdict) -> None:
    surplus = column_flag("f-column", 2, LINES[1], "", 2)
    project.begin(LINES, surplus)
    for each in (Verdict.TAKE, verdict):
        project.say("f-column", each)
        text = project.export()
    assert text == PLAIN
    project.check(surplus)
    assert project.open_flags() == []


def test_where_all_was_taken_back_the_text_reads_as_it_did_before_the_first(project: Project) -> None:
    project.say("f-north", Verdict.TAKE)
    project.export()
    project.say("f-north", Verdict.UNDO)
    project.check(replace(NORTH, id="f-again", transcribed="比", suggested="北"))
    project.say("f-again", Verdict.TAKE)
    assert project.export() == TEXT
    project.say("f-again", Verdict.UNDO)
    assert [len(project.store.finder.find_in_all(words).places) for words in ("西北耦", "西比耦")] == [1, 0]
    for _ in range(2):
        assert project.export() == TEXT


def test_a_line_that_was_deleted_whole_stays_deleted_when_nothing_is_left_of_it(project: Project) -> None:
    project.check(flag("f-line", 3, 0, "命上射&KR0058;曰告", "", "[命上射&KR0058;曰告]"))
    project.say("f-line", Verdict.TAKE)
    project.export()
    without = project.path.read_text(encoding="utf-8").removesuffix("¶\n")
    project.write(without)
    project.store.texts.record_content(str(project.path), without, "", lambda: True)
    assert (project.decided.corrections, project.decided.left_out) == ((), ())
    assert project.store.decisions.displaced("KR1") == []
    project.say("f-line", Verdict.UNDO)
    assert left_out(project.decided) == [(Unused.GONE.code, "命上射&KR0058;曰告", "甲")]


@pytest.mark.parametrize(
    ("ending", "verdict"), cross_section([*product(ENDINGS, (Verdict.KEEP, Verdict.RETAIN, Verdict.UNSURE))], 5)
)
def test_a_missing_last_column_that_was_taken_out_again_is_not_asked_again(
    project: Project, ending: str, verdict: Verdict
) -> None:
    text = TEXT.removesuffix("¶\n") + ending
    project.write(text)
    missing = column_flag("f-column", 4, "", "甲甲", 4)
    project.check(missing)
    for each in (Verdict.TAKE, verdict):
        project.say("f-column", each, "乙乙" if each is Verdict.RETAIN else "")
        project.export()
    assert project.edition.text == text
    project.check(missing)
    assert project.open_flags() == []


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_last_column_that_was_deleted_comes_back(project: Project, ending: str) -> None:
    text = TEXT.replace("¶\n¶", "¶\n日月¶").removesuffix("¶\n") + ending
    project.write(text)
    project.check()
    deleted = project.change(3, ColumnChange.DELETE)
    project.export()
    project.check(column_flag("f-column", 3, "", deleted.transcribed, 3))
    assert project.open_flags() == []
    project.take_back(deleted)
    assert project.export() == text


def test_an_added_column_that_is_joined_to_another_is_not_asked_again(project: Project) -> None:
    added = project.change(3, ColumnChange.ADD_AFTER, "天地")
    project.export_and_check()
    joined = project.change(3, ColumnChange.JOIN)
    project.by_hand(3, 12, "吿")
    project.export()
    line = "命上射&KR0058;曰吿天地"
    assert project.path.read_text(encoding="utf-8") == TEXT.replace("命上射&KR0058;曰告", line)
    for asked in ("天地", "吿天", "吿天地", "曰吿天"):
        project.check(flag("f-again", 3, line.index(asked), asked, "", f"[{asked}]", kind=Kind.INSERTION))
        assert project.open_flags() == ([asked] if "曰" in asked else [])
    written = project.path.read_text(encoding="utf-8")
    project.say(added.uid, Verdict.UNDO, person="乙")
    assert project.corrected.text == written
    assert [refused.reason.code for refused in project.corrected.refused] == [Refusal.JOINED]
    project.say(joined.uid, Verdict.UNDO, person="乙")
    project.export()
    assert project.export() == TEXT.replace("告", "吿")


def divided(project: Project, *, column: int | None) -> None:
    """Check the text: its third line is to be divided after 命上, where column 5 of the image begins, and 乙 is missing
    at the same place, in this column of the image."""
    evidence = Evidence("columns in one line", column=5)
    split = flag("f-split", 3, 2, "", LINE_BREAK, "命上[]射&KR", kind=Kind.LAYOUT, evidence=evidence)
    missing = Evidence("not transcribed", column=column)
    project.check(split, flag("f-missing", 3, 2, "", "乙", "命上[]射&KR", kind=Kind.OMISSION, evidence=missing))


@pytest.mark.parametrize(
    ("order", "at_once"), cross_section([*product(permutations(("f-split", "f-missing")), (True, False))], 2)
)
@pytest.mark.parametrize(("column", "written"), [(4, "命上乙¶\n射"), (5, "命上¶\n乙射")])
def test_what_is_missing_where_a_line_is_divided_goes_where_the_image_has_it(
    project: Project, order: Sequence[str], column: int, written: str, *, at_once: bool
) -> None:
    divided(project, column=column)
    for uid in order:
        project.say(uid, Verdict.TAKE)
        if not at_once:
            project.export()
    assert project.shown(3) == f"{written.replace(chr(10), '')}&KR0058;曰告"
    assert project.export() == TEXT.replace("命上射", written)
    assert left_out(project.decided) == []
    project.say("f-missing", Verdict.UNDO)
    assert project.corrected.text == TEXT.replace("命上射", "命上¶\n射")


def test_what_is_missing_where_a_line_is_divided_waits_if_its_side_is_not_known(project: Project) -> None:
    divided(project, column=None)
    project.say("f-split", Verdict.TAKE)
    project.say("f-missing", Verdict.TAKE)
    assert project.corrected.text == TEXT.replace("命上射", "命上¶\n射")
    assert left_out(project.decided) == [(Unused.SIDE.code, "", "甲")]


def test_notes_and_tables_are_the_same_before_and_after_their_corrections_are_written(project: Project) -> None:
    def documents() -> list[str]:
        source, decided = project.corrected, project.decided
        material = Material(source, datetime.now(UTC), noted=decided.noted)
        document = etree.fromstring(tei(source.edition, material.placed))
        changes = [" ".join(map(str, choice.itertext())) for choice in document.iterfind(".//{*}choice")]
        cbeta = collation_list(material.placed, source.edition.script)
        words = [note.words for note in material.notes.notes]
        return [*words, *changes, cbeta, spreadsheet(source.edition, material.placed).decode()]

    project.say("f-north", Verdict.TAKE)
    project.say("f-say", Verdict.TAKE)
    project.by_hand(1, 1, "乃", length=0)
    before = documents()
    project.export()
    after = documents()
    assert len(before) == 3 + 3 + 2
    assert [*after[:-1], rows_of(after[-1])] == [*before[:-1], rows_of(before[-1])]
    project.check()
    project.by_hand(1, 6, "此")
    assert [words for words in documents() if words.startswith(("比：", "此："))] == ["此：原作北，據影像改。"]


def rows_of(table: str) -> list[list[str]]:
    """The changes in a table, without their places, which what is written before them moves."""
    return [row[3:] for row in csv.reader(table.splitlines())]


def lines_on_image(project: Project) -> list[list[str]]:
    """The lines of each column of the page, as exports on its image have them."""
    pages = list(project.store.results(work="KR1"))
    material = Material(project.corrected, datetime.now(UTC), pages, noted=project.decided.noted)
    [page] = marked_pages(material, Path(), ".xml").values()
    return [[line.text for line in column.lines] for column in page.columns]


def test_a_page_on_its_image_reads_as_its_text_also_before_it_is_checked_again(project: Project) -> None:
    def check_lines() -> None:
        columns = transcription(project.corrected.text).pages[0].columns
        texts = ["".join(cell.text for cell in column.cells if not cell.blank) for column in columns]
        assert ["".join(lines) for lines in lines_on_image(project)] == texts

    check_lines()
    acts: list[Callable[[], Decision]] = [
        lambda: project.say("f-north", Verdict.TAKE),
        lambda: project.by_hand(1, 3, "某某"),
        lambda: project.say("f-say", Verdict.TAKE),
        lambda: project.by_hand(1, 1, "乃", length=0),
        lambda: project.say("f-north", Verdict.UNDO),
        lambda: project.by_hand(1, 14, "新", length=0),
    ]
    for act in acts:
        act()
        check_lines()
        project.export()
        check_lines()


@pytest.mark.parametrize(("offset", "character"), [(0, "命"), (2, "射")])
def test_a_column_that_moved_is_written_in_both_places_or_in_neither(
    project: Project, offset: int, character: str
) -> None:
    line = "命上射&KR0058;曰告"
    project.check(
        column_flag("f-away", 3, line, "", 1, moved="f-here"), column_flag("f-here", 1, "", line, 1, moved="f-away")
    )
    project.say("f-here", Verdict.TAKE)
    project.say("f-away", Verdict.TAKE)
    project.by_hand(3, offset, "某")
    corrected, reasons = project.corrected, {out.decision.transcribed: out.reason for out in project.decided.left_out}
    assert corrected.text == TEXT.replace(f"{line}¶\n", "").replace("　大", f"{line}¶\n　大")
    assert reasons == {character: Unused.MOVES}
    changed = TEXT.replace("曰告", "曰之告")
    project.write(changed)
    assert project.corrected.text == changed.replace(f"\n{line[:offset]}{character}", f"\n{line[:offset]}某")
    assert left_out(project.decided) == [(Unused.GONE.code, line, "甲"), (Unused.OTHER_HALF.code, "", "甲")]


@pytest.mark.parametrize("is_checked", [False, True])
def test_what_was_decided_within_a_column_that_moves_is_written_at_its_new_place(
    project: Project, is_checked: bool
) -> None:
    line = "命上射&KR0058;曰告"
    project.check(
        column_flag("f-away", 3, line, "", 1, moved="f-here"),
        column_flag("f-here", 1, "", line, 1, moved="f-away"),
        SAY,
    )
    project.say("f-here", Verdict.TAKE)
    project.by_hand(3, 2, "某")
    project.by_hand(3, 0, "乃", length=0)
    project.say("f-say", Verdict.KEEP)
    project.export()
    if is_checked:
        project.check(flag("again", 1, 11, "曰", "", "58;[曰]告"), flag("too", 1, 2, "射", "某", "命上[射]&KR"))
        assert not [each for each in queued(project.store) if each.state is State.OPEN]
    moved = TEXT.replace(f"{line}¶\n", "").replace("　大", f"乃{line.replace('射', '某')}¶\n　大")
    assert project.export() == moved
    assert project.export() == moved
    assert left_out(project.decided) == []
    project.say("f-here", Verdict.UNDO)
    assert project.export() == moved, "the column has changed since it moved: it goes back whole, or not at all"
    assert left_out(project.decided) == [(Unused.GONE.code, "", "甲"), (Unused.OTHER_HALF.code, line, "甲")]


def test_the_script_is_the_one_in_which_the_text_was_checked(project: Project) -> None:
    project.check(script="simplified")
    project.by_hand(1, 5, "後")
    assert "西后" in project.corrected.text


@pytest.mark.parametrize(("verdict", "form"), [(Verdict.TAKE, "干"), (Verdict.OTHER, "乾")])
def test_the_form_that_was_accepted_at_the_desk_is_written(project: Project, verdict: Verdict, form: str) -> None:
    evidence = Evidence("posterior", alternatives=(("乾", 0.9), ("北", 0.01)), spellings=("乾",))
    project.check(replace(NORTH, suggested="干", evidence=evidence), script="simplified")
    project.say("f-north", verdict, form if verdict is Verdict.OTHER else "")
    assert f"西{form}" in project.corrected.text


def test_only_a_typed_character_with_several_forms_is_asked_about(project: Project) -> None:
    project.check(NORTH, column_flag("f-column", 3, "", "乾也", 3), script="simplified")
    project.say("f-column", Verdict.TAKE)
    project.say("f-north", Verdict.TYPED, "餘")
    assert "\n乾也¶\n命" in project.corrected.text
    [refused] = project.corrected.refused
    assert "is 餘 余 or 馀" in str(refused)
    decided = project.decided
    assert "西馀" in correct(decided.edition, decided.corrections, choices=[FormChoice("餘", "馀")]).text


@pytest.fixture
def moved(project: Project) -> Project:
    """The project after a check that found the 射 of the third column to stand where it does not belong."""
    project.check(*MOVED)
    return project


@pytest.mark.parametrize("half", ["f-out", "f-in"])
def test_a_character_that_moved_is_decided_once_and_noted_once(moved: Project, half: str) -> None:
    other = {"f-out": "f-in", "f-in": "f-out"}[half]
    made = moved.say(half, Verdict.TAKE)
    assert moved.corrected.text == TEXT.replace("命上射", "射命上")
    assert [note.words for note in notes_of(moved.corrected).notes] == ["射：原在上下，據影像乙正。"]
    again = moved.say(other, Verdict.TAKE, version=0)
    assert (again.repeated, again.state) == (True, made.state)
    moved.say(other, Verdict.UNDO)
    assert list(moved.decided.corrections) == []


@pytest.mark.parametrize(
    ("verdict", "words"), [(Verdict.UNSURE, "射：疑當在行首。"), (Verdict.RETAIN, "射：影像在行首，今不從。")]
)
def test_a_character_that_may_have_moved_is_noted_once_where_it_stands(
    moved: Project, verdict: Verdict, words: str
) -> None:
    moved.say("f-in", verdict, "射" if verdict is Verdict.RETAIN else "")
    decided = moved.decided
    corrected = moved.corrected
    (note,) = notes_of(corrected, decided.noted).notes
    assert (note.words, note.lemma, note.start) == (words, "射", TEXT.index("射"))
    assert corrected.text == TEXT


def test_a_moved_character_that_the_text_has_already_is_noted_once(moved: Project) -> None:
    moved.say("f-in", Verdict.TAKE)
    moved.export()
    (note,) = notes_of(moved.corrected, moved.decided.noted).notes
    assert (note.words, note.lemma) == ("射：原在上下，據影像乙正。", "射")


def test_what_was_said_of_one_half_alone_stays_and_has_its_own_note(moved: Project) -> None:
    moved.say("f-in", Verdict.TYPED, "身")
    moved.say("f-out", Verdict.TAKE, person="乙")
    assert moved.corrected.text == TEXT.replace("命上射", "身命上")
    assert [note.words for note in notes_of(moved.corrected).notes] == ["身：原脫，據影像補。", "射：原衍，據影像刪。"]
    moved.say("f-out", Verdict.UNDO, person="乙")
    assert moved.corrected.text == TEXT.replace("命上射", "身命上射")


def test_the_note_on_a_deleted_column_has_what_it_read_before_a_correction_in_it(project: Project) -> None:
    project.begin(LINES)
    project.by_hand(2, 2, "改")
    project.export_and_check()
    project.change(2, ColumnChange.DELETE)
    material = Material(project.corrected, datetime.now(UTC), noted=project.decided.noted)
    assert [note.words for note in material.notes.notes] == [f"{LINES[1]}：原衍，今刪。"]


CHANGED = [(0, "新"), (0, "改補"), (1, ""), (1, "新"), (1, "改補"), (2, ""), (2, "新"), (2, "改補")]
ACTS: list[tuple[int, Change | ColumnChange]] = [
    *((line, Change(at, length, new)) for line in (1, 2) for at in (0, 2, 3) for length, new in CHANGED),
    *((2, change) for change in (ColumnChange.ADD_BEFORE, ColumnChange.ADD_AFTER, ColumnChange.DELETE)),
]


def is_followed(acts: Sequence[tuple[int, Change | ColumnChange]]) -> bool:
    """Whether columns change first, and no change of two characters is one of three acts."""
    changes = [change for _, change in acts[1:]]
    is_short = len(acts) == 2 or all(change.length < 2 for _, change in acts if isinstance(change, Change))
    return is_short and not any(isinstance(change, ColumnChange) for change in changes)


@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(ACTS), min_size=2, max_size=3).filter(is_followed), st.sets(st.integers(0, 2)))
@example([(2, ColumnChange.ADD_BEFORE), (2, Change(2, 1, "新"))], {0, 1})
@example([(2, Change(2, 2, "改補")), (2, Change(3, 1, "新"))], {0, 1})
@example([(1, Change(2, 1, "改補")), (1, Change(1, 2, ""))], {0})
def test_changes_taken_out_of_the_marked_text_leave_what_it_was_at_first(
    acts: list[tuple[int, Change | ColumnChange]], exported: set[int]
) -> None:
    """And written into it, the text that is exported; whichever of them an export has written before."""
    with TemporaryDirectory() as folder, project_in(Path(folder)) as project:
        base = project.begin(LINES)
        for number, (line, change) in enumerate(acts):
            with suppress(RefusedDecisionError, ConflictError, NoPlaceError):
                if isinstance(change, ColumnChange):
                    project.change(line, change)
                else:
                    project.by_hand(line, change.offset, change.reading, length=change.length)
            if number in exported:
                project.export_and_check()
            corrected, decided = project.corrected, project.decided
            material = Material(corrected, datetime.now(UTC), noted=decided.noted)
            marked = marked_text(corrected.edition.text, material.placed)
            first = re.sub(r"\[([^>\]]*)>[^\]]*\]", r"\1", marked)
            now = re.sub(r"\[[^>\]]*>([^\]]*)\]", r"\1", marked)
            assert (characters(first), characters(now)) == (characters(base), characters(corrected.text))


def characters(text: str) -> str:
    """The characters of the columns of a text, without its line endings."""
    return re.sub(r"[¶\n]", "", text)


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*"甲乙玄", "", "back", "export", "check"]), min_size=2, max_size=7))
@example([*"甲", "check", *"乙", "export"])
@example([*"甲", "check", "", "check", "back"])
@example([*"甲", "export", "back", "export", "check", *"乙"])
def test_notes_name_what_stood_there_before_all_corrections(acts: list[str]) -> None:
    """Of a character that is corrected, exported and checked again and again, or taken back, there is one note on what
    it is now and what it was at first."""
    with TemporaryDirectory() as folder, project_in(Path(folder)) as project:
        project.begin(["天地玄黃宇宙"])
        readings, made = ["玄"], list[Decision]()
        for act in acts:
            if act == "export":
                project.export()
            elif act == "check":
                project.export_and_check()
            elif act == "back" and made:
                project.take_back(made.pop())
                readings.pop()
            elif readings[-1] and act not in ("back", readings[-1]):
                project.export_and_check()
                made.append(project.by_hand(1, 2, act, length=len(readings[-1])))
                readings.append(act)
            now = readings[-1]
            words = {"玄": [], "": ["玄：原衍"]}.get(now, [f"{now}：原作玄"])
            corrected, decided = project.corrected, project.decided
            material = Material(corrected, datetime.now(UTC), noted=decided.noted)
            assert [note.words.split("，")[0] for note in material.notes.notes] == words
            rows = list(
                csv.DictReader(spreadsheet(corrected.edition, material.placed).decode("utf-8-sig").splitlines())
            )
            assert [(row["before"], row["after"]) for row in rows] == [("玄", now)] * len(words)
            document = etree.fromstring(tei(corrected.edition, material.placed))
            changes = [" ".join(map(str, choice.itertext())) for choice in document.iterfind(".//{*}choice")]
            assert len(changes) == len(words)
            runs = [run for each in noted_text(corrected, material.notes) for run in each.runs]
            assert "".join(run.text for run in runs if run.change is not RunChange.DELETED) == f"天地{now}黃宇宙"
            assert "".join(run.text for run in runs if run.change is RunChange.DELETED) in ("", "玄") or now == "玄"
