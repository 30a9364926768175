"""The rollups of a window: one row a lane and day, and their sums per week."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from leaks.models import LaneDay, Project
from leaks.queries.rate_rows import rate_row
from leaks.rows.pages import LaneDayRow, WeekRow
from leaks.words import CANCELLED_REASONS, Verdict

COLUMNS = ("lane__name", "day", "outcomes", "verdicts", "reasons", "leaked_bytes", "signatures")


class Totals(NamedTuple):
    """`verdicts` and `reasons` are word → number."""

    outcomes: int
    verdicts: Counter[str]
    reasons: Counter[str]


def lane_days(project: Project, first: date, last: date, lane: str = "") -> tuple[LaneDayRow, ...]:
    """Bounded by the window; by name and day."""
    rows = LaneDay.objects.filter(lane__project=project, day__range=(first, last))
    if lane:
        rows = rows.filter(lane__name=lane)
    return tuple(LaneDayRow(*values) for values in rows.order_by("lane__name", "day").values_list(*COLUMNS))


def with_zeros(days: Iterable[LaneDayRow], leak_lanes: Container[str]) -> tuple[LaneDayRow, ...]:
    """A clean log prints no totals: where a lane looks for leaks and had a verdict, no signature means zero bytes."""
    return tuple(replace(row, leaked_bytes=0) if _is_zero(row, leak_lanes) else row for row in days)


def _is_zero(row: LaneDayRow, leak_lanes: Container[str]) -> bool:
    return row.leaked_bytes is None and row.signatures == 0 and row.lane in leak_lanes


def weeks(days: Iterable[LaneDayRow], first: date, last: date) -> tuple[WeekRow, ...]:
    """Every ISO week that the window touches, also those in which nothing ran: they are gaps in the chart."""
    by_week: defaultdict[date, list[LaneDayRow]] = defaultdict(list)
    for row in days:
        by_week[monday_of(row.day)].append(row)
    number = (monday_of(last) - monday_of(first)).days // 7 + 1
    mondays = [monday_of(first) + timedelta(weeks=place) for place in range(number)]
    return tuple(_week(monday, by_week[monday]) for monday in mondays)


def monday_of(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(monday: date, days: Sequence[LaneDayRow]) -> WeekRow:
    outcomes = sum(row.outcomes for row in days)
    cancelled = sum(row.reasons.get(reason, 0) for row in days for reason in CANCELLED_REASONS)
    no_verdict = sum(row.verdicts.get(Verdict.NO_VERDICT, 0) for row in days)
    return WeekRow(
        monday=monday,
        cancelled=rate_row(cancelled, outcomes, "cancelled"),
        no_verdict=rate_row(no_verdict, outcomes, "without a verdict"),
    )


def totals(days: Iterable[LaneDayRow]) -> Totals:
    """Over the rows."""
    found = Totals(0, Counter(), Counter())
    for row in days:
        found.verdicts.update(row.verdicts)
        found.reasons.update(row.reasons)
    return found._replace(outcomes=found.verdicts.total())


def bytes_by_day(
    days: Iterable[LaneDayRow], first: date, last: date, leak_lanes: Iterable[str]
) -> dict[str, tuple[int | None, ...]]:
    """Lane that looks for leaks -> leaked bytes of each day of the window; null where the lane gave no verdict."""
    by_lane: dict[str, dict[date, int | None]] = {lane: {} for lane in leak_lanes}
    for row in days:
        if row.lane in by_lane:
            by_lane[row.lane][row.day] = row.leaked_bytes
    every_day = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return {lane: tuple(known.get(day) for day in every_day) for lane, known in by_lane.items()}
