"""What was decided for one edition is decided for another where the two say the same: listed first, never guessed."""

from __future__ import annotations

import getpass
import os
import re
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from proof.cli import main
from proof.store import Store
from proof.store.decision_records import Decision, DecisionRequest, Verdict
from proof.store.queue_records import Order, QueueFilter
from tests.build import standing_decisions
from tests.conftest import MadeOnce

WORK = "KR1x0001"
FIRST = "司射東面于大夫之西北耦大夫與大夫命上射曰某御于"
SECOND = "子命下射曰子與某子射卒遂命三耦取弓矢于次司射反"
SIKU = f"#+PROPERTY: ID {WORK}\n<pb:{WORK}_WYG_010-1a>¶\n{FIRST}¶\n{SECOND}¶\n"
WITNESS = SIKU.replace("北耦", "比耦").replace("取弓矢", "弓矢取").replace("司射反", "司馬射反").replace("射卒", "射")
SBCK = f"#+PROPERTY: ID {WORK}\n<pb:{WORK}_SBCK_010-5b>¶\n{FIRST[:12]}¶\n{FIRST[12:]}{SECOND[:20]}¶\n{SECOND[20:]}¶\n"

Told = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_once: MadeOnce) -> None:
    """A copy of the project with two editions."""
    shutil.copytree(made_once("editions", make_project), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def make_project(folder: Path) -> None:
    """Two editions that were checked, the one in other lines than the other; four places of one were decided."""
    folder.mkdir()
    with chdir(folder):
        Path("siku.txt").write_text(SIKU, encoding="utf-8")
        Path("witness.txt").write_text(WITNESS, encoding="utf-8")
        with_other(SBCK)
        assert main(["collate", "siku.txt", "毛=witness.txt", "--findings"]) == 0
        with Store.open(Path("proof.sqlite")) as store:
            numbers, _ = store.queue.find(WORK, QueueFilter(raised=True), Order.PAGE, limit=100)
            verdicts = {"比": Verdict.TAKE, "弓矢取": Verdict.RETAIN, "馬": Verdict.TAKE, "": Verdict.DELETE}
            for flag in store.queue.flags(WORK, numbers):
                if flag.flag.evidence.reason == "collation":
                    verdict = verdicts[flag.flag.suggested]
                    reading = flag.flag.suggested if verdict is Verdict.RETAIN else ""
                    demand = DecisionRequest(
                        WORK, flag.number, verdict, flag.version, "甲", f"{flag.number:08}", reading
                    )
                    store.decisions.decide(demand)


def with_other(text: str) -> None:
    """Check the other edition, as it reads now."""
    Path("other.txt").write_text(text, encoding="utf-8")
    assert main(["check", "siku.txt", "other.txt"]) == 0


def decided() -> list[Decision]:
    """What the person decided to whom decisions are carried."""
    with Store.open(Path("proof.sqlite")) as store:
        return [decision for decision in standing_decisions(store, WORK) if decision.person == "乙"]


def carried(*more: str) -> int:
    return main(["carry", "siku.txt", "other.txt", "--person", "乙", *more])


def test_a_user_without_a_name_on_this_machine_carries_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert main(["carry", "siku.txt", "other.txt", "--apply"]) == 1  # one of them is not certain
    with Store.open(Path("proof.sqlite")) as store:
        carried_by = {decision.person for decision in standing_decisions(store, WORK)} - {"甲"}
    assert carried_by == {f"user {os.getuid()}"}


def exported() -> str:
    assert main(["export", "other.txt"]) == 0
    return Path("out/other.txt").read_text(encoding="utf-8")


def test_decisions_are_listed_before_any_is_made(capsys: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    assert carried() == 1
    output = capsys.readouterr()
    assert "corrected 北 → 比 ⇒ KR1x0001_SBCK_010-5b 1: 之西[北]耦" not in output.out  # the line ends before 耦
    assert "corrected 北 → 比 ⇒ KR1x0001_SBCK_010-5b 1: 夫之西[北]耦大" in output.out
    assert "3 decisions to carry, 1 not, of 4" in output.out
    assert "nothing was saved" in output.out
    assert "says what the copy of the first text reads" in output.err
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert carried() == 1
    output = capsys.readouterr()
    assert re.search("[a-z]{3}", re.sub(r"KR1x0001_\w+-\w+|--[a-z-]+", "", output.out + output.err)) is None
    assert "已改 北 → 比" in output.out
    assert "共 4 項裁定：可轉移 3 項，不可轉移 1 項" in output.out
    monkeypatch.delenv("LC_ALL")
    assert decided() == []


def test_what_is_carried_is_written_in_the_lines_of_the_other_edition() -> None:
    assert carried("--apply") == 1
    assert exported() == SBCK.replace("北耦", "比耦").replace("司射反", "司馬射反").replace("射卒", "射")
    first, *_ = decided()
    assert first.evidence["carried"]["person"] == "甲"
    assert first.evidence["carried"]["page"] == "KR1x0001_WYG_010-1a"
    assert first.authority == "毛"
    assert len({decision.batch for decision in decided()}) == 1


def test_notes_on_what_was_carried_say_which_witness_it_follows() -> None:
    """Also where it was taken back, and that taken back."""
    assert carried("--apply") == 1
    made = decided()
    with Store.open(Path("proof.sqlite")) as store:
        for version in (1, 2):
            for decision in made:
                demand = DecisionRequest(
                    WORK, decision.flag, Verdict.UNDO, version, "乙", f"{decision.flag:07}{version}"
                )
                store.decisions.decide(demand)
    assert main(["export", "other.txt", "--form", "notes"]) == 0
    notes = Path("out/other.notes.txt").read_text(encoding="utf-8")
    assert "比：原作北，從毛本改。" in notes
    assert "馬：原脫，從毛本補。" in notes


def test_a_text_that_is_kept_against_its_copy_is_kept_where_the_other_edition_of_the_copy_asks_nothing() -> None:
    assert carried("--apply", "--same-copy") == 0
    (kept,) = [decision for decision in decided() if decision.verdict is Verdict.RETAIN]
    assert (kept.transcribed, kept.copy_reads, kept.evidence["carried"]["person"]) == ("取弓矢", "弓矢取", "甲")
    assert "取弓矢" in exported()
    assert "取弓矢：毛本作弓矢取，今不從。" in Path("out/other.notes.txt").read_text(encoding="utf-8")
    Path("proof.sqlite").unlink()
    assert main(["check", "siku.txt", "other.txt"]) == 0
    assert main(["recover"]) == 0
    assert [decision.copy_reads for decision in decided() if decision.verdict is Verdict.RETAIN] == ["弓矢取"]


@pytest.mark.parametrize(("suggested", "note"), [("馬", "馬：毛本有，今不從。"), ("", "卒：毛本無，今不從。")])
def test_what_only_the_copy_has_or_lacks_is_carried_as_not_followed(suggested: str, note: str) -> None:
    with Store.open(Path("proof.sqlite")) as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(raised=True), Order.PAGE, limit=100)
        (queued,) = [flag for flag in store.queue.flags(WORK, numbers) if flag.flag.suggested == suggested]
        for verdict, version in ((Verdict.UNDO, 1), (Verdict.RETAIN, 2)):
            demand = DecisionRequest(WORK, queued.number, verdict, version, "甲", f"retain {version}", suggested)
            store.decisions.decide(demand)
    carried("--apply", "--same-copy")
    exported()
    assert note in Path("out/other.notes.txt").read_text(encoding="utf-8")


def test_what_was_carried_is_not_carried_again(capsys: Told) -> None:
    carried("--apply")
    before = decided()
    assert carried("--apply") == 1
    assert "something was decided there already" in capsys.readouterr().err
    assert decided() == before
    assert main(["export", "other.txt", "--in-place"]) == 0
    assert main(["check", "siku.txt", "other.txt"]) == 0
    capsys.readouterr()
    carried("--apply")
    assert capsys.readouterr().out.count("the other text already reads so") == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SBCK.replace("西北耦", "西此耦"), "neither the original nor"),
        (SBCK.replace("之西北耦大", ""), "no counterpart"),
        (SBCK.replace("司射東面于大夫之西北", "耦大夫賓客皆出于門外北"), "no counterpart"),
        (SBCK.replace("司射東面于大夫之西北", "公許遂適西階上命賓西北"), "around it is different"),
        (SBCK.replace("之西", "之西¶\n"), ""),
        (SBCK + f"{FIRST}{SECOND}¶\n", "equally often"),
        (SBCK.replace("西北耦", "西比耦"), "already reads so"),
    ],
)
def test_a_place_that_is_not_certain_is_told_with_its_reason(text: str, reason: str, capsys: Told) -> None:
    with_other(text)
    capsys.readouterr()
    carried()
    output = capsys.readouterr()
    line = next(line for line in (output.out + output.err).splitlines() if "北 → 比" in line)
    assert (re.search(r"\((.*)\)$", line) or ["", ""])[1].find(reason) >= 0, line
    assert bool(reason) == ("(" in line), line


