"""The parts of a signature's page, over rows that the real ingest made: life, control run, branches, variants, similar ones, rules, what is
not known, owners. And what the page costs.
"""

from datetime import date

import pytest
from django.urls import reverse

from dashboard.figures_leaks import history
from leaks.code_owners import set_code_owners
from leaks.models import Commit, Decision, Project, RuleFile, Signature, Suppression
from leaks.queries.signature_page import find, signature_page
from leaks.rows.intake import SubmittedRules
from leaks.tests.cast import make_user
from leaks.tests.ledger import LEAKY, MORNING, log_text, outcome, project, settle, submit
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

RED = {"exit_code": 1, "conclusion": "failure"}
SAME_FUNCTION = ("engine::Pool::get(unsigned long)", "/src/engine/other_pool.h", 7)
SAME_FILE = ("engine::Pool::grow(unsigned long)", "/src/engine/pool.h", 99)
ELSEWHERE = ("engine::Vocab::load(char const*)", "/src/engine/vocab.cpp", 17)


def leaky(number, *more, **fields):
    submit(number, log_text((LEAKY, 64), *more), **{**RED, **fields})


def clean(number, **fields):
    submit(number, log_text(), **fields)


def the_one():
    return Signature.objects.get(own_frame__file="/src/engine/pool.h", own_frame__line=42)


def rows():
    settle()
    one = find(project(), the_one().public_id)
    assert one is not None
    return signature_page(project(), one)


def page(client):
    settle()
    Project.objects.update(public=True)
    answer = client.get(reverse("signature", args=["engine", the_one().public_id]))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


# --- Life ------------------------------------------------------------------------------------------------------------


def test_a_fix_is_told_with_its_figures_and_its_runs(client):
    leaky(1)
    leaky(2)
    for number in range(3, 10):
        clean(number)
    life = rows().life
    (lane,) = life.lanes
    assert (life.word, life.since.outcome, lane.absent, lane.needed) == ("fixed", outcome(8).public_id, 6, 6)
    text = page(client)
    assert (
        "seen in 2 of 2 runs while it was there (p ≥ 42.5 %); absent in 6 of the 6 runs since that this demands" in text
    )
    assert f'href="/p/engine/runs/{outcome(8).public_id}/"' in text
    assert 'class="life life-fixed"' in text


def test_a_fix_on_its_way_says_how_many_runs_are_missing(client):
    leaky(1)
    leaky(2)
    clean(3)
    submit(4, log_text(passed=3))
    text = page(client)
    assert "absent in 1 of the 6 runs since" in text
    assert "1 other run since does not count: it ran fewer tests, or ended before it could tell" in text


def test_a_regression_names_the_run_that_showed_it_fixed(client):
    leaky(1)
    leaky(2)
    for number in range(3, 9):
        clean(number)
    leaky(9)
    life = rows().life
    assert (life.word, life.since.outcome, life.fixed_at.outcome, life.last_before.outcome) == (
        "regressed", outcome(9).public_id, outcome(8).public_id, outcome(2).public_id,
    )  # fmt: skip
    assert "had shown it gone since" in page(client)


def test_a_signature_that_only_branches_show_says_so(client):
    leaky(1, branch="topic")
    assert "No run of the default branch showed it" in page(client)
    assert "On other branches only, or long ago: asan." in page(client)


# --- The control run -------------------------------------------------------------------------------------------------


def on_top(parent, child):
    commit = Commit.objects.get(sha=f"{child:040x}")
    commit.parents = [f"{parent:040x}"]
    commit.save()


CONTROLS = [
    ("same", lambda: leaky(1, started_at=MORNING.replace(hour=20))),
    ("other", lambda: submit(1, log_text((LEAKY, 96)), **RED, started_at=MORNING.replace(hour=20))),
    ("absent", lambda: clean(1)),
    ("unknown", lambda: submit(1, None, conclusion="cancelled", exit_code=None)),
    ("no_run", lambda: clean(3)),
]


