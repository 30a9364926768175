from collections.abc import Iterable
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.utils import timezone

from leaks import journal, retention
from leaks.models import Blob, Delivery, Frame, LaneOutcome, Log, Project, Report, Sighting, Stack, StaleMark
from leaks.tests.ledger import LEAKY, log_text, settle, submit
from leaks.words import LogState

pytestmark = pytest.mark.django_db


def ended(slug: str = "scratch-1") -> Project:
    return Project.objects.create(
        slug=slug, name="Scratch", own_roots=["/src/engine"], ends_at=timezone.now() - timedelta(minutes=1)
    )


def dropped_and_ended(number: int = 1) -> Project:
    """A log is taken before the end only."""
    project = Project.objects.create(
        slug="scratch-1", name="Scratch", own_roots=["/src/engine"], ends_at=timezone.now() + timedelta(days=1)
    )
    submit(number, log_text((LEAKY, 64)), project=project.slug)
    settle()
    Project.objects.filter(pk=project.pk).update(ends_at=timezone.now() - timedelta(minutes=1))
    return project


def rows_left() -> dict[str, int]:
    models: Iterable = apps.get_app_config("leaks").get_models()
    return {model.__name__: number for model in models if (number := model.objects.count())}


def test_a_scratch_project_past_its_end_goes_with_all_that_was_dropped_there() -> None:
    dropped_and_ended()
    Project.objects.exclude(slug="scratch-1").delete()
    assert Sighting.objects.exists()
    assert retention.end_scratch_projects() == 1
    assert rows_left() == {}


def test_what_another_project_shows_too_stays() -> None:
    dropped_and_ended()
    submit(2, log_text((LEAKY, 64)))
    settle()
    frames, stacks = Frame.objects.count(), Stack.objects.count()
    retention.end_scratch_projects()
    assert (Frame.objects.count(), Stack.objects.count()) == (frames, stacks)
    assert Log.objects.count() == Blob.objects.count() == 1
    assert LaneOutcome.objects.get().run.external_id == "r2"
    assert Report.objects.get().stack.frames.exists()


def test_a_scratch_project_before_its_end_stays() -> None:
    project = ended()
    Project.objects.filter(pk=project.pk).update(ends_at=timezone.now() + timedelta(minutes=1))
    assert retention.end_scratch_projects() == 0
    assert Project.objects.filter(pk=project.pk).exists()


def test_a_project_without_an_end_stays() -> None:
    submit(1, log_text())
    assert retention.end_scratch_projects() == 0


def test_a_project_with_a_decision_stays_whatever_its_end() -> None:
    project = ended()
    person = get_user_model().objects.create_user("ada")
    journal.record(project, person, "project", project.slug, "kept", reason="evidence of a bug report")
    assert retention.end_scratch_projects() == 0
    assert not journal.verify(project)


def test_marks_of_a_project_that_is_gone_are_worked_off_without_a_fault() -> None:
    dropped_and_ended()
    outcome = LaneOutcome.objects.get()
    subjects = {
        "outcome": outcome.pk,
        "commit_lane": f"{outcome.run.commit_id}:{outcome.lane_id}",
        "lane_day": f"{outcome.lane_id}:2025-06-01",
        "signature": Sighting.objects.get().key.signature_id,
    }
    retention.end_scratch_projects()
    StaleMark.objects.bulk_create(StaleMark(kind=kind, subject=str(subject)) for kind, subject in subjects.items())
    settle()
    assert not StaleMark.objects.exists()


@pytest.mark.parametrize(
    ("state", "age", "stays"),
    [
        (LogState.DIGESTED, retention.DELIVERIES_LIVE - timedelta(hours=1), True),
        (LogState.DIGESTED, retention.DELIVERIES_LIVE + timedelta(hours=1), False),
        (LogState.RECEIVED, retention.DELIVERIES_LIVE + timedelta(hours=1), True),
        (LogState.FAILED, retention.DELIVERIES_LIVE + timedelta(hours=1), True),
    ],
)
def test_only_deliveries_that_were_digested_long_ago_are_forgotten(
    state: LogState, age: timedelta, stays: bool
) -> None:
    project = Project.objects.create(slug="p", name="P")
    Delivery.objects.create(
        project=project, provider="github", event="push", delivery_id="1", sha256="0", body=b"", state=state,
        digested_at=timezone.now() - age,
    )  # fmt: skip
    retention.forget_deliveries()
    assert Delivery.objects.exists() == stays
