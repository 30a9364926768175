"""The way back from a commit along first parents."""

from leaks.models import Commit

KNOWN_COMMITS = (
    500  # of the project, newest first: asked for at once, since to ask commit by commit would be a hundred questions
)
DEEPEST = 100  # commits walked back


def ancestors(commit: Commit) -> list[str]:
    """First parents, the nearest first, as far as they are known."""
    of_project = Commit.objects.filter(project=commit.project_id)
    newest = of_project.exclude(parents=[]).order_by("-ordered_at", "-pk")
    parents = dict(newest.values_list("sha", "parents")[:KNOWN_COMMITS])
    line: list[str] = []
    at = commit.parents
    while at and len(line) < DEEPEST:
        line.append(at[0])
        # An old commit's parents may lie behind the newest ones.
        at = parents.get(at[0]) or of_project.filter(sha=at[0]).values_list("parents", flat=True).first()
    return line
