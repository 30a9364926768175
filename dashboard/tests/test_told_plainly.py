"""Answers that say what is wrong: addresses, places in lists, tombstones, bulk limits, CODEOWNERS lines; and what the server's output leaves out."""

import json
import logging.config

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError
from django.urls import reverse

from dashboard.tests.leak_cast import make_leak_cast
from leaks.cited import is_address
from leaks.models import Project, Signature
from leaks.ownership import CodeOwnersFile
from leaks.tests.moving import back, merged, names, of, parted, three_leaks
from leaks.tests.resigning import FETCH, VOCAB

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    return make_leak_cast()


@pytest.fixture
def triager(client, played):
    client.force_login(played.cast.people["triager"])
    return client


# --- Addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["http://jira/browse/X-1", "https://jira:8080/x?y=1", "http://JIRA", "https://bugs.example/7", "http://10.0.0.1/x"],
)
def test_an_address_may_have_a_host_of_one_word(text):
    is_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://us:pw@host/1",
        "https://us:pw@host.example/1",
        "https://secret@host.example/1",
        "http://-x/",
        "http://a..b/",
        "http://a b/",
        "ftp://jira/1",
        "jira",
        "http://",
        "javascript:alert(1)",
    ],
)
def test_an_address_with_a_password_or_without_a_host_is_refused(text):
    with pytest.raises(ValidationError):
        is_address(text)


@pytest.mark.parametrize(("url", "status"), [("http://jira/browse/X-1", 200), ("https://us:pw@host.example/1", 422)])
def test_an_issue_is_linked_by_an_address_that_can_be_shown(triager, played, url, status):
    address = f"/api/v1/projects/engine/signatures/{played.signature.public_id}/issue"
    body = json.dumps({"issue_url": url, "expected": ""})
    assert triager.post(address, body, content_type="application/json").status_code == status


# --- Signatures ------------------------------------------------------------------------------------------------------


def test_an_id_in_small_letters_leads_to_the_signature(triager, played):
    Signature.objects.filter(pk=played.signature.pk).update(public_id="LKS-7F3A")
    answer = triager.get(reverse("signature", args=["engine", "lks-7f3a"]))
    assert (answer.status_code, answer["Location"]) == (302, "/p/engine/signatures/LKS-7F3A/")
    assert triager.get(reverse("signature", args=["engine", "lks-none"])).status_code == 404


def test_a_place_that_cannot_be_read_is_an_error_and_not_the_first_page(triager, played):
    address = reverse("api:list_signatures", args=["engine"])
    refused = triager.get(address, {"after": "x"})
    assert (refused.status_code, "no place in this list" in refused.json()["detail"]) == (400, True)
    assert triager.get(address, {"after": played.signature.public_id}).status_code == 200


def test_the_api_says_of_a_tombstone_where_its_keys_went(client):
    person = three_leaks()
    merged(person, of(FETCH), of(VOCAB))
    split = parted(person, of(FETCH), names(of(FETCH))[:1])
    back(person, split.sequence)
    Project.objects.update(public=True)
    answer = client.get(reverse("api:show_signature", args=["engine", split.into]))
    assert answer.status_code == 410
    assert f"what led to it leads to {of(FETCH).public_id} now" in answer.json()["detail"]


def test_too_many_at_once_are_told_by_the_field_that_names_them(triager, played):
    body = {
        "state": "confirmed",
        "reason": "Ours.",
        "expected": {f"LKS-{number}": "untriaged" for number in range(201)},
    }
    answer = triager.post(
        "/api/v1/projects/engine/signatures/states", json.dumps(body), content_type="application/json"
    )
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == ["expected"]


# --- CODEOWNERS ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["[bad @x", "^[bad", "[a]b] @x", "*.c not-an-owner", "*.c @x also", "!x @y"])
def test_a_line_that_is_no_rule_is_told_and_passed_over(line):
    read = CodeOwnersFile(f"* @all\n{line}\n")
    assert [fault.line for fault in read.faults] == [2]
    assert read.owners_of("src/a.c") == ("@all",)


@pytest.mark.parametrize(
    "line",
    [
        "[Docs]",
        "^[Docs]",
        "[Docs][2] @x",
        "[Docs and more] @x @y",
        "*.c",
        "*.c @x # a word",
        "*.c @org/team",
        "*.c ann@mail.example",
        r"a\ b.c @x",
        "*.c @@maintainer",
    ],
)
def test_a_line_that_is_a_rule_or_a_section_is_no_fault(line):
    assert CodeOwnersFile(line).faults == []


# --- The server's output ---------------------------------------------------------------------------------------------


def test_ordinary_refusals_leave_no_traceback_in_the_output(client, capfd):
    logger = logging.getLogger("django.request")
    before = logger.level
    try:
        logging.config.dictConfig({**settings.LOGGING, "root": {}})
        client.get("/nowhere/")
        client.get("/p/engine/signatures/x/")
        assert not logger.isEnabledFor(logging.WARNING)
        assert logger.isEnabledFor(logging.ERROR)
    finally:
        logger.setLevel(before)
    assert "Traceback" not in "".join(capfd.readouterr())
