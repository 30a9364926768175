"""The cast of the page tests: one project whose lane ended in every way that a page must tell apart.

Rows are written as a digest would leave them. Everything happens before `NOW`; tests travel there, so that "today" and
"five hours ago" mean the same at midnight.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from leaks import models
from leaks.words import LogState, MemberRole, Reason, SignatureState, Verdict

NOW = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)


def sha_of(name: str) -> str:
    """A commit hash that stays the same for the same name."""
    return hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()


def make_project(slug: str = "engine", **fields: Any) -> models.Project:
    values = {"name": slug.capitalize(), "own_roots": ["src/"], "plumbing": ["engine::Pool::Get"], **fields}
    return models.Project.objects.create(slug=slug, **values)


def make_user(name: str, project: models.Project | None = None, role: MemberRole = MemberRole.VIEWER) -> User:
    # Without a password, since hashing one takes longer than the test: use the client's force_login.
    user = User.objects.create_user(name)
    if project is not None:
        models.Membership.objects.create(project=project, user=user, role=role)
    return user


def make_commit(project: models.Project, name: str, at: datetime, branch: str = "main") -> models.Commit:
    sha = sha_of(name)
    commit, made = models.Commit.objects.get_or_create(
        project=project, sha=sha, defaults={"title": name, "committed_at": at, "ordered_at": at}
    )
    if made:
        models.CommitPlace.objects.create(commit=commit, branch=branch)
    return commit


def make_outcome(
    lane: models.Lane, commit: models.Commit, at: datetime, verdict: Verdict, branch: str = "main", **fields: Any
) -> models.LaneOutcome:
    """An outcome with its run and its only part; folded into the commit's verdict as its last attempt."""
    number = models.Run.objects.filter(project=lane.project).count() + 1101
    run = models.Run.objects.create(
        project=lane.project,
        commit=commit,
        provider="github",
        external_id=str(number),
        branch=branch,
        event="push",
        url=f"https://ci.example/runs/{number}",
        started_at=at,
        finished_at=at + timedelta(minutes=40),
    )
    values: dict[str, Any] = {"reason": "", "rule": verdict.value, "ended": True, "digested_at": at, **fields}
    public_id = "o" + sha_of(f"{lane.project.slug} {lane.name} {number}")[:12]
    outcome = models.LaneOutcome.objects.create(
        public_id=public_id, run=run, lane=lane, happened_at=at, started_at=at, verdict=verdict, **values
    )
    models.Part.objects.create(outcome=outcome, exit_code=values.get("exit_code"), conclusion=values.get("conclusion"))
    _fold(outcome)
    return outcome


def _fold(outcome: models.LaneOutcome) -> None:
    values = {"verdict": outcome.verdict, "reason": outcome.reason, "outcome": outcome}
    row, _ = models.CommitLane.objects.update_or_create(commit=outcome.run.commit, lane=outcome.lane, defaults=values)
    models.CommitLane.objects.filter(pk=row.pk).update(attempts=row.attempts + 1)


def make_log(outcome: models.LaneOutcome, name: str = "lane.log", state: LogState = LogState.DIGESTED) -> models.Log:
    content = f"{outcome.public_id} {name}"
    blob = models.Blob.objects.create(sha256=hashlib.sha256(content.encode()).hexdigest(), bytes=90, stored_bytes=60)
    error = "This file is a picture." if state == LogState.REFUSED else ""
    public_id = "l" + sha_of(content)[:12]
    part = outcome.parts.get()
    return models.Log.objects.create(public_id=public_id, part=part, name=name, blob=blob, state=state, error=error)


def make_signature(outcome: models.LaneOutcome, title: str, leaked: int, number: int) -> models.Signature:
    """A leak of our own, seen in one outcome."""
    project = outcome.lane.project
    frame = _frame(title)
    signature = models.Signature.objects.create(
        project=project,
        public_id=f"LKS-{sha_of(title)[:4].upper()}{number}",
        title=title,
        family="leak",
        kind="direct-leak",
        own=True,
        own_frame=frame,
        state=SignatureState.UNTRIAGED,
        first_seen=outcome,
        last_seen=outcome,
        first_seen_at=outcome.happened_at,
        last_seen_at=outcome.happened_at,
        seen_outcomes=1,
        seen_commits=1,
        last_bytes=leaked,
        last_objects=number,
        last_count=1,
    )
    key = models.SignatureKey.objects.create(
        project=project, recipe="v1", hash=sha_of(title), signature=signature, text=title
    )
    _see(outcome, key, frame, leaked, number)
    return signature


def _frame(title: str) -> models.Frame:
    text = f"in {title} src/pool.cpp:42"
    values = {"text": text, "function": title, "file": "src/pool.cpp", "line": 42}
    return models.Frame.objects.get_or_create(hash=sha_of(text), defaults=values)[0]


