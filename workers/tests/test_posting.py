"""Commit statuses against a server that answers as GitHub and GitLab do."""

from datetime import timedelta
from typing import Any

import pytest

from leaks.models import CommitStatus, StatusTarget
from leaks.outbox import MOST_ATTEMPTS
from leaks.statuses import start_again
from leaks.tests.ledger import LEAKY, MORNING, log_text, project, settle, submit
from leaks.words import StatusProvider
from workers import posting
from workers.posting import message_of, post_one
from workers.tests.receiver import Receiver, Reply, receiving, said

pytestmark = pytest.mark.django_db
GITHUB, GITLAB = StatusProvider.GITHUB, StatusProvider.GITLAB
SHA = f"{1:040x}"


@pytest.fixture
def receiver(settings: Any):
    with receiving() as made:
        settings.LEAKLEDGER_PRIVATE_HOSTS = [made.host]
        settings.LEAKLEDGER_URL = "https://leaks.example.org"
        yield made


def target(receiver: Receiver, provider: StatusProvider = GITHUB, **fields: Any) -> StatusTarget:
    values = {"repository": "acme/engine", "token": "t0ken", "base_url": receiver.url, "enabled_at": MORNING, **fields}
    return StatusTarget.objects.create(project=project(), provider=provider, **values)


def one(receiver: Receiver, provider: StatusProvider = GITHUB, **fields: Any) -> CommitStatus:
    """A clean commit whose status waits."""
    target(receiver, provider, **fields)
    submit(1, log_text())
    settle()
    return CommitStatus.objects.get()


def row() -> CommitStatus:
    return CommitStatus.objects.select_related("target").get()


def rested() -> None:
    CommitStatus.objects.update(retry_at=None)
    StatusTarget.objects.update(retry_at=None)


def test_github_is_asked_in_its_form(receiver: Receiver) -> None:
    one(receiver)
    assert post_one()
    [sent] = receiver.sent
    assert sent.path == f"/repos/acme/engine/statuses/{SHA}"
    assert sent.document == {
        "state": "success",
        "context": "leakledger/asan",
        "description": "clean: 57 tests passed",
        "target_url": f"https://leaks.example.org/p/engine/commits/{SHA}/",
    }
    assert sent.headers["authorization"] == "Bearer t0ken"
    assert sent.headers["accept"] == "application/vnd.github+json"
    assert sent.headers["user-agent"]


@pytest.mark.parametrize(("repository", "path"), [("group/sub/engine", "group%2Fsub%2Fengine"), ("42", "42")])
def test_gitlab_is_asked_in_its_form(receiver: Receiver, repository: str, path: str) -> None:
    one(receiver, GITLAB, repository=repository)
    assert post_one()
    [sent] = receiver.sent
    assert sent.path == f"/projects/{path}/statuses/{SHA}"
    assert (sent.document["state"], sent.document["name"]) == ("success", "leakledger/asan")
    assert sent.headers["private-token"] == "t0ken"
    assert "authorization" not in sent.headers


def test_without_an_address_of_the_site_there_is_no_link(receiver: Receiver, settings: Any) -> None:
    settings.LEAKLEDGER_URL = ""
    one(receiver)
    post_one()
    assert "target_url" not in receiver.sent[0].document


def test_the_same_state_is_not_posted_twice(receiver: Receiver) -> None:
    one(receiver)
    assert post_one()
    assert not post_one()
    settle()
    assert not post_one()
    assert len(receiver.sent) == 1
    assert (row().posted_state, row().due, row().error) == ("success", False, "")


def test_a_verdict_that_changes_is_posted_again(receiver: Receiver) -> None:
    one(receiver)
    post_one()
    submit(1, log_text((LEAKY, 64)), attempt=2, exit_code=1, conclusion="failure")
    settle()
    assert post_one()
    assert [sent.document["state"] for sent in receiver.sent] == ["success", "failure"]


def test_what_changed_while_it_was_posted_is_posted_after_it(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    one(receiver)
    monkeypatch.setattr(
        "workers.posting.reach",
        lambda point: CommitStatus.objects.update(state="failure") if point == "posted" else None,
    )
    post_one()
    monkeypatch.undo()
    assert (row().due, row().posted_state) == (True, "success")
    assert post_one()
    assert receiver.sent[-1].document["state"] == "failure"


def test_commits_are_posted_in_their_order_and_not_in_that_of_arrival(receiver: Receiver) -> None:
    target(receiver)
    for number in (3, 1, 2):
        submit(number, log_text())
    settle()
    while post_one():
        pass
    assert [int(sent.path[-2:]) for sent in receiver.sent] == [1, 2, 3]


# --- Answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        said(404, "Not Found"),
        said(422, "No commit found for SHA: 0001"),
        said(403, "Resource not accessible by integration"),
        said(400, "Bad request"),
        Reply(301, b"", {"Location": "https://api.github.com/repositories/1"}),
    ],
)
def test_what_can_never_succeed_is_given_up_and_shown(receiver: Receiver, reply: Reply) -> None:
    one(receiver)
    receiver.replies = [reply]
    post_one()
    assert not post_one()
    assert (row().due, row().posted_state) == (False, "")
    assert str(reply.status) in row().error
    assert row().target.error == ""


