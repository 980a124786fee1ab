"""What witnesses weigh: one that agrees lowers a doubtful flag, and never sinks an error that the image shows."""

from __future__ import annotations

from dataclasses import replace
from math import log
from random import Random

import pytest

from proof.collation.collation import collate
from proof.collation.witness_evidence import WEIGHTS, Parallel, beside, weigh_witnesses, without_witnesses
from proof.model.flags import Evidence, Flag, Kind
from proof.settings.config import Settings
from proof.text.model import Script
from proof.text.transcription import Transcription
from proof.text.variants import VariantPolicy
from proof.verify.scores import substitution_score
from tests.build import transcription

PAGE = "KR1d0030_WYG_010-1a"
WRONG = "大射之儀君有命戒射宰戒百官有事於射者宰夫戒宰及司馬射人宿視滌"
RIGHT = WRONG.replace("官", "宮")
THRESHOLD = Settings().flags.threshold


def edition(body: str, name: str) -> Transcription:
    return transcription(f"<pb:{PAGE}>¶\n{body}¶\n", name)


def flag(score: float, p_text: float | None = 0.05, p_best: float | None = 0.6) -> Flag:
    evidence = Evidence("posterior", p_text=p_text, p_best=p_best)
    raised = score >= THRESHOLD
    return Flag(PAGE, "", 1, WRONG.index("官"), 1, Kind.SUBSTITUTION, "官", "宮", score, raised, None, evidence)


def weighed(given: Flag, base: Transcription, *witnesses: Transcription) -> Flag:
    """The flag on `base` after these witnesses were heard."""
    parallels = [Parallel.of(collate(base, witness)) for witness in witnesses]
    (after,) = weigh_witnesses([given], base, parallels, VariantPolicy(Script.TRADITIONAL), THRESHOLD)
    return after


def heard(given: Flag, *bodies: str) -> Flag:
    witnesses = (edition(body, f"{number}.txt") for number, body in enumerate(bodies, start=1))
    return weighed(given, edition(WRONG, "base.txt"), *witnesses)


@pytest.mark.parametrize("body", [RIGHT, WRONG])
def test_another_reader_of_the_image_is_shown_and_weighs_nothing(body: str) -> None:
    reader = replace(edition(body, "vlm.txt"), siglum="~vlm")
    after = weighed(flag(2.0), edition(WRONG, "base.txt"), reader, edition(RIGHT, "copy.txt"))
    assert [witness.siglum for witness in after.evidence.witnesses] == ["~vlm", "copy"]
    assert after.evidence.witnesses[0].side == ("image" if body == RIGHT else "text")
    assert after.score == pytest.approx(2.0 + WEIGHTS.image)


def test_a_witness_that_is_illegible_here_and_there_weighs_no_less() -> None:
    whole = "".join(map(chr, range(0x5000, 0x5200)))
    illegible = "".join("□" if at % 8 == 0 else char for at, char in enumerate(whole))
    collation = collate(edition(whole, "base.txt"), edition(illegible, "copy.txt"))
    assert [quality.weight for quality in collation.quality] == [1.0]


@pytest.mark.parametrize("run", ["者", "揖", "揖進坐", "揖進坐奠觚拜興降西階上", "宰夫揖"])
def test_a_run_that_is_missing_or_too_much_is_heard_wherever_it_may_begin(run: str) -> None:
    """Either 宰夫揖 is missing before 宰夫 or 揖宰夫 behind it; what is shown is the reading at the flag alone."""
    at = WRONG.index("宰夫")
    longer = WRONG[:at] + run + WRONG[at:]
    seen = Evidence("not transcribed")
    for body, kind, text, suggested in ((WRONG, Kind.OMISSION, "", run), (longer, Kind.INSERTION, run, "")):
        base = edition(body, "base.txt")
        given = Flag(PAGE, "", 1, at, len(text), kind, text, suggested, 2.0, False, None, seen)
        for witness, side in ((WRONG, "text"), (longer, "image")) if not text else ((WRONG, "image"), (longer, "text")):
            after = weighed(given, base, edition(witness, "witness.txt"))
            reading = run if witness == longer else ""
            assert [(witness.side, witness.reading) for witness in after.evidence.witnesses] == [(side, reading)]


