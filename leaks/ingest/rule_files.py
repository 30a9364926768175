"""The suppression files that a run used, stored once by content. Called inside the caller's transaction.

What several submissions say of a run is added up: each of its processes may have used a file of its own. A file that is known under
several names has the first of them by the alphabet, so that the order of arrival does not matter.
"""

import hashlib
from collections.abc import Iterable

from django.db.models import Q

from leaks.models import LaneOutcome, Project, RuleFile
from leaks.rows.intake import SubmittedRules


def rule_hashes(rules: Iterable[SubmittedRules]) -> list[str]:
    return sorted({_hash(one.text) for one in rules})


def use_rules(outcome: LaneOutcome, rules: Iterable[SubmittedRules]) -> bool:
    """Note that the outcome's run used these files; whether that is new of one of them."""
    wanted = [_row(outcome.lane.project, one) for one in rules]
    fresh = [row for row in wanted if not outcome.rule_files.filter(pk=row.pk).exists()]
    outcome.rule_files.add(*fresh)
    return bool(fresh)


def _row(project: Project, given: SubmittedRules) -> RuleFile:
    row, made = RuleFile.objects.get_or_create(
        project=project, sha256=_hash(given.text), defaults={"name": given.name, "text": given.text}
    )
    if not made:
        RuleFile.objects.filter(Q(name="") | Q(name__gt=given.name), pk=row.pk).update(name=given.name)
    return row


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