@pytest.mark.parametrize(("answer", "run"), CONTROLS, ids=[answer for answer, _ in CONTROLS])
def test_the_parent_tells_whether_it_was_there_before(client, answer, run):
    """The control run comes after the run that it is held against, as one that somebody asked for does."""
    leaky(2)
    run()
    on_top(1, 2)
    control = rows().control
    assert (control.answer, control.sha, control.parent) == (answer, f"{2:040x}", f"{1:040x}")
    assert control.sentence in page(client)


def test_without_a_known_parent_nothing_is_claimed(client):
    leaky(2)
    assert rows().control.answer == "no_parent"
    assert "its parent is not known." in page(client)


# --- History ---------------------------------------------------------------------------------------------------------


def test_branches_are_told_by_their_shape_and_by_words(client):
    leaky(1)
    leaky(2, branch="topic")
    clean(3)
    figure = history(rows().history, lambda outcome: f"/{outcome}")
    beside = [trace for trace in figure["data"] if trace["meta"].endswith("other branches")]
    assert [(trace["mode"], trace["marker"]["symbol"]) for trace in beside] == [("markers", "diamond-open")] * 3
    assert figure["data"][0]["y"] == [64, 0]
    assert "on topic" in beside[0]["customdata"][0][0]
    text = page(client)
    assert "◇ topic" in text  # in the table of outcomes
    assert "bytes, other branches" in text  # in the chart's twin


def test_a_withdrawn_outcome_is_in_no_history(client):
    leaky(1)
    leaky(2)
    settle()
    type(outcome(2)).objects.filter(pk=outcome(2).pk).update(withdrawn_at=MORNING)
    assert [point.outcome for point in rows().history] == [outcome(1).public_id]


# --- Variants, similar ones, rules -----------------------------------------------------------------------------------


def test_variants_are_stacks_with_their_counts_and_where_they_part(client):
    other = log_text((LEAKY, 64)).replace("asan_new_delete.cpp:95", "asan_new_delete.cpp:99")
    submit(1, log_text((LEAKY, 64)) + other.replace("==4242==", "==77=="), **RED)
    first, second = sorted(rows().variants, key=lambda one: not one.representative)
    assert (first.representative, first.parting, second.representative) == (True, "", False)
    assert second.parting == "#0 operator new"
    assert {first.amount.count, second.amount.count} == {1}
    assert "parts at #0 operator new" in page(client)


def test_similar_ones_come_with_the_reason(client):
    leaky(1, (SAME_FUNCTION, 8), (SAME_FILE, 8), (ELSEWHERE, 8))
    reasons = {row.title: row.reasons[0] for row in rows().similar}
    names = {title.rpartition("· ")[2].partition(" ←")[0]: reason for title, reason in reasons.items()}
    assert names["engine::Pool::grow"] == "another function of the same file"
    assert (
        "same function in another file" in reasons.values()
        or Signature.objects.filter(title__contains="get").count() == 1
    )
    assert not any("Vocab" in title for title in reasons)
    assert "another function of the same file" in page(client)


def test_rules_that_would_hide_it_come_with_their_source(client):
    leaky(1, rules=(SubmittedRules("lsan.supp", "# ours\nleak:Pool::get\nleak:nothing_like_it\n"),))
    settle()
    ann = make_user("ann", project(), MemberRole.TRIAGER)
    Suppression.objects.create(
        project=project(), public_id="S-1", tool="lsan", rule="leak:engine::Pool", reason="so", ends_on=date(2099, 1, 1),
        proposed_by=ann, proposed_at=MORNING,
    )  # fmt: skip
    assert RuleFile.objects.exists()
    found = {(row.source, row.rule, row.state) for row in rows().suppressions}
    assert found == {("proposal", "leak:engine::Pool", "proposed"), ("file", "leak:Pool::get", "")}
    assert "<code>leak:Pool::get</code>" in page(client)


def test_what_nobody_measured_is_said(client):
    leaky(1)
    said = [one.what for one in rows().not_known]
    assert "growth: not measured" in said
    assert "ordering: not measured" in said
    assert "growth: not measured" in page(client)


def test_growth_is_not_said_unmeasured_where_the_work_differed():
    leaky(1, workload={"iterations": 10})
    leaky(2, workload={"iterations": 100})
    assert "growth: not measured" not in [one.what for one in rows().not_known]


