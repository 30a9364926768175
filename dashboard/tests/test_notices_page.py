"""The page of notices: who may, what is asked for, what is shown, and which secrets are not."""

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaks.models import CommitStatus, Decision, Notice, NoticeRule, Project, Sending, StatusTarget
from leaks.tests import cast
from leaks.words import SendState

pytestmark = pytest.mark.django_db
ADDRESS = "/p/engine/settings/notices/"
MAIL = {"do": "rule", "kind": "new_signature", "channel": "email", "target": "ann@example.org"}
HOOK = {"do": "rule", "kind": "lane_blind", "channel": "webhook", "target": "https://hooks.example.org/T0/SECRETPATH"}
TARGET = {"do": "target", "provider": "github", "repository": "acme/engine", "token": "ghp_SECRET"}


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


def shown(client) -> str:
    return client.get(ADDRESS).content.decode()


def last_entry() -> Decision:
    return Decision.objects.order_by("-sequence")[0]


def rule() -> NoticeRule:
    return NoticeRule.objects.get()


# --- Who may ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "status"), [(None, 403), ("outsider", 403), ("triager", 403), ("admin", 200)])
def test_only_an_admin_may_see_and_change_it(client, played, who, status):
    if who:
        client.force_login(played.people[who])
    assert client.get(ADDRESS).status_code == status
    if status != 200:
        assert client.post(ADDRESS, MAIL).status_code == status
        assert not NoticeRule.objects.exists()


def test_strangers_of_a_private_project_learn_nothing(client, played):
    Project.objects.update(public=False)
    assert client.get(ADDRESS).status_code == 404


@pytest.mark.parametrize("do", ["", "everything", "__class__"])
def test_an_unknown_change_is_refused(admin, do):
    post(admin, 400, do=do)


def test_the_settings_lead_to_it(admin):
    assert ADDRESS in admin.get("/p/engine/settings/").content.decode()


# --- Rules -----------------------------------------------------------------------------------------------------------


def test_nobody_is_told_anything_until_somebody_asks(admin):
    assert "nothing is sent until somebody asks" in shown(admin)


def test_a_rule_is_journalled_and_begins_now(admin, played):
    post(admin, **MAIL, threshold="1024")
    assert (rule().enabled, rule().enabled_at, rule().threshold) == (True, cast.NOW, 1024)
    entry = last_entry()
    assert (entry.what, entry.subject, entry.person) == ("notice_rule_added", rule().public_id, played.people["admin"])
    assert entry.details["target"] == "ann@example.org"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({**MAIL, "target": "nobody"}, "target"),
        ({**MAIL, "target": ""}, "target"),
        ({**MAIL, "target": ", ,"}, "target"),
        ({**MAIL, "target": "a@example.org\r\nBcc: b@example.org"}, "target"),
        ({**MAIL, "target": ",".join(f"a{n}@example.org" for n in range(11))}, "target"),
        ({**MAIL, "kind": "test"}, "kind"),
        ({**MAIL, "channel": "pigeon"}, "channel"),
        ({**MAIL, "threshold": "-1"}, "threshold"),
        ({**MAIL, "threshold": "9" * 30}, "threshold"),
        ({**HOOK, "target": "http://hooks.example.org/"}, "target"),
        ({**HOOK, "target": "file:///etc/passwd"}, "target"),
        ({**HOOK, "target": "https://user:pw@example.org/"}, "target"),
        ({**HOOK, "threshold": "0"}, "threshold"),
        ({**HOOK, "threshold": "9999999"}, "threshold"),
    ],
)
def test_what_makes_no_sense_comes_back_with_what_was_typed(admin, fields, field):
    answer = post(admin, 422, **fields)
    assert field in answer.context["rule_form"].errors
    assert not NoticeRule.objects.exists()


def test_the_secret_of_a_webhook_is_shown_once_and_its_path_never(admin):
    answer = post(admin, 200, **HOOK)
    secret = rule().secret
    assert secret.startswith("llw_")
    assert secret in answer.content.decode()
    page = shown(admin)
    assert secret not in page
    assert "SECRETPATH" not in page
    assert "https://hooks.example.org/…" in page
    assert "SECRETPATH" not in str(list(Decision.objects.values_list("details", flat=True)))
    assert rule().threshold == 24


def test_the_same_rule_twice_is_one(admin):
    post(admin, **MAIL)
    post(admin, **MAIL)
    assert NoticeRule.objects.count() == 1


def test_what_waits_when_a_rule_is_switched_off_is_not_sent_later(admin):
    post(admin, **MAIL)
    post(admin, do="rule_test", rule=rule().public_id)
    post(admin, do="rule_off", rule=rule().public_id)
    assert Sending.objects.get().state == SendState.FAILED
    with time_machine.travel(cast.NOW.replace(hour=20), tick=False):
        post(admin, do="rule_on", rule=rule().public_id)
    assert rule().enabled_at.hour == 20
    post(admin, do="rule_retry", rule=rule().public_id)
    assert Sending.objects.get().state == SendState.FAILED
    whats = list(Decision.objects.order_by("sequence").values_list("what", flat=True))
    assert whats == ["notice_rule_added", "notice_rule_switched_off", "notice_rule_switched_on"]


