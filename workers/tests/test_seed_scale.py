"""The generated project: as many of everything as asked for, and every row in its place."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from leaks import journal, models
from leaks.queries.signatures import signature_list
from leaks.rows.leak_pages import SignatureFilter
from leaks.words import Verdict

SIZES = ("--sightings", "600", "--signatures", "30", "--outcomes", "150", "--days", "40")


def seed(slug="scale", *sizes):
    call_command("seed_scale", "--slug", slug, *(sizes or SIZES), stdout=io.StringIO())
    return models.Project.objects.get(slug=slug)


@pytest.fixture
def project(db):
    return seed()


def sightings(project):
    return models.Sighting.objects.filter(outcome__lane__project=project)


def test_there_is_as_much_as_was_asked_for(project):
    outcomes = models.LaneOutcome.objects.filter(lane__project=project)
    assert (sightings(project).count(), project.signatures.count(), outcomes.count()) == (600, 30, 150)
    assert models.Report.objects.filter(key__project=project).count() == 600


def test_every_sighting_lies_in_a_run_with_findings(project):
    assert set(sightings(project).values_list("outcome__verdict", flat=True)) == {Verdict.FINDINGS}
    assert not sightings(project).exclude(log__part__outcome=F("outcome")).exists()


def test_what_is_derived_is_what_the_sightings_say(project):
    for one in project.signatures.all():
        seen = list(sightings(project).filter(key__signature=one).order_by("outcome__happened_at"))
        assert one.seen_outcomes == len({sighting.outcome_id for sighting in seen})
        assert (one.first_seen_id, one.last_seen_id) == (seen[0].outcome_id, seen[-1].outcome_id)
        assert set(one.life_proof["lanes"]) == set(
            models.Lane.objects.filter(outcomes__sightings__in=seen).values_list("name", flat=True)
        )
    for outcome in models.LaneOutcome.objects.filter(lane__project=project, leaked_bytes__gt=0):
        assert outcome.leaked_bytes == sum(one.leaked_bytes or 0 for one in outcome.sightings.all())


def test_its_pages_can_be_read(project, client):
    assert signature_list(project, SignatureFilter()).total == 30
    one = project.signatures.all()[0]
    outcome = models.LaneOutcome.objects.filter(lane__project=project)[0]
    for page in (
        "",
        "signatures/",
        f"signatures/{one.public_id}/",
        "lanes/",
        f"runs/{outcome.public_id}/",
        f"compare/?head={outcome.public_id}",
    ):
        assert client.get(f"/p/scale/{page}").status_code == 200, page
    assert journal.verify(project) == []


def test_the_same_seed_makes_the_same_project_beside_another(project):
    other = seed("other")
    kinds = [sorted(one.signatures.values_list("title", "seen_outcomes")) for one in (project, other)]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    "sizes", [("--sightings", "0"), ("--signatures", "2000000"), ("--sightings", "5", "--signatures", "6")]
)
def test_impossible_sizes_are_refused(db, sizes):
    with pytest.raises(CommandError):
        seed("scale", *sizes)


def test_a_project_is_not_filled_twice(project):
    with pytest.raises(CommandError, match="already"):
        seed()
