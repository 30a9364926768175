"""The charts of the overview and of the lanes pages: rows and addresses into figures."""

from typing import NamedTuple

from dashboard import figures
from dashboard.figures_parts import Chart, Spark, chart, spark
from dashboard.formats import size
from dashboard.pages.links import day_link, lane_week_link, week_link
from leaks.rows.lane_pages import CanaryRow, LanePage, LanesPage, LaneTip, LaneWeeks
from leaks.rows.overview import Overview
from leaks.rows.pages import LaneStrip

LINES = 12  # more cannot be told apart


class ProjectCharts(NamedTuple):
    leak_bytes: Chart
    signatures: Chart
    outcomes: Chart
    rates: Chart


def of_project(
    slug: str, rows: Overview | LanesPage | LanePage, days: int, lane: str = "", branch: str = ""
) -> ProjectCharts:
    """The four charts; `lane` and `branch` say what the page is narrowed to."""
    link, span = day_link(slug, days, branch, lane), (rows.first_day, rows.last_day)
    bytes_figure = figures.leak_bytes(rows.days, span, link)
    signatures_figure = figures.signatures(rows.days, span, link)
    rates_figure = figures.rates_per_week(rows.weeks, week_link(slug, days, lane, branch))
    return ProjectCharts(
        leak_bytes=chart("leak-bytes", "Leaked bytes per lane", bytes_figure, note="last verdict of each day"),
        signatures=chart("signatures", "Signatures per lane", signatures_figure, note="last verdict of each day"),
        outcomes=chart("outcomes", "Outcomes per day", figures.outcomes_per_day(rows.days, span, link)),
        rates=chart("rates", "Cancelled and no-verdict rate per week", rates_figure, "week of"),
    )


class LaneRates(NamedTuple):
    no_verdict: Chart
    cancelled: Chart


def lane_rates(slug: str, rows: LanesPage, days: int) -> LaneRates:
    """The two rates per lane and week, for the lanes that ran most."""
    busiest = sorted(rows.lane_weeks, key=_outcomes, reverse=True)[:LINES]
    lanes = [one for one in busiest if _outcomes(one)]
    note = f"the {LINES} lanes that ran most" if len(rows.lane_weeks) > LINES else ""
    lost = figures.rate_per_lane(lanes, lambda week: week.no_verdict, lane_week_link(slug, days, verdict="no_verdict"))
    ended = figures.rate_per_lane(lanes, lambda week: week.cancelled, lane_week_link(slug, days, group="cancelled"))
    return LaneRates(
        no_verdict=chart("no-verdict", "No-verdict rate per lane and week", lost, "week of", note),
        cancelled=chart("cancelled", "Cancelled rate per lane and week", ended, "week of", note),
    )


def _outcomes(lane: LaneWeeks) -> int:
    return sum(week.no_verdict.of for week in lane.weeks)


def with_sparks(rows: Overview) -> tuple[tuple[LaneStrip, Spark, LaneTip, CanaryRow | None], ...]:
    """Each lane with its leaked bytes over the window as a line of the size of a word, how far it proves the branch, and its canary."""
    return tuple((lane, _spark(lane), rows.tips[lane.name], rows.canaries.get(lane.name)) for lane in rows.lanes)


def _spark(lane: LaneStrip) -> Spark:
    known = [value for value in lane.bytes_by_day if value is not None]
    words = f"leaked bytes from {size(known[0])} to {size(known[-1])}" if known else "no leaked bytes known"
    return spark(lane.bytes_by_day, words)
