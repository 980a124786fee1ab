"""Which modules their own test files do not cover whole: `python -m tests.coverage_by_file [--write]`.

`make coverage` must have run before: it notes for every line which test files reach it. The own test file of
`proof/a/b.py` is `tests/a/test_b.py`, or any that begins so (`test_b_browser.py`). Only lines within functions count,
since all others run at import. `coverage_by_file.txt` lists the modules that are not covered whole, each with the share
of its lines that its own test file does not reach. The list can only shrink: a module that is not in it must be
covered, a module in it must not get worse, and one that is covered must leave it. `--write` writes the list anew.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from coverage import Coverage, CoverageData

ROOT = Path(__file__).parents[1]
LISTED = Path(__file__).with_suffix(".txt")
ROUNDING = 1
"""Hundredths by which a share may be above the one that is listed: what threads run differs from run to run."""


def body_lines(source: str) -> set[int]:
    """The numbers of the lines within the functions of a module."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def shares(measured: Coverage, data: CoverageData) -> Iterator[tuple[str, int]]:
    """Each module of the program that its own test file does not cover whole, and how many hundredths of its lines that
    misses, at least one."""
    for file in sorted(ROOT.joinpath("proof").rglob("*.py")):
        module = file.relative_to(ROOT).as_posix()
        _, statements, *_ = measured.analysis2(str(file))
        lines = body_lines(file.read_text(encoding="utf-8")).intersection(statements)
        own = file.relative_to(ROOT / "proof").with_name(f"test_{file.stem}").as_posix()
        reached = {
            line
            for line, contexts in data.contexts_by_lineno(str(file)).items()
            if any(context.removesuffix(".py") == own or context.startswith(f"{own}_") for context in contexts)
        }
        if missed := lines - reached:
            yield module, max(1, round(100 * len(missed) / len(lines)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the list anew")
    options = parser.parse_args()
    measured = Coverage(config_file=str(ROOT / "pyproject.toml"))
    measured.load()
    missed = dict(shares(measured, measured.get_data()))
    if options.write:
        LISTED.write_text("".join(f"{share:3} {module}\n" for module, share in missed.items()), encoding="utf-8")
        return 0
    rows = (line.split(maxsplit=1) for line in LISTED.read_text(encoding="utf-8").splitlines())
    listed = {module: int(share) for share, module in rows}
    worse = [module for module, share in missed.items() if share > listed.get(module, -ROUNDING) + ROUNDING]
    covered = [module for module in listed if module not in missed]
    for module in worse:
        sys.stdout.write(f"{module}: its own test file misses {missed[module]} %, listed {listed.get(module, 0)} %\n")
    for module in covered:
        sys.stdout.write(f"{module}: covered whole, take it off {LISTED.name}\n")
    return int(bool(worse or covered))


if __name__ == "__main__":
    raise SystemExit(main())
