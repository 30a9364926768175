"""The demo's projects, lanes and people. Only configuration is written here; what the lanes proved comes through the ingest."""

from datetime import UTC, datetime

from leaks.accounts import account
from leaks.models import Lane, LaneExpectation, Membership, Project
from leaks.words import MemberRole
from workers.demo.story import PROJECTS, DemoProject

SINCE = datetime(2020, 1, 1, tzinfo=UTC)


def make_project(demo: DemoProject) -> Project:
    project, _ = Project.objects.get_or_create(
        slug=demo.slug,
        defaults={
            "name": demo.name,
            "own_roots": list(demo.own_roots),
            "plumbing": list(demo.plumbing),
            "source_link": demo.source_link,
            "sample_note": demo.note,
            "public": True,
        },
    )
    for name, detectors in demo.lanes.items():
        expect_lane(project, name, detectors)
    return project


def expect_lane(project: Project, name: str, detectors: tuple[str, ...]) -> None:
    lane, _ = Lane.objects.get_or_create(project=project, name=name)
    LaneExpectation.objects.get_or_create(
        lane=lane,
        valid_to=None,
        defaults={"detectors": list(detectors), "owed_branch": project.default_branch, "valid_from": SINCE},
    )


def make_account(role: MemberRole) -> str | None:
    """Make the demo person of that role, a member of each demo project. The password is returned once; null if the person was there."""
    user, password = account(str(role))
    for project in Project.objects.filter(slug__in=[demo.slug for demo in PROJECTS]):
        Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})
    return password
