"""Does a pull request leak? Runs through the real ingest; the page, its twin in the API, its badge, and the statement to paste."""

import re
from xml.etree import ElementTree as ET

import pytest
from django.urls import reverse

from dashboard.exports import statement
from dashboard.exports.badge import COLOURS
from dashboard.exports.compare_badge import LOOKS, message_of
from leaks import models
from leaks.queries.commits import commit_page
from leaks.queries.compare import compare_page
from leaks.queries.pull_page import pull_page
from leaks.tests import lane_uploads as up
from leaks.tokens import make_token
from leaks.words import Comparison, Verdict

pytestmark = pytest.mark.django_db

PARENT, HEAD = up.sha("a"), up.sha("b")
OTHER = up.record("engine::Other", line=30)


@pytest.fixture
def project():
    return up.make_project(lanes=("asan", "lsan"))


def pull(project, log, lane="asan", *, hours=1, commit=HEAD, parent=PARENT, **more):
    return up.upload(
        project, commit, log, lane=lane, parent=parent, hours=hours, branch="feature", pull_request=7, **more
    )


def both(project, lane="asan", base=None, head=None):
    up.upload(project, PARENT, base or up.leaking(), lane=lane)
    return pull(project, head or up.leaking(), lane)


def text(client, number=7, status=200):
    answer = client.get(reverse("pull", args=["engine", number]))
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


# --- The answer --------------------------------------------------------------------------------------------------------


def test_what_was_there_before_is_no_leak_of_the_pull_request(client, project):
    both(project)
    both(project, "lsan", up.GREEN, up.GREEN)
    rows = pull_page(project, 7)
    assert (rows.word, rows.sha) == ("pre_existing", HEAD)
    assert rows.answer == "No: it introduces nothing by asan and lsan, and 1 signature was there before."
    assert rows.answer in text(client)


def test_what_leaks_more_than_before_is_not_exonerated(client, project):
    both(project, base=up.leaking(size=192, objects=3), head=up.leaking(size=320, objects=5))
    both(project, "lsan", up.GREEN, up.GREEN)
    rows = pull_page(project, 7)
    assert (rows.word, rows.lanes[0].counts.grew) == ("pre_existing", 1)
    assert rows.answer == "No new signature, but 1 that was there before leaks more in asan: 192 B → 320 B."
    assert rows.answer in text(client)
    compared = compare_page(project, "", HEAD, "asan")
    assert compared.answer == "No new signature, but 1 that was there before leaks more: 192 B → 320 B."
    assert " 1 that was there before leaks more: 192 B → 320 B. Signatures: 1" in compared.statement
    assert "leaks more: 192 B → 320 B" in statement.render(compared, "engine", address)
    assert words(badge(client, "pull/7.svg")) == ["leaks of #7", "▲ no new signature, 1 grew"]
    assert words(badge(client, f"{HEAD}.svg", lane="asan"))[1] == "▲ no new signature, 1 grew"
    found = badge(client, "pull/7.json").json()
    assert (found["isError"], found["color"]) == (True, COLOURS[Verdict.UNEXPLAINED].removeprefix("#"))


def test_what_shrank_is_exonerated(client, project):
    both(project, base=up.leaking(size=320, objects=5), head=up.leaking(size=192, objects=3))
    assert pull_page(project, 7).answer.startswith("No: it introduces nothing")
    assert words(badge(client, "pull/7.svg"))[1] == "✓ introduces nothing, 1 before"


def test_what_a_used_suppression_of_the_base_hid_is_unknown_and_not_introduced(project):
    both(project, base=up.SUPPRESSED)
    (lane,) = pull_page(project, 7).lanes
    assert (lane.result, lane.counts.unknown, lane.counts.introduced) == ("not_comparable", 1, 0)
    (group,) = compare_page(project, "", HEAD, "asan").groups
    assert "the base hid it" in group.rows[0].why


