"""The one retry policy of all tasks.

What can never succeed is not tried again; what the surroundings did to us is, later and later, with jitter so that
workers do not come back in step. A log's own attempts are counted in its row, not here.
"""

from typing import Any

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