def test_it_is_told_what_each_witness_reads_and_whose_side_that_takes() -> None:
    """A witness has no say on layout, nor between two forms of one word."""
    readings = heard(flag(3.0), RIGHT, WRONG).evidence.witnesses
    assert [(reading.siglum, reading.reading, reading.side) for reading in readings] == [
        ("1", "宮", "image"),
        ("2", "官", "text"),
    ]
    layout = replace(flag(3.0), kind=Kind.LAYOUT, line=0, length=0)
    assert heard(layout, RIGHT) == layout
    forms = replace(flag(3.0), kind=Kind.VARIANT, offset=WRONG.index("於"), transcribed="於", suggested="于")
    assert heard(forms, WRONG).score == forms.score


@pytest.mark.parametrize("copies", [1, 2, 5])
@pytest.mark.parametrize("doubt", [0.0, 0.1, 0.2])
def test_an_error_that_the_image_shows_clearly_stays_however_many_share_it(copies: int, doubt: float) -> None:
    score = substitution_score(log(0.005), log(0.9), doubt)
    after = heard(flag(score, 0.005, 0.9), *[WRONG] * copies)
    assert after.raised is (score >= THRESHOLD)
    assert after.score <= score
    assert all(witness.weight <= 0 for witness in after.evidence.witnesses)


def test_a_sure_omission_is_not_sunk_by_many_copies_of_one_text() -> None:
    after = heard(flag(7.2, None, None), *[WRONG] * 6)
    assert after.raised
    assert heard(flag(6.0, None, None), *[WRONG] * 6).raised is False


def test_a_clear_error_keeps_only_what_leaves_it_raised_and_forgets_all_of_it_again() -> None:
    given = flag(THRESHOLD + 1.0, 0.001, 0.95)
    after = heard(given, WRONG, WRONG)
    assert after.score >= THRESHOLD
    assert after.score == pytest.approx(given.score + sum(witness.weight for witness in after.evidence.witnesses))
    alone = without_witnesses(after)
    assert (alone.score, alone.evidence) == (given.score, given.evidence)
    assert heard(after, WRONG, WRONG) == after


def test_a_witness_is_heard_where_the_text_quotes_itself_by_whatever_way_it_was_collated() -> None:
    """What `proof collate --weigh` hears and what a check hears is one and the same."""
    own = "此自為一段注文解説前文之義也疏云"
    quoting = edition(f"{RIGHT}{own}{WRONG[4:20]}者言其事也", "base.txt")
    witness = edition(RIGHT, "witness.txt")
    parallel = Parallel.of(collate(quoting, witness))
    kept, _ = beside(quoting, witness)
    assert parallel.aligned == kept.aligned
    at = len(RIGHT) + len(own) + WRONG.index("官") - 4
    given = Flag(PAGE, "", 1, at, 1, Kind.SUBSTITUTION, "官", "宮", 2.0, False, None, Evidence("posterior"))
    for each in (parallel, kept):
        (after,) = weigh_witnesses([given], quoting, [each], VariantPolicy(Script.TRADITIONAL), THRESHOLD)
        assert [told.side for told in after.evidence.witnesses] == ["image"]


def test_a_flag_whose_place_is_in_no_single_line_gets_no_readings_of_witnesses() -> None:
    given = flag(3.5)
    for gone in (replace(given, line=2), replace(given, offset=len(WRONG))):
        assert heard(gone, WRONG).evidence.witnesses == ()
    assert heard(given, WRONG).evidence.witnesses


def test_a_bad_witness_weighs_less_where_it_is_bad() -> None:
    rng = Random(3)  # noqa: S311 - characters of a test
    juan = ["".join(chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(2000)) for _ in range(2)]
    bad = "".join(chr(rng.randrange(0x4E00, 0x9FA5)) if n % 8 == 5 else char for n, char in enumerate(juan[1]))
    base, witness = (
        transcription("".join(f"<pb:KR1_WYG_00{n}-1a>¶\n{text}¶\n" for n, text in enumerate(texts, 1)))
        for texts in (juan, [juan[0], bad])
    )
    good, worse = collate(base, witness).quality
    assert (good.juan, good.differing, good.weight) == ("001", 0, 1.0)
    assert (worse.juan, worse.differing) == ("002", 250)
    assert 0.5 < worse.weight < 0.7