def test_a_used_suppression_of_the_base_that_matches_something_else_hides_nothing(project):
    both(project, base=up.SUPPRESSED, head=up.leaking(OTHER))
    assert pull_page(project, 7).word == "new_findings"


def test_a_base_that_ran_fewer_tests_leaves_a_doubt(project):
    both(project, base=up.doctest(1))
    rows = pull_page(project, 7)
    assert rows.answer.startswith(
        "Yes: it introduces 1 signature in asan; in asan the base ran fewer tests (1 against 57)"
    )


def test_the_run_that_decides_is_the_one_of_the_page_of_the_commit(project):
    up.upload(project, PARENT, up.leaking())
    pull(project, up.FAILED, exit_code=1, hours=1, run_id="1101")
    pull(project, up.GREEN, hours=2, run_id="1102")
    failed = pull(project, up.FAILED, exit_code=1, hours=3, run_id="1103")
    (shown,) = commit_page(project, models.Commit.objects.get(sha=HEAD)).lanes
    decides = [one.ref.public_id for one in shown.attempts if one.decides]
    assert [lane.head.public_id for lane in pull_page(project, 7).lanes] == decides == [failed.public_id]


def test_what_is_new_in_any_lane_is(client, project):
    both(project, head=up.leaking(up.record(), OTHER))
    both(project, "lsan", up.GREEN, up.GREEN)
    rows = pull_page(project, 7)
    assert (rows.word, rows.answer) == ("new_findings", "Yes: it introduces 1 signature in asan.")
    assert [(lane.lane, lane.counts.introduced, lane.counts.pre_existing) for lane in rows.lanes] == [
        ("asan", 1, 1),
        ("lsan", 0, 0),
    ]


def test_a_lane_that_proved_nothing_leaves_the_answer_open(project):
    both(project)
    up.upload(project, PARENT, up.GREEN, lane="lsan")
    pull(project, up.CANCELLED, "lsan", conclusion="cancelled")
    rows = pull_page(project, 7)
    assert rows.word == "not_comparable"
    assert rows.answer.startswith(
        "Not known: it introduces nothing by asan, and 1 signature was there before; nothing is known by lsan"
    )


def test_a_lane_that_never_ran_on_it_is_named(client, project):
    both(project)
    rows = pull_page(project, 7)
    assert rows.owed == ("lsan",)
    assert rows.answer.endswith("; nothing is known by lsan.")
    assert "Not run on it, though main owes it" in text(client)


def test_without_any_verdict_it_says_why_and_where_the_change_may_have_run(client, project):
    up.upload(project, PARENT, up.leaking())
    pull(project, up.CANCELLED, conclusion="cancelled")
    landed = up.upload(project, up.sha("c"), up.leaking(), parent=PARENT, hours=3)
    rows = pull_page(project, 7)
    assert (
        rows.answer
        == f"Not known: asan proved nothing on its newest commit {HEAD[:9]} (no verdict: cancelled before tests)."
    )
    assert [(one.outcome.public_id, one.why.split(";")[0]) for one in rows.siblings] == [
        (landed.public_id, f"it has the same parent {PARENT[:9]}")
    ]
    models.Commit.objects.filter(sha=up.sha("c")).update(title="Keep the cache (#7)")
    assert pull_page(project, 7).siblings[0].why == "its title names this pull request"
    assert "Perhaps the same change elsewhere" in text(client)


def test_other_options_are_refused_with_both_values(client, project):
    up.upload(project, PARENT, up.leaking(), options={"ASAN_OPTIONS": "detect_leaks=1:max_leaks=3"})
    pull(project, up.leaking())
    (lane,) = pull_page(project, 7).lanes
    assert [(one.what, one.base, one.head) for one in lane.differences] == [
        ("ASAN_OPTIONS max_leaks", "3", "0 by default")
    ]
    assert "3 at the base, 0 by default at the head" in text(client)


