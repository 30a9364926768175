"""The gate's answer: which signatures of a run its base does not have, who may ask, and when nothing can be said."""

from typing import Any

import pytest
from django.test import Client

from leaks.models import LaneExpectation, Project, Signature
from leaks.tests.ledger import LEAKY, MORNING, OTHER, log_text, outcome, project, settle, submit
from leaks.tokens import make_token
from leaks.words import SignatureState

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v1/projects/engine/gate/new"


@pytest.fixture
def ask(client: Client):
    def send(number: int, **query: str) -> dict[str, Any]:
        settle()
        headers = {"Authorization": f"Bearer {make_token(project(), 'upload', 'test')[1]}"}
        answer = client.get(ADDRESS, {"outcome": outcome(number).public_id, **query}, headers=headers)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return send


def sha(number: int) -> str:
    return f"{number:040x}"


def test_new_signatures_are_named_with_size_state_and_address(ask) -> None:
    submit(1, log_text((LEAKY, 64)))
    submit(2, log_text((LEAKY, 64), (OTHER, 8)), branch="fix")
    answer = ask(2)
    assert (answer["result"], answer["failing"], answer["chosen_by"]) == ("new", 1, "latest_proved")
    (new,) = answer["new"]
    assert (new["amount"], new["state"], new["fails"]) == ({"bytes": 8, "objects": 1, "count": 1}, "untriaged", True)
    assert new["page"] == f"http://testserver/p/engine/signatures/{new['id']}/"
    assert answer["base"]["sha"] == sha(1)


def test_what_the_base_has_is_not_new_whatever_its_size(ask) -> None:
    submit(1, log_text((LEAKY, 64)))
    submit(2, log_text((LEAKY, 640)), branch="fix")
    answer = ask(2)
    assert (answer["result"], answer["failing"], answer["new"]) == ("nothing_new", 0, [])


@pytest.mark.parametrize(
    ("state", "fails"),
    [(state, state not in (SignatureState.INTENDED, SignatureState.THIRD_PARTY)) for state in SignatureState],
)
def test_only_a_decision_that_accepts_it_keeps_a_new_one_from_failing(ask, state: SignatureState, fails: bool) -> None:
    submit(1, log_text())
    submit(2, log_text((LEAKY, 64)), branch="fix")
    settle()
    Signature.objects.update(state=state)
    answer = ask(2)
    assert ([new["fails"] for new in answer["new"]], answer["failing"]) == ([fails], int(fails))


def test_the_canary_of_the_lane_is_expected(ask) -> None:
    submit(1, log_text())
    submit(2, log_text((LEAKY, 64)), branch="fix", exit_code=1)
    settle()
    LaneExpectation.objects.create(lane=outcome(2).lane, canary=Signature.objects.get().public_id, valid_from=MORNING)
    assert ask(2)["failing"] == 0


def test_the_base_is_the_given_one_else_the_merge_base_else_an_ancestor_else_what_main_proved_last(ask) -> None:
    submit(1, log_text((LEAKY, 64)))
    submit(2, log_text(), parent=sha(1))
    submit(3, log_text())
    submit(4, log_text((LEAKY, 64)), branch="fix", parent=sha(2))
    assert [ask(4, **query)["base"]["sha"] for query in ({"base": sha(1)}, {"merge_base": sha(1)}, {})] == [
        sha(1),
        sha(1),
        sha(2),
    ]
    submit(5, log_text((LEAKY, 64)), branch="fix", parent=sha(99))
    answer = ask(5)
    assert (answer["chosen_by"], answer["base"]["sha"]) == ("latest_proved", sha(3))


def test_a_base_is_proved_and_never_of_a_fork_or_of_the_future(ask) -> None:
    submit(1, log_text((LEAKY, 64)))
    submit(2, conclusion="cancelled", exit_code=None)
    submit(3, log_text(), pull_request=7)
    submit(4, log_text((LEAKY, 64)), branch="fix")
    submit(5, log_text())
    assert ask(4, merge_base=sha(2))["base"]["sha"] == sha(1)


HIDING = log_text(hidden=64).replace("leak_me", "Pool::get")  # the rule matches a frame of LEAKY


def test_what_the_base_hid_is_not_new_because_the_head_shows_it(ask) -> None:
    """The change took the suppression away, or ran without it."""
    submit(1, HIDING)
    submit(2, log_text((LEAKY, 64)), branch="fix", exit_code=1)
    answer = ask(2)
    assert (answer["result"], answer["new"], answer["failing"]) == ("not_comparable", [], 0)
    assert answer["sentence"].startswith("The base could not have shown what the head found: it hid it")
    (one,) = answer["unknown"]
    assert one["why"] == "Found at the head; the base hid it: a suppression that its log says was used matches it."
    assert (one["amount"]["bytes"], one["page"]) == (64, f"http://testserver/p/engine/signatures/{one['id']}/")


def test_beside_what_the_base_hid_the_rest_is_new_all_the_same(ask) -> None:
    submit(1, HIDING)
    submit(2, log_text((LEAKY, 64), (OTHER, 8)), branch="fix", exit_code=1)
    answer = ask(2)
    assert (answer["result"], answer["failing"], answer["more_unknown"]) == ("new", 1, 0)
    assert [[one["amount"]["bytes"] for one in answer[word]] for word in ("new", "unknown")] == [[8], [64]]


def test_a_rule_that_matches_something_else_hides_nothing_here(ask) -> None:
    submit(1, log_text(hidden=64))
    submit(2, log_text((LEAKY, 64)), branch="fix", exit_code=1)
    answer = ask(2)
    assert (answer["result"], answer["failing"], answer["unknown"]) == ("new", 1, [])


@pytest.mark.parametrize(
    ("base", "head", "query", "sentence"),
    [
        (None, log_text(), {}, "No run of asan on the default branch has a verdict yet"),
        (None, log_text(), {"base": sha(1)}, "No run of asan on the base 000000000 has a verdict"),
        (log_text(), "no summary\n", {}, "The head proved nothing"),
    ],
)
def test_what_cannot_be_compared_says_why(ask, base, head, query, sentence) -> None:
    if base:
        submit(1, base)
    submit(2, head, branch="fix")
    answer = ask(2, **query)
    assert answer["result"] == "not_comparable"
    assert answer["sentence"].startswith(sentence)


def test_while_something_is_to_be_read_there_is_no_answer_yet(client: Client) -> None:
    submit(1, log_text((LEAKY, 64)))
    project()
    Project.objects.update(public=True)
    answer = client.get(ADDRESS, {"commit": sha(1), "lane": "asan"}).json()
    assert answer["result"] == "pending"
    settle()
    assert client.get(ADDRESS, {"commit": sha(1), "lane": "asan"}).json()["result"] == "not_comparable"
    assert client.get(ADDRESS, {"commit": sha(1), "lane": "tsan"}).json()["head"] is None


def test_who_may_not_read_the_project_is_told_nothing(client: Client) -> None:
    project()
    other = Project.objects.create(slug="other", name="Other")
    stranger = {"Authorization": f"Bearer {make_token(other, 'upload', 'test')[1]}"}
    for headers in ({}, stranger):
        assert client.get(ADDRESS, {"outcome": "x"}, headers=headers).status_code == 404


@pytest.mark.parametrize(("query", "status"), [({}, 422), ({"commit": "abc"}, 422), ({"outcome": "x" * 201}, 400)])
def test_a_question_without_a_run_is_refused(client: Client, query: dict[str, str], status: int) -> None:
    project()
    Project.objects.update(public=True)
    assert client.get(ADDRESS, query).status_code == status
