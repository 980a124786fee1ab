"""A text as the model of the language reads it."""

from __future__ import annotations

from proof.language.stream import BREAK, MARGIN_TOKENS, UNKNOWN, TokenStream, stream_of
from proof.text.transcription import Transcription
from tests.build import transcription

MARK = "<pb:KR1d0030_WYG_010-1a>¶\n"


def stream(text: str) -> tuple[Transcription, TokenStream]:
    read = transcription(MARK + text)
    return read, stream_of(read)


def told(stream: TokenStream) -> str:
    return "".join(
        {BREAK: "|", UNKNOWN: "?"}.get(int(t), chr(int(t))) for t in stream.tokens[MARGIN_TOKENS:-MARGIN_TOKENS]
    )


def test_the_text_goes_on_past_a_note_and_into_the_next_column() -> None:
    assert told(stream("三年魏韓(水經/注曰)會于¶\n宅陽¶\n")[1]).startswith("三年魏韓會于宅陽")


def test_a_note_goes_on_in_the_next_column_but_not_past_the_text_between() -> None:
    _, read = stream("魏(水經注/曰滎)¶\n(澤之/際)陽(音/羊)¶\n")
    notes = told(read).split("|" * MARGIN_TOKENS)[1]
    assert notes == "水經注曰滎澤之際|音羊"


def test_what_is_no_single_code_point_is_unknown_and_punctuation_is_passed_over() -> None:
    assert told(stream("子&KR0058;曰，學¶\n")[1]) == "子?曰學"


def test_every_token_leads_back_to_its_character() -> None:
    text, read = stream("三年(水經/注曰)魏¶\n　陽¶\n")
    for token, page, line, offset in zip(read.tokens, read.page, read.line, read.offset, strict=True):
        if page >= 0 and token != BREAK:
            assert ord(text.pages[page].columns[line].source[offset]) == token
    assert sum(read.page >= 0) - sum(read.tokens[read.page >= 0] == BREAK) == 8


def test_an_edition_without_pages_is_read_by_its_layers() -> None:
    edition = transcription("子曰學而【鄭注學也】時習之\n")
    assert "子曰學而時習之" in told(stream_of(edition))
