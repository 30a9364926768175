"""What an answer of another machine means for the next attempt."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import time_machine

from workers.retry import Fate, judge_answer, pause, told_pause

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "headers", "fate"),
    [
        (200, {}, Fate.DONE),
        (201, {}, Fate.DONE),
        (204, {}, Fate.DONE),
        (301, {}, Fate.NEVER),
        (307, {"location": "https://elsewhere"}, Fate.NEVER),
        (400, {}, Fate.NEVER),
        (401, {}, Fate.NEVER),
        (403, {}, Fate.NEVER),
        (404, {"retry-after": "5"}, Fate.NEVER),
        (410, {}, Fate.NEVER),
        (422, {}, Fate.NEVER),
        (403, {"retry-after": "60"}, Fate.LIMITED),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1772366460"}, Fate.LIMITED),
        (403, {"x-ratelimit-remaining": "12", "x-ratelimit-reset": "1772366460"}, Fate.NEVER),
        (429, {}, Fate.LIMITED),
        (408, {}, Fate.AGAIN),
        (500, {}, Fate.AGAIN),
        (502, {}, Fate.AGAIN),
        (503, {"retry-after": "120"}, Fate.AGAIN),
        (599, {}, Fate.AGAIN),
        (100, {}, Fate.NEVER),
    ],
)
def test_what_can_never_succeed_is_not_tried_again(status, headers, fate) -> None:
    with time_machine.travel(NOW, tick=False):
        assert judge_answer(status, headers, 1).fate is fate


@pytest.mark.parametrize(
    ("word", "seconds"),
    [
        ("120", 120.0),
        ("0", 1.0),
        ("99999999", 86400.0),
        (format_datetime(NOW + timedelta(minutes=5), usegmt=True), 300.0),
        (format_datetime(NOW - timedelta(minutes=5), usegmt=True), 1.0),
        ("soon", None),
        ("-5", None),
        ("1e3", None),
        ("９", None),
        ("9" * 400, None),
        ("", None),
        ("Mon, 99 Foo 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_within_bounds(word, seconds) -> None:
    with time_machine.travel(NOW, tick=False):
        assert told_pause({"retry-after": word}) == seconds


def test_githubs_window_ends_at_a_moment() -> None:
    with time_machine.travel(NOW, tick=False):
        reset = str(int((NOW + timedelta(minutes=10)).timestamp()))
        assert told_pause({"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}) == 600.0


def test_what_the_receiver_asks_for_outweighs_our_own_pause() -> None:
    assert judge_answer(503, {"retry-after": "7200"}, 1).seconds == 7200.0


def test_each_attempt_waits_longer_up_to_an_hour() -> None:
    waits = [pause(attempts) for attempts in range(1, 11)]
    assert 3 < waits[0] < 7
    assert waits[0] < waits[1] < waits[2] < waits[3]
    assert max(waits) <= 3600 * 1.25
