"""The commits a submission names. Called inside the caller's transaction."""

from datetime import datetime

from django.db.models import Q

from leaks.models import Commit, CommitPlace, Project

FULL_SHA = 40
SHORTEST_SHA = 7


def commit_row(project: Project, sha: str) -> Commit:
    """The commit of that sha, made where it is new. A short and a long spelling of one commit are one row."""
    known = list(Commit.objects.filter(_spellings(sha), project=project)[:3])
    same = next((commit for commit in known if commit.sha == sha), None)
    if same or len(known) == 1:
        return same or _longer(known[0], sha)
    # None, or a short sha that fits several: then the short one is all that is known.
    return Commit.objects.get_or_create(project=project, sha=sha)[0]


def _spellings(sha: str) -> Q:
    shorter = Q(sha__in=[sha[:length] for length in range(SHORTEST_SHA, len(sha) + 1)])
    # A range and not LIKE: SQLite's ignores case and with it the index.
    return shorter if len(sha) >= FULL_SHA else shorter | Q(sha__gte=sha, sha__lt=f"{sha}g")


def _longer(commit: Commit, sha: str) -> Commit:
    if len(sha) > len(commit.sha):
        commit.sha = sha
        commit.save(update_fields=["sha"])
    return commit


def date_commit(commit: Commit, run_started_at: datetime) -> None:
    """Order the commit by the start of the earliest run that named it, unless its own time is known."""
    later = commit.ordered_at is None or run_started_at < commit.ordered_at
    if commit.committed_at is None and later:
        commit.ordered_at = run_started_at
        commit.save(update_fields=["ordered_at"])


def link_parent(commit: Commit, parent_sha: str) -> Commit:
    """Make the parent a row, even if no run ever names it, and the commit's first parent unless git said more already."""
    parent = commit_row(commit.project, parent_sha)
    if not commit.parents and parent.pk != commit.pk:
        commit.parents = [parent.sha]
        commit.save(update_fields=["parents"])
    return parent


def place_on_branch(commits: list[Commit], branch: str, *, pull_request: int | None) -> None:
    """Say that the commits stand on the branch; where on it is worked out later, from the parents."""
    # The head branch of a fork is often called like our own default branch; its commits do not stand on ours.
    if pull_request is not None and branch == commits[0].project.default_branch:
        return
    places = [CommitPlace(commit=commit, branch=branch) for commit in commits]
    CommitPlace.objects.bulk_create(places, ignore_conflicts=True)
