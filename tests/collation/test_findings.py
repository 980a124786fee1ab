"""Differences of editions are findings of a project: decided as flags are, written as decided, asked once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import select

from proof.cli import main
from proof.model.flags import Origin
from proof.store import Store
from proof.store.decision_records import DecisionRequest, RefusedDecisionError, Verdict
from proof.store.models import ColumnRow, FlagRow, PageRow
from proof.store.queue_records import Order, QueuedFlag, QueueFilter
from proof.web.serializers import CONTEXT_CHARACTERS, details

WORK = "KR1x0001"
TEXT = (
    f"#+PROPERTY: ID {WORK}\n<pb:{WORK}_WYG_010-1a>¶\n司射東面于大夫之西北耦大夫與大夫命上射曰某御于¶\n"
    "子命下射曰子與某子射卒遂命三耦取弓矢于次司射反¶\n"
)
WITNESS = TEXT.replace("北耦", "比耦").replace("取弓矢", "弓矢取").replace("司射反", "司馬射反")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text that was checked without images, and a witness of it."""
    monkeypatch.chdir(tmp_path)
    Path("010.txt").write_text(TEXT, encoding="utf-8")
    Path("other.txt").write_text(WITNESS, encoding="utf-8")
    assert main(["check", "010.txt"]) == 0
    return tmp_path


def asked() -> list[QueuedFlag]:
    """The differences that proofreaders are asked about."""
    with Store.open(Path("proof.sqlite")) as store:
        numbers, _ = store.queue.find(WORK, QueueFilter(raised=True), Order.PAGE, limit=100)
        return [flag for flag in store.queue.flags(WORK, numbers) if flag.flag.evidence.reason == "collation"]


def collated(*witnesses: str) -> list[tuple[str, str, str]]:
    """What is asked once the text was collated."""
    assert main(["collate", "010.txt", *(witnesses or ("四庫=other.txt",)), "--findings"]) == 0
    return [(queued.flag.transcribed, queued.flag.suggested, queued.state.value) for queued in asked()]


def decide(suggested: str, verdict: Verdict, reading: str = "", authority: str = "") -> None:
    flag = next(queued for queued in asked() if queued.flag.suggested == suggested)
    demand = DecisionRequest(WORK, flag.number, verdict, flag.version, "甲", f"of {suggested} 12345678", reading)
    demand = replace(demand, authority=authority)
    with Store.open(Path("proof.sqlite")) as store:
        store.decisions.decide(demand)


def test_differences_are_decided_written_and_noted_with_what_witnesses_read() -> None:
    assert collated() == [("北", "比", "open"), ("取弓矢", "弓矢取", "open"), ("", "馬", "open")]
    decide("比", Verdict.TAKE)
    decide("弓矢取", Verdict.RETAIN, "弓矢取")
    decide("馬", Verdict.UNSURE)
    assert main(["export", "010.txt", "--in-place"]) == 0
    assert Path("010.txt").read_text(encoding="utf-8") == TEXT.replace("北耦", "比耦")
    notes = Path("out/010.notes.txt").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition("　")[2] for line in notes if line.startswith("〔")] == [
        "比：原作北，四庫本作比，從四庫本改。",
        "取弓矢：四庫本作弓矢取，今不從。",
        "馬：四庫本有，疑脫。",
    ]
    assert notes[0] == "四庫本：文淵閣四庫全書本"


def test_a_simplified_text_is_asked_in_the_forms_that_it_uses_and_the_witness_is_named() -> None:
    traditional = "司射東面于大夫之西比耦大夫與大夫命上射曰某御于國門之餘子雲從之"
    simplified = "司射东面于大夫之西比耦大夫与大夫命上射曰某御于国门之余子云从之"
    page = f"#+PROPERTY: ID {WORK}\n<pb:{WORK}_WYG_010-1a>¶\n"
    Path("010.txt").write_text(f"{page}{simplified.replace('国门', '国间').replace('从', '')}余¶\n", encoding="utf-8")
    Path("other.txt").write_text(f"{page}{traditional}餘¶\n", encoding="utf-8")
    assert main(["check", "010.txt"]) == 0
    assert collated() == [("间", "门", "open"), ("", "从", "open")]
    decide("门", Verdict.TAKE)
    decide("从", Verdict.TAKE)
    assert main(["export", "010.txt", "--in-place"]) == 0
    assert Path("010.txt").read_text(encoding="utf-8") == f"{page}{simplified}余¶\n"
    notes = Path("out/010.notes.txt").read_text(encoding="utf-8")
    assert "门：原作间，四库本作門，从四库本改。" in notes.replace("四庫", "四库")


