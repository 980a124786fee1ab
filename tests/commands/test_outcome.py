"""What a check came to, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.commands.outcome import print_counts
from proof.report.tally import HiddenPair, Tally
from proof.report.write import WrittenReport


def test_what_is_hidden_is_counted_by_the_rule_that_hid_it(capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally()
    tally.habits.update({HiddenPair("君", "石", "seen so in one way alone"): 1})
    drawn = "read so when drawn"
    tally.habits.update({HiddenPair("楅", "福", drawn): 10, HiddenPair("弣", "附", drawn): 3})
    print_counts(
        WrittenReport(Path("flags.jsonl"), Path("flags.csv"), Path("summary.json"), Path("report.html"), tally)
    )
    first, second = [line for line in capsys.readouterr().out.splitlines() if line.startswith("hidden")]
    assert first.startswith("hidden: 13 (福 for 楅 10, 附 for 弣 3). The recogniser reads this character so in a font")
    assert second.startswith("hidden: 1 (石 for 君 1). A second look at the image")
