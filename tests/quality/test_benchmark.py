"""A verifier scored against known errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.errors import TextError, UsageError
from proof.quality.benchmark import ErrorClass, Finding, KeyRow, read_findings, read_key, score

PAGES = {"1a": ["司射東面于大夫之西北耦", "大夫與大夫命上射曰"]}
PLANTED = KeyRow("1a", 1, 9, 1, "北", "比", "substitution", ErrorClass.PLANTED)
REAL = KeyRow("1a", 2, 4, 0, "", "夫", "omission", ErrorClass.REAL)
VARIANT = KeyRow("1a", 2, 7, 1, "射", "躲", "substitution", ErrorClass.VARIANT)
KEY = [PLANTED, REAL, VARIANT]


def finding(line: int, offset: int, length: int = 1, suggested: str = "", **more: float | bool | str) -> Finding:
    return Finding("1a", line, offset, length, suggested, **more)  # type: ignore[arg-type]


def test_errors_are_counted_by_class_and_false_findings_by_thousand() -> None:
    scores = score([finding(1, 9, suggested="比"), finding(1, 0)], PAGES, KEY)
    assert {name: (recall.found, recall.errors) for name, recall in scores.recall.items()} == {
        "planted": (1, 1),
        "real": (0, 1),
    }
    assert scores.missed == (REAL,)
    assert (scores.false, scores.characters, scores.false_per_1000) == (1, 20, 50.0)
    assert scores.suggested == 1


@pytest.mark.parametrize(
    ("findings", "found", "duplicates", "false"),
    [
        ([finding(1, 9, raised=False), finding(1, 0, raised=False)], 0, 0, 0),
        ([finding(2, 3, score=2.0), finding(2, 4, score=1.0)], 1, 1, 0),
        ([finding(2, 7)], 0, 0, 0),
    ],
    ids=["not shown to a proofreader", "an error is found once, and beside it too", "where both may be right"],
)
def test_what_counts_as_found_and_what_as_false(
    findings: list[Finding], found: int, duplicates: int, false: int
) -> None:
    scores = score(findings, PAGES, KEY)
    assert (scores.found, scores.duplicates, scores.false) == (found, duplicates, false)


def test_stated_probabilities_are_held_against_what_was_found() -> None:
    sure = finding(1, 9, score=3.0, probability=0.9)
    wrong = finding(1, 0, score=1.0, probability=0.3)
    calibration = score([sure, wrong], PAGES, KEY).calibration
    assert calibration is not None
    assert calibration.brier == pytest.approx(((0.9 - 1) ** 2 + 0.3**2) / 2)
    assert [(bin_.low, bin_.count, bin_.true) for bin_ in calibration.reliability] == [(0.3, 1, 0.0), (0.9, 1, 1.0)]
    assert score([finding(1, 9)], PAGES, KEY).calibration is None


def test_the_ranking_is_worth_less_where_what_is_false_comes_first() -> None:
    first = score([finding(1, 9, score=2.0), finding(1, 0, score=1.0)], PAGES, [PLANTED])
    last = score([finding(1, 9, score=1.0), finding(1, 0, score=2.0)], PAGES, [PLANTED])
    assert (first.average_precision, last.average_precision) == (1.0, 0.5)


def test_a_key_is_read_and_what_is_wrong_in_it_is_named(tmp_path: Path) -> None:
    header = "page\tline\toffset\tlength\ttranscribed\treading\tkind\tclass\n"
    path = tmp_path / "key.tsv"
    path.write_text(header + "1a\t1\t9\t1\t北\t比\tsubstitution\terror\n", encoding="utf-8")
    assert [row.category for row in read_key(path)] == [ErrorClass.REAL]
    path.write_text(header + "1a\t1\t9\t1\t北\t比\tsubstitution\tguess\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"key\.tsv:2: .*class is one of planted, real, variant, ambiguous"):
        read_key(path)
    path.write_text("page\tline\n", encoding="utf-8")
    with pytest.raises(TextError, match="has no column offset"):
        read_key(path)


@pytest.mark.parametrize(
    ("line", "offset", "length"), [(3, 0, 0), (0, 1, 1), (1, 12, 0), (1, 10, 2), (1, -1, 1)], ids=str
)
def test_a_row_that_is_not_on_its_page_is_an_error_of_that_row(
    tmp_path: Path, line: int, offset: int, length: int
) -> None:
    row = KeyRow("1a", line, offset, length, "", "比", "substitution", ErrorClass.REAL)
    met = Finding("1a", line, offset, length)
    with pytest.raises(UsageError, match=f"1a {line}:{offset} .*no such place"):
        score([met], PAGES, [PLANTED, row])
    path = tmp_path / "key.tsv"
    header = "page\tline\toffset\tlength\ttranscribed\treading\tkind\tclass\n"
    path.write_text(f"{header}1a\t{line}\t{offset}\t{length}\t\t比\tsubstitution\treal\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"key\.tsv:2: .*no such place"):
        score([met], PAGES, read_key(path))
    assert score([met], {}, [row]).missed == (row,)


def test_findings_of_another_program_are_read(tmp_path: Path) -> None:
    path = tmp_path / "theirs.jsonl"
    path.write_text('{"page": "1a", "line": 1, "offset": 9, "length": 1}\n', encoding="utf-8")
    assert read_findings(path) == [finding(1, 9)]
    path.write_text('{"page": "1a", "line": 1}\n', encoding="utf-8")
    with pytest.raises(TextError, match=r"theirs\.jsonl:1: is not a finding \('offset'\)"):
        read_findings(path)
