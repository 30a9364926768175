"""The overview of a project: what did the lanes prove lately? A fixed number of queries, each bounded by the window or a limit."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q

from leaks.models import Log, Project, Signature
from leaks.queries import lane_days, strips, tips
from leaks.queries.canaries import canaries
from leaks.queries.expectations import expected_now, leak_lanes
from leaks.queries.lanes import lane_tips
from leaks.queries.latest import latest_commits
from leaks.queries.suppressions import waiting as suppressions_waiting
from leaks.rows.overview import Overview
from leaks.rows.pages import (
    BlindLane,
    Headline,
    LaneStrip,
    LeaksNow,
    LogsWaiting,
    NewSignature,
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
    rank = {row.now.sha: row.place for row in rows if row.now is not None}
    sha, newest = _last_proved(rows, rank)
    new = _new_signatures(project, newest, _first_seen_where(project, rows))
    tip = lane_tips(project, expected, [row.name for row in rows], now, TIP_COMMITS)
    blind = tips.longest_first(one.blind for one in tip.values() if one.blind is not None)
    return Overview(
        headline=headline(project.default_branch, rows, blind, rank),
        lanes=rows,
        tips=tip,
        canaries=canaries(project, expected, now),
        more_lanes=len(lanes) - len(shown),
        since_sha=sha,
        since_outcome=newest.outcome if newest else "",
        new=new[:NEW_SHOWN],
        new_total=len(new),
        logs=_logs(project, now),
        suppressions=suppressions_waiting(project),
        latest=latest_commits(project),
        days=days,
        weeks=lane_days.weeks(days, first, last),
        first_day=first,
        last_day=last,
    )


Rank = Mapping[str, int]  # commit → its place in the order of the branch


def headline(branch: str, lanes: Sequence[LaneStrip], blind: Sequence[BlindLane], rank: Rank) -> Headline:
    """The gravest fact: what nobody can see comes before what is seen, and that before good news."""
    known = [(row, row.now) for row in lanes if row.now is not None and row.branch]
    leaking = [(row, now) for row, now in known if now.verdict == Verdict.FINDINGS]
    if blind:
        found = tuple(row.name for row, _ in leaking)
        return Headline("blind", branch, lane=blind[0].lane, blind=blind[0], others=len(blind) - 1, found=found)
    if leaking:
        row, now = max(leaking, key=lambda pair: (pair[1].bytes or 0, pair[1].reports))
        return Headline("findings", branch, lane=row.name, leak=now, others=len(leaking) - 1, sha=now.sha)
    if known:
        newest = _newest([now for _, now in known], rank)
        return Headline("proved", branch, lanes=len(known), sha=newest.sha if newest else "")
    return _nothing_there(branch, lanes, rank)


def _newest(proved: Iterable[LeaksNow], rank: Rank) -> LeaksNow | None:
    """Of the newest commit: whoever runs an old one late proves that old one."""
    return max(proved, key=lambda now: (rank.get(now.sha, -1), now.at), default=None)


def _nothing_there(branch: str, lanes: Sequence[LaneStrip], rank: Rank) -> Headline:
    """No verdict on the branch. What was proved elsewhere says nothing about it, and is told all the same."""
    elsewhere = [row for row in lanes if row.cells and not row.branch]
    if elsewhere and len(elsewhere) == sum(bool(row.cells) for row in lanes):
        newest = _newest([row.now for row in elsewhere if row.now is not None], rank)
        return Headline("elsewhere", branch, leak=newest, lanes=len(elsewhere), sha=newest.sha if newest else "")
    return Headline("waiting" if any(row.cells for row in lanes) else "empty", branch, lanes=len(lanes))


def _last_proved(lanes: Sequence[LaneStrip], rank: Rank) -> tuple[str, LeaksNow | None]:
    """The newest commit with a verdict, and the first outcome that gave it one: what is new is new since then.

    Lanes that never ran on the branch are only asked where none did: a run of somebody's own machine names no branch, and may hold
    changes that no commit holds.
    """
    known = [row.now for row in _of_the_branch(lanes) or lanes if row.now is not None]
    newest = _newest(known, rank)
    if newest is None:
        return "", None
    sha = newest.sha
    return sha, min((now for now in known if now.sha == sha), key=lambda now: now.at)


def _of_the_branch(lanes: Iterable[LaneStrip]) -> list[LaneStrip]:
    return [row for row in lanes if row.branch and row.now is not None]


def _first_seen_where(project: Project, lanes: Iterable[LaneStrip]) -> Q:
    """What a pull request or a run without a branch was the first to show is not new in the commits of the branch."""
    if not _of_the_branch(lanes):
        return Q()
    return Q(first_seen__run__branch=project.default_branch, first_seen__run__pull_request=None)


def _new_signatures(project: Project, newest: LeaksNow | None, where: Q) -> tuple[NewSignature, ...]:
    """Signatures first seen in that outcome or later, own ones and big ones first."""
    if newest is None:
        return ()
    rows = Signature.objects.filter(
        where,
        project=project,
        merged_into=None,
        gone_at=None,
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
