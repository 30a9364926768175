"""The way back along first parents."""

import pytest

from leaks.models import Commit, Project
from leaks.queries import ancestors

pytestmark = pytest.mark.django_db


@pytest.fixture
def line() -> list[Commit]:
    """Five commits, the oldest first; each is the parent of the next."""
    project = Project.objects.create(slug="engine", name="Engine")
    shas = [str(number) * 40 for number in range(1, 6)]
    pairs = zip(shas, ["", *shas], strict=False)
    return [
        Commit.objects.create(project=project, sha=sha, parents=[parent] if parent else []) for sha, parent in pairs
    ]


def test_the_nearest_comes_first(line: list[Commit]) -> None:
    assert ancestors.ancestors(line[-1]) == [commit.sha for commit in line[3::-1]]


def test_a_parent_behind_the_newest_commits_is_found_too(line: list[Commit], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ancestors, "KNOWN_COMMITS", 1)
    assert ancestors.ancestors(line[-1]) == [commit.sha for commit in line[3::-1]]


def test_the_way_has_an_end(line: list[Commit], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ancestors, "DEEPEST", 2)
    assert len(ancestors.ancestors(line[-1])) == 2
