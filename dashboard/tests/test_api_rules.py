"""Suppression files that come with an upload."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaks.ingest.validation import LONGEST_RULE_FILE, MOST_RULE_FILES
from leaks.models import LaneOutcome, Project, RuleFile, Token
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db

FIELDS = {"lane": "asan", "commit": "d1b0ea3a8", "run_id": "77", "exit_code": "0"}
RULES = b"# kept by design\nleak:engine::Pool::Get\n"


@pytest.fixture
def send(client: Client):
    project = Project.objects.create(slug="engine", name="Engine")
    secret = make_token(project, Token.Kind.UPLOAD, "lane asan")[1]

    def post(*rules: tuple[str, bytes]):
        files = [SimpleUploadedFile(name, content) for name, content in rules]
        body = {**FIELDS, "log": SimpleUploadedFile("asan.log", b"fine\n"), "rules": files}
        return client.post("/api/v1/logs", body, headers={"Authorization": f"Bearer {secret}"})

    return post


def test_the_exact_text_of_a_suppression_file_is_kept_with_the_run(send) -> None:
    assert send(("lsan.supp", RULES)).status_code == 202
    file = LaneOutcome.objects.get().rule_files.get()
    assert (file.name, file.text) == ("lsan.supp", RULES.decode())


def test_an_upload_without_any_is_as_it_was(send) -> None:
    assert send().status_code == 202
    assert not RuleFile.objects.exists()


def test_the_same_file_twice_is_stored_once_and_what_comes_later_is_added(send) -> None:
    send(("lsan.supp", RULES), ("copy.supp", RULES))
    send(("other.supp", b"leak:engine::Cache\n"))
    names = LaneOutcome.objects.get().rule_files.order_by("name").values_list("name", flat=True)
    assert list(names) == ["copy.supp", "other.supp"]


@pytest.mark.parametrize(
    "rules",
    [
        [("long.supp", b"#" * (LONGEST_RULE_FILE + 1))],
        [("n" * 90 + f"{number}.supp", b"leak:x") for number in range(MOST_RULE_FILES + 1)],
    ],
    ids=["too long", "too many"],
)
def test_too_much_is_refused_and_the_field_named(send, rules) -> None:
    answer = send(*rules)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "rules"
    assert not RuleFile.objects.exists()


def test_bytes_that_are_no_text_do_not_cost_the_rules_beside_them(send) -> None:
    assert send(("lsan.supp", b"leak:a\xff\x00\nleak:b\n")).status_code == 202
    assert "leak:b" in RuleFile.objects.get().text
