"""Webhooks as a queue: stored in one row as they came, digested by a worker later, kept to be read again.

As with logs the row is the queue: one UPDATE takes it, its row count says who won, and the write checks first that it still holds.
"""

import hashlib
import json
import logging
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from time import monotonic
from typing import NamedTuple

import zstandard
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from leaks.errors import LostLease, PermanentError
from leaks.ingest import events, lease
from leaks.models import Delivery, Project
from leaks.providers import github, gitlab
from leaks.rows.events import EventRows
from leaks.store_facts import storable
from leaks.words import LogState

READERS: Mapping[str, Callable[[str, object, str], EventRows]] = {
    github.PROVIDER: github.read,
    gitlab.PROVIDER: gitlab.read,
}
LARGEST_BODY = 64 * 1024 * 1024  # of what we wrote ourselves; a request is bounded before that
GAVE_UP = f"Reading this delivery ended the worker, or took too long, {lease.MOST_ATTEMPTS} times."

logger = logging.getLogger(__name__)


class Stored(NamedTuple):
    pk: int
    duplicate: bool


def store(project: Project, provider: str, event: str, delivery_id: str, body: bytes) -> Stored:
    """One row, or the one that is there already: the same id, or the same content under another id."""
    digest = hashlib.sha256(body).hexdigest()
    name = storable(delivery_id, 200) or digest
    known = _known(project, provider, event, name, digest)
    if known is not None:
        return Stored(known, duplicate=True)
    packed = zstandard.compress(body, 3)
    try:
        with transaction.atomic():
            row = Delivery.objects.create(
                project=project, provider=provider, event=event, delivery_id=name, sha256=digest, body=packed
            )
    except IntegrityError:
        # Another request stored it at the same moment.
        return Stored(_known(project, provider, event, name, digest) or 0, duplicate=True)
    return Stored(row.pk, duplicate=False)


def _known(project: Project, provider: str, event: str, name: str, digest: str) -> int | None:
    same = Q(delivery_id=name) | Q(event=event, sha256=digest)
    return Delivery.objects.filter(same, project=project, provider=provider).values_list("pk", flat=True).first()


# --- Digesting -------------------------------------------------------------------------------------------------------


def due() -> Q:
    rested = Q(retry_at=None) | Q(retry_at__lte=Now())
    return (Q(state=LogState.RECEIVED) & rested) | Q(state=LogState.READING, lease_until__lt=Now())


def digest_due(until: float) -> int:
    """Digest what is due, the oldest first, as long as there is time; how many were."""
    done = 0
    passed: set[int] = set()
    waiting = Delivery.objects.filter(due()).order_by("received_at", "pk").values_list("pk", flat=True)
    while monotonic() < until and (ids := [pk for pk in waiting[:100] if pk not in passed]):
        for pk in ids:
            passed.add(pk)
            done += digest(pk) if monotonic() < until else 0
    return done


def digest(delivery_id: int) -> int:
    """Digest one delivery, if it is due and nobody else has it; 1 if that was done."""
    token = uuid.uuid4().hex
    if not _take(delivery_id, token):
        return 0
    row = Delivery.objects.select_related("project").get(pk=delivery_id)
    try:
        rows = read(row)
        with transaction.atomic():
            _end(row, LogState.DIGESTED, error="", digested_at=Now(), job=_job(rows))
            events.take(row.project, rows)
    except LostLease:
        return 0
    except PermanentError as error:
        _settle(row, LogState.REFUSED, str(error))
        return 0
    except Exception as error:
        logger.exception("Delivery %s could not be digested", row)
        _rest(row, f"{type(error).__name__}: {error}")
        return 0
    return 1


def read(row: Delivery) -> EventRows:
    """What the delivery says. The body was read as JSON before it was stored."""
    body = zstandard.ZstdDecompressor().decompress(bytes(row.body), max_output_size=LARGEST_BODY)
    return READERS[row.provider](row.event, json.loads(body), row.delivery_id)


def _job(rows: EventRows) -> str:
    return next((claim.job for claim in rows.claims if claim.job), "")


def _take(delivery_id: int, token: str) -> bool:
    free = Delivery.objects.filter(due(), pk=delivery_id)
    until = Now() + timedelta(seconds=lease.seconds())
    tried = free.filter(attempts__gte=lease.MOST_ATTEMPTS).update(state=LogState.FAILED, error=GAVE_UP, lease_token="")
    won = not tried and free.update(
        state=LogState.READING, attempts=F("attempts") + 1, lease_until=until, lease_token=token, retry_at=None
    )
    return bool(won)


def _end(row: Delivery, state: LogState, **columns: object) -> None:
    held = Delivery.objects.filter(pk=row.pk, lease_token=row.lease_token)
    if not held.update(state=state, lease_until=None, lease_token="", **columns):
        raise LostLease(f"Another worker has taken over delivery {row.pk}.")


def _settle(row: Delivery, state: LogState, sentence: str, **columns: object) -> None:
    """Who lost the lease meanwhile has nothing to say."""
    try:
        _end(row, state, error=storable(sentence), **columns)
    except LostLease:
        return


def _rest(row: Delivery, sentence: str) -> None:
    if row.attempts >= lease.MOST_ATTEMPTS:
        _settle(row, LogState.FAILED, sentence)
    else:
        later = Now() + timedelta(seconds=lease.pause(row.attempts))
        _settle(row, LogState.RECEIVED, sentence, retry_at=later)


def retry(project: Project) -> int:
    """By hand: deliveries that were given up wait again, with all their attempts; how many."""
    given_up = Delivery.objects.filter(project=project, state__in=(LogState.FAILED, LogState.REFUSED))
    return given_up.update(state=LogState.RECEIVED, attempts=0, error="", retry_at=None)