def test_an_edition_in_the_other_script_gets_its_own_forms() -> None:
    simplified = "司射东面于大夫之西北耦大夫与大夫命上射曰某御于子命下射曰子与某子射卒遂命三耦取弓矢于次司射反\n"
    with_other(simplified)
    carried("--apply")
    assert exported() == simplified.replace("北耦", "比耦").replace("司射反", "司马射反").replace("射卒", "射")


def test_decisions_come_out_of_another_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of another work has a project of its own."""
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "own")
    Path("other.txt").write_text(SBCK.replace(WORK, "KR1x0002"), encoding="utf-8")
    assert main(["check", "other.txt"]) == 0
    assert main(["carry", "../siku.txt", "other.txt", "--from-project", "..", "--apply"]) == 1
    assert "西比耦" in exported()


def test_what_is_missing_before_a_note_is_put_before_it_in_the_other_edition_too() -> None:
    noted = "司射(司射主射禮者也/反位反其位)反", "司射【司射主射禮者也反位反其位】反"
    Path("siku.txt").write_text(SIKU.replace("司射反", noted[0]), encoding="utf-8")
    Path("witness.txt").write_text(WITNESS.replace("司馬射反", noted[0].replace("司射(", "司射馬(")), encoding="utf-8")
    with_other("".join(SBCK.split("\n")[2:]).replace("¶", "").replace("司射反", noted[1]) + "\n")
    assert main(["collate", "siku.txt", "毛=witness.txt", "--findings"]) == 0
    with Store.open(Path("proof.sqlite")) as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(raised=True), Order.PAGE, limit=100)
        (queued,) = [flag for flag in store.queue.flags(WORK, numbers) if flag.flag.suggested == "馬"]
        store.decisions.decide(DecisionRequest(WORK, queued.number, Verdict.TAKE, queued.version, "甲", "of the note"))
    carried("--apply")
    assert noted[1].replace("【", "馬【") in exported()
