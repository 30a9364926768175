"""Was it there before? The run of the same lane on the parent of the commit that showed a signature first, else last.

Asked in the query that reads the signature itself.
"""

from typing import Any

from django.db.models import Case, IntegerField, OuterRef, QuerySet, Subquery, Sum, Value, When
from django.db.models.fields.json import KeyTextTransform

from leaks.models import LaneOutcome, Sighting, Signature
from leaks.queries.refs import PROVEN, shows_absence
from leaks.rows.leak_pages import Amount
from leaks.rows.signature_parts import ControlRow
from leaks.words import Verdict

SENTENCES = {
    "same": "it was on the parent as well, byte for byte.",
    "other": "it was on the parent as well, with other bytes or counts.",
    "absent": "the parent does not show it, and would have.",
    "unknown": "the run on the parent proves nothing about it.",
    "no_run": "no run of this lane on the parent is known: to run it there is the control run.",
    "no_parent": "its parent is not known.",
    "not_seen": "No run that counts shows it.",
}
EDGES = ("first_seen", "last_seen")
COLUMNS = ("pk", "public_id", "verdict", "leaked_bytes", "tests_complete")
SUMS = {"bytes": "leaked_bytes", "objects": "leaked_objects", "count": "count"}
SAYS_SOMETHING = ("same", "other", "absent", "unknown")


def with_control(signatures: QuerySet[Signature]) -> QuerySet[Signature]:
    """Adds for both edges `…_parent`, `…_control_…` of the run there, and the sums of `…_after_…` and `…_before_…`."""
    for edge in EDGES:
        signatures = signatures.annotate(**{f"{edge}_parent": KeyTextTransform("0", f"{edge}__run__commit__parents")})
        signatures = signatures.annotate(
            **{f"{edge}_control_{column}": _control(edge, column) for column in COLUMNS},
            **{f"{edge}_after_{name}": _sum(edge, column) for name, column in SUMS.items()},
        )
        signatures = signatures.annotate(
            **{f"{edge}_before_{name}": _sum(f"{edge}_control_pk", column) for name, column in SUMS.items()}
        )
    return signatures


def _control(edge: str, column: str) -> Subquery:
    runs = LaneOutcome.objects.filter(
        lane=OuterRef(f"{edge}__lane"), run__commit__sha=OuterRef(f"{edge}_parent"), withdrawn_at=None
    )
    proven = Case(When(verdict__in=PROVEN, then=Value(0)), default=Value(1), output_field=IntegerField())
    return Subquery(runs.order_by(proven, "-happened_at", "-public_id").values(column)[:1])


def _sum(outcome: str, column: str) -> Subquery:
    shown = Sighting.objects.filter(key__signature=OuterRef("pk"), outcome=OuterRef(outcome)).order_by()
    return Subquery(shown.values("outcome").annotate(sum=Sum(column)).values("sum"))


def control_row(one: Any) -> ControlRow:
    """Of a signature that `with_control` read."""
    if one.first_seen is None:
        return ControlRow("not_seen", SENTENCES["not_seen"])
    rows = [_row(one, edge) for edge in EDGES]
    return next((row for row in rows if row.answer in SAYS_SOMETHING), rows[0])


def _row(one: Any, edge: str) -> ControlRow:
    answer, run = _answer(one, edge), getattr(one, edge)
    before = [getattr(one, f"{edge}_before_{name}") for name in SUMS]
    return ControlRow(
        answer=answer,
        sentence=SENTENCES[answer],
        head=run.public_id,
        sha=run.run.commit.sha,
        parent=getattr(one, f"{edge}_parent") or "",
        outcome=getattr(one, f"{edge}_control_public_id") or "",
        amount=Amount(*before) if before[-1] else None,
    )


def _answer(one: Any, edge: str) -> str:
    if not getattr(one, f"{edge}_parent"):
        return "no_parent"
    if getattr(one, f"{edge}_control_pk") is None:
        return "no_run"
    before, after = ([getattr(one, f"{edge}_{side}_{name}") for name in SUMS] for side in ("before", "after"))
    if before[-1]:
        return "same" if before == after else "other"
    run = LaneOutcome(
        verdict=Verdict(getattr(one, f"{edge}_control_verdict")),
        leaked_bytes=getattr(one, f"{edge}_control_leaked_bytes"),
        tests_complete=getattr(one, f"{edge}_control_tests_complete"),
    )
    return "absent" if shows_absence(one.family, run) else "unknown"
