"""What a merge by hand would do."""

from collections.abc import Iterable, Sequence

from django.db.models import Q

from leaks.errors import BadSubmission
from leaks.lineage import original_of
from leaks.models import Project, Signature
from leaks.queries.key_sides import earliest, fingerprint, hindrances, latest, named, outcomes_of, sides
from leaks.rows.key_moves import Candidate, MergePreview, Side, Together
from leaks.words import SignatureState

MOST_SOURCES = 50
MOST_CANDIDATES = 20


def merge_preview(project: Project, into: str, sources: Iterable[str]) -> MergePreview:
    """Reads only. Raises BadSubmission by field where a signature is not there."""
    wanted = [name.strip() for name in sources if name.strip()]
    rows = named(project, [into, *wanted])
    target = _found(rows, into, "into")
    others = [_found(rows, name, "sources") for name in dict.fromkeys(wanted)]
    if not others or len(others) > MOST_SOURCES:
        raise BadSubmission(f"Name between 1 and {MOST_SOURCES} signatures to merge.", field="sources")
    shown = sides(list(rows.values()))
    return MergePreview(
        into=shown[target.public_id],
        sources=tuple(shown[row.public_id] for row in others),
        together=_together(list(rows.values()), list(shown.values())),
        differences=tuple(_differences(target, others)),
        hindrances=(*_wrong(target, others), *hindrances(project, rows.values())),
        fingerprint=fingerprint(sorted(rows.values(), key=lambda row: row.public_id), target.public_id),
    )


def candidates(project: Project, text: str, without: Sequence[str]) -> tuple[Candidate, ...]:
    """Living signatures with these words in title or id, those seen last first."""
    rows = Signature.objects.filter(project=project, merged_into=None, gone_at=None).exclude(public_id__in=without)
    for word in text.split()[:10]:
        rows = rows.filter(Q(title__icontains=word) | Q(public_id__icontains=word))
    found = rows.order_by("-last_seen_at", "public_id").values_list("public_id", "title", "kind", "state")
    return tuple(Candidate(*row) for row in found[:MOST_CANDIDATES])


def _found(rows: dict[str, Signature], public_id: str, field: str) -> Signature:
    if public_id not in rows:
        raise BadSubmission(f"There is no signature “{public_id[:40]}” in this project.", field=field)
    return rows[public_id]


def _together(rows: Sequence[Signature], shown: Sequence[Side]) -> Together:
    return Together(
        keys=sum(side.keys for side in shown),
        sightings=sum(side.sightings for side in shown),
        outcomes=outcomes_of(rows),
        first_seen=earliest(side.first_seen for side in shown),
        last_seen=latest(side.last_seen for side in shown),
    )


def _differences(target: Signature, others: Sequence[Signature]) -> Iterable[str]:
    for row in others:
        if row.state not in (target.state, SignatureState.UNTRIAGED):
            yield (
                f"{row.public_id} is “{_words(row.state)}” and {target.public_id} “{_words(target.state)}”: the merged one stays "
                f"“{_words(target.state)}”, and the decision about {row.public_id} stays in its journal."
            )
        if row.owner is not None and row.owner_id != target.owner_id:
            kept = target.owner.get_username() if target.owner else "nobody"
            yield f"{row.public_id} belongs to {row.owner.get_username()}; the owner of the merged one stays {kept}."
        if row.issue_url and row.issue_url != target.issue_url:
            yield f"{row.public_id} links {row.issue_url}; the link of the merged one stays as it is."
        if row.family != target.family:
            yield f"{row.public_id} is of another family ({row.family}, not {target.family}): one fix may not mend both."


def _wrong(target: Signature, others: Sequence[Signature]) -> Iterable[str]:
    if any(row.pk == target.pk for row in others):
        yield f"{target.public_id} cannot be merged into itself."
        return
    original = original_of(target)
    if any(row.pk == original.pk for row in others):
        yield f"{target.public_id} is marked as a duplicate of {original.public_id}: merge it the other way round."


def _words(state: str) -> str:
    return state.replace("_", " ")
