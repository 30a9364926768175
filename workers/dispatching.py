"""Everything that waits to be sent, one after the other, for half a minute at most: what is left waits for the next look."""

from time import monotonic

from leaks import outbox
from workers.posting import post_one
from workers.telling import send_one

LOOK_SECONDS = 30.0


def send_due() -> int:
    """How many messages and statuses went out or were tried."""
    until, tried = monotonic() + LOOK_SECONDS, 0
    while monotonic() < until and outbox.anything_to_send():
        # Both, so that a receiver that takes long to answer keeps the other kind waiting once only.
        done = [send_one(), post_one()]
        tried += sum(done)
        if not any(done):
            break
    return tried
