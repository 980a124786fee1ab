"""`proof cluster`: a scheduler and workers on this machine, which check pages for `proof check --cluster`."""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from typing import Any

import click

from proof.commands.serve import is_loopback
from proof.errors import UsageError
from proof.locale.marking import _
from proof.locale.terminal import say

POLL_SECONDS = 1.0
"""Seconds between checks of the scheduler and the workers, and before a failed worker is started again."""

MIN_MEMORY_BYTES = 300_000_000
"""Minimum memory of a worker. With less it dies before it has read a page, and would be restarted for ever."""

DASK_SETTINGS = {
    # pages of a dead worker are sent again by the sender, which limits the tries (`proof.checking.cluster.MAX_DEATHS`)
    "distributed.scheduler.allowed-failures": 0,
    # the scheduler drops a disconnected machine before a person takes the check for hanging
    "distributed.scheduler.worker-ttl": "60 s",
    # a log entry keeps its finished task alive: with the default lengths the logs would take most of the memory
    "distributed.admin.low-level-log-length": 20,
    "distributed.admin.log-length": 100,
    # profiling takes a tenth of the time, and nobody reads the profiles
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10 s",
    "distributed.admin.system-monitor.gil.enabled": False,
    # a worker's memory is one page, a model and an image: pausing or spilling below the limit would only slow it
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
}

IGNORE_INTERRUPT = {"distributed.worker.preload": ["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"]}
"""Settings with which worker processes ignore Ctrl-C. A terminal sends it to all its processes, but this process ends
its workers in order."""


@click.command("cluster")
@click.option(
    "--workers",
    type=click.IntRange(0, 1024),
    metavar="NUMBER",
    help="Worker processes, each with one thread; 0: only a scheduler. [default: one a core]",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8786, show_default=True, type=click.IntRange(0, 65535), help="Port; 0: any free one.")
@click.option("--join", metavar="ADDRESS", help="Start only workers, for the scheduler at this address.")
@click.option("--memory", default="4GB", show_default=True, help="Memory of a worker, which is restarted beyond it.")
def command(workers: int | None, host: str, port: int, join: str | None, memory: str) -> int:
    """Start a scheduler and workers on this machine, for `proof check --cluster`.

    Runs until it is interrupted; a worker that dies is started again. On further machines `proof cluster --join
    ADDRESS` adds workers to the same scheduler. Anybody who reaches the port can run programs here. By default it is
    reachable from this machine only; with another --host, use a separate network.
    """
    try:
        import dask  # noqa: PLC0415 - of the extra, half a second
        from dask.utils import parse_bytes  # noqa: PLC0415
        from distributed import LocalCluster  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(_("a cluster needs Dask distributed: pip install 'hanproof[cluster]'")) from error
    try:
        is_enough = parse_bytes(memory) >= MIN_MEMORY_BYTES
    except (ValueError, OverflowError):
        is_enough = False
    if not is_enough:
        raise UsageError(_("--memory %(memory)s: a worker needs at least 300MB; write it like 4GB"), memory=memory)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    count = os.cpu_count() or 1 if workers is None else workers
    logging.getLogger("tornado.application").setLevel(logging.CRITICAL)  # a worker logs its own death
    with dask.config.set(DASK_SETTINGS | IGNORE_INTERRUPT):
        if join:
            return _join(join, count, memory)
        if not is_loopback(host):
            message = _("whoever reaches %(address)s can run programs here")
            click.echo(f"proof: {say(message, address=f'{host}:{port}')}", err=True)
        try:
            cluster = LocalCluster(
                n_workers=0,  # if LocalCluster started them, one that dies at its start would end the others
                threads_per_worker=1,
                host=host,
                scheduler_port=port,
                dashboard_address="127.0.0.1:0",
                memory_limit=memory,
            )
        except (OSError, RuntimeError) as error:
            raise UsageError(
                _("%(host)s:%(port)s: no scheduler can listen there (%(error)s); name another --port"),
                host=host,
                port=port,
                error=error,
            ) from error
        with cluster, suppress(KeyboardInterrupt):
            while len(cluster.scheduler.workers) < count:
                _start_missing(cluster, count)
                time.sleep(POLL_SECONDS / 10)
            click.echo(say(_("%(number)s workers at %(address)s"), number=count, address=cluster.scheduler_address))
            while cluster.scheduler is not None and cluster.scheduler.status.name == "running":
                time.sleep(POLL_SECONDS)
                _start_missing(cluster, count)
    return 0


def _start_missing(cluster: Any, count: int) -> None:
    """Start the missing workers, since Dask does not restart one that died at its start."""
    for name, nanny in list(cluster.workers.items()):
        if nanny.status.name in ("failed", "closed"):
            cluster.workers.pop(name, None)
            message = _("a worker died at its start; another is started")
            click.echo(f"proof: {say(message)}", err=True)
    cluster.scale(count)


def _join(address: str, workers: int, memory: str) -> int:
    """Run workers for a scheduler elsewhere until it ends or they are interrupted. Raises UsageError."""
    import asyncio  # noqa: PLC0415

    from distributed import Nanny  # noqa: PLC0415

    from proof.checking.cluster import must_be_scheduler  # noqa: PLC0415 - needs Dask

    must_be_scheduler(address)

    async def worker() -> Any:
        """Run a worker until its scheduler ends; restart it if it dies at its start."""
        while True:
            try:
                async with Nanny(
                    address, nthreads=1, memory_limit=memory, death_timeout="60 s", dashboard=False
                ) as nanny:
                    return await nanny.finished()
            except RuntimeError:
                message = _("a worker did not start; does a scheduler answer at %(address)s?")
                click.echo(f"proof: {say(message, address=address)}", err=True)
            await asyncio.sleep(POLL_SECONDS)

    async def run() -> None:
        click.echo(say(_("%(number)s workers for %(address)s"), number=workers, address=address))
        await asyncio.gather(*(worker() for _ in range(workers)))

    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(run())
    except (OSError, TimeoutError) as error:
        raise UsageError(
            _("%(address)s: no scheduler answers there (%(error)s); start one with `proof cluster`"),
            address=address,
            error=error,
        ) from error
    return 0
