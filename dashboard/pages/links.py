"""Addresses of lists of outcomes: the rows behind the numbers of tiles, tables and charts."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import lru_cache
from urllib.parse import urlencode

from django.urls import reverse

from dashboard.params import DEFAULT_DAYS

# What the page does anyway is left out: short addresses, and one address for one page.
USUAL = ("days", str(DEFAULT_DAYS))


def outcomes_url(slug: str, lane: str, query: Mapping[str, str]) -> str:
    """The list of outcomes at the foot of a lane's page, or of the page of all lanes."""
    given = urlencode({name: value for name, value in query.items() if value and (name, value) != USUAL})
    return f"{_page(slug, lane)}?{given}#outcomes" if given else f"{_page(slug, lane)}#outcomes"


@lru_cache(maxsize=512)
def _page(slug: str, lane: str) -> str:
    """Kept, since a chart asks for the same few pages a thousand times."""
    return reverse("lane", args=[slug, lane]) if lane else reverse("lanes", args=[slug])


def day_link(slug: str, days: int, branch: str = "", only: str = "") -> Callable[[str, date, str], str]:
    """For figures: lane, day and verdict to an address. `only` is the lane of a page that has just one."""

    def link(lane: str, day: date, verdict: str) -> str:
        query = {"days": str(days), "branch": branch, "day": day.isoformat(), "verdict": verdict}
        return outcomes_url(slug, lane or only, query)

    return link


def lane_week_link(slug: str, days: int, **counted: str) -> Callable[[str, date], str]:
    """For the rates of several lanes: lane and Monday to the outcomes of that week which `counted` (a filter) means."""

    def link(lane: str, monday: date) -> str:
        last = (monday + timedelta(days=6)).isoformat()
        return outcomes_url(slug, lane, {"days": str(days), "day": monday.isoformat(), "until": last, **counted})

    return link


def week_link(slug: str, days: int, lane: str = "", branch: str = "") -> Callable[[date, str], str]:
    """For the rates: a Monday and the name of the rate to the outcomes of that week which the rate counts."""

    def link(monday: date, name: str) -> str:
        query = {"days": str(days), "branch": branch, "day": monday.isoformat()}
        last = (monday + timedelta(days=6)).isoformat()
        counted = {"group": "cancelled"} if name == "cancelled" else {"verdict": "no_verdict"}
        return outcomes_url(slug, lane, {**query, "until": last, **counted})

    return link
