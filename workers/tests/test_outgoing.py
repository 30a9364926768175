"""Requests to addresses that people typed."""

import ipaddress
import socket
from typing import Any

import pytest

from workers import outgoing
from workers.outgoing import NotAllowed, NotReached, Place, chosen, is_public, place_of, post
from workers.tests.receiver import Reply, receiving

PUBLIC = ["93.184.216.34", "2606:4700:4700::1111", "::ffff:93.184.216.34"]
PRIVATE = [
    "127.0.0.1", "0.0.0.1", "10.0.0.7", "172.16.5.5", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
    "::1", "::", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
    "ff02::1", "255.255.255.255",
]  # fmt: skip


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_on_the_public_network_may_be_asked(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PRIVATE)
def test_what_lies_behind_the_server_may_not_in_whatever_notation(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/x", "ftp://example.org", "file:///etc/passwd", "https://", "//example.org", "example.org",
        "https://user:pw@example.org/", "https://exam ple.org", "https://example.org/\nHost: x", "https://[::1", "",
        "javascript:alert(1)", "https://example.org:99999/",
    ],
)  # fmt: skip
def test_an_address_that_is_none_or_not_encrypted_is_refused(url: str) -> None:
    with pytest.raises(NotAllowed):
        place_of(url)


def test_a_host_that_the_operator_named_may_be_private_and_plain(settings: Any) -> None:
    settings.LEAKLEDGER_PRIVATE_HOSTS = ["git.corp", "10.0.0.7:8443"]
    assert place_of("http://git.corp/api").trusted
    assert place_of("https://10.0.0.7:8443/").trusted
    assert not place_of("https://10.0.0.7/").trusted


def test_of_a_name_with_a_private_and_a_public_address_the_public_one_is_taken() -> None:
    addresses = [ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("93.184.216.34")]
    assert str(chosen(Place("https", "x", 443, trusted=False), addresses)) == "93.184.216.34"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1"])
def test_this_machine_is_not_reached_under_any_name(host: str) -> None:
    with pytest.raises((NotAllowed, NotReached)):
        post(f"https://{host}/", b"", {})


def test_the_connection_goes_to_the_address_that_was_looked_at(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is looked at and private when it is connected to would get around the check."""
    with receiving() as receiver:
        asked: list[str] = []
        real = socket.getaddrinfo

        def once(host: Any, *rest: Any, **more: Any) -> Any:
            asked.append(host)
            return real("127.0.0.1" if host == "git.corp" else host, *rest, **more)

        monkeypatch.setattr(socket, "getaddrinfo", once)
        port = receiver.host.partition(":")[2]
        settings.LEAKLEDGER_PRIVATE_HOSTS = ["git.corp"]
        assert post(f"http://git.corp:{port}/x?y=1", b"body", {"X-One": "1"}).status == 201
        assert asked.count("git.corp") == 1
        [sent] = receiver.sent
        assert (sent.path, sent.body, sent.headers["host"]) == ("/x?y=1", b"body", f"git.corp:{port}")


# --- Answers ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def receiver(settings: Any):
    with receiving() as made:
        settings.LEAKLEDGER_PRIVATE_HOSTS = [made.host]
        yield made


def test_an_answer_is_given_whatever_its_status(receiver) -> None:
    receiver.replies = [Reply(502, b"bad gateway", {"Retry-After": "7"})]
    answer = post(receiver.url, b"", {})
    assert (answer.status, answer.text, answer.headers["retry-after"]) == (502, "bad gateway", "7")


def test_a_redirect_is_not_followed(receiver) -> None:
    receiver.replies = [Reply(302, b"", {"Location": receiver.url + "/elsewhere"})]
    assert post(receiver.url, b"", {"Authorization": "Bearer x"}).status == 302
    assert len(receiver.sent) == 1


def test_a_large_answer_is_cut(receiver) -> None:
    receiver.replies = [Reply(200, b"x" * 1_000_000)]
    assert len(post(receiver.url, b"", {}).text) == outgoing.MOST_BYTES


def test_bytes_that_are_no_text_do_no_harm(receiver) -> None:
    receiver.replies = [Reply(400, b"\xff\x00\xfe", {"Content-Encoding": "gzip"})]
    assert post(receiver.url, b"", {}).status == 400


def test_a_closed_connection_is_a_matter_of_trying_again(receiver) -> None:
    receiver.replies = [Reply(close=True)]
    with pytest.raises(NotReached):
        post(receiver.url, b"", {})


def test_an_answer_that_drips_is_given_up(receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "SECONDS", 0.3)
    receiver.replies = [Reply(200, b"x" * 1000, pause=0.02)]
    with pytest.raises(NotReached, match="longer than"):
        post(receiver.url, b"", {})


def test_an_answer_that_does_not_come_is_given_up(receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outgoing, "STEP", 0.2)
    receiver.replies = [Reply(200, b"xy", pause=2)]
    with pytest.raises(NotReached):
        post(receiver.url, b"", {})


def test_nobody_there_is_a_matter_of_trying_again(settings: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    settings.LEAKLEDGER_PRIVATE_HOSTS = [host]
    with pytest.raises(NotReached):
        post(f"http://{host}/", b"", {})
