"""The headline is about the newest commit: a late run of an old commit is a run of that old commit."""

from datetime import timedelta

import pytest

from leaks.queries.overview import overview
from leaks.tests import lane_uploads as up

pytestmark = pytest.mark.django_db

ONE, TWO, THREE = (up.sha(letter) for letter in "abc")


@pytest.fixture
def project():
    return up.make_project(lanes=("asan", "tsan"))


def seen(project):
    found = overview(project, up.NOON - timedelta(days=60), up.NOON + timedelta(days=1))
    return found.headline, {lane.name: lane.now for lane in found.lanes}, found


def upload_both(project, commit, log, **more):
    for lane in ("asan", "tsan"):
        up.upload(project, commit, log, lane=lane, **more)


def test_a_late_clean_run_of_an_old_commit_does_not_prove_the_branch(project):
    upload_both(project, ONE, up.GREEN)
    upload_both(project, TWO, up.leaking(), parent=ONE, hours=1)
    upload_both(project, THREE, up.leaking(), parent=TWO, hours=2)
    upload_both(project, ONE, up.GREEN, hours=9)
    head, now, found = seen(project)
    assert (head.kind, head.sha, now["asan"].sha, found.since_sha) == ("findings", THREE, THREE, THREE)


def test_the_newest_proved_commit_is_no_old_one_that_ran_late(project):
    upload_both(project, ONE, up.GREEN)
    upload_both(project, TWO, up.GREEN, parent=ONE, hours=1)
    upload_both(project, ONE, up.GREEN, hours=9)
    head, _, found = seen(project)
    assert (head.kind, head.sha, found.since_sha) == ("proved", TWO, TWO)


def test_of_two_lanes_the_one_on_the_newer_commit_names_it(project):
    up.upload(project, ONE, up.GREEN)
    upload_both(project, TWO, up.GREEN, parent=ONE, hours=1)
    up.upload(project, THREE, up.GREEN, parent=TWO, hours=2)
    up.upload(project, TWO, up.GREEN, lane="tsan", hours=9)
    assert seen(project)[2].since_sha == THREE


def test_a_clean_rerun_of_the_newest_commit_takes_no_finding_back(project):
    upload_both(project, ONE, up.leaking())
    upload_both(project, ONE, up.GREEN, hours=3)
    head, now, _ = seen(project)
    assert (head.kind, now["tsan"].verdict) == ("findings", "findings")
