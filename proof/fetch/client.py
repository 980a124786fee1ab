"""Asking a server courteously: one thing at a time, with a pause, by name, and patiently where it is busy."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import TracebackType
from typing import Self, TypeVar

import httpcore
import httpx

import proof
from proof.errors import AddressError, ComeAgainError, ServerError, SourceError
from proof.fetch.proxies import check_through_proxy, pool_through, proxy_of
from proof.fetch.ssrf import CheckedNetwork, web_address

USER_AGENT = f"proof/{proof.__version__} (proofreads texts against page images; one request at a time)"

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that may be others in a while."""

_REDIRECTIONS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTIONS = 8
_LOST = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.RemoteProtocolError)
_A_YEAR = 366 * 86_400.0

Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a server is asked; times in seconds.

    `pause` lies between the end of one answer and the next request (a redirection is followed at once). Of `tries`
    the second comes after `first_wait`, each further one after twice the time. `longest_wait` is the most that a
    server's Retry-After is waited for; `silence` how long it may say nothing, `longest` how long one answer may take.
    """

    pause: float = 1.0
    tries: int = 5
    first_wait: float = 2.0
    longest_wait: float = 300.0
    connect: float = 20.0
    silence: float = 30.0
    longest: float = 3600.0
    allow_private: bool = False


class TryAgain(Exception):  # noqa: N818 - not an error: a request to ask anew
    """Raised by whoever takes an answer that is of no use, where another try may give a better one."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server answers. `address` is where it was found, after all redirections."""

    address: httpx.URL
    status: int
    headers: httpx.Headers
    _body: Iterator[bytes]

    @property
    def encoded(self) -> bool:
        """Whether the body comes compressed, though that was not asked for."""
        return self.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")

    @property
    def length(self) -> int | None:
        """Bytes of the body, where the server says so."""
        given = self.headers.get("content-length", "")
        return int(given) if given.isascii() and given.isdigit() and len(given) < 20 and not self.encoded else None

    @property
    def said(self) -> str:
        """The status in words: `404 Not Found`."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)

    def chunks(self) -> Iterator[bytes]:
        """The body. Raises SourceError for a compression that is not known, Again for one that is damaged."""
        if not self.encoded:
            yield from self._body
            return
        if self.headers["content-encoding"].strip().lower() not in ("gzip", "x-gzip", "deflate"):
            raise SourceError(str(self.address), f"comes compressed as {self.headers['content-encoding']}")
        opened = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        try:
            for chunk in self._body:
                rest = chunk
                while rest:  # piece by piece: a small body can unfold to any size
                    yield opened.decompress(rest, 1 << 20)
                    rest = opened.unconsumed_tail
        except zlib.error as error:
            raise TryAgain(f"its compression is damaged ({error})") from error


class Client:
    """Asks servers, in a `with` block. One connection is kept open, one request made at a time."""

    def __init__(self, manners: RetryPolicy | None = None, *, wait: Callable[[float], None] = time.sleep) -> None:
        self._manners = manners or RetryPolicy()
        self._wait = wait
        self._next = 0.0
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=1,
            network_backend=CheckedNetwork(allow_private=self._manners.allow_private),
        )
        self._proxies: dict[httpx.URL, httpcore.HTTPProxy] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for pool in (self._pool, *self._proxies.values()):
            pool.close()

    def get(self, address: str, ask: Callable[[], dict[str, str]], take: Callable[[ServerAnswer], Taken]) -> Taken:
        """What `take` makes of the answer to a request for `address` with the headers that `ask` gives.

        Busy servers and lost connections are tried again; both functions are then called anew. Raises AddressError,
        ServerError after the last try, ComeAgainError where the server asks for more patience than there is, and
        what `take` raises.
        """
        for number in range(1, self._manners.tries + 1):
            wait: float | None = None
            self._wait(max(0.0, self._next - time.monotonic()))
            try:
                with self._answer(web_address(address), ask()) as answer:
                    if answer.status == 407:
                        raise ServerError(
                            address, "the proxy asks for a name and password: http://NAME:PASSWORD@HOST:PORT"
                        )
                    if answer.status not in PASSING:
                        return take(answer)
                    wait = retry_after(answer.headers.get("retry-after", ""))
                    why = f"the server answers {answer.said}"
            except TryAgain as again:
                why, wait = str(again), again.wait
            except _LOST as error:
                why = _lost(error)
                if "CERTIFICATE_VERIFY_FAILED" in why:
                    raise ServerError(address, f"the server cannot prove who it is ({why})") from error
            except httpcore.ProxyError as error:
                raise ServerError(address, f"the proxy does not let it be asked ({error})") from error
            except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol) as error:
                raise AddressError(address, f"cannot be asked ({error})") from error
            finally:
                self._next = time.monotonic() + self._manners.pause
            if wait is not None and wait > self._manners.longest_wait:
                raise ComeAgainError(address, f"{why} and asks to wait; run the same command again {_after(wait)}")
            if number < self._manners.tries:
                self._wait(max(wait or 0.0, self._manners.first_wait * 2 ** (number - 1)))
        raise ServerError(address, f"{why}; asked {self._manners.tries} times")

    @contextmanager
    def _answer(self, address: httpx.URL, headers: dict[str, str]) -> Iterator[ServerAnswer]:
        """The answer to one request, redirections followed; every hop is checked as the first one."""
        for _ in range(_MOST_REDIRECTIONS + 1):
            with self._connections(address).stream(
                "GET",
                httpcore.URL(
                    scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path
                ),
                headers=list({**headers, **_manner_of(address)}.items()),
                extensions={
                    "timeout": {
                        "connect": self._manners.connect,
                        "read": self._manners.silence,
                        "write": self._manners.silence,
                        "pool": self._manners.silence,
                    }
                },
            ) as response:
                found = httpx.Headers(response.headers)
                if response.status not in _REDIRECTIONS or "location" not in found:
                    yield ServerAnswer(address, response.status, found, self._in_time(response.iter_stream()))
                    return
            address = web_address(found["location"], base=address)
        raise ServerError(
            str(address), f"is reached by more than {_MOST_REDIRECTIONS} redirections: it leads in a circle"
        )

    def _connections(self, address: httpx.URL) -> httpcore.ConnectionPool:
        """What asks `address`: directly, or through the proxy that the environment names for it."""
        proxy = proxy_of(address)
        if proxy is None:
            return self._pool
        if not self._manners.allow_private:
            check_through_proxy(address)
        if proxy not in self._proxies:
            self._proxies[proxy] = pool_through(proxy)
        return self._proxies[proxy]

    def _in_time(self, body: Iterator[bytes]) -> Iterator[bytes]:
        end = time.monotonic() + self._manners.longest
        for chunk in body:
            if time.monotonic() > end:
                raise TryAgain(f"the answer takes longer than {self._manners.longest:.0f} seconds")
            yield chunk


def retry_after(text: str, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, given as such or as a date; None where it says neither."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:20]), _A_YEAR)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(max(0.0, (when - (now or datetime.now(UTC))).total_seconds()), _A_YEAR)


def _manner_of(address: httpx.URL) -> dict[str, str]:
    return {"Host": address.netloc.decode("ascii"), "User-Agent": USER_AGENT, "Accept-Encoding": "identity"}


def _after(seconds: float) -> str:
    when = (datetime.now(UTC) + timedelta(seconds=seconds)).astimezone()
    return f"after {when:%Y-%m-%d %H:%M} ({seconds:,.0f} seconds from now)"


def _lost(error: Exception) -> str:
    if isinstance(error, httpcore.TimeoutException):
        return "the server does not answer in time"
    if isinstance(error, httpcore.ConnectError):
        return f"the server cannot be reached ({error})"
    return f"the connection was lost ({error})" if str(error) else "the connection was lost"
