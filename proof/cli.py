"""The command line: finds the command, and turns what goes wrong into a message and an exit status."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence

import click

import proof
from proof.errors import ProofError

COMMANDS = (
    "demo",
    "fetch",
    "check",
    "serve",
    "user",
    "backup",
    "restore",
    "recover",
    "report",
    "learn",
    "convert",
    "export",
    "collate",
    "render",
    "layout",
    "engines",
)
"""Each is the module of that name in `proof.commands`, loaded when it is asked for."""

INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


class Commands(click.Group):
    """The commands by name; none is imported before it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"proof.commands.{cmd_name}").command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(proof.__version__, prog_name="proof")
def commands() -> None:
    """Proofread a digital Chinese classic against photographs of its pages."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives the exit status. `arguments` are those of the process unless they are given."""
    _write_any_character()
    try:
        status = commands.main(args=arguments, prog_name="proof", standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except ProofError as error:
        click.echo(f"proof: {error}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("proof: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Who read the output has gone, as `| head` does; what is left to write goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _write_any_character() -> None:
    """A terminal that cannot show a character gets its number; that is no reason to stop."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
