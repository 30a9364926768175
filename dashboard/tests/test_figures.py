from datetime import date, timedelta

import plotly.graph_objects as go
import pytest

from dashboard import figures
from dashboard.figures_parts import chart, spark, twin
from leaks.queries.lane_days import weeks
from leaks.rows.pages import LaneDayRow
from leaks.words import Reason, Verdict

FIRST, LAST = date(2026, 3, 2), date(2026, 3, 11)
SPAN = (FIRST, LAST)


def link(lane: str, day: date, verdict: str) -> str:
    return f"/{lane}/{day}/{verdict}"


def day(number: int, lane: str = "asan", leaked: int | None = None, **counts: int) -> LaneDayRow:
    verdicts = {name: n for name, n in counts.items() if name in set(Verdict)}
    reasons = {name: n for name, n in counts.items() if name in set(Reason)}
    known = None if leaked is None else 3
    return LaneDayRow(lane, date(2026, 3, number), sum(verdicts.values()), verdicts, reasons, leaked, known)


DAYS = (
    day(2, leaked=2048, findings=2),
    day(4, no_verdict=1, cancelled_unseen=1),
    day(5, leaked=0, clean=1, no_verdict=3, cancelled_before_tests=2, killed=1),
    day(9, "tsan", leaked=91_456, findings=1),
)


def all_figures() -> dict:
    return {
        "bytes": figures.leak_bytes(DAYS, SPAN, link),
        "signatures": figures.signatures(DAYS, SPAN, link),
        "outcomes": figures.outcomes_per_day(DAYS, SPAN, link),
        "rates": figures.rates_per_week(weeks(DAYS, *SPAN), lambda monday, name: f"/{monday}/{name}"),
    }


@pytest.mark.parametrize("name", ["bytes", "signatures", "outcomes", "rates"])
def test_plotly_accepts_it(name):
    assert go.Figure(all_figures()[name]).data


@pytest.mark.parametrize("name", ["bytes", "signatures", "outcomes", "rates"])
def test_every_colour_is_a_token(name):
    assert "#" not in str(all_figures()[name]["layout"])
    assert "var(--" in str(all_figures()[name]["data"])


@pytest.mark.parametrize(
    "figure",
    [
        figures.leak_bytes((), SPAN, link),
        figures.signatures((), SPAN, link),
        figures.outcomes_per_day((), SPAN, link),
        figures.rates_per_week((), lambda *_: ""),
        figures.rates_per_week(weeks((), *SPAN), lambda *_: ""),
    ],
)
def test_nothing_to_draw_is_a_figure_without_points(figure):
    go.Figure(figure)
    assert twin(figure, "day").rows == ()


def test_leak_bytes_has_a_line_a_lane_and_every_day_of_the_window():
    asan, tsan = figures.leak_bytes(DAYS, SPAN, link)["data"]
    assert (asan["meta"], tsan["meta"]) == ("asan", "tsan")
    assert asan["x"][0], asan["x"][-1] == ("2026-03-02", "2026-03-11")
    assert len(asan["x"]) == len(asan["y"]) == 10


def test_a_day_without_a_verdict_is_a_gap_and_a_clean_day_is_zero():
    asan, _ = figures.leak_bytes(DAYS, SPAN, link)["data"]
    assert asan["y"][:4] == [2048, None, None, 0]
    assert asan["connectgaps"] is False


def test_a_lane_that_never_had_a_verdict_has_no_line():
    assert figures.leak_bytes((day(4, no_verdict=1),), SPAN, link)["data"] == []


def test_a_point_says_its_size_and_leads_to_its_rows():
    _, tsan = figures.leak_bytes(DAYS, SPAN, link)["data"]
    assert tsan["customdata"][7] == ["89.3 KiB", "/tsan/2026-03-09/"]


def test_bytes_stand_at_round_binary_ticks():
    axis = figures.leak_bytes(DAYS, SPAN, link)["layout"]["yaxis"]
    assert axis["ticktext"] == ["0 B", "32 KiB", "64 KiB", "96 KiB"]
    assert axis["tickvals"] == [0, 32768, 65536, 98304]


def test_outcomes_are_stacked_by_verdict_over_all_lanes():
    figure = figures.outcomes_per_day(DAYS, SPAN, link)
    bars = {bar["meta"]: dict(zip(bar["x"], bar["y"], strict=True)) for bar in figure["data"]}
    assert figure["layout"]["barmode"] == "stack"
    assert list(bars) == ["clean", "findings", "no verdict"]
    assert bars["findings"]["2026-03-02"] == 2
    assert bars["no verdict"]["2026-03-05"] == 3
    assert bars["no verdict"]["2026-03-03"] is None


def test_a_bar_says_its_denominator():
    bars = {bar["meta"]: bar for bar in figures.outcomes_per_day(DAYS, SPAN, link)["data"]}
    assert bars["no verdict"]["customdata"][3] == ["3 of 4", "//2026-03-05/no_verdict"]


def test_what_has_no_verdict_is_hollow_and_hatched():
    marker = figures.outcomes_per_day(DAYS, SPAN, link)["data"][-1]["marker"]
    assert (marker["color"], marker["pattern"]["shape"]) == ("rgba(0,0,0,0)", "/")


def test_rates_are_per_week_with_numerator_and_denominator():
    no_verdict, cancelled = figures.rates_per_week(weeks(DAYS, *SPAN), lambda *_: "")["data"]
    assert cancelled["x"] == ["2026-03-02", "2026-03-09"]
    assert cancelled["y"] == [43, 0]
    assert cancelled["customdata"][0][0].startswith("3 of 7: 43 % (")
    assert no_verdict["y"] == [57, 0]


def test_a_week_in_which_nothing_ran_is_a_gap():
    span = (FIRST - timedelta(days=7), LAST)
    _, cancelled = figures.rates_per_week(weeks(DAYS, *span), lambda *_: "")["data"]
    assert cancelled["y"] == [None, 43, 0]
    assert cancelled["customdata"][0][0] == "nothing ran"


def test_lines_differ_by_more_than_colour():
    many = [day(2, f"lane {number}", leaked=1) for number in range(12)]
    lines = figures.leak_bytes(many, SPAN, link)["data"]
    assert len({(line["line"]["dash"], line["marker"]["symbol"]) for line in lines}) == 12


def test_a_lane_name_from_outside_cannot_become_markup():
    (line,) = figures.leak_bytes((day(2, "<b>x</b>", leaked=1),), SPAN, link)["data"]
    assert (line["name"], line["meta"]) == ("&lt;b&gt;x&lt;/b&gt;", "<b>x</b>")


def test_the_table_holds_what_the_picture_shows_newest_first():
    table = chart("leaks", "Leaks", figures.leak_bytes(DAYS, SPAN, link)).twin
    assert table.columns == ("day", "asan", "tsan")
    assert [(row.head, row.values) for row in table.rows] == [
        ("2026-03-09", ("–", "89.3 KiB")),
        ("2026-03-05", ("0 B", "–")),
        ("2026-03-02", ("2 KiB", "–")),
    ]


def test_a_spark_breaks_at_gaps():
    drawn = spark((0, 10, None, 5, None, None, 10, 10), "words")
    assert [len(line.split()) for line in drawn.lines] == [2, 2]
    assert drawn.lines[0] == "0.0,19.0 14.3,1.0"
    assert len(drawn.dots) == 1


@pytest.mark.parametrize("values", [(), (None,), (0,), (0, 0)])
def test_a_spark_of_nothing_is_no_error(values):
    assert spark(values, "words").words == "words"
