"""Hints to the queue, sent by whoever committed rows: work that could begin at once.

Sent after the commit only, for a worker that is faster than the commit finds nothing. A broker that is away costs
nothing but time: the rows are there, and a worker's next look finds them.
"""

import logging
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db import transaction
from kombu.exceptions import OperationalError

from leaks.models import Log
from workers.celery import send_look
from workers.tasks import digest_delivery, digest_log, sign_again, work_off

logger = logging.getLogger(__name__)


def hint_logs(public_ids: Iterable[str]) -> None:
    """Logs were received: those of a `Receipt`, by their public ids."""
    ids = Log.objects.filter(public_id__in=list(public_ids)).values_list("pk", flat=True)
    for log_id in ids:
        _after_commit(digest_log, log_id)


def hint_delivery(delivery_id: int) -> None:
    """A webhook was stored."""
    _after_commit(digest_delivery, delivery_id)


def hint_marks() -> None:
    """Something was marked stale: a claim without a log, a decision, a changed expectation."""
    _after_commit(work_off)


def hint_resign(resign_id: int) -> None:
    """History is to be signed again, or back."""
    _after_commit(sign_again, resign_id)


def hint_look() -> None:
    """There is work of whatever kind, for example a log to be tried again."""
    transaction.on_commit(send_look)


def _after_commit(task: Any, *arguments: int) -> None:
    transaction.on_commit(partial(_send, task, arguments))


def _send(task: Any, arguments: tuple[int, ...]) -> None:
    try:
        task.apply_async(arguments, retry=False)
    except (OperationalError, OSError):
        logger.warning("The broker took no hint; a worker's next look finds the work", exc_info=True)
