"""The way back for keys that people moved: each goes to the signature it came from, or nothing is changed at all."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from leaks import trail
from leaks.decision_words import Deed
from leaks.errors import Conflict
from leaks.globs import glob
from leaks.key_moves import keys_of, lead, lock_keys, mark_moved
from leaks.key_rules import active_rules, owner_of
from leaks.lineage import slices
from leaks.models import Decision, GateCase, KeyMove, KeyRule, Project, Resign, Signature, SignatureKey
from leaks.models.recipes import OPEN
from leaks.queries.key_sides import BUSY, key_name
from leaks.split_signatures import own_signature
from leaks.trail import sentence_of
from leaks.triage_changes import locked_rows

SIGNED_AGAIN = "History was signed again since, and keys of {} came of that or went by it: undo the re-sign first, or split them by hand."


@dataclass(slots=True)
class Way:
    """A move of keys with all that it rests on now. `later`: moves of keys since then that hold."""

    project: Project
    taker: Decision
    givers: list[Decision]
    later: list[Decision]
    rows: dict[str, Signature]
    keys: dict[str, SignatureKey]

    @property
    def into(self) -> Signature:
        return self.rows[self.taker.subject]

    @property
    def moved(self) -> set[str]:
        return {name for one in self.givers for name in one.details["keys"]}

    @property
    def explained(self) -> set[str]:
        """Keys that `into` has because of decisions, or had before this one."""
        since = [one for one in self.later if one.details.get("into") == self.taker.subject]
        return self.moved.union(self.taker.details["kept"], *(one.details["keys"] for one in since))


def undo_keys(project: Project, batch: Sequence[Decision]) -> dict[int, dict[str, Any]]:
    """What the entries of the undoing add, by the sequence of what they undo. In the caller's transaction."""
    lock_keys(project)
    if Resign.objects.filter(project=project, state__in=OPEN).exists():
        raise Conflict(BUSY)
    way = _way(project, batch)
    _refuse_moved_since(way)
    _refuse_other_places(way)
    extra = [key for key in keys_of(way.into) if key_name(key) not in way.explained]
    new = way.taker.what == Deed.SPLIT_OFF or "revived" in way.taker.details
    if new:
        _refuse_taken_up(way)
    _give_back(way)
    if way.taker.what == Deed.RULE_MADE:
        KeyRule.objects.filter(public_id=way.taker.details["rule"], ended_at=None).update(ended_at=timezone.now())
    born = _lead_born(way, extra)
    if new:
        _bury(way)
    mark_moved([*way.keys.values(), *extra], [*way.rows.values(), *born.values()])
    return {way.taker.sequence: {"born": {name: row.public_id for name, row in born.items()}} if born else {}}


def _way(project: Project, batch: Sequence[Decision]) -> Way:
    taker = next(one for one in batch if "from" in one.details)
    givers = [one for one in batch if "keys" in one.details]
    later = trail.key_moves(project, after=batch[-1].sequence)
    rows = locked_rows(project, [one.subject for one in batch])
    missing = [one.subject for one in batch if one.subject not in rows]
    if missing:
        raise Conflict(f"{missing[0]} is not there any more.")
    names = [name for one in givers for name in one.details["keys"]]
    return Way(project, taker, givers, later, rows, _keys(project, names))


def _keys(project: Project, names: Iterable[str]) -> dict[str, SignatureKey]:
    wanted, found = set(names), dict[str, SignatureKey]()
    hashes = sorted({name.rpartition(":")[2] for name in wanted})
    for start in range(0, len(hashes), 400):
        for key in SignatureKey.objects.filter(project=project, hash__in=hashes[start : start + 400]):
            found[key_name(key)] = key
    return {name: key for name, key in found.items() if name in wanted}


# --- What hangs on it ------------------------------------------------------------------------------------------------


def _refuse_moved_since(way: Way) -> None:
    """A later move of one of its keys, or of a key that came to `into` because of it."""
    known = way.explained
    for one in way.later:
        names = set(one.details.get("keys", ()))
        born = one.subject == way.taker.subject and names - known
        if names & way.moved or born:
            raise Conflict(f"Its keys were moved again since, by {sentence_of(one)}. Undo that first.")


