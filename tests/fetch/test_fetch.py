"""Fetching from a server that misbehaves in every way: what is whole is kept, and nothing else takes its name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proof.errors import OutputError, SourceError
from proof.fetch.client import USER_AGENT, Client, RetryPolicy
from proof.fetch.fetch import Fetcher, FetchOutcome, FetchRun
from proof.fetch.index import INDEX
from proof.fetch.model import WantedImage
from tests.fetch.museum import Fault, Handler, Museum, Waits, drops_after, etag_of, page, says

ONE = "/WYG0103-0192c.png"
PART = ".WYG0103-0192c.png.part"
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
WHOLE, OTHER = page(1), page(2)
PACKED = gzip.compress(WHOLE)
DROPPED = drops_after(9_000, WHOLE, ETag=etag_of(WHOLE))
BUSY = [says(503)] * 4
Fetch = Callable[..., FetchRun]


@pytest.fixture
def fetch(museum: Museum, client: Client, tmp_path: Path) -> Fetch:
    """Fetches from the museum into `tmp_path` the files of these paths."""

    def call(*paths: str, **options: Any) -> FetchRun:
        wanted = [WantedImage(n, path.lstrip("/"), museum.url(path)) for n, path in enumerate(paths, start=1)]
        return Fetcher(tmp_path, client, **options).fetch(wanted)

    return call


def hows(run: FetchRun) -> list[str]:
    return [result.outcome.value for result in run.results]


def why(run: FetchRun) -> str:
    assert [result.outcome for result in run.results] == [FetchOutcome.FAILED]
    return run.results[0].why


def left(folder: Path) -> list[str]:
    """What lies in the folder beside the index."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != INDEX]
    return sorted(path.relative_to(folder).as_posix() for path in files)


