"""What an export would write, shown in the text around each place."""

from __future__ import annotations

from pathlib import Path

from proof.exports.corrections import Correction
from proof.exports.decided_corrections import Decided, LeftOut, Unused
from proof.exports.preview import preview_of
from proof.store import Store
from proof.store.decision_records import Verdict
from tests.build import check, decide, page, queued, transcription

PAGE = "KR1_WYG_010-1a"
MARKED = f"<md:KR1_SBCK_010-1a>\n<pb:{PAGE}>¶\n大射¶之儀北耦<pb:KR1_WYG_010-1b>¶\n司射¶告<md:KR1_SBCK_010-1b>者揖\n"
"""A text whose base edition has other pages: its lines and pages end within these columns."""


def test_the_text_around_a_place_has_characters_alone() -> None:
    decided = Decided(
        transcription(MARKED),
        (Correction(PAGE, 1, 5, 1, "比", "北"), Correction("KR1_WYG_010-1b", 1, 24, 1, "也", "者")),
    )
    preview = preview_of(decided)
    assert not preview.not_written
    around = [(each.before, each.old, each.after) for each in preview.written]
    assert around == [("大射之儀", "北", "耦"), ("司射告", "者", "揖")]


def test_so_has_what_is_left_out(tmp_path: Path) -> None:
    with Store.open(tmp_path / "proof.sqlite") as store:
        check(store, page("大射¶之儀北耦", flags=((1, 5, "北", "比"),)))
        [flag] = queued(store)
        decision = decide(store, flag.number, Verdict.UNSURE)
    decided = Decided(transcription(MARKED), left_out=(LeftOut(decision, Unused.UNSURE, "text.txt"),))
    [planned] = preview_of(decided).not_written
    assert (planned.before, planned.old, planned.after) == ("射之儀", "北", "耦")
