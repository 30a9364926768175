"""What is left of a signature that nothing leads to any more."""

from leaks import trail
from leaks.decision_words import Deed
from leaks.models import Decision, Project, Signature, SignatureKey
from leaks.queries.journal_rows import journal_of
from leaks.rows.key_moves import Tombstone

TAKEN = (Deed.SPLIT_OFF, Deed.RULE_MADE)


def tombstone_page(project: Project, one: Signature) -> Tombstone:
    decisions = trail.about(project, [one.public_id])
    return Tombstone(
        public_id=one.public_id,
        title=one.title,
        kind=one.kind,
        gone_at=one.gone_at,
        went_to=_went_to(project, one, [entry for entry in decisions if entry.what in TAKEN]),
        journal=journal_of(project, trail.SUBJECT, one.public_id),
    )


def _went_to(project: Project, one: Signature, splits: list[Decision]) -> tuple[str, ...]:
    """Where the keys are now that were split off to it; else where they came from."""
    sources = {source for decision in splits for source in decision.details.get("from", {})}
    given = trail.about(project, sources)
    names = {
        name for entry in given if entry.details.get("into") == one.public_id for name in entry.details.get("keys", ())
    }
    hashes = [name.rpartition(":")[2] for name in names][:400]
    keys = SignatureKey.objects.filter(project=project, hash__in=hashes)
    found = set(keys.values_list("signature__public_id", flat=True))
    return tuple(sorted(found or sources))
