"""Query strings, validated once into frozen typed values, or a 400 that says what would have been right.

Pages never touch `request.GET`. Names nobody reads are ignored: links from mail programs carry such.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.core.exceptions import BadRequest
from django.http import QueryDict
from django.utils import timezone

from leaks.rows.lane_pages import Cursor, OutcomeFilter
from leaks.words import Reason, Verdict

DEFAULT_DAYS = 60
MAX_DAYS = 366
OFFERED_DAYS = (7, 14, 30, 60, 180, 365)
MAX_LAST = 500
GROUPS = ("", "proved", "unproved", "cancelled")
NOTHING_SAID = "-"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CURSOR = re.compile(r"(\d{1,16})~([\w.-]{1,80})")


class Query:
    """Readers over one query string. Each raises `BadRequest` with the name, the value and what is allowed."""

    def __init__(self, values: QueryDict) -> None:
        self._values = values

    def text(self, name: str, default: str = "", limit: int = 300) -> str:
        """One line of text, without surrounding blanks."""
        given = self._values.getlist(name)
        if len(given) > 1:
            raise BadRequest(f"{name} is given more than once.")
        value = given[0].strip() if given else default
        if len(value) > limit or any(character < " " or character == "\x7f" for character in value):
            raise BadRequest(f"{name} must be one line of at most {limit} characters.")
        return value

    def number(self, name: str, default: int, low: int, high: int) -> int:
        value = self.text(name, str(default))
        if not re.fullmatch(r"-?[0-9]{1,18}", value) or not low <= int(value) <= high:
            raise BadRequest(f"{name} must be a whole number from {low} to {high}.")
        return int(value)

    def word(self, name: str, words: Collection[str], default: str = "") -> str:
        value = self.text(name, default)
        if value not in words:
            raise BadRequest(f"{name} must be one of: {', '.join(sorted(filter(None, words)))}.")
        return value

    def day(self, name: str) -> date | None:
        value = self.text(name)
        try:
            found = date.fromisoformat(value) if value else None
        except ValueError:
            found = date.max
        if found is not None and not 1970 <= found.year < 3000:
            raise BadRequest(f"{name} must be a day such as 2026-01-31.")
        return found

    def cursor(self, name: str) -> Cursor | None:
        value = self.text(name)
        found = CURSOR.fullmatch(value)
        if value and found is None:
            raise BadRequest(f"{name} is no place in this list; take it from a link of the page.")
        return Cursor(EPOCH + timedelta(microseconds=int(found[1])), found[2]) if found else None


def cursor_text(cursor: Cursor) -> str:
    """The form in which a place in a list stands in an address: exact to the microsecond, and no row id."""
    return f"{(cursor.at - EPOCH) // timedelta(microseconds=1)}~{cursor.public_id}"


@dataclass(frozen=True, slots=True)
class Window:
    """The last `days` UTC days, today included."""

    days: int
    now: datetime

    @property
    def choices(self) -> tuple[int, ...]:
        """The lengths that pages offer; any other one can be typed."""
        return OFFERED_DAYS

    @property
    def last_day(self) -> date:
        return self.now.date()

    @property
    def first_day(self) -> date:
        return self.last_day - timedelta(days=self.days - 1)

    @property
    def since(self) -> datetime:
        return datetime.combine(self.first_day, datetime.min.time(), tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LaneParams:
    """A lane page, or the list of lanes: the window, the branch that is counted, and the list of outcomes below.

    `commits`: the commits older than that place are looked at, instead of the newest.
    """

    window: Window
    branch: str
    outcomes: OutcomeFilter
    after: Cursor | None
    commits: Cursor | None


def window(values: QueryDict) -> Window:
    """`?days=60`."""
    return Window(Query(values).number("days", DEFAULT_DAYS, 1, MAX_DAYS), timezone.now())


def lane_params(values: QueryDict, lane: str = "") -> LaneParams:
    """`?days=&branch=&lane=&day=&until=&verdict=&reason=&claimed=&group=&last=&after=&commits=`."""
    query, span = Query(values), window(values)
    branch = query.text("branch", limit=200)
    claimed = query.text("claimed", limit=60)
    chosen = OutcomeFilter(
        since=span.since,
        lane=lane or query.text("lane", limit=200),
        branch=branch,
        day=query.day("day"),
        until=query.day("until"),
        verdict=query.word("verdict", {"", *Verdict}),
        reason=query.word("reason", {"", *Reason}),
        claimed=_claimed(claimed),
        group=query.word("group", GROUPS),
        last=query.number("last", 0, 0, MAX_LAST) or None,
    )
    return LaneParams(
        window=span, branch=branch, outcomes=chosen, after=query.cursor("after"), commits=query.cursor("commits")
    )


def _claimed(value: str) -> str | None:
    """ "-" stands for a CI that said nothing; nothing given restricts nothing."""
    if not value:
        return None
    return "" if value == NOTHING_SAID else value


def outcome_query(chosen: OutcomeFilter, days: int, **changes: str) -> Mapping[str, str]:
    """The filter as it stands in an address, so that a page can link to itself with one thing changed."""
    values = {
        "days": "" if days == DEFAULT_DAYS else str(days),
        "branch": chosen.branch,
        "day": chosen.day.isoformat() if chosen.day else "",
        "until": chosen.until.isoformat() if chosen.until else "",
        "verdict": chosen.verdict,
        "reason": chosen.reason,
        "claimed": "" if chosen.claimed is None else chosen.claimed or NOTHING_SAID,
        "group": chosen.group,
        "last": str(chosen.last or ""),
        **changes,
    }
    return {name: value for name, value in values.items() if value}
