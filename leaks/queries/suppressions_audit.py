"""The audit of suppressions: what is silenced now, what it hid, and what lanes use that nobody approved.

Sums are made in the database. Rules in force are few (each ends within half a year) and still bounded, files are the distinct ones that
were used lately, days are those of the charts: nothing here grows with history.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum, prefetch_related_objects
from django.db.models.functions import Now, TruncDate

from leaks.ledger_words import SuppressionState
from leaks.models import Project, Suppression, SuppressionUse
from leaks.queries.journal_page import head_of
from leaks.queries.suppressions import RELATED, row_of
from leaks.queries.suppressions_files import RunFiles, run_files
from leaks.queries.suppressions_runs import Moments, Runs, complete_runs
from leaks.queries.suppressions_spans import in_its_time, span_of
from leaks.queries.suppressions_stray import Uses, Window, strays
from leaks.queries.suppressions_uses import covered, templates_of
from leaks.rows.suppressions_audit import (
    RuleHits,
    StateCount,
    SuppressionAudit,
    UsedTemplate,
    UsePoint,
    WatchedRule,
    WatchFacts,
)
from leaks.watching import NEVER_USED_AFTER, Origin, findings_of

State = SuppressionState
MONTH = timedelta(days=30)
CHART = timedelta(days=90)
MOST_RULES = 100  # in one query, and on the page
MOST_USED = 200  # pairs of template and lane, those that hid most
MOST_STRAYS = 200
MOST_DECIDED = 100
LINES = 8  # more cannot be told apart
WAS_IN_FORCE = frozenset({State.APPROVED, State.EXPIRED, State.REVOKED})


def suppression_audit(project: Project) -> SuppressionAudit:
    """Twelve queries, however many rules and runs there are."""
    moment, states = _states(project)
    day, month, first = moment.date(), moment - MONTH, moment - CHART
    in_force, proposed, decided = _suppressions(project)
    known = [*in_force, *proposed, *decided]
    prefetch_related_objects(known, "lanes")
    moments = Moments.of([*in_force, *_ended_since(decided, month)], moment, month)
    files = run_files(project, min([first, *_approvals(in_force)]), moments)
    rules = watched_rules(project, in_force, moment, files, moments)
    used = _used(project, month, covered(known, month))
    found = strays(project, known, files, used, Window(month, day, moments))
    listed = [row for row in found if row.origin not in (Origin.CODE, Origin.BUILT_IN)]
    return SuppressionAudit(
        today=day,
        month=month.date(),
        first_day=first.date(),
        rules=rules,
        of_rules=states[State.APPROVED],
        strays=tuple(listed[:MOST_STRAYS]),
        of_strays=len(listed),
        in_code=tuple(row for row in found if row.origin in (Origin.CODE, Origin.BUILT_IN)),
        points=_points(project, used.all, rules, first),
        of_decided=sum(states[word] for word in (State.REJECTED, State.EXPIRED, State.REVOKED)),
        states=tuple(StateCount(word.value, states[word]) for word in State),
        decided=tuple(row_of(one, day) for one in decided),
        head=head_of(project),
        never_used_after=NEVER_USED_AFTER,
    )


def _states(project: Project) -> tuple[datetime, dict[str, int]]:
    """What moment it is by the database's clock, and how many suppressions there are of each state."""
    counts = {word.value: Count("suppressions", filter=Q(suppressions__state=word)) for word in State}
    row = Project.objects.filter(pk=project.pk).annotate(moment=Now(), **counts).values("moment", *counts).get()
    return row.pop("moment").astimezone(UTC), row


def _suppressions(project: Project) -> tuple[list[Suppression], list[Suppression], list[Suppression]]:
    """Approved ones, the next end first (also those past it that no look has ended yet); proposals; what was ended or rejected, the latest
    first. Two queries.
    """
    rows = Suppression.objects.filter(project=project).select_related(*RELATED)
    alive = rows.filter(state__in=[State.APPROVED, State.PROPOSED]).order_by("state", "ends_on", "public_id")
    ended = rows.filter(state__in=[State.REJECTED, State.EXPIRED, State.REVOKED]).order_by("-ended_at", "public_id")
    found = list(alive[: 2 * MOST_RULES])
    approved = [one for one in found if one.state == State.APPROVED]
    return approved[:MOST_RULES], found[len(approved) :], list(ended[:MOST_DECIDED])


def _ended_since(rows: Iterable[Suppression], since: datetime) -> list[Suppression]:
    """Their uses are counted by whether they were in force yet and still."""
    return [one for one in rows if (span := span_of(one)) is not None and span.end > since]


def _approvals(rows: Iterable[Suppression]) -> list[datetime]:
    return [one.approved_at for one in rows if one.approved_at is not None]


# --- Rules -----------------------------------------------------------------------------------------------------------


def watched_rules(
    project: Project, rows: Sequence[Suppression], moment: datetime, files: RunFiles, moments: Moments
) -> tuple[WatchedRule, ...]:
    """Rows with their lanes at hand, `MOST_RULES` at most; `files` were read by these moments. Two queries."""
    live = [one for one in rows if one.state in WAS_IN_FORCE and one.approved_at is not None]
    hits, runs = _hits(project, live, moment - MONTH), complete_runs(project, moments)
    return tuple(
        _watched(one, moment.date(), hits.get(one.pk, RuleHits()), runs.of(one, files.held(one.rule)))
        for one in rows[:MOST_RULES]
    )


