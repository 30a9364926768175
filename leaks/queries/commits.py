"""Every attempt of every lane on a commit, and what they come to together. Five queries.

The folding is done here again from the attempts themselves, so that the page and its rows cannot disagree.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from leaks import folding
from leaks.models import Commit, LaneExpectation, LaneOutcome, Project
from leaks.queries.attempts import attempt_of
from leaks.queries.explain import flag_rows, sentence_of
from leaks.queries.refs import PROVEN, REF_NEEDS, optional_ref, outcome_ref
from leaks.queries.witnesses import tests_of
from leaks.rows.folding import Folded
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import AttemptRow, CommitPage, LaneFold, OutcomeRef, ParentRef
from leaks.words import Flag

ATTEMPT_LIMIT = 300
SHORTEST_SHA = 7
RELATED = (
    *REF_NEEDS,
    "superseded_by__run__commit",
    "superseded_by__lane",
    "rerun_of__run__commit",
    "rerun_of__lane",
)


def find(project: Project, sha: str) -> Commit | None:
    """The commit of that hash, or the only one that begins so."""
    commits = Commit.objects.filter(project=project).prefetch_related("places")
    exact = commits.filter(sha=sha).first()
    if exact is not None or len(sha) < SHORTEST_SHA:
        return exact
    beginning = list(commits.filter(sha__startswith=sha)[:2])
    return beginning[0] if len(beginning) == 1 else None


def commit_page(project: Project, commit: Commit) -> CommitPage:
    outcomes = _outcomes(commit)
    branches = tuple(sorted(place.branch for place in commit.places.all()))
    owed = _owed(project, branches, commit.ordered_at)
    counted = {name: [one for one in found if one.withdrawn_at is None] for name, found in outcomes.items()}
    lanes = {name: folding.fold_attempts(map(attempt_of, found)) for name, found in counted.items()}
    lanes |= {name: folding.ABSENT for name in owed if name not in lanes}
    folded = folding.fold_lanes(lanes, owed)
    linked = _Linked.to([one for found in outcomes.values() for one in found])
    return CommitPage(
        sha=commit.sha,
        title=commit.title,
        committed_at=commit.committed_at,
        first_run_at=commit.ordered_at,
        branches=branches,
        parents=_parents(project, commit),
        verdict=folded.verdict.value if lanes else "",
        reason=_reason(folded) if lanes else "",
        why=_why(folded),
        lanes=tuple(_lane(name, lanes[name], outcomes.get(name, []), linked) for name in sorted(lanes)),
    )


def _outcomes(commit: Commit) -> dict[str, list[LaneOutcome]]:
    """The attempts by lane, the latest first."""
    found: dict[str, list[LaneOutcome]] = defaultdict(list)
    outcomes = LaneOutcome.objects.filter(run__commit=commit).select_related(*RELATED)
    ordered = outcomes.order_by("lane__name", F("run__started_at").desc(nulls_last=True), "-run__attempt", "-pk")
    for outcome in ordered[:ATTEMPT_LIMIT]:
        found[outcome.lane.name].append(outcome)
    return {name: sorted(some, key=_in_time, reverse=True) for name, some in found.items()}


def _in_time(outcome: LaneOutcome) -> Any:
    return folding.in_time(attempt_of(outcome))


def _owed(project: Project, branches: Sequence[str], at: datetime | None) -> tuple[str, ...]:
    """Lanes that a branch of the commit owed at its time."""
    expectations = LaneExpectation.objects.filter(
        lane__project=project, owed_branch__in=[name for name in branches if name]
    )
    if at is not None:
        expectations = expectations.filter(Q(valid_to=None) | Q(valid_to__gt=at), valid_from__lte=at)
    return tuple(expectations.values_list("lane__name", flat=True).distinct().order_by("lane__name"))


def _parents(project: Project, commit: Commit) -> tuple[ParentRef, ...]:
    known = set(Commit.objects.filter(project=project, sha__in=commit.parents).values_list("sha", flat=True))
    return tuple(ParentRef(sha, sha in known) for sha in commit.parents)


def _why(folded: Folded) -> str:
    """The lane that decided, and its sentence."""
    return f"{folded.decided_by}: {folded.sentence}" if folded.decided_by else folded.sentence


def _reason(folded: Folded) -> str:
    return folded.reason.value if folded.reason else ""


def _lane(name: str, folded: Folded, outcomes: Sequence[LaneOutcome], linked: "_Linked") -> LaneFold:
    flipped = [Flag.RERUN_FLIPPED.value] if folded.flips else []
    return LaneFold(
        lane=name,
        verdict=folded.verdict.value,
        reason=_reason(folded),
        why=folded.sentence,
        flags=flag_rows(flipped),
        attempts=tuple(_attempt(one, folded, linked) for one in outcomes),
        compare_head=_head(outcomes),
    )


def _head(outcomes: Sequence[LaneOutcome]) -> str:
    """The attempt to hold against the parent: the latest that proves something, else the latest."""
    counted = [one for one in outcomes if one.withdrawn_at is None and one.run.commit.parents]
    proven = [one for one in counted if one.verdict in PROVEN]
    return next((one.public_id for one in (*proven, *counted)), "")


def _attempt(one: LaneOutcome, folded: Folded, linked: "_Linked") -> AttemptRow:
    return AttemptRow(
        ref=outcome_ref(one),
        event=one.run.event,
        pull_request=one.run.pull_request,
        conclusion=one.conclusion,
        exit_code=one.exit_code,
        phase=one.phase,
        percent=one.build_percent,
        tests=tests_of(one),
        amount=Amount(one.leaked_bytes, one.leaked_objects, one.reports),
        flags=flag_rows([*one.flags, *one.standing_flags]),
        sentence=sentence_of(one.rule),
        decides=one.public_id == folded.decided_by,
        superseded_by=optional_ref(one.superseded_by),
        supersedes=linked.superseded.get(one.pk, ()),
        rerun_of=optional_ref(one.rerun_of),
        reruns=linked.reruns.get(one.pk, ()),
    )


@dataclass(frozen=True, slots=True)
class _Linked:
    """What points at the attempts of the page: outcomes they took the place of, and their reruns."""

    superseded: Mapping[int, tuple[OutcomeRef, ...]]
    reruns: Mapping[int, tuple[OutcomeRef, ...]]

    @classmethod
    def to(cls, outcomes: Sequence[LaneOutcome]) -> "_Linked":
        pointing = LaneOutcome.objects.filter(Q(superseded_by__in=outcomes) | Q(rerun_of__in=outcomes))
        found = list(pointing.select_related(*REF_NEEDS).order_by("happened_at", "pk"))
        return cls(
            superseded=_by_target((one.superseded_by_id, one) for one in found),
            reruns=_by_target((one.rerun_of_id, one) for one in found),
        )


def _by_target(pairs: Iterable[tuple[int | None, LaneOutcome]]) -> dict[int, tuple[OutcomeRef, ...]]:
    refs: dict[int, tuple[OutcomeRef, ...]] = {}
    for target, one in pairs:
        if target is not None:
            refs[target] = (*refs.get(target, ()), outcome_ref(one))
    return refs
