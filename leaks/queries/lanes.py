"""The list of lanes, and one lane: how often does it prove anything? Bounded by the window and by numbers of commits."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from django.db.models import Count
from django.db.models.functions import TruncDate

from leaks.folding import HAS_VERDICT
from leaks.models import Lane, Project
from leaks.queries import lane_days, outcome_lists, strips, tips
from leaks.queries.expectations import NOTHING, Expected, expected_now, leak_lanes
from leaks.queries.rate_rows import rate_row
from leaks.rates import blind_windows, longest
from leaks.rows.lane_pages import (
    BlindWindow,
    CommitCell,
    LaneLine,
    LanePage,
    LanesPage,
    Matrix,
    MatrixCell,
    MatrixRow,
    OutcomeFilter,
    ReasonLine,
)
from leaks.rows.pages import LaneDayRow, LaneStrip
from leaks.words import CANCELLED_REASONS, Verdict

LANE_COMMITS = 200
UNPROVED_SHOWN = 20
CLAIMS_SHOWN = 12

# What the CI claimed and what was proved, where the two cannot both be true. "" is a CI that said nothing.
LIES = {
    "success": frozenset(Verdict) - {Verdict.CLEAN},
    "failure": frozenset({Verdict.CLEAN, Verdict.NO_VERDICT}),
}


class Counted(NamedTuple):
    """How many outcomes of a day share claim, verdict and reason."""

    day: date
    claimed: str | None
    verdict: str
    reason: str
    n: int


def lanes_page(project: Project, since: datetime, now: datetime) -> LanesPage:
    first, last = since.date(), now.date()
    days = lane_days.lane_days(project, first, last)
    lanes = strips.lanes_to_show(project, since, 1)
    shown = lanes[: strips.LANES_SHOWN]
    last_runs = {strip.name: strip for strip in strips.strips(project, shown, since, {}, 1)}
    expected = expected_now(project)
    return LanesPage(
        lanes=tuple(_line(lane, days, last_runs[lane.name], expected.get(lane.name, NOTHING)) for lane in shown),
        more_lanes=len(lanes) - len(shown),
        days=days,
        weeks=lane_days.weeks(days, first, last),
        first_day=first,
        last_day=last,
    )


def _line(lane: Lane, days: Iterable[LaneDayRow], strip: LaneStrip, expected: Expected) -> LaneLine:
    outcomes, verdicts, reasons = lane_days.totals(row for row in days if row.lane == lane.name)
    return LaneLine(
        name=lane.name,
        detectors=expected.detectors,
        owed_branch=expected.owed_branch,
        outcomes=outcomes,
        proved=rate_row(sum(verdicts[word] for word in HAS_VERDICT), outcomes, "with a verdict"),
        cancelled=rate_row(sum(reasons[word] for word in CANCELLED_REASONS), outcomes, "cancelled"),
        no_verdict=rate_row(verdicts[Verdict.NO_VERDICT], outcomes, "without a verdict"),
        last=strip.cells[-1] if strip.cells else None,
    )


def find(project: Project, name: str) -> Lane | None:
    return Lane.objects.filter(project=project, name=name).first()


def lane_page(project: Project, lane: Lane, since: datetime, now: datetime, branch: str = "") -> LanePage:
    first, last = since.date(), now.date()
    counted = _counted(project, OutcomeFilter(since=since, lane=lane.name, branch=branch))
    rollups, expectations = lane_days.lane_days(project, first, last, lane.name), expected_now(project, lane.name)
    days = _days(lane.name, counted, lane_days.with_zeros(rollups, leak_lanes(expectations, rollups)))
    expected = expectations.get(lane.name, NOTHING)
    owed = expected.owed_branch == project.default_branch
    commits = tips.newest_commits(project, LANE_COMMITS)
    line = tips.cells(commits, tips.folded_by_lane(commits, lane.name).get(lane.name, {}), owed)
    outcomes, verdicts, reasons = lane_days.totals(days)
    return LanePage(
        name=lane.name,
        aliases=tuple(lane.aliases),
        detectors=expected.detectors,
        owed_branch=expected.owed_branch,
        outcomes=outcomes,
        proved=rate_row(sum(verdicts[word] for word in HAS_VERDICT), outcomes, "with a verdict"),
        cancelled=rate_row(sum(reasons[word] for word in CANCELLED_REASONS), outcomes, "cancelled"),
        no_verdict=rate_row(verdicts[Verdict.NO_VERDICT], outcomes, "without a verdict"),
        reasons=_reasons(reasons),
        matrix=matrix(counted),
        days=days,
        weeks=lane_days.weeks(days, first, last),
        first_day=first,
        last_day=last,
        commits=line,
        unproved=tuple(cell for cell in reversed(line) if not tips.is_proved(cell))[:UNPROVED_SHOWN],
        unproved_total=sum(not tips.is_proved(cell) for cell in line),
        longest_blind=_longest_blind(line, now),
        commits_looked_at=len(commits),
    )


def _counted(project: Project, chosen: OutcomeFilter) -> list[Counted]:
    """One grouping for tiles, reasons, matrix and days, so that they agree with each other."""
    rows = outcome_lists.matching(project, chosen).filter(withdrawn_at=None)
    grouped = rows.order_by().values_list(TruncDate("happened_at"), "conclusion", "verdict", "reason")
    return [Counted(*row) for row in grouped.annotate(n=Count("pk"))]


def _days(lane: str, counted: Iterable[Counted], rollups: Iterable[LaneDayRow]) -> tuple[LaneDayRow, ...]:
    """The counts of the chosen branch; bytes and signatures are of the default branch and come from the rollups."""
    known = {row.day: row for row in rollups}
    by_day: dict[date, list[Counted]] = {}
    for row in counted:
        by_day.setdefault(row.day, []).append(row)
    return tuple(_day(lane, day, by_day.get(day, ()), known.get(day)) for day in sorted(by_day.keys() | known.keys()))


def _day(lane: str, day: date, counted: Sequence[Counted], known: LaneDayRow | None) -> LaneDayRow:
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in counted:
        verdicts[row.verdict] += row.n
        reasons[row.reason] += row.n
    del reasons[""]
    return LaneDayRow(
        lane=lane,
        day=day,
        outcomes=verdicts.total(),
        verdicts=verdicts,
        reasons=reasons,
        leaked_bytes=known.leaked_bytes if known else None,
        signatures=known.signatures if known else None,
    )


def _reasons(reasons: Counter[str]) -> tuple[ReasonLine, ...]:
    of = reasons.total()
    return tuple(
        ReasonLine(reason, n, of) for reason, n in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    )


def matrix(counted: Iterable[Counted]) -> Matrix:
    """What the CI claimed against what was proved. Rows by number; claims beyond the first dozen are left out."""
    numbers: Counter[tuple[str, str]] = Counter()
    for row in counted:
        numbers[row.claimed or "", row.verdict] += row.n
    by_claim: Counter[str] = Counter()
    for (claimed, _), n in numbers.items():
        by_claim[claimed] += n
    rows = tuple(_matrix_row(claimed, numbers, n) for claimed, n in by_claim.most_common(CLAIMS_SHOWN))
    lies = sum(cell.n for row in rows for cell in row.cells if cell.lie)
    return Matrix(tuple(Verdict), rows, lies, numbers.total())


def _matrix_row(claimed: str, numbers: Counter[tuple[str, str]], total: int) -> MatrixRow:
    lying = LIES.get(claimed, frozenset())
    cells = (MatrixCell(claimed, word, numbers[claimed, word], word in lying) for word in Verdict)
    return MatrixRow(claimed, claimed or "nothing said", total, tuple(cells))


def _longest_blind(line: Sequence[CommitCell], now: datetime) -> BlindWindow | None:
    window = longest(blind_windows(tips.points(line)), now)
    if window is None:
        return None
    places = {cell.sha: place for place, cell in enumerate(line)}
    first, after = places[window.keys[0]], line[places[window.keys[-1]] + 1 :]
    return BlindWindow(
        first=line[first],
        commits=len(window.keys),
        length=(window.until or now) - window.since,
        proved_by=next((cell.sha for cell in after if tips.is_proved(cell)), "") if window.until else "",
    )
