"""What people may name as a side, the lane that is meant, and the control run that is found by itself."""

from datetime import timedelta

import pytest

from leaks import models
from leaks.queries.chosen import chosen, sides
from leaks.queries.control import ancestors_of, control_of, controls_of
from leaks.tests import cast
from leaks.words import Reason, Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return cast.make_project()


def lane(project, name="asan", **fields):
    return models.Lane.objects.get_or_create(project=project, name=name, defaults=fields)[0]


def commit(project, name, *parents, hours=0):
    made = cast.make_commit(project, name, cast.NOW + timedelta(hours=hours))
    models.Commit.objects.filter(pk=made.pk).update(parents=[cast.sha_of(one) for one in parents])
    made.refresh_from_db()
    return made


def run(on, verdict=Verdict.CLEAN, of="asan", hours=0, **fields):
    return cast.make_outcome(lane(on.project, of), on, cast.NOW + timedelta(hours=hours), verdict, **fields)


def control(head):
    return control_of(head)


# --- Names -------------------------------------------------------------------------------------------------------------


def test_a_run_a_hash_and_the_ids_of_the_ci_lead_to_a_run(project):
    one = run(commit(project, "a"))
    sha, external = one.run.commit.sha, one.run.external_id
    for named in (one.public_id, sha, sha[:7], sha[:9].upper(), external, f"{external}#1"):
        assert chosen(project, named).only == one, named


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nope", "There is no run nope in this project."),
        ("abcdef0", "There is no run or commit abcdef0 in this project."),
        ("abc", "abc is too short for a commit"),
        ("<script>", "There is no run <script> in this project."),
        ("1101#2", "There is no run 1101#2"),
        ("1101#99999999999999", ""),
        ("#", "There is no run #"),
    ],
)
def test_what_leads_nowhere_says_so(project, named, said):
    run(commit(project, "a"))
    assert chosen(project, named).missing.startswith(said)


def test_a_hash_that_two_commits_begin_with_is_not_enough(project):
    for end in "ab":
        models.Commit.objects.create(project=project, sha=f"1234567{end}")
    assert chosen(project, "1234567").missing == "More than one commit begins with 1234567: write more of its hash."
    assert chosen(project, "1234567a").missing == "No run on the commit 1234567a is known."


def test_a_beginning_of_two_commits_is_not_enough_though_only_one_of_them_ran(project):
    run(models.Commit.objects.create(project=project, sha="1234567a"))
    models.Commit.objects.create(project=project, sha="1234567b")
    assert chosen(project, "1234567").missing == "More than one commit begins with 1234567: write more of its hash."


def test_a_short_hash_that_was_uploaded_so_is_found_beside_a_longer_one(project):
    run(models.Commit.objects.create(project=project, sha="d1b0ea3a8"))
    models.Commit.objects.create(project=project, sha="d1b0ea3a8f")
    assert chosen(project, "d1b0ea3a8").sha == "d1b0ea3a8"


def test_of_several_attempts_the_one_that_found_something_then_what_proves_then_what_ran(project):
    a = commit(project, "a")
    skipped = run(a, Verdict.NO_VERDICT, reason=Reason.SKIPPED, hours=5)
    assert chosen(project, a.sha).only == skipped
    cancelled = run(a, Verdict.NO_VERDICT, reason=Reason.CANCELLED_BEFORE_TESTS, hours=4)
    assert chosen(project, a.sha).only == cancelled
    clean = run(a, hours=3)
    assert chosen(project, a.sha).only == clean
    found = run(a, Verdict.FINDINGS, hours=2)
    assert chosen(project, a.sha).only == found


def test_what_was_withdrawn_is_no_side(project):
    one = run(commit(project, "a"), withdrawn_at=cast.NOW)
    assert chosen(project, one.public_id).missing
    assert chosen(project, one.run.commit.sha).missing


# --- Lanes -------------------------------------------------------------------------------------------------------------


