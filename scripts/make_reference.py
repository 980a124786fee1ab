"""Write settings, commands, exit statuses and the measured figures into the pages of docs/.

python scripts/make_reference.py [--check]

What is written stands between `<!-- made: NAME -->` and `<!-- end -->`. With --check nothing is written, and pages
that say something else than the program are named; the exit status is then 1.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import click
from markdown.extensions.toc import slugify  # type: ignore[import-untyped] # it has no annotations

from proof.cli import EXIT_INTERRUPTED, commands
from proof.errors import ProofError
from proof.settings.table import settings_table

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
    wrong |= {error.exit_code for error in _errors(ProofError)}
    if wrong != {2}:
        raise SystemExit(f"errors end with {sorted(wrong)}: say in {__file__} what each means")
    return (
        "| exit status | meaning |\n| --- | --- |\n"
        "| 0 | the command succeeded. A check succeeds with or without flags, also if pages have no image |\n"
        "| 1 | a part failed; it is listed on standard error |\n"
        "| 2 | wrong usage, unreadable input or unwritable output; the message names the file, the line and what to do "
        "|\n"
        f"| {EXIT_INTERRUPTED} | stopped with Ctrl-C |\n"
    )


def _errors(base: type[ProofError]) -> Iterator[type[ProofError]]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _errors(subclass)


SECTIONS = {
    "accuracy": ("Accuracy", "準確"),
    "time": ("The time of a half-folio", "一個半葉所需之時"),
    "second": ("A second check", "再校"),
    "texts": ("Texts and works without images", "文本與無書影之書"),
    "rules": ("Pages without rules and coarse scans", "無界欄之葉與粗圖"),
    "damaged": ("Damaged images", "損壞之影像"),
    "ink": ("Ink and glyphs as they are shown", "墨與所示之字形"),
    "language": ("The language model", "語言模型"),
    "witnesses": ("Witnesses", "他本"),
    "desk": ("The desk", "校案"),
    "store": ("The store of a large work", "大部書之存檔"),
    "cluster": ("On a cluster", "在叢集上"),
    "install": ("Installing and mistakes", "安裝與誤用"),
}
"""Sections of docs/measured.csv, in the order of the page: headings in English and in Chinese."""


def measured_tables(chinese: bool = False) -> str:
    """docs/measured.csv as a table a section."""
    with (DOCS / "measured.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    unknown = {row["section"] for row in rows} - set(SECTIONS)
    if unknown:
        raise SystemExit(f"docs/measured.csv: sections without a heading in {__file__}: {sorted(unknown)}")
    head = "| 何事 | 實測 | 目標 | 程式 | 版本 |" if chinese else "| what | figure | bar | script | revision |"
    parts = []
    for section, (english, han) in SECTIONS.items():
        heading = f"## {han} {{#{slugify(english, '-')}}}" if chinese else f"## {english}"
        parts += [heading, "", head, "| --- | --- | --- | --- | --- |"]
        for row in rows:
            if row["section"] == section:
                what = row["what_zh" if chinese else "what"]
                parts.append(f"| {what} | {row['figure']} | {row['bar']} | `{row['script']}` | `{row['revision']}` |")
        parts.append("")
    return "\n".join(parts)


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "reference/settings.md": ("settings", settings_table),
    "reference/commands.md": ("commands", command_pages),
    "reference/exit-statuses.md": ("exit statuses", status_table),
    "zh/reference/settings.md": ("settings", partial(settings_table, "zh-Hant")),
    "measured.md": ("measured", measured_tables),
    "zh/measured.md": ("measured", partial(measured_tables, chinese=True)),
}


def filled(name: str) -> tuple[str, str]:
    """A page as it stands, and as the program has it."""
    mark, make = PAGES[name]
    page = (DOCS / name).read_text(encoding="utf-8")
    begin, end = f"<!-- made: {mark} -->\n", "<!-- end -->"
    before, _, rest = page.partition(begin)
    _, marker, after = rest.partition(end)
    if not marker:
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
