"""The server under browsers that keep their connections: `python -m tests.soak.browsers`, one table.

Thirty contexts of Chromium proofread, a decision a second each, every one on pages of its own; thirty more clients
hold six idle connections each, as a browser does; then two hundred connections are added that never finish their
request, and slow readers of a large file. Beside them somebody else decides once a second over a new connection, which
tells the server's time from that of thirty browsers on the same processors.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Page, sync_playwright

from proof.store import Store
from scripts.bench.material import CHROMIUM
from scripts.bench.web import Browser, fill
from tests.build import decision_log
from tests.web.drawn import WORK
from tests.web.served import serving_process

CONNECTIONS = 6
"""Of a browser to one host."""
PAGES_EACH = 40
FLAGS_A_PAGE = 10
LARGE, SMALL = "openseadragon.min.js", "icon.svg"
TOO_LONG = 2.0
SETTLING = 5.0
"""Seconds until the browsers have drawn what they opened."""

PROOFREAD = """([seconds, begin]) => {
  window.decided = [];
  window.watching?.disconnect();
  window.watching = new PerformanceObserver((list) => {
    for (const one of list.getEntries())
      if (one.name.endsWith("/decisions") && one.initiatorType === "fetch")
        window.decided.push([one.duration, one.responseEnd - one.requestStart, one.responseStatus]);
  });
  window.watching.observe({type: "resource"});
  performance.setResourceTimingBufferSize(100000);
  const until = performance.now() + begin + seconds * 1000;
  window.pressed = 0;
  const decide = () => {
    if (performance.now() > until) return;
    if (document.body.dataset.flag
      && !document.querySelector("#stage").classList.contains("waiting")) {
      dispatchEvent(new KeyboardEvent("keydown", {key: "t", bubbles: true}));
      window.pressed += 1;
    }
    setTimeout(decide, 1000);
  };
  setTimeout(decide, begin);
}"""
UNSENT = "Object.keys(localStorage).filter(key => key.startsWith('proof:')).length"


@dataclass
class Else:
    """Somebody else, who decides once a second over a new connection: how long it took each time."""

    address: str
    first: int
    took: list[float] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def stop(self) -> None:
        self.over.set()
        self.thread.join()

    def _work(self) -> None:
        browser = None
        for flag in count(self.first):
            start = time.perf_counter()
            try:
                browser = browser or Browser(self.address)
                _, event = browser.decide(flag, uuid.uuid4().hex)
                self.events.append(event)
            except httpx.HTTPError as error:
                self.failed.append(str(error))
            self.took.append(time.perf_counter() - start)
            if self.over.wait(max(0.0, 1 - self.took[-1])):
                return


class Held:
    """Connections that are held: each is opened again when the server has closed it."""

    def __init__(self, port: int, number: int, first: bytes, then: bytes = b"", every: float = 1.0, read: int = 0):
        self._port, self._first, self._then, self._every, self._read = port, first, then, every, read
        self._over = threading.Event()
        self._sockets: list[socket.socket | None] = [None] * number
        self.opened = self.refused = 0
        self._thread = threading.Thread(target=self._hold)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
        for opened in self._sockets:
            if opened:
                opened.close()

    def _hold(self) -> None:
        while not self._over.is_set():
            for number, sock in enumerate(self._sockets):
                if self._over.is_set():
                    return
                self._sockets[number] = self._kept(sock) if sock else self._open()
            self._over.wait(self._every)

    def _open(self) -> socket.socket | None:
        made = socket.socket()
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.settimeout(0.5)
            made.connect(("127.0.0.1", self._port))
            made.sendall(self._first)
            made.setblocking(False)
        except OSError:
            self.refused += 1
            made.close()
            return None
        self.opened += 1
        return made

    def _kept(self, sock: socket.socket) -> socket.socket | None:
        try:
            if self._then:
                sock.send(self._then)
            if sock.recv(self._read or 65536):
                return sock
        except BlockingIOError:
            return sock
        except OSError:
            pass
        sock.close()
        return None


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n".encode()


def spent(pid: int) -> tuple[float, int, int]:
    """Processor seconds, MiB and threads of a process and its children."""
    seconds, memory, threads = 0.0, 0, 0
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    for process in [str(pid), *children.stdout.split()]:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        threads += int(fields[17])
        memory += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") >> 20
    return seconds, memory, threads


def settled(page: Page, patience: float) -> bool:
    """Waits until what a page decided has been sent; whether it was."""
    until = time.monotonic() + patience
    while page.evaluate(UNSENT) and time.monotonic() < until:
        page.wait_for_timeout(200)
    return not page.evaluate(UNSENT)


def round_of(name: str, pages: list[Page], pid: int, others: Else, seconds: float) -> tuple[list[tuple[str, str]], int]:
    """All proofread for so many seconds; the figures of it, and how many decisions were acknowledged."""
    before, taken = len(others.took), spent(pid)[0]
    for number, page in enumerate(pages):
        page.evaluate(PROOFREAD, [seconds, 1000 * number / len(pages)])
    end = time.monotonic() + seconds + 1.5
    while time.monotonic() < end and pages:
        pages[0].wait_for_timeout(500)
    else_took = others.took[before:]
    load = os.getloadavg()[0]
    sent = sum(settled(page, 20) for page in pages)
    times: list[Any] = [time for page in pages for time in page.evaluate("window.decided")]
    pressed = sum(page.evaluate("window.pressed") for page in pages)
    whole = sorted(time[0] / 1000 for time in times if time[2] < 400)
    wire = sorted(time[1] / 1000 for time in times if time[2] < 400)
    cpu, memory, threads = spent(pid)
    rows = [
        (f"{name}: decisions pressed, acknowledged, refused", f"{pressed}, {len(whole)}, {len(times) - len(whole)}"),
        (f"{name}: p50, p95, longest of a decision in the browser", _three(whole)),
        (f"{name}: p50, p95, longest once it is on its way", _three(wire)),
        (f"{name}: waits over 2 s; browsers with all sent", f"{sum(t > TOO_LONG for t in whole)}; {sent}"),
        (f"{name}: somebody else's decision, p50, p95, longest", _three(sorted(else_took))),
        (f"{name}: server cpu s, MiB, threads; load", f"{cpu - taken:.1f}, {memory}, {threads}; {load:.1f}"),
    ]
    return rows, len(whole)


def _three(times: list[float]) -> str:
    if not times:
        return "none came"
    p95 = statistics.quantiles(times, n=20, method="inclusive")[18] if len(times) > 1 else times[0]
    return f"{1000 * statistics.median(times):.0f}, {1000 * p95:.0f}, {1000 * times[-1]:.0f} ms"


def measure(address: str, pid: int, given: argparse.Namespace, first: int) -> tuple[list[tuple[str, str]], Else, int]:
    """The figures, what somebody else did, and how many decisions the server acknowledged to the browsers."""
    port = urlsplit(address).port or 0
    rows: list[tuple[str, str]] = []
    static = httpx.get(f"{address}/works/{WORK}/").text.split("/static/")[1].split("/")[0]
    idle = Held(port, given.idle * CONNECTIONS, request(f"/static/{static}/{SMALL}"), every=2)
    time.sleep(3)
    others = Else(address, first)
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        pages, late = [], 0
        for number in range(given.browsers):
            if late > 2:  # neither do the others then
                late += given.browsers - number
                break
            page = opened.new_context(viewport={"width": 1440, "height": 900}).new_page()
            low = number * PAGES_EACH + 1
            try:
                desk = f"{address}/works/{WORK}/desk?first_page={low}&last_page={low + PAGES_EACH - 1}"
                page.goto(desk, timeout=40_000)
                _ready(page)
                pages.append(page)
            except Exception:  # a browser that gets nothing is what is counted
                late += 1
        rows.append(("browsers that got no desk within 40 s", str(late)))
        time.sleep(SETTLING)
        kept, acknowledged = round_of("kept connections", pages, pid, others, given.seconds)
        half = Held(port, given.half_open, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Never: ", b"a", every=3)
        slow = Held(port, given.slow, request(f"/static/{static}/{LARGE}"), every=0.5, read=512)
        time.sleep(3)
        besides, more = round_of("and half-open, slow", pages, pid, others, given.seconds)
        rows += [*kept, *besides]
        opened_by = "; ".join(f"{held.opened} ({held.refused})" for held in (half, slow, idle))
        rows.append(("half-open, slow, idle connections opened (refused)", opened_by))
        for held in (half, slow, idle):
            held.stop()
        others.stop()
        opened.close()
    return rows, others, acknowledged + more


def _ready(page: Page) -> None:
    until = time.monotonic() + 40
    while not page.evaluate("document.body.dataset.flag"):
        if time.monotonic() > until:
            raise TimeoutError
        page.wait_for_timeout(50)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browsers", type=int, default=30)
    parser.add_argument("--idle", type=int, default=30)
    parser.add_argument("--half-open", type=int, default=200)
    parser.add_argument("--slow", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proof-bench-") as made:
        folder = Path(made)
        fill(folder, (given.browsers + 10) * PAGES_EACH)
        with serving_process(folder) as (process, address):
            first = given.browsers * PAGES_EACH * FLAGS_A_PAGE + 1
            rows, others, acknowledged = measure(address, process.pid, given, first)
            with Store.open(folder / "proof.sqlite") as store:
                log = decision_log(store, WORK)
    print("| figure | measured |\n| --- | --- |")  # noqa: T201
    lost = acknowledged + len(others.events) - len(log)
    doubled = len(log) - len({decision.flag for decision in log})
    rows.append(("decisions in the store; lost; doubled", f"{len(log)}; {max(lost, 0)}; {doubled}"))
    rows.append(
        ("of somebody else lost, failed", f"{len(set(others.events) - {d.id for d in log})}, {len(others.failed)}")
    )
    for name, measured in rows:
        print(f"| {name} | {measured} |")  # noqa: T201


if __name__ == "__main__":
    main()
