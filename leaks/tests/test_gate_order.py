"""A fix is of a later commit than the finding: reruns, older commits and other branches prove nothing, whatever the clock of the CI says."""

import json

import pytest
from django.core.management import call_command

from leaks import models
from leaks.queries.gate_after import newest_after
from leaks.queries.gate_page import Asked, find_signature, gate_page, proof
from leaks.tests import lane_uploads as up

pytestmark = pytest.mark.django_db

ONE, TWO, THREE, SIDE, MERGE = (up.sha(letter) for letter in "abcde")


@pytest.fixture
def project():
    return up.make_project()


def ask(project, before=TWO, after=THREE, signature="", **more):
    given = Asked(signature, before, after, "asan", **more)
    return proof(project, given, find_signature(project, signature))


def leaking_line(project):
    """Clean, then two commits that leak; then the first one runs again, later than all."""
    up.upload(project, ONE, up.GREEN)
    up.upload(project, TWO, up.leaking(), parent=ONE, hours=1)
    red = up.upload(project, THREE, up.leaking(), parent=TWO, hours=2)
    models.GateCase.objects.create(
        project=project,
        public_id="g1",
        signature=models.Signature.objects.get(),
        lane="asan",
        before=THREE,
        opened_at=up.NOON,
    )
    up.upload(project, ONE, up.GREEN, hours=9)
    return red


def test_a_late_run_of_an_old_commit_is_not_tried_as_the_run_after(project):
    red = leaking_line(project)
    assert newest_after(project, [red]) == {}
    assert (got := ask(project, THREE, "")).reason == "after_no_verdict"
    assert got.after is None


def test_a_late_run_of_an_old_commit_moves_no_open_case(project):
    leaking_line(project)
    (row,) = gate_page(project, Asked()).cases
    assert (row.answer.result, row.answer.after) == ("invalid", None)


def test_a_late_run_before_is_followed_by_the_commit_after_it(project):
    up.upload(project, ONE, up.GREEN)
    up.upload(project, TWO, up.GREEN, parent=ONE, hours=1)
    red = up.upload(project, ONE, up.leaking(), hours=5)
    assert newest_after(project, [red])[red.pk].run.commit.sha == TWO


def test_a_finding_of_the_newest_commit_is_not_taken_back_by_its_rerun(project):
    red = up.upload(project, ONE, up.leaking())
    up.upload(project, TWO, up.leaking(), parent=ONE, hours=1)
    up.upload(project, TWO, up.GREEN, hours=2)
    assert newest_after(project, [red])[red.pk].verdict == "findings"


def test_an_ancestor_is_no_run_after(project):
    leaking_line(project)
    got = ask(project, THREE, ONE)
    assert (got.result, got.reason) == ("invalid", "after_no_verdict")
    assert (
        got.sentence
        == f"The run after is not later than the run before: its commit {ONE[:9]} stands before {THREE[:9]}."
    )


def test_a_rerun_of_the_commit_before_is_no_fix(project):
    red = up.upload(project, ONE, up.leaking())
    green = up.upload(project, ONE, up.GREEN, hours=1)
    got = ask(project, red.public_id, green.public_id)
    assert (got.result, got.reason) == ("invalid", "after_no_verdict")
    assert "both are of the commit aaaaaaaaa" in got.sentence


def side_branch(project, parent):
    up.upload(project, ONE, up.GREEN)
    up.upload(project, SIDE, up.leaking(), parent=parent, hours=1, branch="feature")


def test_a_finding_of_an_unmerged_branch_is_not_fixed_by_main(project):
    side_branch(project, ONE)
    up.upload(project, TWO, up.GREEN, parent=ONE, hours=2)
    for after in (TWO, ""):
        got = ask(project, SIDE, after)
        assert (got.result, got.reason) == ("invalid", "after_no_verdict")
        assert got.sentence.endswith(f"its commit {TWO[:9]} does not contain {SIDE[:9]}.")


def test_a_merge_contains_the_branch(project):
    side_branch(project, ONE)
    up.upload(project, MERGE, up.GREEN, parent=ONE, hours=2)
    models.Commit.objects.filter(sha=MERGE).update(parents=[ONE, SIDE])
    assert ask(project, SIDE, MERGE).reason == "proven"


def test_a_merged_parent_that_nobody_knows_may_contain_the_branch(project):
    side_branch(project, ONE)
    up.upload(project, MERGE, up.GREEN, parent=ONE, hours=2)
    models.Commit.objects.filter(sha=MERGE).update(parents=[ONE, up.sha("f")])
    got = ask(project, SIDE, MERGE)
    assert (got.result, got.reason) == ("invalid", "after_no_verdict")
    assert got.sentence.startswith("It is not known whether the run after is later")


def test_without_parents_two_branches_prove_nothing(project):
    side_branch(project, None)
    up.upload(project, TWO, up.GREEN, hours=2)
    assert ask(project, SIDE, TWO).sentence.startswith("It is not known whether")


@pytest.mark.parametrize(
    ("branch", "hours", "reason"), [("main", 2, "proven"), ("main", -1, "after_no_verdict"), (None, 2, "proven")]
)
def test_without_parents_the_order_on_the_branch_decides_and_is_said(project, branch, hours, reason):
    up.upload(project, TWO, up.leaking(), branch=branch)
    up.upload(project, THREE, up.GREEN, hours=hours, branch=branch)
    got = ask(project)
    assert got.reason == reason
    assert ("No known parents link" in got.sentence) is (reason == "proven")


def test_a_proof_along_known_parents_says_nothing_of_them(project):
    up.upload(project, TWO, up.leaking())
    up.upload(project, THREE, up.GREEN, parent=TWO, hours=1)
    assert "parents" not in ask(project).sentence


# --- What ran, in numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "reason", "said"),
    [
        (
            up.leaking(),
            up.doctest(12),
            "after_no_verdict",
            "The run after ran 12 tests, the run before 57 tests: fewer",
        ),
        (up.leaking(), up.FAILED, "after_no_verdict", "The run after is not clean but test failure"),
        (
            up.leaking(tests=""),
            up.GREEN,
            "before_no_verdict",
            "Nobody counted the tests of the run before, while the run after ran 57 tests",
        ),
        (up.leaking(tests=up.NO_TESTS), up.GREEN, "before_no_verdict", "The run before executed no test."),
        (up.USE_AFTER_FREE, up.GREEN, "proven", "Red before"),
    ],
)
def test_the_numbers_are_named(project, before, after, reason, said):
    up.upload(project, TWO, before)
    up.upload(project, THREE, after, exit_code=1 if after == up.FAILED else None, parent=TWO, hours=1)
    got = ask(project)
    assert (got.reason, got.sentence[: len(said)]) == (reason, said)


@pytest.mark.parametrize("named", ["public id", "run", "commit"])
def test_a_run_that_was_withdrawn_is_called_so(project, named):
    red = up.upload(project, TWO, up.leaking(), run_id="11735")
    models.LaneOutcome.objects.update(withdrawn_at=up.NOON)
    before = {"public id": red.public_id, "run": "11735#1", "commit": TWO}[named]
    assert ask(project, before, "").missing == f"{before} was withdrawn: a run that does not count proves nothing."


def test_the_command_writes_times_as_the_api_does(project, capsys):
    up.upload(project, TWO, up.leaking())
    up.upload(project, THREE, up.GREEN, parent=TWO, hours=1)
    call_command("gate", project.slug, before=TWO, after=THREE)
    assert json.loads(capsys.readouterr().out)["before"]["at"] == "2026-03-11T12:00:00Z"
