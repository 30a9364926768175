"""Where a signature leads: to the one it was merged into, and to the one it is a duplicate of."""

from collections.abc import Iterable, Iterator

from leaks.models import Signature

AT_ONCE = 500
DEEPEST = 50  # links from one signature to the next


def roots_of(signatures: Iterable[int]) -> dict[int, int]:
    """Signature → the one it was merged into in the end, itself where it was not."""
    roots = {pk: pk for pk in signatures}
    for _ in range(DEEPEST):
        merged = _merged_into(set(roots.values()))
        if not merged:
            break
        roots = {pk: merged.get(root, root) for pk, root in roots.items()}
    return roots


def root_of(signature: Signature) -> Signature:
    """The living end of its merges; itself where it was never merged."""
    root = roots_of([signature.pk])[signature.pk]
    return signature if root == signature.pk else Signature.objects.get(pk=root)


def original_of(signature: Signature) -> Signature:
    """What it is a duplicate of in the end, merges followed on the way; itself where it is none."""
    seen, current = set[int](), root_of(signature)
    while current.duplicate_of is not None and current.pk not in seen and len(seen) < DEEPEST:
        seen.add(current.pk)
        current = root_of(current.duplicate_of)
    return current


def gathered(signature: Signature) -> list[str]:
    """Public ids of everything that was merged into it, one step after the other, and into what was merged."""
    found: dict[int, str] = {}
    layer = [signature.pk]
    for _ in range(DEEPEST):
        rows = dict(Signature.objects.filter(merged_into__in=layer).values_list("pk", "public_id")[:AT_ONCE])
        layer = [pk for pk in rows if pk not in found]
        if not layer:
            break
        found.update({pk: rows[pk] for pk in layer})
    return sorted(found.values())


def _merged_into(signatures: set[int]) -> dict[int, int]:
    merged: dict[int, int] = {}
    for some in slices(sorted(signatures)):
        rows = Signature.objects.filter(pk__in=some, merged_into__isnull=False)
        merged.update({pk: into for pk, into in rows.values_list("pk", "merged_into_id") if into is not None})
    return merged


def slices(ids: list[int]) -> Iterator[list[int]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
