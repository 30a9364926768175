"""The latest outcomes of several lanes: as many of each as are asked for, and those of the same moment."""

from datetime import timedelta

import pytest
from django.db.models import QuerySet

from leaks import models
from leaks.queries import latest_of_lanes
from leaks.queries.latest_of_lanes import latest_in_each, latest_in_its_lanes
from leaks.tests import cast
from leaks.words import Verdict

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> models.Project:
    """Lane `asan` ran five times, `tsan` once and long ago, `idle` never."""
    project = cast.make_project()
    lanes = {name: models.Lane.objects.create(project=project, name=name) for name in ("asan", "tsan", "idle")}
    for lane, days in (("asan", (1, 2, 3, 4, 5)), ("tsan", (90,))):
        for day in days:
            at = cast.NOW - timedelta(days=day)
            cast.make_outcome(lanes[lane], cast.make_commit(project, f"{lane}{day}", at), at, Verdict.FINDINGS)
    return project


def lanes() -> list[int]:
    return list(models.Lane.objects.order_by("name").values_list("pk", flat=True))


def days(outcomes: QuerySet[models.LaneOutcome]) -> list[tuple[str, int]]:
    rows = outcomes.order_by("lane__name", "-happened_at").values_list("lane__name", "happened_at")
    return [(name, (cast.NOW - at).days) for name, at in rows]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (2, [("asan", 1), ("asan", 2), ("tsan", 90)]),
        (1, [("asan", 1), ("tsan", 90)]),
        (9, [*(("asan", day) for day in range(1, 6)), ("tsan", 90)]),
    ],
)
def test_of_each_lane_as_many_as_are_asked_for_however_old_they_are(
    project: models.Project, number: int, shown: list[tuple[str, int]]
) -> None:
    outcomes = models.LaneOutcome.objects.all()
    assert days(outcomes.filter(latest_in_each(outcomes, lanes(), number))) == shown


def test_what_the_outcomes_were_narrowed_to_before_counts_alone(project: models.Project) -> None:
    models.LaneOutcome.objects.filter(happened_at__gt=cast.NOW - timedelta(days=3)).update(verdict=Verdict.CLEAN)
    outcomes = models.LaneOutcome.objects.filter(verdict=Verdict.FINDINGS)
    assert days(outcomes.filter(latest_in_each(outcomes, lanes(), 1))) == [("asan", 3), ("tsan", 90)]


def test_without_a_lane_there_is_nothing(project: models.Project) -> None:
    outcomes = models.LaneOutcome.objects.all()
    assert not outcomes.filter(latest_in_each(outcomes, [], 5)).exists()


@pytest.fixture
def signature(project: models.Project) -> models.Signature:
    return cast.make_signature(models.LaneOutcome.objects.get(lane__name="tsan"), "engine::Pool", 64, 1)


def test_the_lanes_of_a_signature_are_those_that_its_life_names(
    project: models.Project, signature: models.Signature, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    signature.life_proof = {"lanes": {"asan": {}, "gone": {}}}
    outcomes = models.LaneOutcome.objects.all()
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert days(outcomes.filter(latest_in_its_lanes(signature, outcomes, 2))) == [("asan", 1), ("asan", 2)]


def test_a_lane_of_another_project_with_the_same_name_is_none_of_them(
    project: models.Project, signature: models.Signature
) -> None:
    signature.life_proof = {"lanes": {"theirs": {}}}
    lane = models.Lane.objects.create(project=cast.make_project("other"), name="theirs")
    cast.make_outcome(lane, cast.make_commit(lane.project, "x", cast.NOW), cast.NOW, Verdict.FINDINGS)
    outcomes = models.LaneOutcome.objects.all()
    assert not outcomes.filter(latest_in_its_lanes(signature, outcomes, 2)).exists()


def test_a_signature_whose_life_is_not_worked_out_is_looked_for_where_its_latest_sightings_are(
    project: models.Project, signature: models.Signature, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = models.LaneOutcome.objects.all()
    assert days(outcomes.filter(latest_in_its_lanes(signature, outcomes, 2))) == [("tsan", 90)]
    monkeypatch.setattr(latest_of_lanes, "LATEST_SIGHTINGS", 0)
    assert not outcomes.filter(latest_in_its_lanes(signature, outcomes, 2)).exists()