def test_a_character_that_moved_over_the_end_of_a_column_is_one_question_and_one_note() -> None:
    moved = TEXT.replace("曰某御于¶\n子命下射", "曰某于¶\n子命御下射")
    Path("other.txt").write_text(moved, encoding="utf-8")
    assert collated() == collated() == [("御", "", "open")]
    with Store.open(Path("proof.sqlite")) as store:
        (detail,) = details(store, WORK, asked())
    assert detail.other is not None
    assert "御 is at another place in 四庫: the text has it in column 1, there in column 2." in detail.why
    decide("", Verdict.TAKE)
    assert main(["export", "010.txt", "--in-place"]) == 0
    assert Path("010.txt").read_text(encoding="utf-8") == moved
    notes = Path("out/010.notes.txt").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition("　")[2] for line in notes if line.startswith("〔")] == [
        "御：原在第一行某下，從四庫本乙正。"
    ]


def test_a_half_that_a_check_found_too_stays_a_question_of_its_own() -> None:
    Path("other.txt").write_text(TEXT.replace("曰某御于¶\n子命下射", "曰某于¶\n子命御下射"), encoding="utf-8")
    collated()
    with Store.open(Path("proof.sqlite")) as store, store._writing() as session:
        there = session.scalars(select(FlagRow).where(FlagRow.kind == "omission")).one()
        there.origin, there.evidence = Origin.FINDING.value, {"reason": "collation"}
    assert collated() == [("御", "", "open"), ("", "御", "open")]
    assert [queued.flag.moved for queued in asked()] == ["", ""]


def test_the_full_names_of_witnesses_stand_over_the_notes() -> None:
    collated("明:明通津草堂本=other.txt")
    decide("比", Verdict.TAKE)
    forms = [word for form in ("notes", "html", "docx", "tei-notes", "tei") for word in ("--form", form)]
    assert main(["export", "010.txt", *forms, "--witness", "明=other.txt"]) == 0
    assert Path("out/010.notes.txt").read_text(encoding="utf-8").startswith("明本：明通津草堂本\n")
    assert "<dt>明本</dt><dd>明通津草堂本</dd>" in Path("out/010.html").read_text(encoding="utf-8")
    assert "</abbr>明通津草堂本" in Path("out/010.notes.xml").read_text(encoding="utf-8")
    assert ">明通津草堂本</witness>" in Path("out/010.tei.xml").read_text(encoding="utf-8")
    with ZipFile("out/010.docx") as archive:
        assert "明通津草堂本" in archive.read("word/document.xml").decode()


def test_that_the_copy_reads_so_without_an_image_rests_on_what_a_person_names_and_on_no_witness() -> None:
    collated()
    with pytest.raises(RefusedDecisionError, match="no image shows that the copy reads so"):
        decide("比", Verdict.COPY)
    decide("比", Verdict.COPY, authority="原書")
    assert main(["export", "010.txt", "--form", "notes", "--form", "csv", "--form", "tei-notes"]) == 0
    assert "北：據原書，原文如此。" in Path("out/010.notes.txt").read_text(encoding="utf-8")
    notes = Path("out/010.notes.xml").read_text(encoding="utf-8")
    assert '<abbr type="siglum">原書</abbr>' in notes
    assert '<lem wit="#base #w1">北</lem>' in notes
    assert "影像" not in notes
    assert "四庫" not in Path("out/010.decided.csv").read_text(encoding="utf-8-sig")


