"""What the settings page changes. Each change and its entry in the journal are one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from leaks import journal, life_marks, marks, recipes
from leaks.errors import BadSubmission, Conflict
from leaks.ingest import job_names, owed, resign
from leaks.models import Lane, LaneExpectation, Membership, Project, Resign, Token
from leaks.queries import plumbing
from leaks.tokens import make_token
from leaks.words import MemberRole

PROJECT_FIELDS = ("name", "default_branch", "source_link", "canary_days")
RECIPE_FIELDS = ("own_roots", "plumbing")
LANE_FIELDS = ("name", "aliases", "patterns")
EXPECTED_FIELDS = ("detectors", "owed_branch", "canary")


class Changed(NamedTuple):
    """`version`: own roots or plumbing changed too, so that another version of the recipe is in force."""

    anything: bool
    version: bool


@transaction.atomic
def change_project(project: Project, person: AbstractBaseUser, wanted: Mapping[str, Any]) -> Changed:
    """When nothing differs nothing is written, and the journal says nothing."""
    locked = Project.objects.select_for_update().get(pk=project.pk)
    recipe = {name: list(wanted[name]) for name in RECIPE_FIELDS}
    before = {name: getattr(locked, name) for name in RECIPE_FIELDS}
    changes = _apply(locked, wanted, PROJECT_FIELDS)
    changes |= {name: _change(before[name], recipe[name]) for name in RECIPE_FIELDS if before[name] != recipe[name]}
    if not changes:
        return Changed(anything=False, version=False)
    locked.save(update_fields=[*PROJECT_FIELDS])
    if "default_branch" in changes or ("own_roots" in changes and locked.codeowners):
        marks.mark(life_marks.everything(locked))
    if other := any(name in changes for name in RECIPE_FIELDS):
        recipes.make_version(locked, person, reason=wanted["reason"], **recipe)
    journal.record(locked, person, "project", locked.slug, "settings_changed", reason=wanted["reason"], details=changes)
    return Changed(anything=True, version=other)


@transaction.atomic
def accept_plumbing(
    project: Project, person: AbstractBaseUser, names: Sequence[str], *, reason: str, expected: int
) -> Resign:
    """Functions become plumbing, and history is to be signed again with them: both or neither."""
    shown = {one.function: one for one in plumbing.proposals(project)[0]}
    evidence = [asdict(shown[name]) for name in names if name in shown]
    made = recipes.add_plumbing(project, person, names, reason=reason, expected=expected, evidence=evidence)
    return resign.ask(project, person, f"version {made.number}: {reason.strip()}", former=expected)


@transaction.atomic
def save_lane(project: Project, person: AbstractBaseUser, before: str, wanted: Mapping[str, Any]) -> bool:
    """Change the lane called `before`, or make a new one when that is empty."""
    lane = _lane(project, before) if before else Lane(project=project)
    _refuse_taken(project, lane, [wanted["name"], *wanted["aliases"]])
    changes = _apply(lane, wanted, LANE_FIELDS)
    if changes:
        lane.save()
        # Jobs that were stored as nobody's may be the lane's from now on.
        job_names.lanes_changed(project)
        # What a signature's life rests on is kept by the names of lanes.
        marks.mark(life_marks.everything(project, lane) if "name" in changes and before else ())
    changes |= _expect(lane, wanted, timezone.now())
    if changes:
        what = "lane_changed" if before else "lane_added"
        journal.record(project, person, "lane", lane.name, what, reason=wanted["reason"], details=changes)
    return bool(changes)


def _lane(project: Project, name: str) -> Lane:
    lane = Lane.objects.select_for_update().filter(project=project, name=name).first()
    if lane is None:
        raise Conflict(f"The lane {name} was renamed or removed meanwhile.")
    return lane


def _refuse_taken(project: Project, lane: Lane, names: Sequence[str]) -> None:
    """A job name that means two lanes would be counted under whichever comes first."""
    for other in Lane.objects.filter(project=project).exclude(pk=lane.pk):
        taken = {other.name, *other.aliases} & set(names)
        if taken:
            raise BadSubmission(f"{min(taken)} already means the lane {other.name}.", field="name")


def _expect(lane: Lane, wanted: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Expectations are dated: what was expected of earlier runs stays as it was."""
    current = LaneExpectation.objects.filter(lane=lane, valid_to=None).first()
    draft = LaneExpectation(lane=lane, valid_from=now)
    before = {name: getattr(current or draft, name) for name in EXPECTED_FIELDS}
    for name in EXPECTED_FIELDS:
        setattr(draft, name, wanted[name])
    changes = {name: _change(before[name], wanted[name]) for name in EXPECTED_FIELDS if before[name] != wanted[name]}
    if changes and current is not None:
        LaneExpectation.objects.filter(pk=current.pk).update(valid_to=now)
    if changes:
        draft.save()
    if changes and current is None:
        # Runs that were dropped before anybody said what the branch owes are told of by nothing else.
        owed.reconcile_lane(lane)
    return changes


