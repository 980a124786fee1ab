"""Witnesses speak for or against the flags of a check, once each."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.collation.collation import collate
from proof.collation.stored import weigh_stored
from proof.errors import UsageError
from proof.store import Store
from proof.text.transcription import Transcription
from proof.text.witnesses import joined
from tests.build import check, flag, page, run_info, transcription

PAGE = "KR1_WYG_010-1a"
LINE = "司射東面于大夫之西北耦大夫與大夫命上射曰某御于子"
FLAG = flag(1, LINE.index("北"), "北", "比", name=PAGE, source=LINE, score=4.0)


def edition(name: str, line: str = LINE) -> Transcription:
    return transcription(f"<pb:{PAGE}>¶\n{line}¶\n", name)


OTHER = edition("other.txt", LINE.replace("北", "比"))


def test_a_flag_is_weighed_once(tmp_path: Path) -> None:
    base = edition("base.txt")
    with Store.open(tmp_path / "proof.sqlite") as store:
        with pytest.raises(UsageError, match="nothing was checked yet"):
            weigh_stored(store, [collate(base, base)])
        check(store, page(LINE, flags=[FLAG], name=PAGE), text="base.txt")
        witness = collate(base, OTHER)
        assert weigh_stored(store, [witness]) == 1
        (after,) = store.flags("KR1")
        assert after.score > FLAG.score
        assert [(one.siglum, one.reading) for one in after.evidence.witnesses] == [("other", "比")]
        assert weigh_stored(store, [witness]) == 0


def test_each_text_of_a_folder_is_weighed_at_its_own_place(tmp_path: Path) -> None:
    """Also where the one goes on on the page of the other."""
    first = edition("first.txt", "與進者相左相揖退反位司射作射如初一耦揖升如初")
    base = joined([first, edition("base.txt")], Path("folder"))
    with Store.open(tmp_path / "proof.sqlite") as store:
        for work, path, line in (("A", "first.txt", first.pages[0].columns[0].source), ("B", "base.txt", LINE)):
            given = FLAG if path == "base.txt" else flag(1, 1, "進", "近", name=PAGE, source=line, score=4.0)
            check(store, page(line, flags=[given], name=PAGE), info=run_info(work), text=path)
        assert weigh_stored(store, [collate(base, joined([first, OTHER], Path("other")))]) == 2
        (kept,), (raised,) = (store.flags(work) for work in "AB")
        assert (kept.score < FLAG.score, raised.score > FLAG.score) == (True, True)


def test_the_flags_of_the_text_that_is_named_are_weighed_whatever_was_checked_since(tmp_path: Path) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        for work, path in (("A", "base.txt"), ("B", "later.txt")):
            check(store, page(LINE, flags=[FLAG], name=PAGE), info=run_info(work), text=path)
        assert weigh_stored(store, [collate(edition("base.txt"), OTHER)]) == 1
        (weighed,), (left,) = (store.flags(work) for work in "AB")
        assert (weighed.score > FLAG.score, left.score) == (True, FLAG.score)
        with pytest.raises(UsageError, match="was not checked"):
            weigh_stored(store, [collate(edition("third.txt"), edition("later.txt"))])
