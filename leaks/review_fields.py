"""A proposal, checked field by field before anything of it is kept. Every refusal names its field and says what would be right."""

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from leaks.cited import cited
from leaks.errors import BadSubmission, Conflict
from leaks.ledger_words import SuppressionState, SuppressionTool
from leaks.models import Lane, Project, Signature, Suppression
from leaks.queries.reach import reach_of
from leaks.queries.suppressions_clock import ANNOUNCED_DAYS, LONGEST_DAYS, today
from leaks.queries.suppressions_said import keys_of, tools_of
from leaks.review_rules import NAMES, refusal, tidy
from leaks.rows.suppressions import Proposal
from leaks.rows.suppressions_reach import Reach

LONGEST_TEXT = 10_000
LARGEST = 2**62


class Checked(NamedTuple):
    """A proposal that can be kept."""

    tool: SuppressionTool
    rule: str
    reason: str
    ends_on: date
    lanes: tuple[Lane, ...]
    signature: Signature | None
    alternatives: str
    evidence: list[str]
    not_measured: str
    cap_count: int | None
    cap_bytes: int | None


def checked(project: Project, given: Proposal) -> Checked:
    """Raises BadSubmission at the first field that is wrong, in the order of the form."""
    tool, lanes = _tool(given.tool), _lanes(project, given.lanes)
    return Checked(
        tool=tool,
        rule=_rule(project, tool, given.rule, [lane.name for lane in lanes]),
        reason=needed("reason", given.reason, "Say why this may be silent: the reason stands in the served file."),
        ends_on=checked_end(given.ends_on, today(project)),
        lanes=lanes,
        signature=_signature(project, tool, given.signature),
        alternatives=text("alternatives", given.alternatives),
        evidence=cited(project, given.evidence),
        not_measured=text("not_measured", given.not_measured),
        cap_count=_cap("cap_count", given.cap_count),
        cap_bytes=_cap("cap_bytes", given.cap_bytes),
    )


def text(field: str, said: str) -> str:
    """Without control characters, which no page can show."""
    if len(said) > LONGEST_TEXT:
        raise BadSubmission(f"Longer than {LONGEST_TEXT:,} characters.", field=field)
    return "".join(sign for sign in said if sign in "\n\t" or unicodedata.category(sign) != "Cc").strip()


def needed(field: str, said: str, why: str) -> str:
    found = text(field, said)
    if not found:
        raise BadSubmission(why, field=field)
    return found


def checked_end(end: date | None, day: date) -> date:
    """`end` is the last day that the rule is served; it must still come."""
    latest = day + timedelta(days=LONGEST_DAYS)
    if end is None:
        raise BadSubmission(
            f"Say when it ends: by {latest} at the latest. A fault that is silenced for good is forgotten.",
            field="ends_on",
        )
    if end <= day:
        raise BadSubmission(f"The end must lie ahead: today is {day} by the server's clock, in UTC.", field="ends_on")
    if end > latest:
        raise BadSubmission(
            f"A suppression ends after {LONGEST_DAYS} days at the latest, by {latest}; it can be proposed again then.", field="ends_on"
        )  # fmt: skip
    return end


def _tool(word: str) -> SuppressionTool:
    if word not in set(SuppressionTool):
        raise BadSubmission(f"The tool is one of {', '.join(SuppressionTool)}.", field="tool")
    return SuppressionTool(word)


def _lanes(project: Project, names: Iterable[str]) -> tuple[Lane, ...]:
    wanted = set(names)
    found = tuple(Lane.objects.filter(project=project, name__in=wanted).order_by("name")) if wanted else ()
    missing = sorted(wanted - {lane.name for lane in found})
    if missing:
        raise BadSubmission(f"The project has no lane “{missing[0][:80]}”.", field="lanes")
    return found


def _rule(project: Project, tool: SuppressionTool, given: str, lanes: Sequence[str]) -> str:
    rule = tidy(tool, given)
    refused = refusal(tool, rule)
    if refused is None:
        return rule
    found = reach_of(project, tool, rule, lanes) if refused.broad else None
    raise BadSubmission(f"{refused.why} {in_words(found)}" if found else refused.why, field="rule")


def in_words(found: Reach) -> str:
    """The reach in one sentence, for those who see no table."""
    total = len(found.rows)
    if not total:
        return "So far nothing in the history of this project matches it."
    records = found.certain.records + found.possible.records + found.undecidable.records
    return (
        f"Over all history it reaches {total:,} signature{'s' if total != 1 else ''} "
        f"({sum(row.own for row in found.rows):,} own) and {records:,} of {found.reports:,} records."
    )


def _signature(project: Project, tool: SuppressionTool, public_id: str) -> Signature | None:
    if not public_id:
        return None
    found = Signature.objects.select_related("merged_into").filter(project=project, public_id=public_id).first()
    if found is None:
        raise BadSubmission(f"The project has no signature “{public_id[:40]}”.", field="signature")
    meant = found.merged_into or found
    tools = tools_of(meant)
    if tools and tool not in tools:
        raise BadSubmission(
            f"{meant.public_id} was reported by {' and '.join(sorted(tools))}, never by {tool}: a rule in the file of {NAMES[tool]} cannot hide it.",
            field="signature",
        )
    return meant


def _cap(field: str, cap: int | None) -> int | None:
    if cap is not None and not 1 <= cap <= LARGEST:
        raise BadSubmission("A cap is a number above 0; leave it empty for none.", field=field)
    return cap


# --- Said before -----------------------------------------------------------------------------------------------------


def refuse_duplicate(project: Project, one: Checked, besides: Suppression | None = None) -> None:
    """The same rule for the same lanes, in force or under review. What ends soon may be proposed again, so that nothing is in between."""
    lanes = {lane.pk for lane in one.lanes}
    for other in _same(project, one.tool, one.rule, besides):
        if not _meets(lanes, {lane.pk for lane in other.lanes.all()}):
            continue
        if other.state == SuppressionState.PROPOSED:
            raise BadSubmission(f"{other.public_id} proposes the same rule already: comment there.", field="rule")
        if other.ends_on > today(project) + timedelta(days=ANNOUNCED_DAYS):
            raise BadSubmission(
                f"{other.public_id} is approved and says the same until {other.ends_on}. It can be proposed again "
                f"{ANNOUNCED_DAYS} days before its end.", field="rule"
            )  # fmt: skip


def refuse_second_approval(one: Suppression) -> None:
    """Another proposal of the same rule was approved meanwhile. A renewal is later than what it renews."""
    lanes = {lane.pk for lane in one.lanes.all()}
    for other in _same(one.project, one.tool, one.rule, one):
        approved = other.state == SuppressionState.APPROVED and other.ends_on >= one.ends_on
        if approved and _meets(lanes, {lane.pk for lane in other.lanes.all()}):
            raise Conflict(f"{other.public_id} says the same and is approved until {other.ends_on}.")


def _same(project: Project, tool: str, rule: str, besides: Suppression | None) -> Iterable[Suppression]:
    """Those that say the same: of blocks the name says nothing."""
    states = [SuppressionState.PROPOSED, SuppressionState.APPROVED]
    rows = Suppression.objects.filter(project=project, tool=tool, state__in=states)
    if tool != SuppressionTool.VALGRIND:
        rows = rows.filter(rule=rule)
    if besides is not None:
        rows = rows.exclude(pk=besides.pk)
    said = keys_of(rule)
    return [one for one in rows.prefetch_related("lanes").order_by("proposed_at", "pk") if keys_of(one.rule) == said]


def _meets(one: set[int], other: set[int]) -> bool:
    """No lane means all of them."""
    return not one or not other or bool(one & other)
