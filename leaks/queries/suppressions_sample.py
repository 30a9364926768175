"""One report to show for a rule that was made by hand: the largest that it surely hides."""

from django.db.models import QuerySet

from leaks.models import Project
from leaks.models import Report as ReportRow
from leaks.reach import matches
from leaks.rows.suppressions_reach import Reach, ReachRow
from leaks.rule_sets import Certainty
from leaks.rule_types import Suppressor
from leaks.rules import parse_rules
from leaks.stored_reports import StoredReports

LOOKED_AT = 50  # reports of the signature, the largest


def largest_hidden(project: Project, tool: str, rule: str, found: Reach) -> ReportRow | None:
    """A report of the signature of which most is hidden; one that the rule matches, if it matches any that is looked at."""
    if not found.rows:
        return None
    rows = _reports(project, max(found.rows, key=_weight), found.lanes)
    shown = {row.pk: row for row in rows[:LOOKED_AT]}
    rules, suppressor = parse_rules(rule), Suppressor(tool)
    stored = {one.id: one.report for one in StoredReports().of_rows(list(shown))}
    hit = (pk for pk in shown if matches(rules, stored[pk], suppressor).certainty is Certainty.CERTAIN)
    return shown.get(next(hit, next(iter(shown), 0)))


def _weight(row: ReachRow) -> tuple[int, int, int]:
    return row.certain.bytes, row.certain.records, row.possible.bytes


def _reports(project: Project, row: ReachRow, lanes: tuple[str, ...]) -> QuerySet[ReportRow]:
    hers = ReportRow.objects.filter(
        key__signature__project=project,
        key__signature__public_id=row.public_id,
        log__current=True,
        log__part__outcome__withdrawn_at=None,
        log__part__outcome__lane__name__in=lanes,
    )
    shown = hers.select_related("log__part__outcome__run__commit", "own_frame")
    return shown.order_by("-leaked_bytes", "-pk")