def _see(outcome: models.LaneOutcome, key: models.SignatureKey, frame: models.Frame, leaked: int, number: int) -> None:
    stack, made = models.Stack.objects.get_or_create(hash=sha_of(frame.hash))
    if made:
        models.StackFrame.objects.create(stack=stack, position=0, frame=frame)
    log = models.Log.objects.filter(part__outcome=outcome).first() or make_log(outcome)
    leak: dict[str, Any] = {"kind": "direct-leak", "leaked_bytes": leaked, "leaked_objects": number, "tool": "asan"}
    models.Sighting.objects.create(outcome=outcome, log=log, key=key, stack=stack, first_line=12, **leak)
    models.Report.objects.create(
        log=log, key=key, stack=stack, line=12, ordinal=log.reports.count(), own=True, own_frame=frame, **leak
    )


def roll_up(project: models.Project) -> None:
    """Rebuild the counts per lane and day from the outcomes that stand."""
    models.LaneDay.objects.filter(lane__project=project).delete()
    standing = models.LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None)
    by_day: dict[tuple[models.Lane, date], list[models.LaneOutcome]] = {}
    for outcome in standing.select_related("run", "lane").order_by("happened_at"):
        by_day.setdefault((outcome.lane, outcome.happened_at.date()), []).append(outcome)
    for (lane, day), outcomes in by_day.items():
        models.LaneDay.objects.create(lane=lane, day=day, outcomes=len(outcomes), **_counts(project, outcomes))


def _counts(project: models.Project, outcomes: list[models.LaneOutcome]) -> dict[str, Any]:
    proved = [
        outcome
        for outcome in outcomes
        if outcome.verdict in {Verdict.CLEAN, Verdict.FINDINGS} and outcome.run.branch == project.default_branch
    ]
    last = proved[-1] if proved else None
    return {
        "verdicts": Counter(outcome.verdict for outcome in outcomes),
        "reasons": Counter(outcome.reason for outcome in outcomes if outcome.reason),
        "claimed": Counter(outcome.effective_claim for outcome in outcomes),
        "leaked_bytes": last.leaked_bytes if last else None,
        "leaked_objects": last.leaked_objects if last else None,
        "signatures": last.sightings.values("key__signature").distinct().count() if last else None,
    }


@dataclass
class Cast:
    """The outcomes of the lane `asan-ubsan`, each on a commit of its own, in this order. The last three prove nothing."""

    project: models.Project
    lane: models.Lane
    green: models.LaneOutcome
    red: models.LaneOutcome
    cancelled: models.LaneOutcome
    truncated: models.LaneOutcome
    blinded: models.LaneOutcome
    signature: models.Signature
    people: dict[str, User] = field(default_factory=dict)


LEAK = {
    "leaked_bytes": 91_456,
    "leaked_objects": 50,
    "summary_bytes": 91_456,
    "summary_objects": 50,
    "reconciled": True,
    "reports": 50,
    "own_bytes": 65_536,
    "own_objects": 1,
    "own_reports": 3,
}
TESTS = {"runner": "doctest", "tests_total": 57, "tests_passed": 57, "tests_failed": 0, "tests_complete": True}


def make_cast(slug: str = "engine", **project_fields: Any) -> Cast:
    """Everything at once. People: `admin`, `triager`, and `outsider`, who is no member."""
    project = make_project(slug, **{"public": True, **project_fields})
    lane = models.Lane.objects.create(project=project, name="asan-ubsan", aliases=["address,undefined"])
    models.LaneExpectation.objects.create(
        lane=lane, detectors=["address", "leak"], owed_branch="main", valid_from=NOW - timedelta(days=30)
    )
    red = _end(lane, "red", 30, Verdict.FINDINGS, conclusion="failure", exit_code=1, **LEAK, **TESTS)
    cast = Cast(
        project=project,
        lane=lane,
        green=_end(lane, "green", 54, Verdict.CLEAN, conclusion="success", exit_code=0, **TESTS),
        red=red,
        cancelled=_end(
            lane,
            "cancelled",
            5,
            Verdict.NO_VERDICT,
            reason=Reason.CANCELLED_BEFORE_TESTS,
            conclusion="failure",
            build_percent=31,
            phase="build",
            flags=["ci_contradicts_run"],
        ),
        truncated=_end(
            lane, "truncated", 4, Verdict.NO_VERDICT, reason=Reason.TRUNCATED_LOG, conclusion="success", exit_code=0
        ),
        blinded=_end(lane, "blinded", 3, Verdict.BLINDED, conclusion="success", exit_code=0, **TESTS),
        signature=make_signature(red, "engine::RopeCache::Build", 65_536, 1),
    )
    cast.people = {
        "admin": make_user(f"{slug}-admin", project, MemberRole.ADMIN),
        "triager": make_user(f"{slug}-triager", project, MemberRole.TRIAGER),
        "outsider": make_user(f"{slug}-outsider"),
    }
    roll_up(project)
    return cast


def _end(lane: models.Lane, name: str, hours_ago: int, verdict: Verdict, **fields: Any) -> models.LaneOutcome:
    at = NOW - timedelta(hours=hours_ago)
    return make_outcome(lane, make_commit(lane.project, name, at), at, verdict, **fields)
