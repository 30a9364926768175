"""Where commits stand on a branch: counted along first parents from the oldest that is known.

Commits of merged branches stand beside that line, and commits beyond a gap cannot be counted yet: both have no number.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.db.models import Q

from leaks.models import CommitPlace, Project

AT_ONCE = 500
NEVER = datetime.min.replace(tzinfo=UTC)


class Place(NamedTuple):
    pk: int
    commit: int
    position: int | None
    sha: str
    parent: str
    at: datetime


def number_commits(project: Project, branch: str, new: Sequence[int]) -> list[int]:
    """Number the branch after these commits were placed on it, or learnt their parents; the commits whose number changed."""
    if _append(branch, new):
        return list(new)
    rows = _places(project, branch)
    numbers = positions(rows)
    moved = [row for row in rows if row.position != numbers.get(row.sha)]
    changed = [CommitPlace(pk=row.pk, position=numbers.get(row.sha)) for row in moved]
    CommitPlace.objects.bulk_update(changed, ("position",), batch_size=AT_ONCE)
    return [row.commit for row in moved]


def _append(branch: str, new: Sequence[int]) -> bool:
    """The common push, one commit on top of the tip, moves nothing else."""
    fresh = list(CommitPlace.objects.filter(branch=branch, commit__in=new).select_related("commit")[:3])
    missing = [place for place in fresh if place.position is None]
    tips = [place for place in fresh if place.position is not None]
    if len(fresh) != 2 or len(missing) != 1 or missing[0].commit.parents[:1] != [tips[0].commit.sha]:
        return False
    commit = missing[0].commit
    others = CommitPlace.objects.filter(branch=branch, commit__project=commit.project_id)
    # Commits that wait beyond a gap, which this one may close.
    follows = Q(position=None, commit__parents__0=commit.sha)
    if commit.ordered_at is None or others.filter(Q(position__gt=tips[0].position) | follows).exists():
        return False
    CommitPlace.objects.filter(pk=missing[0].pk).update(position=(tips[0].position or 0) + 1)
    return True


def _places(project: Project, branch: str) -> list[Place]:
    rows = CommitPlace.objects.filter(branch=branch, commit__project=project)
    columns = ("pk", "commit_id", "position", "commit__sha", "commit__parents", "commit__ordered_at")
    return [
        Place(pk, commit, position, sha, parents[0] if parents else "", at or NEVER)
        for pk, commit, position, sha, parents, at in rows.values_list(*columns)
    ]


def positions(places: Sequence[Place]) -> Mapping[str, int]:
    """Sha → number on the line of first parents that the newest tip ends."""
    by_sha = {place.sha: place for place in places}
    followed = {place.parent for place in places}
    tips = [place for place in places if place.sha not in followed]
    line: list[str] = []
    walked: set[str] = set()
    place = max(tips, key=lambda one: (one.at, one.sha), default=None)
    while place is not None and place.sha not in walked:
        walked.add(place.sha)
        line.append(place.sha)
        place = by_sha.get(place.parent)
    return {sha: number for number, sha in enumerate(reversed(line), 1)}
