"""The figure of a signature's page: what each outcome showed of it, on the default branch and beside it. Rows in, plain Plotly dicts out."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from dashboard.figures_parts import Figure, escaped, layout, line_style
from dashboard.formats import number, size, word
from leaks.rows.leak_pages import Amount, HistoryPoint

Link = Callable[[str], str]

SHORT = timedelta(days=4)  # below that the days alone say too little
LEAST_AIR = timedelta(hours=1)
LEGEND_BELOW = -0.24  # of the height of the picture: two lines of dates have room above it


class Measured(NamedTuple):
    """One kind of line: its name, its value, the axis, and the words of a value."""

    name: str
    value: Callable[[Amount], int | None]
    axis: str
    words: Callable[[int], str]


BYTES = Measured("bytes", lambda amount: amount.bytes, "y", size)
OBJECTS = Measured("objects", lambda amount: amount.objects, "y2", lambda value: f"{number(value)} objects")
RECORDS = Measured("records", lambda amount: amount.count, "y2", lambda value: f"{number(value)} records")
RECORDS_ALONE = RECORDS._replace(axis="y")


def history(points: Sequence[HistoryPoint], link: Link) -> Figure:
    """Bytes on the left axis, objects and records on the right; what is no leak has records alone. One line a lane and measure."""
    if not points:
        return {"data": [], "layout": {}}
    measures = _measures(points)
    lanes = sorted({point.lane for point in points})
    pairs = [(lane, measured) for measured in measures for lane in lanes]
    traces = []
    for place, (lane, measured) in enumerate(pairs):
        name = lane if len(lanes) > 1 else ""
        of_lane = [one for one in points if one.lane == lane]
        traces.append(_line(place, name, measured, [one for one in of_lane if one.main], link))
        traces.append(_beside(place, name, measured, [one for one in of_lane if not one.main], link))
    return {
        "data": [trace for trace in traces if any(value is not None for value in trace["y"])],
        "layout": _layout(points, measures),
    }


def _beside(place: int, lane: str, measured: Measured, points: Sequence[HistoryPoint], link: Link) -> dict[str, Any]:
    """Runs of other branches: hollow shapes that no line joins, since one branch says nothing about the next."""
    trace = _line(place, lane, measured, points, link)
    name = f"{trace['meta']}, other branches"
    marker = {**trace["marker"], "symbol": "diamond-open", "size": 9}
    return {**trace, "mode": "markers", "name": escaped(name), "meta": name, "marker": marker}


def _measures(points: Sequence[HistoryPoint]) -> tuple[Measured, ...]:
    leaks = any(point.amount is not None and point.amount.bytes for point in points)
    return (BYTES, OBJECTS, RECORDS) if leaks else (RECORDS_ALONE,)


def _line(place: int, lane: str, measured: Measured, points: Sequence[HistoryPoint], link: Link) -> dict[str, Any]:
    name = f"{measured.name}, {lane}" if lane else measured.name
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(name),
        "meta": name,
        "x": [_moment(point.at) for point in points],
        "y": [None if point.amount is None else measured.value(point.amount) for point in points],
        "customdata": [[_words(point, measured), link(point.outcome)] for point in points],
        "hovertemplate": "%{customdata[0]}",
        "connectgaps": False,
        "yaxis": measured.axis,
        **line_style(place),
    }


def _words(point: HistoryPoint, measured: Measured) -> str:
    value = None if point.amount is None else measured.value(point.amount)
    unsaid = "hidden by a suppression" if point.hidden else word(point.reason or point.verdict)
    said = unsaid if value is None else measured.words(value)
    where = "" if point.main else f" on {escaped(point.branch or 'no branch')}"
    return f"{said} at {escaped(point.sha[:9])}{where}"


def _layout(points: Sequence[HistoryPoint], measures: Sequence[Measured]) -> dict[str, Any]:
    shown = layout(points[0].at.date(), points[-1].at.date(), "bytes" if BYTES in measures else "records")
    # A rotated date reaches into the legend; the day stands below the hour, where it changes.
    shown["xaxis"].update({"tickangle": 0, **_span(points)})
    shown["legend"]["y"] = LEGEND_BELOW
    shown["yaxis"].update({"rangemode": "tozero", "exponentformat": "none", **_ticks(points, measures)})
    if BYTES in measures:
        shown["yaxis2"] = {
            "title": {"text": "objects, records"},
            "overlaying": "y",
            "side": "right",
            "rangemode": "tozero",
            "showgrid": False,
            "automargin": True,
            "fixedrange": True,
            **_whole_ticks(points, (OBJECTS, RECORDS)),
        }
    return shown


def _span(points: Sequence[HistoryPoint]) -> dict[str, Any]:
    """Outcomes are moments: the range is theirs with some air around it, and not that of whole days."""
    first, last = points[0].at, points[-1].at
    air = max((last - first) / 30, LEAST_AIR)
    shown: dict[str, Any] = {"range": [_moment(first - air), _moment(last + air)]}
    return shown | ({"tickformat": "%H:%M\n%-d %b"} if last - first < SHORT else {})


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _ticks(points: Sequence[HistoryPoint], measures: Sequence[Measured]) -> dict[str, Any]:
    """Whole numbers; bytes at round binary sizes, as everywhere on the page."""
    if BYTES not in measures:
        return _whole_ticks(points, measures)
    peak = max(point.amount.bytes or 0 for point in points if point.amount is not None)
    step = 1
    while step * 5 < peak:
        step *= 2
    ticks = [step * number for number in range(6) if step * (number - 1) <= peak]
    return {"tickvals": ticks, "ticktext": [size(tick) for tick in ticks]}


def _whole_ticks(points: Sequence[HistoryPoint], measures: Sequence[Measured]) -> dict[str, Any]:
    """Plotly divides a short axis into parts of one, and there is no half record."""
    values = [one.value(point.amount) or 0 for one in measures for point in points if point.amount is not None]
    few = max(values, default=0) < 5
    return {"tickformat": ",d", **({"dtick": 1} if few else {})}
