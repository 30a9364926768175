"""Rows in, plain Plotly dicts out: no ORM, no clock, no colour that is not a token of the stylesheet.

Gaps are gaps: a day without a verdict is null and breaks the line; it is never drawn as zero. A point's `customdata` is
[what the hover says, the address of the rows behind it].
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from dashboard import formats
from dashboard.figures_parts import (
    Figure,
    bar_marker,
    escaped,
    layout,
    line_style,
)
from leaks.rows.lane_pages import LaneWeeks
from leaks.rows.pages import LaneDayRow, RateRow, WeekRow
from leaks.words import Verdict

# Lane, day and verdict ("" for all) to the address of those outcomes.
Link = Callable[[str, date, str], str]

# First and last day, both included.
Span = tuple[date, date]

# With "x unified" a click would mean every mark of a day; it must mean the one whose rows it opens.
ONE_MARK = {"hovermode": "closest"}
HOVER = "%{fullData.name}, %{x|%Y-%m-%d}: %{customdata[0]}<extra></extra>"

# Where nothing is drawn, nothing can be hovered or clicked.
NOTHING = ["", ""]

# From the ground up: what was proved stands at the bottom, what was not on top of it.
STACK = (
    Verdict.CLEAN,
    Verdict.FINDINGS,
    Verdict.TEST_FAILURE,
    Verdict.BUILD_FAILURE,
    Verdict.UNEXPLAINED,
    Verdict.BLINDED,
    Verdict.NO_VERDICT,
)


class Measure(NamedTuple):
    """What a line shows of a day, and how the hover says it."""

    value: Callable[[LaneDayRow], int | None]
    words: Callable[[int], str]


def leak_bytes(days: Sequence[LaneDayRow], span: Span, link: Link) -> Figure:
    """Leaked bytes over time, one line a lane: the last outcome of the day on the default branch that had a verdict."""
    figure = _per_lane(days, span, Measure(lambda row: row.leaked_bytes, formats.size), link)
    figure["layout"]["yaxis"].update(_binary_axis(_peak(row.leaked_bytes for row in days)))
    return figure


def signatures(days: Sequence[LaneDayRow], span: Span, link: Link) -> Figure:
    """Distinct signatures over time, one line a lane."""
    figure = _per_lane(days, span, Measure(lambda row: row.signatures, "{:,} signatures".format), link)
    figure["layout"]["yaxis"].update(_whole_axis(_peak(row.signatures for row in days)))
    return figure


def outcomes_per_day(days: Sequence[LaneDayRow], span: Span, link: Link) -> Figure:
    """Outcomes per day, stacked by verdict, over all given lanes. A verdict that never occurs has no trace."""
    counts: dict[date, Counter[str]] = {}
    for row in days:
        counts.setdefault(row.day, Counter()).update(row.verdicts)
    occurring = [word for word in STACK if any(counted[word] for counted in counts.values())]
    shown = {**layout(*span, "outcomes"), **ONE_MARK}
    shown["barmode"] = "stack"
    shown["yaxis"].update(_whole_axis(max((counted.total() for counted in counts.values()), default=0)))
    return {"data": [_verdict_bars(word, counts, span, link) for word in occurring], "layout": shown}


def rates_per_week(weeks: Sequence[WeekRow], link: Callable[[date, str], str]) -> Figure:
    """Cancelled and no-verdict share per ISO week; numerator, denominator and interval in the hover."""
    no_verdict = _rate_line(0, "no verdict", [(week.monday, week.no_verdict) for week in weeks], link)
    cancelled = _rate_line(1, "cancelled", [(week.monday, week.cancelled) for week in weeks], link)
    return {"data": [no_verdict, cancelled], "layout": _rate_layout(weeks)}


def rate_per_lane(
    lanes: Sequence[LaneWeeks], pick: Callable[[WeekRow], RateRow], link: Callable[[str, date], str]
) -> Figure:
    """One share per ISO week, one line a lane; numerator, denominator and interval in the hover."""
    traces = [
        _rate_line(
            place, one.lane, [(week.monday, pick(week)) for week in one.weeks], lambda monday, lane: link(lane, monday)
        )
        for place, one in enumerate(lanes)
    ]
    return {"data": traces, "layout": _rate_layout(lanes[0].weeks if lanes else ())}


def _rate_layout(weeks: Sequence[WeekRow]) -> dict[str, Any]:
    mondays = [week.monday for week in weeks] or [date(1970, 1, 5)]
    span = (mondays[0] - timedelta(days=2), mondays[-1] + timedelta(days=2))
    shown = {**layout(*span, "percent of outcomes"), **ONE_MARK}
    shown["yaxis"].update({"range": [0, 100], "ticksuffix": " %"})
    return shown


def _per_lane(days: Sequence[LaneDayRow], span: Span, measure: Measure, link: Link) -> Figure:
    by_lane: dict[str, dict[date, int | None]] = {}
    for row in days:
        by_lane.setdefault(row.lane, {})[row.day] = measure.value(row)
    known = {lane: values for lane, values in by_lane.items() if any(value is not None for value in values.values())}
    spread = {lane: [(day, known[lane].get(day)) for day in days_between(*span)] for lane in sorted(known)}
    shown = {**layout(*span, ""), **ONE_MARK}
    shown["yaxis"]["rangemode"] = "tozero"
    traces = [_lane_line(place, lane, spread[lane], measure, link) for place, lane in enumerate(spread)]
    return {"data": traces, "layout": shown}


def _lane_line(
    place: int, lane: str, spread: Sequence[tuple[date, int | None]], measure: Measure, link: Link
) -> dict[str, Any]:
    hover = [["no verdict" if value is None else measure.words(value), link(lane, day, "")] for day, value in spread]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(lane),
        "meta": lane,
        "x": [day.isoformat() for day, _ in spread],
        "y": [value for _, value in spread],
        "customdata": hover,
        "hovertemplate": HOVER,
        "connectgaps": False,
        "cliponaxis": False,
        **line_style(place),
    }


def _verdict_bars(verdict: Verdict, counts: Mapping[date, Counter[str]], span: Span, link: Link) -> dict[str, Any]:
    # Days on which nothing ran hold null, so that hovering them says nothing instead of "0 clean".
    spread = [(day, counts.get(day, Counter())) for day in days_between(*span)]
    name = formats.word(verdict)
    hover = [
        [f"{counted[verdict]:,} of {counted.total():,}", link("", day, verdict)] if counted[verdict] else NOTHING
        for day, counted in spread
    ]
    return {
        "type": "bar",
        "name": name,
        "meta": name,
        "x": [day.isoformat() for day, _ in spread],
        "y": [counted[verdict] or None for _, counted in spread],
        "customdata": hover,
        "hovertemplate": HOVER,
        "marker": bar_marker(verdict),
    }


def _rate_line(
    place: int, name: str, rates: Iterable[tuple[date, RateRow]], link: Callable[[date, str], str]
) -> dict[str, Any]:
    known = list(rates)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(name),
        "meta": name,
        "x": [monday.isoformat() for monday, _ in known],
        "y": [rate.percent for _, rate in known],
        "customdata": [[_rate_words(rate), link(monday, name)] for monday, rate in known],
        "hovertemplate": HOVER,
        "connectgaps": False,
        "cliponaxis": False,
        **line_style(place),
    }


def _rate_words(rate: RateRow) -> str:
    if not rate.of:
        return "nothing ran"
    return f"{rate.n:,} of {rate.of:,}: {rate.percent} % ({rate.low}\N{EN DASH}{rate.high} %)"


def days_between(first: date, last: date) -> list[date]:
    """Every day of the window, both ends included."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _peak(values: Iterable[int | None]) -> int:
    return max((value for value in values if value is not None), default=0)


def _whole_axis(peak: int) -> dict[str, Any]:
    """Ticks at whole numbers: there is no half an outcome."""
    return {"tickformat": ",d", "tick0": 0, **({"dtick": 1} if peak < 5 else {})}


def _binary_axis(peak: int) -> dict[str, Any]:
    """Ticks at round binary sizes: Plotly's own would say 100k, which is no number of KiB."""
    step = 1
    while step * 5 < peak:
        step *= 2
    ticks = [step * number for number in range(6) if step * number <= peak + step and peak] or [0]
    return {"tickvals": ticks, "ticktext": [formats.size(tick) for tick in ticks]}
