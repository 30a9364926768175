"""The second report: what `leak:DevicePool` would have hidden, and the rejection that is kept with its reason."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from leaks import models, review
from leaks.ingest import sweep
from leaks.ingest.receive import receive
from leaks.rows.suppressions import Proposal
from leaks.tests.reviewing import in_days
from leaks.words import MemberRole
from workers.demo.projects import make_project
from workers.demo.story import DEVICE_POOL, submissions

pytestmark = pytest.mark.django_db
WHY = "It buys silence in the place that has earned its keep."


@pytest.fixture
def project():
    make_project(DEVICE_POOL)
    for submission in submissions(timezone.now()):
        if submission.project == DEVICE_POOL.slug:
            receive(submission)
    sweep.look()
    return models.Project.objects.get(slug=DEVICE_POOL.slug)


def member(project, name, role):
    user = User.objects.create_user(name)
    models.Membership.objects.create(project=project, user=user, role=role)
    return user


def test_the_three_named_sizes_and_all_else_that_it_would_hide(client, project):
    rope = models.Signature.objects.get(title__contains="BuildProportionalRopeCache")
    tom, ann = member(project, "tom", MemberRole.TRIAGER), member(project, "ann", MemberRole.APPROVER)
    wanted = Proposal("lsan", "leak:DevicePool", "A pool keeps its blocks.", in_days(30), signature=rope.public_id)
    one = review.propose(project, tom, wanted)
    text = client.get(reverse("suppression", args=[project.slug, one.public_id])).content.decode()
    assert "65,536; 3,200; 2,560 B" in text
    assert one.reach["signatures"] == models.Signature.objects.filter(project=project, family="leak").count() == 9
    assert "It reaches 8 own signatures besides the one it is proposed for" in text
    assert "It would hide 9 of all 9 own signatures" in text, "who decides sees what the form said"

    review.reject(one, ann, reason=WHY, revision=1)
    listed = client.get(reverse("suppressions", args=[project.slug])).content.decode()
    assert WHY in listed
    assert WHY in client.get(reverse("suppression", args=[project.slug, one.public_id])).content.decode()
    assert models.Decision.objects.get(what="rejected").details["reach"]["own"] == 9
