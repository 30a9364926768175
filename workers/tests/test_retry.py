from typing import Any

import pytest
from celery import Celery
from celery.utils.time import get_exponential_backoff_interval
from django.db import IntegrityError, OperationalError
from kombu.exceptions import OperationalError as TransportError

from leaks.errors import BadSubmission, LostLease, TooLarge, TransientError, Unreadable
from workers.celery import LOOK, app
from workers.retry import POLICY


def times_tried(error: Exception, succeeds_at: int | None = None) -> int:
    """How often a task that fails with `error` is run."""
    private = Celery("test", broker="memory://", set_as_current=False)
    tries = 0

    @private.task(shared=False, **POLICY)
    def failing() -> None:
        nonlocal tries
        tries += 1
        if tries != succeeds_at:
            raise error

    failing.apply()
    return tries


@pytest.mark.parametrize("error", [BadSubmission("no"), TooLarge("big"), Unreadable("cut")])
def test_what_can_never_succeed_is_tried_once(error: Exception) -> None:
    assert times_tried(error) == 1


@pytest.mark.parametrize(
    "error",
    [TransientError("disk"), LostLease("gone"), OperationalError("locked"), TransportError("away"), TimeoutError()],
)
def test_what_the_surroundings_did_is_tried_again_a_bounded_number_of_times(error: Exception) -> None:
    assert times_tried(error) == 1 + POLICY["max_retries"]
    assert times_tried(error, succeeds_at=3) == 3


@pytest.mark.parametrize("error", [ValueError("bug"), IntegrityError("bug"), MemoryError()])
def test_a_bug_is_not_tried_again(error: Exception) -> None:
    assert times_tried(error) == 1


def test_it_backs_off_further_each_time_with_jitter() -> None:
    def waits(*, jitter: bool) -> list[int]:
        return [
            get_exponential_backoff_interval(POLICY["retry_backoff"], retry, POLICY["retry_backoff_max"], jitter)
            for retry in range(POLICY["max_retries"])
        ]

    assert waits(jitter=False) == [2, 4, 8, 16, 32]
    assert POLICY["retry_jitter"]
    assert {tuple(waits(jitter=True)) for _ in range(20)} != {tuple(waits(jitter=False))}


def test_every_task_of_ours_has_the_policy() -> None:
    app.loader.import_default_modules()
    ours: dict[str, Any] = {name: task for name, task in app.tasks.items() if name.startswith("workers.")}
    assert LOOK in ours
    for task in ours.values():
        assert {name: getattr(task, name) for name in POLICY} == POLICY