def test_a_refused_token_stops_all_until_somebody_mends_it(receiver: Receiver) -> None:
    target(receiver)
    for number in (1, 2, 3):
        submit(number, log_text())
    settle()
    receiver.replies = [said(401, "Bad credentials"), Reply()]
    while post_one():
        pass
    assert len(receiver.sent) == 1
    refused = StatusTarget.objects.get()
    assert "Bad credentials" in refused.error
    start_again(refused)
    while post_one():
        pass
    assert len(receiver.sent) == 4
    assert not CommitStatus.objects.filter(due=True).exists()


@pytest.mark.parametrize("reply", [said(502, "Bad gateway"), said(503, "x", Retry_After="120"), Reply(close=True)])
def test_what_may_pass_is_tried_again_later(receiver: Receiver, reply: Reply) -> None:
    one(receiver)
    receiver.replies = [reply, Reply()]
    post_one()
    assert not post_one(), "not at once"
    assert (row().due, row().attempts) == (True, 1)
    assert row().error
    rested()
    assert post_one()
    assert (row().posted_state, row().error, row().attempts) == ("success", "", 0)


@pytest.mark.parametrize(
    "reply", [said(429, "slow down", Retry_After="120"), said(403, "secondary rate limit", Retry_After="60")]
)
def test_who_asks_too_often_rests_with_all_commits(receiver: Receiver, reply: Reply) -> None:
    target(receiver)
    submit(1, log_text())
    submit(2, log_text())
    settle()
    receiver.replies = [reply, Reply()]
    while post_one():
        pass
    assert len(receiver.sent) == 1
    assert StatusTarget.objects.get().retry_at is not None
    rested()
    while post_one():
        pass
    assert len(receiver.sent) == 3


def test_after_the_last_attempt_it_is_given_up_and_shown(receiver: Receiver) -> None:
    one(receiver)
    receiver.replies = [said(502, "Bad gateway")]
    for _ in range(MOST_ATTEMPTS + 2):
        rested()
        post_one()
    assert len(receiver.sent) == MOST_ATTEMPTS
    assert row().due is False
    assert row().error.startswith(f"Given up after {MOST_ATTEMPTS} attempts.")


def test_gitlab_says_that_the_state_is_there_already(receiver: Receiver) -> None:
    one(receiver, GITLAB)
    told = 'Cannot transition status via :enqueue from :{} (Reason(s): Status cannot transition via "enqueue")'
    receiver.replies = [said(400, told.format("success"))]
    post_one()
    assert (row().posted_state, row().error) == ("success", "")
    CommitStatus.objects.update(posted_state="", due=True)
    receiver.replies = [said(400, told.format("failed"))]
    post_one()
    assert (row().posted_state, row().due) == ("", False)


def test_an_answer_of_a_hostile_server_stays_a_line_of_text(receiver: Receiver) -> None:
    one(receiver)
    receiver.replies = [Reply(400, b'{"message": "\\u202e<script>\\n\\u0000' + b"x" * 5000 + b'"}')]
    post_one()
    assert len(row().error) < 400
    assert "\n" not in row().error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"message": "Not Found"}', "Not Found"),
        ('{"message": {"ref": ["bad"]}}', "{'ref': ['bad']}"),
        ('{"error": "insufficient_scope"}', "insufficient_scope"),
        ("[]", "[]"),
        ("<html>", "<html>"),
        ("", ""),
    ],
)
def test_the_sentence_is_found_in_what_a_provider_answers(text: str, message: str) -> None:
    assert message_of(text) == message


# --- Tokens ----------------------------------------------------------------------------------------------------------


def test_without_any_token_nothing_is_asked(receiver: Receiver) -> None:
    one(receiver, token="")
    post_one()
    assert receiver.sent == []
    assert "No token" in row().target.error


def test_the_token_of_the_environment_goes_to_no_address_that_somebody_typed(receiver: Receiver, settings: Any) -> None:
    settings.LEAKLEDGER_GITHUB_TOKEN = "of the operator"
    one(receiver, token="")
    post_one()
    assert receiver.sent == []


def test_it_goes_to_the_providers_own(receiver: Receiver, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LEAKLEDGER_GITHUB_TOKEN = "of the operator"
    monkeypatch.setitem(posting.DEFAULT_URLS, GITHUB, receiver.url)
    one(receiver, token="", base_url="")
    post_one()
    assert receiver.sent[0].headers["authorization"] == "Bearer of the operator"


def test_an_address_behind_the_server_is_refused(receiver: Receiver, settings: Any) -> None:
    settings.LEAKLEDGER_PRIVATE_HOSTS = []
    one(receiver, base_url="https://169.254.169.254/latest")
    post_one()
    assert "not on the public network" in row().target.error


def test_a_switched_off_target_posts_nothing(receiver: Receiver) -> None:
    one(receiver)
    StatusTarget.objects.update(enabled=False)
    assert not post_one()


def test_two_workers_post_it_once(receiver: Receiver) -> None:
    """The second comes while the first holds it."""
    one(receiver)
    status = row()
    CommitStatus.objects.update(lease_token="other", lease_until=MORNING + timedelta(days=3650))
    assert not post_one()
    CommitStatus.objects.filter(pk=status.pk).update(lease_until=MORNING)
    assert post_one(), "the one who held it died"
