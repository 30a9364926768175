"""Tasks: an id comes in, one call goes out. The message may be lost, doubled or late; the rows know what is to be done."""

from leaks.ingest import sweep
from leaks.ingest.digest import digest
from workers.celery import LOOK, WORK_OFF, app, send_look
from workers.retry import POLICY


@app.task(name="workers.digest_log", **POLICY)
def digest_log(log_id: int) -> None:
    """Digest one log, then derive what hangs on it."""
    if digest(log_id):
        sweep.work_off()


@app.task(name=WORK_OFF, **POLICY)
def work_off() -> None:
    """Derive what is marked stale."""
    sweep.work_off()


@app.task(name=LOOK, **POLICY)
def look() -> None:
    """Look for everything there is to do."""
    sweep.look(wake=send_look)
