"""What all figures share: layout, styles of lines and bars, the table that says the same, and inline sparklines.

Colours are `var(--token)`; charts.js puts the value of the current theme in their place.
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from dashboard import formats
from leaks.words import Verdict

Figure = dict[str, Any]

CLEAR = "rgba(0,0,0,0)"
COLOURS = tuple(f"var(--s-{number})" for number in range(1, 7))
# Lines differ by dash and symbol too, so that nobody has to tell colours apart.
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star")
DATES = {"tickformat": "%-d %b", "hoverformat": "%Y-%m-%d", "automargin": True}
PATTERNS = {
    Verdict.CLEAN: "",
    Verdict.FINDINGS: "x",
    Verdict.TEST_FAILURE: "\\",
    Verdict.BUILD_FAILURE: "+",
    Verdict.UNEXPLAINED: ".",
    Verdict.BLINDED: "-",
    Verdict.NO_VERDICT: "/",
}


@dataclass(frozen=True, slots=True)
class TwinRow:
    """`urls` are the addresses of the rows behind the values, "" where there is none."""

    head: str
    values: tuple[str, ...]
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Twin:
    """The numbers of a figure as a table: the same traces are its columns, so the two cannot differ."""

    columns: tuple[str, ...]
    rows: tuple[TwinRow, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure as a page shows it. `name` is unique on the page; `empty` is said when there is no point at all."""

    name: str
    title: str
    figure: Figure
    twin: Twin
    note: str = ""
    empty: str = "Nothing to draw in this window yet."

    @property
    def points(self) -> int:
        return len(self.twin.rows)

    @property
    def data_id(self) -> str:
        return f"{self.name}-data"


@dataclass(frozen=True, slots=True)
class Spark:
    """A line of the size of a word, as SVG polylines in a box of 100 by 20; a gap ends one line and begins another."""

    lines: tuple[str, ...]
    dots: tuple[tuple[str, str], ...]
    words: str


def chart(name: str, title: str, figure: Figure, head: str = "day", note: str = "") -> Chart:
    """A figure with its title and its table twin."""
    return Chart(name=name, title=title, figure=figure, twin=twin(figure, head), note=note)


def twin(figure: Figure, head: str) -> Twin:
    """One row for each x at which some trace has a value, newest first."""
    traces = figure["data"]
    places: dict[str, list[tuple[str, str]]] = {}
    for column, trace in enumerate(traces):
        for x, y, data in zip(trace["x"], trace["y"], trace["customdata"], strict=True):
            if y is not None:
                places.setdefault(x, [(formats.UNKNOWN, "")] * len(traces))[column] = (data[0], data[1])
    rows = (_twin_row(x, places[x]) for x in sorted(places, reverse=True))
    return Twin((head, *(trace["meta"] for trace in traces)), tuple(rows))


def _twin_row(head: str, cells: Sequence[tuple[str, str]]) -> TwinRow:
    return TwinRow(head, tuple(words for words, _ in cells), tuple(url for _, url in cells))


def spark(values: Sequence[int | None], words: str) -> Spark:
    """`words` says in text what the line shows, for those who do not see it."""
    segments = list(_segments(_scaled(values)))
    lines = tuple(" ".join(f"{x},{y}" for x, y in segment) for segment in segments if len(segment) > 1)
    dots = tuple(segment[0] for segment in segments if len(segment) == 1)
    return Spark(lines, dots, words)


def _scaled(values: Sequence[int | None]) -> list[tuple[str, str] | None]:
    peak = max((value for value in values if value is not None), default=0) or 1
    step = 100 / max(len(values) - 1, 1)
    return [
        None if value is None else (f"{place * step:.1f}", f"{19 - 18 * value / peak:.1f}")
        for place, value in enumerate(values)
    ]


def _segments(points: Iterable[tuple[str, str] | None]) -> Iterable[list[tuple[str, str]]]:
    segment: list[tuple[str, str]] = []
    for point in [*points, None]:
        if point is not None:
            segment.append(point)
        elif segment:
            yield segment
            segment = []


def layout(first: date, last: date, unit: str) -> dict[str, Any]:
    """Axes, legend and colours; the x axis spans the whole window, also where nothing ran."""
    axis = {"gridcolor": "var(--s-grid)", "linecolor": "var(--line)", "zerolinecolor": "var(--line)"}
    return {
        "font": {"size": 12, "color": "var(--ink-2)"},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": 56, "r": 8, "t": 8, "b": 32},
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "var(--surface)", "bordercolor": "var(--line)", "font": {"color": "var(--ink)"}},
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.16, "yanchor": "top", "x": 0, "traceorder": "normal"},
        "xaxis": {**axis, "type": "date", "range": _with_room(first, last), "showgrid": False, **DATES},
        "yaxis": {**axis, "title": {"text": unit}, "automargin": True, "fixedrange": True},
    }


def _with_room(first: date, last: date) -> list[str]:
    """Half a day on both sides: a mark on the first or last day must not be cut in half."""
    return [f"{first - timedelta(days=1)}T12:00", f"{last}T12:00"]


def line_style(place: int) -> dict[str, Any]:
    """Colour, dash and symbol of the series at this place."""
    at = place % len(COLOURS)
    dash = DASHES[(place + place // len(COLOURS)) % len(DASHES)]
    return {
        "line": {"color": COLOURS[at], "dash": dash, "width": 2},
        "marker": {"color": COLOURS[at], "symbol": SYMBOLS[at], "size": 6},
    }


def bar_marker(verdict: Verdict) -> dict[str, Any]:
    """Colour and hatching of a verdict. What has no verdict is hollow: it must not look like a result."""
    token = f"var(--v-{verdict})"
    fill = CLEAR if verdict is Verdict.NO_VERDICT else token
    hatch = {"fgcolor": token if fill == CLEAR else "var(--surface)", "bgcolor": fill}
    pattern = {"shape": PATTERNS[verdict], "size": 6, **hatch}
    return {"color": fill, "pattern": {**pattern, "solidity": 0.25}, "line": {"color": token, "width": 1}}


def escaped(name: str) -> str:
    """Plotly reads names as a kind of HTML, and lane names come from outside."""
    return html.escape(name, quote=False)
