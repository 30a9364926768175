from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from leaks.tests.ledger import log_text, submit
from workers.celery import send_look
from workers.send import hint_logs, hint_look, hint_marks

QUEUE = Path(settings.LEAKLEDGER_VAR) / "broker" / "queue"


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    clear()
    yield
    clear()


def clear() -> None:
    QUEUE.unlink() if QUEUE.is_file() else rmtree(QUEUE, ignore_errors=True)


def sent() -> list[str]:
    return [path.name.partition(".")[2] for path in QUEUE.iterdir()] if QUEUE.is_dir() else []


@pytest.mark.django_db
def test_hints_leave_after_the_commit_only(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        receipt = submit(1, log_text())
        hint_logs(log.public_id for log in receipt.logs)
        hint_marks()
        hint_look()
        assert sent() == []
    assert sorted(sent()) == ["digest.msg", "upkeep.msg", "upkeep.msg"]


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_not_hinted() -> None:
    with transaction.atomic():
        receipt = submit(1, log_text())
        hint_logs(log.public_id for log in receipt.logs)
        transaction.set_rollback(True)
    assert sent() == []


@pytest.mark.django_db
def test_a_broker_that_is_away_costs_the_caller_nothing(
    django_capture_on_commit_callbacks: Any, caplog: pytest.LogCaptureFixture
) -> None:
    QUEUE.parent.mkdir(parents=True, exist_ok=True)
    QUEUE.touch()  # a file where the folder should be: no message can be written
    with django_capture_on_commit_callbacks(execute=True):
        receipt = submit(1, log_text())
        hint_logs(log.public_id for log in receipt.logs)
        hint_marks()
        hint_look()
    send_look()
    assert "The broker took no hint" in caplog.text
    assert "The broker took no look" in caplog.text
