"""How a signature came about lately: the tests that trigger it, its kinds, and the distinct stacks that lead to it. One query."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, Sum

from leaks.models import Report, Signature
from leaks.queries.refs import SUMS, amount, total
from leaks.rows.leak_pages import Amount, KindShare

LATELY = 20  # outcomes
GROUPS = 500


@dataclass(frozen=True)
class Group:
    """Records of one kind, in one test, with one key and stack."""

    stack: int
    key: str
    kind: str
    test: str
    amount: Amount
    outcomes: int
    last: Amount


def groups_of(one: Signature, outcomes: Sequence[int]) -> list[Group]:
    """`outcomes`: those that showed it lately. The largest groups, where there are very many."""
    last = Q(log__part__outcome=one.last_seen_id)
    reports = Report.objects.filter(key__signature=one, log__current=True, log__part__outcome__in=outcomes[:LATELY])
    rows = reports.values("stack_id", "key__recipe", "key__hash", "kind", "test").annotate(
        **SUMS,
        outcomes=Count("log__part__outcome", distinct=True),
        last_bytes=Sum("leaked_bytes", filter=last),
        last_objects=Sum("leaked_objects", filter=last),
        last_records=Sum("count", filter=last),
    )
    return [_group(row) for row in rows.order_by(F("records").desc(), "stack_id", "kind", "test")[:GROUPS]]


def _group(row: Mapping[str, Any]) -> Group:
    last = {name: row[f"last_{name}"] for name in ("bytes", "objects", "records")}
    key = f"{row['key__recipe']}:{row['key__hash'][:12]}"
    return Group(row["stack_id"], key, row["kind"], row["test"], amount(row), row["outcomes"], amount(last))


def tests_in(groups: Iterable[Group]) -> tuple[str, ...]:
    return tuple(sorted({group.test for group in groups if group.test}))


def kinds_in(groups: Iterable[Group]) -> tuple[KindShare, ...]:
    """Direct or indirect, in the outcome that showed it last."""
    found: dict[str, list[Amount]] = defaultdict(list)
    for group in groups:
        if group.last.count:
            found[group.kind].append(group.last)
    return tuple(KindShare(kind, total(shares)) for kind, shares in sorted(found.items()))


def by_stack(groups: Iterable[Group]) -> dict[int, list[Group]]:
    """The stacks, the one with the most records first."""
    found: dict[int, list[Group]] = defaultdict(list)
    for group in groups:
        found[group.stack].append(group)
    return dict(sorted(found.items(), key=lambda item: -sum(group.amount.count for group in item[1])))


def sum_of(groups: Iterable[Group]) -> Amount:
    return total(group.amount for group in groups)
