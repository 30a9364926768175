"""The one retry policy: of tasks, and of what is sent to other machines.

What can never succeed is not tried again; what the surroundings did to us is, later and later, with jitter so that
workers do not come back in step. The attempts of a log and of a sending are counted in their rows, not here.
"""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any, NamedTuple

from django.conf import settings
from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as TransportError

from leaks.errors import PermanentError, TransientError

SURROUNDINGS = (TransientError, OperationalError, InterfaceError, TransportError, ConnectionError, TimeoutError)

POLICY: dict[str, Any] = {
    "autoretry_for": SURROUNDINGS,
    "dont_autoretry_for": (PermanentError,),
    "max_retries": 5,
    "retry_backoff": 2,  # seconds, doubled each time
    "retry_backoff_max": 60,
    "retry_jitter": True,
}


# --- Answers of other machines ---------------------------------------------------------------------------------------

LONGEST_PAUSE = 3600.0
LONGEST_TOLD_PAUSE = 24 * 3600.0  # a server may ask for a day; for longer it asks in vain
LIMITED = frozenset({403, 429})  # GitHub says 403 too when somebody asks too often
TRY_AGAIN = frozenset({408, 425, 429})


class Fate(Enum):
    DONE = auto()
    AGAIN = auto()
    LIMITED = auto()  # again, and nothing else to the same receiver until then
    NEVER = auto()


class Judged(NamedTuple):
    """What an answer means. `seconds`: when to try again."""

    fate: Fate
    seconds: float = 0.0


def judge_answer(status: int, headers: Mapping[str, str], attempts: int) -> Judged:
    """2xx is done, 5xx and "too many" come again, every other 4xx and a redirect can never succeed."""
    told = told_pause(headers)
    if 200 <= status < 300:
        return Judged(Fate.DONE)
    if status == 429 or (status in LIMITED and told is not None):
        return Judged(Fate.LIMITED, pause(attempts) if told is None else told)
    if status >= 500 or status in TRY_AGAIN:
        return Judged(Fate.AGAIN, max(pause(attempts), told or 0.0))
    return Judged(Fate.NEVER)


def pause(attempts: int) -> float:
    """Seconds to rest after so many attempts: 5 s, 30 s, 3 min, 18 min, then an hour, each with jitter."""
    base = float(settings.LEAKLEDGER_RETRY_SECONDS)
    return min(LONGEST_PAUSE, base * 6.0 ** min(attempts - 1, 8)) * random.uniform(0.75, 1.25)  # noqa: S311  no secret


def told_pause(headers: Mapping[str, str]) -> float | None:
    """What the receiver asks for: `Retry-After` in seconds or as a date, or the end of GitHub's window."""
    word = headers.get("retry-after", "").strip()
    if word.isascii() and word.isdigit() and len(word) < 10:
        return min(LONGEST_TOLD_PAUSE, max(1.0, float(word)))
    moment = _date(word)
    if moment is None and headers.get("x-ratelimit-remaining") == "0":
        moment = _epoch(headers.get("x-ratelimit-reset", ""))
    if moment is None:
        return None
    return min(LONGEST_TOLD_PAUSE, max(1.0, (moment - datetime.now(UTC)).total_seconds()))


def _date(word: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(word)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _epoch(word: str) -> datetime | None:
    return datetime.fromtimestamp(int(word), UTC) if word.isascii() and word.isdigit() and len(word) < 11 else None
