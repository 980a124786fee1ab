"""What histories share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.caches import computed_once


@pytest.fixture(autouse=True)
def pages_once() -> Iterator[None]:
    """What a test before has computed of the same page is not computed again, and no report is written."""
    with computed_once():
        yield