def test_a_commit_of_several_lanes_has_a_run_of_each_and_one_can_be_named(project):
    a = commit(project, "a")
    lane(project, "tsan", aliases=["thread"])
    one, two = run(a), run(a, of="tsan")
    assert dict(chosen(project, a.sha).lanes) == {"asan": one, "tsan": two}
    assert chosen(project, a.sha, "tsan").only == two
    assert chosen(project, a.sha, "thread").only == two
    assert chosen(project, a.sha, "msan").missing == f"No run of msan on {a.sha[:9]} is known; there ran asan, tsan."


def test_sides_are_paired_by_lane(project):
    a, b = commit(project, "a"), commit(project, "b")
    for on in (a, b):
        run(on), run(on, of="tsan")
    run(b, of="msan")
    assert [base.lane.name for base, _ in sides(chosen(project, a.sha), chosen(project, b.sha)).pairs] == [
        "asan",
        "tsan",
    ]


def test_sides_without_a_common_lane_say_what_ran(project):
    a, b = commit(project, "a"), commit(project, "b")
    run(a), run(a, of="msan"), run(b, of="tsan"), run(b, of="ubsan")
    said = sides(chosen(project, a.sha), chosen(project, b.sha)).missing
    assert said == "No lane ran on both sides: on the head tsan, ubsan, on the base asan, msan."


# --- The control run ---------------------------------------------------------------------------------------------------


def test_the_first_parent_comes_first(project):
    merged = commit(project, "merge", "first", "second", hours=3)
    run(commit(project, "second", hours=2)), (first := run(commit(project, "first", hours=1)))
    found = control(run(merged))
    assert (found.outcome, found.how) == (
        first,
        "The control run was found by itself: the same lane on the first parent.",
    )


def test_else_the_nearest_ancestor_with_a_verdict_and_that_is_said_plainly(project):
    run(commit(project, "d", hours=1))
    wanted = run(commit(project, "c", "d", hours=2), Verdict.FINDINGS)
    run(commit(project, "b", "c", hours=3), Verdict.NO_VERDICT, reason=Reason.KILLED)
    found = control(run(commit(project, "a", "b", hours=4)))
    assert found.outcome == wanted
    assert "the nearest ancestor that has one, 2 commits back" in found.how
    assert "counts as introduced" in found.how


def test_a_run_without_a_verdict_is_the_last_resort(project):
    parent = run(commit(project, "b", hours=1), Verdict.NO_VERDICT, reason=Reason.KILLED)
    found = control(run(commit(project, "a", "b", hours=2)))
    assert found.outcome == parent
    assert found.how.endswith("No run of this lane on an ancestor has a verdict.")


def test_a_run_under_the_same_options_comes_before_a_later_one(project):
    b = commit(project, "b", hours=1)
    same = run(b, options={"ASAN_OPTIONS": "x=1"})
    run(b, hours=1)
    assert control(run(commit(project, "a", "b", hours=2), options={"ASAN_OPTIONS": "x=1"})).outcome == same


def test_another_lane_and_an_unknown_parent_are_no_control(project):
    run(commit(project, "b", hours=1), of="tsan")
    assert control(run(commit(project, "a", "b", hours=2))) is None
    assert control(run(commit(project, "root"))) is None


def test_parents_in_a_ring_end(project):
    commit(project, "b", "a", hours=1)
    assert control(run(commit(project, "a", "b", hours=2))).outcome.run.commit.sha == cast.sha_of("a")


def test_all_lanes_of_a_commit_cost_no_more_than_one(project, django_assert_max_num_queries):
    b, a = commit(project, "b", hours=1), commit(project, "a", "b", hours=2)
    heads = [run(a, of=f"lane {number}") for number in range(8)]
    for number in range(8):
        run(b, of=f"lane {number}")
    with django_assert_max_num_queries(2):
        assert len(controls_of(heads)) == 8


def test_an_old_commit_is_walked_in_few_queries(project, django_assert_max_num_queries, monkeypatch):
    monkeypatch.setattr("leaks.queries.control.KNOWN_COMMITS", 2)
    for number in range(20):
        commit(project, f"c{number}", f"c{number + 1}", hours=-number)
    old = models.Commit.objects.get(sha=cast.sha_of("c0"))
    with django_assert_max_num_queries(3):
        assert len(ancestors_of(old)) >= 3
