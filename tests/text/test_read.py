"""Reading a file whole: it agrees with the benchmark's count, keeps every byte, and bad input is told clearly."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import strategies as st

from proof.errors import TextError
from proof.text.read import read_transcription
from proof.text.transcription import Transcription
from tests.build import transcription
from tests.remarks import remark_codes
from tests.timing import seconds_of

ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
LINES = (
    "<pb:K_WYG_001-1a>¶|<pb:K_WYG_001-1b>¶|<pb:K_WYG_001-1a>|<pb:>|卷十 第 1a 页 WYG0103-0192c.png|"
    "卷十 第 1b 页 WYG0103-0192d.png|卷 十 第 1b 页 WYG0103-0192d.png|#+PROPERTY: JUAN 卷一|#||¶|¶¶|卷十|"
    "　大射儀(甲/乙)¶|大射(甲/乙"
)
"""What the benchmark's reader, a simple one, reads as the format has it."""
BODIES = st.one_of(st.sampled_from(LINES.split("|")), st.text("大射(/) #<>&", max_size=8))
TEXTS = st.lists(st.tuples(BODIES, ENDINGS), max_size=30).map(lambda parts: "".join(a + b for a, b in parts))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a test may write a file."""
    return tmp_path / "juan.txt"


def columns(text: Transcription) -> dict[str, list[str]]:
    assert len({page.id for page in text.pages}) == len(text.pages)
    return {page.id: [column.source for column in page.columns] for page in text.pages}


def check_places(text: Transcription) -> None:
    """Every column and every cell stands where it says."""
    for page in text.pages:
        assert [column.number for column in page.columns] == list(range(1, len(page.columns) + 1))
        for column in page.columns:
            assert text.text[column.start : column.start + len(column.source)] == column.source
            for cell in column.cells:
                assert column.source[cell.offset : cell.offset + cell.length] == cell.text


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_unresolved_merge_conflict_is_no_text(file: Path, newline: str) -> None:
    merged = "<pb:K_WYG_001-1a>¶\n<<<<<<< HEAD\n公入¶\n=======\n公人¶\n>>>>>>> upstream\n射¶\n"
    file.write_text(merged, encoding="utf-8", newline=newline)
    with pytest.raises(TextError, match=r"juan\.txt:2: a merge in git ended in a conflict here"):
        read_transcription(file)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_marks_and_line_endings_change_no_column_and_no_byte(file: Path, mark: bytes, newline: str, end: str) -> None:
    data = mark + ("<pb:K_WYG_001-1a>¶\n大射儀¶\n\n公入¶" + end).replace("\n", newline).encode()
    file.write_bytes(data)
    text = read_transcription(file)
    assert columns(text) == {"K_WYG_001-1a": ["大射儀", "公入"]}
    assert [column.file_line for column in text.pages[0].columns] == [2, 4]
    assert text.remarks == ()
    assert text.data() == data
    check_places(text)


def test_lines_of_the_file_are_counted_as_editors_count_them(file: Path) -> None:
    """Line endings may be mixed; a form feed or a line separator ends a column, as the benchmark has it, but no line
    of the file."""
    data = "<pb:K_WYG_001-1a>¶\r\n甲¶\n乙¶\r丙\x0c丁\u2028戊\n己".encode()
    file.write_bytes(data)
    text = read_transcription(file)
    assert [(c.source, c.file_line) for c in text.pages[0].columns] == [
        *(("甲", 2), ("乙", 3), ("丙", 4), ("丁", 4), ("戊", 4), ("己", 5))
    ]
    assert text.data() == data


def test_a_folder_a_missing_file_and_an_unreadable_one_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TextError, match=r"is a folder: name one transcription file"):
        read_transcription(tmp_path)
    with pytest.raises(TextError, match=r"none\.txt: cannot be read \(No such file"):
        read_transcription(tmp_path / "none.txt")
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    with pytest.raises(TextError, match=r"loop\.txt: cannot be read \(.+\): check its name and permissions"):
        read_transcription(loop)


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "is empty"), (b"\n\n", "a page begins with"), (b"call Li on Monday", "not Chinese text")],
)
def test_a_file_that_is_no_text_is_refused_with_what_it_needs(file: Path, data: bytes, message: str) -> None:
    file.write_bytes(data)
    with pytest.raises(TextError, match=message) as caught:
        read_transcription(file)
    assert str(file) in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "short"),
    [
        ("大夫之西比耦(案比今/本訛作)命¶\n", 1000),
        *((sign, 3000 // len(sign)) for sign in ("大", "(甲/", "&", "<", "⿰", "[金*")),
    ],
)
def test_ten_times_as_many_columns_or_characters_of_a_column_take_ten_times_as_long(unit: str, short: int) -> None:
    def read(times: int) -> Transcription:
        return transcription(f"<pb:K_WYG_001-1a>¶\n{unit * times}")

    most, made = 40 * seconds_of(lambda: read(short)), list[Transcription]()
    assert seconds_of(lambda: made.append(read(10 * short)), most / 2) < most
    several = "¶" in unit
    assert len(made[0].pages[0].columns) == (10 * short if several else 1)
    assert ((1, "many-columns") in remark_codes(made[0])) == several


def test_a_text_that_is_read_takes_little_more_memory_than_its_characters(file: Path) -> None:
    """A work has ten times as many columns as pages: they are cut out of it when they are asked for."""
    pages, characters = 300, "".join(chr(0x4E00 + number) for number in range(160))
    lines = "".join(characters[first : first + 20] + "¶\n" for first in range(0, 160, 20))
    file.write_text("".join(f"<pb:KR1d0030_WYG_{n:03d}-1a>¶\n{lines}" for n in range(pages)), encoding="utf-8")
    read_transcription(file)  # what is read once for all texts is there
    tracemalloc.start()
    try:
        read = read_transcription(file)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(len(page.columns) for page in read.pages) == 8 * pages
    assert held < 12 * len(read.text)


@pytest.mark.parametrize("note", ["(注/也)", ""])
def test_a_page_knows_whether_its_text_marks_notes(note: str) -> None:
    text = f"<pb:KR1_WYG_001-1a>¶\n司射¶\n<pb:KR1_WYG_001-1b>¶\n北面{note}¶\n"
    assert [page.marks_notes for page in transcription(text).pages] == [bool(note)] * 2
