"""Signature keys: found by (project, recipe, hash), made with a signature of their own where they are new.

Called inside the transaction of a digest, so that a kill leaves no signature that nothing was ever seen of.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import connection

from leaks.identity import Identity
from leaks.key_rules import claimed
from leaks.models import Project, Signature, SignatureKey
from leaks.store_facts import storable

LOOKED_UP = 500
LONGER = 4  # digits that tell two bugs apart whose public ids begin alike


@dataclass(frozen=True, slots=True)
class Named:
    """An identity and the kind of the report that brought it."""

    identity: Identity
    kind: str


def store_keys(project_id: int, named: Iterable[Named]) -> dict[tuple[str, str], SignatureKey]:
    """(recipe, hash) → key for all of `named`. Where keys lead stays as it is until the caller's transaction ends."""
    hold_project(project_id)
    wanted = {(one.identity.recipe, one.identity.hash): one for one in reversed(list(named))}
    # Asked before the keys: an id that another worker takes in between then shows up as a key and not as a collision.
    taken = _taken(project_id, [one.identity.public_id for one in wanted.values()])
    keys = known_keys(project_id, wanted)
    missing = {place: wanted[place] for place in sorted(wanted.keys() - keys.keys())}
    if missing:
        _make(project_id, missing, taken)
        keys |= known_keys(project_id, missing)
    return keys


def hold_project(project_id: int) -> None:
    """Keep people from moving keys until the transaction ends; any number of digests hold a project side by side.

    Whoever moves keys locks the project's row whole (`leaks.key_moves`), and so waits for digests that counted under the keys as
    they were. SQLite has one writer at a time anyway.
    """
    if connection.features.has_select_for_update:
        table = connection.ops.quote_name(Project._meta.db_table)  # noqa: SLF001  Django's documented door to it
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM {table} WHERE id = %s FOR KEY SHARE", [project_id])  # noqa: S608


def known_keys(project_id: int, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], SignatureKey]:
    hashes = sorted({hash_ for _, hash_ in places})
    found: dict[tuple[str, str], SignatureKey] = {}
    for start in range(0, len(hashes), LOOKED_UP):
        keys = SignatureKey.objects.filter(project_id=project_id, hash__in=hashes[start : start + LOOKED_UP])
        found.update({(key.recipe, key.hash): key for key in keys.defer("text")})
    return {place: found[place] for place in places if place in found}


def _taken(project_id: int, ids: list[str]) -> set[str]:
    taken: set[str] = set()
    for start in range(0, len(ids), LOOKED_UP):
        some = Signature.objects.filter(project_id=project_id, public_id__in=ids[start : start + LOOKED_UP])
        taken.update(some.values_list("public_id", flat=True))
    return taken


def _make(project_id: int, missing: Mapping[tuple[str, str], Named], taken: set[str]) -> None:
    """In the order of their hashes: two workers that make the same ones wait for each other, never in a ring.

    A key that a rule of the project gives away gets no signature of its own.
    """
    given = claimed(project_id, {place: storable(one.identity.text) for place, one in missing.items()})
    rows = _make_signatures(project_id, {place: one for place, one in missing.items() if place not in given}, taken)
    make_keys(project_id, missing, rows | given)


def make_signatures(project_id: int, named: Mapping[tuple[str, str], Named]) -> dict[tuple[str, str], int]:
    """A new signature for each place, whatever signatures of such an id there are."""
    return _make_signatures(project_id, named, _taken(project_id, [one.identity.public_id for one in named.values()]))


def make_keys(
    project_id: int, named: Mapping[tuple[str, str], Named], signatures: Mapping[tuple[str, str], int]
) -> None:
    keys = [_key(project_id, one, signatures[place]) for place, one in named.items()]
    SignatureKey.objects.bulk_create(keys, ignore_conflicts=True)


def _make_signatures(
    project_id: int, named: Mapping[tuple[str, str], Named], taken: set[str]
) -> dict[tuple[str, str], int]:
    ids = _public_ids(named, taken)
    signatures = [_signature(project_id, ids[place], one) for place, one in named.items()]
    Signature.objects.bulk_create(signatures, ignore_conflicts=True)
    rows: dict[str, int] = {}
    for start in range(0, len(signatures), LOOKED_UP):
        some = [one.public_id for one in signatures[start : start + LOOKED_UP]]
        made = Signature.objects.filter(project_id=project_id, public_id__in=some)
        rows.update(made.values_list("public_id", "pk"))
    return {place: rows[ids[place]] for place in named}


def _public_ids(missing: Mapping[tuple[str, str], Named], taken: set[str]) -> dict[tuple[str, str], str]:
    """The identity's own id, longer by some digits of the hash where another signature has that id."""
    ids: dict[tuple[str, str], str] = {}
    used = set(taken)
    for place, one in missing.items():
        own = one.identity.public_id
        digits = len(own.rpartition("-")[2])
        ids[place] = own if own not in used else own + one.identity.hash[digits : digits + LONGER]
        used.add(ids[place])
    return ids


def _signature(project_id: int, public_id: str, one: Named) -> Signature:
    """A first guess at the shown columns; the standing sets them from all sightings."""
    return Signature(
        project_id=project_id,
        public_id=public_id,
        title=storable(one.identity.title),
        family=storable(one.identity.family, 100),
        kind=storable(one.kind, 100),
        own=one.identity.own_frame is not None,
    )


def _key(project_id: int, one: Named, signature_id: int) -> SignatureKey:
    return SignatureKey(
        project_id=project_id,
        recipe=one.identity.recipe,
        hash=one.identity.hash,
        signature_id=signature_id,
        text=storable(one.identity.text),
    )