def test_an_image_comes_once_and_the_index_says_where_from(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    name = "WYG0103/WYG0103-0192c.png"
    museum.files[f"/{name}"] = WHOLE
    assert fetch(f"/{name}").complete
    assert (tmp_path / name).read_bytes() == WHOLE
    assert left(tmp_path) == [name]
    _, headers = museum.asked[0]
    assert headers["user-agent"] == USER_AGENT
    assert headers["user-agent"].startswith("proof/")
    assert headers["host"] == museum.address.removeprefix("http://")
    known = json.loads((tmp_path / INDEX).read_text(encoding="utf-8"))
    memory = known["files"][name]
    assert (memory["address"], memory["size"], memory["etag"]) == (museum.url(f"/{name}"), len(WHOLE), etag_of(WHOLE))
    assert known["parts"] == {}
    assert hows(fetch(f"/{name}")) == ["there"]
    assert len(museum.asked) == 1


def test_one_request_at_a_time_with_a_pause_between(museum: Museum, tmp_path: Path) -> None:
    paths = [f"/{number}.png" for number in range(4)]
    museum.files |= {path: page(seed) for seed, path in enumerate(paths)}
    wanted = [WantedImage(1, path[1:], museum.url(path)) for path in paths]
    waited: list[tuple[int, bool]] = []
    """How many requests had come at each wait, and whether it was the pause."""

    def wait(seconds: float) -> None:
        waited.append((len(museum.asked), 9000 < seconds <= 10_000))

    with Client(RetryPolicy(pause=10_000, allow_private=True), wait=wait) as client:
        assert Fetcher(tmp_path, client).fetch(wanted).complete
    assert waited == [(0, False), (1, True), (2, True), (3, True)]


def test_a_refresh_fetches_what_changed_there_or_here(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    museum.files = {ONE: WHOLE, "/2.png": OTHER, "/3.png": page(3)}
    fetch(*museum.files)
    museum.files[ONE] = page(4)
    (tmp_path / "3.png").write_bytes(page(3)[:5000])
    assert hows(fetch(*museum.files, refresh=True)) == ["fetched", "unchanged", "fetched"]
    assert museum.asked[-2][1]["if-none-match"] == etag_of(OTHER)
    assert {path: (tmp_path / path[1:]).read_bytes() for path in museum.files} == museum.files


def test_a_name_taken_by_an_image_from_elsewhere_is_no_match(museum: Museum, client: Client, tmp_path: Path) -> None:
    museum.files = {"/a/0001.png": WHOLE, "/b/0001.png": OTHER}
    fetcher = Fetcher(tmp_path, client)
    assert fetcher.fetch([WantedImage(1, "0001.png", museum.url("/a/0001.png"))]).complete
    reason = why(fetcher.fetch([WantedImage(1, "0001.png", museum.url("/b/0001.png"))]))
    assert "was fetched from" in reason
    assert "--refresh" in reason
    assert (tmp_path / "0001.png").read_bytes() == WHOLE
    anew = Fetcher(tmp_path, client, refresh=True).fetch([WantedImage(1, "0001.png", museum.url("/b/0001.png"))])
    assert anew.complete
    assert (tmp_path / "0001.png").read_bytes() == OTHER


def test_a_busy_server_is_waited_for_as_it_asks(museum: Museum, fetch: Fetch, waits: Waits) -> None:
    museum.files[ONE] = WHOLE
    museum.next[ONE].extend([says(503, Retry_After="7"), says(429, Retry_After="Thu, 01 Jan 1970 00:00:00 GMT")])
    assert fetch(ONE).complete
    assert [seconds for seconds in waits.seconds if seconds > 1] == [7, 4]


@pytest.mark.parametrize("until", ["7200", "Fri, 31 Dec 2100 23:59:59 GMT", "9" * 40])
def test_a_server_that_asks_for_hours_is_left_alone(museum: Museum, fetch: Fetch, waits: Waits, until: str) -> None:
    museum.files = {"/1.png": WHOLE, "/3.png": page(3)}
    museum.next["/2.png"].append(says(503, Retry_After=until))
    run = fetch("/1.png", "/2.png", "/3.png")
    assert hows(run) == ["fetched", "failed", "not asked for"]
    assert "run the same command again after 2" in run.stopped
    assert not run.complete
    assert museum.paths() == ["/1.png", "/2.png"]
    assert max(waits.seconds) <= 1


@pytest.mark.parametrize(("status", "tried"), [(502, 3), (404, 20)])
def test_a_server_that_is_down_or_has_nothing_of_a_list_is_not_asked_for_the_rest(
    museum: Museum, fetch: Fetch, status: int, tried: int
) -> None:
    paths = [f"/{number}.png" for number in range(25)]
    for path in paths:
        museum.next[path].extend([says(status)] * 9)
    run = fetch(*paths)
    assert hows(run) == ["failed"] * tried + ["not asked for"] * (25 - tried)
    assert f"the last {tried} images could not be fetched" in run.stopped
    assert set(museum.paths()) == set(paths[:tried])


def test_what_was_left_by_an_earlier_run_is_taken_up(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    museum.files[ONE] = WHOLE
    museum.next[ONE].extend([DROPPED, *BUSY])
    assert hows(fetch(ONE)) == ["failed"]
    assert left(tmp_path) == [PART]
    assert fetch(ONE).complete
    assert museum.asked[-1][1]["range"] == "bytes=9000-"
    assert left(tmp_path) == [ONE[1:]]
    assert (tmp_path / ONE[1:]).read_bytes() == WHOLE


def test_a_part_longer_than_the_file_is_given_up(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    museum.files[ONE] = WHOLE
    museum.next[ONE].extend([DROPPED, *BUSY])
    fetch(ONE)
    with (tmp_path / PART).open("ab") as file:
        file.write(bytes(len(WHOLE)))
    assert fetch(ONE).complete
    assert (tmp_path / ONE[1:]).read_bytes() == WHOLE


def part(data: bytes, start: int, end: int | None = None) -> Fault:
    """Answers with these bytes of a file, whatever was asked for."""
    end = len(data) if end is None else end
    span = f"bytes {start}-{end - 1}/{len(data)}"
    return says(206, data[start:end], ETag=etag_of(data), Content_Range=span)


BROKEN_OFF: dict[str, tuple[list[Fault], bytes, list[int]]] = {
    "what is left is asked for": ([DROPPED], WHOLE, [9000]),
    "a date identifies a part": ([drops_after(9_000, WHOLE, Last_Modified=DATE)], WHOLE, [9000]),
    "it changed meanwhile, and is sent whole": ([DROPPED], OTHER, [9000]),
    "the rest of another file, without If-Range": ([DROPPED, part(OTHER, 9000)], OTHER, [9000, 0]),
    "another part than was asked for": ([DROPPED, part(WHOLE, 500)], WHOLE, [9000, 0]),
    "piece by piece": ([DROPPED, part(WHOLE, 9000, 10_000)], WHOLE, [9000, 10_000]),
    "a server without ranges": ([DROPPED, says(200, WHOLE, ETag=etag_of(WHOLE))], WHOLE, [9000]),
    "nothing identifies the part": ([drops_after(9_000, WHOLE)], WHOLE, [0]),
    "a weak mark identifies none": ([drops_after(9_000, WHOLE, ETag='W/"weak"')], WHOLE, [0]),
    "the mark is of compressed bytes": (
        [drops_after(9_000, PACKED, Content_Encoding="gzip", ETag='"packed"')],
        WHOLE,
        [0],
    ),
    "it comes compressed": ([says(200, PACKED, Content_Encoding="gzip", ETag='"packed"')], WHOLE, []),
}
"""What the server does at first, the file that it has, and from which bytes on that is asked for again."""


@pytest.mark.parametrize("case", BROKEN_OFF)
def test_whatever_breaks_off_the_file_comes_whole(museum: Museum, fetch: Fetch, tmp_path: Path, case: str) -> None:
    first, served, asked = BROKEN_OFF[case]
    museum.files[ONE] = served
    museum.next[ONE].extend(first)
    assert fetch(ONE).complete
    assert (tmp_path / ONE[1:]).read_bytes() == served
    ranges = [headers.get("range", "bytes=0-") for _, headers in museum.asked[1:]]
    assert ranges == [f"bytes={start}-" for start in asked]
    if asked == [9000]:
        assert museum.asked[1][1]["if-range"] in (DATE, etag_of(WHOLE))


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ("<!DOCTYPE html>\n<title>系統\n維護中</title>".encode(), "sends a web page (系統 維護中), not an image"),
        (b"", "answer is empty"),
        (b'{"error": "no such image"}', "answer is a text"),
        (bytes(2000), "answer is not an image"),
        (page()[:20_000], "cut short or damaged"),
        (page(form="JPEG")[:9_000], "cut short or damaged"),
    ],
)
def test_what_is_no_whole_image_is_not_kept(
    museum: Museum, fetch: Fetch, tmp_path: Path, sent: bytes, message: str
) -> None:
    museum.files[ONE] = sent
    assert message in why(fetch(ONE))
    assert left(tmp_path) == []


def test_a_file_larger_than_the_limit_is_refused_before_it_comes(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    museum.files[ONE] = WHOLE
    reason = why(fetch(ONE, most_bytes=20_000))
    assert f"is a file of {len(WHOLE):,} bytes; the limit is 20,000 bytes, raise it with --max-mb" in reason
    assert left(tmp_path) == []


def test_a_body_without_end_is_cut_off(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    sent = []

    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for _ in range(10_000):
            handler.wfile.write(b"10000\r\n" + bytes(65_536) + b"\r\n")
            sent.append(65_536)

    museum.next[ONE].append(endless)
    assert "that does not end" in why(fetch(ONE, most_bytes=1_000_000))
    assert sum(sent) < 50_000_000
    assert left(tmp_path) == []


def test_a_redirection_is_followed_but_not_in_a_circle(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    museum.files["/moved/1.png"] = WHOLE
    museum.next[ONE].append(says(302, Location="moved/1.png"))
    assert fetch(ONE).complete
    assert (tmp_path / ONE[1:]).read_bytes() == WHOLE
    museum.next["/2.png"].extend([says(302, Location="/2.png")] * 50)
    assert "is redirected more than" in why(fetch("/2.png"))
    assert len(museum.asked) < 14


def test_a_name_that_leads_out_of_the_folder_costs_that_image(museum: Museum, client: Client, tmp_path: Path) -> None:
    museum.files = {"/1.png": WHOLE}
    images = [WantedImage(1, "../1.png", museum.url("/1.png")), WantedImage(2, "1.png", museum.url("/1.png"))]
    (tmp_path / "images").mkdir()
    assert hows(Fetcher(tmp_path / "images", client).fetch(images)) == ["failed", "fetched"]
    assert left(tmp_path) == ["images/1.png"]


def test_a_folder_that_cannot_be_written_ends_the_run(museum: Museum, fetch: Fetch, tmp_path: Path) -> None:
    museum.files["/a/1.png"] = WHOLE
    (tmp_path / "a").write_text("a file where a folder is needed")
    with pytest.raises(OutputError, match="cannot be written"):
        fetch("/a/1.png", "/a/2.png")
    assert museum.paths() == ["/a/1.png"]


def test_a_damaged_index_is_named_with_its_line(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / INDEX).write_text('{\n"version": 1,,')
    with pytest.raises(SourceError, match=rf"{INDEX}:2: .*delete it"):
        fetch(ONE)
