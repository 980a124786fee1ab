"""A TOML file tells the line of each key, however it is written, and of what is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.errors import ConfigError
from proof.settings.toml_file import TomlFile, line_of

TEXT = '''# a comment
title = "x = 1"

[page] # the page
  columns = 8
rows = [
  1, # [engine]
  2,
]
note = """
[engine]
threads = 1
"""
"script" = 'auto'

[engine]
threads.of.reading = 1
model = {name = "a", path = "b"}
'''


LINES = {
    "title": 2,
    "page": 4,
    "page.columns": 5,
    "page.rows": 6,
    "page.note": 10,
    "page.script": 14,
    "engine": 16,
    "engine.threads": 17,
    "engine.threads.of.reading": 17,
    "engine.model.path": 18,
}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_each_key_is_found_on_the_line_where_its_statement_begins(ending: str) -> None:
    text = TEXT.replace("\n", ending)
    assert {name: line_of(text, tuple(name.split("."))) for name in LINES} == LINES


STATEMENTS = [
    "{} = 1",
    '{} = "a # b"',
    "{} = [\n1,\n# {}\n2]",
    '{} = """\nx = 1\n\n"""',
    "{} = '''\n[t]'''",
    "{}.of = 2",
]
BETWEEN = ["", "\n", "# k0 = 1\n", "\n\n# [k1]\n"]


@given(st.lists(st.tuples(st.sampled_from(BETWEEN), st.sampled_from(STATEMENTS)), min_size=1, max_size=6))
def test_lines_are_right_in_any_mixture_of_statements(parts: list[tuple[str, str]]) -> None:
    text, lines = "[table]\n", {}
    for number, (between, statement) in enumerate(parts):
        text += between
        lines[f"k{number}"] = text.count("\n") + 1
        text += statement.replace("{}", f"k{number}") + "\n"
    assert {key: line_of(text, ("table", key)) for key in lines} == lines


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a = 1\nb =\n", 2, "Invalid value"),
        ("a = 1\nb = 2\na = 3", 3, "Cannot overwrite"),
        ('a = 1\nb = """\nc = 2\n', 2, "Unterminated string"),
        ("a = 1\n\nb = [1,\n2\n", 3, "Unclosed array"),
        ("[a]\n[a]\n", 2, "Cannot declare"),
        ("a = yes\n", 1, "Invalid value"),
    ],
)
def test_what_is_not_toml_is_named_with_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        TomlFile.read(path)
    assert str(caught.value).startswith(f"{path}:{line}: is not valid TOML: {what}")
    assert "at end of document" not in str(caught.value)


def test_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes("[project]\ntitle = '儀禮'\n".encode("big5"))
    with pytest.raises(ConfigError, match=r"config\.toml:2: is not UTF-8"):
        TomlFile.read(path)


def test_a_file_that_is_not_there_or_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: there is no such file"):
        TomlFile.read(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        TomlFile.read(tmp_path)
