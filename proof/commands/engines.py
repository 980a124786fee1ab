"""`proof engines`: lists the recognisers and whether they can run on this machine."""

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
        if not engine.available:
            state = f"not available: {engine.reason}; {engine.remedy}"
        elif engine.pages:
            state = "available; reads whole pages too"
        else:
            state = "available"
        click.echo(f"{'':{width}}  {state}")
    return 0
