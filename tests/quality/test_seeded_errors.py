"""Where errors are planted, and what they look like."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proof.model.flags import Flag, Kind
from proof.model.quality import QualityFlags
from proof.quality.sampling import samples_of
from proof.quality.seeded_errors import seeded_errors_of
from proof.text.alike import look_alikes, run_together
from proof.text.variants import Relation
from tests.planted_page import COLUMNS, FLAGS, JUDGE, page


def flags_at(rate: float, name: str = "P1", flags: tuple[Flag, ...] = ()) -> list[Flag]:
    return list(seeded_errors_of(page(flags, name), rate, JUDGE))


def test_about_as_many_are_planted_as_were_asked_for() -> None:
    characters = sum(len(column) for column in COLUMNS)
    made = sum(len(flags_at(100, f"P{number}")) for number in range(150))
    assert made == pytest.approx(150 * characters / 100, rel=0.2)


def test_none_stands_near_a_finding_a_sample_or_another() -> None:
    for number in range(20):
        samples = samples_of(page(FLAGS), 300, 3.0)
        seeded = seeded_errors_of(page(FLAGS), 1000, JUDGE, samples)
        places = [(flag.line, flag.offset, flag in seeded) for flag in (*FLAGS, *samples, *seeded)]
        for line, offset, is_planted in places:
            near = [p for p in places if p[0] == line and abs(p[1] - offset) <= 6 and p != (line, offset, is_planted)]
            assert not is_planted or not near, number


def test_a_planted_error_looks_like_one_that_was_found() -> None:
    made = [flag for number in range(40) for flag in flags_at(1000, f"P{number}")]
    assert len(made) > 100
    for flag in made:
        assert (flag.kind, flag.raised, flag.evidence.reason) == (Kind.SUBSTITUTION, True, "posterior")
        right = COLUMNS[flag.line - 1][flag.offset]
        assert flag.suggested == right
        assert f"[{flag.transcribed}]" in flag.context
        assert JUDGE.policy.relation(flag.transcribed, right).relation is Relation.DISTINCT
        assert flag.score > 3.0
        assert flag.evidence.p_text is not None
        assert flag.evidence.p_best is not None
        assert 0 < flag.evidence.p_text < 0.005
        assert 0.9 < flag.evidence.p_best < 1
        assert flag.evidence.alternatives[0] == (right, round(flag.evidence.p_best, 5))
        assert "planted" not in str(flag.as_dict())


def test_nothing_is_planted_where_the_image_was_not_read_for_sure_or_none_is_asked_for() -> None:
    blurred = replace(page(), characters=tuple(replace(character, p_text=0.6) for character in page().characters))
    assert seeded_errors_of(blurred, 1000, JUDGE) == ()
    assert seeded_errors_of(page(FLAGS), 0.0, JUDGE) == ()


def test_flags_keep_the_order_of_the_page() -> None:
    flags = QualityFlags(seeded=seeded_errors_of(page(FLAGS), 1000, JUDGE)).among(FLAGS)
    places = [(flag.line, flag.offset) for flag in flags]
    assert len(places) > len(FLAGS)
    assert places == sorted(places)
    assert len({flag.id for flag in flags}) == len(flags)


def test_what_is_confused_can_be_told_by_its_image() -> None:
    assert "北" in look_alikes("比")
    assert "矢" in look_alikes("失")
    for character in "大今矢比侯士":
        for other in look_alikes(character):
            assert character in look_alikes(other)
            assert not run_together(character, other)
            assert JUDGE.policy.relation(other, character).relation is Relation.DISTINCT