def _refuse_other_places(way: Way) -> None:
    """What is not as this decision left it, though no later decision says so: a re-sign was at work."""
    into = way.into
    if into.merged_into is not None or into.gone_at is not None:
        raise Conflict(f"{into.public_id} was merged or emptied since: undo that first.")
    strays = [name for name in way.moved if name not in way.keys or way.keys[name].signature_id != into.pk]
    if strays:
        raise Conflict(SIGNED_AGAIN.format(into.public_id))
    for one in way.givers:
        source = way.rows[one.subject]
        expected = into.pk if one.details["emptied"] else None
        if source.merged_into_id != expected or source.gone_at is not None:
            raise Conflict(
                f"{source.public_id} does not stand as this decision left it: undo first what was done to it since."
            )


def _refuse_taken_up(way: Way) -> None:
    """The signature that a split made, or brought back, will have nothing any more: nobody may rest on it."""
    into = way.into
    since = trail.about(way.project, [into.public_id], after=way.taker.sequence)
    blocking = [one for one in trail.standing(since) if one.details.get("batch") != way.taker.details["batch"]]
    if blocking:
        raise Conflict(f"{into.public_id} was taken up since, by {sentence_of(blocking[-1])}. Undo that first.")
    if other := Signature.objects.filter(duplicate_of=into).values_list("public_id", flat=True).first():
        raise Conflict(f"{other} is marked as a duplicate of {into.public_id}: change that first.")
    if GateCase.objects.filter(signature=into, withdrawn_at=None).exists():
        raise Conflict(f"A gate is open for {into.public_id}: withdraw it first.")


# --- Back ------------------------------------------------------------------------------------------------------------


def _give_back(way: Way) -> None:
    for one in way.givers:
        source = way.rows[one.subject]
        lead([way.keys[name] for name in one.details["keys"]], source)
        if one.details["emptied"]:
            Signature.objects.filter(pk=source.pk).update(merged_into=None)


def _lead_born(way: Way, extra: Sequence[SignatureKey]) -> dict[str, Signature]:
    """Keys that came by a rule since then go where the rules that are left lead them, else to a signature of their own.

    Called when all else is back: a rule of a signature that was merged leads to that one again.
    """
    if not extra:
        return {}
    own = glob(way.taker.details["pattern"]) if way.taker.what == Deed.RULE_MADE else None
    rules, ended = active_rules(way.project.pk), _patterns_of(way.into)
    led: dict[str, Signature] = {}
    moved_again = _of_resigns(extra)
    for key in extra:
        owner = owner_of(key.text, rules)
        by_own = own is not None and own.matches(key.text)
        if owner is None and not by_own and any(one.matches(key.text) for one in ended):
            continue
        if key.pk in moved_again or (owner is None and not by_own):
            raise Conflict(SIGNED_AGAIN.format(way.into.public_id))
        if owner == way.into.pk:
            continue
        target = own_signature(way.into, key)[0] if owner is None else Signature.objects.get(pk=owner)
        lead([key], target)
        led[key_name(key)] = target
    return led


def _patterns_of(into: Signature) -> list[Any]:
    """Of rules that ended: what they once gave to it stays."""
    return [glob(pattern) for pattern in KeyRule.objects.filter(signature=into).values_list("pattern", flat=True)]


def _of_resigns(keys: Sequence[SignatureKey]) -> set[int]:
    found: set[int] = set()
    for some in slices([key.pk for key in keys]):
        found.update(KeyMove.objects.filter(key__in=some).values_list("key_id", flat=True))
    return found


def _bury(way: Way) -> None:
    """Nothing leads to it any more: a tombstone, or merged as it was before it came back."""
    into, was = way.into, way.taker.details.get("revived") or {}
    parent = Signature.objects.filter(project=way.project, public_id=was.get("merged_into") or "").first()
    if SignatureKey.objects.filter(signature=into).exists():
        raise Conflict(SIGNED_AGAIN.format(into.public_id))
    Signature.objects.filter(pk=into.pk).update(merged_into=parent, gone_at=None if parent else timezone.now())
