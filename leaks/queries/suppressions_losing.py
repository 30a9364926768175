"""Which rules in force lose their hits to a proposed one: what a runtime counts for the new rule it does not count for the old one, so that
the old one seems unused and its cap says nothing."""

from collections.abc import Iterable, Sequence

from leaks.evidence import Report
from leaks.models import Project, SightingSum, Suppression
from leaks.queries.suppressions import title_of
from leaks.queries.suppressions_clock import in_force, today
from leaks.reach import reach
from leaks.rows.suppressions_reach import Reach
from leaks.rule_sets import Certainty
from leaks.rule_types import Suppressor
from leaks.rules import Rule, parse_rules
from leaks.stored_reports import StoredReports

MOST_RULES = 50
MOST_SIGNATURES = 20  # of what the new rule reaches, the gravest first
MOST_REPORTS = 100  # of them, one for each way they were seen


def losing(project: Project, one: Suppression, found: Reach) -> tuple[str, ...]:
    """A sentence for each rule in force that shares a lane with it. It is served behind all of them."""
    older = list(_older(project, one)) if found.rows else []
    reports = _samples(project, one, found) if older else ()
    told = ((other, _loss(other.rule, one.rule, Suppressor(one.tool), reports)) for other in older)
    return tuple(
        f"{other.public_id} ({title_of(other)}) is in force and {how} to this rule, whose pattern the runtime asks first: its own count and its "
        "cap then say less than it hides."
        for other, how in told
        if how
    )


def _older(project: Project, one: Suppression) -> Iterable[Suppression]:
    lanes = {lane.pk for lane in one.lanes.all()}
    rows = in_force(project, today(project)).filter(tool=one.tool).exclude(pk=one.pk).exclude(rule=one.rule)
    for other in rows.prefetch_related("lanes").order_by("approved_at", "public_id")[:MOST_RULES]:
        theirs = {lane.pk for lane in other.lanes.all()}
        if not lanes or not theirs or lanes & theirs:
            yield other


def _samples(project: Project, one: Suppression, found: Reach) -> Sequence[Report]:
    named = [row.public_id for row in found.matched[:MOST_SIGNATURES]]
    sums = SightingSum.objects.filter(lane__project=project, tool=one.tool, key__signature__public_id__in=named)
    spots = set(sums.order_by("-records", "pk").values_list("sample_id", "stack_id", "kind")[:MOST_REPORTS])
    reports = StoredReports().of_logs({log for log, _, _ in spots})
    return [one.report for one in reports if (one.log, one.stack, one.report.kind) in spots]


def _loss(old: str, new: str, tool: Suppressor, reports: Sequence[Report]) -> str:
    """What becomes of the old rule's hits, "" where they stay its own."""
    before, after = parse_rules(old), parse_rules(new)
    mine = [report for report in reports if _hits(reach(before, [report], tool)[0].certainty)]
    words = {_taken([*before, *after], after, report, tool) for report in mine}
    return next((word for word in ("loses hits", "may lose hits") if word in words), "")


def _taken(rules: Sequence[Rule], new: Sequence[Rule], report: Report, tool: Suppressor) -> str:
    (match,) = reach(rules, [report], tool)
    texts = {rule.text for rule in new}
    if match.rule is not None and match.rule.text in texts:
        return "loses hits"
    return "may lose hits" if any(rule.text in texts for rule in match.rivals) else ""


def _hits(certainty: Certainty | None) -> bool:
    return certainty in (Certainty.CERTAIN, Certainty.POSSIBLE)
