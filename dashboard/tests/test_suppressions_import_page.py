"""Importing a suppression file on its page, and through the API."""

import html
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from leaks import models
from leaks.tests.reviewing import RULE, in_days, make_reviewed

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/engine/suppressions/import"
TEXT = f"# ours\r\n{RULE}\r\nrace:engine::Vocab\r\nleak:engine::Vocab # by design\r\nleak:nowhere\r\n"


@pytest.fixture
def made():
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


@pytest.fixture
def tom(client, made):
    client.force_login(made.people["tom"])
    return client


def address():
    return reverse("suppression_import", args=["engine"])


def said(answer):
    return " ".join(html.unescape(answer.content.decode()).split())


def read(client, body, name="old.supp", tool=""):
    sent = {"do": "read", "tool": tool, "file": SimpleUploadedFile(name, body)}
    return client.post(address(), sent)


def take(client, text=TEXT, lines=(2,), **values):
    sent = {
        "do": "propose", "name": "old.supp", "tool": "lsan", "text": json.dumps(text), "lines": list(lines),
        "reason": "Taken over.", "ends_on": in_days(60).isoformat(),
    }  # fmt: skip
    return client.post(address(), {**sent, **values})


# --- Reading ---------------------------------------------------------------------------------------------------------


def test_each_line_stands_there_with_what_is_to_be_said_of_it(tom, made):
    text = said(read(tom, TEXT.encode()))
    assert "4 rules for LeakSanitizer, 2 can be taken over" in text
    assert "4 lines end as under Windows" in text or "5 lines end as under Windows" in text
    assert "'race' is no type of lsan" in text
    assert "A comment has a line of its own" in text
    assert made.pool.public_id in text
    assert "nothing in the history" in text
    assert "never hit" in text
    assert re.findall(r'name="lines" value="(\d+)"', text) == ["2", "5"]
    assert not models.Suppression.objects.exists()


def test_a_rule_that_is_here_already_cannot_be_chosen(tom, made):
    one = made.propose()
    text = said(read(tom, f"{RULE}\nleak:later\n".encode()))
    assert one.public_id in text
    assert "it is here already" in text
    assert re.findall(r'name="lines" value="(\d+)"', text) == ["2"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "The file is empty."),
        (b"\x7fELF\0\0\0", "This is no text"),
        (b"leak:x\n" * 1_500_000, "The file has 10.0 MiB, and a suppression file has 1 MiB at most."),
        (b"# nothing\n", "The file holds comments only: no rule."),
        ("leak:x\n".encode("utf-16"), "The file is saved as UTF-16"),
    ],
    ids=["empty", "program", "large", "comments", "utf-16"],
)
def test_what_is_no_suppression_file_is_refused_with_a_sentence(tom, body, why):
    answer = read(tom, body)
    assert answer.status_code == 400
    assert why in said(answer)


def test_without_a_file(tom):
    answer = tom.post(address(), {"do": "read"})
    assert answer.status_code == 400
    assert "Choose a file." in said(answer)


def test_hostile_text_is_no_markup(tom):
    answer = read(tom, b"leak:<script>alert(1)</script>\n", name="<b>.supp")
    assert b"<script>alert" not in answer.content
    assert b"<b>.supp" not in answer.content


def test_who_may_not_propose_may_not_import(client, made):
    assert "Sign in</a> as a triager to import a file." in said(client.get(address()))
    client.force_login(made.people["vic"])
    assert "Importing needs the role triager" in said(client.get(address()))
    assert read(client, RULE.encode()).status_code == 403
    assert take(client).status_code == 403


# --- Taking over -----------------------------------------------------------------------------------------------------


def test_chosen_lines_become_proposals(tom, made):
    answer = take(tom, lines=(2, 5), lanes=["asan"])
    assert answer.status_code == 302
    rows = models.Suppression.objects.order_by("imported_from")
    assert [(one.rule, one.state, one.imported_from) for one in rows] == [
        (RULE, "proposed", "old.supp:2"),
        ("leak:nowhere", "proposed", "old.supp:5"),
    ]
    listed = said(tom.get(answer.url))
    assert "2 lines are proposed. Another person, with the role approver, decides about each of them." in listed


def test_what_hinders_a_line_stands_on_the_page_and_the_others_are_proposed(tom, made):
    answer = take(tom, lines=(2, 3))
    text = said(answer)
    assert "1 line proposed." in text
    assert "Line 3: “race:” is a type of ThreadSanitizer" in text
    assert "it is here already" in text  # line 2, now
    assert models.Suppression.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"reason": " "}, "Say why these may be silent"),
        ({"ends_on": ""}, "Say when it ends"),
        ({"ends_on": "soon"}, "Write a day such as"),
        ({"lines": []}, "Choose at least one line."),
        ({"lines": ["77"]}, "Line 77 holds no rule."),
        ({"text": "no json"}, "Read the file again."),
        ({"lanes": ["nope"]}, "not one of the available choices"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_lost(tom, made, values, why):
    answer = take(tom, **values)
    assert answer.status_code == 400
    assert why in said(answer) or (values.get("text") and "The file is empty." in said(answer))
    assert not models.Suppression.objects.exists()
    if "text" not in values:
        assert RULE in said(answer)


# --- The API ---------------------------------------------------------------------------------------------------------


def post(client, path, **body):
    return client.post(path, json.dumps(body), content_type="application/json")


def test_the_twin_reads_and_takes_over(tom, made):
    found = post(tom, f"{API}/read", text=TEXT, name="old.supp").json()
    assert (found["tool"], found["of_lines"]) == ("lsan", 4)
    assert [line["takeable"] for line in found["lines"]] == [True, False, False, True]
    assert found["lines"][0]["reach"]["rows"][0]["public_id"] == made.pool.public_id
    assert found["notes"][0]["word"] == "windows_line_end"
    taken = post(tom, API, text=TEXT, name="old.supp", lines=[2, 3], reason="Taken over.", ends_on=in_days(9).isoformat())  # fmt: skip
    assert taken.status_code == 201
    first, second = taken.json()["lines"]
    assert first["public_id"] == models.Suppression.objects.get().public_id
    assert second["refused"]


def test_the_twin_refuses_with_the_field(tom):
    answer = post(tom, f"{API}/read", text="\x01\x02")
    assert answer.status_code == 422
    assert "no text" in answer.json()["detail"]


def test_the_twin_asks_for_the_role(client, made):
    assert post(client, f"{API}/read", text=RULE).status_code == 401
    client.force_login(made.people["vic"])
    assert post(client, f"{API}/read", text=RULE).status_code == 403
