"""The last runs of every lane on the default branch: two queries, whatever the number of lanes and the length of history.

A lane that never ran there (its uploads name no branch, or other ones) shows its last runs wherever they were, and says so.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, When

from leaks.folding import HAS_VERDICT
from leaks.models import Lane, LaneOutcome, Project
from leaks.queries.rate_rows import rate_row
from leaks.queries.tips import ranks
from leaks.rows.pages import LaneStrip, LeaksNow, OutcomeCell
from leaks.words import CANCELLED_REASONS, Verdict

Outcomes = QuerySet[LaneOutcome, Any]

# More lanes than that are a mistake in a pattern; the page says how many it left out.
LANES_SHOWN = 100
LENGTH = 30

# Hundreds of outcomes are read for a page, and decoding the JSON they carry would take longer than the rest.
COLUMNS = (
    "public_id", "lane_id", "happened_at", "verdict", "reason", "exit_code", "leaked_bytes", "leaked_objects", "reports",
    "own_bytes", "own_reports", "run__external_id", "run__attempt", "run__commit__sha",
)  # fmt: skip


def lanes_to_show(project: Project, since: datetime, length: int = LENGTH) -> list[Lane]:
    """Lanes by name, each with whether it ever ran on the default branch (`on_main`), where its strip begins (`strip_from`), and its last
    proving outcome (`last_proved`)."""
    anywhere = LaneOutcome.objects.filter(lane=OuterRef("pk"), withdrawn_at=None).order_by("-happened_at", "-pk")
    main = anywhere.filter(on_branch(project.default_branch))
    lanes = Lane.objects.filter(project=project).annotate(
        on_main=Exists(main),
        strip_from=_of_either(main, anywhere, lambda rows: _strip_from(rows.filter(happened_at__gte=since), length)),
        last_proved=_of_either(main, anywhere, lambda rows: rows.filter(verdict__in=HAS_VERDICT).values("pk")[:1]),
    )
    return list(lanes.order_by("name")[: LANES_SHOWN + 1])


def _strip_from(rows: Outcomes, length: int) -> Outcomes:
    """The time of the oldest outcome shown: an index walk of `length` steps a lane, where a window function would number the whole history."""
    return rows.values("happened_at")[length - 1 : length]


def _of_either(main: Outcomes, anywhere: Outcomes, pick: Callable[[Outcomes], Outcomes]) -> Case:
    return Case(When(on_main=True, then=Subquery(pick(main))), default=Subquery(pick(anywhere)))


def on_branch(name: str) -> Q:
    """Runs of the branch itself: a pull request from somebody's branch of the same name is another thing."""
    return Q(run__branch=name, run__pull_request=None)


def strips(
    project: Project,
    lanes: Sequence[Lane],
    since: datetime,
    bytes_by_day: Mapping[str, tuple[int | None, ...]],
    length: int = LENGTH,
) -> tuple[LaneStrip, ...]:
    """The strips of these lanes, with what stands beside them; `bytes_by_day` has the lanes that look for leaks."""
    outcomes = _outcomes(project, lanes, since)
    newest = newest_proved(project, outcomes)
    return tuple(
        _strip(
            lane,
            outcomes[lane.pk],
            since,
            bytes_by_day.get(lane.name),
            length,
            proved=newest.get(lane.pk),
            branch=project.default_branch,
        )
        for lane in lanes
    )


def newest_proved(
    project: Project, outcomes: Mapping[int, Sequence[LaneOutcome]]
) -> Mapping[int, tuple[LaneOutcome, int]]:
    """Lane -> the run with a verdict of its newest commit, of several one with findings, which no rerun takes back, else the last;
    and the place of its commit in the order of the branch.

    A late run of an old commit is a run of that old commit.
    """
    proved = {lane: [one for one in runs if one.verdict in HAS_VERDICT] for lane, runs in outcomes.items()}
    rank = ranks(project, {run.run.commit.sha for runs in proved.values() for run in runs})

    def place(run: LaneOutcome) -> tuple[int, bool, datetime, int]:
        return rank.get(run.run.commit.sha, -1), run.verdict == Verdict.FINDINGS, run.happened_at, run.pk

    newest = {lane: max(runs, key=place) for lane, runs in proved.items() if runs}
    return {lane: (run, place(run)[0]) for lane, run in newest.items()}


def _outcomes(project: Project, lanes: Sequence[Lane], since: datetime) -> Mapping[int, list[LaneOutcome]]:
    """Lane -> its outcomes, oldest first: those of the strip, and the last proving one wherever it is."""
    by_lane: defaultdict[int, list[LaneOutcome]] = defaultdict(list)
    if not lanes:
        return by_lane
    main, everywhere = on_branch(project.default_branch), Q()
    recent = (
        Q(lane=lane.pk, happened_at__gte=_from(lane, since)) & (main if _on_main(lane) else everywhere)
        for lane in lanes
    )
    shown = Q(withdrawn_at=None) & reduce(or_, recent)
    last_proved = Q(pk__in=[pk for lane in lanes if (pk := getattr(lane, "last_proved", None))])
    rows = LaneOutcome.objects.filter(shown | last_proved).select_related("run__commit").only(*COLUMNS)
    for outcome in rows.order_by("happened_at", "pk"):
        by_lane[outcome.lane_id].append(outcome)
    return by_lane


def _on_main(lane: Lane) -> bool:
    return bool(getattr(lane, "on_main", True))


def _from(lane: Lane, since: datetime) -> datetime:
    return getattr(lane, "strip_from", None) or since


def _strip(
    lane: Lane,
    outcomes: Sequence[LaneOutcome],
    since: datetime,
    bytes_by_day: tuple[int | None, ...] | None,
    length: int,
    *,
    proved: tuple[LaneOutcome, int] | None,
    branch: str,
) -> LaneStrip:
    shown = [outcome for outcome in outcomes if outcome.happened_at >= _from(lane, since)][-length:]
    cancelled = sum(outcome.reason in CANCELLED_REASONS for outcome in shown)
    with_verdict = sum(outcome.verdict in HAS_VERDICT for outcome in shown)
    return LaneStrip(
        name=lane.name,
        cells=tuple(cell_of(outcome) for outcome in shown),
        proved=rate_row(with_verdict, len(shown), "with a verdict"),
        cancelled=rate_row(cancelled, len(shown), "cancelled"),
        now=_leaks_now(proved[0], bytes_by_day is not None) if proved else None,
        place=proved[1] if proved else -1,
        bytes_by_day=bytes_by_day or (),
        branch=branch if _on_main(lane) else "",
    )


def cell_of(outcome: LaneOutcome) -> OutcomeCell:
    return OutcomeCell(
        public_id=outcome.public_id,
        run=str(outcome.run),
        sha=outcome.run.commit.sha,
        verdict=outcome.verdict,
        reason=outcome.reason,
        at=outcome.happened_at,
        exit_code=outcome.exit_code,
        leaked_bytes=outcome.leaked_bytes,
    )


def _leaks_now(outcome: LaneOutcome, looks: bool) -> LeaksNow:
    clean = outcome.verdict == Verdict.CLEAN and looks
    return LeaksNow(
        outcome=outcome.public_id,
        sha=outcome.run.commit.sha,
        at=outcome.happened_at,
        verdict=outcome.verdict,
        bytes=0 if clean else outcome.leaked_bytes,
        objects=0 if clean else outcome.leaked_objects,
        own_bytes=outcome.own_bytes,
        reports=outcome.reports,
        own_reports=outcome.own_reports,
    )
