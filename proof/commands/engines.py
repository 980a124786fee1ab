"""`proof engines`: which recognisers can run here."""

from __future__ import annotations

import click

from proof.ocr.registry import availability


@click.command("engines")
def command() -> int:
    """List the engines, whether each can run here, and if not what to do."""
    engines = availability()
    width = max(len(engine.name) for engine in engines)
    for engine in engines:
        click.echo(f"{engine.name:{width}}  {engine.summary}")
        state = "available" if engine.available else f"not available: {engine.reason}; {engine.remedy}"
        click.echo(f"{'':{width}}  {state}{'; reads whole pages too' if engine.available and engine.pages else ''}")
    return 0
