"""What must be said of a proposed rule besides its reach: it hides nearly everything that is own, nothing of what it is proposed for, or it was
refused before."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import Sum

from leaks.lane_views import function_of
from leaks.ledger_words import SuppressionState
from leaks.models import Project, SightingSum, Signature, Suppression
from leaks.rows.suppressions import RejectedBefore
from leaks.rows.suppressions_reach import Reach
from leaks.rule_breadth import NEARLY_ALL, SEVERAL
from leaks.rule_patterns import matches
from leaks.rule_types import Suppressor
from leaks.rules import parse_rules
from leaks.watching import rule_key

MOST_REJECTED = 2_000  # the latest, that a rule is compared with


class OwnRecords(NamedTuple):
    """An own signature under one of its keys. `names`: the functions that its identity and its own frame name."""

    signature: str
    names: tuple[str, ...]
    records: int


def nearly_all_own(project: Project, tool: str, rule: str, found: Reach, lanes: Sequence[str] = ()) -> str:
    """What to say of a rule that surely hides nearly all own records of several signatures and is not the name of one function.

    It may be proposed, and needs the confirmation that its reach asks for: a refusal here would keep a rule out of the journal that people
    ask for again and again, together with the reason for which it was rejected.
    """
    hit = {row.public_id: row.certain.records for row in found.rows if row.own and row.certain.records}
    if tool == Suppressor.VALGRIND or len(hit) < SEVERAL:
        return ""
    own = list(_own_records(project, tool, lanes))
    records, signatures = sum(one.records for one in own), {one.signature for one in own}
    if names_one(rule, own) or (sum(hit.values()) < NEARLY_ALL * records and len(hit) < len(signatures)):
        return ""
    return (
        f"It would hide {len(hit):,} of all {len(signatures):,} own signatures and {sum(hit.values()):,} of their {records:,} records, and is not "
        "the name of one function: nothing would be left to see. Name the function that may be silent."
    )


def _own_records(project: Project, tool: str, lanes: Sequence[str]) -> Iterator[OwnRecords]:
    sums = SightingSum.objects.filter(lane__project=project, tool=tool, key__signature__own=True)
    rows = sums.filter(lane__name__in=lanes) if lanes else sums
    columns = ("key__signature__public_id", "key__text", "key__signature__own_frame__function")
    for signature, text, function, records in rows.order_by().values_list(*columns).annotate(Sum("records")):
        yield OwnRecords(signature, tuple(filter(None, (function_of(text), function))), records)


def names_one(rule: str, own: Sequence[OwnRecords]) -> bool:
    """Whether it matches own functions, and fewer than several."""
    patterns = [pattern for one in parse_rules(rule) for pattern in one.patterns]
    met = {one.names[0] for one in own if any(matches(pattern, name) for pattern in patterns for name in one.names)}
    return 0 < len(met) < SEVERAL


def tools_of(one: Signature) -> set[str]:
    """Tools that reported it, so far as their reports are kept. One query."""
    sums = SightingSum.objects.filter(key__signature=one).order_by()
    return set(sums.values_list("tool", flat=True).distinct())


def missed(found: Reach, signature: str) -> str:
    """The sentence where the rule cannot hide anything of what it is proposed for."""
    if found.fault or not found.misses(signature):
        return ""
    return f"It does not reach the signature it is proposed for: nothing of {signature} would be hidden."


def rejected_before(project: Project, tool: str, rule: str, besides: str = "") -> RejectedBefore | None:
    """The last time that a person refused a rule which says the same; who took their own proposal back refused nothing. One query."""
    rows = Suppression.objects.filter(project=project, tool=tool, state=SuppressionState.REJECTED)
    told = rows.exclude(public_id=besides).select_related("ended_by").order_by("-ended_at", "public_id")
    wanted = keys_of(rule)
    for one in told[:MOST_REJECTED] if wanted else ():
        if one.ended_by_id != one.proposed_by_id and keys_of(one.rule) == wanted:
            by = one.ended_by.get_username() if one.ended_by else ""
            return RejectedBefore(one.public_id, by, one.ended_at, one.decision_reason)
    return None


def keys_of(rule: str) -> tuple[object, ...]:
    """What two rules share that say the same, whatever the name of a block."""
    return tuple(map(rule_key, parse_rules(rule)))
