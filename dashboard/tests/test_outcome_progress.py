"""While the logs of a run are read its page shows how far, asks again, and stops when nothing is left to read."""

import pytest
import time_machine
from django.urls import reverse

from dashboard.tests.leak_cast import LOG, give_log, make_leak_cast
from leaks import models
from leaks.queries import outcomes
from leaks.tests import cast
from leaks.words import LogState

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def address(outcome, name="outcome"):
    return reverse(name, args=["engine", outcome.public_id])


def page(client, outcome):
    answer = client.get(address(outcome))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.fixture
def busy(played):
    models.Log.objects.filter(pk=played.log.pk).update(
        state=LogState.READING, progress=40, attempts=1, lease_token="t", lease_until=cast.NOW
    )
    return played


def test_while_a_log_is_read_the_page_asks_again_every_second(client, busy):
    text = page(client, busy.red)
    assert f'hx-get="{address(busy.red, "outcome_progress")}" hx-trigger="load, every 1s"' in text
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in text


def test_progress_shows_percent_and_goes_on(client, busy):
    answer = client.get(address(busy.red, "outcome_progress"))
    assert answer.status_code == 200
    assert '<progress max="100" value="40">' in answer.content.decode()
    assert "HX-Refresh" not in answer
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("state", [LogState.DIGESTED, LogState.REFUSED, LogState.FAILED])
def test_progress_stops_and_loads_the_page_when_nothing_is_left_to_read(client, played, state):
    models.Log.objects.filter(pk=played.log.pk).update(state=state)
    answer = client.get(address(played.red, "outcome_progress"))
    assert (answer.status_code, answer["HX-Refresh"]) == (286, "true")


def test_a_revision_that_was_replaced_holds_nothing_up(played, client):
    models.Log.objects.filter(pk=played.log.pk).update(current=False, state=LogState.RECEIVED)
    give_log(played.red, LOG, "new.log")
    assert client.get(address(played.red, "outcome_progress")).status_code == 286
    assert not outcomes.outcome_page(played.project, played.red, 1).busy


def test_a_log_that_cannot_be_read_says_why(client, played):
    models.Log.objects.filter(pk=played.log.pk).update(state=LogState.REFUSED, error="This file is a picture.")
    text = page(client, played.red)
    assert "refused" in text
    assert "This file is a picture." in text


def test_a_run_without_a_log_says_what_to_do(client, played):
    assert "Upload one under the same run id" in page(client, played.cast.green)
