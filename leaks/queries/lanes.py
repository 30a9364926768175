"""The list of lanes, and one lane: how often does it prove anything? Bounded by the window and by numbers of commits."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from django.db.models import Min

from leaks.folding import HAS_VERDICT
from leaks.models import Lane, LaneOutcome, Project
from leaks.queries import canaries, claimed_proved, lane_days, strips, tips
from leaks.queries.claimed_proved import Counted
from leaks.queries.expectations import NOTHING, Expected, expected_now, leak_lanes
from leaks.queries.rate_rows import rate_row
from leaks.rows.folding import Delays
from leaks.rows.lane_pages import (
    BlindWindow,
    CanaryRow,
    CommitCell,
    Cursor,
    LaneLine,
    LanePage,
    LanesPage,
    LaneTip,
    LaneWeeks,
    OutcomeFilter,
)
from leaks.rows.pages import LaneDayRow, LaneStrip
from leaks.windows import Wait, blind_windows, delays, longest
from leaks.words import CANCELLED_REASONS, Verdict

LANE_COMMITS = 200


def lanes_page(project: Project, since: datetime, now: datetime) -> LanesPage:
    first, last = since.date(), now.date()
    days = lane_days.lane_days(project, first, last)
    lanes = strips.lanes_to_show(project, since, 1)
    shown = lanes[: strips.LANES_SHOWN]
    counted = claimed_proved.counted(project, OutcomeFilter(since=since))
    lines = _lines(project, shown, days, since, now)
    return LanesPage(
        lanes=lines,
        more_lanes=len(lanes) - len(shown),
        reasons=claimed_proved.reason_lines(lane_days.totals(days).reasons),
        matrix=claimed_proved.matrix(counted),
        days=days,
        weeks=lane_days.weeks(days, first, last),
        lane_weeks=tuple(
            LaneWeeks(lane.name, lane_days.weeks([row for row in days if row.lane == lane.name], first, last))
            for lane in shown
        ),
        first_day=first,
        last_day=last,
    )


def _lines(
    project: Project, lanes: Sequence[Lane], days: Sequence[LaneDayRow], since: datetime, now: datetime
) -> tuple[LaneLine, ...]:
    last_runs = {strip.name: strip for strip in strips.strips(project, lanes, since, {}, 1)}
    expected = expected_now(project)
    tip = lane_tips(project, expected, [lane.name for lane in lanes], now)
    singing = canaries.canaries(project, expected, now)
    return tuple(
        _line(
            last_runs[lane.name],
            [row for row in days if row.lane == lane.name],
            expected.get(lane.name, NOTHING),
            tip[lane.name],
            singing.get(lane.name),
        )
        for lane in lanes
    )


def _line(
    strip: LaneStrip, days: Iterable[LaneDayRow], expected: Expected, tip: LaneTip, canary: CanaryRow | None
) -> LaneLine:
    counted = lane_days.totals(days)
    return LaneLine(
        name=strip.name,
        detectors=expected.detectors,
        owed_branch=expected.owed_branch,
        outcomes=counted.outcomes,
        proved=rate_row(sum(counted.verdicts[word] for word in HAS_VERDICT), counted.outcomes, "with a verdict"),
        cancelled=rate_row(sum(counted.reasons[word] for word in CANCELLED_REASONS), counted.outcomes, "cancelled"),
        no_verdict=rate_row(counted.verdicts[Verdict.NO_VERDICT], counted.outcomes, "without a verdict"),
        last=strip.cells[-1] if strip.cells else None,
        last_branch=strip.branch,
        tip=tip,
        canary=canary,
    )


def lane_tips(
    project: Project, expected: Mapping[str, Expected], lanes: Sequence[str], now: datetime, number: int = LANE_COMMITS
) -> dict[str, LaneTip]:
    """Lane → how far it proves the newest commits of the default branch."""
    commits = tips.newest_commits(project, number)
    folded = tips.folded_by_lane(commits)
    owed = {lane: row.owed_since(project.default_branch) for lane, row in expected.items()}
    lines = {lane: tips.cells(commits, folded.get(lane, {}), owed.get(lane)) for lane in lanes}
    return {lane: lane_tip(lane, line, number, now) for lane, line in lines.items()}


def lane_tip(lane: str, line: Sequence[CommitCell], looked_at: int, now: datetime) -> LaneTip:
    return LaneTip(
        commits=len(line),
        unproved=len(tips.unproved(line)),
        blind=tips.blindness(lane, line, looked_at),
        longest=_longest_blind(line, looked_at, now),
    )


def _longest_blind(line: Sequence[CommitCell], looked_at: int, now: datetime) -> BlindWindow | None:
    window = longest(blind_windows(tips.points(line)), now)
    if window is None:
        return None
    return BlindWindow(
        first=next(cell for cell in line if cell.sha == window.keys[0]),
        commits=len(window.keys),
        length=(window.until or now) - window.since,
        after=window.after,
        proved_by=window.proved_by,
        cut=not window.after and len(line) >= looked_at,
    )


def find(project: Project, name: str) -> Lane | None:
    return Lane.objects.filter(project=project, name=name).first()


def lane_page(
    project: Project, lane: Lane, since: datetime, now: datetime, branch: str = "", *, before: Cursor | None = None
) -> LanePage:
    """`before`: look at the commits older than that place."""
    first, last = since.date(), now.date()
    counted = claimed_proved.counted(project, OutcomeFilter(since=since, lane=lane.name, branch=branch))
    rollups, expectations = lane_days.lane_days(project, first, last, lane.name), expected_now(project, lane.name)
    days = _days(lane.name, counted, lane_days.with_zeros(rollups, leak_lanes(expectations, rollups)))
    expected = expectations.get(lane.name, NOTHING)
    commits = tips.newest_commits(project, LANE_COMMITS, before)
    folded = tips.folded_by_lane(commits, lane.name).get(lane.name, {})
    line = tips.cells(commits, folded, expected.owed_since(project.default_branch))
    totals = lane_days.totals(days)
    return LanePage(
        name=lane.name,
        aliases=tuple(lane.aliases),
        detectors=expected.detectors,
        owed_branch=expected.owed_branch,
        outcomes=totals.outcomes,
        proved=rate_row(sum(totals.verdicts[word] for word in HAS_VERDICT), totals.outcomes, "with a verdict"),
        cancelled=rate_row(sum(totals.reasons[word] for word in CANCELLED_REASONS), totals.outcomes, "cancelled"),
        no_verdict=rate_row(totals.verdicts[Verdict.NO_VERDICT], totals.outcomes, "without a verdict"),
        reasons=claimed_proved.reason_lines(totals.reasons),
        matrix=claimed_proved.matrix(counted),
        days=days,
        weeks=lane_days.weeks(days, first, last),
        first_day=first,
        last_day=last,
        commits=line,
        unproved=tips.unproved(line),
        tip=lane_tip(lane.name, line, LANE_COMMITS, now),
        delays=_delays(lane, commits),
        commits_looked_at=len(commits),
        older_commits=tips.oldest(commits) if len(commits) >= LANE_COMMITS else None,
        canary=canaries.canaries(project, expectations, now).get(lane.name),
    )


def _delays(lane: Lane, commits: Sequence[tips.TipCommit]) -> Delays | None:
    """From the commit to the end of the first run that gave it a verdict. Where nobody told that end there is no wait to measure."""
    proving = LaneOutcome.objects.filter(
        lane=lane, verdict__in=HAS_VERDICT, withdrawn_at=None, finished_at__isnull=False
    )
    of_these = proving.filter(run__commit__in=[commit.row.pk for commit in commits if commit.dated])
    first = dict(of_these.order_by().values_list("run__commit").annotate(at=Min("finished_at")))
    known = ((commit, first.get(commit.row.pk)) for commit in commits)
    return delays(Wait(commit.row.sha, commit.at, at) for commit, at in known if at is not None)


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
