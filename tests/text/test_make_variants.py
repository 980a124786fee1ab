"""The script that makes the table of variants: which letters a pair gets, and that the shipped table is its work."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from proof.text.authorities import DATA, Authorities
from scripts.make_variants import LEGEND, SOURCE, Database, compose

UNIHAN = """kSemanticVariant kZVariant kDefinition kStrange kFanqie kSBGY kTraditionalVariant kMandarin kHanyuPinyin
kXHC1983 kTGHZ2013 kSMSZD2003Readings kHanyuPinlu"""


@pytest.fixture
def made(tmp_path: Path) -> Authorities:
    """The lists as made from a small database of the real one's shape."""
    path = tmp_path / "moji.db"
    with sqlite3.connect(path) as connection:
        for field in UNIHAN.split():
            connection.execute(f'create table "unihan_{field}" (UCS text, value text)')
        for name, columns in {
            "kdpv": "subject, rel, object, comment",
            "tghb": "规范字, 级",
            "tghb_variants": "规范字, 繁体字",
            "ids": "UCS, IDS",
        }.items():
            connection.execute(f"create table {name} ({columns})")
        fill(connection)
    connection.close()
    table = tmp_path / "variants.tsv"
    table.write_text("\n".join(compose(Database(path))) + "\n", encoding="utf-8")
    return Authorities(table)


def fill(connection: sqlite3.Connection) -> None:
    rows: dict[str, list[tuple[str | int | None, ...]]] = {
        "kdpv": [
            ("略", "twedu/variant", "畧", None),
            ("略", "dypytz/variant", "畧", None),
            ("徧", "hydcd/borrowed", "偏", None),
            ("徧", "hydzd/variant", "偏", None),
            ("專", "ucs-scs/variant", "専", None),
            ("后", "cjkvi/simplified", "後", None),
            ("更", "hydzd/variant", "\uf901", None),
            ("疏", "hydzd/variant", "⿰疋束", None),
        ],
        "unihan_kSemanticVariant": [("略", "U+7567<kMatthews"), ("葢", "U+84CB U+76D6")],
        "unihan_kDefinition": [("㑹", "(non-classical of 會) to meet"), ("略", "approximately, roughly")],
        "unihan_kStrange": [("𤣥", "I:U+7384"), ("乑", "I:U+4E00:U+4E01")],
        "unihan_kFanqie": [("徧", "方見"), ("偏", "芳連 匹戰")],
        "unihan_kSBGY": [("会", "1.1")],
        "unihan_kTraditionalVariant": [("会", "U+6703"), ("传", "U+50B3")],
        "unihan_kMandarin": [("㑹", "huì"), ("會", "huì"), ("𤣥", "xuán"), ("玄", "guài")],
        "tghb": [("会", 1), ("略", 1), ("堃", 3), ("传", 1)],
        "tghb_variants": [("会", "會"), ("传", "傳")],
        "ids": [("傳", "⿰亻專"), ("𫝊", "⿰亻専"), ("略", "⿰田各"), ("畧", "⿱田各")],
    }
    for table, values in rows.items():
        marks = ", ".join("?" * len(values[0]))
        connection.executemany(f"insert into {table} values ({marks})", values)  # noqa: S608


def test_every_list_gives_its_letter(made: Authorities) -> None:
    assert set(made.about("畧", "略").witnesses) >= {"T", "D", "S"}
    assert "S" in made.about("葢", "盖").witnesses
    assert "F" in made.about("會", "㑹").witnesses


def test_strokes_missing_from_one_character_alone_are_told(made: Authorities) -> None:
    assert "M" in made.about("玄", "𤣥").witnesses
    assert "M" not in made.about("乑", "一").witnesses


def test_characters_alike_but_for_forms_of_a_component_are_told(made: Authorities) -> None:
    assert "P" in made.about("傳", "𫝊").witnesses
    assert "P" not in made.about("略", "畧").witnesses


def test_objections_are_told(made: Authorities) -> None:
    assert set(made.about("徧", "偏").against) == {"b", "d", "g"}
    assert set(made.about("玄", "𤣥").against) == {"q"}
    assert made.about("會", "㑹").against == ""


def test_simplifications_and_compatibility_ideographs_are_left_out(made: Authorities) -> None:
    assert not set(made.about("后", "後").witnesses) - set("YON")
    assert not set(made.about("更", "\uf901").witnesses) - set("YON")


def test_standard_characters_are_the_traditional_ones(made: Authorities) -> None:
    assert made.standard == {"會", "傳", "略", "堃"}
    assert made.third == {"堃"}
    assert made.rimed == {"会"}


def test_the_shipped_table_names_its_source() -> None:
    head = DATA.read_text(encoding="utf-8").splitlines()
    assert SOURCE in head[0]
    assert [line.removeprefix("#   ") for line in head if line.startswith("#   ")] == LEGEND.splitlines()
