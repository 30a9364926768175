"""A whole project of the size that the pages are held to, and the people in it."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from leaks import models, triage
from leaks.accounts import account
from leaks.standing_sums import rebuild_sums
from leaks.words import MemberRole, SignatureState
from workers.scale.bulk import settle, unchecked
from workers.scale.findings import plan_findings, sums_of, write_findings
from workers.scale.history import plan_history, write_history
from workers.scale.outcomes import write_outcomes
from workers.scale.plan import Scale

SUMMED_AT_ONCE = 500
DECIDED = 100  # signatures with an entry in the journal
NOTE = "Everything here is generated: no lane ever ran, and every log has the same bytes."
TOUCHED = (
    models.Commit, models.CommitPlace, models.Run, models.LaneOutcome, models.Part, models.Log, models.CommitLane,
    models.LaneDay, models.Frame, models.Stack, models.StackFrame, models.Signature, models.SignatureKey,
    models.Sighting, models.Report,
)  # fmt: skip


def make(slug: str, scale: Scale, say: Callable[[str], None]) -> models.Project:
    """The project must not be there yet: rows are added in bulk, and nothing looks whether they are known."""
    random = Random(scale.seed)  # noqa: S311 - sample data
    project = models.Project.objects.create(
        slug=slug, name=slug, public=True, own_roots=["src/"], sample_note=NOTE,
        source_link="https://code.example/blob/{commit}/{file}#L{line}",
    )  # fmt: skip
    history = plan_history(random, project, scale, timezone.now())
    say(f"{len(history.outcomes):,} outcomes of {len(history.commits):,} commits are planned")
    plan = plan_findings(random, history, scale)
    say(f"{sum(map(len, plan.shown)):,} sightings of {len(plan.found):,} signatures are planned")
    with unchecked():
        write_history(history)
        write_outcomes(history, sums_of(plan, history))
        say("outcomes are written")
        write_findings(random, plan, history)
    settle(TOUCHED)
    say("findings are written")
    _sum_up(project)
    _decide(project)
    return project


def _sum_up(project: models.Project) -> None:
    ids = list(models.Signature.objects.filter(project=project).values_list("pk", flat=True))
    for start in range(0, len(ids), SUMMED_AT_ONCE):
        with transaction.atomic():
            rebuild_sums(ids[start : start + SUMMED_AT_ONCE])


def _decide(project: models.Project) -> None:
    """Some decisions, by the way that people's decisions go."""
    user, _ = account(f"{project.slug}-triager")
    person = User.objects.get(pk=user.pk)
    models.Membership.objects.get_or_create(project=project, user=person, defaults={"role": MemberRole.TRIAGER})
    waiting = models.Signature.objects.filter(project=project, state=SignatureState.UNTRIAGED)
    for one in waiting.order_by("-seen_outcomes")[:DECIDED]:
        values = {"state": SignatureState.CONFIRMED.value, "reason": "Generated.", "expected": one.state}
        triage.set_state(one, person, **values)


def smaller(scale: Scale, factor: float) -> Scale:
    """The same project at a fraction of its size."""
    return replace(
        scale,
        sightings=max(10, int(scale.sightings * factor)),
        signatures=max(5, int(scale.signatures * factor)),
        outcomes=max(10, int(scale.outcomes * factor)),
    )
