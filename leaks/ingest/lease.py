"""Who reads a log. The log's row is the queue: one UPDATE takes it, and its row count says who won.

All times are the database's: the clocks of the workers' machines need not agree.
"""

import random
import uuid
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from leaks import marks
from leaks.errors import LostLease
from leaks.models import Log
from leaks.store_facts import storable
from leaks.words import LogState

MOST_ATTEMPTS = 5
LONGEST_WAIT = 900.0
ENDED_ITS_READER = f"Reading this log ended the worker, or took too long, {MOST_ATTEMPTS} times."


def seconds() -> float:
    """How long a reader may be silent before another one takes the log."""
    return float(settings.LEAKLEDGER_LEASE_SECONDS)


def due() -> Q:
    """Logs that wait and may be tried, and logs whose reader fell silent."""
    rested = Q(retry_at=None) | Q(retry_at__lte=Now())
    return (Q(state=LogState.RECEIVED) & rested) | Q(state=LogState.READING, lease_until__lt=Now())


@dataclass(slots=True)
class Lease:
    """The right to write what a log says. It ends when another worker takes the log; then every method raises LostLease."""

    log_id: int
    token: str
    attempts: int
    renewed: float

    def renew(self, progress: int) -> None:
        """Stay the reader; cheap to call often."""
        if monotonic() - self.renewed > seconds() / 4:
            self._update(lease_until=Now() + timedelta(seconds=seconds()), progress=progress)
            self.renewed = monotonic()

    def finish(self, **columns: Any) -> None:
        """The log is read. To be called first in the transaction that writes, so that who lost the lease writes nothing."""
        self._end(LogState.DIGESTED, error="", progress=100, digested_at=Now(), **columns)

    def refuse(self, sentence: str) -> None:
        """The same bytes can never be read."""
        self._give_up(LogState.REFUSED, sentence)

    def fail(self, sentence: str) -> None:
        self._give_up(LogState.FAILED, sentence)

    def back_off(self, sentence: str) -> None:
        """Something unexpected: let it rest, longer each time, and give up after the last attempt."""
        if self.attempts >= MOST_ATTEMPTS:
            self.fail(sentence)
        else:
            self._end(
                LogState.RECEIVED, error=storable(sentence), retry_at=Now() + timedelta(seconds=pause(self.attempts))
            )

    def _give_up(self, state: LogState, sentence: str) -> None:
        with transaction.atomic():
            self._end(state, error=storable(sentence))
            marks.mark(_outcomes(Q(pk=self.log_id)))

    def _end(self, state: LogState, **columns: Any) -> None:
        self._update(state=state, lease_until=None, lease_token="", **columns)

    def _update(self, **columns: Any) -> None:
        if not Log.objects.filter(pk=self.log_id, lease_token=self.token).update(**columns):
            raise LostLease(f"Another worker has taken over log {self.log_id}.")


def take(log_id: int) -> Lease | None:
    """The lease of a log that is due, or null when somebody else has it. The attempt is counted before any work."""
    token = uuid.uuid4().hex
    free = Log.objects.filter(due(), pk=log_id, attempts__lt=MOST_ATTEMPTS)
    won = free.update(
        state=LogState.READING,
        attempts=F("attempts") + 1,
        lease_until=Now() + timedelta(seconds=seconds()),
        lease_token=token,
        retry_at=None,
        progress=0,
    )
    if not won:
        return None
    return Lease(log_id, token, Log.objects.values_list("attempts", flat=True).get(pk=log_id), monotonic())


def pause(attempts: int) -> float:
    """Seconds to rest after so many attempts: 5 s, 30 s, 3 min, 15 min, each with jitter, so that an outage is outlived."""
    base = float(settings.LEAKLEDGER_RETRY_SECONDS)
    return min(LONGEST_WAIT, base * 6.0 ** (attempts - 1)) * random.uniform(0.75, 1.25)  # noqa: S311  no secret


def fail_exhausted() -> int:
    """Give up logs that ended their reader too often; how many."""
    spent = due() & Q(attempts__gte=MOST_ATTEMPTS)
    with transaction.atomic():
        ids = list(Log.objects.select_for_update(no_key=True).filter(spent).values_list("pk", flat=True))
        logs = Log.objects.filter(pk__in=ids)
        logs.filter(error="").update(error=ENDED_ITS_READER)
        logs.update(state=LogState.FAILED, lease_until=None, lease_token="", retry_at=None)
        marks.mark(_outcomes(Q(pk__in=ids)))
    return len(ids)


def retry_log(log: Log) -> bool:
    """By hand: a log that was given up waits again, with all its attempts. False if it was not given up."""
    given_up = Log.objects.filter(pk=log.pk, state__in=(LogState.FAILED, LogState.REFUSED))
    with transaction.atomic():
        reset = given_up.update(state=LogState.RECEIVED, attempts=0, error="", retry_at=None, progress=0)
        if reset:
            marks.mark(_outcomes(Q(pk=log.pk)))
    return bool(reset)


def _outcomes(logs: Q) -> list[marks.Place]:
    return [marks.outcome(pk) for pk in Log.objects.filter(logs).values_list("part__outcome_id", flat=True)]
