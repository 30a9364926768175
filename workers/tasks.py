"""Tasks: an id comes in, one call goes out. The message may be lost, doubled or late; the rows know what is to be done."""

from time import monotonic

from leaks.ingest import deliveries, resign, sweep
from leaks.ingest.digest import digest
from workers.celery import DIGEST_DELIVERY, LOOK, WORK_OFF, app, send_look
from workers.dispatching import send_due
from workers.retry import POLICY


@app.task(name="workers.digest_log", **POLICY)
def digest_log(log_id: int) -> None:
    """Digest one log, then derive what hangs on it."""
    if digest(log_id):
        sweep.work_off()


@app.task(name=DIGEST_DELIVERY, **POLICY)
def digest_delivery(delivery_id: int) -> None:
    """Digest one webhook, then derive what hangs on it."""
    if deliveries.digest(delivery_id):
        sweep.work_off()


@app.task(name=WORK_OFF, **POLICY)
def work_off() -> None:
    """Derive what is marked stale."""
    sweep.work_off()


@app.task(name=LOOK, **POLICY)
def look() -> None:
    """Look for everything there is to do. Logs come first: a re-sign can wait, and it goes on where it stood."""
    sweep.look(wake=send_look)
    if resign.look(wake=send_look):
        sweep.work_off()
    send_due()


@app.task(name="workers.sign_again", **POLICY)
def sign_again(resign_id: int) -> None:
    """Go on with a re-sign for a while, then derive what hangs on it. What is left is found by the next look."""
    if not resign.work(resign_id, until=monotonic() + resign.LOOK_SECONDS):
        send_look()
    sweep.work_off()
