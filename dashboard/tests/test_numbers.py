"""Every number of the lanes pages is the number of the rows behind it: each link is followed to its last page and counted."""

import re
from datetime import timedelta
from html import unescape

import pytest
import time_machine
from django.urls import reverse

from leaks import models
from leaks.tests import cast
from leaks.words import Reason, Verdict

pytestmark = pytest.mark.django_db

# A link to a list of outcomes whose text begins with a number: 12, 1,204, 3/12, "4 of 12: 33 %".
COUNTED = re.compile(
    r'<a[^>]*href="([^"]*#outcomes)"[^>]*>\s*(?:<span[^>]*>)?([\d,]+)(?:/[\d,]+| of [\d,]+[^<]*)?(?:</span>|</a>)'
)


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    """Two lanes with every verdict, reason and claim, on several branches and days, and one withdrawn outcome."""
    played = cast.make_cast()
    tsan = models.Lane.objects.create(project=played.project, name="tsan")
    claims = ("success", "failure", None, "cancelled", "odd word")
    ends = [
        *((word, "") for word in Verdict if word is not Verdict.NO_VERDICT),
        *((Verdict.NO_VERDICT, r) for r in Reason),
    ]
    for number in range(70):
        verdict, reason = ends[number % len(ends)]
        at = cast.NOW - timedelta(hours=11 * number + 1)
        branch = "main" if number % 3 else "feature"
        commit = cast.make_commit(played.project, f"c{number}", at, branch)
        lane = tsan if number % 4 else played.lane
        cast.make_outcome(lane, commit, at, verdict, branch, reason=reason, conclusion=claims[number % len(claims)])
    gone = models.LaneOutcome.objects.filter(lane=tsan).order_by("pk")[3]
    models.LaneOutcome.objects.filter(pk=gone.pk).update(withdrawn_at=cast.NOW)
    cast.roll_up(played.project)
    return played


def rows_behind(client, page, url):
    """How many outcomes the link lists that count, over all pages of the list."""
    address, found = page if url.startswith("?") else "", []
    address += url.partition("#")[0]
    while address:
        outcomes = client.get(address).context["outcomes"]
        found += [line for line in outcomes.lines if not line.withdrawn]
        address = address.partition("?")[0] + outcomes.older.partition("#")[0] if outcomes.older else ""
    assert len({line.public_id for line in found}) == len(found)
    return len(found)


def counted_links(client, page):
    html = client.get(page).content.decode()
    html = html.partition('id="outcomes"')[0]
    return {(unescape(url), int(n.replace(",", ""))) for url, n in COUNTED.findall(html)}


@pytest.mark.parametrize(
    ("address", "at_least"),
    [
        ("lanes/", 60),
        ("lanes/?days=7", 20),
        ("lanes/tsan/", 40),
        ("lanes/tsan/?branch=main&days=30", 20),
        ("lanes/asan-ubsan/?days=14", 15),
        ("", 10),
    ],
)
def test_a_number_is_the_number_of_its_rows(client, played, address, at_least):
    page = reverse("overview", args=["engine"]) + address
    links = counted_links(client, page)
    assert len(links) >= at_least
    wrong = {(url, n, found) for url, n in links if (found := rows_behind(client, page, url)) != n}
    assert not wrong


def test_the_parts_of_a_lane_sum_up(client, played):
    rows = client.get(reverse("lane", args=["engine", "tsan"])).context["rows"]
    assert rows.outcomes == sum(day.outcomes for day in rows.days) == rows.matrix.total
    assert rows.matrix.total == rows.matrix.left_out + sum(cell.n for row in rows.matrix.rows for cell in row.cells)
    assert all(row.total == sum(cell.n for cell in row.cells) for row in rows.matrix.rows)
    assert rows.no_verdict.n == sum(line.n for line in rows.reasons) == rows.reasons[0].of
    assert rows.no_verdict.n == sum(week.no_verdict.n for week in rows.weeks)
    assert rows.outcomes == sum(week.cancelled.of for week in rows.weeks)


def test_the_lanes_sum_up_to_the_list_of_lanes(client, played):
    rows = client.get(reverse("lanes", args=["engine"])).context["rows"]
    assert sum(line.outcomes for line in rows.lanes) == rows.matrix.total
    assert sum(line.no_verdict.n for line in rows.lanes) == sum(line.n for line in rows.reasons)
    for line, one in zip(rows.lanes, rows.lane_weeks, strict=True):
        assert line.name == one.lane
        assert line.cancelled.n == sum(week.cancelled.n for week in one.weeks)
        assert line.no_verdict.n == sum(week.no_verdict.n for week in one.weeks)
        assert line.outcomes == sum(week.no_verdict.of for week in one.weeks)


def test_rare_claims_are_counted_together(client, played):
    for number in range(20):
        at = cast.NOW - timedelta(hours=number)
        commit = cast.make_commit(played.project, f"rare{number}", at)
        values = {"reason": Reason.SKIPPED, "conclusion": f"word {number}"}
        cast.make_outcome(played.lane, commit, at, Verdict.NO_VERDICT, **values)
    matrix = client.get(reverse("lane", args=["engine", "asan-ubsan"])).context["rows"].matrix
    assert len(matrix.rows) == 12
    assert matrix.left_out > 0
    assert matrix.total == matrix.left_out + sum(row.total for row in matrix.rows)
