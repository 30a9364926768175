"""What a rule over the text of keys would do to history, and the rules there are."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import Count

from leaks.errors import BadSubmission
from leaks.globs import fault_of
from leaks.key_rules import matching
from leaks.ledger_words import KeyRuleAction
from leaks.lineage import original_of
from leaks.models import Decision, KeyRule, Project, Signature, SignatureKey
from leaks.queries.key_sides import fingerprint, hindrances, key_name, key_rows, named, sides
from leaks.rows.key_moves import RulePreview, RuleRow, RuleShare

MOST_KEYS = 2_000  # moved at once: a broader pattern says too little
SHOWN = 100
MOST_RULES = 200  # in force at once: each new key is compared with all


def rule_preview(project: Project, action: str, pattern: str, signature: str) -> RulePreview:
    """`signature`: where a merge leads to, or what a split takes keys from. Reads only."""
    _refuse(action, pattern)
    target = named(project, [signature]).get(signature)
    if target is None:
        raise BadSubmission(f"There is no signature “{signature[:40]}” in this project.", field="signature")
    found = list(matching(project.pk, pattern))
    moved = [key for key in found if (key.signature_id == target.pk) == (action == KeyRuleAction.SPLIT)]
    others = [key for key in found if key.signature_id != target.pk]
    splits = action == KeyRuleAction.SPLIT
    sources = _sources(project, moved)
    shares = _shares(moved, sources)
    return RulePreview(
        action=action,
        pattern=pattern,
        into=sides([target])[target.public_id],
        keys=key_rows(moved[:SHOWN], map(key_name, moved[:SHOWN])),
        matching=len(moved),
        staying=0 if splits else len(found) - len(moved),
        elsewhere=len(others) if splits else 0,
        shares=shares,
        hindrances=(
            *_wrong(project, target, shares, len(moved), splits=splits),
            *hindrances(project, {row.pk: row for row in [target, *sources]}.values()),
        ),
        fingerprint=fingerprint([target], action, pattern, [(key_name(key), key.signature.public_id) for key in moved]),
    )


def _refuse(action: str, pattern: str) -> None:
    if action not in set(KeyRuleAction):
        raise BadSubmission(f"A rule is to merge or to split, not “{action[:40]}”.", field="action")
    if fault := fault_of(pattern):
        raise BadSubmission(fault, field="pattern")


def _sources(project: Project, moved: Sequence[SignatureKey]) -> list[Signature]:
    ids = sorted({key.signature.public_id for key in moved})
    return [] if len(moved) > MOST_KEYS else list(named(project, ids).values())


def _shares(moved: Sequence[SignatureKey], sources: Sequence[Signature]) -> tuple[RuleShare, ...]:
    taken = Counter(key.signature_id for key in moved)
    counted = SignatureKey.objects.filter(signature__in=sources).values("signature").annotate(n=Count("pk"))
    held = {row["signature"]: row["n"] for row in counted}
    rows = [_share(row, taken[row.pk], held[row.pk]) for row in sources]
    return tuple(sorted(rows, key=lambda share: (-share.taken, share.public_id)))


def _share(row: Signature, taken: int, held: int) -> RuleShare:
    return RuleShare(row.public_id, row.title, row.state, taken, held, taken == held)


def _wrong(
    project: Project, target: Signature, shares: Sequence[RuleShare], moved: int, *, splits: bool
) -> Iterable[str]:
    if moved > MOST_KEYS:
        yield f"It would move {moved:,} keys, and a rule moves {MOST_KEYS:,} at most: narrow the pattern."
    if splits and not moved:
        yield f"No key of {target.public_id} matches: there would be nothing to split off."
    if splits and any(share.emptied for share in shares):
        yield "At least one key must stay: this pattern matches all of them."
    if KeyRule.objects.filter(project=project, ended_at=None).count() >= MOST_RULES:
        yield f"{MOST_RULES} rules are in force; end one first."
    original = original_of(target)
    if not splits and original.pk != target.pk and any(share.public_id == original.public_id for share in shares):
        yield f"{target.public_id} is marked as a duplicate of {original.public_id}, which the rule would merge into it."


def rules(project: Project) -> tuple[RuleRow, ...]:
    """All rules, those in force first, with the entry that made each."""
    rows = list(KeyRule.objects.filter(project=project).select_related("signature").order_by("-made_at")[:MOST_RULES])
    made = {
        one.details.get("rule"): one.sequence
        for one in Decision.objects.filter(project=project, what="rule_made").order_by("-sequence")[: 2 * MOST_RULES]
    }
    shown = [
        RuleRow(
            public_id=row.public_id,
            action=row.action,
            pattern=row.pattern,
            signature=row.signature.public_id,
            title=row.signature.title,
            made_at=row.made_at,
            ended_at=row.ended_at,
            sequence=made.get(row.public_id, 0),
        )
        for row in rows
    ]
    return tuple(sorted(shown, key=lambda row: row.ended_at is not None))
