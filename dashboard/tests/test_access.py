from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.test import RequestFactory
from django.utils import timezone

from dashboard import access
from leaks import tokens
from leaks.models import Membership, Project, Token
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


def request(user: User | None = None, secret: str = "") -> HttpRequest:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    made = RequestFactory().get("/", headers=headers)
    made.user = user or AnonymousUser()
    return made


def with_token(project: Project, kind: str) -> HttpRequest:
    made = request()
    made.auth = tokens.make_token(project, kind, "test")[0]  # type: ignore[attr-defined]  # ninja puts it there
    return made


def member(project: Project, role: str, name: str = "ada") -> User:
    user = User.objects.create_user(name)
    Membership.objects.create(project=project, user=user, role=role)
    return user


# --- Tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(Token.Kind))
def test_a_token_is_known_by_its_secret_of_which_only_a_hash_is_kept(project: Project, kind: Token.Kind) -> None:
    token, secret = tokens.make_token(project, kind, "lane asan")
    assert access.token_of(request(secret=secret)) == token
    assert secret.startswith(token.hint)
    assert not {value for value in vars(token).values() if isinstance(value, str) and secret in value}


def test_two_tokens_are_never_the_same(project: Project) -> None:
    assert len({tokens.make_token(project, "read", "one")[1] for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic bGx1Xw==", "llu_nothing", "Bearer \udce9"]
)
def test_any_other_header_is_refused(project: Project, header: str) -> None:
    tokens.make_token(project, "upload", "lane")
    made = request()
    made.META["HTTP_AUTHORIZATION"] = header
    with pytest.raises(access.TokenRefused):
        access.token_of(made)


def test_an_expired_token_is_refused_with_its_date(project: Project) -> None:
    token, secret = tokens.make_token(project, "upload", "lane", expires=timezone.now() + timedelta(seconds=60))
    assert access.token_of(request(secret=secret)) == token
    Token.objects.update(expires_at=timezone.now(), created_at=timezone.now() - timedelta(days=1))
    with pytest.raises(access.TokenRefused, match="expired on 2"):
        access.token_of(request(secret=secret))


def test_the_token_of_an_ended_project_is_refused(project: Project) -> None:
    _, secret = tokens.make_token(project, "upload", "lane")
    Project.objects.update(ends_at=timezone.now())
    with pytest.raises(access.TokenRefused, match="not known"):
        access.token_of(request(secret=secret))


def test_a_read_token_does_not_upload(project: Project) -> None:
    _, secret = tokens.make_token(project, "read", "bot")
    with pytest.raises(PermissionDenied):
        access.upload_token(request(secret=secret))


def test_the_last_use_is_noted_once_a_minute(project: Project, django_assert_num_queries) -> None:
    token, secret = tokens.make_token(project, "upload", "lane")
    with django_assert_num_queries(2):
        access.token_of(request(secret=secret))
    token.refresh_from_db()
    assert token.last_used_at is not None
    with django_assert_num_queries(1):
        access.token_of(request(secret=secret))


# --- Projects --------------------------------------------------------------------------------------------------------


def test_a_stranger_gets_the_same_answer_for_a_hidden_and_a_missing_project(project: Project) -> None:
    for slug in ("engine", "missing"):
        with pytest.raises(Http404, match="There is no project"):
            access.project_for(request(), slug)


def test_a_public_project_can_be_read_by_everyone_and_changed_by_nobody(project: Project) -> None:
    Project.objects.update(public=True)
    found = access.project_for(request(), "engine")
    assert access.may(request(), found, MemberRole.VIEWER)
    assert not access.may(request(), found, MemberRole.TRIAGER)


def test_a_scratch_project_is_gone_after_its_end(project: Project) -> None:
    Project.objects.update(public=True, ends_at=timezone.now() + timedelta(hours=1))
    assert access.project_for(request(), "engine") == project
    Project.objects.update(ends_at=timezone.now())
    with pytest.raises(Http404):
        access.project_for(request(), "engine")


@pytest.mark.parametrize("held", list(access.ROLES))
@pytest.mark.parametrize("wanted", list(access.ROLES))
def test_a_role_includes_those_before_it(project: Project, held: MemberRole, wanted: MemberRole) -> None:
    made = request(member(project, held))
    assert access.may(made, project, wanted) == (access.ROLES.index(held) >= access.ROLES.index(wanted))


def test_a_role_counts_in_its_own_project_only(project: Project) -> None:
    other = Project.objects.create(slug="other", name="Other")
    made = request(member(project, MemberRole.ADMIN))
    assert not access.may(made, other, MemberRole.VIEWER)
    with pytest.raises(PermissionDenied, match="approver"):
        access.require(made, other, MemberRole.APPROVER)
    access.require(made, project, MemberRole.APPROVER)


def test_a_superuser_may_everything_and_an_inactive_one_nothing(project: Project) -> None:
    user = User.objects.create_superuser("root")
    assert access.may(request(user), project, MemberRole.ADMIN)
    user.is_active = False
    assert not access.may(request(user), project, MemberRole.VIEWER)


def test_the_role_is_looked_up_once_a_request(project: Project, django_assert_num_queries) -> None:
    made = request(member(project, MemberRole.TRIAGER))
    with django_assert_num_queries(1):
        assert [access.may(made, project, role) for role in access.ROLES] == [True, True, False, False]


def test_a_read_token_reads_its_project_and_no_other(project: Project) -> None:
    other = Project.objects.create(slug="other", name="Other")
    made = with_token(project, "read")
    assert access.may(made, project, MemberRole.VIEWER)
    assert not access.may(made, project, MemberRole.TRIAGER)
    assert not access.may(made, other, MemberRole.VIEWER)


def test_an_upload_token_follows_its_uploads_and_reads_nothing_else(project: Project) -> None:
    other = Project.objects.create(slug="other", name="Other")
    made = with_token(project, "upload")
    assert access.may_follow(made, project)
    assert not access.may_follow(made, other)
    assert not access.may(made, project, MemberRole.VIEWER)


def test_the_list_holds_public_and_own_projects_and_no_scratch(project: Project) -> None:
    Project.objects.create(slug="demo", name="Demo", public=True)
    Project.objects.create(slug="hidden", name="Hidden")
    soon = timezone.now() + timedelta(days=1)
    Project.objects.create(slug="scratch-1", name="Scratch", public=True, ends_at=soon)
    ada = member(project, MemberRole.VIEWER)
    Membership.objects.create(project=Project.objects.get(slug="demo"), user=ada, role=MemberRole.ADMIN)
    names = {
        "stranger": [one.slug for one in access.projects_for(request())],
        "ada": [one.slug for one in access.projects_for(request(ada))],
        "root": [one.slug for one in access.projects_for(request(User.objects.create_superuser("root")))],
    }
    assert names == {
        "stranger": ["demo"],
        "ada": ["demo", "engine"],
        "root": ["demo", "engine", "hidden", "scratch-1"],
    }
