"""The rules that a lane gets: approved, not past their last day, for all lanes or for this one. In the order of their approval, so that
a new rule takes no hit from an older one (Valgrind asks from the end) and the same rules give the same bytes.
"""

from collections.abc import Iterable
from datetime import date

from django.db.models import Q

from leaks.models import Decision, Lane, Project, Suppression
from leaks.queries.suppressions_clock import in_force, today
from leaks.rows.suppressions import ServedRule

SUBJECT = "suppression"


def served(project: Project, tool: str, lane: str = "") -> tuple[ServedRule, ...]:
    """With a lane (its name or an alias) those for it besides those for all; without one all. Of renewals the later end holds."""
    rows = in_force(project, today(project)).filter(tool=tool)
    if lane:
        rows = rows.filter(Q(lanes=None) | Q(lanes__in=_lane(project, lane)))
    ordered = list(rows.distinct().order_by("approved_at", "public_id"))
    roles = _roles(project, ordered)
    latest = _latest(ordered)
    kept = [one for one in ordered if latest[one.rule] == (one.ends_on, one.public_id)]
    return tuple(
        ServedRule(one.public_id, one.rule, one.reason, one.ends_on, roles.get(one.public_id, "approver"))
        for one in kept
    )


def _lane(project: Project, name: str) -> list[int]:
    rows = Lane.objects.filter(project=project)
    exact = [lane.pk for lane in rows if lane.name == name]
    return exact or [lane.pk for lane in rows if name in lane.aliases]


def _latest(ordered: Iterable[Suppression]) -> dict[str, tuple[date, str]]:
    found: dict[str, tuple[date, str]] = {}
    for one in ordered:
        found[one.rule] = max(found.get(one.rule, (one.ends_on, one.public_id)), (one.ends_on, one.public_id))
    return found


def _roles(project: Project, rows: Iterable[Suppression]) -> dict[str, str]:
    """In which role each was approved: what somebody is today changes no file."""
    approvals = Decision.objects.filter(
        project=project, subject_kind=SUBJECT, subject__in=[one.public_id for one in rows], what="approved"
    )
    return {subject: details.get("role", "") for subject, details in approvals.values_list("subject", "details")}