def test_a_test_waits_for_the_worker_like_every_other_notice(admin):
    post(admin, **MAIL)
    post(admin, do="rule_test", rule=rule().public_id)
    assert (Notice.objects.get().kind, Sending.objects.get().state) == ("test", SendState.WAITING)
    assert "1 waiting" in shown(admin)


def test_what_did_not_arrive_is_shown_and_can_be_tried_again(admin):
    post(admin, **MAIL)
    post(admin, do="rule_test", rule=rule().public_id)
    Sending.objects.update(state=SendState.FAILED, error="The mail server refused the <address>.")
    page = shown(admin)
    assert "1 not arrived" in page
    assert "refused the &lt;address&gt;" in page
    post(admin, do="rule_retry", rule=rule().public_id)
    assert Sending.objects.get().state == SendState.WAITING


def test_a_rule_of_another_project_is_out_of_reach(admin, played):
    other = cast.make_project("other")
    NoticeRule.objects.create(
        project=other, public_id="foreign", kind="new_signature", channel="email", target="x@y.org", enabled_at=cast.NOW
    )
    for do in ("rule_off", "rule_remove", "rule_test", "rule_retry"):
        post(admin, do=do, rule="foreign")
    assert rule().enabled
    assert not Notice.objects.exists()


def test_a_rule_can_be_removed(admin):
    post(admin, **MAIL)
    post(admin, do="rule_remove", rule=rule().public_id)
    assert not NoticeRule.objects.exists()
    assert last_entry().what == "notice_rule_removed"


# --- Commit statuses -------------------------------------------------------------------------------------------------


def target() -> StatusTarget:
    return StatusTarget.objects.get()


def test_a_token_is_kept_and_never_shown(admin):
    post(admin, **TARGET)
    assert target().token == "ghp_SECRET"
    assert "ghp_SECRET" not in shown(admin)
    assert "token set" in shown(admin)
    assert "ghp_SECRET" not in str(list(Decision.objects.values_list("details", flat=True)))
    refused = post(admin, 422, **TARGET | {"repository": "nonsense"}).content.decode()
    assert "ghp_SECRET" not in refused


def test_an_empty_token_leaves_the_one_that_is_set(admin):
    post(admin, **TARGET)
    post(admin, **TARGET | {"token": "", "repository": "acme/other"})
    assert (target().token, target().repository) == ("ghp_SECRET", "acme/other")


def test_a_token_does_not_follow_to_another_address(admin):
    """Whoever may change settings must not learn what a colleague typed."""
    post(admin, **TARGET)
    post(admin, **TARGET | {"token": "", "base_url": "https://evil.example"})
    assert target().base_url == ""
    post(admin, **TARGET | {"token": "mine", "base_url": "https://git.example.org/api/v3/"})
    assert (target().base_url, target().token) == ("https://git.example.org/api/v3", "mine")


@pytest.mark.parametrize(
    "fields",
    [
        {"repository": "engine"},
        {"repository": "../../user"},
        {"repository": "a/b/c"},
        {"repository": "a/b?x=1"},
        {"provider": "gitlab", "repository": "a/../b"},
        {"base_url": "http://git.example.org"},
        {"base_url": "https://x@git.example.org"},
        {"token": "two words"},
        {"token": "a\nb"},
        {"provider": "bitbucket"},
    ],
)
def test_nonsense_is_refused(admin, fields):
    post(admin, 422, **TARGET | fields)
    assert not StatusTarget.objects.exists()


@pytest.mark.parametrize("repository", ["42", "group/engine", "group/sub/engine"])
def test_gitlab_has_groups_in_groups_and_numbers(admin, repository):
    post(admin, **TARGET | {"provider": "gitlab", "repository": repository})
    assert target().repository == repository


def test_what_was_given_up_is_shown_and_can_be_tried_again(admin, played):
    post(admin, **TARGET)
    CommitStatus.objects.create(
        target=target(), commit=played.red.run.commit, lane=played.lane, state="failure", description="x", due=False,
        error="github answered with 422: No commit found",
    )  # fmt: skip
    StatusTarget.objects.update(error="github answered with 401.")
    page = shown(admin)
    assert "1 given up" in page
    assert "No commit found" in page
    assert "Nothing is posted until" in page
    post(admin, do="target_retry", provider="github")
    assert (target().error, CommitStatus.objects.get().due) == ("", True)


def test_a_removed_target_forgets_its_token(admin):
    post(admin, **TARGET)
    post(admin, do="target_remove", provider="github")
    assert not StatusTarget.objects.exists()
    assert last_entry().what == "status_target_removed"


def test_many_rules_and_sendings_are_not_more_questions(admin, played):
    counts = []
    for number in (1, 8):
        for place in range(number):
            made = NoticeRule.objects.create(
                project=played.project, public_id=f"r{number}{place}", kind="new_signature", channel="email",
                target=f"{number}{place}@example.org", enabled_at=cast.NOW, set_by=played.people["admin"],
            )  # fmt: skip
            for one in range(place):
                notice = Notice.objects.create(project=played.project, kind="test", subject=f"{number}.{place}.{one}")
                Sending.objects.create(notice=notice, rule=made)
        with CaptureQueriesContext(connection) as asked:
            admin.get(ADDRESS)
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 11
