"""One suppression on one screen: the rule, its reach as of now, the stack it is about, what was said and decided, what it hid in runs."""

import unicodedata
from typing import NamedTuple

from leaks.lane_views import function_of
from leaks.ledger_words import SuppressionState, SuppressionTool
from leaks.models import Project, Report, Signature, SignatureKey, Suppression
from leaks.queries.journal_rows import journal_of
from leaks.queries.reach import reach_of
from leaks.queries.signature_page import report_row
from leaks.queries.stacks import StackReader
from leaks.queries.suppressions import row_of
from leaks.queries.suppressions_clock import today
from leaks.queries.suppressions_losing import losing
from leaks.queries.suppressions_offers import largest_report, offers, tool_of
from leaks.queries.suppressions_said import missed, nearly_all_own, rejected_before
from leaks.queries.suppressions_sample import largest_hidden
from leaks.queries.suppressions_uses import uses
from leaks.review_rules import warnings
from leaks.rows.leak_pages import ReportRow, StackRow
from leaks.rows.suppressions import CommentRow, Offer, SuppressionPage
from leaks.rule_breadth import OwnCode, too_broad
from leaks.rules import parse_rule

SUBJECT = "suppression"
MOST_FUNCTIONS = 2_000
NAMED = 5  # letters


class Asked(NamedTuple):
    """What the form for a proposal shows of the signature it is about."""

    signature: Signature | None
    tool: SuppressionTool
    offers: tuple[Offer, ...]
    report: ReportRow | None
    stack: StackRow | None


def suppression_page(project: Project, one: Suppression) -> SuppressionPage:
    lanes = tuple(lane.name for lane in one.lanes.all())
    asked, waits = one.signature.public_id if one.signature else "", one.state == SuppressionState.PROPOSED
    found = reach_of(project, one.tool, one.rule, lanes, asked=asked)
    report = largest_report(one.signature) if one.signature else largest_hidden(project, one.tool, one.rule, found)
    row, stack = _shown(project, report)
    comments = tuple(
        CommentRow(said.person.get_username(), said.at, said.text) for said in one.comments.select_related("person")
    )
    return SuppressionPage(
        row=row_of(one, today(project), len(comments)),
        text=one.rule,
        alternatives=one.alternatives,
        evidence=tuple(map(str, one.evidence)),
        not_measured=one.not_measured,
        cap_count=one.cap_count,
        cap_bytes=one.cap_bytes,
        approved_by=one.approved_by.get_username() if one.approved_by else "",
        approved_at=one.approved_at,
        wider_confirmed=one.wider_confirmed,
        decision_reason=one.decision_reason,
        ended_at=one.ended_at,
        warnings=(*warnings_of(project, one.tool, one.rule), *(losing(project, one, found) if waits else ())),
        reach=found,
        report=row,
        stack=stack,
        stack_of=report.key.signature.public_id if report else "",
        comments=comments,
        uses=uses(one, lanes),
        journal=journal_of(project, SUBJECT, one.public_id),
        missed=missed(found, asked) if waits else "",
        nearly_all=nearly_all_own(project, one.tool, one.rule, found, lanes) if waits else "",
        rejected_before=rejected_before(project, one.tool, one.rule, one.public_id) if waits else None,
    )


def asked_about(project: Project, signature: Signature | None) -> Asked:
    if signature is None:
        return Asked(None, SuppressionTool.LSAN, (), None, None)
    report = largest_report(signature)
    row, stack = _shown(project, report)
    return Asked(signature, tool_of(report), offers(project, report), row, stack)


def warnings_of(project: Project, tool: str, rule: str) -> tuple[str, ...]:
    """What a reviewer should know besides the reach."""
    found = [*warnings(SuppressionTool(tool), rule), *lookalikes(rule)]
    broad = too_broad(parse_rule(rule), OwnCode(tuple(project.own_roots), (), _own_functions(project)))
    if broad:
        found.append(f"A lane that runs with it proves nothing any more and is blinded: {broad}.")
    return tuple(found)


def lookalikes(rule: str) -> tuple[str, ...]:
    """A letter of another script is approved for the one that it looks like, and matches nothing of it."""
    found = list(dict.fromkeys(sign for sign in rule if sign > "\x7f"))
    if not found:
        return ()
    named = ", ".join(f"“{sign}” is U+{ord(sign):04X} {unicodedata.name(sign, '')}".rstrip() for sign in found[:NAMED])
    more = f", and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return (
        f"It holds letters that are not ASCII and may look like others: {named}{more}. The rule matches just these.",
    )


def _own_functions(project: Project) -> tuple[str, ...]:
    """One function for each own signature, as the verdict of a lane weighs a rule."""
    keys = SignatureKey.objects.filter(project=project, signature__own=True, signature__merged_into=None).order_by(
        "signature_id", "pk"
    )
    texts = dict(keys.values_list("signature_id", "text")[:MOST_FUNCTIONS])
    return tuple(filter(None, map(function_of, texts.values())))


def _shown(project: Project, report: Report | None) -> tuple[ReportRow | None, StackRow | None]:
    if report is None:
        return None, None
    commit = report.log.part.outcome.run.commit.sha
    return report_row(report), StackReader(project, commit).stacks_of(report)[0]
