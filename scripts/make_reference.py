"""Write into the pages of docs/ what the program says of itself: settings, commands, exit statuses, the API.

python scripts/make_reference.py [--check]

What is written stands between `<!-- made: NAME -->` and `<!-- end -->`. With --check nothing is written, and pages
that say something else than the program are named; the exit status is then 1.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from proof.cli import INTERRUPTED, commands
from proof.errors import ProofError
from proof.settings.config import Settings
from proof.settings.table import settings_table
from proof.web.app import create_app
from proof.web.description import FIRST_ERROR

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WIDTH = 100


def command_pages() -> str:
    """Every command with its help, as `--help` prints it."""
    return "\n".join(_of_command("proof", commands))


def _of_command(path: str, command: click.Command, parent: click.Context | None = None) -> Iterator[str]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, terminal_width=WIDTH)
    yield f"## {path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _of_command(f"{path} {name}", inner, context)


def status_table() -> str:
    """The exit statuses that errors, click and the shell have."""
    wrong = {ProofError.exit_code, click.UsageError.exit_code}
    wrong |= {one.exit_code for one in _errors(ProofError)}
    if wrong != {2}:
        raise SystemExit(f"errors end with {sorted(wrong)}: say in {__file__} what each means")
    return (
        "| exit status | meaning |\n| --- | --- |\n"
        "| 0 | what was asked for is done. Of a check: it finished, flags or not; pages without an image included |\n"
        "| 1 | done in part: what was not is named on standard error |\n"
        "| 2 | wrong usage, or input that cannot be read or output that cannot be written: the message names the file, "
        "the line and what to do |\n"
        f"| {INTERRUPTED} | stopped with Ctrl-C |\n"
    )


def _errors(base: type[ProofError]) -> Iterator[type[ProofError]]:
    for one in base.__subclasses__():
        yield one
        yield from _errors(one)


def api_pages() -> str:
    """Every address of the API: what it does, what it takes, what it answers."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.toml").write_text("", encoding="utf-8")
        app = create_app(Settings.load(Path(folder)))
        document: dict[str, Any] = app.test_client().get("/api/v1/openapi.json").get_json()
    parts = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts.append(_of_operation(path, method, operation, document["components"]["schemas"]))
    parts.append("## What is answered\n")
    for name, schema in sorted(document["components"]["schemas"].items()):
        said = _plain(schema.get("description", ""))
        parts += [f"### {name}\n", *([f"{said}\n"] if said else []), *_fields(schema)]
    return "\n".join(parts)


def _fields(schema: dict[str, Any]) -> list[str]:
    rows = [
        f"| `{name}` | {_type(field)} | {_plain(field.get('description', ''))} |"
        for name, field in schema.get("properties", {}).items()
    ]
    if not rows:
        return [f"{_type(schema)}\n"]
    return ["| field | type | meaning |", "| --- | --- | --- |", *rows, ""]


def _of_operation(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    lines = [f"## {method.upper()} {path}", ""]
    lines += [_plain(operation[key]) + "\n" for key in ("summary", "description") if operation.get(key)]
    rows = [
        f"| `{one['name']}` | {one['in']} | {_type(one['schema'])} | {_plain(one.get('description', ''))} |"
        for one in operation.get("parameters", ())
    ]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(content["schema"], schemas)
        rows += [
            f"| `{name}` | body | {_type(field)} | {_plain(field.get('description', ''))} |"
            for name, field in schema.get("properties", {}).items()
        ]
    if rows:
        lines += ["| name | in | type | meaning |", "| --- | --- | --- | --- |", *rows, ""]
    said = operation.get("responses", {})
    answers = [f"{status} {_answer(one)}" for status, one in said.items() if int(status) < FIRST_ERROR]
    wrong = [status for status in said if int(status) >= FIRST_ERROR]
    return "\n".join([*lines, f"Answers {', '.join(answers)}; errors {', '.join(wrong)}.", ""])


def _answer(response: dict[str, Any]) -> str:
    for content in response.get("content", {}).values():
        return f"with {_type(content['schema'])}"
    return "with nothing"


def _resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "reference/settings.md": ("settings", settings_table),
    "reference/commands.md": ("commands", command_pages),
    "reference/exit-statuses.md": ("exit statuses", status_table),
    "reference/api.md": ("api", api_pages),
    "zh/reference/settings.md": ("settings", partial(settings_table, "zh-Hant")),
}


def filled(name: str) -> tuple[str, str]:
    """A page as it stands, and as the program has it."""
    mark, make = PAGES[name]
    page = (DOCS / name).read_text(encoding="utf-8")
    begin, end = f"<!-- made: {mark} -->\n", "<!-- end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"docs/{name} has no {begin.strip()} ... {end}")
    return page, f"{before}{begin}\n{make().strip()}\n\n{end}{after}"


def main(arguments: list[str]) -> int:
    differ = []
    for name in PAGES:
        page, made = filled(name)
        if page != made:
            differ.append(f"docs/{name}")
            if "--check" not in arguments:
                (DOCS / name).write_text(made, encoding="utf-8")
    if differ and "--check" in arguments:
        sys.stderr.write(f"{', '.join(differ)}: not what the program says; run python scripts/make_reference.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
