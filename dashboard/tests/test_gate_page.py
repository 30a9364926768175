"""The gate's page: the answer, cases that people open and withdraw, and the twin in the API."""

import pytest
from django.urls import reverse

from leaks import journal, models
from leaks.tests import cast
from leaks.tests import lane_uploads as up
from leaks.tokens import make_token
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db

RED, FIX = up.sha("a"), up.sha("b")


@pytest.fixture
def project():
    project = up.make_project()
    up.upload(project, RED, up.leaking())
    return project


@pytest.fixture
def triager(client, project):
    client.force_login(person := cast.make_user("triager", project, MemberRole.TRIAGER))
    return person


def name() -> str:
    return models.Signature.objects.get().public_id


def page(client, status=200, **query):
    answer = client.get(reverse("gate", args=["engine"]), query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def opened(client, status=302, **given):
    answer = client.post(reverse("gate_open", args=["engine"]), {"signature": name(), **given})
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_a_signature_alone_is_enough_to_ask(client, project):
    text = page(client, signature=name())
    assert "not proven: after no verdict" in text
    assert "No run after the one before has a verdict yet" in text
    up.upload(project, FIX, up.GREEN, hours=1)
    text = page(client, signature=name())
    assert ">proven<" in text
    assert "Nothing more is owed" in text


def test_what_differs_and_what_to_do_next_stand_there(client, project):
    up.upload(project, FIX, up.GREEN, hours=1, options={"ASAN_OPTIONS": "detect_leaks=1:max_leaks=1"})
    text = page(client, before=RED, after=FIX)
    assert "not proven: options differ" in text
    assert "ASAN_OPTIONS max_leaks" in text
    assert "Next:" in text


@pytest.mark.parametrize("query", [{"before": "nope"}, {"signature": "<b>x</b>"}, {"after": RED}, {"before": "#"}])
def test_a_question_that_lacks_something_is_a_page(client, project, query):
    text = page(client, **query)
    assert "The question is not complete" in text
    assert "<b>x</b>" not in text


@pytest.mark.parametrize("query", [{"before": "x" * 201}, {"lane": "a\nb"}])
def test_what_is_no_name_is_400(client, project, query):
    page(client, 400, **query)


# --- Cases -------------------------------------------------------------------------------------------------------------


def test_a_case_is_opened_and_stays_not_proven_until_a_run_shows_it(client, project, triager):
    opened(client, reason="The pool was mended.")
    case = models.GateCase.objects.get()
    assert (case.before, case.after, case.lane, case.opened_by) == (RED, "", "asan", triager)
    assert "not proven yet: after no verdict" in page(client)
    up.upload(project, FIX, up.GREEN, hours=1)
    assert "✓ proven" in page(client)
    decision = models.Decision.objects.get()
    assert (decision.what, decision.subject, decision.reason) == ("gate_opened", case.public_id, "The pool was mended.")
    assert decision.details == {"signature": name(), "lane": "asan", "before": RED, "after": ""}
    assert journal.verify(project) == []


def test_the_same_case_is_opened_once(client, project, triager):
    opened(client)
    assert "This case is open already." in opened(client, 409)
    opened(client, after=FIX)
    assert models.GateCase.objects.count() == 2


@pytest.mark.parametrize(
    "refusal",
    [
        ({"signature": ""}, 400, "Signature: "),
        ({"before": FIX}, 409, "The run before does not show this signature"),
        ({"before": "nope"}, 409, "There is no run nope"),
        ({"after": RED}, 409, "The commit after is the one before."),
        ({"after": "c" * 12}, 409, "Give the whole hash of a commit that has not run yet."),
        ({"after": "main"}, 409, "Give the whole hash of a commit that has not run yet."),
        ({"signature": "LKS-NO"}, 409, "There is no signature LKS-NO"),
        ({"reason": "x" * 10_001}, 400, "Reason: "),
    ],
)
def test_what_makes_no_case_is_refused(client, project, triager, refusal):
    given, status, said = refusal
    up.upload(project, FIX, up.GREEN, hours=1)
    assert said in opened(client, status, **given)
    assert not models.GateCase.objects.exists()
    assert not models.Decision.objects.exists()


def test_a_commit_after_that_has_not_run_yet_is_kept(client, project, triager):
    opened(client, after=FIX.upper())
    assert models.GateCase.objects.get().after == FIX
    assert f"No run of asan on {FIX[:9]} is known yet." in page(client)
    up.upload(project, FIX, up.GREEN, hours=1)
    assert "✓ proven" in page(client)


def test_withdrawing_needs_a_reason_and_ends_it(client, project, triager):
    opened(client)
    case = models.GateCase.objects.get()
    address = reverse("gate_withdraw", args=["engine", case.public_id])
    assert client.post(address).status_code == 409
    assert client.post(address, {"reason": "It is intended."}).status_code == 302
    assert "No case is open" in page(client)
    assert list(models.Decision.objects.values_list("what", "reason")) == [
        ("gate_opened", ""),
        ("gate_withdrawn", "It is intended."),
    ]
    again = client.post(address, {"reason": "Again."})
    assert (again.status_code, "Somebody withdrew this case meanwhile." in again.content.decode()) == (409, True)
    assert client.post(reverse("gate_withdraw", args=["engine", "none"]), {"reason": "x"}).status_code == 404


def test_readers_see_cases_and_change_none(client, project):
    client.force_login(cast.make_user("viewer", project))
    assert opened(client, 403)
    assert "Keep as an open case" not in page(client, signature=name())
    client.logout()
    assert client.post(reverse("gate_open", args=["engine"]), {"signature": name()}).status_code == 403
    models.Project.objects.update(public=False)
    page(client, 404)


def test_neither_the_answer_nor_the_cases_cost_more_than_eighteen_queries(
    client, project, triager, django_assert_max_num_queries
):
    up.upload(project, FIX, up.GREEN, hours=1)
    with django_assert_max_num_queries(18):
        page(client, before=RED, after=FIX)
    for number in range(8):
        models.GateCase.objects.create(
            project=project,
            public_id=f"g{number}",
            signature=models.Signature.objects.get(),
            lane="asan",
            before=RED,
            opened_at=up.NOON,
        )
    with django_assert_max_num_queries(18):
        page(client)


# --- The API -----------------------------------------------------------------------------------------------------------


def api(client, path, status=200, token="", **query):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = client.get(f"/api/v1/projects/engine/gate/{path}", query, headers=headers)
    assert answer.status_code == status
    return answer.json()


def test_the_proof_of_the_api(client, project):
    up.upload(project, FIX, up.GREEN, hours=1)
    found = api(client, "proof", signature=name(), before=RED[:7], after=FIX[:7], lane="asan")
    assert (found["result"], found["reason"], found["before"]["sha"], found["after"]["sha"]) == (
        "pass",
        "proven",
        RED,
        FIX,
    )
    assert [fact["what"] for fact in found["facts"]][:2] == ["verdict", "exit code"]


def test_a_wrong_question_is_422(client, project):
    assert api(client, "proof", 422)["errors"][0]["field"] == "signature"
    assert "There is no run nope" in api(client, "proof", 422, before="nope")["detail"]


def test_an_upload_token_may_ask(client, project):
    models.Project.objects.update(public=False)
    api(client, "proof", 404, before=RED)
    assert (
        api(client, "proof", token=make_token(project, "upload", "lane")[1], before=RED)["reason"] == "after_no_verdict"
    )


def test_open_cases_of_the_api(client, project, triager):
    opened(client)
    (case,) = api(client, "cases")
    assert (case["before"], case["answer"]["reason"], case["signature"]["public_id"]) == (
        RED,
        "after_no_verdict",
        name(),
    )