def test_a_reading_that_no_witness_has_is_not_laid_to_an_image_that_is_not_there() -> None:
    collated()
    decide("比", Verdict.RETAIN, "耐")
    assert main(["export", "010.txt", "--form", "notes", "--form", "tei-notes"]) == 0
    assert "北：四庫本作比，一作耐，今不從。" in Path("out/010.notes.txt").read_text(encoding="utf-8")
    assert "<rdg>耐</rdg>" in Path("out/010.notes.xml").read_text(encoding="utf-8")


def test_what_was_decided_is_not_asked_again_whatever_is_checked_collated_or_written() -> None:
    collated()
    decide("比", Verdict.TAKE)
    decide("弓矢取", Verdict.KEEP)
    for _ in range(2):
        assert main(["export", "010.txt", "--in-place"]) == 0
        assert main(["check", "010.txt"]) == 0
        assert collated() == [("取弓矢", "弓矢取", "kept"), ("", "馬", "open")]
    assert Path("010.txt").read_text(encoding="utf-8") == TEXT.replace("北耦", "比耦")


@pytest.fixture
def folder() -> Path:
    """A folder of two juan that was checked as a project of its own; the second goes on on the page of the first."""
    folder = Path("book")
    folder.mkdir()
    (folder / "config.toml").write_text('[project]\ntexts = ["*.txt"]\n', encoding="utf-8")
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    (folder / "b.txt").write_text(SECOND, encoding="utf-8")
    assert main(["check", "--config", "book"]) == 0
    return folder


SECOND = (
    f"#+PROPERTY: ID {WORK}\n#+PROPERTY: LASTPB <pb:{WORK}_WYG_010-1a>\n如是我聞一時佛在舍衞國祇樹給孤獨園與大比丘衆¶\n"
    "千二百五十人俱爾時世尊食時著衣持鉢入舍衞大城乞食¶\n"
)


def test_each_text_of_a_folder_is_found_in_its_project_and_weighed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("witness").mkdir()
    Path("witness/a.txt").write_text(WITNESS, encoding="utf-8")
    Path("witness/b.txt").write_text(SECOND.replace("給孤", "經孤"), encoding="utf-8")
    assert main(["collate", "book", "嚴=witness", "--findings"]) == 0
    assert "differences that are findings now: 4" in capsys.readouterr().out
    (folder / "c.txt").write_text(SECOND, encoding="utf-8")
    for option in ("--findings", "--weigh"):
        assert main(["collate", "book", "嚴=witness", option]) == 2
        output = capsys.readouterr()
        assert "c.txt was not checked in this project" in output.err
        assert output.out == "", "nothing was collated"


def test_a_difference_that_no_witness_has_any_more_is_asked_no_more() -> None:
    collated()
    Path("other.txt").write_text(WITNESS.replace("比耦", "北耦"), encoding="utf-8")
    assert collated() == [("取弓矢", "弓矢取", "open"), ("", "馬", "open")]


def test_a_text_that_was_changed_since_is_checked_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("010.txt").write_text(TEXT.replace("東面", "東南面"), encoding="utf-8")
    assert main(["collate", "010.txt", "other.txt", "--findings"]) != 0
    assert "run proof check on it first" in capsys.readouterr().err


def test_differences_are_asked_in_every_column_of_a_page_of_which_a_check_kept_some() -> None:
    """Of a page without an image the columns are kept in which the check found something."""
    second = TEXT.splitlines()[3].rstrip("¶")
    with Store.open(Path("proof.sqlite")) as store, store._writing() as session:
        page = session.scalars(select(PageRow)).one()
        box = dict.fromkeys("xywh", 0.0)
        session.add(ColumnRow(page_id=page.id, ordinal=0, number=2, source=second, **box))
    assert collated() == [("北", "比", "open"), ("取弓矢", "弓矢取", "open"), ("", "馬", "open")]