def _watched(one: Suppression, day: date, hits: RuleHits, runs: Runs) -> WatchedRule:
    facts = WatchFacts(
        tool=one.tool,
        ends_on=one.ends_on,
        today=day,
        over_cap=one.over_cap_at is not None,
        reached=one.reach.get("matched", one.reach.get("signatures", 0)),
        hanging=one.reach.get("hanging", 0),
        hits=hits.count,
        runs=runs.complete,
        told=runs.told,
        held=runs.held,
    )
    return WatchedRule(
        row=row_of(one, day),
        approved_by=one.approved_by.get_username() if one.approved_by else "",
        approved_at=one.approved_at,
        hits=hits,
        complete_runs=runs.complete,
        held_runs=runs.held,
        findings=findings_of(facts) if one.state == State.APPROVED else (),
        templates=templates_of(one.tool, one.rule),
    )


def _hits(project: Project, rows: Sequence[Suppression], month: datetime) -> dict[int, RuleHits]:
    """One query: a sum for each rule and figure."""
    sums: dict[str, Any] = {}
    for one in rows:
        hers = Q(template__in=templates_of(one.tool, one.rule)) & in_its_time(one)
        for words, narrowed in (("", hers), ("month_", hers & Q(outcome__happened_at__gte=month))):
            sums[f"{words}count_{one.pk}"] = Sum("count", filter=narrowed)
            sums[f"{words}bytes_{one.pk}"] = Sum("bytes", filter=narrowed)
            sums[f"{words}runs_{one.pk}"] = Count("outcome", filter=narrowed, distinct=True)
        sums[f"last_{one.pk}"] = Max("outcome__happened_at", filter=hers)
    if not sums:
        return {}
    names = {name for one in rows for name in templates_of(one.tool, one.rule)}
    found = _uses(project, min(_approvals(rows))).filter(template__in=names).aggregate(**sums)
    return {one.pk: _rule_hits(found, one.pk) for one in rows}


def _rule_hits(found: Mapping[str, Any], pk: int) -> RuleHits:
    names = ("count", "bytes", "runs", "month_count", "month_bytes", "month_runs")
    return RuleHits(**{name: found[f"{name}_{pk}"] or 0 for name in names}, last=found[f"last_{pk}"])


# --- Use -------------------------------------------------------------------------------------------------------------


def _uses(project: Project, since: datetime) -> QuerySet[SuppressionUse]:
    """What was withdrawn or replaced counts nowhere."""
    return SuppressionUse.objects.filter(
        outcome__lane__project=project,
        outcome__withdrawn_at=None,
        log__current=True,
        outcome__happened_at__gte=since,
    )


def _used(project: Project, since: datetime, approved: Q) -> Uses:
    """Which templates hid something in which lanes, what hid most first; and the same of uses that are not `approved`. One query."""
    grouped: QuerySet[Any, Any] = (
        _uses(project, since).order_by().values("template", lane_name=F("outcome__lane__name"))
    )
    rows = grouped.annotate(**_sums("all"), **_sums("loose", ~approved)).order_by("-all_count", "template", "lane_name")
    shown = list(rows[:MOST_USED])
    return Uses(
        [_template(row, "all") for row in shown],
        [_template(row, "loose") for row in shown if row["loose_runs"]],
    )


def _sums(name: str, narrowed: Q | None = None) -> dict[str, Any]:
    return {
        f"{name}_count": Sum("count", filter=narrowed),
        f"{name}_bytes": Sum("bytes", filter=narrowed),
        f"{name}_runs": Count("outcome", filter=narrowed, distinct=True),
        f"{name}_last": Max("outcome__happened_at", filter=narrowed),
        f"{name}_newest": Max("outcome__pk", filter=narrowed),
    }


def _template(row: Mapping[str, Any], name: str) -> UsedTemplate:
    """`newest` is the row made last, which is enough for a link."""
    values = {field: row[f"{name}_{field}"] for field in ("newest", "last", "count", "bytes", "runs")}
    return UsedTemplate(row["template"], row["lane_name"], **values)


def _points(
    project: Project, used: Sequence[UsedTemplate], rules: Sequence[WatchedRule], first: datetime
) -> tuple[UsePoint, ...]:
    """Day by day, for the templates that hid most lately, and rules in force that hid anything."""
    approved = {name: rule.row.public_id for rule in rules for name in rule.templates}
    totals: dict[str, int] = defaultdict(int)
    for one in used:
        totals[one.template] += one.count
    for rule in rules:
        for name in rule.templates:
            totals.setdefault(name, 0)
    shown = sorted(totals, key=lambda name: (-totals[name], name))[: 2 * LINES]
    rows = _uses(project, first).filter(template__in=shown).order_by()
    days = rows.values("template", day=TruncDate("outcome__happened_at", tzinfo=UTC))
    summed = days.annotate(hidden=Sum("count"), hidden_bytes=Sum("bytes")).order_by("day", "template")
    return tuple(
        UsePoint(row["template"], approved.get(row["template"], ""), row["day"], row["hidden"], row["hidden_bytes"])
        for row in summed
    )


# --- Export ----------------------------------------------------------------------------------------------------------


def exported_rules(project: Project) -> Iterator[WatchedRule]:
    """All suppressions there ever were, oldest first, some at a time."""
    moment, _ = _states(project)
    rows = Suppression.objects.filter(project=project).select_related(*RELATED).order_by("proposed_at", "public_id")
    for start in range(0, rows.count(), MOST_RULES):
        chunk = list(rows[start : start + MOST_RULES])
        prefetch_related_objects(chunk, "lanes")
        moments = Moments.of(chunk, moment)
        files = run_files(project, min([moment, *_approvals(chunk)]), moments)
        yield from watched_rules(project, chunk, moment, files, moments)
