"""The page and the API of a run that has not ended: its last sign of life, and silence."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from leaks.ingest import silence
from leaks.models import Part, Project
from leaks.tests.ledger import MORNING, log_text, outcome, project, settle, submit

pytestmark = pytest.mark.django_db

BEGIN: dict[str, Any] = {
    "conclusion": None,
    "exit_code": None,
    "finished_at": None,
    "ended": False,
    "heartbeat": MORNING,
}


@pytest.fixture(autouse=True)
def _running() -> None:
    project()
    Project.objects.update(public=True)
    submit(1, **BEGIN, progress="[ 31%] Building <CXX> object a.o", sequence=1)
    settle()


def address(name: str) -> str:
    return reverse(name, args=["engine", outcome(1).public_id])


def test_the_page_of_a_run_shows_how_far_it_is_and_asks_again(client: Client) -> None:
    text = client.get(address("outcome")).content.decode()
    assert "<strong>Running.</strong>" in text
    assert "<code>[ 31%] Building &lt;CXX&gt; object a.o</code>" in text
    assert f'hx-get="{address("outcome_running")}" hx-trigger="every 10s"' in text


def test_the_part_that_asks_again_stops_when_the_run_has_ended(client: Client) -> None:
    answer = client.get(address("outcome_running"))
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True)
    submit(1, log_text(), sequence=2)
    settle()
    answer = client.get(address("outcome_running"))
    assert (answer.status_code, answer["HX-Refresh"]) == (286, "true")
    assert "Running." not in client.get(address("outcome")).content.decode()


def test_silence_is_told_in_words(client: Client) -> None:
    Part.objects.update(heartbeat_at=Now() - timedelta(seconds=301))
    silence.note_silence()
    settle()
    text = client.get(address("outcome")).content.decode()
    assert "<strong>Fell silent.</strong>" in text
    assert "gave signs of life and then fell silent" in text


def test_the_api_says_the_same(client: Client) -> None:
    answer = client.get(f"/api/v1/outcomes/{outcome(1).public_id}").json()
    (part,) = answer["parts"]
    assert (part["progress"], part["silent"], part["exit_code"]) == ("[ 31%] Building <CXX> object a.o", False, None)
    assert part["heartbeat_at"]
