"""What the parts of a note are, by the words with which they begin."""

from __future__ import annotations

import pytest

from proof.text.layers import Layer
from proof.text.note_layers import note_parts


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("君尊不搢矢", [(Layer.COMMENTARY, "君尊不搢矢")]),
        ("袒徒旱反襦如朱反　君尊", [(Layer.GLOSS, "袒徒旱反襦如朱反"), (Layer.COMMENTARY, "君尊")]),
        ("辟不敏也\uf914音洛", [(Layer.COMMENTARY, "辟不敏也"), (Layer.GLOSS, "\uf914音洛")]),
        ("辟不敏也辟音避", [(Layer.COMMENTARY, "辟不敏也"), (Layer.GLOSS, "辟音避")]),
        (
            "為于偽反獲如字疏曰乏參侯道者",
            [(Layer.GLOSS, "為于偽反獲如字"), (Layer.SUBCOMMENTARY, "疏曰乏參侯道者")],
        ),
        (
            "重直用反傳文專反今按寡君以下是客對辭",
            [(Layer.GLOSS, "重直用反傳文專反"), (Layer.EDITOR, "今按寡君以下是客對辭")],
        ),
        ("案比今注疏本訛作北", [(Layer.EDITOR, "案比今注疏本訛作北")]),
        ("疏曰主人降復位反坐", [(Layer.SUBCOMMENTARY, "疏曰主人降復位反坐")]),
        ("注文疏曰二字", [(Layer.COMMENTARY, "注文疏曰二字")]),
    ],
)
def test_a_note_is_parted_by_voice(note: str, expected: list[tuple[Layer, str]]) -> None:
    assert [(layer, note[start:end]) for layer, start, end in note_parts(note)] == expected
