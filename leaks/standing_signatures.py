"""When a signature was first and last seen, how often, what it is called, whose it is and what became of it: from its sightings, never
incremented.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max, Min, QuerySet

from leaks import marks
from leaks.models import (
    Decision,
    Frame,
    KeyMove,
    LaneOutcome,
    Project,
    Report,
    ReportMove,
    Sighting,
    Signature,
    SignatureKey,
)
from leaks.ownership import in_repository, read_code_owners, words
from leaks.standing_life import no_life, set_lives
from leaks.standing_sums import rebuild_sums
from leaks.standing_texts import STACKS_READ, frames_of, matchable, search_text, seen_lines, tools_and_tests
from leaks.wide_joins import wide_joins
from leaks.words import SignatureState

# Outcomes of one moment are told apart by what they are, never by their row ids: those follow the order of arrival.
ORDER = ("outcome__happened_at", "outcome__run__external_id", "outcome__run__attempt", "outcome__public_id")
WITHIN = ("log__part__name", "log__name", "first_line", "kind", "stack__hash")
FIGURES = (
    "title", "kind", "own", "own_frame", "first_seen", "last_seen", "first_seen_at", "last_seen_at",
    "seen_outcomes", "seen_commits", "last_bytes", "last_objects", "last_count", "code_owners", "search_text",
    "seen_with", "life", "life_since", "life_proof",
)  # fmt: skip


class Seen(NamedTuple):
    """A sighting, as far as it matters here."""

    signature: int
    key: int
    outcome: int
    log: int
    stack: int
    title: str
    kind: str
    leaked_bytes: int | None
    leaked_objects: int | None
    times: int


COLUMNS = ("key__signature_id", "key_id", "outcome_id", "log_id", "stack_id", "title", "kind", "leaked_bytes",
           "leaked_objects", "count")  # fmt: skip


class Edges(NamedTuple):
    """The sightings of a signature in the first and in the last outcome that show it, in the order of their logs."""

    first: list[Seen]
    last: list[Seen]


@transaction.atomic
def rebuild_signatures(ids: Iterable[int]) -> None:
    """Derive the shown columns of these signatures anew, some dozen queries however many they are."""
    rows = list(Signature.objects.select_for_update(no_key=True).filter(pk__in=sorted(ids)).order_by("pk"))
    with wide_joins(known := sum(row.seen_outcomes for row in rows)):
        counted = _counted(rows)
    edges = _edges(counted)
    frames = _own_frames(edges)
    moved = set()
    for row in rows:
        if row.pk in counted:
            moved |= _apply(row, counted[row.pk], edges[row.pk], frames)
    shown = [row for row in rows if row.pk in counted]
    with wide_joins(known):
        rebuild_sums([row.pk for row in rows])
    _describe(shown, edges)  # out of the sums, among others
    _save(shown)
    _forget([row for row in rows if row.pk not in counted])
    marks.mark(_standing_of(moved))


def _counted(rows: list[Signature]) -> dict[int, Mapping[str, Any]]:
    seen = _sightings(rows).values("key__signature_id").order_by()
    figures = seen.annotate(
        first=Min("outcome__happened_at"),
        last=Max("outcome__happened_at"),
        outcomes=Count("outcome", distinct=True),
        commits=Count("outcome__run__commit", distinct=True),
    )
    return {figure["key__signature_id"]: figure for figure in figures}


def _sightings(rows: Iterable[Signature | int]) -> QuerySet[Sighting]:
    return Sighting.objects.filter(key__signature__in=list(rows), outcome__withdrawn_at=None)


def _edges(counted: dict[int, Mapping[str, Any]]) -> dict[int, Edges]:
    moments = {moment for figure in counted.values() for moment in (figure["first"], figure["last"])}
    at_edges = _sightings(counted).filter(outcome__happened_at__in=moments).order_by(*ORDER, *WITHIN)
    by_signature: dict[int, list[Seen]] = defaultdict(list)
    for seen in map(Seen._make, at_edges.values_list(*COLUMNS)):
        by_signature[seen.signature].append(seen)
    return {pk: _cut(ordered) for pk, ordered in by_signature.items()}


def _cut(ordered: list[Seen]) -> Edges:
    first, last = ordered[0].outcome, ordered[-1].outcome
    return Edges([one for one in ordered if one.outcome == first], [one for one in ordered if one.outcome == last])


def _own_frames(edges: dict[int, Edges]) -> dict[tuple[int, int, int], int | None]:
    """(log, key, stack) → own frame of its first report, for the latest sighting of each signature."""
    latest = [edge.last[0] for edge in edges.values()]
    reports = Report.objects.filter(log__in={one.log for one in latest}, key__in={one.key for one in latest})
    rows = reports.order_by("log_id", "-ordinal").values_list("log_id", "key_id", "stack_id", "own_frame_id")
    return {(log, key, stack): frame for log, key, stack, frame in rows}


def _apply(
    row: Signature, figure: Mapping[str, Any], edge: Edges, frames: dict[tuple[int, int, int], int | None]
) -> set[int]:
    """Set the columns; ids of the outcomes to which the signature is new, or no longer new."""
    first, latest = edge.first[0], edge.last[0]
    was = row.first_seen_id
    row.title, row.kind = first.title, first.kind
    row.own_frame_id = frames.get((latest.log, latest.key, latest.stack))
    row.own = row.own_frame_id is not None
    row.first_seen_id, row.first_seen_at = first.outcome, figure["first"]
    row.last_seen_id, row.last_seen_at = latest.outcome, figure["last"]
    row.seen_outcomes, row.seen_commits = figure["outcomes"], figure["commits"]
    row.last_bytes = _sum(one.leaked_bytes for one in edge.last)
    row.last_objects = _sum(one.leaked_objects for one in edge.last)
    row.last_count = sum(one.times for one in edge.last)
    return {pk for pk in (was, first.outcome) if pk is not None} if was != first.outcome else set()


def _describe(rows: list[Signature], edges: dict[int, Edges]) -> None:
    """Owners, the texts for searches, and the life, which asks whether a rule matches the stacks."""
    stacks = {row.pk: list(dict.fromkeys(one.stack for one in edges[row.pk].last))[:STACKS_READ] for row in rows}
    frames = frames_of(stack for some in stacks.values() for stack in some)
    own = Frame.objects.in_bulk({row.own_frame_id for row in rows if row.own_frame_id})
    projects = Project.objects.in_bulk({row.project_id for row in rows})
    told = tools_and_tests(row.pk for row in rows)
    for row in rows:
        frame = own.get(row.own_frame_id or 0)
        row.code_owners = _owners(projects[row.project_id], frame)
        row.search_text = search_text(row, frame, frames[stacks[row.pk][0]])
        row.seen_with = seen_lines(frame, frames[stacks[row.pk][0]], told[row.pk])
    set_lives(rows, {pk: [matchable(frames[stack]) for stack in some] for pk, some in stacks.items()})


def _owners(project: Project, own: Frame | None) -> str:
    if own is None or not project.codeowners:
        return ""
    return words(read_code_owners(project.codeowners).owners_of(in_repository(own.file, project.own_roots)))


def _save(rows: list[Signature]) -> None:
    """All rows in one statement: they are there and locked, so each one is a conflict and only its figures change."""
    Signature.objects.bulk_create(rows, update_conflicts=True, unique_fields=["id"], update_fields=FIGURES)


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _standing_of(outcome_ids: set[int]) -> list[marks.Place]:
    outcomes = LaneOutcome.objects.filter(pk__in=outcome_ids)
    return [marks.commit_lane(*pair) for pair in outcomes.values_list("run__commit_id", "lane_id")]


# --- Signatures that nothing shows any more --------------------------------------------------------------------------


def _forget(rows: list[Signature]) -> None:
    """Remove those nobody took up, as if their log had never come; the others stay, seen nowhere.

    A worker that is about to write a sighting of such a key loses: the database refuses one of the two, and that one is
    done again.
    """
    for row in rows:
        if _is_untouched(row):
            SignatureKey.objects.filter(signature=row).delete()
            row.delete()
        else:
            Signature.objects.filter(pk=row.pk).update(**_nothing())


def _is_untouched(row: Signature) -> bool:
    taken_up = row.owner_id or row.issue_url or row.merged_into_id or row.state != SignatureState.UNTRIAGED
    return not (
        taken_up
        or Sighting.objects.filter(key__signature=row).exists()
        or Report.objects.filter(key__signature=row).exists()
        or row.merged.exists()
        or row.duplicates.exists()
        or _is_held(row)
        or Decision.objects.filter(project_id=row.project_id, subject=row.public_id).exists()
    )


def _is_held(row: Signature) -> bool:
    """The last re-sign may have to give it its reports or keys back."""
    kept = ReportMove.objects.filter(before__signature=row)
    return kept.exists() or KeyMove.objects.filter(before=row).exists()


def _nothing() -> dict[str, Any]:
    empty = dict.fromkeys(
        ("first_seen", "last_seen", "first_seen_at", "last_seen_at", "last_bytes", "last_objects"), None
    )
    return {**empty, **no_life(), "seen_outcomes": 0, "seen_commits": 0, "last_count": 0}
