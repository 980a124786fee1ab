"""From an aligned column to flags: each kind with its place in the line, what should stand there, and its box."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise, permutations
from math import log

import pytest

from proof.layout.half_folio import ColumnArea
from proof.layout.runs import CutBy
from proof.model.flags import Evidence, Flag, Kind
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.ocr.belief import FLOOR, Belief
from proof.settings.config import Settings
from proof.text.column import parse_column
from proof.text.model import Column, Row, Script
from proof.text.variants import VariantPolicy
from proof.verify.align import align
from proof.verify.columns import ReadColumn
from proof.verify.findings import PageContext, Weigher
from proof.verify.glyphs import Glyph
from proof.verify.legibility import CLEARLY, Legibility
from proof.verify.passages import linked
from proof.verify.scores import ALIKE, MISREAD_DEDUCTION_NATS, SELF_READING_GAIN_NATS, doubts

PITCH = 50.0
THRESHOLD = Settings().flags.threshold
AREA = ColumnArea(1, 0.0, 90.0, 0.0, 21 * PITCH, 0.0)


class Paper:
    """An image file on which the working page lies as it is."""

    def file_box(self, left: float, top: float, right: float, bottom: float) -> Box:
        return Box(left, top, right - left, bottom - top)


def glyph(place: float, presence: float = 1.0, /, **believed: float) -> Glyph:
    """A glyph that many cells down; probabilities of characters."""
    beliefs = {text: max(FLOOR, log(p)) for text, p in believed.items()}
    top = place * PITCH
    return Glyph(Belief(beliefs), presence, 0, Row.MAIN, 0.0, top, 90.0, top + PITCH, top + PITCH / 2, PITCH)


def sure(text: str) -> list[Glyph]:
    return [glyph(place, **{character: 0.998}) for place, character in enumerate(text)]


def exact(character: str, shown: Glyph) -> float | None:
    return shown.log_prob(character)


def read(source: str, glyphs: list[Glyph], first: int = 1) -> ReadColumn:
    line = Column(first, source, 0, first, parse_column(source).runs)
    cells = tuple(cell for cell in line.cells if cell.glyph)
    pairings, cost = align(cells, glyphs, exact)
    return ReadColumn(AREA, line, cells, tuple(glyphs), tuple(pairings), cost, CutBy.BEST)


def flags(
    source: str, glyphs: list[Glyph], script: Script = Script.TRADITIONAL, threshold: float = THRESHOLD
) -> list[Flag]:
    weigher = Weigher(PageContext("P", "", Paper(), threshold), VariantPolicy(script), exact, lambda _: 1.0)
    return weigher.flags(read(source, glyphs))


def told(found: list[Flag]) -> list[tuple[Kind, int, int, str, str]]:
    return [(f.kind, f.offset, f.length, f.transcribed, f.suggested) for f in found if f.raised]


def test_a_column_that_agrees_has_no_flag() -> None:
    assert flags("司射適西階西", sure("司射適西階西")) == []


def test_forms_of_one_word_speak_for_it_together() -> None:
    """錄 and 録 are one word, 錄 and 魏 are two: what is believed of either form is believed of the word."""
    around = sure("今仍"), sure("冠易類")
    for other, raised in (("録", True), ("糠", False)):
        shown = glyph(2, 錄=0.45, 魏=0.19, 綠=0.006, **{other: 0.08})
        below = [replace(one, top=one.top + 3 * PITCH, y=one.y + 3 * PITCH) for one in around[1]]
        (flag,) = flags("今仍綠冠易類", [*around[0], shown, *below])
        assert (flag.suggested, flag.raised) == ("錄", raised)
        assert flag.evidence.p_best == pytest.approx(0.45)


def test_a_wrong_character_is_a_substitution_in_its_place() -> None:
    (flag,) = flags("　夫之西北耦大夫", sure("夫之西比耦大夫"))
    assert told([flag]) == [(Kind.SUBSTITUTION, 4, 1, "北", "比")]
    assert flag.bbox == Box(0, 3 * PITCH, 90, PITCH)
    assert flag.context == "夫之西[北]耦大夫"
    assert flag.evidence.reason == "posterior"
    assert flag.evidence.p_best == pytest.approx(0.998)


def test_a_simplified_text_gets_a_simplified_reading() -> None:
    found = flags("司射谪西阶", sure("司射適西階"), Script.SIMPLIFIED)
    assert told(found)[:1] == [(Kind.SUBSTITUTION, 2, 1, "谪", "适")]


def test_a_stray_character_is_an_insertion_where_no_glyph_is() -> None:
    (flag,) = flags("司射不告告者", sure("司射不告者"))
    assert told([flag]) in ([(Kind.INSERTION, 3, 1, "告", "")], [(Kind.INSERTION, 4, 1, "告", "")])
    assert flag.evidence.reason == "no glyph"


def test_room_for_a_stray_character_leaves_doubt() -> None:
    tight, loose = (flags("司射不告者", [*sure("司射不"), glyph(place, 者=0.998)])[0].score for place in (3.0, 3.5))
    assert loose < tight


def test_a_character_left_out_is_an_omission_before_what_follows() -> None:
    (flag,) = flags("面上射進坐", sure("面上射揖進坐"))
    assert told([flag]) == [(Kind.OMISSION, 3, 0, "", "揖")]
    assert flag.bbox == Box(0, 3 * PITCH, 90, PITCH)


@pytest.mark.parametrize("over", [2, 3])
def test_of_two_equal_characters_the_one_that_is_left_has_the_place_of_both(over: int) -> None:
    """Whichever of the two glyphs is over: one flag, that meets the place before the character and the one after."""
    shown = sure("面上揖揖進坐")
    shown[over] = glyph(over, 揖=0.97, 楫=0.02)
    assert told(flags("面上揖進坐", shown)) == [(Kind.OMISSION, 2, 1, "揖", "揖揖")]
    assert told(flags("面揖上進坐", sure("面揖上揖進坐"))) == [(Kind.OMISSION, 3, 0, "", "揖")]


def test_a_blank_that_was_left_for_a_character_is_replaced_by_it() -> None:
    assert told(flags("面上射　進坐", sure("面上射揖進坐"))) == [(Kind.OMISSION, 3, 1, "　", "揖")]


def test_what_was_left_out_at_the_end_belongs_to_the_end() -> None:
    assert told(flags("面上射", sure("面上射揖"))) == [(Kind.OMISSION, 3, 0, "", "揖")]


@pytest.mark.parametrize(("source", "offset"), [("稅(三/)多", 4), ("稅(三)多", 3), ("稅(三/)", 4)])
def test_what_was_left_out_at_the_end_of_a_note_belongs_into_the_note(source: str, offset: int) -> None:
    rows = (Row.MAIN, Row.RIGHT, Row.LEFT, Row.MAIN)
    shown = [
        replace(one, strip=n, row=rows[n]) for n, one in enumerate(sure("稅三十多")) if n < 3 or source[-1] == "多"
    ]
    assert told(flags(source, shown)) == [(Kind.OMISSION, offset, 0, "", "十")]


@pytest.mark.parametrize(
    ("source", "shown", "lacking", "offset"),
    [
        ("(五十/七)者", "雍五十七者", 0, 0),
        ("尼(/十)", "尼八十", 1, 2),
        ("多(/八)摩", "多十八摩", 1, 2),
        ("訶(三/)(七)薩", "訶三九七薩", 2, 4),
        ("訶(三)(七)薩", "訶三那七薩", 2, 4),
    ],
)
def test_what_was_left_out_where_a_note_begins_belongs_to_its_own_row(
    source: str, shown: str, lacking: int, offset: int
) -> None:
    """雍 stands before the note and is none of it; of 八十 in a note 八 is its right half."""
    rows = {"雍": Row.MAIN, "九": Row.LEFT, "那": Row.MAIN}
    cells = iter(cell.row for run in parse_column(source).runs for cell in run.cells)
    at = [rows.get(text, Row.RIGHT) if number == lacking else next(cells) for number, text in enumerate(shown)]
    strips = [sum(one is not other for one, other in pairwise(at[: number + 1])) for number in range(len(at))]
    glyphs = [replace(one, strip=strips[n], row=at[n]) for n, one in enumerate(sure(shown))]
    assert told(flags(source, glyphs)) == [(Kind.OMISSION, offset, 0, "", shown[lacking])]


def test_neighbours_changed_round_are_one_flag() -> None:
    assert told(flags("乘矢皆還內南面", sure("乘矢皆內還南面"))) == [(Kind.TRANSPOSITION, 3, 2, "還內", "內還")]


@pytest.mark.parametrize("forms", ["略畧", "爲為", "羣群", "眞真", "敎教", "強强", "歷歴", "厯歷", "厯歴", "䟽踈"])
def test_another_form_of_the_word_is_kept_and_hidden(forms: str) -> None:
    for one, other in permutations(forms):
        (flag,) = flags(f"其文與鄉射禮{one}同", sure(f"其文與鄉射禮{other}同"))
        assert (flag.kind, flag.transcribed, flag.suggested, flag.raised) == (Kind.VARIANT, one, other, False)
        assert flag.evidence.rule


@pytest.mark.parametrize("words", ["事年", "日國", "矣賢", "進晉", "歷曆", "后後"])
def test_a_word_that_shares_a_form_with_the_one_transcribed_is_raised(words: str) -> None:
    for one, other in permutations(words):
        (flag,) = flags(f"其文與鄉射禮{one}同", sure(f"其文與鄉射禮{other}同"))
        assert (flag.kind, flag.transcribed, flag.suggested, flag.raised) == (Kind.SUBSTITUTION, one, other, True)


def test_what_one_hand_writes_alike_is_kept_and_weighs_little() -> None:
    (alike,) = flags("故使羲氏", [*sure("故使"), glyph(2, 義=0.99, 羲=0.005), glyph(3, 氏=0.998)])
    (other,) = flags("故使戴氏", [*sure("故使"), glyph(2, 載=0.99, 戴=0.005), glyph(3, 氏=0.998)])
    assert alike.evidence.rule == "alike in the hand"
    assert alike.score < other.score / 2


def test_where_every_reading_is_unsure_nothing_is_raised() -> None:
    blurred = [glyph(place, **{character: 0.3, "口": 0.2}) for place, character in enumerate("司射適西階西倚扑")]
    blurred[3] = glyph(3, 面=0.4, 西=0.02)
    found = flags("司射適西階西倚扑", blurred)
    assert told(found) == []
    assert min(doubts(read("司射適西階西倚扑", blurred))) > 0.3


def test_ink_that_was_not_read_is_no_omission_by_itself() -> None:
    shown = sure("司射適西階")
    extra = replace(shown[4], believed=Belief({}), presence=0.5, y=shown[4].y + PITCH)
    found = flags("司射適西階", [*shown, extra])
    assert told(found) == []


def test_the_alternatives_are_told_with_their_probabilities() -> None:
    (flag,) = flags("司射適", [*sure("司射"), glyph(2, 謫=0.9, 適=0.06, 滴=0.03)])
    assert [text for text, _ in flag.evidence.alternatives] == ["謫", "適", "滴"]
    assert flag.evidence.p_text == pytest.approx(0.06)


def test_what_an_unknown_character_is_read_as_when_it_is_drawn_says_nothing_against_it() -> None:
    context = PageContext("P", "", Paper(), THRESHOLD)
    shown = [*sure("正"), glyph(1, 福=0.99), *sure("之")]

    def unknown(character: str, one: Glyph) -> float | None:
        return None if character == "楅" else exact(character, one)

    for read_as, expected in (("", False), ("福", True)):
        weigher = Weigher(
            context,
            VariantPolicy(Script.TRADITIONAL),
            unknown,
            lambda one: float(one != "楅"),
            defaultdict(str, 楅=read_as).__getitem__,
        )
        (flag,) = weigher.flags(read("正楅之", shown))
        assert flag.suggested == "福"
        assert flag.raised is not expected
        assert (flag.evidence.rule == "read so when drawn") is expected


def untaught(script: Script, preference: float | None) -> Weigher:
    """What weighs glyphs of 弣, never taught to the recogniser and read as 附; so much liker 附 is their ink."""
    return Weigher(
        PageContext("P", "", Paper(), THRESHOLD),
        VariantPolicy(script),
        lambda character, one: None if character == "弣" else exact(character, one),
        lambda one: float(one != "弣"),
        defaultdict(str, 弣="附").__getitem__,
        form_preference=lambda column, glyph, other, transcribed: (
            preference if (other, transcribed) == ("附", "弣") else None
        ),
    )


def test_ink_that_is_liker_what_is_read_tells_it_from_an_unknown_character_that_is_read_alike() -> None:
    """附 is read where 弣 stands and where 附 does; only where the ink is much liker the one is it raised, and the less
    the less surely it is read."""

    def shown(preference: float | None, chance: float = 0.99) -> Flag:
        shown = read("正弣之", [*sure("正"), glyph(1, 附=chance), *sure("之")])
        (flag,) = untaught(Script.TRADITIONAL, preference).flags(shown)
        return flag

    assert [shown(preference).raised for preference in (None, -0.15, 0.0, 0.15)] == [False, False, False, True]
    assert shown(0.15).evidence.ink == Notice.of(NoticeCode.LIKER_AS_DRAWN, text="附")
    assert shown(0.15).evidence.rule == ""
    assert shown(-0.15).evidence.ink is None
    assert shown(0.15, 0.4).score < shown(0.15).score


def test_of_an_unknown_character_of_a_simplified_text_the_ink_says_nothing() -> None:
    """Its image shows another form."""
    (flag,) = untaught(Script.SIMPLIFIED, 0.15).flags(read("正弣之", [*sure("正"), glyph(1, 附=0.99), *sure("之")]))
    assert not flag.raised


@pytest.mark.parametrize("script", Script)
@pytest.mark.parametrize(("preference", "raised"), [(None, True), (-0.25, False), (0.0, True), (0.15, True)])
def test_a_form_that_the_engine_does_not_know_is_told_by_its_ink_from_what_it_is_read_as(
    script: Script, preference: float | None, raised: bool
) -> None:
    """囘 is 回, and is read 同: where 回 is transcribed and 同 is read, the ink may be liker to 囘 than to 同."""
    weigher = Weigher(
        PageContext("P", "", Paper(), THRESHOLD),
        VariantPolicy(script),
        exact,
        lambda _: 1.0,
        defaultdict(str, 囘="同").__getitem__,
        form_preference=lambda column, glyph, other, transcribed: (
            preference if (other, transcribed) == ("同", "囘") else None
        ),
    )
    (flag,) = weigher.flags(read("正回之", [*sure("正"), glyph(1, 同=0.99), *sure("之")]))
    assert flag.raised is raised
    assert (flag.evidence.rule == "read so when drawn") is not raised


def test_what_one_look_alone_saw_is_not_raised_and_says_so() -> None:
    other = replace(glyph(1, 夫=0.6, 大=0.4), seen=("夫", "大"))
    (flag,) = flags("正大之", [*sure("正"), other, *sure("之")])
    assert not flag.raised
    assert flag.evidence.rule == "seen so in one way alone"


def test_a_wrong_character_beside_one_left_out_is_one_trouble_of_two_flags() -> None:
    """Each says its own place; neither is surer than the other, and both say that the image does not tell which is
    which."""
    shown = [*sure("司射"), glyph(2, 0.999, 適=0.998), *sure("　　　西階")[3:]]
    found = flags("司射何階", shown)
    assert told(found) == [(Kind.OMISSION, 2, 0, "", "適"), (Kind.SUBSTITUTION, 2, 1, "何", "西")]
    assert found[0].score == found[1].score < flags("司射適何階", shown)[0].score
    assert {flag.evidence.notice for flag in found} == {Notice.of(NoticeCode.FOR_EITHER)}


def test_of_a_look_alike_beside_one_left_out_nothing_of_the_kind_is_said() -> None:
    shown = [*sure("司射"), glyph(2, 適=0.998), glyph(3, 西=0.99, 酉=0.005), glyph(4, 階=0.998)]
    found = flags("司射酉階", shown)
    assert told(found) == [(Kind.OMISSION, 2, 0, "", "適"), (Kind.SUBSTITUTION, 2, 1, "酉", "西")]
    assert {flag.evidence.notice for flag in found} == {None}


def weighed(transcribed: str, shown: Glyph, sure_of: float | None, legible: Legibility = CLEARLY) -> Flag:
    """The flag about a glyph between two that are read as transcribed, by an engine that is so sure of `transcribed`
    where it is drawn, on a page that shows so much."""
    weigher = Weigher(
        PageContext("P", "", Paper(), THRESHOLD),
        VariantPolicy(Script.TRADITIONAL),
        exact,
        lambda _: 1.0,
        sure=lambda character: sure_of if character == transcribed else None,
        legible=legible,
    )
    (flag,) = weigher.flags(read(f"正{transcribed}之", [*sure("正"), shown, *sure("之")]))
    return flag


def test_what_is_surely_read_where_it_stands_is_none_of_several_that_are_believed_in_shares() -> None:
    shown = glyph(1, 綱=0.54, 絅=0.26, 納=0.06, 網=0.04, 銅=0.09)
    assert weighed("銅", shown, 0.999).raised
    assert weighed("銅", shown, 0.9).score == weighed("銅", shown, None).score
    assert not weighed("銅", shown, 0.9).raised
    assert not weighed("銅", replace(shown, seen=("銅", "綱", "絅")), 0.999).raised
    one = glyph(1, 綱=0.9, 銅=0.09)
    assert weighed("銅", one, 0.999).score == pytest.approx(weighed("銅", one, None).score + SELF_READING_GAIN_NATS)
    assert not weighed("銅", one, 0.999).raised
    garbled = glyph(1, 矣=0.3, 又=0.15, 父=0.15, 火=0.15, 災=0.15, 銅=0.09)
    assert weighed("銅", garbled, 0.999).score == pytest.approx(
        weighed("銅", garbled, None).score + SELF_READING_GAIN_NATS
    )
    forms = glyph(1, 綠=0.5, 録=0.3, 銅=0.1, 錄=0.1)
    assert not weighed("錄", forms, 0.999).raised, "another form of what is transcribed speaks for it"


def test_on_a_coarse_image_what_is_surely_read_when_drawn_is_read_in_shares() -> None:
    """觀 where 覯 stands, read so on a clear page in two rows; 薦 where it stands, read so in cells of 16 pixels."""
    wrong = glyph(1, 親=0.542, 覯=0.3, 觀=0.095, 靚=0.023, 覩=0.022)
    right = glyph(1, 篤=0.62, 篇=0.23, 萬=0.06, 薦=0.02, 笃=0.01)
    assert weighed("觀", wrong, 0.999, Legibility(note=26.0, main=26.4)).raised
    assert weighed("薦", right, 0.999).raised
    assert not weighed("薦", right, 0.999, Legibility(main=11.8)).raised
    for row in (Row.RIGHT, Row.MAIN):
        shown = replace(right, row=row)
        assert weighed("薦", shown, 0.999, Legibility(main=24.0, note=12.0)).raised is (row is Row.MAIN)


def test_the_coarser_an_image_the_surer_must_another_reading_be() -> None:
    alike, sure_of_it = glyph(1, 閩=0.75, 閦=0.005), glyph(1, 閩=0.999)
    for detail, raised in ((25.0, [True, True]), (11.0, [False, True])):
        legible = Legibility(detail)
        assert [weighed("閦", one, None, legible).raised for one in (alike, sure_of_it)] == raised


def test_what_a_hand_runs_together_with_it_is_not_counted_together_against_a_character() -> None:
    shown = glyph(1, 已=0.52, 巳=0.46, 己=0.01)
    assert weighed("己", shown, 0.999).score == pytest.approx(
        weighed("己", shown, None).score + ALIKE * SELF_READING_GAIN_NATS
    )


def test_letters_are_no_reading_of_a_han_character() -> None:
    """A small 八 is read as A and Λ; a piece of a rule is not read as a letter, and tells no more than before."""
    flag = weighed("成", glyph(1, A=0.49, Λ=0.35, 八=0.05, N=0.02, 入=0.01), None)
    assert (flag.suggested, flag.raised) == ("八", True)
    assert not weighed("成", glyph(1, **{"|": 0.84}, 八=0.05, N=0.02, 入=0.01), None).raised


def test_what_is_left_nothing_is_not_there_the_more_the_surer_it_is_that_something_is() -> None:
    """Under a seal 踵 is read as many things, none of them 書; a speck is read as anything."""
    shown = glyph(1, 連=0.12, 重=0.09, 逢=0.08, 建=0.08, 達=0.07, 進=0.06, 運=0.05)
    assert weighed("書", shown, 0.999).score > 2 * weighed("書", shown, None).score
    speck = replace(shown, presence=0.4)
    assert weighed("書", speck, 0.999).score == weighed("書", speck, None).score
    assert weighed("書", replace(shown, seen=("書", "連")), 0.999).score == weighed("書", shown, None).score


def test_what_is_surely_read_as_itself_where_it_is_drawn_is_held_against_it_the_more() -> None:
    """The image has 末, which is read so with 0.93: 未 is never read otherwise than as 未."""
    shown = glyph(1, 末=0.955, 未=0.043)
    assert weighed("未", shown, 0.999).raised
    assert not weighed("未", shown, 0.9).raised
    assert not weighed("未", replace(shown, seen=("未", "末", "末")), 0.999).raised


def test_what_is_taken_for_another_where_it_is_drawn_too_is_held_against_it_the_less() -> None:
    """闑 is read 闌 where a font draws it; 昜 is read 易, too, and where it stands for that this is certain."""
    shown = glyph(1, 闌=0.92, 闈=0.03, 闐=0.02, 闑=0.02)
    assert weighed("闑", shown, None).raised
    assert not weighed("闑", shown, 0.0).raised
    assert weighed("闑", shown, 0.5).score == weighed("闑", shown, None).score
    assert weighed("闑", shown, None).score == pytest.approx(weighed("闑", shown, 0.0).score + MISREAD_DEDUCTION_NATS)
    assert weighed("昜", glyph(1, 易=0.999), 0.01).raised


def half(uid: str, kind: Kind, line: int, offset: int, character: str) -> Flag:
    text, suggested = (character, "") if kind is Kind.INSERTION else ("", character)
    return Flag("p", "r", line, offset, len(text), kind, text, suggested, 5, True, None, Evidence("ink"), "", uid)


def test_a_character_that_moved_within_its_column_or_to_the_next_names_its_other_half() -> None:
    far = half("far", Kind.OMISSION, 5, 0, "射")
    out, near, next_column = (
        half("out", Kind.INSERTION, 2, 9, "射"),
        half("near", Kind.OMISSION, 2, 3, "射"),
        half("next", Kind.OMISSION, 3, 9, "射"),
    )
    other = half("other", Kind.OMISSION, 2, 8, "身")

    def moved(*flags: Flag) -> dict[str, str]:
        return {flag.id: flag.moved for flag in linked(flags) if flag.moved}

    assert moved(out, near, next_column, far, other) == {"out": "near", "near": "out"}
    assert moved(out, next_column, other) == {"out": "next", "next": "out"}
    assert moved(out, far, other) == {}
    assert linked(linked([out, near])) == linked([out, near])
    assert linked([out, near])[0].as_dict()["moved"] == "near"
