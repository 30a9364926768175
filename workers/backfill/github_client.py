"""Reading GitHub's REST API: patient, bounded, and careful with the token.

The token goes to the server that was named and to no other: logs are fetched by a redirect to a storage service, whose address is signed
by itself. Waiting is GitHub's own word where it gives one (docs.github.com, "Best practices for using the REST API").
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

import httpx

from leaks.errors import PermanentError, TooLarge, TransientError
from leaks.providers.github_rest import API_VERSION
from leaks.visible import line
from workers.retry import told_pause

PUBLIC = "https://api.github.com"
AGENT = "leakledger"
SECONDS = 30.0  # for connecting, and between two pieces of an answer
MOST_TRIES = 6  # against a server that stumbles
MOST_WAITS = 24  # for a limit to end
LARGEST_PAGE = 64 * 1024 * 1024
LARGEST_FAULT = 64 * 1024
MOST_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})
LIMITED = frozenset({403, 429})
SECONDARY = re.compile(r"rate limit|abuse detection", re.IGNORECASE)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
NEXT = re.compile(r'<([^<>]{1,2000})>\s{0,5};\s{0,5}rel="next"')
PORTS = {"https": 443, "http": 80}


class NotThere(PermanentError):
    """404 or 410: what was asked for does not exist, is over, or is not for this token."""


class Refused(PermanentError):
    """The server will not answer this whenever it is asked."""


class Unreachable(TransientError):
    """The server did not answer as often as it was asked."""


@dataclass
class Client:
    """`note(sentence)` hears of every wait; `sleep` is the clock's."""

    base: str = PUBLIC
    token: str = field(default="", repr=False)
    note: Callable[[str], None] = lambda _sentence: None
    sleep: Callable[[float], None] = time.sleep
    _rest: float = 0.0

    def __post_init__(self) -> None:
        self.base = self.base.rstrip("/") + "/"
        origin = _origin(self.base)
        if self.token and origin[0] != "https" and origin[1] not in LOOPBACK:
            raise Refused("Over http:// the token could be read on the way: name an https:// address.")

    def get(self, path: str, **query: str | int) -> Any:
        """The document at a path."""
        return self._page(self._url(path, query))[0]

    def pages(self, path: str, **query: str | int) -> Iterator[Any]:
        """The document at a path, and all that follow on it."""
        url = self._url(path, query)
        while url:
            document, url = self._page(url)
            yield document

    def download(self, path: str, target: BinaryIO, most: int) -> None:
        """The bytes at a path, into a file that is begun anew each time the server stumbles. TooLarge past the bound."""

        def fill(answer: httpx.Response) -> None:
            target.seek(0)
            target.truncate()
            target.writelines(_pieces(answer, most))
            target.seek(0)

        self._ask(self._url(path, {}), fill)

    def _url(self, path: str, query: Mapping[str, str | int]) -> str:
        return str(httpx.URL(urljoin(self.base, path), params=dict(query))) if query else urljoin(self.base, path)

    def _page(self, url: str) -> tuple[Any, str]:
        def read(answer: httpx.Response) -> tuple[Any, str]:
            body = b"".join(_pieces(answer, LARGEST_PAGE))
            following = NEXT.search(answer.headers.get("link", "")[:10_000])
            return json.loads(body), urljoin(url, following[1]) if following else ""

        return self._ask(url, read)

    # --- Patience ----------------------------------------------------------------------------------------------------

    def _ask(self, url: str, read: Callable[[httpx.Response], Any]) -> Any:
        """What `read` makes of the answer, once there is a good one."""
        tries = waits = 0
        while True:
            self._wait_for_limit()
            try:
                with self._answer(url) as answer:
                    self._remember_limit(answer)
                    if answer.is_success:
                        return read(answer)
                    limited, pause = self._judged(answer, waits)
            except httpx.InvalidURL:
                raise Refused("The server points to what is not a web address.") from None
            except (httpx.TransportError, httpx.DecodingError, ValueError, RecursionError) as error:
                limited, pause = False, type(error).__name__  # its text may hold a signed address
            tries, waits = (tries, waits + 1) if limited else (tries + 1, waits)
            self._pause(url, tries, waits, pause)

    def _judged(self, answer: httpx.Response, waits: int) -> tuple[bool, str | float]:
        """(whether it is a limit, how long to wait or what went wrong); raises what waiting cannot help."""
        said = _said(answer)
        told = told_pause(answer.headers)
        if answer.status_code == 429 or (answer.status_code in LIMITED and (told or SECONDARY.search(said))):
            return True, max(told or 0.0, 60.0 * 2 ** min(waits, 4) if told is None else 1.0)
        if answer.status_code >= 500 or answer.status_code == 408:
            return False, f"status {answer.status_code}"
        if answer.status_code in (404, 410):
            raise NotThere(f"{_place(answer)}: {answer.status_code} {said}")
        raise Refused(f"{_place(answer)}: {answer.status_code} {said}")

    def _pause(self, url: str, tries: int, waits: int, pause: str | float) -> None:
        host = urlsplit(url).hostname
        if tries >= MOST_TRIES or waits >= MOST_WAITS:
            raise Unreachable(f"{host} did not answer ({pause if tries >= MOST_TRIES else 'limited'}).")
        if isinstance(pause, str):
            seconds = min(60.0, 2.0**tries) * random.uniform(0.75, 1.25)  # noqa: S311  no secret
            self.note(f"{host}: {pause}; again in {seconds:.0f} s")
        else:
            seconds = pause
            self.note(f"{host} limits how often it may be asked; again in {seconds:.0f} s")
        self.sleep(seconds)

    def _remember_limit(self, answer: httpx.Response) -> None:
        """The last answer of a window still is one; the next request waits for the next window."""
        if _origin(str(answer.url)) == _origin(self.base):
            self._rest = (told_pause(answer.headers) or 0.0) if answer.is_success else 0.0

    def _wait_for_limit(self) -> None:
        if self._rest:
            seconds, self._rest = self._rest + 1, 0.0
            self.note(f"The limit of requests is reached; on in {seconds:.0f} s")
            self.sleep(seconds)

    # --- One request -------------------------------------------------------------------------------------------------

    @contextmanager
    def _answer(self, url: str) -> Iterator[httpx.Response]:
        with httpx.Client(timeout=SECONDS, follow_redirects=False) as client:
            answer = client.send(self._request(client, url), stream=True)
            for _ in range(MOST_REDIRECTS):
                if answer.status_code not in REDIRECTS:
                    break
                answer.close()
                url = _redirected(url, answer)
                answer = client.send(self._request(client, url), stream=True)
            try:
                yield answer
            finally:
                answer.close()

    def _request(self, client: httpx.Client, url: str) -> httpx.Request:
        headers = {"User-Agent": AGENT}
        if _origin(url) == _origin(self.base):
            headers |= {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": API_VERSION}
            headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return client.build_request("GET", url, headers=headers)


def _origin(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise Refused("This is not a web address.") from None
    if parts.scheme not in PORTS or not host or parts.username is not None:
        raise Refused("A web address starts with https:// and holds no password.")
    return parts.scheme, host, port


def _redirected(url: str, answer: httpx.Response) -> str:
    target = urljoin(url, answer.headers.get("location", ""))
    if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
        raise Refused(f"{urlsplit(url).hostname} points to an address that is not encrypted.")
    _origin(target)
    return target


def _pieces(answer: httpx.Response, most: int) -> Iterator[bytes]:
    size = 0
    for piece in answer.iter_bytes():
        size += len(piece)
        if size > most:
            raise TooLarge(f"{_place(answer)} answers with more than {most:,} bytes.")
        yield piece


def _said(answer: httpx.Response) -> str:
    """The server's sentence, as far as there is one."""
    try:
        body = b"".join(_pieces(answer, LARGEST_FAULT))
        return line(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError, TooLarge):
        return ""


def _place(answer: httpx.Response) -> str:
    """Without the query: a storage's address is signed there, which is a secret for as long as it holds."""
    return line(f"{answer.url.host}{answer.url.path}")
