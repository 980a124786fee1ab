"""Measure the program against known truth, and print one table.

    python -m scripts.bench MEASURE [options]        its options: python -m scripts.bench MEASURE --help

Every measure is a module beside this one: `options(parser)` declares what it takes, `measure(options)` gives the rows
of its table, whose columns are its HEADINGS, or these: figure, measured, bar, counts. It works in the folder
`options.folder`, a temporary one unless --keep names it, and reads texts, images and truth from --shared. Other work on
the machine spoils figures of time and memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from scripts.bench.material import SHARED

MEASURES = (
    *("planted", "classes", "verifiers", "canon", "running", "witnesses", "passages", "untaught", "coarse", "geometry"),
    *("columns", "plain", "ink", "crops", "glyphs", "language"),
    *("texts", "speed", "stages", "store", "cluster", "web", "steady"),
)
HEADINGS = ("figure", "measured", "bar", "counts")


def main(words: Sequence[str]) -> None:
    if not words or words[0] not in MEASURES:
        raise SystemExit(f"{__doc__}\nMEASURE is one of: {', '.join(MEASURES)}")
    module = import_module(f"scripts.bench.{words[0]}")
    parser = argparse.ArgumentParser(
        prog=f"python -m scripts.bench {words[0]}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--shared", type=Path, default=SHARED, help="texts, images and truth")
    parser.add_argument("--keep", type=Path, help="work in this folder, with what lies there, and leave it")
    parser.add_argument("--details", action="store_true", help="list what was missed and what was false")
    module.options(parser)
    options = parser.parse_args(words[1:])
    if not options.shared.is_dir():
        raise SystemExit(f"{options.shared} is missing: name the folder of texts, images and truth with --shared")
    table = Table(*getattr(module, "HEADINGS", HEADINGS), title=words[0])
    with workplace(options.keep) as options.folder:
        for row in module.measure(options):
            table.add_row(*row)
    Console(width=130).print(table)


@contextmanager
def workplace(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="proof-bench-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
