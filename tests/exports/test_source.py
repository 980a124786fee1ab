"""Accepted corrections go into the source and nothing else does."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.errors import OutputError, UsageError
from proof.exports.corrections import Correction
from proof.exports.script import FormChoice
from proof.exports.source import CorrectedSource, correct, write_corrected
from proof.model.flags import Kind
from proof.text.addresses import Addresses
from proof.text.contexts import context_of
from proof.text.encoding import decode
from proof.text.read import parse_transcription, read_transcription
from proof.text.transcription import Format, Transcription
from tests.build import transcription

SAMPLES = {
    Format.KANRIPO: "#+TITLE: 書\n<pb:KR1_WYG_010-1a>¶\n　大夫之西北耦(案比今注/訛作北據)¶\n¶\n命上射&KR0058;曰¶\n",
    Format.MIRROR: "卷十 第 1a 页 WYG0103-0192c.png\n 东面于大夫之西北耦\n\n命上射曰(某御/于子)",
    Format.INLINE: "<!-- { } -->\n　　乃张侯下纲不及地武【侯谓所射布也　疏曰凡侯】不系左下纲\n　　右张侯\n",
    Format.PLAIN: "大夫之西北耦\n命上射曰\n",
    Format.ZHUSHU: "宾辞以俎。俎者,肴之贵者也。\n[疏]“宾辞以俎”。○注“俎者”至“者也”。○释曰:俎所盛。\n",
    Format.CRITICAL: '---\ntitle: "射"\n---\n\n### 數獲 {#5.3}\n\n'
    "東面于中西[^3]坐。<small>固東面矣。</small>\n\n[^3]: 西：原作東。\n",
}


def correction(read: Transcription, start: int, length: int, replacement: str) -> Correction:
    """The correction of a place in the file, as a decision records it."""
    addresses = Addresses(read)
    address = addresses.of(start)
    assert address is not None
    begin, end = addresses.line(address.page, address.line)
    return Correction(
        address.page,
        address.line,
        address.offset,
        length,
        replacement,
        read.text[start : start + length],
        context_of(read.text[begin:end], address.offset, length),
    )


def said_of_north(form: Format, *becomes: str, choices: Sequence[FormChoice] = ()) -> CorrectedSource:
    """The sample in that format where 北 of 北耦 is said to be each of these."""
    read = transcription(SAMPLES[form], form=form)
    decided = [correction(read, read.text.index("北耦"), 1, reading) for reading in becomes]
    return correct(read, decided, choices=choices)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_exactly_the_corrected_places_change(data: st.DataObject) -> None:
    read = transcription(SAMPLES[form := data.draw(st.sampled_from(list(Format)))], form)
    cells = [cell for stretch in read.stretches() for cell in stretch.cells()]
    chosen = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=4, unique_by=lambda cell: cell.start))
    written = {cell.start: data.draw(st.text("甲乙丙𪚥", max_size=2)) for cell in chosen}
    corrections = [correction(read, cell.start, cell.length, written[cell.start]) for cell in chosen]
    corrected = correct(read, data.draw(st.permutations(corrections)))
    expected, at = "", 0
    for cell in sorted(chosen, key=lambda cell: cell.start):
        expected += read.text[at : cell.start] + written[cell.start]
        at = cell.start + cell.length
    assert corrected.text == expected + read.text[at:]
    assert corrected.data == corrected.text.encode()


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_correction_of_a_line_that_was_changed_is_refused_or_made_where_it_was_decided(data: st.DataObject) -> None:
    read = transcription(SAMPLES[form := data.draw(st.sampled_from(list(Format)))], form)
    cells = [cell for stretch in read.stretches() for cell in stretch.cells()]
    wanted, changed = data.draw(st.lists(st.sampled_from(cells), min_size=2, max_size=2, unique_by=lambda c: c.start))
    decided = correction(read, wanted.start, wanted.length, "䨻")
    other = transcription(correct(read, [correction(read, changed.start, changed.length, "丙丁")]).text, form)
    corrected = correct(other, [decided])
    if corrected.refused:
        assert corrected.text == other.text
        return
    assert corrected.text.count("䨻") == 1
    assert corrected.text.replace("䨻", wanted.text) == other.text


def test_a_correction_of_a_changed_source_is_refused() -> None:
    read = transcription(SAMPLES[Format.KANRIPO], form=Format.KANRIPO)
    decided = correction(read, read.text.index("北耦"), 1, "比")
    for before, after in (("大夫", "卿大夫"), ("西北", "東北")):
        later = transcription(read.text.replace(before, after), form=Format.KANRIPO)
        assert refusals(correct(later, [decided])) == [
            "page KR1_WYG_010-1a, column 1, offset 5: 北 → 比: changed since it was checked; check it again"
        ]


def test_a_lost_column_is_filled_in_where_it_is_still_empty() -> None:
    read = transcription(SAMPLES[Format.MIRROR], form=Format.MIRROR)
    decided = Correction("WYG0103-0192c", 2, 0, 0, "与", "", "[]")
    assert correct(read, [decided]).text == read.text.replace("耦\n\n", "耦\n与\n")
    filled = transcription(read.text.replace("耦\n\n", "耦\n和\n"), form=Format.MIRROR)
    assert len(correct(filled, [decided]).refused) == 1


@pytest.mark.parametrize(
    ("form", "becomes", "written"),
    [
        (Format.MIRROR, "與", "西与耦"),
        (Format.MIRROR, "𫝊", "西传耦"),
        (Format.KANRIPO, "後", "西後耦"),
        (Format.KANRIPO, "传", "西傳耦"),
    ],
)
def test_a_source_gets_readings_in_its_own_script(form: Format, becomes: str, written: str) -> None:
    """A scribe's form, and a simplified character typed into a traditional source, as the word that it is."""
    corrected = said_of_north(form, becomes)
    assert written in corrected.text
    rewritten = [(was.replacement, now.replacement) for was, now in corrected.rewritten]
    assert rewritten == [(becomes, written[1])] * (becomes != written[1])


