"""The overview of a project: what did the lanes prove lately? Eight queries, each bounded by the window or a limit."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db.models import F

from leaks.models import Log, Project, Signature
from leaks.queries import lane_days, strips, tips
from leaks.queries.expectations import Expected, expected_now, leak_lanes
from leaks.queries.latest import latest_commits
from leaks.rows.pages import (
    BlindLane,
    Headline,
    LaneStrip,
    LeaksNow,
    LogsWaiting,
    NewSignature,
    Overview,
    WaitingLog,
)
from leaks.words import LogState, Verdict

TIP_COMMITS = 60
NEW_SHOWN = 6
NEW_COUNTED = 100
LOGS_COUNTED = 100
LOGS_SHOWN = 4
# A log that failed earlier than that waits for nobody any more; its run still shows it.
LOG_WINDOW = timedelta(days=14)
UNREAD = (LogState.RECEIVED, LogState.READING)
UNREADABLE = (LogState.FAILED, LogState.REFUSED)


def overview(project: Project, since: datetime, now: datetime) -> Overview:
    first, last = since.date(), now.date()
    counted, expected = lane_days.lane_days(project, first, last), expected_now(project)
    looking = leak_lanes(expected, counted)
    days = lane_days.with_zeros(counted, looking)
    lanes = strips.lanes_to_show(project, since)
    shown = lanes[: strips.LANES_SHOWN]
    rows = strips.strips(project, shown, since, lane_days.bytes_by_day(days, first, last, looking))
    sha, newest = _last_proved(rows)
    new = _new_signatures(project, newest)
    return Overview(
        headline=headline(project.default_branch, rows, _blind(project, [row.name for row in rows], expected, now)),
        lanes=rows,
        more_lanes=len(lanes) - len(shown),
        since_sha=sha,
        since_outcome=newest.outcome if newest else "",
        new=new[:NEW_SHOWN],
        new_total=len(new),
        logs=_logs(project, now),
        latest=latest_commits(project),
        days=days,
        weeks=lane_days.weeks(days, first, last),
        first_day=first,
        last_day=last,
    )


def headline(branch: str, lanes: Sequence[LaneStrip], blind: Sequence[BlindLane]) -> Headline:
    """The gravest fact: what nobody can see comes before what is seen, and that before good news."""
    known = [(row, row.now) for row in lanes if row.now is not None]
    leaking = [(row, now) for row, now in known if now.verdict == Verdict.FINDINGS]
    if blind:
        return Headline("blind", branch, lane=blind[0].lane, blind=blind[0], others=len(blind) - 1)
    if leaking:
        row, now = max(leaking, key=lambda pair: (pair[1].bytes or 0, pair[1].reports))
        return Headline("findings", branch, lane=row.name, leak=now, others=len(leaking) - 1, sha=now.sha)
    if known:
        return Headline("proved", branch, lanes=len(known), sha=max(known, key=lambda pair: pair[1].at)[1].sha)
    return Headline("waiting" if any(row.cells for row in lanes) else "empty", branch, lanes=len(lanes))


def _blind(project: Project, lanes: Sequence[str], expected: Mapping[str, Expected], now: datetime) -> list[BlindLane]:
    """Blind lanes, the one that is blind for longest first."""
    commits = tips.newest_commits(project, TIP_COMMITS)
    folded = tips.folded_by_lane(commits)
    owed = {lane for lane, row in expected.items() if row.owed_branch == project.default_branch}
    found = (
        tips.blindness(lane, tips.cells(commits, folded.get(lane, {}), lane in owed), TIP_COMMITS) for lane in lanes
    )
    return tips.longest_first([lane for lane in found if lane is not None], now)


def _last_proved(lanes: Sequence[LaneStrip]) -> tuple[str, LeaksNow | None]:
    """The newest commit with a verdict, and the first outcome that gave it one: what is new is new since then."""
    known = [row.now for row in lanes if row.now is not None]
    if not known:
        return "", None
    sha = max(known, key=lambda now: now.at).sha
    return sha, min((now for now in known if now.sha == sha), key=lambda now: now.at)


def _new_signatures(project: Project, newest: LeaksNow | None) -> tuple[NewSignature, ...]:
    """Signatures first seen in that outcome or later, own ones and big ones first."""
    if newest is None:
        return ()
    rows = Signature.objects.filter(
        project=project,
        merged_into=None,
        # Implied by the next line, but this one has an index.
        last_seen_at__gte=newest.at,
        first_seen_at__gte=newest.at,
    )
    ordered = rows.select_related("first_seen__run__commit").order_by(
        "-own", F("last_bytes").desc(nulls_last=True), "public_id"
    )
    return tuple(_new_signature(row) for row in ordered[:NEW_COUNTED])


def _new_signature(row: Signature) -> NewSignature:
    return NewSignature(
        public_id=row.public_id,
        title=row.title,
        family=row.family,
        own=row.own,
        bytes=row.last_bytes,
        state=row.state,
        first_seen_at=row.first_seen_at,
        first_seen_sha=row.first_seen.run.commit.sha if row.first_seen else "",
    )


def _logs(project: Project, now: datetime) -> LogsWaiting:
    waiting = Log.objects.filter(
        part__outcome__lane__project=project,
        part__outcome__happened_at__gte=now - LOG_WINDOW,
        current=True,
        state__in=[*UNREAD, *UNREADABLE],
    ).select_related("part__outcome__lane")
    logs = list(waiting.order_by("-received_at")[:LOGS_COUNTED])
    failed = [log for log in logs if log.state in UNREADABLE]
    some = tuple(_waiting_log(log) for log in failed[:LOGS_SHOWN])
    return LogsWaiting(unread=len(logs) - len(failed), failed=len(failed), some=some)


def _waiting_log(log: Log) -> WaitingLog:
    return WaitingLog(
        public_id=log.public_id,
        name=log.name,
        state=log.state,
        error=log.error,
        lane=log.part.outcome.lane.name,
        at=log.received_at,
    )
