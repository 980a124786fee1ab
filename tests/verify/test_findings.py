"""From an aligned column to flags: each kind with its place in the line, what should stand there, and its box."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import permutations
from math import log

import pytest

from proof.model.flags import Flag, Kind
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.text.column import parse_column
from proof.text.model import Row, Script
from proof.verify.findings import FlagMaker
from proof.verify.glyphs import Glyph
from proof.verify.legibility import FULLY_LEGIBLE, Legibility
from proof.verify.scores import ALIKE_WEIGHT, MAX_SELF_READING_GAIN_NATS, USUAL_MISREADING, doubts
from tests.verify.columns import (
    AREA,
    PITCH,
    FlagSummary,
    exact,
    flag_maker,
    flags,
    glyph,
    in_rows,
    laid,
    raised_summaries,
    sure,
)


@pytest.mark.parametrize(
    ("source", "shown", "expected"),
    [
        ("司射適西階西", "司射適西階西", []),
        ("面上射進坐", "面上射揖進坐", [(Kind.OMISSION, 3, 0, "", "揖")]),
        ("面上射", "面上射揖", [(Kind.OMISSION, 3, 0, "", "揖")]),
        # a blank that was left for a character is replaced by it
        ("面上射　進坐", "面上射揖進坐", [(Kind.OMISSION, 3, 1, "　", "揖")]),
        # between two lines that share a column it is the indentation of the second
        ("面上射\n　進坐", "面上射揖進坐", [(Kind.OMISSION, 3, 0, "", "揖")]),
        # of two equal characters apart from one another only one is over
        ("面揖上進坐", "面揖上揖進坐", [(Kind.OMISSION, 3, 0, "", "揖")]),
        ("乘矢皆還內南面", "乘矢皆內還南面", [(Kind.TRANSPOSITION, 3, 2, "還內", "內還")]),
    ],
)
def test_a_flag_names_its_place_and_what_should_stand_there(
    source: str, shown: str, expected: list[FlagSummary]
) -> None:
    found_flags = flags(source, sure(shown))
    assert raised_summaries(found_flags) == expected
    assert len(found_flags) == len(expected)


def test_a_wrong_character_is_a_substitution_in_its_place() -> None:
    (flag,) = flags("　夫之西北耦大夫", sure("夫之西比耦大夫"))
    assert raised_summaries([flag]) == [(Kind.SUBSTITUTION, 4, 1, "北", "比")]
    assert flag.bbox == Box(0, 3 * PITCH, 90, PITCH)
    assert flag.context == "夫之西[北]耦大夫"
    assert flag.evidence.reason == "posterior"
    assert flag.evidence.p_best == pytest.approx(0.998)


def test_a_simplified_text_gets_a_simplified_reading() -> None:
    found_flags = flags("司射谪西阶", sure("司射適西階"), Script.SIMPLIFIED)
    assert raised_summaries(found_flags)[:1] == [(Kind.SUBSTITUTION, 2, 1, "谪", "适")]


def test_what_is_missing_is_known_to_be_in_its_column_of_the_image() -> None:
    own = replace(laid("面上", sure("面上射")), area=replace(AREA, number=7))
    assert [flag.evidence.column for flag in flag_maker().flags(own)] == [7]


def test_a_stray_character_is_an_insertion_where_no_glyph_is() -> None:
    (flag,) = flags("司射不告告者", sure("司射不告者"))
    assert raised_summaries([flag]) in ([(Kind.INSERTION, 3, 1, "告", "")], [(Kind.INSERTION, 4, 1, "告", "")])
    assert flag.evidence.reason == "no glyph"


@pytest.mark.parametrize(
    ("read", "width", "height", "chance", "expected"),
    [
        ("跡", 0.8, 0.8, 0.2, True),
        ("跡", 0.2, 0.8, 0.2, False),
        ("跡", 0.8, 0.3, 0.2, False),
        ("跡", 0.2, 0.2, 0.99, True),
        ("一", 0.6, 0.9, 0.2, False),
    ],
    ids=["as large as a character", "a piece of a rule", "a splinter", "surely read", "a seal read as a splinter"],
)
def test_what_is_left_out_is_raised_where_a_whole_glyph_stands_however_unsure_its_reading(
    read: str, width: float, height: float, chance: float, expected: bool
) -> None:
    """A transcriber leaves out what cannot be read or typed."""
    unsure = glyph(3, 0.46 if chance < 0.5 else 1.0, **{read: chance})
    shown = [*sure("面上射"), unsure, *sure("面上射跡進坐")[4:]]
    found_flags = flag_maker(ink_size=lambda *_: (width, height)).flags(laid("面上射進坐", shown))
    assert [(flag.kind, flag.offset) for flag in found_flags if flag.raised] == [(Kind.OMISSION, 3)] * expected


@pytest.mark.parametrize("over", [2, 3])
def test_of_two_equal_characters_the_one_that_is_left_has_the_place_of_both(over: int) -> None:
    """Whichever of the two glyphs is over: one flag, that meets the place before the character and the one after."""
    shown = sure("面上揖揖進坐")
    shown[over] = glyph(over, 揖=0.97, 楫=0.02)
    assert raised_summaries(flags("面上揖進坐", shown)) == [(Kind.OMISSION, 2, 1, "揖", "揖揖")]


@pytest.mark.parametrize(
    ("source", "shown", "lacking", "row", "offset"),
    [
        # 雍 stands before the note and is none of it
        ("(五十/七)者", "雍五十七者", 0, Row.MAIN, 0),
        # of 八十 in a note 八 is its right half
        ("尼(/十)", "尼八十", 1, Row.RIGHT, 2),
        ("多(/八)摩", "多十八摩", 1, Row.RIGHT, 2),
        ("訶(三/)(七)薩", "訶三九七薩", 2, Row.LEFT, 4),
        ("訶(三)(七)薩", "訶三那七薩", 2, Row.MAIN, 4),
    ],
)
def test_what_was_left_out_where_a_note_begins_belongs_to_its_own_row(
    source: str, shown: str, lacking: int, row: Row, offset: int
) -> None:
    rows = [cell.row for run in parse_column(source).runs for cell in run.cells]
    rows.insert(lacking, row)
    assert raised_summaries(flags(source, in_rows(shown, rows))) == [(Kind.OMISSION, offset, 0, "", shown[lacking])]


@pytest.mark.parametrize("forms", ["略畧", "爲為", "羣群", "眞真", "敎教", "強强", "歷歴", "厯歷", "厯歴", "䟽踈"])
def test_another_form_of_the_word_is_kept_and_hidden(forms: str) -> None:
    for transcribed, printed in permutations(forms):
        (flag,) = flags(f"其文與鄉射禮{transcribed}同", sure(f"其文與鄉射禮{printed}同"))
        assert (flag.kind, flag.transcribed, flag.suggested, flag.raised) == (Kind.VARIANT, transcribed, printed, False)
        assert flag.evidence.rule


@pytest.mark.parametrize("words", ["事年", "日國", "矣賢", "進晉", "歷曆", "后後"])
def test_a_word_that_shares_a_form_with_the_one_transcribed_is_raised(words: str) -> None:
    for transcribed, printed in permutations(words):
        (flag,) = flags(f"其文與鄉射禮{transcribed}同", sure(f"其文與鄉射禮{printed}同"))
        assert (flag.kind, flag.transcribed, flag.suggested, flag.raised) == (
            Kind.SUBSTITUTION,
            transcribed,
            printed,
            True,
        )


def test_where_every_reading_is_unsure_nothing_is_raised() -> None:
    blurred = [glyph(place, **{character: 0.3, "口": 0.2}) for place, character in enumerate("司射適西階西倚扑")]
    blurred[3] = glyph(3, 面=0.4, 西=0.02)
    found_flags = flags("司射適西階西倚扑", blurred)
    assert raised_summaries(found_flags) == []
    assert min(doubts(laid("司射適西階西倚扑", blurred))) > 0.3


def test_what_an_unknown_character_is_read_as_when_it_is_drawn_says_nothing_against_it() -> None:
    shown = laid("正楅之", [*sure("正"), glyph(1, 福=0.99), *sure("之")])

    def unknown(character: str, shown_glyph: Glyph) -> float | None:
        return None if character == "楅" else exact(character, shown_glyph)

    for read_as, expected in (("", False), ("福", True)):
        drawn_as = defaultdict(str, 楅=read_as).__getitem__
        (flag,) = flag_maker(unknown, drawn_as=drawn_as).flags(shown)
        assert flag.suggested == "福"
        assert flag.raised is not expected
        assert (flag.evidence.rule == "read so when drawn") is expected


def untaught(script: Script, preference: float | None) -> FlagMaker:
    """What weighs glyphs of 弣, never taught to the recogniser and read as 附; so much liker 附 is their ink."""
    return flag_maker(
        lambda character, shown_glyph: None if character == "弣" else exact(character, shown_glyph),
        script=script,
        drawn_as=defaultdict(str, 弣="附").__getitem__,
        form_preference=lambda column, glyph, other, transcribed: (
            preference if (other, transcribed) == ("附", "弣") else None
        ),
    )


def test_ink_that_is_liker_what_is_read_tells_it_from_an_unknown_character_that_is_read_alike() -> None:
    """附 is read where 弣 stands and where 附 does; only where the ink is much liker the one is it raised, and the less
    the less surely it is read. Of a simplified text it says nothing: its image shows another form."""

    def shown(preference: float | None, chance: float = 0.99, script: Script = Script.TRADITIONAL) -> Flag:
        column = laid("正弣之", [*sure("正"), glyph(1, 附=chance), *sure("之")])
        (flag,) = untaught(script, preference).flags(column)
        return flag

    assert [shown(preference).raised for preference in (None, -0.15, 0.0, 0.15)] == [False, False, False, True]
    assert shown(0.15).evidence.ink == Notice.of(NoticeCode.LIKER_AS_DRAWN, text="附")
    assert shown(0.15).evidence.rule == ""
    assert shown(-0.15).evidence.ink is None
    assert shown(0.15, 0.4).score < shown(0.15).score
    assert not shown(0.15, script=Script.SIMPLIFIED).raised


@pytest.mark.parametrize("script", Script)
@pytest.mark.parametrize(("preference", "raised"), [(None, True), (-0.25, False), (0.0, True), (0.15, True)])
def test_a_form_that_the_engine_does_not_know_is_told_by_its_ink_from_what_it_is_read_as(
    script: Script, preference: float | None, raised: bool
) -> None:
    """囘 is 回, and is read 同: where 回 is transcribed and 同 is read, the ink may be liker to 囘 than to 同."""
    own = flag_maker(
        script=script,
        drawn_as=defaultdict(str, 囘="同").__getitem__,
        form_preference=lambda column, glyph, other, transcribed: (
            preference if (other, transcribed) == ("同", "囘") else None
        ),
    )
    (flag,) = own.flags(laid("正回之", [*sure("正"), glyph(1, 同=0.99), *sure("之")]))
    assert flag.raised is raised
    assert (flag.evidence.rule == "read so when drawn") is not raised


@pytest.mark.parametrize(("self_reading", "expected"), [(0.0, [False, False, True, True]), (0.99, [True] * 4)])
def test_ink_decides_where_the_engine_knows_a_character_but_seldom_reads_it_as_itself(
    self_reading: float, expected: list[bool]
) -> None:
    """嚧 is read 盧, however it is drawn: that 盧 is read says nothing, unless the ink resembles 盧 more. A character
    that is read as itself is judged by its readings alone, since the ink of look-alikes differs too little."""

    def is_raised(preference: float | None, script: Script = Script.TRADITIONAL) -> bool:
        own = flag_maker(
            script=script,
            self_reading=lambda character, _: self_reading if character == "嚧" else 0.999,
            form_preference=lambda column, glyph, other, transcribed: (
                preference if (other, transcribed) == ("盧", "嚧") else None
            ),
        )
        (flag,) = own.flags(laid("正嚧之", [*sure("正"), glyph(1, 盧=0.995, 嚧=0.0001), *sure("之")]))
        assert flag.raised or flag.evidence.rule == "read so when drawn"
        return flag.raised

    assert [is_raised(preference) for preference in (-0.2, -0.15, 0.1, None)] == expected
    assert is_raised(-0.15, Script.SIMPLIFIED)


def test_a_wrong_character_beside_one_left_out_is_two_flags_in_their_places() -> None:
    shown = [*sure("司射"), glyph(2, 適=0.998), glyph(3, 西=0.99, 酉=0.005), glyph(4, 階=0.998)]
    found_flags = flags("司射酉階", shown)
    assert raised_summaries(found_flags) == [(Kind.OMISSION, 2, 0, "", "適"), (Kind.SUBSTITUTION, 2, 1, "酉", "西")]


def weighed(transcribed: str, shown: Glyph, sure_of: float | None, legible: Legibility = FULLY_LEGIBLE) -> Flag:
    """The flag about a glyph between two that are read as transcribed, by an engine that is so sure of `transcribed`
    where it is drawn, on a page that shows so much."""
    own = flag_maker(self_reading=lambda character, _: sure_of if character == transcribed else None, legible=legible)
    (flag,) = own.flags(laid(f"正{transcribed}之", [*sure("正"), shown, *sure("之")]))
    return flag


IN_SHARES = glyph(1, 綱=0.54, 絅=0.26, 納=0.06, 網=0.04, 銅=0.09)
NEARLY = glyph(1, 末=0.955, 未=0.043)
MANY = glyph(1, 連=0.12, 重=0.09, 逢=0.08, 建=0.08, 達=0.07, 進=0.06, 運=0.05)
OFTEN_MISREAD = glyph(1, 闌=0.92, 闈=0.03, 闐=0.02, 闑=0.02)
COARSE = glyph(1, 篤=0.62, 篇=0.23, 萬=0.06, 薦=0.02, 笃=0.01)
SMALL_NOTES = Legibility(main=24.0, note=12.0)


@pytest.mark.parametrize(
    ("transcribed", "shown", "sure_of", "legible", "raised"),
    [
        # what is surely read where it stands is none of several that are believed in shares
        ("銅", IN_SHARES, 0.999, FULLY_LEGIBLE, True),
        ("銅", IN_SHARES, 0.9, FULLY_LEGIBLE, False),
        ("銅", replace(IN_SHARES, seen=("銅", "綱", "絅")), 0.999, FULLY_LEGIBLE, False),
        ("銅", glyph(1, 綱=0.9, 銅=0.09), 0.999, FULLY_LEGIBLE, False),
        # another form of what is transcribed speaks for it
        ("錄", glyph(1, 綠=0.5, 録=0.3, 銅=0.1, 錄=0.1), 0.999, FULLY_LEGIBLE, False),
        # the image has 末, which is read so with 0.93: 未 is never read otherwise than as 未
        ("未", NEARLY, 0.999, FULLY_LEGIBLE, True),
        ("未", NEARLY, 0.9, FULLY_LEGIBLE, False),
        ("未", replace(NEARLY, seen=("未", "末", "末")), 0.999, FULLY_LEGIBLE, False),
        # 闑 is read 闌 where a font draws it; 昜 is read 易, too, and where it stands for that this is certain
        ("闑", OFTEN_MISREAD, None, FULLY_LEGIBLE, True),
        ("闑", OFTEN_MISREAD, 0.0, FULLY_LEGIBLE, False),
        ("昜", glyph(1, 易=0.999), 0.01, FULLY_LEGIBLE, True),
        # 觀 where 覯 stands, read so on a clear page in two rows; 薦 where it stands, read so in cells of 16 pixels
        ("觀", glyph(1, 親=0.542, 覯=0.3, 觀=0.095, 靚=0.023), 0.999, Legibility(note=26.0, main=26.4), True),
        ("薦", COARSE, 0.999, FULLY_LEGIBLE, True),
        ("薦", COARSE, 0.999, Legibility(main=11.8), False),
        ("薦", COARSE, 0.999, SMALL_NOTES, True),
        ("薦", replace(COARSE, row=Row.RIGHT), 0.999, SMALL_NOTES, False),
        # the coarser an image, the surer must another reading be
        ("閦", glyph(1, 閩=0.75, 閦=0.005), None, Legibility(25.0), True),
        ("閦", glyph(1, 閩=0.75, 閦=0.005), None, Legibility(11.0), False),
        ("閦", glyph(1, 閩=0.999), None, Legibility(11.0), True),
        # a piece of a rule is not read as a letter
        ("成", glyph(1, **{"|": 0.84}, 八=0.05, N=0.02, 入=0.01), None, FULLY_LEGIBLE, False),
    ],
)
def test_what_is_read_is_raised_as_surely_as_the_engine_reads_it_so_where_it_is_drawn(
    transcribed: str, shown: Glyph, sure_of: float | None, legible: Legibility, raised: bool
) -> None:
    assert weighed(transcribed, shown, sure_of, legible).raised is raised


@pytest.mark.parametrize(
    ("transcribed", "shown", "sure_of", "gain"),
    [
        ("銅", glyph(1, 綱=0.9, 銅=0.09), 0.999, MAX_SELF_READING_GAIN_NATS),
        ("銅", glyph(1, 矣=0.3, 又=0.15, 父=0.15, 火=0.15, 災=0.15, 銅=0.09), 0.999, MAX_SELF_READING_GAIN_NATS),
        # what a hand runs together with it is not counted together against a character
        ("己", glyph(1, 已=0.52, 巳=0.46, 己=0.01), 0.999, ALIKE_WEIGHT * MAX_SELF_READING_GAIN_NATS),
        ("闑", OFTEN_MISREAD, 1 - USUAL_MISREADING, 0.0),
        ("闑", OFTEN_MISREAD, 0.5, log(USUAL_MISREADING / 0.5)),
        ("闑", OFTEN_MISREAD, 0.0, log(USUAL_MISREADING)),
        ("書", replace(MANY, seen=("書", "連")), 0.0, 0.0),
    ],
)
def test_how_surely_a_character_is_read_as_itself_weighs_so_much(
    transcribed: str, shown: Glyph, sure_of: float, gain: float
) -> None:
    unknown = weighed(transcribed, replace(shown, seen=()), None).score
    assert weighed(transcribed, shown, sure_of).score == pytest.approx(unknown + gain)


def test_a_small_glyph_is_judged_by_how_small_characters_are_read() -> None:
    """靈 in a note of 24 pixels is a blot; on the same page the main text is read surely."""
    sizes = Legibility(sizes=(57.0, 24.0))
    own = flag_maker(self_reading=lambda _, size: 1 - USUAL_MISREADING if size > 30 else 0.4, legible=sizes)

    def score(row: Row) -> float:
        shown = [replace(shape, row=row) for shape in (*sure("正"), glyph(1, 畫=0.87, 靈=0.009), *sure("之"))]
        (flag,) = own.flags(laid("正靈之", shown))
        return flag.score

    assert score(Row.RIGHT) == pytest.approx(score(Row.MAIN) + log(USUAL_MISREADING / 0.6))
