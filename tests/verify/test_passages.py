"""Runs of characters that a text lacks or has too many: one question each, and written whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proof.exports.corrections import place
from proof.facsimile.files import half_folios, write_image
from proof.images.find import FoundBy, PageImage
from proof.images.load import load_image
from proof.model.flags import Evidence, Flag, Kind, questions
from proof.ocr.ppocr import PPOCR
from proof.ocr.readings import HalfFolioReadings
from proof.text.contexts import context_of
from proof.text.edit import Edit, edited
from proof.text.model import Script
from proof.text.read import read_transcription
from proof.text.variants import policy_of
from proof.verify.line_assignment import LineFault
from proof.verify.page import Checker
from proof.verify.passages import joined_in_lines, linked
from tests.accepted import accepted
from tests.verify.columns import FlagSummary, flags, glyph, raised_summaries, shown_as, sure
from tests.verify.pages import checker, line

traditional, simplified = policy_of(Script.TRADITIONAL), policy_of(Script.SIMPLIFIED)
RUN = "揖進坐奠觚拜興降西階上"


@pytest.mark.parametrize("size", [1, 11])
@pytest.mark.parametrize(("before", "after"), [("", "北面再拜"), ("主人北面", "稽首"), ("主人北面稽首", "")])
def test_what_is_left_out_or_too_much_is_one_flag(before: str, after: str, size: int) -> None:
    """However many are too much, they stand between the same two glyphs."""
    (flag,) = flags(before + after, sure(before + RUN[:size] + after))
    assert raised_summaries([flag]) == [(Kind.OMISSION, len(before), 0, "", RUN[:size])]
    assert flag.bbox is not None
    assert (flag.bbox.y, flag.bbox.h) == (50 * len(before), 50 * size)
    (flag,) = flags(before + RUN[:size] + after, sure(before + after))
    assert raised_summaries([flag]) == [(Kind.INSERTION, len(before), size, RUN[:size], "")]
    assert flag.bbox is not None
    assert abs(flag.bbox.centre[1] - 50 * len(before)) <= 25


@pytest.mark.parametrize(
    ("source", "shown", "expected"),
    [
        # blanks that were left for a run are replaced by it
        ("面上射　　　進坐", "面上射揖降拜進坐", [(Kind.OMISSION, 3, 3, "　　　", "揖降拜")]),
        # punctuation between surplus characters goes with them
        ("主人揖，進坐北面", "主人北面", [(Kind.INSERTION, 2, 4, "揖，進坐", "")]),
        # a question mark in punctuated text is no placeholder, unless something else stands there
        ("何也？曰", "何也子曰", [(Kind.SUBSTITUTION, 2, 1, "？", "子")]),
        ("何也？曰：", "何也子曰", [(Kind.OMISSION, 2, 0, "", "子")]),
        # a sign that is printed is no placeholder
        ("主人○進坐", "主人〇進坐", []),
        ("主人□進坐", "主人口進坐", []),
        ("主人□□進坐", "主人口揖進坐", [(Kind.SUBSTITUTION, 2, 2, "□□", "口揖")]),
        # a placeholder for which the image shows nothing stays
        ("主人□進坐", "主人進坐", []),
    ],
)
def test_blanks_punctuation_and_signs_in_a_line_keep_to_their_run(
    source: str, shown: str, expected: list[FlagSummary]
) -> None:
    assert raised_summaries(flags(source, sure(shown))) == expected


@pytest.mark.parametrize(
    ("written", "shown", "expected"),
    [
        ("主□□坐", "主人揖坐", (1, 2, "□□", "人揖")),
        ("主□，□坐", "主人揖坐", (1, 3, "□，□", "人，揖")),
        ("尼(注□/□也)者", "尼(注曰/某也)者", (3, 1, "□", "曰")),
    ],
)
def test_several_placeholders_are_replaced_by_what_is_shown_for_them(
    written: str, shown: str, expected: tuple[int, int, str, str]
) -> None:
    found = flags(written, shown_as(shown))
    assert raised_summaries(found)[0] == (Kind.SUBSTITUTION, *expected)
    marks = str.maketrans("", "", "，")
    assert edited(written, [edit_of(flag) for flag in found if flag.raised]).translate(marks) == shown


@pytest.mark.parametrize("mark", "(/)<&[¶（？。")
def test_no_suggestion_has_what_the_format_means_otherwise(mark: str) -> None:
    """A stroke is read as a slash; put into the text it would part a note."""
    shown = sure("主人揖進坐北面")
    shown[3] = glyph(3, **{mark: 0.7, "進": 0.2})
    for flag in flags("主人北面", shown):
        assert flag.suggested in ("揖坐", "揖□坐", "")
        assert mark not in {text for text, _ in flag.evidence.alternatives}
    (alone,) = flags("主人北面", [*sure("主人"), glyph(2, 0.999, **{mark: 0.999}), *sure("　　　北面")[3:]])
    assert (alone.suggested, alone.evidence.alternatives) == ("", ())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("尼(注/也)者", "尼(注曰某/多也)者"),
        ("者", "尼(注曰某/多也)者"),
        ("尼(注曰某丙/多丁也)者", "尼(注/也)者"),
    ],
)
def test_a_run_over_the_end_of_a_half_row_is_one_question_whose_parts_stand_in_their_rows(
    written: str, shown: str
) -> None:
    found = flags(written, shown_as(shown))
    named = linked((replace(flag, id=str(number)) for number, flag in enumerate(found)), [line(written)], traditional)
    assert len([flag for flag in questions(named) if flag.raised]) == 1
    both = edited(written, [edit_of(flag) for flag in named if flag.raised])
    marks = str.maketrans("", "", "()/")
    assert both.translate(marks) == shown.translate(marks)
    if "(" in written:
        assert both == shown


PLAIN = [line("主人北面進坐奠爵興再拜稽首", number) for number in range(1, 9)]
"""Lines without markup."""


def edit_of(flag: Flag) -> Edit:
    return Edit(flag.offset, flag.length, flag.suggested)


def flag_at(line: int, source: str, offset: int, kind: Kind, text: str, name: str) -> Flag:
    """A raised flag about characters that are missing or too many there."""
    written, suggested = (text, "") if kind is Kind.INSERTION else ("", text)
    context = context_of(source, offset, len(written))
    evidence = Evidence("not transcribed")
    return Flag("p", "r", line, offset, len(written), kind, written, suggested, 5, True, None, evidence, context, name)


@pytest.mark.parametrize("kind", [Kind.OMISSION, Kind.INSERTION])
@pytest.mark.parametrize("blank_lines", [0, 1])
def test_a_run_over_the_end_of_a_column_is_one_question(kind: Kind, blank_lines: int) -> None:
    first, second = "主人北面揖", "　進坐奠爵"
    at = (5, 1) if kind is Kind.OMISSION else (4, 1)
    next_line = 3 + blank_lines
    moved_here = flag_at(2, first, at[0], kind, "揖", "one")
    moved_away = flag_at(next_line, second, at[1], kind, "進坐", "other")
    apart = flag_at(next_line, second, 4, kind, "爵", "apart")
    later = replace(moved_away, line=9, id="later")
    lines = [line(first, 2), line(second, next_line), line(second, 7), line(second, 9)]
    named = {flag.id: flag.moved for flag in linked([moved_here, moved_away, apart, later], lines, traditional)}
    assert named == {"one": "other", "other": "one", "apart": "", "later": ""}


def test_a_character_that_moved_within_its_column_or_to_the_next_names_its_other_half() -> None:
    def half(uid: str, kind: Kind, number: int, offset: int, character: str = "射") -> Flag:
        return replace(flag_at(number, "", offset, kind, character, uid), context="")

    out, far = half("out", Kind.INSERTION, 2, 9), half("far", Kind.OMISSION, 5, 0)
    near, following = half("near", Kind.OMISSION, 2, 3), half("next", Kind.OMISSION, 3, 9)
    other = half("other", Kind.OMISSION, 2, 8, "身")

    def moved(*found: Flag) -> dict[str, str]:
        return {flag.id: flag.moved for flag in linked(found, PLAIN, traditional) if flag.moved}

    assert moved(out, near, following, far, other) == {"out": "near", "near": "out"}
    assert moved(out, following, other) == {"out": "next", "next": "out"}
    assert moved(out, far, other) == {}
    paragraphs = [line("主人北面", number) for number in range(2, 9, 3)]
    apart, after = replace(far, line=8), replace(following, line=5)
    assert [flag.moved for flag in linked([out, after, apart], paragraphs, traditional)] == ["next", "out", ""]
    named = linked([out, near], PLAIN, traditional)
    assert linked(named, PLAIN, traditional) == named
    assert named[0].as_dict()["moved"] == "near"


@pytest.mark.parametrize(("shown", "is_moved"), [(RUN, True), (f"{RUN[:5]}東{RUN[5:]}", False)])
def test_a_passage_that_moved_on_its_page_names_its_other_half(shown: str, is_moved: bool) -> None:
    """One in which the image shows a further character is asked about as it is shown: it may be an error."""
    surplus = flag_at(2, "", 9, Kind.INSERTION, RUN, "surplus")
    missing = flag_at(7, "", 0, Kind.OMISSION, shown, "missing")
    here, there = linked([surplus, missing], PLAIN, traditional)
    assert (here.moved, there.moved) == (("missing", "surplus") if is_moved else ("", ""))
    assert there.suggested == shown


@pytest.mark.parametrize(
    ("read", "is_moved"), [("公卿失夫辩开也", True), ("公卿失夫辨闲之", False), ("公卿大夫辩", False)]
)
@pytest.mark.parametrize("is_column", [True, False])
def test_a_passage_that_moved_is_known_by_most_of_its_characters(read: str, is_moved: bool, is_column: bool) -> None:
    """The recogniser misreads a few; they are suggested as the text has them."""
    written = "公卿大夫辩闻也"
    surplus = flag_at(2, "", 9, Kind.INSERTION, written, "surplus")
    missing = flag_at(3, "", 0, Kind.OMISSION, f"　{read}", "missing")
    if is_column:
        missing = replace(missing, kind=Kind.LAYOUT, evidence=Evidence(LineFault.MISSING.value))
    here, there = linked([surplus, missing], PLAIN, simplified)
    assert (here.moved, there.moved) == (("missing", "surplus") if is_moved else ("", ""))
    assert there.suggested == f"　{written if is_moved else read}"


def test_text_that_moved_is_suggested_as_it_is_written() -> None:
    surplus = flag_at(2, "", 9, Kind.INSERTION, "馀", "surplus")
    missing = flag_at(2, "", 3, Kind.OMISSION, "餘", "missing")
    _, there = linked([surplus, missing], PLAIN, simplified)
    assert (there.moved, there.suggested) == ("surplus", "馀")


def test_in_a_file_without_columns_a_run_over_the_end_of_one_is_one_flag() -> None:
    """The first and the last of these stand in one line of the file, and have one place there."""
    source = "主人北面，進坐奠爵"
    own = line(source, 7)
    missing = [flag_at(7, source, at, Kind.OMISSION, text, "") for at, text in ((4, "揖三"), (5, "讓而"))]
    (joined,) = joined_in_lines(missing, [own])
    assert raised_summaries([joined]) == [(Kind.OMISSION, 4, 0, "", "揖三讓而")]
    surplus = [flag_at(7, source, at, Kind.INSERTION, text, "") for at, text in ((2, "北面"), (5, "進"))]
    (joined,) = joined_in_lines(surplus, [own])
    assert raised_summaries([joined]) == [(Kind.INSERTION, 2, 4, "北面，進", "")]
    apart = [flag_at(7, source, at, Kind.OMISSION, text, "") for at, text in ((3, "揖"), (5, "讓"))]
    assert joined_in_lines(apart, [own]) == apart


# Drawn pages, and what is written.

HEADER = "# -*- mode: mandoku-view; -*-\n#+TITLE: 儀禮\n<pb:TEST_WYG_001-1a>¶\n"
LINES = (
    "大射儀",
    "司射適西階西倚扑升自西階東面請射于公",
    "　鄭注倚扑者將即君前不敢佩刑器也升堂者欲諸",
    "　公卿大夫辯聞也(案注疏本此下有大夫/卿字今據宋本删去也)釋曰公許",
    "公許遂適西階上命賓御于公諸公卿則以耦告于上",
    "　(大夫則降即位而後告/公卿大夫請于上)",
    "　鄭注告諸公卿于堂上尊之也大夫降而後告",
    "司射自西階上北面告于大夫曰請降",
)


def text_of(lines: tuple[str, ...]) -> str:
    return HEADER + "".join(f"{line}¶\n" for line in lines)


@dataclass(frozen=True)
class Leaf:
    """A drawn half-folio of `LINES`, and what it takes to check texts against it."""

    checker: Checker
    found: PageImage
    readings: HalfFolioReadings
    folder: Path

    def written(self, lines: tuple[str, ...]) -> tuple[int, str]:
        """How many questions are asked of a text, and the text with what is suggested taken and written."""
        path = self.folder / "text.txt"
        path.write_text(text_of(lines), encoding="utf-8")
        (page,) = read_transcription(path).pages
        raised = [flag for flag in self.checker.judge(page, "", self.found, self.readings, ()).flags if flag.raised]
        edition = read_transcription(path)
        placed = place(edition, [accepted(flag) for flag in raised]).placed
        return len(questions(raised)), edited(edition.text, [difference.edit for difference in placed])


@pytest.fixture(scope="module")
def leaf(ppocr: PPOCR, kai: str, tmp_path_factory: pytest.TempPathFactory) -> Leaf:
    folder = tmp_path_factory.mktemp("passages")
    (folder / "true.txt").write_text(text_of(LINES), encoding="utf-8")
    ((name, drawn),) = half_folios(read_transcription(folder / "true.txt"), seed=4)
    image = folder / f"{name}.png"
    write_image(image, drawn.image)
    own, found = checker(ppocr), PageImage(image, "", FoundBy.REFERENCE)
    return Leaf(own, found, own.readings(found, lambda: load_image(image)), folder)


def replaced(number: int, was: str, written: str) -> tuple[str, ...]:
    """The lines with something else in that one, from 1."""
    own = LINES[number - 1]
    assert was in own
    return (*LINES[: number - 1], own.replace(was, written, 1), *LINES[number:])


def test_a_drawn_page_without_faults_is_asked_nothing_of(leaf: Leaf) -> None:
    assert leaf.written(LINES) == (0, text_of(LINES))


def test_notes_that_the_text_does_not_mark_are_read_as_its_text(leaf: Leaf) -> None:
    plain = tuple(line.translate(str.maketrans("", "", "(/)")) for line in LINES)
    assert leaf.written(plain) == (0, text_of(plain))


@pytest.mark.parametrize(
    "spoiled",
    [
        replaced(2, "階西倚扑升自西階東面請", ""),
        replaced(3, "鄭注倚扑者將即君前不敢佩", ""),
        replaced(4, "大夫", ""),
        replaced(2, "司射", "司射命大夫則降即位而"),
        replaced(3, "　", "　司射適西階"),
        replaced(4, "注疏本", "注疏本此下有"),
        replaced(5, "公卿則以", "〓"),
        replaced(4, "大夫/卿字", "大夫衍/文卿字"),
        replaced(4, "(案注疏本此下有大夫/卿字今據宋本删去也)", ""),
        replaced(6, "(大夫則降即位而後告/公卿大夫請于上)", ""),
        (LINES[0], "司射適西階西倚扑升自西階東面", "　倚扑者將即君前不敢佩刑器也升堂者欲諸", *LINES[3:]),
        (LINES[0], f"{LINES[1]}諸卿", f"　則以耦{LINES[2][1:]}", *LINES[3:]),
    ],
)
def test_a_run_on_a_drawn_page_is_one_question_and_is_written_whole(leaf: Leaf, spoiled: tuple[str, ...]) -> None:
    assert leaf.written(spoiled) == (1, text_of(LINES))
