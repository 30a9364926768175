"""The figures of growth and of the own share. Rows in, plain Plotly dicts out."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

from dashboard.figures_parts import Chart, Figure, Twin, TwinRow, chart, escaped, layout, line_style
from dashboard.formats import number, size
from leaks.growth_words import figure as digits
from leaks.rows.growth import Fit, GrowthPage, GrowthPoint
from leaks.rows.leak_pages import Amount
from leaks.rows.own_share import ShareRun

Link = Callable[[str], str]
LEAST_AIR = timedelta(hours=6)
NOT_MEASURED = "No two runs with different amounts of work were measured."


# --- Growth ------------------------------------------------------------------------------------------------------------


def growth_charts(page: GrowthPage, link: Link) -> list[Chart]:
    """One for each name of a workload: iterations and requests cannot stand on one axis."""
    scales = sorted({point.scale for point in page.points})
    return [_growth_chart(place, scale, page, link) for place, scale in enumerate(scales)]


def _growth_chart(place: int, scale: str, page: GrowthPage, link: Link) -> Chart:
    points = [point for point in page.points if point.scale == scale]
    fit = page.fit if page.fit is not None and page.fit.scale == scale else None
    rows = tuple(_twin_row(point, link) for point in points)
    twin = Twin((scale, "lane", "commit", "bytes", "objects"), rows)
    figure = {"data": [*_series(points, link), *_line(fit)], "layout": _work_layout(scale)}
    return Chart(f"growth-{place}", f"Bytes against {scale}", figure, twin, "one point a run", NOT_MEASURED)


def _twin_row(point: GrowthPoint, link: Link) -> TwinRow:
    values = (point.lane, point.sha[:9], f"{point.bytes:,}", number(point.objects))
    return TwinRow(digits(point.work), values, ("", link(point.outcome), link(point.outcome), link(point.outcome)))


def _series(points: Sequence[GrowthPoint], link: Link) -> list[dict[str, Any]]:
    lanes = sorted({point.lane for point in points})
    return [
        _points(place, lane, [point for point in points if point.lane == lane], link)
        for place, lane in enumerate(lanes)
    ]


def _points(place: int, lane: str, points: Sequence[GrowthPoint], link: Link) -> dict[str, Any]:
    style = line_style(place)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escaped(lane),
        "meta": lane,
        "x": [point.work for point in points],
        "y": [point.bytes for point in points],
        "customdata": [[f"{size(point.bytes)} at {escaped(point.sha[:9])}", link(point.outcome)] for point in points],
        "hovertemplate": "%{customdata[0]}",
        "marker": {**style["marker"], "size": 9},
    }


def _line(fit: Fit | None) -> list[dict[str, Any]]:
    """Only as far as it was measured."""
    if fit is None:
        return []
    ends = (fit.least, fit.most)
    words = f"{digits(fit.bytes.value)} bytes for each further unit"
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "straight line through the runs",
            "meta": "straight line through the runs",
            "x": list(ends),
            "y": [fit.bytes.intercept + fit.bytes.value * x for x in ends],
            "customdata": [[words, ""], [words, ""]],
            "hovertemplate": "%{customdata[0]}",
            "line": {"color": "var(--ink-3)", "dash": "dot", "width": 2},
        }
    ]


def _work_layout(scale: str) -> dict[str, Any]:
    day = date(2000, 1, 1)  # the axis of days is replaced
    shown = layout(day, day, "bytes")
    axis = {"gridcolor": "var(--s-grid)", "linecolor": "var(--line)", "zerolinecolor": "var(--line)"}
    shown["xaxis"] = {
        **axis,
        "type": "linear",
        "rangemode": "tozero",
        "title": {"text": escaped(scale)},
        "automargin": True,
    }
    shown["yaxis"].update({"rangemode": "tozero", "tickformat": ",d", "exponentformat": "none"})
    shown["hovermode"] = "closest"
    shown["legend"] = {**shown["legend"], "y": -0.25}
    return shown


# --- Own share ---------------------------------------------------------------------------------------------------------


def share_charts(runs: Sequence[ShareRun], link: Link) -> list[Chart]:
    """Records, and bytes where any run has them: ours and all, one mark a run."""
    charts = [
        chart(
            "own-records",
            "Records per run: ours and all",
            _share_figure(runs, "records", lambda amount: amount.count, number, link),
            head="run",
        )
    ]
    if any(run.all.bytes for run in runs):
        shown = _share_figure(runs, "bytes", lambda amount: amount.bytes, size, link)
        charts.append(chart("own-bytes", "Bytes per run: ours and all", shown, head="run"))
    return charts


def _share_figure(
    runs: Sequence[ShareRun],
    unit: str,
    value: Callable[[Amount], int | None],
    words: Callable[[int | None], str],
    link: Link,
) -> Figure:
    if not runs:
        return {"data": [], "layout": {}}
    shown = layout(runs[0].at.date(), runs[-1].at.date(), unit)
    shown["xaxis"].update(_span(runs))
    shown["yaxis"].update({"rangemode": "tozero", "tickformat": ",d", "exponentformat": "none"})
    kinds: tuple[tuple[str, Callable[[ShareRun], Amount]], ...] = (("ours", _own), ("all", _all))
    return {
        "data": [
            _share_line(place, name, [(run, value(part(run))) for run in runs], words, link)
            for place, (name, part) in enumerate(kinds)
        ],
        "layout": shown,
    }


def _span(runs: Sequence[ShareRun]) -> dict[str, Any]:
    """Runs are moments: the range is theirs with some air around it."""
    first, last = runs[0].at, runs[-1].at
    air = max((last - first) / 30, LEAST_AIR)
    return {"range": [f"{at:%Y-%m-%d %H:%M:%S}" for at in (first - air, last + air)]}


def _own(run: ShareRun) -> Amount:
    return run.own


def _all(run: ShareRun) -> Amount:
    return run.all


def _share_line(
    place: int,
    name: str,
    pairs: Sequence[tuple[ShareRun, int | None]],
    words: Callable[[int | None], str],
    link: Link,
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "meta": name,
        "x": [f"{run.at:%Y-%m-%d %H:%M:%S}" for run, _ in pairs],
        "y": [value for _, value in pairs],
        "customdata": [
            [f"{words(value)} in {escaped(run.lane)} at {escaped(run.sha[:9])}", link(run.outcome)]
            for run, value in pairs
        ],
        "hovertemplate": "%{customdata[0]}",
        **line_style(place),
    }