@pytest.mark.parametrize(
    ("form", "becomes", "asked"), [(Format.MIRROR, "乾", "is 乾 干 or 乾"), (Format.KANRIPO, "发", "is 发 發 or 髮")]
)
def test_what_may_be_either_of_two_characters_is_asked_about(form: Format, becomes: str, asked: str) -> None:
    corrected = said_of_north(form, becomes)
    [refused] = refusals(corrected)
    assert asked in refused
    assert corrected.text == SAMPLES[form]


@pytest.mark.parametrize(("used", "written"), [("于", "西于耦"), ("於", "西於耦"), ("于於", "西北耦")])
def test_of_several_forms_the_only_one_that_the_text_uses_is_written(used: str, written: str) -> None:
    text = SAMPLES[Format.MIRROR].replace("于", used[0]).replace("射曰", f"射{used}")
    read = transcription(text, form=Format.MIRROR)
    corrected = correct(read, [correction(read, read.text.index("北耦"), 1, "於")])
    assert written in corrected.text
    assert bool(corrected.refused) is (len(used) > 1)


def test_a_form_can_be_chosen_for_one_place_and_another_for_the_next() -> None:
    """乾 dried is 干, 乾 the trigram is 乾: what is answered for one place is not answered for all."""
    read = transcription(SAMPLES[Format.MIRROR], form=Format.MIRROR)
    places = [read.text.index("北耦"), read.text.index("射曰")]
    decided = [correction(read, place, 1, "乾") for place in places]
    told_of = "\n".join(refusals(correct(read, decided)))
    first, second = ("WYG0103-0192c:1:8", "WYG0103-0192c:3:2")
    assert f"--choose 乾@{first}=干" in told_of
    assert f"--choose 乾@{second}=干" in told_of
    one_told = correct(read, decided, choices=[FormChoice.parse(f"乾@{first}=干")])
    assert [refusal.correction for refusal in one_told.refused] == decided[1:]
    assert "西干耦" in one_told.text
    for options in (["乾@{first}=干", "乾@{second}=乾"], ["乾=干", "乾@{second}=乾"], ["乾=乾", "乾@{first}=干"],
                 ["乾@WYG0103-0192c=干", "乾@WYG0103-0192c:3=乾"]):  # fmt: skip
        choices = [FormChoice.parse(choice.format(first=first, second=second)) for choice in options]
        text = correct(read, decided, choices=choices).text
        assert "西干耦" in text
        assert "命上乾曰" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["乾@WYG0103-0192c:9:8=干"], "no correction there has 乾"),
        (["乾=坤"], "乾 is 干 or 乾"),
        (["乾=干", "乾=乾"], "contradict each other"),
        (["乾@=干"], "PAGE:COLUMN:OFFSET"),
        (["乾干"], "such as 乾=干"),
    ],
)
def test_an_answer_to_nothing_that_was_asked_is_refused(options: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        said_of_north(Format.MIRROR, "乾", choices=[FormChoice.parse(choice) for choice in options])


@given(st.dictionaries(st.integers(0, 8), st.sampled_from(["", "乙", "乙甲", "丙丁戊"]), min_size=1))
def test_corrections_that_stand_side_by_side_are_written_once(changes: dict[int, str]) -> None:
    """`changes`: what each of some characters of a line becomes."""
    read = transcription("命上射曰某御于子東\n", "text.txt", form=Format.PLAIN)
    decided = [correction(read, at, 1, becomes) for at, becomes in changes.items()]
    first = correct(read, decided)
    again = correct(transcription(first.text, "text.txt", form=Format.PLAIN), decided)
    if len(first.placed) == len(decided):  # a line of nothing would be no column
        assert (again.text, again.placed, again.refused) == (first.text, (), ())


@pytest.mark.parametrize("text", ["甲\n", "甲\r", "¶", "\x85"])
def test_a_correction_keeps_within_its_line(text: str) -> None:
    assert "stays within its line" in refusals(said_of_north(Format.KANRIPO, text))[0]


@pytest.mark.parametrize(
    ("form", "text"),
    [(Format.KANRIPO, "<pb:KR1d0030_WYG_010-9b>"), (Format.KANRIPO, "#"), (Format.KANRIPO, "* "), (Format.MIRROR, "#"),
     (Format.MIRROR, "卷十 第 9b 页 WYG0103-0199c.png")],
)  # fmt: skip
def test_a_correction_leaves_every_line_on_its_page(form: Format, text: str) -> None:
    """What is typed at the head of a line may be what marks a page, a comment or a heading of the file."""
    read = transcription(SAMPLES[form], form=form)
    first = begin = read.blocks[0].start
    while not read.text[begin].strip():
        begin += 1
    decided = correction(read, first, begin - first + 1, text)
    other = correction(read, read.text.index("北耦"), 1, "比") if form is Format.KANRIPO else None
    corrected = correct(read, [decided, *([other] if other else [])])
    [refusal] = refusals(corrected)
    assert refusal.startswith(decided.place)
    assert "no longer be a column" in refusal
    assert other is None or "西比耦" in corrected.text


def test_two_corrections_of_one_place_are_refused() -> None:
    read = transcription(SAMPLES[Format.KANRIPO], form=Format.KANRIPO)
    decided = correction(read, read.text.index("北耦"), 1, "比")
    say = correction(read, read.text.index("曰"), 1, "白")
    corrected = correct(read, [decided, replace(decided, replacement="此"), say])
    assert ["claims the same place" in refusal for refusal in refusals(corrected)] == [True, True]
    assert corrected.text == read.text.replace("曰", "白", 1)


def test_a_character_that_the_encoding_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(SAMPLES[Format.MIRROR].encode("gb2312"))
    decoded = decode(path, path.read_bytes(), "gb2312")
    read = parse_transcription(decoded, path)
    corrected = correct(read, [correction(read, read.text.index("北耦"), 1, "𪚥")])
    assert "cannot be written in gb2312" in refusals(corrected)[0]
    assert corrected.data == path.read_bytes()


LINES = "<pb:KR1d0030_WYG_010-1a>¶\n甲乙丙¶\n丁戊己¶\n"


@pytest.mark.parametrize(
    ("text", "place", "was", "becomes", "expected"),
    [
        (LINES, "丁", "", "庚辛", "<pb:KR1d0030_WYG_010-1a>¶\n甲乙丙¶\n庚辛¶\n丁戊己¶\n"),
        (LINES, "丁", "丁戊己", "", "<pb:KR1d0030_WYG_010-1a>¶\n甲乙丙¶\n"),
        (LINES, "甲", "甲乙丙", "", "<pb:KR1d0030_WYG_010-1a>¶\n丁戊己¶\n"),
        (LINES, "甲", "甲乙丙", "庚辛", "<pb:KR1d0030_WYG_010-1a>¶\n庚辛¶\n丁戊己¶\n"),
        (LINES[:-2], "", "", "庚辛", "<pb:KR1d0030_WYG_010-1a>¶\n甲乙丙¶\n丁戊己¶\n庚辛"),
        (LINES, "", "", "庚辛", "<pb:KR1d0030_WYG_010-1a>¶\n甲乙丙¶\n丁戊己¶\n庚辛¶\n"),
        (LINES.replace("\n", "\r\n"), "丁", "", "庚", LINES.replace("丁", "庚¶\n丁").replace("\n", "\r\n")),
    ],
    ids=["missing", "surplus", "first", "another", "last, no line end", "last", "CR LF"],
)
def test_a_whole_column_goes_in_or_out_with_its_line_end(
    text: str, place: str, was: str, becomes: str, expected: str
) -> None:
    read = transcription(text, form=Format.KANRIPO)
    start = text.index(place) if place else text.index("己") + 1
    page = "KR1d0030_WYG_010-1a"
    column = Correction(page, 2, 0 if place else 3, len(was), becomes, was, kind=Kind.LAYOUT, start=start)
    corrected = correct(read, [column])
    assert (corrected.text, corrected.refused) == (expected, ())


def refusals(corrected: CorrectedSource) -> list[str]:
    return [str(refusal) for refusal in corrected.refused]


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.autocrlf=false", "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def apply_and_take_back(folder: Path, name: str, content: bytes) -> None:
    """Holds the diff of corrections all over a file to what git makes of it there and back."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    git(folder, "init", "-q")
    read = read_transcription(path)
    cells = [cell for stretch in read.stretches() for cell in stretch.cells()]
    corrected = correct(read, [correction(read, cell.start, cell.length, "〇") for cell in (*cells[:-1:50], cells[-1])])
    (folder / "fix.diff").write_bytes(corrected.diff(name))
    git(folder, "apply", "--whitespace=nowarn", "fix.diff")
    assert path.read_bytes() == corrected.data != content
    git(folder, "apply", "--whitespace=nowarn", "-R", "fix.diff")
    assert path.read_bytes() == content


@pytest.mark.parametrize(("name", "ending"), [("KR1_010.txt", "\n"), ("卷 十/KR1 010.txt", "\r\n")])
@pytest.mark.parametrize("form", [Format.KANRIPO, Format.PLAIN, Format.CRITICAL])
def test_git_applies_the_diff(tmp_path: Path, form: Format, name: str, ending: str) -> None:
    apply_and_take_back(tmp_path, name, SAMPLES[form].replace("\n", ending).encode())


def test_git_applies_the_diff_of_a_whole_juan(shared: Path, tmp_path: Path) -> None:
    source = shared / "kanripo/KR1d0030/KR1d0030_010.txt"
    apply_and_take_back(tmp_path, source.name, source.read_bytes())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "texts" / "x.txt"
    path.parent.mkdir()
    path.write_bytes(SAMPLES[Format.KANRIPO].encode())
    return path


def corrected_file(path: Path) -> CorrectedSource:
    read = read_transcription(path)
    return correct(read, [correction(read, read.text.index("北耦"), 1, "比")])


def test_the_file_is_replaced_whole_and_only_if_it_is_still_what_was_read(file: Path) -> None:
    corrected = corrected_file(file)
    write_corrected(corrected, file)
    assert file.read_bytes() == corrected.data
    with pytest.raises(OutputError, match="was changed while"):
        write_corrected(corrected, file)
    assert [child.name for child in file.parent.iterdir()] == ["x.txt"]


def test_a_file_keeps_its_rights_and_a_link_to_it_stays_one(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "x.txt"
    file.chmod(0o640)
    link.symlink_to(file)
    write_corrected(corrected_file(link), link)
    assert link.is_symlink()
    assert "比耦" in file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [child.name for child in file.parent.iterdir()] == ["x.txt"]


def test_a_file_that_may_only_be_read_is_not_replaced(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder may be written to, so that it could be. Who tests may do anything with any file."""
    corrected = corrected_file(file)
    monkeypatch.setattr("proof.atomic.os.access", lambda at, _: Path(at) != file)
    with pytest.raises(OutputError, match="cannot be written"):
        write_corrected(corrected, file)
    assert file.read_bytes() == SAMPLES[Format.KANRIPO].encode()
    assert [child.name for child in file.parent.iterdir()] == ["x.txt"]
