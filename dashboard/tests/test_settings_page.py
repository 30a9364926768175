from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from leaks import journal, models
from leaks.models import Decision, LaneExpectation, Membership, Token
from leaks.tests import cast
from leaks.tokens import make_token
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

ADDRESS = "/p/engine/settings/"
LANE = {"do": "lane", "before": "asan-ubsan", "name": "asan-ubsan", "aliases": "address,undefined"}
EXPECTED = {"detectors": ["address", "leak"], "owed_branch": "main"}
PROJECT = {"do": "project", "name": "Engine", "default_branch": "main", "own_roots": "src/", "plumbing": ""}


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return cast.make_cast()


@pytest.fixture
def admin(client, played):
    client.force_login(played.people["admin"])
    return client


def post(client, status=302, **fields):
    answer = client.post(ADDRESS, fields)
    assert answer.status_code == status, answer.content.decode()
    return answer


def said(client) -> list[str]:
    return [str(message) for message in client.get(ADDRESS).context["messages"]]


def last_entry() -> Decision:
    return Decision.objects.order_by("-sequence")[0]


# --- Who may ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "status"), [(None, 403), ("outsider", 403), ("triager", 403), ("admin", 200)])
def test_only_an_admin_may_see_and_change_it(client, played, who, status):
    if who:
        client.force_login(played.people[who])
    assert client.get(ADDRESS).status_code == status
    if status != 200:
        assert client.post(ADDRESS, {"do": "revoke_token"}).status_code == status


def test_strangers_of_a_private_project_learn_nothing(client, played):
    models.Project.objects.update(public=False)
    client.force_login(played.people["outsider"])
    assert client.get(ADDRESS).status_code == 404


def test_only_an_admin_sees_the_tab(client, played):
    assert ADDRESS not in client.get("/p/engine/").content.decode()
    client.force_login(played.people["admin"])
    assert ADDRESS in client.get("/p/engine/").content.decode()


@pytest.mark.parametrize("do", ["", "everything", "__class__"])
def test_an_unknown_change_is_refused(admin, do):
    post(admin, 400, do=do)


# --- Project ---------------------------------------------------------------------------------------------------------


def test_own_roots_and_plumbing_are_lists_of_lines(admin, played):
    post(
        admin, **PROJECT | {"own_roots": " src/ \r\n\r\ninclude/\nsrc/", "plumbing": "Pool::Get", "reason": "new pool"}
    )
    project = models.Project.objects.get()
    assert (project.own_roots, project.plumbing, project.plumbing_version) == (["src/", "include/"], ["Pool::Get"], 2)


def test_a_change_is_journalled_with_before_and_after(admin, played):
    post(admin, **PROJECT | {"plumbing": "engine::Pool::Get", "default_branch": "trunk", "reason": "renamed"})
    entry = last_entry()
    assert (entry.what, entry.subject, entry.reason, entry.person) == (
        "settings_changed",
        "engine",
        "renamed",
        played.people["admin"],
    )
    assert entry.details == {"default_branch": {"before": "main", "after": "trunk"}}


@pytest.mark.parametrize(("typed", "days"), [("30", 30), ("", 14)])
def test_the_days_without_a_canary_are_the_projects(admin, played, typed, days):
    post(admin, **PROJECT | {"plumbing": "engine::Pool::Get", "canary_days": typed})
    assert models.Project.objects.get().canary_days == days


def test_saving_the_same_again_changes_nothing(admin, played):
    post(admin, **PROJECT | {"plumbing": "engine::Pool::Get"})
    assert said(admin) == ["Nothing to change."]
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source_link", "javascript:alert(1)"),
        ("source_link", "https://x/{commit.__class__}"),
        ("source_link", "https://x/{commit!r}"),
        ("source_link", "https://x/{nonsense}"),
        ("source_link", "https://x/{"),
        ("own_roots", "a" * 301),
        ("own_roots", "\n".join(map(str, range(201)))),
        ("name", ""),
        ("default_branch", " "),
    ],
)
def test_what_makes_no_sense_comes_back_with_what_was_typed(admin, played, field, value):
    answer = post(admin, 422, **PROJECT | {field: value})
    assert answer.context["project_form"].errors.keys() == {field}
    assert models.Project.objects.get().name == "Engine"
    assert not Decision.objects.exists()


