"""Gates over runs that the real ingest made: each answer once, what is tried when nobody names a run, and the command."""

import json

import pytest
from django.core.management import call_command

from leaks import models
from leaks.gate_words import NEXT
from leaks.queries.gate_after import newest_after
from leaks.queries.gate_page import Asked, find_signature, gate_page, proof
from leaks.tests import lane_uploads as up
from leaks.words import GateReason

pytestmark = pytest.mark.django_db

RED, FIX = up.sha("a"), up.sha("b")
LEAK_OFF = {"ASAN_OPTIONS": "detect_leaks=0"}


@pytest.fixture
def project():
    return up.make_project(lanes=("asan", "tsan"))


def ask(project, **asked):
    given = Asked(**{"before": RED, "after": FIX, "lane": "asan", **asked})
    return proof(project, given, find_signature(project, given.signature))


def red(project, **more):
    return up.upload(project, RED, up.leaking(), **more)


ANSWERS = [
    ("proven", up.leaking(), {}, up.GREEN, {}),
    ("proven", up.leaking(), {"options": {}}, up.GREEN, {}),
    ("before_no_finding", up.GREEN, {}, up.GREEN, {}),
    ("before_no_verdict", up.CANCELLED, {"conclusion": "cancelled"}, up.GREEN, {}),
    ("before_no_verdict", up.leaking(tests=up.NO_TESTS), {}, up.GREEN, {}),
    ("before_other_reason", up.FAILED, {"exit_code": 1}, up.GREEN, {}),
    ("before_other_reason", up.leaking(), {"exit_code": 0}, up.GREEN, {}),
    ("after_no_verdict", up.leaking(), {}, up.CANCELLED, {"conclusion": "cancelled"}),
    ("after_no_verdict", up.leaking(), {}, up.FAILED, {"exit_code": 1}),
    ("after_no_verdict", up.leaking(), {}, up.doctest(12), {}),
    ("zero_tests", up.leaking(), {}, up.NO_TESTS, {}),
    ("leak_detection_off", up.leaking(), {}, up.GREEN, {"options": LEAK_OFF}),
    (
        "not_instrumented",
        up.leaking(),
        {},
        "g++ -O2 -c src/build.cpp -o build.o\ng++ build.o -o test_engine\n" + up.GREEN,
        {},
    ),
    ("suppressed_not_fixed", up.leaking(), {}, up.SUPPRESSED, {}),
    ("finding_remains", up.leaking(), {}, up.leaking(size=128), {}),
    ("new_finding", up.leaking(), {}, up.USE_AFTER_FREE, {}),
    ("options_differ", up.leaking(), {}, up.GREEN, {"options": {"ASAN_OPTIONS": "detect_leaks=1:max_leaks=1"}}),
    ("options_differ", up.leaking(), {}, up.GREEN, {"rules": "leak:engine::Other\n"}),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=[f"{number} {answer[0]}" for number, answer in enumerate(ANSWERS)])
def test_an_answer(project, answer):
    reason, before, how, after, then = answer
    up.upload(project, RED, before, **how)
    up.upload(project, FIX, after, parent=RED, hours=1, **then)
    got = ask(project)
    assert (got.reason, got.result == "pass") == (reason, reason == "proven"), got
    assert got.next_step == NEXT[GateReason(reason)]
    assert (got.before.sha, got.after.sha) == (RED, FIX)


def test_runs_of_different_lanes_prove_nothing(project):
    one, two = red(project), up.upload(project, FIX, up.GREEN, lane="tsan", hours=1)
    got = ask(project, before=one.public_id, after=two.public_id, lane="")
    assert (got.reason, got.result) == ("lane_differs", "invalid")


def test_every_answer_has_its_row():
    assert {reason for reason, *_ in ANSWERS} | {"lane_differs"} == {reason.value for reason in GateReason}
    assert set(NEXT) == set(GateReason)


def test_what_differs_is_named_with_both_values(project):
    red(project)
    up.upload(project, FIX, up.GREEN, hours=1, options={"ASAN_OPTIONS": "detect_leaks=1:max_leaks=1"})
    (difference,) = ask(project).differences
    assert (difference.what, difference.base, difference.head) == ("ASAN_OPTIONS max_leaks", "0 by default", "1")


def test_the_facts_say_what_each_run_had(project):
    red(project)
    up.upload(project, FIX, up.GREEN, hours=1)
    facts = {fact.what: (fact.before, fact.after) for fact in ask(project).facts}
    assert facts["exit code"] == ("1", "0")
    assert facts["tests executed"] == ("57", "57")
    assert facts["this signature"] == ("1 record, 64 bytes", "not shown")


# --- What nobody names -------------------------------------------------------------------------------------------------


def test_without_a_run_after_the_newest_one_of_the_default_branch_is_tried(project):
    red(project)
    name = models.Signature.objects.get().public_id
    assert ask(project, signature=name, before="", after="").reason == "after_no_verdict"
    up.upload(project, up.sha("c"), up.GREEN, hours=1, branch="feature")
    assert ask(project, signature=name, before="", after="").after is None
    fixed = up.upload(project, FIX, up.GREEN, hours=2)
    got = ask(project, signature=name, before="", after="")
    assert (got.reason, got.after.public_id, got.by_itself) == ("proven", fixed.public_id, True)
    assert ask(project, signature=name, before="", after="", branch="feature").after.sha == up.sha("c")


