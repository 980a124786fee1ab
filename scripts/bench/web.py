"""Measure the desk in the browser.

    python -m scripts.bench web [--pages 10000] [--seconds 20]

A store of 10,000 pages and 100,000 flags is filled with what a check would leave (one drawn image serves all
pages), served by `proof serve` in a process of its own, and asked over HTTP and in a real Chromium.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from playwright.sync_api import sync_playwright

from proof.model.flags import flag_id
from proof.ocr.engine import EngineIdentity
from proof.store import PagePlace, RunInfo, Store, TextInfo
from proof.store.saving import CheckedResult
from proof.store.texts import sha_of
from proof.text.positions import Span
from proof.text.read import read_transcription
from scripts.bench.material import CHROMIUM, TableRow
from tests.build import decision_log
from tests.web.drawn import LINES, WORK, checked, draw_page, settings_in, shapes_of, wrong
from tests.web.served import DeskClient, serving_process

READINGS = "吿古吉士土王玉主丰半羊干于千午牛失矢夫天未末木本"
PEOPLE = 30


def fill(folder: Path, pages: int, many: int = 10, text: str = "text.txt") -> None:
    """So `many` flags a page, their scores and readings spread."""
    settings = settings_in(folder)
    sha = draw_page(folder / "page.png")
    content, lines = "", [dict[int, Span]()] * pages
    if Path(text).is_file():
        read = read_transcription(Path(text))
        content = read.text
        lines = [
            {column.number: Span(column.start, len(column.source)) for column in page.columns} for page in read.pages
        ]
    texts = (TextInfo(text, sha_of(content), "kanripo", "traditional", content),)
    with Store.open(settings.store_address) as store:
        shapes = None
        run = store.begin_run(RunInfo(WORK, "大射儀", texts, EngineIdentity("null", "1", "", "")))
        for number in range(pages):
            page = f"KR1d0030_WYG_{number // 100:03d}-{number % 100}a"
            flags = []
            for n in range(many):
                line, offset = n % 3 + 1, n % len(LINES[0])
                score = 3 + (number * 7919 + n * 104729) % 1000 / 80
                flag = wrong(page, line, offset, READINGS[(number + 3 * n) % len(READINGS)], score)
                flags.append(replace(flag, id=flag_id(page, line, flag.kind, flag.context, n)))
            result = checked(page, folder / "page.png", sha, tuple(flags))
            shapes = shapes if number else shapes_of(result)
            place = PagePlace(number, text, f"{number // 100:03d}", lines=lines[number], sha=sha_of(content))
            store.save_pages(run, [CheckedResult(place, "", result, shapes=shapes)])
        store.finish_run(run, whole=True)


class Browser(DeskClient):
    """A client whose every request has a connection of its own, and is timed."""

    def __init__(self, address: str) -> None:
        super().__init__(address, limits=httpx.Limits(max_keepalive_connections=0), follow_redirects=True)

    def seconds(self, path: str) -> float:
        start = time.perf_counter()
        self.get(path).raise_for_status()
        return time.perf_counter() - start

    def decide(self, flag: int, key: str) -> tuple[float, int]:
        """The seconds that it took, and the id of the decision."""
        start = time.perf_counter()
        body = {"verdict": "take", "version": 0, "key": key}
        answer = self.post(f"/api/v1/works/{WORK}/flags/{flag}/decisions", json=body).raise_for_status()
        return time.perf_counter() - start, int(answer.json()["id"])


def lost(folder: Path, acknowledged: list[int]) -> int:
    """How many acknowledged decisions the store lacks."""
    with Store.open(folder / "proof.sqlite") as store:
        return len(set(acknowledged) - {decision.id for decision in decision_log(store, WORK)})


def p95(seconds: list[float]) -> str:
    return f"{1000 * statistics.quantiles(seconds, n=20)[18]:.0f} ms"


def queries(browser: Browser) -> dict[str, list[float]]:
    base = f"/api/v1/works/{WORK}"
    filters = ["", "?order=page", "?state=open&least_score=8", "?first_page=100&last_page=4000", "?text=告&image=吿"]
    quoted = [quote(query, safe="?=&") for query in filters]
    return {
        "queue query": [browser.seconds(f"{base}/flags{query}") for query in quoted for _ in range(20)],
        "counts on every filter": [
            browser.seconds(f"{base}/facets{query.replace('?order=page', '')}") for query in quoted for _ in range(20)
        ],
        "pairs query": [browser.seconds(f"{base}/pairs") for _ in range(60)],
        "desk query (8 flags, whole)": [browser.seconds(f"{base}/flags?detail=true&limit=8") for _ in range(40)],
    }


def searches(browser: Browser, where: str) -> list[float]:
    """Pages by their address, a juan, a character, words that are there, across the end of a column as well, and words
    that are not."""
    wanted = ["050-2a", "KR1d0030_WYG_03", "卷九十九", "公", "大夫卿", "大夫司馬", "烏有之書", "告吿", "9-7a"]
    return [browser.seconds(f"{where}?q={quote(words)}") for words in wanted for _ in range(10)]


def glyph_views(browser: Browser) -> list[float]:
    """The first screen of every character of the work, and what it is held against: none asked for before."""
    characters = sorted(set("".join(LINES)))
    quoted = [quote(character) for character in characters]
    base = f"/api/v1/works/{WORK}/glyphs?limit=60"
    return [
        browser.seconds(f"{base}&text={a}{more}")
        for a in quoted
        for more in ("", f"&against={quoted[0]}", "&order=alike")
    ]


def thirty(people: list[Browser], seconds: float, first: int) -> tuple[list[float], list[int], list[str]]:
    """People deciding once a second; times, events acknowledged, requests that failed."""
    times: list[float] = []
    acknowledged: list[int] = []
    failed: list[str] = []
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        flag = first + number * 400
        time.sleep(number / len(people))
        while time.perf_counter() < until:
            began = time.perf_counter()
            try:
                took, event = people[number].decide(flag, uuid.uuid4().hex)
                times.append(took)
                acknowledged.append(event)
            except httpx.HTTPStatusError as error:
                if error.response.status_code != httpx.codes.CONFLICT:  # one that was decided in the browser before
                    failed.append(str(error))
            except httpx.TransportError as error:
                failed.append(str(error))
                return
            flag += 1
            time.sleep(max(0.0, 1 - (time.perf_counter() - began)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(people))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, acknowledged, failed


IN_THE_BROWSER = """async (count) => {
  const times = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  for (let n = 0; n < count; n += 1) {
    const before = document.body.dataset.flag, start = performance.now();
    dispatchEvent(new KeyboardEvent("keydown", {key: n % 2 ? "k" : "t", bubbles: true}));
    while (document.body.dataset.flag === before || !document.body.dataset.flag
      || document.querySelector("#stage").classList.contains("waiting")) await frame();
    await frame();
    times.push((performance.now() - start) / 1000);
    await new Promise((resolve) => setTimeout(resolve, 120));
  }
  return times;
}"""


def in_chromium(address: str) -> tuple[list[float], float]:
    """Key press to the next flag painted, over 200 decisions; and the desk's first paint with a cold cache."""
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = opened.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(f"{address}/works/{WORK}/desk")
        page.wait_for_timeout(100)
        deadline = time.monotonic() + 20
        while page.evaluate(
            "!document.body.dataset.flag || document.querySelector('#stage').classList.contains('waiting')"
        ):
            assert time.monotonic() < deadline
        paint: Any = page.evaluate("performance.getEntriesByType('largest-contentful-paint').at(-1)?.startTime ?? 0")
        paint = paint or page.evaluate(
            "new Promise(r => new PerformanceObserver(l => r(l.getEntries().at(-1).startTime))"
            ".observe({type: 'largest-contentful-paint', buffered: true}))"
        )
        times = page.evaluate(IN_THE_BROWSER, 200)
        opened.close()
    return times, paint / 1000


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=20)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    folder = options.folder
    if not (folder / "proof.sqlite").exists():
        fill(folder, options.pages)
    with serving_process(folder) as (process, address):
        times, paint = in_chromium(address)
        yield "first paint of the desk, server just started", f"{paint:.2f} s", "1 s"
        yield "key press to next flag, 200 decisions, p95", p95(times), "100 ms"
        yield from [(f"{name}, p95", p95(times), "50 ms") for name, times in queries(Browser(address)).items()]
        yield "glyph view, p95", p95(glyph_views(Browser(address))), "300 ms"
        manager = Browser(address)
        progress = [manager.seconds(f"/works/{WORK}/progress") for _ in range(10)]
        yield "page of who manages the work, p95", p95(progress), "1,000 ms"
        for name, where in (("the work", f"/works/{WORK}/find"), ("all works", "/search")):
            yield f"search in {name}, p95", p95(searches(manager, where)), "200 ms"
        people = [Browser(address) for _ in range(PEOPLE)]
        offset = 20_000
        times, acknowledged, failed = thirty(people, options.seconds, offset)
        doubled = len(acknowledged) - len(set(acknowledged))
        yield f"30 people, {len(acknowledged)} decisions, p95", p95(times), "200 ms"
        yield "of these lost, doubled, failed", f"{lost(folder, acknowledged)}, {doubled}, {len(failed)}", "0, 0, 0"
        killer = threading.Timer(options.seconds / 3, process.kill)
        killer.start()
        _, acknowledged, _ = thirty(people, options.seconds / 2, offset + 30 * 400)
        killer.join()
    kept = f"kill -9 under that load: {len(acknowledged)} acknowledged, lost"
    yield kept, str(lost(folder, acknowledged)), "0"
