"""The charts of the overview and of the lanes pages: rows and addresses into figures."""

from typing import NamedTuple

from dashboard import figures
from dashboard.figures_parts import Chart, Spark, chart, spark
from dashboard.formats import size
from dashboard.pages.links import day_link, week_link
from leaks.rows.lane_pages import LanePage, LanesPage
from leaks.rows.pages import LaneStrip, Overview


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


def with_sparks(lanes: tuple[LaneStrip, ...]) -> tuple[tuple[LaneStrip, Spark], ...]:
    """Each lane with its leaked bytes over the window as a line of the size of a word."""
    return tuple((lane, _spark(lane)) for lane in lanes)


def _spark(lane: LaneStrip) -> Spark:
    known = [value for value in lane.bytes_by_day if value is not None]
    words = f"leaked bytes from {size(known[0])} to {size(known[-1])}" if known else "no leaked bytes known"
    return spark(lane.bytes_by_day, words)
