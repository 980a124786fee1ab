"""Witnesses speak for or against the flags of a check, once each."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.collation.collation import collate
from proof.collation.stored_readings import weigh_stored
from proof.errors import UsageError
from proof.store import Store
from proof.text.transcription import Transcription
from tests.build import check, flag, page, transcription

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
        assert [(witness.siglum, witness.reading) for witness in after.evidence.witnesses] == [("other", "比")]
        assert weigh_stored(store, [witness]) == 0