def test_only_the_newest_commit_counts(project):
    both(project, head=up.leaking(up.record(), OTHER))
    pull(project, up.leaking(), commit=up.sha("c"), hours=4, parent=HEAD)
    rows = pull_page(project, 7)
    assert (rows.sha, rows.earlier) == (up.sha("c"), 1)


def test_the_overview_leads_to_the_pull_request(client, project):
    both(project)
    shown = client.get(reverse("overview", args=["engine"])).content.decode()
    assert '<a href="/p/engine/pull/7/">pull request 7</a>' in shown


def test_an_unknown_number_gets_a_page_that_helps(client, project):
    both(project)
    assert 'href="/p/engine/pull/7/"' in text(client, 8, status=404)
    assert client.get("/api/v1/projects/engine/pull/8").status_code == 404


def test_hostile_names_are_text(client, project):
    both(project)
    models.Lane.objects.filter(name="asan").update(name=hostile_name())
    models.Commit.objects.update(title=hostile_name())
    assert "<script>alert" not in text(client)


def hostile_name() -> str:
    return "<script>alert('x')</script>"


def test_many_lanes_cost_at_most_fifteen_queries(client, project, django_assert_max_num_queries):
    for number in range(6):
        models.Lane.objects.create(project=project, name=f"lane {number}")
        both(project, f"lane {number}")
    both(project, base=up.leaking(), head=up.SUPPRESSED)
    with django_assert_max_num_queries(15):
        text(client)


def test_the_twin_in_the_api(client, project):
    both(project)
    found = client.get("/api/v1/projects/engine/pull/7").json()
    assert (found["number"], found["word"], found["lanes"][0]["counts"]["identical"]) == (7, "pre_existing", 1)


# --- Several lanes on the page of a comparison -------------------------------------------------------------------------


def test_commits_of_several_lanes_have_an_answer_each(client, project):
    both(project, head=up.leaking(up.record(), OTHER))
    both(project, "lsan")
    for base in ("", PARENT[:7]):
        rows = compare_page(project, base, HEAD[:7])
        assert [(one.lane, one.result) for one in rows.lanes] == [("asan", "new_findings"), ("lsan", "pre_existing")]
        assert rows.result == ""
    assert compare_page(project, PARENT, HEAD, "lsan").result == "pre_existing"
    shown = client.get(reverse("compare", args=["engine"]), {"head": HEAD}).content.decode()
    assert "Several lanes ran: each has its own answer" in shown


def test_two_dropped_logs_of_a_scratch_project_can_be_compared():
    project = up.make_project("scratch", lanes=("dropped",))
    base = up.upload(project, PARENT, up.leaking(), lane="dropped", branch=None)
    head = up.upload(project, HEAD, up.leaking(up.record(), OTHER), lane="dropped", branch=None, hours=1)
    rows = compare_page(project, base.public_id, head.public_id)
    assert (rows.result, rows.counts.introduced, rows.counts.identical) == ("new_findings", 1, 1)


# --- The statement -----------------------------------------------------------------------------------------------------


def address(name, *arguments):
    return "https://l.example" + reverse(name, args=arguments)


def test_the_statement_exonerates_with_a_short_table(project):
    both(project)
    markdown = statement.render(compare_page(project, "", HEAD, "asan"), "engine", address)
    name = models.Signature.objects.get().public_id
    assert markdown.startswith(
        "**The head introduces nothing: its only signature is at the base as well, the same to the byte.**"
    )
    assert f"| pre-existing, identical | [{name}](https://l.example/p/engine/signatures/{name}/)" in markdown
    assert "| 64 bytes in 1 | 64 bytes in 1 |" in markdown
    assert markdown.endswith("Not measured by this: whether these leaks grow with the work.\n")


def test_the_statement_of_a_refusal_says_what_differs_and_which_run_would_help(project):
    up.upload(project, PARENT, up.leaking(), options={"ASAN_OPTIONS": "detect_leaks=1:max_leaks=3"})
    pull(project, up.leaking())
    markdown = statement.render(compare_page(project, "", HEAD), "engine", address)
    assert "Not comparable: " in markdown
    assert "- `ASAN_OPTIONS max_leaks`: `3` at the base, `0 by default` at the head" in markdown
    assert "would make it so." in markdown
    assert "introduces nothing" not in markdown


