"""What is believed of a glyph: listed, or said when it is asked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proof.ocr.belief import FLOOR, Belief

LETTERS = "天地玄黃宇宙"


@st.composite
def beliefs(draw: st.DrawFn) -> Belief:
    listed = draw(st.dictionaries(st.sampled_from(LETTERS), st.floats(FLOOR, 0.0), max_size=4))
    far = draw(st.dictionaries(st.sampled_from(LETTERS), st.floats(-40.0, FLOOR), max_size=4))
    return Belief(listed, dict.fromkeys(far), far.__getitem__, FLOOR)


@given(beliefs(), st.lists(st.sampled_from(LETTERS), max_size=4))
def test_the_likeliest_of_some_characters_is_that_of_all_that_is_known_of_them(
    belief: Belief, characters: list[str]
) -> None:
    known = dict(belief)
    assert belief.greatest(characters) == max(
        (known[character] for character in characters if character in known), default=FLOOR
    )
    assert [value for _, value in belief.ranked()] == sorted(known.values(), reverse=True)


def test_nobody_is_asked_about_a_character_while_a_likelier_form_is_listed() -> None:
    def asked(character: str) -> float:
        raise AssertionError(character)

    belief = Belief({"畧": -0.1}, dict.fromkeys("略畧"), asked, FLOOR)
    assert belief.greatest("略畧") == -0.1
    assert belief.best == "畧"
    assert "略" in belief
