"""What the clock does to approved suppressions: it announces their end, ends them, and raises the ones that hide more than was agreed.

Each look asks again; an end and a breach are written once, whoever looks first.
"""

from datetime import date, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from leaks import notices
from leaks.ledger_words import SuppressionState
from leaks.models import NoticeRule, Project, Suppression
from leaks.notices import Fact
from leaks.queries.suppressions_clock import ANNOUNCED_DAYS, today
from leaks.queries.suppressions_uses import over_cap, per_run
from leaks.review_steps import in_journal, note, stale_signatures
from leaks.words import NoticeKind

ENDED = "Its last day has passed; it is served no longer, and what it hid is open again."


def tend_suppressions() -> None:
    """The chore of a look."""
    approved = Suppression.objects.filter(state=SuppressionState.APPROVED)
    for project in Project.objects.filter(pk__in=approved.values("project_id")):
        day = today(project)
        end_due(project, day)
        announce(project, day)
        note_caps(project)


# --- Ends ------------------------------------------------------------------------------------------------------------


def end_due(project: Project, day: date) -> int:
    """End those whose last day has passed; how many were ended."""
    due = Suppression.objects.filter(project=project, state=SuppressionState.APPROVED, ends_on__lt=day)
    return sum(_expire(pk, day) for pk in due.values_list("pk", flat=True))


@transaction.atomic
def _expire(pk: int, day: date) -> bool:
    one = Suppression.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=pk)
    if one.state != SuppressionState.APPROVED or one.ends_on >= day:  # another worker was faster, or a person
        return False
    one.state, one.ended_at = SuppressionState.EXPIRED, timezone.now()
    one.save(update_fields=["state", "ended_at"])
    note(one, None, "expired", ENDED, ends_on=one.ends_on.isoformat(), **in_journal(one.reach))
    stale_signatures(one)
    return True


# --- Notices ---------------------------------------------------------------------------------------------------------


def announce(project: Project, day: date) -> None:
    """Those that end within two weeks, to whoever asked."""
    rules = _rules(project, NoticeKind.SUPPRESSION_ENDS)
    if not rules:
        return
    soon = _approved(project).filter(ends_on__range=(day, day + timedelta(days=ANNOUNCED_DAYS)))
    facts = [Fact(one.public_id, {**_told(one), "ends_on": one.ends_on.isoformat()}, None) for one in soon]
    with transaction.atomic():
        notices.tell(project, NoticeKind.SUPPRESSION_ENDS, facts, rules)


def note_caps(project: Project) -> None:
    """Those that hid more in one run than was agreed. Written once: what was agreed is broken, whatever later runs do."""
    capped = _approved(project).filter(over_cap_at=None).exclude(cap_count=None, cap_bytes=None)
    for one in capped:
        names = [lane.name for lane in one.lanes.all()]
        worst = per_run(one, names).filter(over_cap(one)).order_by("-run_count", "-run_bytes").first()
        if worst is not None:
            _note_cap(one, worst)


@transaction.atomic
def _note_cap(one: Suppression, run: dict[str, Any]) -> None:
    rows = Suppression.objects.filter(pk=one.pk, over_cap_at=None, state=SuppressionState.APPROVED)
    if not rows.update(over_cap_at=timezone.now()):
        return
    caps = {"cap_count": one.cap_count, "cap_bytes": one.cap_bytes}
    seen = {
        "outcome": run["run"],
        "lane": run["lane"],
        "commit": run["sha"],
        "count": run["run_count"],
        "bytes": run["run_bytes"],
    }
    fact = Fact(one.public_id, {**_told(one), **caps, **seen}, None)
    kind = NoticeKind.SUPPRESSION_OVER_CAP
    notices.tell(one.project, kind, [fact], _rules(one.project, kind))


def _approved(project: Project) -> Any:
    rows = Suppression.objects.filter(project=project, state=SuppressionState.APPROVED)
    return rows.select_related("project", "proposed_by", "signature").prefetch_related("lanes")


def _rules(project: Project, kind: NoticeKind) -> list[NoticeRule]:
    return list(NoticeRule.objects.filter(project=project, kind=kind, enabled=True))


def _told(one: Suppression) -> dict[str, Any]:
    return {
        "id": one.public_id,
        "rule": one.rule.replace("\n", " ")[:300],
        "tool": one.tool,
        "reason": one.reason[:500],
        "proposed_by": one.proposed_by.get_username(),
        "lanes": [lane.name for lane in one.lanes.all()],
        "signature": one.signature.public_id if one.signature else "",
    }
