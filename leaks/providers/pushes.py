"""The commits of a push, as GitHub and GitLab alike tell of them: a list from the oldest, without parents."""

from leaks.providers import fields as f
from leaks.rows.events import EventCommit

MOST_COMMITS = 2048  # what GitHub puts into one push


def commits(payload: object, *, tip: object, forced: bool) -> tuple[EventCommit, ...]:
    """Commits of a push to a branch; none of a tag, and none of a branch that was deleted."""
    branch, head = f.branch(f.inner(payload, "ref")), f.sha(tip)
    if not branch or not head:
        return ()
    listed = [one for one in f.rows(f.inner(payload, "commits"), MOST_COMMITS) if f.sha(f.inner(one, "id"))]
    before = f.sha(f.inner(payload, "before"))
    # Several commits may hold a merged branch in between, so only a single one is known to follow on what was there.
    parents = (before,) if before and len(listed) == 1 and not forced else None
    found = [_commit(one, branch, parents, order) for order, one in enumerate(listed)]
    # A branch that was pushed without new commits has its tip all the same.
    missing = all(one.sha != head for one in found)
    return (*found, EventCommit(head, branch=branch, order=len(found))) if missing else tuple(found)


def _commit(one: object, branch: str, parents: tuple[str, ...] | None, order: int) -> EventCommit:
    return EventCommit(
        sha=f.sha(f.inner(one, "id")),
        parents=parents,
        branch=branch,
        committed_at=f.moment(f.inner(one, "timestamp")),
        title=f.first_line(f.inner(one, "message")),
        order=order,
    )
