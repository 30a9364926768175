"""The Celery app, and the look that each worker takes by itself.

The look is a timer in the worker's main process that sends one message to the worker's own queue. Not `-B`: an embedded
beat outlives a killed worker and fills the queue for ever; this timer ends with its process. And a message instead of
the look itself: the main process must not hold a database connection when it forks, and need not be Django at all. A
message that is not taken before the next look expires, so they never pile up.
"""

import logging
import os
from collections.abc import Callable
from typing import Any

from celery import Celery, bootsteps
from celery.worker import state
from django.conf import settings
from kombu.exceptions import OperationalError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

EXIT_STUCK = 70
LOOK, WORK_OFF, DIGEST_DELIVERY = "workers.look", "workers.work_off", "workers.digest_delivery"

logger = logging.getLogger(__name__)

app = Celery("leakledger")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Short work has a queue of its own; all else goes to the default one, where long logs may stand before it.
app.conf.task_routes = {name: {"queue": "upkeep"} for name in (LOOK, WORK_OFF, DIGEST_DELIVERY)}
app.autodiscover_tasks(["workers"])


def send_look() -> None:
    """Ask any worker to look for work. A broker that is away is no reason to stop: the next look is sent in time."""
    every = look_seconds()
    try:
        app.send_task(LOOK, expires=every, retry=False)
    except (OperationalError, OSError):
        logger.warning("The broker took no look; the next one follows in %s s", every, exc_info=True)


def look_seconds() -> float:
    return float(settings.LEAKLEDGER_LOOK_SECONDS)


class PoolWatch:
    """Notices a pool that takes no work any more, and ends the worker, so that whoever keeps it starts another.

    A pool process that is killed while it waits for work dies with the lock of the pipe: its successor waits for ever, and so does all
    that was reserved. Nothing is lost by an abrupt end, for the work stands in the database.
    """

    PATIENCE = 2  # looks in a row

    def __init__(self, end: Callable[[int], object] = os._exit) -> None:
        self._end = end
        self._idle = 0
        self._accepted = -1

    def look(self) -> None:
        accepted = sum(state.total_count.values())
        waits = bool(state.reserved_requests) and not state.active_requests
        self._idle = self._idle + 1 if waits and accepted == self._accepted else 0
        self._accepted = accepted
        if self._idle >= self.PATIENCE:
            logger.critical("The pool takes no work any more; this worker ends, to be started again")
            self._end(EXIT_STUCK)


class LookingStep(bootsteps.StartStopStep):
    """Look at start, again after each new connection to the broker, and then every half a minute."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **kwargs: Any) -> None:
        self.timer: Any = None
        self.watch = PoolWatch()
        super().__init__(parent, **kwargs)

    def start(self, parent: Any) -> None:
        """`parent` is the worker's consumer."""
        send_look()
        self.timer = parent.timer.call_repeatedly(look_seconds(), self.look)

    def look(self) -> None:
        self.watch.look()
        send_look()

    def stop(self, parent: Any) -> None:  # noqa: ARG002  Celery's signature
        if self.timer is not None:
            self.timer.cancel()


app.steps["consumer"].add(LookingStep)
