"""What a split by hand would do: some keys of a signature go to a new one, or back to one that was merged into it."""

from collections.abc import Iterable, Sequence

from leaks.errors import BadSubmission
from leaks.identity import DIGITS
from leaks.lineage import gathered
from leaks.models import Project, Signature, SignatureKey
from leaks.queries.key_sides import fingerprint, hindrances, key_rows, named, sides
from leaks.rows.key_moves import KeyRow, SplitPreview

MOST_KEYS = 2_000


def split_preview(project: Project, source: str, chosen: Iterable[str], into: str = "") -> SplitPreview:
    """`chosen`: names of keys; `into`: a signature that comes back, empty for a new one. Reads only."""
    row = named(project, [source]).get(source)
    if row is None:
        raise BadSubmission(f"There is no signature “{source[:40]}” in this project.", field="signature")
    wanted = set(chosen)
    keys = SignatureKey.objects.filter(signature=row).select_related("signature").order_by("hash", "recipe")
    shown = key_rows(list(keys[:MOST_KEYS]), wanted)
    choices = _choices(project, row)
    return SplitPreview(
        source=sides([row])[source],
        keys=shown,
        into=into,
        choices=tuple(choices),
        moved_sightings=sum(key.sightings for key in shown if key.chosen),
        hindrances=(*_wrong(shown, wanted, into, choices), *hindrances(project, [row])),
        fingerprint=fingerprint([row], sorted(wanted), into),
    )


def _choices(project: Project, row: Signature) -> Sequence[str]:
    """What was merged into it, and what a split of it once made and nothing leads to any more."""
    merged = gathered(row)
    hashes = SignatureKey.objects.filter(signature=row).values_list("hash", flat=True)
    natural = [f"LKS-{one[:DIGITS].upper()}" for one in hashes[:MOST_KEYS]]
    gone = Signature.objects.filter(project=project, public_id__in=natural, gone_at__isnull=False)
    return sorted({*merged, *gone.values_list("public_id", flat=True)})


def _wrong(keys: Sequence[KeyRow], wanted: set[str], into: str, choices: Sequence[str]) -> Iterable[str]:
    known = {key.name for key in keys}
    if len(keys) < 2:
        yield "It has one key only: there is nothing to choose from. The recipe must tell its reports apart first."
    elif not wanted:
        yield "Choose the keys that shall leave."
    elif wanted - known:
        yield f"{len(wanted - known)} of the chosen keys do not belong to it (any more)."
    elif wanted == known:
        yield "At least one key must stay: who wants all of them elsewhere merges instead."
    if into and into not in choices:
        yield f"{into[:40]} was never a part of this signature: a split makes a new one, or brings back one that was merged into it."
