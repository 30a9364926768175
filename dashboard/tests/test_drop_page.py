"""Dropping a log: files, archives and pasted text, without any set-up; bounds, refusals, and the way to the run."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dashboard.tests.leak_cast import HOSTILE
from leaks import blobs, models
from leaks.tests import cast
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

DROP = "/drop/"
LEAK = "Direct leak of 64 byte(s) in 1 object(s) allocated from:\n    #0 0x1 in f src/a.cpp:1\n"


def file(name="lane.log", text=LEAK):
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text, "text/plain")


def outcome_of(answer):
    assert answer.status_code == 302, answer.content.decode()
    _, _, slug, _, public_id, _ = answer["Location"].split("/")
    one = models.LaneOutcome.objects.get(public_id=public_id)
    assert one.lane.project.slug == slug
    return one


def logs_of(one):
    return list(models.Log.objects.filter(part__outcome=one).order_by("name"))


def bytes_of(log):
    with blobs.open_blob(log.blob) as stream:
        return stream.read()


# --- Ways in ---------------------------------------------------------------------------------------------------------


def test_a_stranger_drops_a_file_and_is_led_to_its_run(client):
    answer = client.post(DROP, {"log": file(), "exit_code": "1", "conclusion": "failure"})
    one = outcome_of(answer)
    (log,) = logs_of(one)
    assert (log.name, bytes_of(log)) == ("lane.log", LEAK.encode())
    project = one.lane.project
    assert (project.public, project.ends_at is not None) == (True, True)
    claim = models.Claim.objects.get(part__outcome=one)
    assert (claim.fields["exit_code"], claim.fields["conclusion"], claim.fields["ended"]) == (1, "failure", True)


def test_the_run_shows_that_its_log_is_being_read(client):
    address = client.post(DROP, {"log": file()})["Location"]
    text = client.get(address).content.decode()
    assert 'hx-trigger="load, every 1s"' in text
    assert "lane.log" in text


def test_two_drops_share_nothing(client):
    first, second = (outcome_of(client.post(DROP, {"log": file()})) for _ in range(2))
    assert first.lane.project != second.lane.project


def test_several_files_are_logs_of_one_run(client):
    one = outcome_of(client.post(DROP, {"log": [file("a.log"), file("b.log", "other\n")]}))
    assert [log.name for log in logs_of(one)] == ["a.log", "b.log"]


def test_a_zip_is_its_logs(client):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("out/a.log", LEAK)
        archive.writestr("../../etc/b.log", "other\n")
    one = outcome_of(client.post(DROP, {"log": file("logs.zip", packed.getvalue())}))
    assert [log.name for log in logs_of(one)] == ["etc/b.log", "out/a.log"]


def test_pasted_text_is_a_log_with_the_line_ends_it_had(client):
    one = outcome_of(client.post(DROP, {"text": "  " + LEAK.replace("\n", "\r\n")}))
    (log,) = logs_of(one)
    assert (log.name, bytes_of(log)) == ("pasted.log", ("  " + LEAK).encode())


def test_environment_and_own_sources_are_taken_along(client):
    given = {"text": LEAK, "env": "ASAN_OPTIONS=detect_leaks=1\r\n\r\nLANE=x=y", "own_roots": " src/ \r\ncpp/"}
    one = outcome_of(client.post(DROP, given))
    assert one.lane.project.own_roots == ["src/", "cpp/"]
    claim = models.Claim.objects.get(part__outcome=one)
    assert claim.fields["options"] == {"ASAN_OPTIONS": "detect_leaks=1", "LANE": "x=y"}


def test_nobody_else_can_list_what_was_dropped(client):
    slug = outcome_of(client.post(DROP, {"log": file()})).lane.project.slug
    assert slug not in Client().get(reverse("home")).content.decode()


def test_an_empty_file_is_a_log_too(client):
    (log,) = logs_of(outcome_of(client.post(DROP, {"log": file("empty.log", "")})))
    assert log.blob.bytes == 0


# --- Refusals --------------------------------------------------------------------------------------------------------


def refused(client, given, status=400):
    answer = client.post(DROP, given)
    assert answer.status_code == status
    assert not models.LaneOutcome.objects.exists()
    return answer.content.decode()


def test_nothing_dropped_is_said(client):
    assert "Choose a file, or paste a log." in refused(client, {"exit_code": "1"})
    assert "Choose a file, or paste a log." in refused(client, {"text": "  \r\n "})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"exit_code": "one"}, "whole number"),
        ({"exit_code": "99999999999"}, "less than or equal"),
        ({"env": "ASAN_OPTIONS"}, "NAME=VALUE"),
        ({"env": "a b=c"}, "no name of a variable"),
        ({"conclusion": "x" * 61}, "at most 60"),
    ],
)
def test_a_value_outside_its_domain_is_said_beside_its_field_and_the_text_is_kept(client, given, said):
    text = refused(client, {"text": "a log\n", **given})
    assert said in text
    assert "a log" in text


def test_a_broken_zip_is_said(client):
    assert "cannot be read" in refused(client, {"log": file("logs.zip", b"PK\x03\x04nonsense")})


def test_an_empty_zip_is_said(client):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("folder/", "")
    assert "There is no log in it." in refused(client, {"log": file("logs.zip", packed.getvalue())})


def test_a_body_that_is_too_large_is_refused_before_it_is_read(client, settings):
    settings.LEAKLEDGER_MAX_UPLOAD_BYTES = 100
    text = refused(client, {"log": file("big.log", "x" * 200)}, status=413)
    assert "That is too large" in text
    answer = Client(enforce_csrf_checks=True).post(DROP, {"log": file("big.log", "x" * 200)})
    assert answer.status_code == 413  # and not 403: the check of the token would have read the body


def test_a_bomb_is_refused(client, settings):
    settings.LEAKLEDGER_MAX_LOG_BYTES = 1000
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", "x" * 100_000)
    assert "larger than" in refused(client, {"log": file("logs.zip", packed.getvalue())})


def test_a_form_of_another_site_is_refused(client):
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.post(DROP, {"text": LEAK}).status_code == 403
    token = stranger.get(DROP).cookies["csrftoken"].value
    assert stranger.post(DROP, {"text": LEAK, "csrfmiddlewaretoken": token}).status_code == 302


def test_hostile_names_are_text(client):
    one = outcome_of(client.post(DROP, {"log": file("<img src=x>.log"), "conclusion": HOSTILE}))
    text = client.get(reverse("outcome", args=[one.lane.project.slug, one.public_id])).content.decode()
    assert "<script>alert" not in text
    assert "<img" not in text


def test_other_methods_are_refused(client):
    assert client.put(DROP).status_code == 405


# --- Into a project --------------------------------------------------------------------------------------------------


@pytest.fixture
def project():
    return cast.make_project("engine", public=True)


def test_a_triager_drops_into_a_project(client, project):
    client.force_login(cast.make_user("triager", project, MemberRole.TRIAGER))
    assert 'name="lane"' in client.get("/p/engine/drop/").content.decode()
    given = {"text": LEAK, "lane": "asan", "commit": "a" * 40, "parent": "b" * 40, "branch": "main"}
    one = outcome_of(client.post("/p/engine/drop/", given))
    assert (one.lane.project, one.lane.name, one.run.commit.sha) == (project, "asan", "a" * 40)
    assert one.run.commit.parents == ["b" * 40]


def test_what_is_no_commit_is_said_beside_its_field(client, project):
    client.force_login(cast.make_user("triager", project, MemberRole.TRIAGER))
    answer = client.post("/p/engine/drop/", {"text": LEAK, "commit": "main"})
    assert answer.status_code == 400
    assert "commit is not a commit" in answer.content.decode()


def test_readers_may_not_write_and_strangers_see_nothing(client, project):
    assert client.post("/p/engine/drop/", {"text": LEAK}).status_code == 403
    client.force_login(cast.make_user("viewer", project))
    assert client.post("/p/engine/drop/", {"text": LEAK}).status_code == 403
    models.Project.objects.update(public=False)
    client.force_login(cast.make_user("stranger"))
    assert client.get("/p/engine/drop/").status_code == 404
    assert not models.LaneOutcome.objects.exists()


# --- The page --------------------------------------------------------------------------------------------------------


def test_the_form_works_without_scripts(client):
    text = client.get(DROP).content.decode()
    assert 'enctype="multipart/form-data"' in text
    assert '<input type="file" name="log"' in text
    assert "multiple" in text


def test_it_costs_next_to_nothing(client, django_assert_max_num_queries):
    with django_assert_max_num_queries(2):
        client.get(DROP)
