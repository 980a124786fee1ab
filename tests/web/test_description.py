"""The description of the API: what a client generator and a reader find in it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.web.drawn import Served


@pytest.fixture(scope="module")
def document(unchanged: Served) -> Any:
    return unchanged.client.get("/api/v1/openapi.json").json


def operations(document: Any) -> list[dict[str, Any]]:
    return [operation for methods in document["paths"].values() for operation in methods.values()]


def test_every_operation_has_a_summary_and_a_name_of_its_own(document: Any) -> None:
    assert [operation for operation in operations(document) if not operation.get("summary")] == []
    names = Counter(operation["operationId"] for operation in operations(document))
    assert [name for name, times in names.items() if times > 1 or not name.isidentifier() or "work__" in name] == []


def test_without_accounts_only_what_changes_something_is_authorised(document: Any) -> None:
    for methods in document["paths"].values():
        for method, operation in methods.items():
            assert operation.get("security") == (None if method == "get" else [{"session": [], "csrf": []}])


def values_of(part: Any, key: str) -> list[str]:
    """All texts under `key` in a part of the description, however deep."""
    if isinstance(part, list):
        return [text for item in part for text in values_of(item, key)]
    if not isinstance(part, dict):
        return []
    own = [part[key]] if isinstance(part.get(key), str) else []
    return own + [text for value in part.values() for text in values_of(value, key)]


def test_errors_are_problem_documents_and_other_answers_are_not(document: Any) -> None:
    for operation in operations(document):
        for status, answer in operation["responses"].items():
            assert ("application/problem+json" in answer.get("content", {})) == (status >= "400")


def test_texts_have_no_line_breaks_and_full_stops_of_docstrings(document: Any) -> None:
    assert [summary for summary in values_of(document["paths"], "summary") if summary.endswith(".")] == []
    texts = values_of(document, "description")
    assert [text for text in texts if "<br/>" in text or "\n" in text.replace("\n\n", "")] == []


def test_names_in_the_description_of_a_schema_are_fields_or_values(document: Any) -> None:
    schemas = document["components"]["schemas"]
    names = {name for schema in schemas.values() for name in (*schema.get("properties", {}), *schema.get("enum", ()))}
    for name, schema in schemas.items():
        assert {*re.findall(r"`([^`]+)`", schema.get("description", ""))} <= names, name


def test_a_record_has_one_schema_wherever_it_is_a_part_of_an_answer(document: Any) -> None:
    schemas = document["components"]["schemas"]
    second_names = {f"#/components/schemas/{name}" for name, schema in schemas.items() if "$ref" in schema}
    assert second_names.isdisjoint(values_of(schemas, "$ref"))
