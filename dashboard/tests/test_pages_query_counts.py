"""No page asks more often when there is more to show: the counts are the same for one lane and for many."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaks import models
from leaks.queries import plumbing
from leaks.tests import cast
from leaks.words import LogState, Verdict

pytestmark = pytest.mark.django_db

# Session, person and role come on top of them for who is signed in.
SIGNED_OUT = {"home": 2, "overview": 18, "lanes": 14, "lane": 13}
SIGNED_IN = {"home": 4, "overview": 21, "lanes": 17, "lane": 16, "settings": 28}
LIMIT = 17
LIMITS = {"settings": 28, "overview": 21}  # many panels, seldom looked at


@pytest.fixture(autouse=True)
def _now():
    plumbing._proposed.cache_clear()  # what another test asked for is not asked for again
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture(params=["small", "big"])
def played(request):
    played = cast.make_cast()
    # A parent that no run named is asked for by its hash, and a canary by its signature.
    models.Commit.objects.filter(sha=cast.sha_of("red")).update(parents=[cast.sha_of("green")])
    models.LaneExpectation.objects.update(canary=played.signature.public_id)
    if request.param == "big":
        _fill(played)
    return played


def _fill(played):
    """Many of everything that a page lists."""
    for number in range(6):
        lane = models.Lane.objects.create(project=played.project, name=f"lane {number}")
        for day in range(8):
            at = cast.NOW - timedelta(days=day, hours=1)
            outcome = cast.make_outcome(lane, cast.make_commit(played.project, f"{day}", at), at, Verdict.FINDINGS)
            cast.make_log(outcome, "picture.png", LogState.FAILED)
    for number in range(5):
        cast.make_signature(played.red, f"engine::Leak{number}", 4096, number + 2)
        models.Token.objects.create(
            project=played.project, kind="read", purpose="x", hash=f"{number}", hint=f"{number}"
        )
        cast.make_project(f"other-{number}", public=True)
    cast.roll_up(played.project)


def address(page):
    arguments = {"home": [], "lane": ["engine", "asan-ubsan"]}.get(page, ["engine"])
    return reverse(page, args=arguments)


def queries_of(client, page):
    with CaptureQueriesContext(connection) as caught:
        assert client.get(address(page)).status_code == 200
    return [query["sql"] for query in caught.captured_queries]


@pytest.mark.parametrize("page", SIGNED_OUT)
def test_signed_out(client, played, page):
    asked = queries_of(client, page)
    assert len(asked) == SIGNED_OUT[page] <= LIMITS.get(page, LIMIT), "\n".join(asked)


@pytest.mark.parametrize("page", SIGNED_IN)
def test_signed_in(client, played, page):
    client.force_login(played.people["admin"])
    asked = queries_of(client, page)
    assert len(asked) == SIGNED_IN[page] <= LIMITS.get(page, LIMIT), "\n".join(asked)
