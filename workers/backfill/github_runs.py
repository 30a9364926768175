"""Which runs of a repository there are, newest first, whatever the server's bound on one list is."""

from collections.abc import Iterator
from dataclasses import dataclass

from leaks.errors import BadSubmission
from leaks.providers import fields as f
from leaks.providers import github_rest
from leaks.rows.events import EventClaim
from workers.backfill.github_client import Client

PER_PAGE = 100
LIST_ENDS_AT = 1000  # a list with a filter goes no further; what is older is asked for by its date
MOST_COMMITS = 100_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read. `branch` empty: all of them. `since`: a date or time in ISO 8601, empty for all. `most`: newest runs, 0 for all."""

    repository: str
    branch: str = ""
    since: str = ""
    workflows: tuple[str, ...] = ()
    most: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A run as the list has it: what is said of its latest attempt, when it was first made, and how old its commit is."""

    claim: EventClaim
    repository: object
    created: str
    commit_at: str


def runs(client: Client, wanted: Wanted) -> list[Listed]:
    """All that is wanted; each once."""
    paths = [f"repos/{wanted.repository}/actions/workflows/{one}/runs" for one in _workflows(client, wanted)]
    paths = paths or [f"repos/{wanted.repository}/actions/runs"]
    found: dict[str, Listed] = {}
    for path in paths:
        for count, one in enumerate(_list(client, path, wanted), 1):
            found[one.claim.run_id] = one
            if count == wanted.most:
                break
    newest = sorted(found.values(), key=lambda one: (one.created, one.claim.run_id), reverse=True)
    return newest[: wanted.most or None]


def _workflows(client: Client, wanted: Wanted) -> list[str]:
    if not wanted.workflows:
        return []
    pages = client.pages(f"repos/{wanted.repository}/actions/workflows", per_page=PER_PAGE)
    listed = [one for page in pages for one in f.rows(f.inner(page, "workflows"), PER_PAGE)]
    ids = {name: github_rest.workflow_id(name, listed) for name in wanted.workflows}
    if missing := [name for name, found in ids.items() if not found]:
        there = ", ".join(sorted(f.text(f.inner(one, "name")) for one in listed)) or "none"
        raise BadSubmission(f"There is no workflow {', '.join(missing)}; there are: {there}.")
    return list(dict.fromkeys(ids.values()))


def _list(client: Client, path: str, wanted: Wanted) -> Iterator[Listed]:
    """Windows of a list, each up to the oldest run of the one before."""
    seen: set[str] = set()
    until = ""
    while True:
        in_list, oldest, fresh = 0, until, False
        for one in _window(client, path, wanted, until):
            in_list += 1
            if one.claim.run_id not in seen:
                seen.add(one.claim.run_id)
                fresh = True
                yield one
            oldest = one.created or oldest
        if in_list < LIST_ENDS_AT or not fresh or not oldest:
            return
        until = oldest


def _window(client: Client, path: str, wanted: Wanted, until: str) -> Iterator[Listed]:
    query: dict[str, str | int] = {"per_page": PER_PAGE}
    if wanted.branch:
        query["branch"] = wanted.branch
    if until or wanted.since:
        query["created"] = f"{wanted.since or '*'}..{until or '*'}"
    for page in client.pages(path, **query):
        for run in f.rows(f.inner(page, "workflow_runs"), PER_PAGE):
            claim = github_rest.run_claim(run)
            if claim is not None:
                yield _listed(run, claim)


def _listed(run: object, claim: EventClaim) -> Listed:
    """A run has ten kilobytes, and a list thousands of runs: only this is held."""
    place = {"html_url": f.text(f.inner(run, "repository", "html_url"), 500)}
    at = f.moment(f.inner(run, "head_commit", "timestamp")) or f.moment(f.inner(run, "created_at"))
    return Listed(claim, place, f.text(f.inner(run, "created_at")), f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else "")


def commits(client: Client, wanted: Wanted, since: str) -> list[object]:
    """Commits of the branch since then, the newest first."""
    found: list[object] = []
    query: dict[str, str | int] = {"sha": wanted.branch, "since": since, "per_page": PER_PAGE}
    for page in client.pages(f"repos/{wanted.repository}/commits", **query):
        found.extend(_slim(one) for one in f.rows(page, PER_PAGE))
        if len(found) >= MOST_COMMITS:
            break
    return found


def _slim(commit: object) -> object:
    """A listed commit has kilobytes about its people; of many only this is held."""
    date, title = f.inner(commit, "commit", "committer", "date"), f.first_line(f.inner(commit, "commit", "message"))
    return {
        "sha": f.inner(commit, "sha"),
        "parents": f.inner(commit, "parents"),
        "commit": {"committer": {"date": date}, "message": title},
    }