def test_names_out_of_logs_cannot_break_the_statement(project):
    both(project)
    hostile = "a|b\n| c | `x` @team #12 <img src=x> [l](https://evil.example) \\| ** _"
    models.Signature.objects.update(title=hostile)
    models.Lane.objects.filter(name="asan").update(name="`` | @everyone\n# head")
    markdown = statement.render(compare_page(project, "", HEAD), "engine", address)
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
    for forbidden in ("<img", "[l](https", "@team", "\n# head"):
        assert forbidden not in markdown


def test_a_long_comparison_stays_short(project):
    many = [up.record(f"engine::Build{number}", line=number) for number in range(40)]
    both(project, base=up.leaking(*many), head=up.leaking(*many))
    markdown = statement.render(compare_page(project, "", HEAD, "asan"), "engine", address)
    assert markdown.count("\n| ") == 11
    assert re.search(r"… and \d+ more signatures\.", markdown)


def test_without_two_sides_there_is_nothing_to_paste(project):
    assert statement.render(compare_page(project, "", ""), "engine", address) == ""
    assert statement.render(compare_page(project, "", "nope"), "engine", address) == ""


def test_the_api_gives_the_statement(client, project):
    both(project)
    found = client.get("/api/v1/projects/engine/compare", {"head": HEAD[:8], "lane": "asan"}).json()
    assert (found["result"], found["by_itself"], found["counts"]["identical"]) == ("pre_existing", True, 1)
    assert found["markdown"].startswith("**The head introduces nothing")
    missing = client.get("/api/v1/projects/engine/compare", {"head": "nope"})
    assert missing.status_code == 422, "as the gate answers"
    assert "There is no run nope in this project." in missing.content.decode()


# --- Badges ------------------------------------------------------------------------------------------------------------


def badge(client, path, status=200, **query):
    answer = client.get(f"/badge/engine/compare/{path}", query)
    assert answer.status_code == status
    return answer


def words(answer):
    return [one.text for one in ET.fromstring(answer.content).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314  ours


def test_the_badge_of_a_pull_request(client, project):
    both(project, head=up.leaking(up.record(), OTHER))
    assert words(badge(client, "pull/7.svg")) == ["leaks of #7", "● introduces 1"]
    found = badge(client, "pull/7.json").json()
    assert (found["result"], found["isError"], found["page"]) == (
        "new_findings",
        True,
        "http://testserver/p/engine/pull/7/",
    )
    assert words(badge(client, "pull/8.svg", 404)) == ["leakledger", "no such badge"]


def test_the_badge_of_two_sides(client, project):
    both(project)
    both(project, "lsan")
    assert words(badge(client, f"{HEAD[:9]}.svg", lane="asan")) == ["leaks, asan", "✓ introduces nothing, 1 before"]
    assert words(badge(client, f"{HEAD[:9]}.svg")) == ["leaks", "– not known"], (
        "it does not speak for lanes nobody chose"
    )
    badge(client, "nope.svg", 404)
    badge(client, f"{HEAD}.svg", 400, base="x" * 201)


def test_a_private_badge_needs_its_token(client, project):
    both(project)
    models.Project.objects.update(public=False)
    badge(client, "pull/7.svg", 404)
    shown = badge(client, "pull/7.svg", token=make_token(project, "badge", "readme")[1])
    assert shown["Cache-Control"].startswith("private")


@pytest.mark.parametrize("word", list(Comparison))
def test_every_word_has_its_look_and_only_what_is_harmless_is_green(word):
    verdict, _ = LOOKS[word]
    assert (verdict == "clean") == (word in {Comparison.FIXED, Comparison.PRE_EXISTING, Comparison.NO_FINDINGS})
    assert message_of(word, 1, 2, 3)[0] in "✓●◌–"
