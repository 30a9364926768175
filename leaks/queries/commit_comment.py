"""What a comment under a pull request says of a commit: each lane's verdict, and what it shows that the default branch does not.

The base is not the parent: that may be a commit of the same pull request, and what it brought in would pass for old.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from leaks.models import Commit, LaneExpectation, LaneOutcome, Log, Project, StaleMark
from leaks.queries import commits
from leaks.queries.ancestors import ancestors
from leaks.queries.compare import compared
from leaks.queries.refs import PROVEN, REF_NEEDS, outcome_ref
from leaks.rows.comment import CommentLane, CommitComment
from leaks.rows.run_pages import LaneFold
from leaks.words import LogState

LANES = 20
WAITING = (LogState.RECEIVED, LogState.READING)


class Base(NamedTuple):
    outcome: LaneOutcome
    chosen_by: str  # merge_base, ancestor, latest_proved


def commit_comment(project: Project, commit: Commit, merge_base: str = "") -> CommitComment:
    page = commits.commit_page(project, commit)
    shown = page.lanes[:LANES]
    heads = _heads(shown)
    bases = _bases(project, commit, list(heads.values()), merge_base)
    unread = _unread(heads.values())
    return CommitComment(
        project=project.slug,
        name=project.name,
        branch=project.default_branch,
        sha=page.sha,
        verdict=page.verdict,
        reason=page.reason,
        why=page.why,
        lanes=tuple(_lane(fold, heads, bases, unread) for fold in shown),
        more_lanes=len(page.lanes) - len(shown),
        planted=_planted(project),
    )


def _heads(folds: Iterable[LaneFold]) -> dict[str, LaneOutcome]:
    """Public id -> the attempt that decides."""
    ids = [attempt.ref.public_id for fold in folds for attempt in fold.attempts if attempt.decides]
    rows = LaneOutcome.objects.filter(public_id__in=ids).select_related(*REF_NEEDS)
    return {row.public_id: row for row in rows}


def _lane(
    fold: LaneFold, heads: Mapping[str, LaneOutcome], bases: Mapping[int, Base], unread: frozenset[int]
) -> CommentLane:
    decides = next((attempt for attempt in fold.attempts if attempt.decides), None)
    head = heads.get(decides.ref.public_id) if decides else None
    if head is None:
        return CommentLane(fold, decides)
    waits, base = head.pk in unread, bases.get(head.lane_id)
    if base is None or waits:
        return CommentLane(fold, decides, waits)
    return CommentLane(fold, decides, waits, outcome_ref(base.outcome), base.chosen_by, compared(base.outcome, head))


def _unread(heads: Iterable[LaneOutcome]) -> frozenset[int]:
    ids = [head.pk for head in heads]
    waiting = Log.objects.filter(part__outcome__in=ids, current=True, state__in=WAITING)
    marked = StaleMark.objects.filter(kind=StaleMark.Kind.OUTCOME, subject__in=[str(pk) for pk in ids])
    return frozenset(
        {*waiting.values_list("part__outcome_id", flat=True), *map(int, marked.values_list("subject", flat=True))}
    )


def _planted(project: Project) -> frozenset[str]:
    expected = LaneExpectation.objects.filter(lane__project=project).exclude(canary="")
    return frozenset(expected.values_list("canary", flat=True))


# --- The base --------------------------------------------------------------------------------------------------------


def _bases(project: Project, commit: Commit, heads: Sequence[LaneOutcome], merge_base: str) -> dict[int, Base]:
    """Lane -> the merge base that was named, else the nearest ancestor on the default branch, else its latest proved run."""
    named = commits.find(project, merge_base.lower()) if merge_base else None
    line = [named.sha] if named else []
    line += ancestors(commit)
    lanes = [head.lane_id for head in heads]
    proved = LaneOutcome.objects.filter(
        lane__in=lanes, withdrawn_at=None, verdict__in=PROVEN, run__commit__sha__in=line
    )
    # Of several attempts on one commit the later one stands last, and so stays.
    rows = {
        (row.lane_id, row.run.commit.sha): row
        for row in proved.select_related(*REF_NEEDS).order_by("happened_at", "pk")
        if row.run.commit.sha == (named and named.sha) or _is_of(project, row)
    }
    return {head.lane_id: base for head in heads if (base := _base(project, head, line, rows, named))}


def _is_of(project: Project, row: LaneOutcome) -> bool:
    """A pull request of a fork may call its branch like ours."""
    return row.run.branch == project.default_branch and row.run.pull_request is None


def _base(
    project: Project,
    head: LaneOutcome,
    line: Sequence[str],
    rows: Mapping[tuple[int, str], LaneOutcome],
    named: Commit | None,
) -> Base | None:
    found = next((rows[head.lane_id, sha] for sha in line if (head.lane_id, sha) in rows), None)
    if found is not None:
        return Base(found, "merge_base" if named and found.run.commit_id == named.pk else "ancestor")
    latest = LaneOutcome.objects.filter(
        lane=head.lane_id,
        withdrawn_at=None,
        verdict__in=PROVEN,
        run__branch=project.default_branch,
        run__pull_request=None,
        happened_at__lt=head.happened_at,
    ).exclude(run__commit=head.run.commit_id)
    row = latest.select_related(*REF_NEEDS).order_by("-happened_at", "-pk").first()
    return Base(row, "latest_proved") if row else None
