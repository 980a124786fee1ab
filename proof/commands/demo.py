"""`proof demo`: the main job on the sample project."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from proof.commands.check import run_check
from proof.paths import sample_dir
from proof.settings.config import Settings

ALL = 1_000_000


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    show_default=True,
    metavar="PATH",
    help="Folder that reports and flags are written to.",
)
def command(out: Path) -> int:
    """Check the sample: twenty half-folios of 大射儀 with known errors.

    Prints every flagged place, what the text and what the image says, and where the report lies.
    """
    return run_check(sample_settings(out), ALL, quiet=False, verbose=False)


def sample_settings(out: Path) -> Settings:
    """The settings of the sample. Its folder is a project where it is the working folder; elsewhere it is
    part of the program, and the store lies with the reports."""
    sample = sample_dir()
    settings = Settings.load(sample).replace({"project.out": out})
    return settings if sample == Path.cwd() else replace(settings, file=None)
