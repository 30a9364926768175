"""Rules over the text of keys: made, applied to history, ended. New keys ask them in `leaks.store_keys`."""

import secrets
from collections import defaultdict
from collections.abc import Sequence

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from leaks import journal
from leaks.decision_words import Deed
from leaks.errors import BadSubmission, Conflict
from leaks.grounds import grounds_of
from leaks.key_moves import Leaving, Move, Moved, carry_out, lock_keys, refuse
from leaks.key_rules import matching
from leaks.ledger_words import KeyRuleAction
from leaks.models import Decision, KeyRule, Project, Signature, SignatureKey
from leaks.queries.rule_preview import rule_preview
from leaks.split_signatures import own_signature
from leaks.trail import SUBJECT
from leaks.triage_changes import locked_rows


def make_rule(
    project: Project,
    person: AbstractBaseUser,
    *,
    action: str,
    pattern: str,
    signature: str,
    fingerprint: str,
    reason: str,
    evidence: Sequence[str] = (),
    not_measured: str = "",
) -> Moved:
    """Keys whose text matches lead to `signature` (merge), or away from it to one of their own (split): known keys and future ones."""
    grounds = grounds_of(project, reason, evidence, not_measured)
    with transaction.atomic():
        locked = lock_keys(project)
        shown = rule_preview(locked, action, pattern, signature)
        refuse(shown.hindrances, fingerprint, shown.fingerprint)
        named = locked_rows(locked, [signature, *(share.public_id for share in shown.shares)])[signature]
        splits = action == KeyRuleAction.SPLIT
        keys = [key for key in matching(locked.pk, pattern) if (key.signature_id == named.pk) == splits]
        into, revived = own_signature(named, keys[0]) if splits else (named, None)
        rule = _make(locked, action, pattern, into)
        details = {"rule": rule.public_id, "action": action, "pattern": pattern} | (
            {"revived": revived} if splits else {}
        )
        emptied = {share.public_id for share in shown.shares if share.emptied}
        move = Move(into, _leaving(keys, emptied), Deed.MOVED_BY_RULE, Deed.RULE_MADE, details)
        return carry_out(locked, person, move, grounds)


def _make(project: Project, action: str, pattern: str, into: Signature) -> KeyRule:
    return KeyRule.objects.create(
        project=project,
        public_id=f"kr-{secrets.token_hex(6)}",
        action=action,
        pattern=pattern,
        signature=into,
        made_at=timezone.now(),
    )


def _leaving(keys: Sequence[SignatureKey], emptied: set[str]) -> list[Leaving]:
    by_source: dict[int, list[SignatureKey]] = defaultdict(list)
    for key in keys:
        by_source[key.signature_id].append(key)
    return [Leaving(some[0].signature, some, some[0].signature.public_id in emptied) for some in by_source.values()]


def end_rule(project: Project, person: AbstractBaseUser, public_id: str, *, reason: str) -> Decision:
    """The rule moves nothing any more; what it moved stays. To move that back, undo the entry that made the rule."""
    grounds = grounds_of(project, reason, (), "")
    with transaction.atomic():
        locked = lock_keys(project)
        rule = KeyRule.objects.select_related("signature").filter(project=locked, public_id=public_id).first()
        if rule is None:
            raise BadSubmission(f"There is no rule “{public_id[:40]}” in this project.", field="rule")
        if rule.ended_at is not None:
            raise Conflict(f"The rule ended already, on {rule.ended_at:%Y-%m-%d}.")
        KeyRule.objects.filter(pk=rule.pk).update(ended_at=timezone.now())
        subject, details = rule.signature.public_id, {"rule": rule.public_id, "pattern": rule.pattern}
        return journal.record(locked, person, SUBJECT, subject, Deed.RULE_ENDED, reason=grounds.reason, details=details)
