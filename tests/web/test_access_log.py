"""The access log, as programs that read Apache's or nginx's take it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proof.errors import OutputError
from proof.web.access_log import write_access_log
from tests.web.drawn import Served

COMBINED = re.compile(r'(\S+) - (\S+) \[([^]]+)\] "([^"]*)" (\d{3}) (\d+|-) "([^"]*)" "([^"]*)" (\d+\.\d{3})')


def test_each_answer_is_a_line_that_no_browser_can_break(served: Served, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    write_access_log(served.app, log)
    client = served.app.test_client()
    client.get("/healthz")
    log.rename(tmp_path / "access.log.1")
    client.get("/nowhere?q=乗", headers={"User-Agent": 'x" 200 0 "', "Referer": "http://localhost/\\"})
    first, second = (
        COMBINED.fullmatch(path.read_text(encoding="utf-8").rstrip("\n")) for path in (tmp_path / "access.log.1", log)
    )
    assert first
    assert second
    assert first[4] == "GET /healthz HTTP/1.1"
    assert (second[4].startswith("GET /nowhere?q="), second[5], second[2]) == (True, "404", "-")
    assert second[8] == r"x\x22 200 0 \x22"


def test_a_log_that_cannot_be_written_is_named(served: Served, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="name another file for --log"):
        write_access_log(served.app, tmp_path / "nowhere" / "access.log")
