"""Was it there before? The run of the same lane on the parent of the commit that showed a signature first, else last.

The parents are known by their hashes once the signature is read, so that the index of the hashes finds their runs; they are
read by the query that reads the history.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from django.db.models import QuerySet

from leaks.models import LaneOutcome, Signature
from leaks.queries.refs import PROVEN, shows_absence
from leaks.rows.leak_pages import Amount
from leaks.rows.signature_parts import ControlRow

SENTENCES = {
    "same": "it was on the parent as well, byte for byte.",
    "other": "it was on the parent as well, with other bytes or counts.",
    "absent": "the parent does not show it, and would have.",
    "hidden": "the run on the parent used a suppression that matches it: whether it was there is not known.",
    "unknown": "the run on the parent proves nothing about it.",
    "no_run": "no run of this lane on the parent is known: to run it there is the control run.",
    "no_parent": "its parent is not known.",
    "not_seen": "No run that counts shows it.",
}
RUNS_READ = 200
SAYS_SOMETHING = ("same", "other", "absent", "hidden", "unknown")

Amounts = Mapping[int, Amount]  # of the signature, by outcome


class Edge(NamedTuple):
    """Where it was seen first or last, and the run that it is held against, if there is one."""

    run: LaneOutcome
    parent: str
    control: LaneOutcome | None


def to_read(one: Signature) -> tuple[QuerySet[LaneOutcome], ...]:
    """The outcomes whose amounts `control_row` needs: those where it was seen first and last, and the runs on their parents."""
    shown = _shown(one)
    parents = {_parent(run) for run in shown} - {""}
    on_parents = LaneOutcome.objects.filter(
        run__commit__project=one.project_id,
        run__commit__sha__in=parents,
        lane__in={run.lane_id for run in shown},
        withdrawn_at=None,
    )
    both = LaneOutcome.objects.filter(pk__in={run.pk for run in shown})
    return both, LaneOutcome.objects.filter(pk__in=on_parents.order_by("-happened_at").values("pk")[:RUNS_READ])


def edges_of(one: Signature, runs: Iterable[LaneOutcome]) -> tuple[Edge, ...]:
    """First and last. `runs`: those `to_read`, and any others."""
    best: dict[tuple[int, str], LaneOutcome] = {}
    for run in sorted(runs, key=lambda run: (run.verdict in PROVEN, run.happened_at, run.public_id)):
        best[run.lane_id, run.run.commit.sha] = run
    return tuple(Edge(run, _parent(run), best.get((run.lane_id, _parent(run)))) for run in _shown(one))


def _shown(one: Signature) -> list[LaneOutcome]:
    return [run for run in (one.first_seen, one.last_seen) if run is not None]


def _parent(run: LaneOutcome) -> str:
    return next(iter(run.run.commit.parents), "")


def control_row(one: Signature, edges: tuple[Edge, ...], amounts: Amounts, hidden: Collection[int] = ()) -> ControlRow:
    """`hidden`: outcomes that a suppression may keep from showing it."""
    if not edges:
        return ControlRow("not_seen", SENTENCES["not_seen"])
    rows = [_row(one, edge, amounts, hidden) for edge in edges]
    return next((row for row in rows if row.answer in SAYS_SOMETHING), rows[0])


def _row(one: Signature, edge: Edge, amounts: Amounts, hidden: Collection[int]) -> ControlRow:
    answer, control = _answer(one, edge, amounts, hidden), edge.control
    return ControlRow(
        answer=answer,
        sentence=SENTENCES[answer],
        head=edge.run.public_id,
        sha=edge.run.run.commit.sha,
        parent=edge.parent,
        outcome=control.public_id if control else "",
        amount=amounts.get(control.pk) if control else None,
    )


def _answer(one: Signature, edge: Edge, amounts: Amounts, hidden: Collection[int]) -> str:
    if not edge.parent:
        return "no_parent"
    if edge.control is None:
        return "no_run"
    before = amounts.get(edge.control.pk)
    if before:
        return "same" if before == amounts.get(edge.run.pk) else "other"
    if edge.control.pk in hidden:
        return "hidden"
    return "absent" if shows_absence(one.family, edge.control) else "unknown"
