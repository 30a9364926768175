"""Commits that somebody told of: a push, a back-fill, a script. A handful of queries, however many they are.

Called inside the caller's transaction. In any order, the same rows: times and parents are facts of git, and where one source knows less
than another, what was known stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Length

from leaks import life_marks, marks
from leaks.errors import BadSubmission
from leaks.ingest.commits import FULL_SHA
from leaks.ingest.places import number_commits
from leaks.ingest.receive import open_project
from leaks.ingest.validation import NO_TEXT, YEARS
from leaks.models import Commit, CommitPlace, Project
from leaks.rows.events import EventCommit

SHAS_AT_ONCE = 500
WRITTEN = ("parents", "title", "committed_at", "ordered_at")
INSTANT = timedelta(microseconds=1)
MOST_COMMITS = 1000  # in one statement of a script
LONGEST_TITLE = 300


def tell_commits(project: str, told: Sequence[EventCommit]) -> int:
    """Commits out of git, told by somebody who has it; how many were new. BadSubmission leaves no row behind."""
    checked = [_checked(one) for one in told]
    with transaction.atomic():
        return take_commits(open_project(project), checked)


def _checked(one: EventCommit) -> EventCommit:
    if NO_TEXT.search(one.branch):
        raise BadSubmission("branch holds control characters, or is not UTF-8.", field="branch")
    if one.committed_at is not None and one.committed_at.year not in YEARS:
        raise BadSubmission(
            f"committed_at lies outside the years {YEARS.start} to {YEARS.stop - 1}.", field="committed_at"
        )
    return replace(one, title=NO_TEXT.sub("?", one.title[:LONGEST_TITLE]).strip())


def take_commits(project: Project, told: Sequence[EventCommit]) -> int:
    """Write them down with their first parents; how many were new."""
    shas = {one.sha for one in told} | {parent for one in told for parent in (one.parents or ())[:1]}
    known = _known(project, shas)
    missing = sorted(shas - known.keys())
    Commit.objects.bulk_create([Commit(project=project, sha=sha) for sha in missing], ignore_conflicts=True)
    known |= _exactly(project, missing)
    changed = [known[one.sha] for one, at in _in_order(told) if _learn(known[one.sha], one, at)]
    Commit.objects.bulk_update(changed, WRITTEN, batch_size=SHAS_AT_ONCE)
    moved = _place(project, told, known)
    # Where commits stand decides which runs came after which.
    marks.mark(life_marks.after_placing(project, sorted(moved | {one.pk for one in changed})))
    return len(missing)


def _known(project: Project, shas: Iterable[str]) -> dict[str, Commit]:
    """Sha → row. A row may know the commit by a shorter spelling, which becomes the full one."""
    wanted = sorted(shas)
    found = _exactly(project, wanted)
    short = Commit.objects.filter(project=project).annotate(length=Length("sha")).filter(length__lt=FULL_SHA)
    by_start = {one.sha: one for one in short} if wanted else {}
    lengths = sorted({len(sha) for sha in by_start})
    for sha in wanted:
        row = next((by_start[sha[:length]] for length in lengths if sha[:length] in by_start), None)
        if row is not None and sha not in found and len(sha) >= FULL_SHA:
            Commit.objects.filter(pk=row.pk).update(sha=sha)
            row.sha = sha
            found[sha] = row
    return found


def _exactly(project: Project, shas: Sequence[str]) -> dict[str, Commit]:
    parts = [shas[start : start + SHAS_AT_ONCE] for start in range(0, len(shas), SHAS_AT_ONCE)]
    return {one.sha: one for part in parts for one in Commit.objects.filter(project=project, sha__in=part)}


def _in_order(told: Iterable[EventCommit]) -> list[tuple[EventCommit, datetime | None]]:
    """Each with the time it is sorted by: commits of one push often share their second, and keep the push's order."""
    ordered, last = [], None
    for one in sorted(told, key=lambda one: one.order):
        at = one.committed_at
        if at is not None and one.order and last is not None:
            at = max(at, last + INSTANT)
        last = at or last
        ordered.append((one, at))
    return ordered


def _learn(row: Commit, one: EventCommit, at: datetime | None) -> bool:
    before = [getattr(row, name) for name in WRITTEN]
    parents = list(one.parents or ())
    if parents and (one.certain or not row.parents):
        row.parents = parents
    row.title = row.title or one.title
    if one.committed_at is not None:
        # The time of a run gives way to the commit's own; of two that keep an order the later one holds.
        later = row.committed_at is not None and row.ordered_at is not None and at is not None and row.ordered_at > at
        row.ordered_at = row.ordered_at if later else at
        row.committed_at = min(row.committed_at or one.committed_at, one.committed_at)
    return before != [getattr(row, name) for name in WRITTEN]


def _place(project: Project, told: Iterable[EventCommit], known: Mapping[str, Commit]) -> set[int]:
    """A branch that has a commit has its first parent too. The commits that moved on the default branch."""
    moved: set[int] = set()
    wanted: dict[str, dict[int, Commit]] = {}
    for one in told:
        for sha in (one.sha, *(one.parents or ())[:1]) if one.branch else ():
            wanted.setdefault(one.branch, {})[known[sha].pk] = known[sha]
    for branch, commits in sorted(wanted.items()):
        places = [CommitPlace(commit=commit, branch=branch) for commit in commits.values()]
        CommitPlace.objects.bulk_create(places, ignore_conflicts=True)
        numbered = number_commits(project, branch, list(commits))
        moved.update(numbered if branch == project.default_branch else ())
    return moved