def test_a_link_to_the_source_keeps_its_places(admin, played):
    link = "https://code.example/blob/{commit}/{file}#L{line}"
    post(admin, **PROJECT | {"source_link": link})
    assert models.Project.objects.get().source_link == link


# --- Lanes -----------------------------------------------------------------------------------------------------------


def test_expectations_are_dated(admin, played):
    post(admin, **LANE | EXPECTED | {"detectors": ["address"], "reason": "no leaks on arm"})
    old, new = LaneExpectation.objects.order_by("valid_from")
    assert (old.detectors, old.valid_to) == (["address", "leak"], cast.NOW)
    assert (new.detectors, new.valid_from, new.valid_to) == (["address"], cast.NOW, None)
    assert last_entry().details == {"detectors": {"before": ["address", "leak"], "after": ["address"]}}


def test_a_new_name_leaves_the_expectation_alone(admin, played):
    post(admin, **LANE | EXPECTED | {"name": "asan"})
    assert models.Lane.objects.get().name == "asan"
    assert LaneExpectation.objects.count() == 1


def test_a_lane_can_be_made_before_it_ran(admin, played):
    post(admin, do="lane", name="tsan", detectors=["thread"], owed_branch="main")
    lane = models.Lane.objects.get(name="tsan")
    assert lane.expectations.get().detectors == ["thread"]
    assert last_entry().what == "lane_added"


@pytest.mark.parametrize(
    "fields", [{"name": "asan-ubsan"}, {"name": "address,undefined"}, {"name": "x", "aliases": "asan-ubsan"}]
)
def test_a_job_name_means_one_lane(admin, played, fields):
    post(admin, do="lane", **fields)
    assert models.Lane.objects.count() == 1
    assert "already means the lane asan-ubsan." in said(admin)[0]


@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "(?<!x)y", r"(a)\1", "*"])
def test_a_pattern_that_re2_would_refuse_is_refused(admin, played, pattern):
    answer = post(admin, 422, **LANE | EXPECTED | {"patterns": pattern})
    assert answer.context["lanes"][0][1].errors.keys() == {"patterns"}
    assert pattern in answer.content.decode().replace("&lt;", "<")


def test_a_detector_that_nobody_knows_is_refused(admin, played):
    post(admin, 422, **LANE | {"detectors": ["everything"]})


def test_a_lane_that_was_renamed_meanwhile_is_a_conflict(admin, played):
    post(admin, **LANE | EXPECTED | {"before": "gone"})
    assert said(admin) == ["The lane gone was renamed or removed meanwhile."]


# --- Members ---------------------------------------------------------------------------------------------------------


def test_somebody_becomes_a_member_and_changes_role(admin, played):
    post(admin, do="member", username="engine-outsider", role="viewer")
    post(admin, do="member", username="engine-outsider", role="approver")
    assert Membership.objects.get(user=played.people["outsider"]).role == MemberRole.APPROVER
    assert [entry.what for entry in Decision.objects.order_by("sequence")] == ["member_added", "role_changed"]


def test_a_member_can_be_removed(admin, played):
    post(admin, do="remove_member", username="engine-triager")
    assert not Membership.objects.filter(user=played.people["triager"]).exists()
    assert last_entry().what == "member_removed"


