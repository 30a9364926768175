"""Dropping two logs, before a change and with it: one scratch project, two runs, and the page that holds them against each other."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaks import models
from leaks.ingest import sweep
from leaks.tests import cast
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

DROP = "/drop/"


def log(*leaks: tuple[str, int]) -> str:
    """A run of one test, and what it leaked: (function, bytes)."""
    blocks = "".join(
        f"Direct leak of {size} byte(s) in 1 object(s) allocated from:\n"
        "    #0 0x7f1 in malloc (/usr/lib/libasan.so.8+0xb4c11)\n"
        f"    #1 0x55d in {name} /home/me/thing/src/{name}.cpp:12\n"
        "    #2 0x55e in main /home/me/thing/src/main.cpp:4\n\n"
        for name, size in leaks
    )
    total = sum(size for _, size in leaks)
    return (
        "[doctest] test cases: 1 | 1 passed | 0 failed | 0 skipped\n"
        "=================================================================\n"
        f"==7==ERROR: LeakSanitizer: detected memory leaks\n\n{blocks}"
        f"SUMMARY: AddressSanitizer: {total} byte(s) leaked in {len(leaks)} allocation(s).\n"
    )


OLD, NEW = ("make_thing", 64), ("make_other", 4096)
BEFORE, AFTER = log(OLD), log(OLD, NEW)


def file(name, text):
    return SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode(), "text/plain")


def sides(answer):
    """Where it leads to: the project, and the runs of base and head."""
    assert answer.status_code == 302, answer.content.decode()
    path, query = urlsplit(answer["Location"]).path, parse_qs(urlsplit(answer["Location"]).query)
    base, head = (models.LaneOutcome.objects.get(public_id=query[side][0]) for side in ("base", "head"))
    assert path == reverse("compare", args=[base.lane.project.slug])
    return base, head


def dropped(client, **more):
    given = {"text": AFTER, "exit_code": "1", "base_text": BEFORE, "base_exit_code": "1", **more}
    return client.post(DROP, {name: value for name, value in given.items() if value != ""})


def page_of(client, answer):
    return " ".join(client.get(answer["Location"]).content.decode().split())


# --- What becomes of it ----------------------------------------------------------------------------------------------


def test_two_logs_are_two_runs_of_one_lane_in_one_project_and_one_is_the_parent_of_the_other(client):
    base, head = sides(dropped(client))
    assert models.Project.objects.count() == 1
    assert (base.lane, base.lane.name) == (head.lane, "dropped")
    assert base.run.commit != head.run.commit
    assert head.run.commit.parents == [base.run.commit.sha]


def test_each_run_has_its_own_log_and_exit_code_and_both_the_same_options(client):
    answer = dropped(
        client, env="ASAN_OPTIONS=detect_leaks=1", own_roots="src/", base_exit_code="23", conclusion="failure"
    )
    base, head = sides(answer)
    said = [models.Claim.objects.get(part__outcome=one).fields for one in (base, head)]
    assert [one["exit_code"] for one in said] == [23, 1]
    assert [one["options"] for one in said] == [{"ASAN_OPTIONS": "detect_leaks=1"}] * 2
    assert [one.get("conclusion") for one in said] == [None, "failure"], "the CI spoke of the run that is asked about"
    assert base.lane.project.own_roots == ["src/"]
    blobs = [models.Log.objects.get(part__outcome=one).blob for one in (base, head)]
    assert blobs[0] != blobs[1]


def test_files_and_archives_are_taken_on_both_sides(client):
    base, head = sides(
        client.post(DROP, {"log": file("b.log", AFTER), "base_log": [file("a.log", BEFORE), file("c.log", "")]})
    )
    names = [
        sorted(models.Log.objects.filter(part__outcome=one).values_list("name", flat=True)) for one in (base, head)
    ]
    assert names == [["a.log", "c.log"], ["b.log"]]


def test_the_same_log_on_both_sides_is_refused_and_leaves_nothing_behind(client):
    """A file chosen twice would exonerate whatever it shows. Two runs seldom print the same bytes: processes and addresses differ."""
    answer = dropped(client, text=BEFORE)
    assert answer.status_code == 400
    assert "Both sides are the same log, to the byte" in answer.content.decode()
    assert not models.Project.objects.exists()


def test_of_tests_that_nobody_counted_it_is_not_known_whether_they_are_the_same(client):
    answer = dropped(
        client, text="100% tests passed, 0 tests failed out of 3\n", exit_code="0", base_text=BEFORE.split("\n", 1)[1]
    )
    sweep.look()
    assert "Nobody counted the tests of the base" in page_of(client, answer)


def test_it_says_what_the_change_introduced_and_what_was_there_before(client):
    answer = dropped(client)
    sweep.look()
    text = page_of(client, answer)
    assert "The head introduces 1 signature" in text
    introduced, identical = (text.index(f">{title} <") for title in ("Introduced", "Pre-existing, identical"))
    assert introduced < text.index("make_other", introduced) < identical < text.index("make_thing", identical)


def test_the_other_way_round_it_is_fixed(client):
    answer = dropped(client, text=BEFORE, base_text=AFTER)
    sweep.look()
    assert "1 signature of the base is gone" in page_of(client, answer)


# --- While the logs are read -----------------------------------------------------------------------------------------


def test_until_both_are_read_the_page_says_so_concludes_nothing_and_asks_again(client):
    answer = dropped(client)
    text = page_of(client, answer)
    assert "Whether the head introduces anything is not known yet." in text
    assert "The log of the base and that of the head are still to be read." in text
    assert 'hx-trigger="load, every 1s"' in text
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in text
    for claim in ("make it so", "Statement to paste", "Side by side"):
        assert claim not in text
    assert client.get(progress(answer)).status_code == 200
    sweep.look()
    assert "hx-trigger=" not in page_of(client, answer)


def progress(answer):
    base, head = sides(answer)
    return reverse("compare_progress", args=[base.lane.project.slug, base.public_id, head.public_id])


def test_the_progress_names_the_logs_of_both_sides_and_ends_with_the_whole_page(client):
    answer = client.post(DROP, {"log": file("new.log", AFTER), "base_log": file("old.log", BEFORE)})
    asked = client.get(progress(answer))
    text = " ".join(asked.content.decode().split())
    assert re.findall(r"(base|head): (\w+\.log)", text) == [("base", "old.log"), ("head", "new.log")]
    assert "HX-Refresh" not in asked
    sweep.look()
    done = client.get(progress(answer))
    assert (done.status_code, done["HX-Refresh"]) == (286, "true")


def test_the_side_that_waits_is_named(client):
    answer = dropped(client)
    base, _ = sides(answer)
    models.Log.objects.filter(part__outcome=base).update(state="digested")
    assert "The log of the head is still to be read." in page_of(client, answer)


def test_the_api_says_that_it_is_busy(client):
    answer = dropped(client)
    base, head = sides(answer)
    address = f"/api/v1/projects/{base.lane.project.slug}/compare?base={base.public_id}&head={head.public_id}"
    before = client.get(address).json()
    assert (before["busy"], before["result"], before["groups"]) == (True, "not_comparable", [])
    sweep.look()
    after = client.get(address).json()
    assert (after["busy"], after["result"], after["counts"]["introduced"]) == (False, "new_findings", 1)


def test_progress_of_a_run_of_another_project_is_not_told(client):
    slug = sides(dropped(client))[0].lane.project.slug
    other = sides(dropped(client, text="another\n"))[0].public_id
    assert client.get(reverse("compare_progress", args=[slug, other, other])).status_code == 404


# --- Without a second side, and refusals -----------------------------------------------------------------------------


def test_without_a_log_before_the_change_it_is_one_run(client):
    answer = dropped(client, base_text="", base_exit_code="")
    assert "/runs/" in answer["Location"]
    assert models.LaneOutcome.objects.count() == 1


def nothing_is_left():
    kinds = (models.Project, models.LaneOutcome, models.Log, models.Commit, models.Claim)
    return [kind.__name__ for kind in kinds if kind.objects.exists()] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"base_text": ""}, "An exit code of the run before the change needs its log as well."),
        ({"base_text": " \r\n "}, "An exit code of the run before the change needs its log as well."),
        ({"base_exit_code": "one"}, "whole number"),
        ({"text": ""}, "Choose a file, or paste a log."),
        ({"env": "a b=c"}, "no name of a variable"),
        ({"base_log": file("logs.zip", b"PK\x03\x04nonsense")}, "cannot be read"),
        ({"log": file("logs.zip", b"PK\x03\x04nonsense")}, "cannot be read"),
        ({"base_log": file("a.log.gz", b"\x1f\x8b\x08\x00 nothing")}, "starts like gzip"),
        ({"log": file("a.log.gz", b"\x1f\x8b\x08\x00 nothing")}, "starts like gzip"),
    ],
)
def test_what_is_refused_is_said_leaves_nothing_behind_and_keeps_the_text(client, given, said):
    answer = dropped(client, **given)
    text = answer.content.decode()
    assert answer.status_code == 400
    assert said in text
    assert "make_thing" in text or "make_other" in text
    assert nothing_is_left()
    cast.make_project("other")
    sweep.look()  # nor anything that a worker of other projects stumbles over
    assert not models.StaleMark.objects.exists()


@pytest.mark.parametrize(("side", "field"), [("base_log", "id_base_log"), ("log", "id_log")])
def test_a_fault_stands_beside_the_side_it_is_of_and_that_side_is_open(client, side, field):
    text = dropped(client, **{side: file("logs.zip", b"PK\x03\x04nonsense")}).content.decode()
    assert re.search(rf'id="{field}"[^>]*aria-invalid|id="{field}_error"', text), "the fault is not at its field"
    assert re.search(r"<details class=\"panel\" open><summary>Compare", text)


def test_the_second_side_is_closed_until_it_is_wanted(client):
    text = client.get(DROP).content.decode()
    assert '<details class="panel"><summary>Compare with the log before the change' in text


def test_a_project_takes_one_log_with_its_commit(client):
    project = cast.make_project("engine", public=True)
    client.force_login(cast.make_user("triager", project, MemberRole.TRIAGER))
    assert "base_log" not in client.get("/p/engine/drop/").content.decode()
