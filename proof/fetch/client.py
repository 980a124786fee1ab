"""An HTTP client that is polite to servers: one request at a time, with pauses, a user agent, and retries."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Self, TypeVar

import httpx

import proof
from proof.errors import AddressError, ComeAgainError, ProofError, ServerError
from proof.fetch.ssrf import web_address
from proof.fetch.transport import CheckedTransport, is_encoded
from proof.locale.marking import Sentence, _

USER_AGENT = f"proof/{proof.__version__} (proofreads texts against page images; one request at a time)"

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP statuses after which another try may succeed."""

_MAX_REDIRECTIONS = 8
_MAX_WAIT_SECONDS = 366 * 86_400.0
"""Longest wait in seconds that a Retry-After header can ask for; longer ones are taken for this one."""

Taken = TypeVar("Taken")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How a client asks servers; times in seconds.

    pause: from the end of one answer to the next request. Redirections are followed at once.
    tries: the maximum number of requests. The second comes after `first_wait`, each further one after twice the time.
    longest_wait: the longest Retry-After of a server that is waited for.
    connect, silence, longest: the time limits for connecting, between two pieces of an answer, and for an answer.
    allow_private: whether addresses in private networks may be asked.
    """

    pause: float = 1.0
    tries: int = 5
    first_wait: float = 2.0
    longest_wait: float = 300.0
    connect: float = 20.0
    silence: float = 30.0
    longest: float = 3600.0
    allow_private: bool = False


class TryAgain(ProofError):  # noqa: N818 - not an error: a request to ask anew
    """An answer cannot be used, but another request may succeed; the `take` of `Client.get` raises it too. `wait` is
    the number of seconds that the server asks to wait, None if it does not ask."""

    def __init__(self, why: str, wait: float | None = None, /, **values: object) -> None:
        super().__init__(why, **values)
        self.wait = wait


class Client:
    """Asks servers within a `with` block. Keeps one connection open, and makes one request at a time."""

    def __init__(self, policy: RetryPolicy | None = None, *, wait: Callable[[float], None] = time.sleep) -> None:
        self._policy = policy or RetryPolicy()
        self._wait = wait
        self._next = 0.0
        self._http = httpx.Client(
            transport=CheckedTransport(allow_private=self._policy.allow_private, longest=self._policy.longest),
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
            timeout=httpx.Timeout(self._policy.silence, connect=self._policy.connect),
            follow_redirects=True,
            max_redirects=_MAX_REDIRECTIONS,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def get(self, address: str, ask: Callable[[], dict[str, str]], take: Callable[[httpx.Response], Taken]) -> Taken:
        """Request `address` with the headers that `ask` gives, and return the result of `take` for the answer.

        After a busy server or a lost connection the request is repeated; both functions are then called again. Raises
        AddressError, ServerError after the last try, ComeAgainError if the server asks to wait longer than
        `longest_wait`, and the errors of `take`.
        """
        for number in range(1, self._policy.tries + 1):
            self._wait(max(0.0, self._next - time.monotonic()))
            try:
                return self._ask_once(address, ask(), take)
            except TryAgain as again:
                why, wait = again.sentence, again.wait
            finally:
                self._next = time.monotonic() + self._policy.pause
            if wait is not None and wait > self._policy.longest_wait:
                raise ComeAgainError(
                    address,
                    _("%(why)s and asks to wait; run the same command again %(after)s"),
                    why=why,
                    after=_after(wait),
                )
            if number < self._policy.tries:
                self._wait(max(wait or 0.0, self._policy.first_wait * 2 ** (number - 1)))
        raise ServerError(address, _("%(why)s; asked %(tries)s times"), why=why, tries=self._policy.tries)

    def _ask_once(self, address: str, headers: dict[str, str], take: Callable[[httpx.Response], Taken]) -> Taken:
        """Make one request of `get`. Raises TryAgain if another request may succeed."""
        try:
            with self._http.stream("GET", web_address(address), headers=headers) as answer:
                if answer.status_code == httpx.codes.PROXY_AUTHENTICATION_REQUIRED:
                    raise ServerError(
                        address, _("the proxy asks for a name and password: http://NAME:PASSWORD@HOST:PORT")
                    )
                if answer.status_code in PASSING:
                    raise TryAgain(
                        _("the server answers %(status)s"),
                        retry_after(answer.headers.get("retry-after", "")),
                        status=status_of(answer),
                    )
                return take(answer)
        except httpx.TooManyRedirects as error:
            raise ServerError(
                address,
                _("is redirected more than %(most)s times, probably in a circle"),
                most=_MAX_REDIRECTIONS,
            ) from error
        except httpx.DecodingError as error:
            raise TryAgain(_("its compression is damaged (%(error)s)"), error=error) from error
        except httpx.ProxyError as error:
            raise ServerError(address, _("the proxy refuses the request (%(error)s)"), error=error) from error
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise AddressError(address, _("cannot be requested (%(error)s)"), error=error) from error
        except httpx.TransportError as error:
            why = _why_lost(error)
            if "CERTIFICATE_VERIFY_FAILED" in why:
                raise ServerError(address, _("the server's certificate is not valid (%(why)s)"), why=why) from error
            raise TryAgain(why) from error


def status_of(answer: httpx.Response) -> str:
    """The status in words: `404 Not Found`."""
    return f"{answer.status_code} {answer.reason_phrase}".rstrip()


def length_of(answer: httpx.Response) -> int | None:
    """The length of the decoded body in bytes; None if the server does not give it."""
    length = answer.headers.get("content-length", "")
    is_number = length.isascii() and length.isdigit() and len(length) < 20
    return int(length) if is_number and not is_encoded(answer) else None


def retry_after(text: str, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks to wait, at most a year. The header is a number or a date; None if it
    is neither."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:20]), _MAX_WAIT_SECONDS)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(max(0.0, (when - (now or datetime.now(UTC))).total_seconds()), _MAX_WAIT_SECONDS)


def _after(seconds: float) -> str:
    """The local time in `seconds` from now, in words."""
    when = (datetime.now(UTC) + timedelta(seconds=seconds)).astimezone()
    return Sentence(
        _("after %(when)s (%(seconds)s seconds from now)"), when=f"{when:%Y-%m-%d %H:%M}", seconds=f"{seconds:,.0f}"
    )


def _why_lost(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.TimeoutException):
        return str(error) if "longer than" in str(error) else Sentence(_("the server does not answer in time"))
    if isinstance(error, httpx.ConnectError):
        return Sentence(_("the server cannot be reached (%(error)s)"), error=error)
    if not str(error):
        return Sentence(_("the connection was lost"))
    return Sentence(_("the connection was lost (%(error)s)"), error=error)
