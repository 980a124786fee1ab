"""Variant or error: what the policy says of pairs of characters, and how often it says what a philologist says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proof.errors import TextError
from proof.text.authorities import LISTS_OF, authorities
from proof.text.model import Script
from proof.text.pairs import pair_of, read_pairs
from proof.text.variants import HOUSE, Relation, VariantPolicy

ONE_WORD = (Relation.SAME, Relation.FORM, Relation.TABOO, Relation.SCRIPT)
ROOT = Path(__file__).resolve().parents[2]
MEASURED = Path(__file__).with_name("variant_pairs.tsv")

traditional = VariantPolicy(Script.TRADITIONAL)
simplified = VariantPolicy(Script.SIMPLIFIED)

common = st.sampled_from(sorted(authorities().standard))
ideographs = st.one_of(common, st.integers(0x3400, 0x9FFF).map(chr), st.integers(0x20000, 0x2A6DF).map(chr))


@pytest.fixture(scope="module")
def unaided(tmp_path_factory: pytest.TempPathFactory) -> VariantPolicy:
    """The policy without any pair sorted by hand: the rule alone."""
    nothing = tmp_path_factory.mktemp("pairs") / "none.tsv"
    nothing.write_text("", encoding="utf-8")
    return VariantPolicy(Script.TRADITIONAL, shipped=nothing)


def agreed(policy: VariantPolicy, pairs: Iterable[tuple[str, str]], relations: Iterable[Relation]) -> float:
    """The share of pairs that the policy gives one of the relations."""
    verdicts = [policy.relation(pair, other).relation for pair, other in pairs]
    return sum(relation in relations for relation in verdicts) / len(verdicts)


def measured(name: str, half: str) -> list[tuple[str, str]]:
    lines = MEASURED.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(row, other) for row, other, kind, part in rows if (kind, part) == (name, half)]


# --- how often it is right --------------------------------------------------------------------------------


def test_the_rule_alone_sorts_the_gold_pairs_as_the_philologist_did(shared: Path, unaided: VariantPolicy) -> None:
    rows = [line.split("\t") for line in (shared / "gold/pairs.tsv").read_text("utf-8").splitlines()[1:]]
    forms = (Relation.FORM, Relation.TABOO)
    wrong = [row for row in rows if (unaided.relation(row[0], row[1]).relation in forms) != (row[2] == "form")]
    assert len(rows) > 100
    assert len(wrong) <= 0.03 * len(rows), wrong
    assert not {pair_of(row[0], row[1]) for row in rows} & set(read_pairs(HOUSE)), "none was sorted by hand"


@pytest.mark.parametrize("half", ["tuned", "held"])
def test_forms_are_found_and_words_kept_apart(unaided: VariantPolicy, half: str) -> None:
    forms, words = measured("form", half), measured("distinct", half)
    assert min(len(forms), len(words)) > 200
    assert agreed(unaided, forms, (Relation.FORM, Relation.TABOO)) >= 0.96
    assert agreed(unaided, words, (Relation.DISTINCT,)) >= 0.995


# --- what it says of pairs --------------------------------------------------------------------------------

IN_TRADITIONAL = {
    "forms that scribes write": ("緫總 㸃點 徃往 靣面 扵於 氷冰 舘館 㫖旨 寕寧 兎兔", Relation.FORM),
    "two forms of one word": ("緫揔 䟽疎 覧覽 嵗歳", Relation.FORM),
    "an order is written like a whip": ("敇敕 敇勅", Relation.FORM),
    "two old words that a third form joins": ("疏踈", Relation.FORM),
    "two old words": ("洗洒 冡蒙", Relation.DISTINCT),
    "two words that lists join by way of a third character": ("扱挿 倣髣 噓歔 鼏冪 敇筴 屩蹻 炰礟", Relation.DISTINCT),
    "words that simplification merged": ("獲穫 臺檯 升陞 裡里 衝冲 面麵 並併", Relation.DISTINCT),
    "a form of the word that a simplified character first stands for": ("沖冲", Relation.FORM),
    "simple shapes in long use": ("禮礼 無无 與与 棄弃 爾尔", Relation.FORM),
    "simple shapes that were other words": ("機机 聽听 勝胜 術术 價价", Relation.DISTINCT),
    "reverence": ("玄元 弘宏 丘邱", Relation.TABOO),
    "code points that Unicode holds to be one": ("隆\uf9dc ⼀一", Relation.SAME),
}
IN_SIMPLIFIED = {
    "what simplification merged": ("仪儀 传傳 后後 后后 于於 干乾 干幹 发髮 升陞", Relation.SCRIPT),
    "forms of the traditional character": ("传𫝊 会㑹 类𩔖 历厯 盖葢 图圗", Relation.FORM),
    "another word": ("傅傳 傅𫝊 传傅 北比 直值 与興", Relation.DISTINCT),
}


@pytest.mark.parametrize("what", IN_TRADITIONAL)
def test_in_a_traditional_text(what: str) -> None:
    pairs, relation = IN_TRADITIONAL[what]
    either_way = [pair[::step] for pair in pairs.split() for step in (1, -1)]
    relations = {pair: traditional.relation(*pair).relation for pair in either_way}
    assert relations == dict.fromkeys(relations, relation)


@pytest.mark.parametrize("what", IN_SIMPLIFIED)
def test_in_a_simplified_text(what: str) -> None:
    pairs, relation = IN_SIMPLIFIED[what]
    relations = {pair: simplified.relation(*pair).relation for pair in pairs.split()}
    assert relations == {pair: Relation.SAME if pair[0] == pair[1] else relation for pair in relations}


@pytest.mark.parametrize("pair", ["傳传", "儀仪", "發发", "髮发", "𫝊传"])
def test_a_modern_shape_is_an_error_in_the_text_and_a_habit_in_the_reading(pair: str) -> None:
    full, short = pair[0], pair[1]
    transcribed, read = traditional.relation(short, full), traditional.relation(full, short)
    assert (transcribed.relation, transcribed.rule) == (Relation.DISTINCT, "simplified-in-traditional")
    assert (read.relation, read.rule) == (Relation.SCRIPT, "simplified-reading")


def test_what_is_no_character_is_no_form() -> None:
    assert traditional.relation("&KR0058;", "傳").relation is Relation.DISTINCT
    assert traditional.relation("", "傳").relation is Relation.DISTINCT
    assert traditional.relation("&KR0058;", "&KR0058;").relation is Relation.SAME
    assert traditional.relation("葛\U000e0100", "葛").relation is Relation.SAME
    assert traditional.forms("&KR0058;") == ()
    assert traditional.fold("&KR0058;") == "&KR0058;"


@pytest.mark.parametrize(
    ("pair", "rule"),
    [
        ("製制", "opencc-one-to-many"),
        ("值直", "two-standards"),
        ("峰峯", "opencc-regional"),
        ("會㑹", "moe-taiwan"),
        ("緫揔", "common-standard"),
        ("弘𢎞", "unihan-incomplete"),
        ("搏雨", "unlisted"),
    ],
)
def test_the_rule_is_named_by_the_list_that_decided(pair: str, rule: str) -> None:
    assert traditional.relation(*pair).rule == rule


# --- forms, keys and standards of a character -------------------------------------------------------------


@given(ideographs, st.sampled_from([traditional, simplified]))
@example("耑", simplified)
@example("济", traditional)
@example("颺", simplified)
def test_every_form_is_one_word_with_the_character(character: str, policy: VariantPolicy) -> None:
    forms = policy.forms(character)
    assert character not in forms
    assert len(set(forms)) == len(forms) <= 80
    assert all(policy.relation(character, form).relation in ONE_WORD for form in forms)


KEYS = "爲為为 羣群 眞真 敎教 強强 歷歴厯历 事亊 往徃 儀仪 類类𩔖 會会㑹 傳传𫝊 后後 发發髮 干乾幹 余餘 于於"


STANDARDS = "事亊 往徃 教敎 群羣 爲為 會㑹会 年"


def test_forms_of_a_word_and_what_simplification_merged_have_one_key() -> None:
    assert [forms for forms in KEYS.split() if len(set(map(traditional.fold, forms))) > 1] == []
    assert [forms for forms in STANDARDS.split() if len(set(map(traditional.standard_form, forms))) > 1] == []


@pytest.mark.parametrize(
    ("policy", "seen", "transcribed", "suggested"),
    [
        (simplified, "傳", "傅", "传"),
        (simplified, "𫝊", "傅", "传"),
        (simplified, "厯", "", "历"),
        (simplified, "比", "北", "比"),
        (simplified, "後", "后", "后"),
        (traditional, "𫝊", "傅", "𫝊"),
        (traditional, "传", "傅", "傳"),
        (traditional, "后", "後", "后"),
        (simplified, "餘", "", "餘"),
    ],
)
def test_suggestions_have_the_texts_script(policy: VariantPolicy, seen: str, transcribed: str, suggested: str) -> None:
    assert policy.to_source_script(seen, transcribed) == suggested


@pytest.mark.parametrize(
    ("text", "seen", "spellings"),
    [
        ("于是", "於餘", ("于余", "于馀")),
        ("于於于馀", "於餘", ("于馀", "於馀")),
        ("於于於余", "於餘而於", ("於余而於", "于余而于")),
        ("余", "後(餘)/¶", ("后(余)/¶",)),
    ],
)
def test_a_reading_is_spelled_as_the_text_spells_it(text: str, seen: str, spellings: tuple[str, ...]) -> None:
    assert simplified.spellings(text, seen) == spellings
    assert simplified.spellings(text, seen, kept=seen) == (seen,)
    assert traditional.spellings(text, seen) == (seen,)


# --- the project's own pairs ------------------------------------------------------------------------------


def own(folder: Path, text: str, script: Script = Script.TRADITIONAL) -> VariantPolicy:
    """A policy with these pairs of the project."""
    path = folder / "pairs.tsv"
    path.write_text(text, encoding="utf-8")
    return VariantPolicy(script, path)


def test_the_project_overrules_every_list(tmp_path: Path) -> None:
    pairs = "# ours\n遊\t游\tform\n略\t畧\tdistinct  # kept apart here\n\n世\t代\ttaboo\n元\t玄\tdistinct\n"
    policy = own(tmp_path, pairs)
    assert traditional.relation("游", "遊").relation is Relation.DISTINCT
    assert policy.relation("游", "遊").relation is Relation.FORM
    assert policy.relation("遊", "游").rule == "project"
    assert policy.relation("畧", "略").relation is Relation.DISTINCT
    assert policy.relation("世", "代").relation is Relation.TABOO
    assert policy.relation("玄", "元").relation is Relation.DISTINCT
    assert "游" in policy.forms("遊")
    assert policy.fold("遊") == policy.fold("游")
    assert "畧" not in policy.forms("略")
    assert own(tmp_path, "傳\t傅\tform\n", Script.SIMPLIFIED).relation("传", "傅").relation is Relation.FORM
    assert own(tmp_path, "\ufeff遊\t游\tform\r\n").relation("遊", "游").relation is Relation.FORM


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("略\t畧\n", 1, "two characters and a class"),
        ("# head\n\n略\t畧\tvariant\n", 3, "not a class of pairs"),
        ("略略\t畧\tform\n", 1, "not one character"),
        ("略\t略\tform\n", 1, "paired with itself"),
        ("略\t畧\tform\n元\t玄\ttaboo\n畧\t略\tdistinct\n", 3, "in an earlier line"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(TextError, match=words) as caught:
        own(tmp_path, text)
    assert (caught.value.path, caught.value.line) == (tmp_path / "pairs.tsv", line)
    assert str(caught.value).startswith(f"{tmp_path / 'pairs.tsv'}:{line}:")


def test_other_encodings_and_missing_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "big5.tsv"
    path.write_bytes(b"# one\n" + "略\t畧\tform\n".encode("big5hkscs", "replace"))
    with pytest.raises(TextError, match="not UTF-8") as caught:
        VariantPolicy(Script.TRADITIONAL, path)
    assert caught.value.line == 2
    with pytest.raises(TextError, match="cannot be read"):
        VariantPolicy(Script.TRADITIONAL, tmp_path / "missing.tsv")


def test_the_lists_are_read_at_the_first_question() -> None:
    script = (
        "from proof.text.authorities import authorities\n"
        "from proof.text.model import Script\n"
        "from proof.text.variants import VariantPolicy\n"
        "policy = VariantPolicy(Script.TRADITIONAL)\n"
        "assert authorities.cache_info().currsize == 0\n"
        "policy.relation('略', '畧')\n"
        "assert authorities.cache_info().currsize == 1\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)  # noqa: S603


def test_the_lists_are_those_of_packages_that_every_installation_has() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert set(LISTS_OF) <= {re.split("[<>=]", package)[0] for package in declared}
