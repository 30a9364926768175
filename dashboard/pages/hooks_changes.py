"""What the settings page changes of webhooks and job names. Each change and its entry in the journal are one transaction."""

import secrets
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from dashboard.pages.settings_changes import EXPECTED_FIELDS, save_lane
from leaks import journal
from leaks.errors import BadSubmission, Conflict
from leaks.models import HookSecret, JobName, Lane, LaneExpectation, Project
from leaks.providers import gitlab

SECRET_BYTES = 32


@transaction.atomic
def set_secret(project: Project, person: AbstractBaseUser, provider: str, given: str) -> str:
    """The secret that holds from now on; made here where none is given. The journal learns that, and never which."""
    secret = given or secrets.token_urlsafe(SECRET_BYTES)
    stored = gitlab.kept(secret) if provider == gitlab.PROVIDER else secret
    HookSecret.objects.update_or_create(project=project, provider=provider, defaults={"secret": stored})
    journal.record(project, person, "webhook", provider, "hook_secret_set")
    return secret


@transaction.atomic
def make_lane(project: Project, person: AbstractBaseUser, name: str, base: str, pattern: str) -> None:
    """A new lane for the jobs of that base name: by a pattern, by its name alone, or by an alias."""
    if Lane.objects.filter(project=project, name=name).exists():
        raise Conflict(f"There is a lane {name} already: make the job an alias of it.")
    aliases = [] if pattern or name == base else [base]
    names = {"name": name, "aliases": aliases, "patterns": [pattern] if pattern else []}
    empty = {"detectors": [], "owed_branch": "", "canary": "", "reason": f"for the job {base}"}
    save_lane(project, person, "", {**names, **empty})


@transaction.atomic
def add_alias(project: Project, person: AbstractBaseUser, lane_name: str, base: str) -> None:
    lane = Lane.objects.select_for_update().filter(project=project, name=lane_name).first()
    if lane is None:
        raise BadSubmission(f"There is no lane {lane_name}.", field="lane")
    wanted = _as_it_is(lane)
    wanted["aliases"] = [*dict.fromkeys([*lane.aliases, base])]
    save_lane(project, person, lane.name, wanted | {"reason": f"the job {base} is of it"})


@transaction.atomic
def ignore_job(project: Project, person: AbstractBaseUser, base: str, *, ignored: bool) -> None:
    """Only out of sight: its deliveries are kept, and a pattern that finds it later is heard all the same."""
    if not JobName.objects.filter(project=project, base=base).update(ignored=ignored):
        raise Conflict(f"No job is called {base} any more.")
    journal.record(project, person, "job", base, "job_ignored" if ignored else "job_listed_again")


@transaction.atomic
def owe_lane(project: Project, person: AbstractBaseUser, lane_name: str, evidence: str) -> None:
    """From now on every commit of the default branch owes the lane."""
    lane = Lane.objects.select_for_update().filter(project=project, name=lane_name).first()
    if lane is None:
        raise Conflict(f"The lane {lane_name} was renamed or removed meanwhile.")
    wanted = _as_it_is(lane) | {"owed_branch": project.default_branch, "reason": evidence}
    save_lane(project, person, lane.name, wanted)


def _as_it_is(lane: Lane) -> dict[str, Any]:
    open_now = LaneExpectation.objects.filter(lane=lane, valid_to=None).first()
    expected = open_now or LaneExpectation(lane=lane)
    names = {"name": lane.name, "aliases": list(lane.aliases), "patterns": list(lane.patterns)}
    return {**names, **{name: getattr(expected, name) for name in EXPECTED_FIELDS}}
