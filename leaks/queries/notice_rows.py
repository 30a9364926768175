"""What the page of notices shows. Five queries, whatever the number of rules and of what they sent."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Count, F, Max, OuterRef, Q, Subquery

from leaks.models import CommitStatus, NoticeRule, Project, Sending, StatusTarget
from leaks.rows.notices import NoticesPage, PostRow, RuleRow, TargetRow
from leaks.words import Channel, SendState

SHOWN = 100
GIVEN_UP_SHOWN = 5


def notices_page(project: Project, token_of: Callable[[StatusTarget], str]) -> NoticesPage:
    """`token_of` says which token a target is posted with."""
    return NoticesPage(_rules(project), _targets(project, token_of))


def _rules(project: Project) -> tuple[RuleRow, ...]:
    troubled = Sending.objects.filter(rule=OuterRef("pk")).exclude(error="").order_by("-pk")
    rules = NoticeRule.objects.filter(project=project).annotate(
        waiting=_counted(SendState.WAITING),
        sent=_counted(SendState.SENT),
        failed=_counted(SendState.FAILED),
        last_sent_at=Max("sendings__sent_at"),
        trouble=Subquery(troubled.values("error")[:1]),
    )
    return tuple(_rule(row) for row in rules.select_related("set_by").order_by("kind", "channel", "target")[:SHOWN])


def _counted(state: SendState) -> Count:
    return Count("sendings", filter=Q(sendings__state=state))


def _rule(row: Any) -> RuleRow:
    return RuleRow(
        public_id=row.public_id,
        kind=row.kind,
        channel=row.channel,
        target=shown_target(row.channel, row.target),
        threshold=row.threshold,
        enabled=row.enabled,
        since=row.enabled_at,
        by=row.set_by.get_username() if row.set_by else "",
        waiting=row.waiting,
        sent=row.sent,
        failed=row.failed,
        last_sent_at=row.last_sent_at,
        error=(row.trouble or "") if row.waiting or row.failed else "",
    )


def shown_target(channel: str, target: str) -> str:
    """Whoever knows the path of some webhooks may post there: the host tells people apart, and no more is shown."""
    if channel != Channel.WEBHOOK:
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.netloc}/…"


# --- Commit statuses -------------------------------------------------------------------------------------------------


def _targets(project: Project, token_of: Callable[[StatusTarget], str]) -> tuple[TargetRow, ...]:
    targets = StatusTarget.objects.filter(project=project).annotate(
        posted=Count("statuses", filter=~Q(statuses__posted_state="")),
        waiting=Count("statuses", filter=Q(statuses__due=True)),
        given_up=Count("statuses", filter=Q(statuses__due=False) & ~Q(statuses__error="")),
    )
    some = _given_up(project)
    return tuple(_target(row, token_of, some) for row in targets.order_by("provider"))


def _given_up(project: Project) -> Mapping[int, list[PostRow]]:
    found = CommitStatus.objects.filter(target__project=project, due=False).exclude(error="")
    rows = found.order_by(F("commit__ordered_at").desc(nulls_last=True), "-pk").select_related("lane", "commit")
    by_target: defaultdict[int, list[PostRow]] = defaultdict(list)
    for row in rows[: 4 * GIVEN_UP_SHOWN]:
        by_target[row.target_id].append(PostRow(row.lane.name, row.commit.sha, row.state, row.error))
    return by_target


def _target(row: Any, token_of: Callable[[StatusTarget], str], some: Mapping[int, list[PostRow]]) -> TargetRow:
    return TargetRow(
        provider=row.provider,
        repository=row.repository,
        base_url=row.base_url,
        token="own" if row.token else "environment" if token_of(row) else "missing",
        enabled=row.enabled,
        since=row.enabled_at,
        error=row.error,
        resting_until=row.retry_at,
        posted=row.posted,
        waiting=row.waiting,
        given_up=row.given_up,
        some=tuple(some.get(row.pk, ())[:GIVEN_UP_SHOWN]),
    )