def test_a_run_on_the_same_commit_or_of_a_pull_request_is_no_run_after(project):
    before = red(project)
    up.upload(project, RED, up.GREEN, hours=1)
    up.upload(project, FIX, up.GREEN, hours=2, pull_request=7)
    assert newest_after(project, [before]) == {}


def test_a_commit_without_a_run_of_the_lane_is_said(project):
    red(project)
    up.upload(project, FIX, up.GREEN, lane="tsan", hours=1)
    got = ask(project)
    assert (got.reason, got.sentence) == ("after_no_verdict", f"No run of asan on {FIX[:9]} is known; there ran tsan.")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"signature": "LKS-NONE"}, "There is no signature LKS-NONE in this project."),
        ({"before": up.sha("d")}, f"There is no run or commit {up.sha('d')} in this project."),
        ({"before": "abc"}, "abc is too short for a commit"),
        ({"before": "", "after": FIX}, "Name the commit or run before the fix."),
        ({"before": RED, "lane": "", "after": ""}, f"Several lanes ran on {RED[:9]}; name one: asan, tsan."),
        ({"after": "nope"}, "There is no run nope in this project."),
    ],
)
def test_what_is_missing_is_said(project, asked, said):
    red(project)
    up.upload(project, RED, up.leaking(), lane="tsan")
    got = ask(project, **asked)
    assert got.missing.startswith(said)
    assert (got.result, got.before) == ("", None)


def test_of_several_lanes_the_one_that_shows_the_signature_is_meant(project):
    red(project)
    up.upload(project, RED, up.GREEN, lane="tsan")
    up.upload(project, FIX, up.GREEN, hours=1)
    name = models.Signature.objects.get().public_id
    assert (got := ask(project, signature=name, lane="")).lane == "asan"
    assert got.reason == "proven"


def test_a_signature_that_was_merged_is_the_one_it_went_to(project):
    red(project)
    one = models.Signature.objects.get()
    old = models.Signature.objects.create(
        project=project, public_id="LKS-OLD", title="old", family="leak", kind="direct-leak", merged_into=one
    )
    assert ask(project, signature=old.public_id, after="").signatures[0].public_id == one.public_id


# --- Cases -------------------------------------------------------------------------------------------------------------


def case(project, number=0, **fields):
    one = models.Signature.objects.get()
    values = {"signature": one, "lane": "asan", "before": RED, "opened_at": up.NOON, **fields}
    return models.GateCase.objects.create(project=project, public_id=f"g{number}", **values)


def test_a_case_is_not_proven_until_a_run_is_red_then_green(project):
    red(project)
    case(project)
    (row,) = gate_page(project, Asked()).cases
    assert (row.answer.reason, row.answer.after) == ("after_no_verdict", None)
    up.upload(project, up.sha("c"), up.leaking(), hours=1)
    assert gate_page(project, Asked()).cases[0].answer.reason == "finding_remains"
    up.upload(project, FIX, up.GREEN, hours=2)
    assert gate_page(project, Asked()).cases[0].answer.reason == "proven"


def test_a_case_with_a_commit_after_waits_for_that_commit(project):
    red(project)
    case(project, after=FIX)
    up.upload(project, up.sha("c"), up.GREEN, hours=1)
    assert gate_page(project, Asked()).cases[0].answer.sentence == f"No run of asan on {FIX[:9]} is known yet."
    up.upload(project, FIX, up.GREEN, hours=2)
    assert gate_page(project, Asked()).cases[0].answer.reason == "proven"


def test_a_case_whose_run_was_withdrawn_says_so(project):
    before = red(project)
    case(project)
    models.LaneOutcome.objects.filter(pk=before.pk).update(withdrawn_at=up.NOON)
    assert gate_page(project, Asked()).cases[0].answer.missing == f"No run of asan on {RED[:9]} is left that counts."


def test_many_cases_cost_no_more_queries_than_one(project, django_assert_max_num_queries):
    red(project)
    up.upload(project, FIX, up.GREEN, hours=2)
    for number in range(12):
        case(project, number, after=FIX if number % 2 else "")
    with django_assert_max_num_queries(15):
        assert len(gate_page(project, Asked()).cases) == 12


# --- The command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "code", "reason"),
    [
        (up.GREEN, 0, "proven"),
        (up.leaking(), 1, "finding_remains"),
        (up.USE_AFTER_FREE, 1, "new_finding"),
        (up.NO_TESTS, 2, "zero_tests"),
    ],
)
def test_the_command_answers_with_its_exit_code(project, capsys, after, code, reason):
    red(project)
    up.upload(project, FIX, after, hours=1)
    assert run(project.slug, "--before", RED[:9], "--after", FIX) == code
    out, err = capsys.readouterr()
    (line,) = out.splitlines()
    assert json.loads(line)["reason"] == reason
    assert err.startswith(f"{reason.replace('_', ' ')}: ")


@pytest.mark.parametrize(
    ("slug", "said"), [("none", "There is no project 'none'."), ("engine", "There is no run or commit")]
)
def test_a_wrong_question_is_2(project, capsys, slug, said):
    assert run(slug, "--before", RED) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["missing"].startswith(said)
    assert err.startswith(said)


def run(*arguments):
    try:
        call_command("gate", *arguments)
    except SystemExit as end:
        return end.code
    return 0