def test_a_decided_insertion_on_a_page_without_image_or_columns_is_shown_at_the_desk_with_its_text() -> None:
    collated()
    for suggested in ("馬", "比"):
        decide(suggested, Verdict.TAKE)
    with Store.open(Path("proof.sqlite")) as store:
        by_suggestion = {detail.suggested: detail for detail in details(store, WORK, asked())}
    assert (by_suggestion["馬"].before, by_suggestion["馬"].after) == (
        "射卒遂命三耦取弓矢于次司"[-CONTEXT_CHARACTERS:],
        "射反",
    )
    assert by_suggestion["比"].after.startswith("耦大夫")
    assert main(["export", "010.txt", "--in-place"]) == 0
    with Store.open(Path("proof.sqlite")) as store:
        by_suggestion = {detail.suggested: detail for detail in details(store, WORK, asked())}
    assert by_suggestion["馬"].after == "射反"
    assert by_suggestion["比"].after.startswith("耦大夫")


def readings() -> dict[str, list[tuple[str, str, str]]]:
    """What each place has in the text, and what the witnesses read there, with their sides."""
    return {
        queued.flag.transcribed: [(each.siglum, each.reading, each.side) for each in queued.flag.evidence.witnesses]
        for queued in asked()
    }


def test_differences_of_several_witnesses_that_overlap_are_one_question_with_what_each_reads() -> None:
    Path("one.txt").write_text(TEXT.replace("某御于", "某俎于"), encoding="utf-8")
    Path("two.txt").write_text(TEXT.replace("曰某御于", "曰諸庶于"), encoding="utf-8")
    Path("three.txt").write_text(TEXT, encoding="utf-8")
    collated("甲=one.txt", "乙=two.txt", "丙=three.txt")
    assert readings() == {"某御": [("甲", "某俎", "image"), ("乙", "諸庶", ""), ("丙", "某御", "text")]}


def test_a_witness_that_lacks_a_sentence_is_not_said_to_agree_within_it() -> None:
    """It lacks the first character as well, at whose start the text that it has ends."""
    Path("one.txt").write_text(TEXT.replace("與大夫命上射曰某御于¶", "¶"), encoding="utf-8")
    Path("two.txt").write_text(TEXT.replace("與大夫命", "興大夫命"), encoding="utf-8")
    collated("甲=one.txt", "乙=two.txt")
    assert readings() == {
        "與大夫命上射曰某御于": [("甲", "", "image"), ("乙", "興大夫命上射曰某御于", "")],
        "與": [("乙", "興", "image")],
    }


def test_a_lacuna_of_a_witness_says_nothing_of_its_reading_and_asks_nothing() -> None:
    Path("one.txt").write_text(TEXT.replace("取弓矢", "■弓□"), encoding="utf-8")
    Path("two.txt").write_text(TEXT.replace("取弓矢", "執弓失"), encoding="utf-8")
    assert collated("甲=one.txt") == []
    collated("甲=one.txt", "乙=two.txt")
    assert readings() == {
        "取": [("甲", "■", ""), ("乙", "執", "image")],
        "矢": [("甲", "□", ""), ("乙", "失", "image")],
    }
    decide("執", Verdict.TAKE)
    assert main(["export", "010.txt", "--form", "notes"]) == 0
    assert "執：原作取，甲本闕，乙本作執，從乙本改。" in Path("out/010.notes.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("signs", ["□□", "■■", "〓〓", "□"])
def test_a_lacuna_of_the_text_is_filled_from_a_witness(signs: str) -> None:
    Path("010.txt").write_text(TEXT.replace("大夫之西", f"大{signs}西"), encoding="utf-8")
    assert main(["check", "010.txt"]) == 0
    Path("other.txt").write_text(TEXT, encoding="utf-8")
    assert collated() == [(signs, "夫之", "open")]
    decide("夫之", Verdict.TAKE)
    assert main(["export", "010.txt", "--in-place"]) == 0
    assert Path("010.txt").read_text(encoding="utf-8") == TEXT
    fault = f"原作{signs}" if "〓" in signs else "原闕"
    verb = "改" if "〓" in signs else "補"
    note = f"夫之：{fault}，四庫本作夫之，從四庫本{verb}。"
    assert note in Path("out/010.notes.txt").read_text(encoding="utf-8")
