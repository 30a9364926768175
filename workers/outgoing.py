"""Requests to other machines, at addresses that people typed: bounded in time and size, and never into the network behind the server.

A host is resolved once and the connection goes to the address that was looked at, so that a name cannot point elsewhere a moment later.
Redirects are not followed: a token must not travel to a host that nobody named.
"""

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from django.conf import settings

from leaks.errors import PermanentError, TransientError

SECONDS = 20.0  # for everything together
STEP = 8.0  # for connecting, and between two pieces of the answer
MOST_BYTES = 64 * 1024  # of an answer: a sentence is wanted, no more
PORTS = {"https": 443, "http": 80}
AGENT = "leakledger"
# Global by the registry, and yet a way to somewhere else: an IPv4 address is inside of each (RFC 6052, RFC 3056).
WRAPPED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16")))

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class NotAllowed(PermanentError):
    """An address to which nothing may be sent."""


class NotReached(TransientError):
    """Nobody answered, or not in time, or not to the end."""


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str


class Place(NamedTuple):
    """An address, taken apart. `trusted`: whoever runs the server named this host."""

    scheme: str
    host: str
    port: int
    trusted: bool


def place_of(url: str) -> Place:
    """Raises NotAllowed for what is no web address, holds a password, or is not encrypted."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise NotAllowed("This is not a web address.") from None
    if parts.scheme not in PORTS or not host or not url.isprintable() or " " in url:
        raise NotAllowed("A web address starts with https://.")
    if parts.username is not None or parts.password is not None:
        raise NotAllowed("A web address holds no password.")
    trusted = bool({host, f"{host}:{port}"} & set(settings.LEAKLEDGER_PRIVATE_HOSTS))
    if parts.scheme == "http" and not trusted:
        raise NotAllowed("Only https:// is encrypted; LEAKLEDGER_PRIVATE_HOSTS names the hosts that may do without.")
    return Place(parts.scheme, host, port, trusted)


def post(url: str, content: bytes, headers: Mapping[str, str]) -> Answer:
    """The answer, whatever its status. Raises NotAllowed, or NotReached."""
    place, until = place_of(url), monotonic() + SECONDS
    target = httpx.URL(url)
    name = target.netloc.decode("ascii")
    request = httpx.Request(
        "POST",
        target.copy_with(host=str(_resolve(place))),
        content=content,
        headers={"User-Agent": AGENT, **headers, "Host": name, "Accept-Encoding": "identity", "Connection": "close"},
        extensions={"sni_hostname": place.host, "timeout": httpx.Timeout(STEP).as_dict()},
    )
    try:
        # No proxy of the environment: behind one nobody could say where the request ends.
        with httpx.Client(trust_env=False, follow_redirects=False) as client:
            return _read(client.send(request, stream=True), until)
    except httpx.HTTPError as error:
        raise NotReached(f"{place.host} did not answer: {error or type(error).__name__}") from error


def _read(response: httpx.Response, until: float) -> Answer:
    pieces: list[bytes] = []
    try:
        for piece in response.iter_raw():
            pieces.append(piece)
            if monotonic() > until:
                raise NotReached(f"The answer of {response.url.host} took longer than {SECONDS:g} s.")
            if sum(map(len, pieces)) >= MOST_BYTES:
                break
    finally:
        response.close()
    return Answer(response.status_code, response.headers, b"".join(pieces)[:MOST_BYTES].decode("utf-8", "replace"))


def _resolve(place: Place) -> Address:
    try:
        found = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotReached(f"The host {place.host} is not found: {error}") from error
    return chosen(place, [ipaddress.ip_address(str(row[4][0]).partition("%")[0]) for row in found])


def chosen(place: Place, addresses: Iterable[Address]) -> Address:
    """The first address that may be connected to. Raises NotAllowed where none may."""
    good = next((address for address in addresses if place.trusted or is_public(address)), None)
    if good is None:
        raise NotAllowed(
            f"{place.host} is not on the public network. Whoever runs this server can name it in LEAKLEDGER_PRIVATE_HOSTS."
        )
    return good


def is_public(address: Address) -> bool:
    """Not this machine, its network, a cloud's metadata service, or one of those in another notation."""
    inner = getattr(address, "ipv4_mapped", None)
    if inner is not None:
        return is_public(inner)
    wrapped = any(address in network for network in WRAPPED if network.version == address.version)
    return address.is_global and not address.is_multicast and not wrapped
