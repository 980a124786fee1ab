"""The engine that reads nothing."""

from __future__ import annotations

import numpy as np

from proof.ocr.engine import Engine, Reading
from proof.ocr.null import NullEngine


def test_the_null_engine_reads_nothing_and_knows_nothing() -> None:
    engine: Engine = NullEngine()
    assert engine.read([np.zeros((5, 5), np.uint8)] * 3) == [Reading(())] * 3
    assert (engine.knows("天"), engine.class_of("天")) == (False, None)
    assert engine.character_of(1) == ""
    assert engine.identity.name == "null"
