"""A small language: what is learned from a few made-up texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proof.language.model import LanguageModel, learn
from proof.language.stream import stream_of
from proof.text.transcription import Transcription
from tests.build import transcription

COMPANY = "天地玄黃宇宙洪荒盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水"
Paged = Callable[[list[str]], Transcription]


@pytest.fixture(scope="session")
def paged() -> Paged:
    """A transcription, each string a page of one column."""

    def made(columns: list[str]) -> Transcription:
        pages = [f"<pb:KR9z9999_WYG_001-{n // 2 + 1}{'ab'[n % 2]}>¶\n{column}¶\n" for n, column in enumerate(columns)]
        return transcription("".join(pages), "made.txt")

    return made


@pytest.fixture(scope="session")
def learned(paged: Paged) -> LanguageModel:
    """A language in which 己 stands before 丑 and 已 before 而, a hundred times each in changing company."""
    columns = [f"{COMPANY[n % 40]}月己丑朔{COMPANY[n * 7 % 40]}事已而歸{COMPANY[n * 3 % 40]}" for n in range(100)]
    return learn([stream_of(paged(columns))], ["made"])
