"""What people read when a suppression ends soon, or hides more than was agreed."""

import json

import pytest

from leaks.words import NoticeKind
from workers import messages
from workers.messages import Told

ENDING = {
    "id": "SUP-7F3A2B", "rule": "leak:engine::Pool", "tool": "lsan", "lanes": [], "proposed_by": "tom", "signature": "LKS-1",
    "reason": "Kept.", "ends_on": "2027-02-28",
}  # fmt: skip
BREACH = {
    **ENDING, "lanes": ["asan", "soak"], "cap_count": 5, "cap_bytes": None, "outcome": "o1", "lane": "asan", "commit": "d1b0ea3a8f00d",
    "count": 9, "bytes": 12_345,
}  # fmt: skip
SUPPRESSION = (NoticeKind.SUPPRESSION_ENDS, ENDING), (NoticeKind.SUPPRESSION_OVER_CAP, BREACH)


def told(kind, *payloads):
    return Told("engine", "Engine", "main", kind, payloads, "https://leaks.example")


def test_an_end_says_what_ends_when_and_what_follows():
    one = told(NoticeKind.SUPPRESSION_ENDS, ENDING)
    assert messages.subject(one) == "[Engine] SUP-7F3A2B ends after 2027-02-28"
    body = messages.body(one)
    assert "leak:engine::Pool (lsan, all lanes), proposed by tom" in body
    assert "what it hides is open again" in body
    assert "https://leaks.example/p/engine/suppressions/SUP-7F3A2B/" in body


def test_a_breach_says_what_was_agreed_and_what_was_hidden():
    body = messages.body(told(NoticeKind.SUPPRESSION_OVER_CAP, BREACH))
    assert "9 hits and 12,345 bytes hidden in one run of asan at d1b0ea3a8; agreed were 5 hits" in body
    assert "asan, soak" in body


@pytest.mark.parametrize(("kind", "payload"), SUPPRESSION)
def test_several_at_once_are_one_message(kind, payload):
    several = told(kind, payload, payload)
    assert messages.subject(several).startswith("[Engine] 2 suppressions")
    assert json.loads(messages.document(several, "d1"))["count"] == 2


@pytest.mark.parametrize(("kind", "payload"), SUPPRESSION)
def test_hostile_names_stay_in_their_line(kind, payload):
    body = messages.body(told(kind, {**payload, "rule": "leak:a\nBcc: x", "proposed_by": "t\nom", "lanes": ["a\nb"]}))
    assert "\nBcc" not in body