@pytest.mark.parametrize("fields", [{"do": "remove_member"}, {"do": "member", "role": "viewer"}])
def test_the_only_admin_stays(admin, played, fields):
    post(admin, username="engine-admin", **fields)
    assert Membership.objects.get(user=played.people["admin"]).role == MemberRole.ADMIN
    assert said(admin) == ["engine-admin is the only admin: name another one first."]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"do": "member", "username": "nobody", "role": "viewer"}, "There is no account called nobody."),
        ({"do": "remove_member", "username": "nobody"}, "nobody is no member any more."),
    ],
)
def test_who_is_not_there_is_said(admin, played, fields, words):
    post(admin, **fields)
    assert said(admin) == [words]


# --- Tokens ----------------------------------------------------------------------------------------------------------


def test_a_token_is_shown_once(admin, played):
    answer = post(admin, 200, do="token", kind="upload", purpose="nightly", days="90")
    secret = answer.context["secret"]
    token = Token.objects.get()
    assert secret in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]
    assert secret not in admin.get(ADDRESS).content.decode()
    assert secret not in str(list(Decision.objects.values()))
    assert (token.kind, token.purpose, token.expires_at) == ("upload", "nightly", cast.NOW + timedelta(days=90))


def test_a_token_without_an_end(admin, played):
    post(admin, 200, do="token", kind="read", purpose="bot", days="0")
    assert Token.objects.get().expires_at is None


def test_a_token_needs_a_purpose(admin, played):
    post(admin, 422, do="token", kind="upload", purpose="", days="90")
    assert not Token.objects.exists()


def test_a_revoked_token_ends_now_and_stays_in_the_list(admin, played):
    with time_machine.travel(cast.NOW - timedelta(days=1), tick=False):
        token, _ = make_token(played.project, "upload", "nightly")
    post(admin, do="revoke_token", hint=token.hint)
    token.refresh_from_db()
    assert token.expires_at == cast.NOW
    assert last_entry().what == "token_revoked"
    assert token.hint in admin.get(ADDRESS).content.decode()


def test_a_token_ends_once_and_only_in_its_project(admin, played):
    token, _ = make_token(cast.make_project("other"), "upload", "nightly")
    post(admin, do="revoke_token", hint=token.hint)
    assert said(admin) == ["This token has ended already."]
    token.refresh_from_db()
    assert token.expires_at is None


# --- The journal, sign-in, errors ------------------------------------------------------------------------------------


def test_the_chain_holds_after_all_kinds_of_changes(admin, played):
    post(admin, **PROJECT)
    post(admin, **LANE | EXPECTED | {"canary": "LKS-1"})
    post(admin, do="member", username="engine-outsider", role="viewer")
    post(admin, 200, do="token", kind="read", purpose="bot", days="30")
    assert journal.head(played.project).sequence == 4
    assert journal.verify(played.project) == []
    assert "token made" in admin.get(ADDRESS).content.decode()


def test_the_page_for_signing_in(client):
    answer = client.get(reverse("login") + "?next=/p/engine/")
    assert answer.status_code == 200
    assert 'name="next" value="/p/engine/"' in answer.content.decode()


@pytest.mark.parametrize(("address", "status"), [("/nowhere/", 404), ("/p/engine/?days=x", 400), (ADDRESS, 403)])
def test_errors_are_pages_with_a_sentence(client, played, address, status):
    answer = client.get(address)
    assert answer.status_code == status
    assert "<h1>" in answer.content.decode()
    assert "Traceback" not in answer.content.decode()


def test_a_form_from_elsewhere_is_refused_with_a_page(played):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(played.people["admin"])
    answer = strict.post(ADDRESS, PROJECT | {"name": "Taken over"})
    assert answer.status_code == 403
    assert "Nothing was changed." in answer.content.decode()
    assert models.Project.objects.get().name == "Engine"


def test_a_bug_is_a_page_too(client, played, monkeypatch):
    client.raise_request_exception = False
    monkeypatch.setattr("dashboard.pages.home.projects.cards", None)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "Something broke here" in answer.content.decode()
    assert "NoneType" not in answer.content.decode()
