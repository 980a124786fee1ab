"""Variant or error: what the policy says of pairs of characters, and how often it says what a philologist says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proof.errors import TextError
from proof.text.authorities import authorities
from proof.text.model import Script
from proof.text.pairs import pair_of, read_pairs
from proof.text.variants import HOUSE, Relation, VariantPolicy

ONE_WORD = (Relation.SAME, Relation.FORM, Relation.TABOO, Relation.SCRIPT)
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
    verdicts = [policy.relation(one, other).relation for one, other in pairs]
    return sum(relation in relations for relation in verdicts) / len(verdicts)


def measured(name: str, half: str) -> list[tuple[str, str]]:
    lines = MEASURED.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(one, other) for one, other, kind, part in rows if (kind, part) == (name, half)]


class TestFigures:
    def test_the_rule_alone_sorts_the_gold_pairs_as_the_philologist_did(
        self, shared: Path, unaided: VariantPolicy
    ) -> None:
        rows = [line.split("\t") for line in (shared / "gold/pairs.tsv").read_text("utf-8").splitlines()[1:]]
        wrong = [
            (one, other, kind)
            for one, other, kind in rows
            if (unaided.relation(one, other).relation in (Relation.FORM, Relation.TABOO)) != (kind == "form")
        ]
        assert len(rows) > 100
        assert len(wrong) <= 0.03 * len(rows), wrong

    def test_no_gold_pair_was_sorted_by_hand(self, shared: Path) -> None:
        rows = [line.split("\t") for line in (shared / "gold/pairs.tsv").read_text("utf-8").splitlines()[1:]]
        assert not {pair_of(row[0], row[1]) for row in rows} & set(read_pairs(HOUSE))

    @pytest.mark.parametrize("half", ["tuned", "held"])
    def test_forms_are_found(self, unaided: VariantPolicy, half: str) -> None:
        pairs = measured("form", half)
        assert len(pairs) > 200
        assert agreed(unaided, pairs, (Relation.FORM, Relation.TABOO)) >= 0.96

    @pytest.mark.parametrize("half", ["tuned", "held"])
    def test_words_are_kept_apart(self, unaided: VariantPolicy, half: str) -> None:
        pairs = measured("distinct", half)
        assert len(pairs) > 200
        assert agreed(unaided, pairs, (Relation.DISTINCT,)) >= 0.995

    def test_what_is_planted_as_an_error_is_never_hidden(self, shared: Path) -> None:
        groups = (shared / "bench/confusables.txt").read_text("utf-8").splitlines()
        pairs = [
            (one, other)
            for group in groups
            if not group.startswith("#")
            for one in group
            for other in group
            if one != other
        ]
        hidden = [pair for pair in pairs if traditional.relation(*pair).relation is not Relation.DISTINCT]
        assert len(pairs) > 200
        assert hidden == []


class TestTraditionalText:
    @pytest.mark.parametrize("pair", ["緫總", "㸃點", "徃往", "靣面", "扵於", "氷冰", "舘館", "㫖旨", "寕寧", "兎兔"])
    def test_the_scribes_forms_are_forms(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.FORM

    @pytest.mark.parametrize("pair", ["緫揔", "䟽疎", "覧覽", "嵗歳"])
    def test_two_forms_of_one_word_are_forms_of_each_other(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.FORM

    @pytest.mark.parametrize("pair", ["扱挿", "倣髣", "噓歔", "鼏冪", "敇筴", "屩蹻", "炰礟"])
    def test_two_words_that_lists_join_by_way_of_a_third_character_are_distinct(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.DISTINCT

    @pytest.mark.parametrize("pair", ["敇敕", "敇勅"])
    def test_an_order_is_written_like_a_whip(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.FORM

    def test_two_old_words_are_forms_only_where_a_third_form_joins_them(self) -> None:
        assert traditional.relation("疏", "踈").relation is Relation.FORM
        assert traditional.relation("洗", "洒").relation is Relation.DISTINCT
        assert traditional.relation("冡", "蒙").relation is Relation.DISTINCT

    @pytest.mark.parametrize("pair", ["獲穫", "臺檯", "升陞", "裡里", "衝冲", "面麵", "並併"])
    def test_words_that_simplification_merged_are_distinct(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.DISTINCT

    def test_a_form_of_the_word_that_a_simplified_character_first_stands_for_is_a_form(self) -> None:
        assert traditional.relation("沖", "冲").relation is Relation.FORM

    @pytest.mark.parametrize("pair", ["禮礼", "無无", "與与", "棄弃", "爾尔"])
    def test_simple_shapes_in_long_use_are_forms(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.FORM

    @pytest.mark.parametrize("pair", ["機机", "聽听", "勝胜", "術术", "價价"])
    def test_simple_shapes_that_were_other_words_are_distinct(self, pair: str) -> None:
        assert traditional.relation(*pair).relation is Relation.DISTINCT
        assert traditional.relation(pair[1], pair[0]).relation is Relation.DISTINCT

    @pytest.mark.parametrize("pair", ["傳传", "儀仪", "發发", "髮发", "𫝊传"])
    def test_a_modern_shape_is_an_error_in_the_text_and_a_habit_in_the_reading(self, pair: str) -> None:
        full, short = pair[0], pair[1]
        transcribed, read = traditional.relation(short, full), traditional.relation(full, short)
        assert (transcribed.relation, transcribed.rule) == (Relation.DISTINCT, "simplified-in-traditional")
        assert (read.relation, read.rule) == (Relation.SCRIPT, "simplified-reading")

    def test_reverence_is_a_class_of_its_own(self) -> None:
        assert traditional.relation("玄", "元").relation is Relation.TABOO
        assert traditional.relation("弘", "宏").relation is Relation.TABOO
        assert traditional.relation("丘", "邱").relation is Relation.TABOO

    def test_a_missing_last_stroke_is_named(self) -> None:
        assert traditional.relation("弘", "𢎞").rule == "unihan-incomplete"

    def test_code_points_that_unicode_holds_to_be_one_are_the_same(self) -> None:
        assert traditional.relation("隆", "\uf9dc").relation is Relation.SAME
        assert traditional.relation("葛\U000e0100", "葛").relation is Relation.SAME
        assert traditional.relation("⼀", "一").relation is Relation.SAME

    def test_what_is_no_character_is_no_form(self) -> None:
        assert traditional.relation("&KR0058;", "傳").relation is Relation.DISTINCT
        assert traditional.relation("", "傳").relation is Relation.DISTINCT
        assert traditional.relation("&KR0058;", "&KR0058;").relation is Relation.SAME
        assert traditional.forms("&KR0058;") == ()
        assert traditional.fold("&KR0058;") == "&KR0058;"

    def test_the_rule_is_named_by_the_list_that_decided(self) -> None:
        assert traditional.relation("製", "制").rule == "opencc-one-to-many"
        assert traditional.relation("值", "直").rule == "two-standards"
        assert traditional.relation("峰", "峯").rule == "opencc-regional"
        assert traditional.relation("會", "㑹").rule == "moe-taiwan"
        assert traditional.relation("緫", "揔").rule == "common-standard"
        assert traditional.relation("搏", "雨").rule == "unlisted"

    @given(ideographs, ideographs)
    def test_the_order_matters_only_for_modern_shapes(self, one: str, other: str) -> None:
        there, back = traditional.relation(one, other), traditional.relation(other, one)
        if {there.rule, back.rule} != {"simplified-reading", "simplified-in-traditional"}:
            assert there == back


class TestSimplifiedText:
    @pytest.mark.parametrize("pair", ["仪儀", "传傳", "后後", "后后", "于於", "干乾", "干幹", "发髮", "升陞"])
    def test_what_simplification_merged_is_one(self, pair: str) -> None:
        assert simplified.relation(*pair).relation in (Relation.SCRIPT, Relation.SAME)

    @pytest.mark.parametrize("pair", ["传𫝊", "会㑹", "类𩔖", "历厯", "盖葢", "图圗"])
    def test_forms_of_the_traditional_character_are_forms(self, pair: str) -> None:
        assert simplified.relation(*pair).relation is Relation.FORM

    @pytest.mark.parametrize("pair", ["傅傳", "傅𫝊", "传傅", "北比", "直值", "与興"])
    def test_another_word_stays_another_word(self, pair: str) -> None:
        assert simplified.relation(*pair).relation is Relation.DISTINCT

    def test_a_traditional_text_is_not_judged_by_it(self) -> None:
        assert simplified.relation("后", "後").relation is Relation.SCRIPT
        assert traditional.relation("后", "後").relation is Relation.DISTINCT


class TestForms:
    def test_a_simplified_character_may_be_any_of_its_sources(self) -> None:
        forms = simplified.forms("发")
        assert {"發", "髮", "𤼵"} <= set(forms)
        assert "发" not in forms

    def test_the_traditional_character_comes_before_its_forms(self) -> None:
        assert simplified.forms("传")[0] == "傳"
        assert simplified.forms("传").index("𫝊") > 0

    def test_a_word_is_not_among_the_forms_of_another(self) -> None:
        assert not {"制", "傅", "值"} & {*traditional.forms("製"), *traditional.forms("傳"), *traditional.forms("直")}

    def test_the_engines_habit_is_taken_for_the_traditional_character(self) -> None:
        assert "传" in traditional.forms("傳")
        assert "机" not in traditional.forms("機")

    @given(ideographs, st.sampled_from([traditional, simplified]))
    @example("耑", simplified)
    @example("济", traditional)
    @example("颺", simplified)
    def test_every_form_is_one_word_with_the_character(self, character: str, policy: VariantPolicy) -> None:
        forms = policy.forms(character)
        assert character not in forms
        assert len(set(forms)) == len(forms) <= 80
        assert all(policy.relation(character, form).relation in ONE_WORD for form in forms)


class TestFold:
    @given(ideographs)
    @example("渺")
    @example("柠")
    def test_it_is_the_same_for_a_character_and_its_standard_form_in_either_script(self, character: str) -> None:
        key = traditional.fold(character)
        assert key == traditional.fold(traditional.standard_form(character)) == simplified.fold(character)

    @pytest.mark.parametrize(
        "forms",
        ["爲為为", "羣群", "眞真", "敎教", "強强", "歷歴厯历", "事亊", "往徃", "儀仪", "類类𩔖", "會会㑹", "傳传𫝊"],
    )
    def test_forms_of_a_word_in_both_scripts_have_one_key(self, forms: str) -> None:
        assert len({traditional.fold(form) for form in forms}) == 1

    @pytest.mark.parametrize("words", ["后後", "发發髮", "干乾幹", "余餘", "于於"])
    def test_what_simplification_merged_has_one_key(self, words: str) -> None:
        assert len({traditional.fold(word) for word in words}) == 1

    @pytest.mark.parametrize(
        "words", ["天地玄黃宇宙洪荒日月盈昃辰宿列張傅搏末未己已人入", "事年爭吏矣執賢日國山口聲磬"]
    )
    def test_other_words_have_keys_of_their_own(self, words: str) -> None:
        """A form that two words share joins them no more: 秊 of 年 and 事, 𡆸 of 日 and 國."""
        assert len({traditional.fold(word) for word in words}) == len(words)

    @pytest.mark.slow
    def test_few_standard_characters_have_one_key(self) -> None:
        keys = [traditional.fold(char) for char in authorities().standard]
        assert max(map(keys.count, set(keys))) <= 10


class TestStandardForm:
    @given(ideographs)
    @example("群")
    def test_it_is_a_form_of_the_character_and_its_own_standard(self, character: str) -> None:
        standard = traditional.standard_form(character)
        assert traditional.standard_form(standard) == standard

    @pytest.mark.parametrize("forms", ["事亊", "往徃", "教敎", "群羣", "爲為", "會㑹会", "年"])
    def test_forms_of_a_word_have_one(self, forms: str) -> None:
        assert len({traditional.standard_form(form) for form in forms}) == 1

    def test_no_word_is_joined_to_another_by_way_of_a_third(self) -> None:
        words = "事年爭矣疑賢后後山口甘聲磬元玄"
        assert len({traditional.standard_form(word) for word in words}) == len(words)


class TestSuggestion:
    def test_a_simplified_text_gets_simplified_characters(self) -> None:
        assert simplified.to_source_script("傳", "傅") == "传"
        assert simplified.to_source_script("𫝊", "傅") == "传"
        assert simplified.to_source_script("厯") == "历"
        assert simplified.to_source_script("比", "北") == "比"

    def test_what_the_image_confirms_stays_as_it_is(self) -> None:
        assert simplified.to_source_script("後", "后") == "后"

    def test_a_traditional_text_gets_what_is_seen_in_its_own_script(self) -> None:
        assert traditional.to_source_script("𫝊", "傅") == "𫝊"
        assert traditional.to_source_script("传", "傅") == "傳"
        assert traditional.to_source_script("后", "後") == "后"


class TestOwnPairs:
    @staticmethod
    def write(folder: Path, text: str) -> Path:
        path = folder / "pairs.tsv"
        path.write_text(text, encoding="utf-8")
        return path

    def test_the_project_overrules_every_list(self, tmp_path: Path) -> None:
        path = self.write(
            tmp_path, "# ours\n遊\t游\tform\n略\t畧\tdistinct  # kept apart here\n\n世\t代\ttaboo\n元\t玄\tdistinct\n"
        )
        policy = VariantPolicy(Script.TRADITIONAL, path)
        assert policy.relation("游", "遊").relation is Relation.FORM
        assert policy.relation("遊", "游").rule == "project"
        assert policy.relation("畧", "略").relation is Relation.DISTINCT
        assert policy.relation("世", "代").relation is Relation.TABOO
        assert policy.relation("玄", "元").relation is Relation.DISTINCT
        assert traditional.relation("游", "遊").relation is Relation.DISTINCT

    def test_forms_and_keys_follow(self, tmp_path: Path) -> None:
        policy = VariantPolicy(Script.TRADITIONAL, self.write(tmp_path, "甲\t乙\tform\n略\t畧\tdistinct\n"))
        assert "乙" in policy.forms("甲")
        assert policy.fold("甲") == policy.fold("乙")
        assert "畧" not in policy.forms("略")

    def test_a_simplified_text_follows_too(self, tmp_path: Path) -> None:
        policy = VariantPolicy(Script.SIMPLIFIED, self.write(tmp_path, "傳\t傅\tform\n"))
        assert policy.relation("传", "傅").relation is Relation.FORM

    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            ("略\t畧\n", 1, "two characters and a class"),
            ("# head\n\n略\t畧\tvariant\n", 3, "no class of pairs"),
            ("略略\t畧\tform\n", 1, "not one character"),
            ("略\t略\tform\n", 1, "paired with itself"),
            ("略\t畧\tform\n元\t玄\ttaboo\n畧\t略\tdistinct\n", 3, "further up"),
        ],
    )
    def test_a_line_that_cannot_be_used_is_named(self, tmp_path: Path, text: str, line: int, words: str) -> None:
        path = self.write(tmp_path, text)
        with pytest.raises(TextError, match=words) as caught:
            VariantPolicy(Script.TRADITIONAL, path)
        assert (caught.value.path, caught.value.line) == (path, line)
        assert str(caught.value).startswith(f"{path}:{line}:")

    def test_other_encodings_and_missing_files_are_named(self, tmp_path: Path) -> None:
        path = tmp_path / "big5.tsv"
        path.write_bytes(b"# one\n" + "略\t畧\tform\n".encode("big5hkscs", "replace"))
        with pytest.raises(TextError, match="not UTF-8") as caught:
            VariantPolicy(Script.TRADITIONAL, path)
        assert caught.value.line == 2
        with pytest.raises(TextError, match="cannot be read"):
            VariantPolicy(Script.TRADITIONAL, tmp_path / "missing.tsv")

    def test_a_byte_order_mark_and_crlf_are_no_trouble(self, tmp_path: Path) -> None:
        path = tmp_path / "windows.tsv"
        path.write_bytes("\ufeff遊\t游\tform\r\n".encode())
        assert VariantPolicy(Script.TRADITIONAL, path).relation("遊", "游").relation is Relation.FORM


class TestCost:
    def test_the_lists_are_read_at_the_first_question(self) -> None:
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

    def test_an_answer_is_kept(self) -> None:
        assert traditional.relation("略", "畧") is traditional.relation("略", "畧")
        assert traditional.forms("略") is traditional.forms("略")
