"""Lanes, commits, runs and outcomes of a large project: what ran when, and how it ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from itertools import islice
from random import Random
from typing import NamedTuple

from leaks.models import Commit, CommitPlace, Lane, LaneExpectation, LaneOutcome, Log, Project, Run
from leaks.words import Reason, Verdict
from workers.scale.bulk import Row, ids, write
from workers.scale.plan import LANES, Scale

SINCE = datetime(2020, 1, 1, tzinfo=UTC)
# Verdict, reason, exit code, what the CI said, share in percent.
ENDS = (
    (Verdict.FINDINGS, "", 1, "failure", 62),
    (Verdict.CLEAN, "", 0, "success", 14),
    (Verdict.NO_VERDICT, Reason.CANCELLED_BEFORE_TESTS, None, "cancelled", 10),
    (Verdict.NO_VERDICT, Reason.TIMED_OUT, None, "timed_out", 4),
    (Verdict.BLINDED, "", 0, "success", 3),
    (Verdict.TEST_FAILURE, "", 8, "failure", 4),
    (Verdict.BUILD_FAILURE, "", 2, "failure", 3),
)


class Ended(NamedTuple):
    """An outcome as it is planned. `commit` is a place in the row of commits, oldest first; `run` and `log` are row ids."""

    pk: int
    log: int
    lane: int
    commit: int
    run: int
    at: datetime
    verdict: Verdict
    reason: str
    exit_code: int | None
    conclusion: str


@dataclass
class History:
    """What the findings are hung on."""

    project: Project
    lanes: dict[str, int]
    commits: list[int] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    outcomes: list[Ended] = field(default_factory=list)

    def shown_by(self, lanes: Sequence[str]) -> list[int]:
        """Places in `outcomes` with findings in one of these lanes, oldest first."""
        wanted = {self.lanes[lane] for lane in lanes}
        placed = enumerate(self.outcomes)
        return [place for place, one in placed if one.verdict is Verdict.FINDINGS and one.lane in wanted]


def plan_history(random: Random, project: Project, scale: Scale, now: datetime) -> History:
    """Each commit has one run, and each run all lanes."""
    history = History(project, _lanes(project))
    number = -(-scale.outcomes // len(history.lanes))
    step = timedelta(days=scale.days) / number
    history.times = [now - step * (number - place) for place in range(number)]
    history.commits = list(islice(ids(Commit), number))
    history.runs = list(islice(ids(Run), number))
    history.outcomes = list(islice(_outcomes(random, history), scale.outcomes))
    return history


def write_history(history: History) -> None:
    """Commits and runs; outcomes wait until it is known what they leak."""
    places = range(len(history.commits))
    write(Commit, (_commit(history, place) for place in places))
    write(CommitPlace, (_place(history, place) for place in places))
    write(Run, (_run(history, place) for place in places))


def sha_of(*parts: object) -> str:
    return sha1(" ".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def _lanes(project: Project) -> dict[str, int]:
    made = {}
    for name, detectors in LANES.items():
        lane = Lane.objects.create(project=project, name=name)
        owed = {"detectors": list(detectors), "owed_branch": project.default_branch}
        LaneExpectation.objects.create(lane=lane, valid_from=SINCE, **owed)
        made[name] = lane.pk
    return made


def _outcomes(random: Random, history: History) -> Iterator[Ended]:
    keys, logs = ids(LaneOutcome), ids(Log)
    shares = [end[-1] for end in ENDS]
    for place, at in enumerate(history.times):
        starts = sorted(random.randrange(300) for _ in history.lanes)
        for lane, seconds in zip(history.lanes.values(), starts, strict=True):
            verdict, reason, code, said, _ = random.choices(ENDS, shares)[0]
            run, started = history.runs[place], at + timedelta(seconds=seconds)
            yield Ended(next(keys), next(logs), lane, place, run, started, verdict, reason, code, said)


def _commit(history: History, place: int) -> Row:
    slug = history.project.slug
    return {
        "id": history.commits[place],
        "project_id": history.project.pk,
        "sha": sha_of(slug, place),
        "parents": [sha_of(slug, place - 1)] if place else [],
        "title": f"Change {place}",
        "committed_at": history.times[place],
        "ordered_at": history.times[place],
    }


def _place(history: History, place: int) -> Row:
    branch = history.project.default_branch
    return {"commit_id": history.commits[place], "branch": branch, "position": place}


def _run(history: History, place: int) -> Row:
    at = history.times[place]
    return {
        "id": history.runs[place],
        "project_id": history.project.pk,
        "commit_id": history.commits[place],
        "provider": "github",
        "external_id": str(place + 1),
        "branch": history.project.default_branch,
        "event": "push",
        "workflow": "sanitizers",
        "jobs_seen": True,
        "started_at": at,
        "finished_at": at + timedelta(minutes=50),
    }
