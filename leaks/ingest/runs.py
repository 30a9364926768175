"""The run, lane, outcome and part a submission speaks about. Called inside the caller's transaction."""

from collections.abc import Collection
from datetime import datetime
from typing import TypeVar

from leaks import marks
from leaks.errors import Conflict
from leaks.ingest import job_names, owed
from leaks.ingest.commits import commit_row, date_commit, link_parent, place_on_branch
from leaks.ingest.ids import outcome_id
from leaks.models import Commit, Lane, LaneOutcome, Part, Project, Run
from leaks.rows.intake import Submission
from leaks.words import ClaimSource

Row = TypeVar("Row", Run, Part)
EVENTS = frozenset({ClaimSource.JOB_EVENT, ClaimSource.RUN_EVENT, ClaimSource.BACK_FILL})


def part_row(project: Project, given: Submission, now: datetime) -> Part:
    """The part the submission is about, with all that it hangs on, made where it is new."""
    run = _run(project, given, _commit(project, given, now))
    return _part(_outcome(run, _lane(project, given.lane), given, now), given)


def _commit(project: Project, given: Submission, now: datetime) -> Commit:
    commit = commit_row(project, given.commit)
    date_commit(commit, given.started_at or now)
    commits = [commit, link_parent(commit, given.parent)] if given.parent else [commit]
    if given.branch:
        place_on_branch(commits, given.branch, pull_request=given.pull_request)
    return commit


def _run(project: Project, given: Submission, commit: Commit) -> Run:
    run, made = Run.objects.select_related("commit").get_or_create(
        project=project,
        provider=given.provider,
        external_id=given.run_id,
        attempt=given.attempt,
        defaults={"commit": commit, **_run_facts(given)},
    )
    if run.commit_id != commit.pk:
        _settle_commit(run, commit, given)
    return run if made else _completed(run, given)


def _settle_commit(run: Run, commit: Commit, given: Submission) -> None:
    """What a lane checked out outweighs what the provider names; two lanes of one run must agree."""
    if given.source in EVENTS and not run.commit_from_event:
        return
    if given.source in EVENTS or not run.commit_from_event:
        raise Conflict(f"Run {run} is known for commit {run.commit.sha}, not for {commit.sha}.")
    lanes = LaneOutcome.objects.filter(run=run).values_list("lane_id", flat=True)
    marks.mark(marks.commit_lane(pk, lane) for lane in lanes for pk in (run.commit_id, commit.pk))
    run.commit = commit
    _changed(run, {"commit_id": commit.pk, "commit_from_event": False})


def _run_facts(given: Submission) -> dict[str, object]:
    return {
        "branch": given.branch or "",
        "pull_request": given.pull_request,
        "event": given.event,
        "url": given.run_url,
        "started_at": given.started_at,
        "finished_at": given.finished_at,
        "jobs_seen": True,
        "commit_from_event": given.source in EVENTS,
    }


def _completed(run: Run, given: Submission) -> Run:
    """Add what earlier submissions did not say. Times only widen, so that the order of arrival does not matter."""
    facts = {name: value for name, value in _run_facts(given).items() if name != "commit_from_event"}
    changes = {name: value for name, value in facts.items() if value and not getattr(run, name)}
    if given.started_at and run.started_at and given.started_at < run.started_at:
        changes["started_at"] = given.started_at
    if given.finished_at and run.finished_at and given.finished_at > run.finished_at:
        changes["finished_at"] = given.finished_at
    if run.commit_from_event and given.source not in EVENTS:
        changes["commit_from_event"] = False
    _changed(run, changes)
    if "jobs_seen" in changes:
        owed.reconcile(run)
    return run


def moved_by(started_at: datetime | None, run_id: int, judged: Collection[int] = ()) -> list[marks.Place]:
    """What else a statement touches that says when the run began: attempts stand in the order of their runs' starts, so that the other
    lanes of the run are folded anew. `judged` are folded anyway; a later start than is known moves nothing.
    """
    if started_at is None:
        return []
    others = LaneOutcome.objects.filter(run=run_id, run__started_at=started_at).exclude(pk__in=judged)
    return [marks.commit_lane(*place) for place in others.values_list("run__commit_id", "lane_id")]


def _lane(project: Project, name: str) -> Lane:
    """The lane by its name, else by an alias, else a new one."""
    lanes = list(Lane.objects.filter(project=project))
    known = next((lane for lane in lanes if lane.name == name), None)
    known = known or next((lane for lane in lanes if name in lane.aliases), None)
    return known or _new_lane(project, name)


def _new_lane(project: Project, name: str) -> Lane:
    lane, made = Lane.objects.get_or_create(project=project, name=name)
    if made:
        job_names.lanes_changed(project)
    return lane


def _outcome(run: Run, lane: Lane, given: Submission, now: datetime) -> LaneOutcome:
    """`happened_at` is a first guess here; judging sets it from the merged claims."""
    name = outcome_id(given.project, given.provider, given.run_id, given.attempt, lane.name)
    defaults = {"public_id": name, "happened_at": given.started_at or now}
    return LaneOutcome.objects.get_or_create(run=run, lane=lane, defaults=defaults)[0]


def _part(outcome: LaneOutcome, given: Submission) -> Part:
    """The part, locked until the commit: two logs of one name must not both become its next revision."""
    part, made = Part.objects.select_for_update(no_key=True).get_or_create(
        outcome=outcome, name=given.part, defaults={"index": given.part_index, "of": given.part_of}
    )
    part.outcome = outcome
    return part if made else _changed(part, _numbers(part, given))


def _numbers(part: Part, given: Submission) -> dict[str, object]:
    """Where sources disagree the widest reading holds, in whatever order they came."""
    changes: dict[str, object] = {}
    if given.part_index and (part.index is None or given.part_index < part.index):
        changes["index"] = given.part_index
    if given.part_of and (part.of is None or given.part_of > part.of):
        changes["of"] = given.part_of
    return changes


def _changed(row: Row, changes: dict[str, object]) -> Row:
    for name, value in changes.items():
        setattr(row, name, value)
    if changes:
        row.save(update_fields=list(changes))
    return row
