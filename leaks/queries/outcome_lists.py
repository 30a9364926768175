"""Outcomes in a list, newest first: the rows behind every number of the overview and the lanes pages."""

from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q, QuerySet

from leaks.folding import HAS_VERDICT
from leaks.models import LaneOutcome, Project
from leaks.queries import strips
from leaks.rows.lane_pages import Cursor, OutcomeFilter, OutcomeLine, OutcomeList
from leaks.words import CANCELLED_REASONS

PAGE = 30

GROUPS = {
    "": Q(),
    "proved": Q(verdict__in=HAS_VERDICT),
    "unproved": ~Q(verdict__in=HAS_VERDICT),
    "cancelled": Q(reason__in=CANCELLED_REASONS),
}


def outcome_list(project: Project, chosen: OutcomeFilter, after: Cursor | None) -> OutcomeList:
    """One page. Withdrawn outcomes are listed, struck through, unless they would make the list differ from a count."""
    rows = matching(project, chosen).select_related("run__commit", "lane").order_by("-happened_at", "-public_id")
    if after is not None:
        same_moment = Q(happened_at=after.at, public_id__lt=after.public_id)
        rows = rows.filter(Q(happened_at__lt=after.at) | same_moment)
    outcomes = list(rows[: PAGE + 1])
    shown = outcomes[:PAGE]
    more = len(outcomes) > PAGE
    return OutcomeList(
        lines=tuple(_line(outcome) for outcome in shown),
        older=Cursor(shown[-1].happened_at, shown[-1].public_id) if more else None,
    )


def matching(project: Project, chosen: OutcomeFilter) -> QuerySet[LaneOutcome]:
    """The outcomes that a filter means."""
    rows = _in_window(project, chosen)
    if chosen.last:
        # The last so many are taken before the rest of the filter: "4 of the last 30" are 4 of those 30.
        counted = rows.filter(withdrawn_at=None).order_by("-happened_at", "-pk").values("pk")[: chosen.last]
        rows = LaneOutcome.objects.filter(pk__in=counted)
    exact = {name: value for name, value in (("verdict", chosen.verdict), ("reason", chosen.reason)) if value}
    rows = rows.filter(GROUPS[chosen.group], **exact)
    if chosen.claimed is not None:
        rows = rows.filter(conclusion=chosen.claimed or None)
    return rows if _unrestricted(chosen) else rows.filter(withdrawn_at=None)


def _in_window(project: Project, chosen: OutcomeFilter) -> QuerySet[LaneOutcome]:
    rows = LaneOutcome.objects.filter(lane__project=project, happened_at__gte=chosen.since)
    if chosen.lane:
        rows = rows.filter(lane__name=chosen.lane)
    if chosen.branch:
        own = chosen.branch == project.default_branch
        rows = rows.filter(strips.on_branch(chosen.branch) if own else Q(run__branch=chosen.branch))
    if chosen.day is not None:
        end = _midnight(chosen.until or chosen.day) + timedelta(days=1)
        rows = rows.filter(happened_at__gte=_midnight(chosen.day), happened_at__lt=end)
    return rows


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)


def _unrestricted(chosen: OutcomeFilter) -> bool:
    narrowed = chosen.verdict or chosen.reason or chosen.group or chosen.last or chosen.day
    return not narrowed and chosen.claimed is None


def _line(outcome: LaneOutcome) -> OutcomeLine:
    return OutcomeLine(
        public_id=outcome.public_id,
        lane=outcome.lane.name,
        run=str(outcome.run),
        run_url=outcome.run.url,
        branch=outcome.run.branch,
        sha=outcome.run.commit.sha,
        at=outcome.happened_at,
        verdict=outcome.verdict,
        reason=outcome.reason,
        claimed=outcome.conclusion or "",
        exit_code=outcome.exit_code,
        build_percent=outcome.build_percent,
        tests_passed=outcome.tests_passed,
        tests_failed=outcome.tests_failed,
        leaked_bytes=outcome.leaked_bytes,
        flags=tuple(dict.fromkeys([*outcome.flags, *outcome.standing_flags])),
        withdrawn=outcome.withdrawn_at is not None,
    )
