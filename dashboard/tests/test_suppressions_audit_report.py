"""The second report in the audit: `leak:DevicePool` was proposed and rejected, and the audit keeps why and what it would have hidden."""

import html
import json

import pytest
from django.urls import reverse

from dashboard.tests.test_suppressions_report import WHY, member, project
from leaks import models, review
from leaks.rows.suppressions import Proposal
from leaks.tests.reviewing import in_days
from leaks.words import MemberRole

__all__ = ["project"]  # the fixture of the report
pytestmark = pytest.mark.django_db


@pytest.fixture
def rejected(project):
    rope = models.Signature.objects.get(title__contains="BuildProportionalRopeCache")
    tom, ann = member(project, "tom", MemberRole.TRIAGER), member(project, "ann", MemberRole.APPROVER)
    wanted = Proposal("lsan", "leak:DevicePool", "A pool keeps its blocks.", in_days(30), signature=rope.public_id)
    return review.reject(review.propose(project, tom, wanted), ann, reason=WHY, revision=1)


def test_the_audit_keeps_the_rejection_with_its_reason_and_its_reach(client, project, rejected):
    text = " ".join(html.unescape(client.get(reverse("suppressions_audit", args=[project.slug])).content.decode()).split())  # fmt: skip
    kept = text.partition('id="rejected-title"')[2].partition('id="ended-title"')[0]
    for said in (rejected.public_id, "leak:DevicePool", WHY, "9 signatures", "ann"):
        assert said in kept
    assert "Nothing is silenced by an approved rule." in text


def test_so_do_the_exports(client, project, rejected):
    answer = client.get(reverse("api:suppressions_json", args=[project.slug]))
    (row,) = json.loads(b"".join(answer.streaming_content))["suppressions"]
    assert (row["state"], row["decision_reason"], row["reach_signatures"]) == ("rejected", WHY, 9)
    found = json.loads(b"".join(client.get(reverse("api:sarif", args=[project.slug])).streaming_content))
    said = {
        one["partialFingerprints"]["leakledger/v1"]: [
            (rule["status"], rule["justification"]) for rule in one["suppressions"]
        ]
        for one in found["runs"][0]["results"]
    }
    assert said[rejected.signature.public_id] == [("rejected", WHY)]
    assert sum(map(bool, said.values())) == 1
