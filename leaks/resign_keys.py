"""The keys of a re-sign: led to where the plan wants them, and back.

Keys move, never sightings. Each move is a row, so that the way back is known.
"""

from collections.abc import Iterable

from leaks import marks, trail
from leaks.identity import Identity
from leaks.lineage import roots_of
from leaks.models import Decision, KeyMove, Link, Report, Resign, Signature, SignatureKey
from leaks.resign_forecast import Forecast
from leaks.resign_plan import Place
from leaks.store_keys import Named, make_keys, make_signatures

AT_ONCE = 400


def apply_plan(resign: Resign, found: Forecast) -> None:
    """In the caller's transaction: make the keys that are missing, and lead those to their new signature that have another."""
    places = sorted(found.plan.given)
    before = _locked(resign.project_id, places)
    wanted = _wanted(resign.project_id, found)
    missing = {where: found.named[where] for where in places if where not in before}
    make_keys(resign.project_id, missing, wanted)
    moves = [
        _move(resign, key, before.get(where), wanted[where])
        for where, key in _locked(resign.project_id, places).items()
    ]
    _lead([move for move in moves if move])
    Link.objects.bulk_create(
        Link(resign=resign, signature_id=one, into_id=into) for one, into in found.plan.links.items()
    )


def _wanted(project_id: int, found: Forecast) -> dict[Place, int]:
    fresh = {where: found.named[where] for where in sorted(found.plan.given) if found.plan.given[where] is None}
    made = make_signatures(project_id, fresh)
    return {where: made[where] if holder is None else holder for where, holder in found.plan.given.items()}


def _move(resign: Resign, key: SignatureKey, before: SignatureKey | None, wanted: int) -> KeyMove | None:
    """Null where nothing moves. A key that a digest made meanwhile had a signature of its own for a moment."""
    if before is None and key.signature_id == wanted:
        return KeyMove(resign=resign, key=key, before=None, after_id=wanted)
    if key.signature_id == wanted:
        return None
    return KeyMove(resign=resign, key=key, before_id=key.signature_id, after_id=wanted)


def _lead(moves: Iterable[KeyMove]) -> None:
    moves = list(moves)
    KeyMove.objects.bulk_create(moves)
    for move in moves:
        if move.before_id is not None:
            SignatureKey.objects.filter(pk=move.key_id).update(signature=move.after_id)
    marks.mark(marks.signature(pk) for move in moves for pk in (move.before_id, move.after_id) if pk is not None)


def _locked(project_id: int, places: list[Place]) -> dict[Place, SignatureKey]:
    """In the order of their hashes, as whoever makes keys has it."""
    found: dict[Place, SignatureKey] = {}
    hashes = sorted({hash_ for _, hash_ in places})
    for start in range(0, len(hashes), AT_ONCE):
        some = SignatureKey.objects.select_for_update(no_key=True).defer("text").order_by("hash", "recipe")
        rows = some.filter(project_id=project_id, hash__in=hashes[start : start + AT_ONCE])
        found.update({(row.recipe, row.hash): row for row in rows})
    return {where: found[where] for where in places if where in found}


# --- Links -----------------------------------------------------------------------------------------------------------


def tie_links(resign: Resign) -> int:
    """At the end, when all reports have moved: link what nothing is left of, its keys too, and forget the other links."""
    tied = 0
    for link in Link.objects.filter(resign=resign).order_by("signature__public_id"):
        if _tie(link):
            tied += 1
        else:
            link.delete()
    return tied


def _tie(link: Link) -> bool:
    """Not where people merged it meanwhile, nor where a newer log showed it again."""
    into = roots_of([link.into_id])[link.into_id]
    free = Signature.objects.filter(pk=link.signature_id, merged_into=None)
    if into == link.signature_id or Report.objects.filter(key__signature=link.signature_id).exists():
        return False
    if not free.update(merged_into=into):
        return False
    Link.objects.filter(pk=link.pk).update(into=into)
    keys = SignatureKey.objects.filter(signature=link.signature_id).order_by("hash")
    _lead(_follow(link, keys, into))
    return True


def _follow(link: Link, keys: Iterable[SignatureKey], into: int) -> Iterable[KeyMove]:
    """A key that the plan moved to the signature before (there is none in practice) keeps its first move."""
    moved = set(KeyMove.objects.filter(resign=link.resign_id).values_list("key_id", flat=True))
    for key in keys:
        if key.pk in moved:
            SignatureKey.objects.filter(pk=key.pk).update(signature=into)
        else:
            yield KeyMove(resign_id=link.resign_id, key=key, before_id=link.signature_id, after_id=into)


# --- Back ------------------------------------------------------------------------------------------------------------


def moved_since(resign: Resign) -> Decision | None:
    """A decision that moved keys of this re-sign since then, and holds: going back under it would leave its keys in the wrong place."""
    moves = KeyMove.objects.filter(resign=resign).values_list("key__recipe", "key__hash")
    names = {f"{recipe}:{hash_}" for recipe, hash_ in moves}
    started = Decision.objects.filter(project=resign.project_id, at__gte=resign.asked_at).order_by("sequence").first()
    later = trail.key_moves(resign.project, after=started.sequence - 1) if names and started else []
    return next((one for one in later if names & set(one.details.get("keys", ()))), None)


def restore_keys(resign: Resign) -> None:
    """In the caller's transaction; twice is once. What people moved meanwhile stays where they moved it."""
    for link in Link.objects.filter(resign=resign):
        Signature.objects.filter(pk=link.signature_id, merged_into=link.into_id).update(merged_into=None)
    moves = list(KeyMove.objects.filter(resign=resign).select_related("key").order_by("key__hash"))
    for move in moves:
        if move.before_id is not None:
            SignatureKey.objects.filter(pk=move.key_id, signature=move.after_id).update(signature=move.before_id)
    _part([move for move in moves if move.before_id is None])
    marks.mark(marks.signature(pk) for move in moves for pk in (move.before_id, move.after_id) if pk is not None)


def _part(made: list[KeyMove]) -> None:
    """A key that the re-sign made for a signature that was there before gets one of its own, gone again if nothing shows it."""
    for move in made:
        shared = SignatureKey.objects.filter(signature=move.after_id).exclude(pk=move.key_id).exists()
        if shared and move.key.signature_id == move.after_id:
            fresh = make_signatures(
                move.key.project_id, {(move.key.recipe, move.key.hash): _named(move.key, move.after)}
            )
            SignatureKey.objects.filter(pk=move.key_id).update(signature=next(iter(fresh.values())))
            marks.mark(map(marks.signature, fresh.values()))


def _named(key: SignatureKey, like: Signature) -> Named:
    """Its title follows from its sightings, as soon as it has some."""
    public_id = f"LKS-{key.hash[:10].upper()}"
    return Named(Identity(key.recipe, key.hash, public_id, like.family, like.title, key.text, None), like.kind)
