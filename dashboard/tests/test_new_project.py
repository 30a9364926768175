"""A project from the command line: one command, and a lane can upload."""

import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from leaks.models import Decision, Log, Membership, Project

pytestmark = pytest.mark.django_db


def made(*arguments: str) -> str:
    out = io.StringIO()
    call_command("new_project", *arguments, stdout=out)
    return out.getvalue()


def test_the_printed_token_uploads_and_the_printed_password_signs_in() -> None:
    said = made("engine", "--admin", "ann", "--own-root", "src/")
    token, password = re.findall(r"token +(\S+)", said)[0], re.findall(r"password (\S+)", said)[0]
    answer = Client().post(
        "/api/v1/logs",
        {"lane": "asan", "commit": "ab" * 20, "exit_code": "1", "log": SimpleUploadedFile("a.log", b"x\n")},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 202
    assert Log.objects.count() == 1
    client = Client()
    assert client.post("/login/", {"username": "ann", "password": password}).status_code == 302
    assert client.get("/p/engine/settings/").status_code == 200


def test_it_is_a_decision_and_the_account_administers_it() -> None:
    made("engine", "--admin", "ann")
    project = Project.objects.get(slug="engine")
    assert Membership.objects.get(project=project).role == "admin"
    assert Decision.objects.filter(project=project, what="created").exists()


def test_an_account_that_exists_keeps_its_password() -> None:
    made("one", "--admin", "ann")
    assert "password" not in made("two", "--admin", "ann")


@pytest.mark.parametrize("slug", ["", "a b", "a/b", "ä"])
def test_a_name_that_fits_no_address_is_refused(slug: str) -> None:
    with pytest.raises(CommandError, match="no name for an address"):
        made(slug, "--admin", "ann")


def test_a_second_project_of_one_name_is_refused() -> None:
    made("engine", "--admin", "ann")
    with pytest.raises(CommandError, match="already"):
        made("engine", "--admin", "ann")
