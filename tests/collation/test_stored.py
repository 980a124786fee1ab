"""Witnesses speak for or against the flags of a check, once each."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.collation.collation import collate
from proof.collation.stored import weigh_stored
from proof.errors import UsageError
from proof.model.flags import Evidence, Flag, Kind
from proof.model.result import PageResult, Status
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store
from proof.store.rows import TextInfo
from proof.store.saving import CheckedResult
from proof.text.encoding import Decoded
from proof.text.read import parse_transcription
from proof.text.transcription import Transcription

PAGE = "KR1_WYG_010-1a"
LINE = "司射東面于大夫之西北耦大夫與大夫命上射曰某御于子"


def edition(name: str, line: str) -> Transcription:
    return parse_transcription(Decoded(f"<pb:{PAGE}>¶\n{line}¶\n", "utf-8", False), Path(name))


def test_a_flag_is_weighed_once(tmp_path: Path) -> None:
    base = edition("base.txt", LINE)
    offset = LINE.index("北")
    evidence = Evidence("posterior")
    flag = Flag(
        PAGE, "r", 1, offset, 1, Kind.SUBSTITUTION, "北", "比", 4.0, True, None, evidence, "之西[北]耦大夫", "f1"
    )
    with Store.open(tmp_path / "proof.sqlite") as store:
        with pytest.raises(UsageError, match="nothing was checked yet"):
            weigh_stored(store, [collate(base, base)])
        info = RunInfo("KR1", "書", (TextInfo("base.txt", "sha"),), EngineIdentity("none", "1", "none", "0"))
        run = store.begin_run(info)
        store.save_pages(
            run, [CheckedResult(PagePlace(0, "base.txt"), "", PageResult(PAGE, "r", Status.CHECKED, flags=(flag,)))]
        )
        witness = collate(base, edition("other.txt", LINE.replace("北", "比")))
        assert weigh_stored(store, [witness]) == 1
        (after,) = store.flags("KR1")
        assert after.score > flag.score
        assert [(one.siglum, one.reading) for one in after.evidence.witnesses] == [("other", "比")]
        assert weigh_stored(store, [witness]) == 0


def test_the_flags_of_the_text_that_is_named_are_weighed_whatever_was_checked_since(tmp_path: Path) -> None:
    base, later = edition("base.txt", LINE), edition("later.txt", LINE)
    offset = LINE.index("北")
    flag = Flag(
        PAGE, "r", 1, offset, 1, Kind.SUBSTITUTION, "北", "比", 4.0, True, None, Evidence("posterior"), "西[北]耦", "f1"
    )
    with Store.open(tmp_path / "proof.sqlite") as store:
        for work, path in (("A", "base.txt"), ("B", "later.txt")):
            run = store.begin_run(
                RunInfo(work, "書", (TextInfo(path, "sha"),), EngineIdentity("none", "1", "none", "0"))
            )
            store.save_pages(
                run, [CheckedResult(PagePlace(0, path), "", PageResult(PAGE, "r", Status.CHECKED, flags=(flag,)))]
            )
        assert weigh_stored(store, [collate(base, edition("other.txt", LINE.replace("北", "比")))]) == 1
        (weighed,), (left,) = (store.flags(work) for work in "AB")
        assert (weighed.score > flag.score, left.score) == (True, flag.score)
        with pytest.raises(UsageError, match="was not checked"):
            weigh_stored(store, [collate(edition("third.txt", LINE), later)])
