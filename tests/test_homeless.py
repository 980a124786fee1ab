"""Whoever runs the program may have neither name nor home on the machine: a container with a user of its own."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import numpy as np
import pytest

from proof.errors import EngineError
from proof.ocr.models import cache_folder
from proof.ocr.registry import EngineSettings, open_engine
from proof.paths import expanded
from proof.store import Store
from proof.store.decision_records import Verdict
from proof.web import create_app
from tests.build import decision_log
from tests.web.drawn import WORK, Served, fill, settings_in

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "XDG_CACHE_HOME", "PADDLE_PDX_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_a_home_that_is_nowhere_is_no_folder() -> None:
    assert expanded("~/.fonts") == Path("~/.fonts")
    assert expanded("~no such user/fonts") == Path("~no such user/fonts")
    assert expanded("fonts") == Path("fonts")


def test_decisions_bear_a_number(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    with Store.open(settings.store_address) as store:
        sha = fill(store, tmp_path)
        client = Served(settings, store, create_app(settings, store=store), sha).client
        body = {"verdict": "take", "version": 0, "key": "request-0001"}
        assert client.post(f"/api/v1/works/{WORK}/flags/1/decisions", json=body).status_code == 201
        [made] = decision_log(store, WORK)
        assert (made.person, made.verdict) == (f"user {os.getuid()}", Verdict.TAKE)


def test_where_models_cannot_be_kept_it_is_said_what_to_set() -> None:
    with pytest.raises(EngineError, match="set XDG_CACHE_HOME"):
        cache_folder()
    with pytest.raises(EngineError, match="no such model"):
        open_engine(EngineSettings("paddleocr", model="~/mine.onnx")).read([np.full((60, 60), 255, np.uint8)])
