"""Decisions are handed over as JSON lines; what cannot be used is named with its line."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import TextError
from proof.exports.correction_records import read_corrections
from proof.exports.corrections import Correction
from proof.model.flags import Kind

WORDS = st.text("甲乙丙𩔖", max_size=3)


@given(
    st.lists(
        st.tuples(
            st.builds(
                Correction,
                page=st.sampled_from(["", "KR1_WYG_010-1a"]),
                line=st.integers(0, 40),
                offset=st.integers(0, 40),
                length=st.integers(0, 3),
                replacement=WORDS,
                original=WORDS,
                note=WORDS,
                kind=st.sampled_from(list(Kind)),
            ),
            st.fixed_dictionaries({"accepted": st.booleans(), "audit": st.booleans()}),
        )
    )
)
def test_what_is_written_is_read_again_but_for_undecided_flags_and_planted_errors(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[Correction, dict[str, bool]]]
) -> None:
    path = tmp_path_factory.mktemp("records") / "corrections.jsonl"
    records = [asdict(correction) | answer for correction, answer in lines]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    written = [record for record in records if record["accepted"] and not record["audit"]]
    assert [asdict(correction) for correction in read_corrections(path)] == written


def test_a_flag_is_a_correction_once_it_is_accepted(tmp_path: Path) -> None:
    flag = {"id": "f1", "page": "p", "ref": "", "line": 1, "offset": 2, "length": 1, "kind": "substitution"}
    flag |= {"transcribed": "北", "suggested": "比", "score": 5.0, "raised": True, "bbox": None, "evidence": {}}
    path = tmp_path / "flags.jsonl"
    path.write_text(
        json.dumps(flag) + "\n\n" + json.dumps(flag | {"accepted": True, "witness": "影像"}), encoding="utf-8"
    )
    [accepted] = read_corrections(path)
    assert (accepted.original, accepted.replacement, accepted.flag) == ("北", "比", "f1")
    assert accepted.authority == "影像"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "a correction with page, line, offset, length, replacement, original, or a line of flags.jsonl"),
        ("page,column,character,kind,before,after", "a spreadsheet is not read"),
        ("[]", "expected one JSON object"),
        ("[" * 100_000, "expected one JSON object"),
        ('{"page": ""}', "line: Field required"),
        ('{"page": 1, "line": 1, "offset": 0, "length": 1, "original": "", "replacement": ""}', "valid string"),
        ('{"page": "", "line": true, "offset": 0, "length": 1, "original": "", "replacement": ""}', "valid integer"),
        (
            '{"page": "", "line": 1, "offset": 0, "length": 0, "original": "", "replacement": "", "kind": "x"}',
            "kind: I",
        ),
        (
            '{"page": "", "line": 1, "offset": 0, "length": 0, "original": "", "replacement": "", "witness": 1}',
            "jsonl:2: witness: Input should be a valid string",
        ),
        (
            '{"page": "", "line": 1, "offset": 0, "length": 0, "original": "", "replacement": "", "typed": "x"}',
            "jsonl:2: typed: Input should be a valid boolean",
        ),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, expected: str) -> None:
    path = tmp_path / "corrections.jsonl"
    path.write_text("\n" + line, encoding="utf-8")
    with pytest.raises(TextError, match=r"corrections\.jsonl:2: ") as caught:
        read_corrections(path)
    assert expected in str(caught.value)


def test_a_line_has_the_names_of_the_file_alone(tmp_path: Path) -> None:
    correction = {"page": "p", "line": 1, "offset": 0, "length": 1, "original": "北", "replacement": "比"}
    names_of_the_program = correction | {"authority": "影像", "is_typed": True}
    path = tmp_path / "corrections.jsonl"
    lines = (correction | {"witness": "影像", "typed": True}, names_of_the_program)
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    read = [(correction.authority, correction.is_typed) for correction in read_corrections(path)]
    assert read == [("影像", True), ("", False)]


def test_a_missing_or_misencoded_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "corrections.jsonl"
    with pytest.raises(TextError, match="cannot be read"):
        read_corrections(path)
    path.write_bytes("{}\n乙".encode("gb18030"))
    with pytest.raises(TextError, match=r"corrections\.jsonl:2: this is not UTF-8"):
        read_corrections(path)
