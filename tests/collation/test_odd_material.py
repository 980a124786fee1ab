"""What editors do to a collation: names that are alike, characters that no font has, texts that are not the same."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from proof.cli import main
from proof.collation.classes import Class
from proof.collation.collation import Collation, collate
from proof.collation.sigla import sigla
from tests.build import transcription

PAGE = "KR1d0030_WYG_010-1a"
TEXT = "大射之儀君有命戒射宰戒百官有事於射者宰夫戒宰及司馬射人宿視滌司馬命量人量矦道與所設乏"
MORE = "遂命量人巾車張三侯大侯之崇見鵠於參參見鵠於干干不及地武"
SELECTED = "葛\U000e0100"


def kanripo(body: str) -> str:
    return f"<pb:{PAGE}>¶\n" + "".join(f"{body[at : at + 21]}¶\n" for at in range(0, len(body), 21))


def written(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kanripo(body), encoding="utf-8")
    return path


def collated(base: str, witness: str) -> Collation:
    first, second = (transcription(kanripo(body), "a.txt") for body in (base, witness))
    return collate(first, second)


def differing(base: str, witness: str) -> list[tuple[str, str, Class]]:
    return differing_at_the_end(TEXT + base + MORE, TEXT + witness + MORE)


def differing_at_the_end(base: str, witness: str) -> list[tuple[str, str, Class]]:
    return [
        (difference.base, difference.witness, difference.category) for difference in collated(base, witness).differences
    ]


def collate_files(*paths: Path, status: int = 0) -> None:
    assert main(["collate", *map(str, paths), "--out", str(paths[0].parent / "out")]) == status


def test_witnesses_of_one_file_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    base = written(tmp_path / "base.txt", TEXT)
    first = written(tmp_path / "wyg/juan.txt", TEXT.replace("百官", "百宫"))
    second = written(tmp_path / "sbck/juan.txt", TEXT.replace("百官", "百宮"))
    collate_files(base, first, second)
    with (tmp_path / "out/places.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["wyg/juan.txt"], row["sbck/juan.txt"]) == ("宫", "宮")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/x.txt", "b/y.txt"], ["x", "y"]),
        (["a/x.txt", "b/x.txt", "z.txt"], ["a/x", "b/x", "z"]),
        (["1/a/x.txt", "2/a/x.txt"], ["1/a/x", "2/a/x"]),
        (["a/x.txt", "a/x.txt"], ["a/x", "a/x (2)"]),
        (["a/x.txt", "a/x.md"], ["a/x", "a/x (2)"]),
    ],
)
def test_sigla_are_as_short_as_they_can_be_and_never_alike(paths: list[str], names: list[str]) -> None:
    assert sigla([Path(path) for path in paths]) == names


@pytest.mark.parametrize("order", [["base", "base"], ["base", "other", "other"], ["base", "other", "./base"]])
def test_a_file_named_twice_is_refused(order: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("base", "other"):
        written(tmp_path / name, TEXT)
    collate_files(*(tmp_path / name for name in order), status=2)
    assert "name each file once" in capsys.readouterr().err


def test_a_copy_under_another_name_and_another_text_are_called_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, copy = written(tmp_path / "base.txt", TEXT), written(tmp_path / "copy.txt", TEXT)
    witness = written(tmp_path / "other.txt", "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽")
    collate_files(base, copy)
    assert "a copy is no witness" in capsys.readouterr().out
    collate_files(base, witness)
    assert "hardly the same text" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("base", "witness", "expected"),
    [
        (SELECTED, "葛", [(SELECTED, "葛", Class.ORTHOGRAPHY)]),
        (SELECTED, "曷", [(SELECTED, "曷", Class.READING)]),
        ("⼤", "大", [("⼤", "大", Class.ORTHOGRAPHY)]),
        ("大", "⼤", [("大", "⼤", Class.ORTHOGRAPHY)]),
        ("&KR0058;", "&KR0058;", []),
        ("&KR0058;", "&KR0059;", [("&KR0058;", "&KR0059;", Class.UNENCODED)]),
        ("⿰扌奎", "挂", [("⿰扌奎", "挂", Class.UNENCODED)]),
    ],
)
def test_a_selected_form_a_radical_out_of_a_pdf_and_a_character_without_code_point_are_what_they_stand_for(
    base: str, witness: str, expected: list[tuple[str, str, Class]]
) -> None:
    assert differing(f"君{base}命", f"君{witness}命") == expected


@pytest.mark.parametrize(
    ("base", "witness", "expected"),
    [
        ("三", "二", [("三", "二")]),
        ("三命", "二命", [("三", "二")]),
        ("命", "", [("命", "")]),
        ("", "既命", [("", "既命")]),
    ],
)
def test_the_first_and_the_last_characters_are_compared_too(
    base: str, witness: str, expected: list[tuple[str, str]]
) -> None:
    assert [(base, witness) for base, witness, _ in differing_at_the_end(TEXT + base, TEXT + witness)] == expected
    turned = differing_at_the_end(base[::-1] + TEXT, witness[::-1] + TEXT)
    assert sorted((base[::-1], witness[::-1]) for base, witness, _ in turned) == sorted(expected)