def test_how_it_was_run_is_told(client):
    leaky(1, options={"ASAN_OPTIONS": "detect_leaks=1:halt_on_error=0"})
    told = rows().reproduce
    assert (told.lane, told.sha) == ("asan", f"{1:040x}")
    assert told.options == (("ASAN_OPTIONS", "detect_leaks=1:halt_on_error=0"),)
    assert "detect_leaks=1:halt_on_error=0" in page(client)


# --- Owners ----------------------------------------------------------------------------------------------------------


def test_code_owners_follow_the_text_of_the_project(client):
    leaky(1)
    settle()
    ann = make_user("ann", project(), MemberRole.ADMIN)
    done = set_code_owners(project(), ann, "*.h @headers\npool.h @pool @org/pool\n!bad @x", "from the repository")
    assert (done.changed, [fault.line for fault in done.faults]) == (True, [3])
    settle()
    assert the_one().code_owners == " @pool @org/pool "
    assert "code owners @pool, @org/pool" in page(client)
    assert Decision.objects.get().what == "code_owners_changed"
    assert not set_code_owners(project(), ann, "*.h @headers\npool.h @pool @org/pool\n!bad @x", "again").changed
    set_code_owners(project(), ann, "", "nobody")
    settle()
    assert the_one().code_owners == ""


def test_an_admin_sets_them_on_the_settings_page_and_by_the_api(client):
    leaky(1)
    settle()
    client.force_login(make_user("ann", project(), MemberRole.ADMIN))
    answer = client.post("/p/engine/settings/", {"do": "codeowners", "codeowners": "pool.h @pool", "reason": "so"})
    assert answer.status_code == 302
    settle()
    assert the_one().code_owners == " @pool "
    assert "pool.h @pool" in client.get("/p/engine/settings/").content.decode()
    body = {"codeowners": "pool.h @other\n!x @y", "reason": "so"}
    answer = client.put("/api/v1/projects/engine/codeowners", body, content_type="application/json")
    assert answer.json() == {
        "codeowners": "pool.h @other\n!x @y",
        "faults": [{"line": 2, "text": "!x @y", "why": "a pattern cannot begin with “!”"}],
    }
    assert client.get("/api/v1/projects/engine/codeowners").json()["codeowners"] == "pool.h @other\n!x @y"


def test_others_may_not(client):
    leaky(1)
    client.force_login(make_user("bob", project(), MemberRole.APPROVER))
    assert client.post("/p/engine/settings/", {"do": "codeowners", "codeowners": "*"}).status_code == 403
    answer = client.put("/api/v1/projects/engine/codeowners", {"codeowners": "*"}, content_type="application/json")
    assert answer.status_code == 403


# --- The API and the cost --------------------------------------------------------------------------------------------


def test_the_api_serves_what_the_page_shows(client):
    leaky(1)
    leaky(2)
    settle()
    Project.objects.update(public=True)
    body = client.get(f"/api/v1/projects/engine/signatures/{the_one().public_id}").json()
    assert body["life"]["word"] == "new"
    assert body["life"]["lanes"][0]["seen"] == 2
    assert body["control"]["answer"] == "no_parent"
    assert [one["representative"] for one in body["variants"]] == [True]
    assert body["not_known"][0]["what"] == "growth: not measured"


def test_at_most_fifteen_queries_however_much_there_is(client, django_assert_max_num_queries):
    for number in range(1, 13):
        leaky(number, *[((f"engine::Pool::f{place}()", "/src/engine/pool.h", place), 8) for place in range(1, 13)])
    for number in range(13, 20):
        clean(number, lane="asan" if number % 2 else "lsan")
    settle()
    client.force_login(make_user("ann", project(), MemberRole.ADMIN))
    RuleFile.objects.create(project=project(), sha256="1", text="leak:Pool\n" * 30)
    address = reverse("signature", args=["engine", the_one().public_id])
    with django_assert_max_num_queries(15):
        answer = client.get(address)
    assert answer.status_code == 200
