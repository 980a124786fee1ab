"""Corrections change what they name and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import UsageError
from proof.locale.languages import translations
from proof.text.edit import Edit, edited


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text and edits of it that do not overlap, in any order."""
    text = draw(st.text(max_size=40))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=10, unique=True)))
    edits = [
        Edit(start, end - start, draw(st.text(max_size=4))) for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    return text, draw(st.permutations(edits))


@given(texts_with_edits())
def test_what_is_not_edited_stays(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    changed = edited(text, edits)
    reached = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        kept, text_before = text[reached : edit.start], changed[: edit.start - reached]
        assert text_before == kept
        assert changed[len(kept) :].startswith(edit.replacement)
        changed = changed[len(kept) + len(edit.replacement) :]
        reached = edit.end
    assert changed == text[reached:]
    assert edited(text, []) == text


def test_insertions_at_one_place_keep_their_order() -> None:
    assert edited("大儀", [Edit(1, 0, "射"), Edit(0, 1, "又"), Edit(1, 0, "之")]) == "又射之儀"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 2, "甲"), Edit(1, 1, "乙")],
        [Edit(0, 3, "甲"), Edit(1, 0, "乙")],
        [Edit(1, 1, "甲"), Edit(1, 1, "甲")],
    ],
)
def test_edits_that_claim_one_place_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(UsageError, match="are at the same place"):
        edited("大射儀也", edits)


def test_edits_that_claim_one_place_are_named_in_the_language_of_the_reader() -> None:
    with pytest.raises(UsageError) as refused:
        edited("大射儀也", [Edit(0, 2, "甲"), Edit(1, 0, "乙")])
    message = refused.value.sentence.in_words(translations("zh-Hant").gettext)
    assert message == "在 1 處插入 '乙' 與 對 0 至 2 的修改 爭同一處：請撤回其一"


@pytest.mark.parametrize("edit", [Edit(4, 1, ""), Edit(-1, 1, ""), Edit(5, 0, ""), Edit(1, -1, "")])
def test_an_edit_outside_the_text_is_refused(edit: Edit) -> None:
    with pytest.raises(UsageError, match="outside the text"):
        edited("大射儀也", [edit])