@transaction.atomic
def set_member(project: Project, person: AbstractBaseUser, username: str, role: str) -> None:
    """Add somebody, or give a member another role."""
    user = get_user_model().objects.filter(username=username).first()
    if user is None:
        raise BadSubmission(f"There is no account called {username}.", field="username")
    before = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    if before == MemberRole.ADMIN and role != MemberRole.ADMIN:
        _keep_an_admin(project, username)
    Membership.objects.update_or_create(project=project, user=user, defaults={"role": role})
    what = "role_changed" if before else "member_added"
    journal.record(project, person, "member", username, what, details={"role": _change(before, role)})


@transaction.atomic
def remove_member(project: Project, person: AbstractBaseUser, username: str) -> None:
    membership = Membership.objects.filter(project=project, user__username=username).first()
    if membership is None:
        raise Conflict(f"{username} is no member any more.")
    _keep_an_admin(project, username)
    membership.delete()
    journal.record(
        project, person, "member", username, "member_removed", details={"role": _change(membership.role, None)}
    )


def _keep_an_admin(project: Project, leaving: str) -> None:
    admins = Membership.objects.select_for_update().filter(project=project, role=MemberRole.ADMIN)
    names = set(admins.values_list("user__username", flat=True))
    if names == {leaving}:
        raise Conflict(f"{leaving} is the only admin: name another one first.")


@transaction.atomic
def add_token(
    project: Project, person: AbstractBaseUser, kind: Token.Kind, purpose: str, expires: datetime | None
) -> str:
    """The secret. It is kept nowhere; the caller shows it once."""
    token, secret = make_token(project, kind, purpose, expires)
    details = {"kind": token.kind, "purpose": purpose, "expires_at": expires.isoformat() if expires else None}
    journal.record(project, person, "token", token.hint, "token_made", details=details)
    return secret


@transaction.atomic
def revoke_token(project: Project, person: AbstractBaseUser, hint: str) -> None:
    """End it now. The row stays: decisions that it took name it."""
    token = Token.objects.select_for_update().filter(project=project, hint=hint).first()
    now = timezone.now()
    if token is None or (token.expires_at is not None and token.expires_at <= now):
        raise Conflict("This token has ended already.")
    token.expires_at = now
    token.save(update_fields=["expires_at"])
    journal.record(project, person, "token", token.hint, "token_revoked", details={"purpose": token.purpose})


def _apply(row: Project | Lane, wanted: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Set what differs; before and after of it."""
    changes = {name: _change(getattr(row, name), wanted[name]) for name in fields if getattr(row, name) != wanted[name]}
    for name in changes:
        setattr(row, name, wanted[name])
    return changes


def _change(before: Any, after: Any) -> dict[str, Any]:
    return {"before": before, "after": after}
