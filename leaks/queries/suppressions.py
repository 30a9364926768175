"""Suppressions of a project in lists: what waits for an approver, what is in force, what was, and what concerns one signature."""

from collections.abc import Iterable, Sequence
from datetime import date

from django.db.models import Count, F, Q, QuerySet

from leaks.ledger_words import SuppressionState
from leaks.models import Membership, Project, Signature, Suppression
from leaks.queries.suppressions_clock import in_force, today
from leaks.rows.suppressions import OfSignature, SuppressionLists, SuppressionRow, SuppressionsWaiting
from leaks.words import MemberRole

State = SuppressionState
ENDED_SHOWN = 100
RELATED = ("signature", "proposed_by", "approved_by", "ended_by")


def waiting(project: Project) -> SuppressionsWaiting:
    """One query."""
    found = Suppression.objects.filter(project=project).aggregate(
        to_review=Count("pk", filter=Q(state=State.PROPOSED)),
        over_cap=Count("pk", filter=Q(state=State.APPROVED, over_cap_at__isnull=False)),
    )
    return SuppressionsWaiting(found["to_review"], found["over_cap"])


def suppression_lists(project: Project) -> SuppressionLists:
    """Eight queries: what is under review and in force whole, what has ended and was rejected the latest first."""
    day = today(project)
    rows = _rows(project)
    ended = rows.filter(Q(state__in=[State.EXPIRED, State.REVOKED]) | Q(state=State.APPROVED, ends_on__lt=day))
    rejected = rows.filter(state=State.REJECTED)
    latest = F("ended_at").desc(nulls_first=True)
    return SuppressionLists(
        today=day,
        waiting=_all(rows.filter(state=State.PROPOSED).order_by("proposed_at", "public_id"), day),
        in_force=_all(rows.filter(pk__in=in_force(project, day)).order_by("ends_on", "public_id"), day),
        ended=_all(ended.order_by(latest, "public_id")[:ENDED_SHOWN], day),
        rejected=_all(rejected.order_by(latest, "public_id")[:ENDED_SHOWN], day),
        approvers=_approvers(project),
        **_totals(project),
    )


def find(project: Project, public_id: str) -> Suppression | None:
    rows = Suppression.objects.select_related("project", *RELATED).prefetch_related("lanes")
    return rows.filter(project=project, public_id=public_id).first()


def of_signature(project: Project, one: Signature) -> tuple[OfSignature, ...]:
    """Those that were proposed for it, and those that were seen to hide it when they were approved. The ones in force first.

    A renewal takes the place of what it renews: the same rule is named once.
    """
    named = Suppression.objects.filter(project=project).exclude(state=State.REJECTED).prefetch_related("lanes")
    mine = [row for row in named.order_by("-proposed_at") if row.signature_id == one.pk or _names(row, one.public_id)]
    rank = {State.APPROVED: 0, State.PROPOSED: 1}
    by_rule: dict[str, Suppression] = {}
    for row in sorted(mine, key=lambda row: rank.get(State(row.state), 2)):
        by_rule.setdefault(row.rule, row)
    day = today(project)
    return tuple(_of_signature(row, day, one.public_id) for row in by_rule.values())


def row_of(one: Suppression, day: date, comments: int = 0) -> SuppressionRow:
    """`one` with its related rows at hand."""
    decided = one.ended_at or one.approved_at
    by = one.ended_by if one.ended_at else one.approved_by
    certain, possible = (one.reach.get(word, {}) for word in ("certain", "possible"))
    return SuppressionRow(
        public_id=one.public_id,
        tool=one.tool,
        rule=title_of(one),
        state=_state(one, day),
        revision=one.revision,
        signature=one.signature.public_id if one.signature else "",
        title=one.signature.title if one.signature else "",
        lanes=tuple(lane.name for lane in one.lanes.all()),
        reason=one.reason,
        proposed_by=one.proposed_by.get_username(),
        proposed_at=one.proposed_at,
        decided_by=by.get_username() if by else ("the clock" if one.ended_at else ""),
        decided_at=decided,
        ends_on=one.ends_on,
        days_left=(one.ends_on - day).days if one.state == State.APPROVED and one.ends_on >= day else None,
        comments=comments,
        hidden_signatures=one.reach.get("signatures", 0),
        hidden_records=certain.get("records", 0) + possible.get("records", 0),
        hidden_bytes=certain.get("bytes", 0) + possible.get("bytes", 0),
        over_cap_at=one.over_cap_at,
        decision_reason=one.decision_reason,
        imported_from=one.imported_from,
        withdrawn=is_withdrawn(one),
    )


def is_withdrawn(one: Suppression) -> bool:
    """Taken back by who proposed it. Nobody else has judged it."""
    return one.state == State.REJECTED and one.ended_by_id == one.proposed_by_id


def title_of(one: Suppression) -> str:
    """The rule in one line: of a block its name."""
    lines = [line.strip() for line in one.rule.split("\n")]
    return lines[0] if len(lines) < 2 else f"{{ {lines[1]} }}"


def _state(one: Suppression, day: date) -> str:
    """Past its last day it is ended, whether or not a look has written that down yet."""
    return State.EXPIRED.value if one.state == State.APPROVED and one.ends_on < day else str(one.state)


def _rows(project: Project) -> QuerySet[Suppression]:
    rows = Suppression.objects.filter(project=project).select_related(*RELATED).prefetch_related("lanes")
    return rows.annotate(number_of_comments=Count("comments", distinct=True))


def _all(rows: Iterable[Suppression], day: date) -> tuple[SuppressionRow, ...]:
    return tuple(row_of(one, day, getattr(one, "number_of_comments", 0)) for one in rows)


def _totals(project: Project) -> dict[str, int]:
    found: dict[str, int] = Suppression.objects.filter(project=project).aggregate(
        ended_total=Count("pk", filter=Q(state__in=[State.EXPIRED, State.REVOKED])),
        rejected_total=Count("pk", filter=Q(state=State.REJECTED)),
    )
    return found


def _approvers(project: Project) -> int:
    return Membership.objects.filter(project=project, role__in=[MemberRole.APPROVER, MemberRole.ADMIN]).count()


def _names(one: Suppression, public_id: str) -> bool:
    """Whether it is in force or was, and the snapshot of its decision names the signature as hidden."""
    rows: Sequence[dict[str, str]] = one.reach.get("rows", ()) if one.approved_at else ()
    return any(row.get("signature") == public_id and row.get("certainty") == "certain" for row in rows)


def _of_signature(one: Suppression, day: date, asked: str) -> OfSignature:
    lanes = tuple(lane.name for lane in one.lanes.all())
    names = _names(one, asked)
    return OfSignature(one.public_id, title_of(one), _state(one, day), one.ends_on, one.ended_at, lanes, names)
