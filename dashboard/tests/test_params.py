from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.core.exceptions import BadRequest
from django.http import QueryDict

from dashboard import params
from leaks.rows.lane_pages import Cursor

NOW = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(NOW, tick=False):
        yield


def lane(query: str) -> params.LaneParams:
    return params.lane_params(QueryDict(query))


def test_nothing_given_is_sixty_days_up_to_today():
    window = params.window(QueryDict(""))
    assert (window.days, window.last_day) == (60, date(2026, 3, 11))
    assert window.since == datetime(2026, 1, 11, tzinfo=UTC)
    assert (window.last_day - window.first_day).days + 1 == 60


def test_one_day_is_today():
    window = params.window(QueryDict("days=1"))
    assert window.first_day == window.last_day


@pytest.mark.parametrize("days", ["0", "-1", "367", "x", "1.5", "", "9" * 30, "\N{ARABIC-INDIC DIGIT SEVEN}"])
def test_a_window_that_makes_no_sense_is_refused(days):
    with pytest.raises(BadRequest, match="days must be a whole number from 1 to 366"):
        params.window(_query(days=days))


def _query(**values: str) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, value in values.items():
        query[name] = value
    return query


def test_every_restriction_is_read():
    given = lane(
        "days=30&branch=main&day=2026-03-01&until=2026-03-07&verdict=no_verdict&reason=superseded"
        "&claimed=cancelled&group=cancelled&last=30"
    )
    chosen = given.outcomes
    assert (given.window.days, given.branch, chosen.branch) == (30, "main", "main")
    assert (chosen.day, chosen.until) == (date(2026, 3, 1), date(2026, 3, 7))
    assert (chosen.verdict, chosen.reason) == ("no_verdict", "superseded")
    assert (chosen.claimed, chosen.group, chosen.last) == ("cancelled", "cancelled", 30)


def test_a_dash_is_a_ci_that_said_nothing():
    assert lane("claimed=-").outcomes.claimed == ""
    assert lane("").outcomes.claimed is None


@pytest.mark.parametrize(
    "query",
    [
        "verdict=green",
        "reason=bored",
        "group=all",
        "day=yesterday",
        "day=2026-02-30",
        "after=1",
        "after=x~y",
        "after=99999999999999999~o1",
        "day=9999-12-31",
        "day=0001-01-01",
        "last=501",
        "branch=" + "b" * 201,
        "branch=a%00b",
        "branch=a%0Ab",
        "days=30&days=60",
    ],
)
def test_nonsense_is_refused_with_a_sentence(query):
    with pytest.raises(BadRequest, match=r"^\w.*\.$"):
        lane(query)


def test_names_that_nobody_reads_are_ignored():
    assert lane("utm_source=mail") == lane("")


def test_a_place_in_a_list_survives_the_address():
    cursor = Cursor(datetime(2026, 3, 1, 12, 30, 1, 123456, tzinfo=UTC), "o1a2.b-c_d")
    assert lane(f"after={params.cursor_text(cursor)}").after == cursor


def test_a_filter_survives_the_address():
    given = lane("days=30&branch=main&day=2026-03-01&verdict=clean&claimed=-&group=proved&last=30")
    query = params.outcome_query(given.outcomes, given.window.days)
    assert lane("&".join(f"{name}={value}" for name, value in query.items())) == given


def test_an_address_says_nothing_of_what_is_usual():
    given = lane("days=60")
    assert params.outcome_query(given.outcomes, given.window.days) == {}
    assert given.outcomes.since == NOW.replace(hour=0) - timedelta(days=59)
