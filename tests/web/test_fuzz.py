"""The API fuzzed from its own description: whatever is asked, no answer is an error of the server's, and each is one
that the description names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok

from proof.store import Store
from proof.web import create_app
from proof.web.project import Project
from tests.sampling import examples
from tests.web.drawn import WORK, csrf_token, fill, settings_in

pytestmark = pytest.mark.slow

HELD = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
EXAMPLES = examples(6)


Case = schemathesis.Case[Any]


def aimed(case: Case) -> None:
    """Every other request at what is there: else nearly all are of works, pages and flags that are not."""
    place = case.path_parameters
    if len(str(place.get("work", ""))) % 2:
        place["work"] = WORK
        for name, most in (("page", 3), ("flag", 12)):
            if isinstance(place.get(name), int):
                place[name] = 1 + place[name] % most


def test_whatever_is_asked_is_answered_as_described(tmp_path: Path, subtests: pytest.Subtests) -> None:
    given_settings = settings_in(tmp_path)
    with Store.open(given_settings.store_address) as store:
        fill(store, tmp_path)
        app = create_app(given_settings, store=store)
        client = app.test_client()
        page = client.get(f"/works/{WORK}/").text
        name = app.config["SESSION_COOKIE_NAME"]
        cookie = client.get_cookie(name)
        assert cookie
        headers, cookies = {"X-CSRFToken": csrf_token(page)}, {name: cookie.value}
        description = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app, config=SchemathesisConfig(seed=1))
        checks: Any = [CHECKS.get_one(name) for name in HELD]
        asked = 0
        for result in description.get_all_operations():
            assert isinstance(result, Ok), result
            operation = result.ok()

            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.explicit, Phase.generate],
            )
            @given(case=operation.as_strategy())
            def ask(case: Case) -> None:
                aimed(case)
                case.call_and_validate(headers=headers, cookies=cookies, checks=checks)

            with subtests.test(operation.label):
                ask()
            asked += 1
        assert asked > 20
        project: Project = app.extensions["proof"]
        project.downloads.close()  # what was asked for and is not made yet needs the store
        project.rereading.close()
