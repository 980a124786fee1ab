"""The command line: finds the command, and turns errors into a message and an exit status."""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

import proof
from proof.errors import OutputError, ProofError, reason_of
from proof.locale.marking import _
from proof.locale.terminal import error_text, say, terminal_language

COMMANDS = {
    "demo": _("Check the sample: drawn half-folios of 大射儀 with known errors, and a scanned one."),
    "init": _("Make FOLDER a project: write a config.toml that names its texts and images."),
    "fetch": _("Fetch page images, one at a time, into the project's image folder."),
    "pair": _("Match pages and images by hand: list those without a partner, or write an image list."),
    "check": _("Check transcriptions against images of their pages."),
    "cluster": _("Start a scheduler and workers on this machine, for `proof check --cluster`."),
    "serve": _("Proofread in the browser what `proof check` flagged."),
    "user": _("Accounts of the people who proofread with `proof serve --auth`."),
    "backup": _("Save the project into FILE: store with all decisions and their journal, settings, texts and images."),
    "restore": _("Unpack the backup FILE into FOLDER, a new or empty one."),
    "recover": _("Rebuild decisions, page states, layouts, rules and comments from the journal."),
    "report": _("Write the reports again from the store, with the decisions made since the last check."),
    "learn": _("Learn the language from texts, in any of the formats."),
    "convert": _("Convert a transcription into another format."),
    "export": _("Write accepted corrections, and nothing else, into a transcription or all of the project."),
    "collate": _("Collate a transcription with other witnesses of its text."),
    "carry": _("Carry decisions from one edition or format of a text to another."),
    "render": _("Draw a transcription as Siku half-folios, worn by a seed."),
    "layout": _("Show the columns that a check reads on images of pages, ruled or not."),
    "bench": _("Score a verifier on a benchmark of known errors."),
    "engines": _("List the engines, whether each can run here, and if not what to do."),
}
"""The help of each command. A command is the module of that name in `proof.commands`. It is imported only when the
command is called: `proof --help` imports none of them."""

DISK_ERRNOS = (errno.EIO, errno.ENOSPC, errno.EROFS, errno.EDQUOT)
"""Error numbers that any call may raise if a disk fails or is full."""

EXIT_INTERRUPTED = 130
"""Exit status after an interrupt: 128 plus the number of SIGINT, as in shells."""


class Commands(click.Group):
    """The commands by name; each is imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # Objects that modules create while they are imported last: collecting garbage would take a tenth of the start.
        gc.disable()
        try:
            command: click.Command = importlib.import_module(f"proof.commands.{cmd_name}").command
        finally:
            gc.freeze()
            gc.enable()
        if terminal_language() == "en":
            return command
        from proof.commands.translated import translated  # noqa: PLC0415 - the list of commands loads no settings

        return translated(command)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        if terminal_language() == "en":
            return params
        from proof.commands.translated import in_the_language  # noqa: PLC0415 - as above

        return in_the_language(params)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(say(self.help or ""))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - 6 - max(map(len, COMMANDS))  # as in click: 6 columns for indentation and gap
        with formatter.section(say(_("Commands"))):
            formatter.write_dl(
                [(name, click.Command(name, help=say(COMMANDS[name])).get_short_help_str(room)) for name in COMMANDS]
            )


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(proof.__version__, prog_name="proof")
def commands() -> None:
    """Proofread a digital Chinese classic against photographs of its pages."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status; `arguments` are those of the process if None."""
    _write_any_character()
    if terminal_language() != "en":
        from proof.commands.click_words import translate_click  # noqa: PLC0415 - English is in click

        translate_click()
    try:
        status = commands.main(args=arguments, prog_name="proof", standalone_mode=False)
        sys.stdout.flush()
        return int(status or 0)
    except ProofError as error:
        click.echo(f"proof: {error_text(error)}", err=True)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo(f"proof: {say(_('interrupted'))}", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The program that reads the output has ended, as in `proof ... | head`: the rest of the output is dropped.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.filename is None and error.errno not in DISK_ERRNOS:
            raise
        where = f"{error.filename}: " if error.filename else ""
        message = _("%(where)s%(reason)s; check that the disk can be read and written")
        click.echo(f"proof: {error_text(OutputError(message, where=where, reason=reason_of(error)))}", err=True)
        return OutputError.exit_code


def run() -> NoReturn:
    """Run the command of this process, and end the process. After an interrupt it does not wait for threads that are
    still reading a page: everything else is closed by then, and their readings are dropped."""
    status = main()
    if status == EXIT_INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _write_any_character() -> None:
    """Write characters that the terminal's encoding lacks as escapes (`\\u4e00`) instead of raising an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
