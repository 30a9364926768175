"""What the page of notices changes. Each change and its entry in the journal are one transaction."""

import secrets
import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from leaks import journal, outbox, statuses
from leaks.errors import BadSubmission, Conflict
from leaks.ingest.ids import public_id
from leaks.models import Notice, NoticeRule, Project, Sending, StatusTarget
from leaks.queries.notice_rows import shown_target
from leaks.words import Channel, NoticeKind, SendState

MOST_RULES = 50
SWITCHED_OFF = "The rule was switched off before this was sent."


@transaction.atomic
def add_rule(project: Project, person: AbstractBaseUser, wanted: Mapping[str, Any]) -> str:
    """The secret of a webhook, "" for a mail. It is shown once."""
    named = {name: wanted[name] for name in ("kind", "channel", "target")}
    rules = NoticeRule.objects.filter(project=project)
    if rules.count() >= MOST_RULES:
        raise BadSubmission(f"A project has at most {MOST_RULES} rules.")
    if rules.filter(**named).exists():
        raise Conflict("There is such a rule already.")
    secret = "llw_" + secrets.token_urlsafe(32) if wanted["channel"] == Channel.WEBHOOK else ""
    rule = NoticeRule.objects.create(
        project=project,
        public_id=public_id("notice rule", uuid.uuid4().hex),
        threshold=wanted["threshold"],
        secret=secret,
        enabled_at=timezone.now(),
        set_by_id=person.pk,
        **named,
    )
    _record(rule, person, "notice_rule_added")
    return secret


@transaction.atomic
def switch_rule(project: Project, person: AbstractBaseUser, public_id: str, *, on: bool) -> None:
    """What waits when a rule is switched off is not sent later, when it is no news any more."""
    rule = _rule(project, public_id)
    if rule.enabled == on:
        raise Conflict(f"The rule is {'on' if on else 'off'} already.")
    rule.enabled = on
    if on:
        rule.enabled_at = timezone.now()
    else:
        Sending.objects.filter(rule=rule, state=SendState.WAITING).update(state=SendState.FAILED, error=SWITCHED_OFF)
    rule.save(update_fields=["enabled", "enabled_at"])
    _record(rule, person, "notice_rule_switched_on" if on else "notice_rule_switched_off")


@transaction.atomic
def remove_rule(project: Project, person: AbstractBaseUser, public_id: str) -> None:
    rule = _rule(project, public_id)
    _record(rule, person, "notice_rule_removed")
    rule.delete()


@transaction.atomic
def test_rule(project: Project, person: AbstractBaseUser, public_id: str) -> None:
    """A notice of its own kind, which goes the way of every other one."""
    rule = _rule(project, public_id)
    if not rule.enabled:
        raise Conflict("The rule is off: switch it on, then test it.")
    notice = Notice.objects.create(
        project=project, kind=NoticeKind.TEST, subject=uuid.uuid4().hex, payload={"by": person.get_username()}
    )
    Sending.objects.create(notice=notice, rule=rule)


@transaction.atomic
def retry_rule(project: Project, public_id: str) -> int:
    return outbox.try_again(Sending.objects.filter(rule=_rule(project, public_id)).exclude(error=SWITCHED_OFF))


def _rule(project: Project, public_id: str) -> NoticeRule:
    rule = NoticeRule.objects.select_for_update().filter(project=project, public_id=public_id).first()
    if rule is None:
        raise Conflict("This rule was removed meanwhile.")
    return rule


def _record(rule: NoticeRule, person: AbstractBaseUser, what: str) -> None:
    shown = shown_target(rule.channel, rule.target)
    details = {"kind": rule.kind, "channel": rule.channel, "target": shown, "threshold": rule.threshold}
    journal.record(rule.project, person, "notice_rule", rule.public_id, what, details=details)


# --- Commit statuses -------------------------------------------------------------------------------------------------


@transaction.atomic
def set_target(project: Project, person: AbstractBaseUser, wanted: Mapping[str, Any]) -> None:
    """A token goes only where it was given for: at another address it must be given again."""
    target = _target(project, wanted["provider"]) or StatusTarget(
        project=project, provider=wanted["provider"], enabled_at=timezone.now()
    )
    moved = target.base_url != wanted["base_url"]
    if moved and target.token and not wanted["token"]:
        raise BadSubmission(
            "The address changed: give the token again, for it was not meant for that server.", field="token"
        )
    target.token = wanted["token"] or target.token
    target.base_url, target.repository = wanted["base_url"], wanted["repository"]
    if not target.enabled:
        target.enabled, target.enabled_at = True, timezone.now()
    target.save()
    statuses.start_again(target)
    _record_target(target, person, "status_target_set", new_token=bool(wanted["token"]))


@transaction.atomic
def remove_target(project: Project, person: AbstractBaseUser, provider: str) -> None:
    target = _known_target(project, provider)
    _record_target(target, person, "status_target_removed")
    target.delete()


@transaction.atomic
def retry_target(project: Project, provider: str) -> int:
    return statuses.start_again(_known_target(project, provider))


def _target(project: Project, provider: str) -> StatusTarget | None:
    return StatusTarget.objects.select_for_update().filter(project=project, provider=provider).first()


def _known_target(project: Project, provider: str) -> StatusTarget:
    target = _target(project, provider)
    if target is None:
        raise Conflict("It was removed meanwhile.")
    return target


def _record_target(target: StatusTarget, person: AbstractBaseUser, what: str, **more: Any) -> None:
    details = {"repository": target.repository, "base_url": target.base_url, **more}
    journal.record(target.project, person, "status_target", target.provider, what, details=details)
