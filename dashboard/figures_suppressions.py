"""The figures of the audit of suppressions. Rows in, plain Plotly dicts out."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

from dashboard.figures_parts import COLOURS, Chart, Figure, Twin, TwinRow, chart, escaped, layout, line_style
from dashboard.formats import number, size, word
from leaks.rows.suppressions_audit import StateCount, SuppressionAudit, UsePoint, WatchedRule

Link = Callable[[str], str]
LINES = 8  # more cannot be told apart
LONGEST_NAME = 48
FEW = 5  # ticks of an axis
NOTHING_HIDDEN = "No run of this window printed that a suppression hid anything."


def audit_charts(audit: SuppressionAudit, link: Link) -> list[Chart]:
    """`link` leads from the public id of a suppression to its page."""
    points, note = _drawn(audit.points)
    span = (audit.first_day, audit.today)
    records, hidden = (_over_time(points, span, measure, link) for measure in (RECORDS, BYTES))
    return [
        _named(chart("suppressed-records", "Suppressed records per day by rule", records, note=note)),
        _named(chart("suppressed-bytes", "Suppressed bytes per day by rule", hidden, note=note)),
        _states(audit.states),
        _hits_against_reach(audit.rules, link),
    ]


def _named(made: Chart) -> Chart:
    return Chart(made.name, made.title, made.figure, made.twin, made.note, NOTHING_HIDDEN)


# --- Over time -------------------------------------------------------------------------------------------------------


def _drawn(points: Sequence[UsePoint]) -> tuple[list[UsePoint], str]:
    totals: dict[str, int] = {}
    for point in points:
        totals[point.template] = totals.get(point.template, 0) + point.count
    shown = sorted(totals, key=lambda name: (-totals[name], name))[:LINES]
    note = f"the {LINES} of {len(totals)} that hid most" if len(totals) > LINES else ""
    return [point for point in points if point.template in shown], note


def _whole(peak: int) -> dict[str, Any]:
    """An axis of whole numbers from 0: without a step plotly would write 0, 0, 1, 1."""
    step = {"dtick": 1} if peak <= FEW else {}
    return {"rangemode": "tozero", "tickformat": ",d", "exponentformat": "none", **step}


def _binary(peak: int) -> dict[str, Any]:
    """An axis of bytes at round binary sizes, as everywhere else."""
    step = 1
    while step * FEW < peak:
        step *= 2
    values = list(range(0, peak + step, step))
    return {"rangemode": "tozero", "tickmode": "array", "tickvals": values, "ticktext": [size(one) for one in values]}


class Measure(NamedTuple):
    """What a line shows of a day, how the hover says it, and the axis up to a peak."""

    unit: str
    value: Callable[[UsePoint], int]
    words: Callable[[int | None], str]
    ticks: Callable[[int], dict[str, Any]]


RECORDS = Measure("records", lambda point: point.count, number, _whole)
BYTES = Measure("bytes", lambda point: point.bytes, size, _binary)


def _over_time(points: Sequence[UsePoint], span: tuple[date, date], measure: Measure, link: Link) -> Figure:
    if not points:
        return {"data": [], "layout": {}}
    names = sorted({point.template for point in points})
    shown = layout(*span, measure.unit)
    shown["yaxis"].update(measure.ticks(max(map(measure.value, points))))
    traces = [
        _line(place, [point for point in points if point.template == name], measure, link)
        for place, name in enumerate(names)
    ]
    return {"data": traces, "layout": shown}


def _line(place: int, points: Sequence[UsePoint], measure: Measure, link: Link) -> dict[str, Any]:
    """The days of one template."""
    public_id = points[0].public_id
    name = _short(points[0].template) + ("" if public_id else " (not approved)")
    address = link(public_id) if public_id else ""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": escaped(name),
        "meta": name,
        "x": [point.day.isoformat() for point in points],
        "y": [measure.value(point) for point in points],
        "customdata": [[measure.words(measure.value(point)), address] for point in points],
        "hovertemplate": "%{customdata[0]}",
        **line_style(place),
    }


def _short(name: str) -> str:
    return name[: LONGEST_NAME - 1] + "…" if len(name) > LONGEST_NAME else name or "(an empty pattern)"


# --- States, and hits against reach ----------------------------------------------------------------------------------


def _states(states: Sequence[StateCount]) -> Chart:
    used = [state for state in states if any(other.number for other in states)]
    rows = tuple(TwinRow(word(state.state), (number(state.number),), ("",)) for state in used)
    bars = {
        "type": "bar",
        "name": "suppressions",
        "meta": "suppressions",
        "x": [word(state.state) for state in used],
        "y": [state.number for state in used],
        "customdata": [[number(state.number), ""] for state in used],
        "hovertemplate": "%{customdata[0]}",
        "marker": {"color": COLOURS[0]},
    }
    figure = {
        "data": [bars] if used else [],
        "layout": _plain("", "suppressions", peak=max((state.number for state in states), default=0)),
    }
    return Chart(
        "suppressions-by-state", "Rules by state", figure, Twin(("state", "suppressions"), rows), "", "None yet."
    )


def _hits_against_reach(rules: Sequence[WatchedRule], link: Link) -> Chart:
    """What a rule hid against what it could have hidden: far below the reach it is not needed as it stands."""
    rows = tuple(
        TwinRow(
            rule.row.rule,
            (number(rule.row.hidden_records), number(rule.hits.count)),
            (link(rule.row.public_id), link(rule.row.public_id)),
        )
        for rule in rules
    )
    dots: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "name": "rules in force",
        "meta": "rules in force",
        "x": [rule.row.hidden_records for rule in rules],
        "y": [rule.hits.count for rule in rules],
        "customdata": [[escaped(_short(rule.row.rule)), link(rule.row.public_id)] for rule in rules],
        "hovertemplate": "%{customdata[0]}<br>reach %{x:,} records, %{y:,} hits<extra></extra>",
        **line_style(0),
    }
    dots["marker"] = {**dots["marker"], "size": 10}
    figure: Figure = {
        "data": [dots] if rules else [],
        "layout": _plain("records of its reach when it was decided", "hits since", peak=max(dots["y"], default=0)),
    }
    figure["layout"]["xaxis"].update({"type": "linear", **_whole(max(dots["x"], default=0))})
    twin = Twin(("rule", "records of its reach", "hits since"), rows)
    return Chart("hits-against-reach", "Hits against reach", figure, twin, "rules in force", "Nothing is in force.")


def _plain(x: str, y: str, peak: int) -> dict[str, Any]:
    day = date(2000, 1, 1)  # the axis of days is replaced
    shown = layout(day, day, y)
    axis = {"gridcolor": "var(--s-grid)", "linecolor": "var(--line)", "zerolinecolor": "var(--line)"}
    shown["xaxis"] = {**axis, "type": "category", "title": {"text": x}, "automargin": True}
    shown["yaxis"].update(_whole(peak))
    return {**shown, "hovermode": "closest", "showlegend": False}
