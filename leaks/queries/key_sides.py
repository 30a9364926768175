"""Signatures as the sides of a merge or a split: what each holds now, and what speaks against moving its keys."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from django.db.models import Count, Q

from leaks.models import LaneExpectation, LaneOutcome, Project, Resign, Sighting, Signature, SignatureKey
from leaks.models.recipes import OPEN
from leaks.queries.refs import seen_ref
from leaks.rows.key_moves import KeyRow, Side
from leaks.rows.leak_pages import Amount, SeenRef

RELATED = ("owner", "duplicate_of", "merged_into", "first_seen__run__commit", "last_seen__run__commit")
BUSY = "History is being signed again just now, which moves keys itself; try again when that has ended."


def named(project: Project, public_ids: Iterable[str]) -> dict[str, Signature]:
    rows = Signature.objects.select_related(*RELATED).filter(project=project, public_id__in=list(public_ids))
    return {row.public_id: row for row in rows}


def sides(rows: Sequence[Signature]) -> dict[str, Side]:
    """Two queries, however many they are."""
    counted = SignatureKey.objects.filter(signature__in=rows).order_by().values("signature").annotate(n=Count("pk"))
    keys = {row["signature"]: row["n"] for row in counted}
    seen = {
        row["key__signature"]: (row["n"], row["outcomes"])
        for row in Sighting.objects.filter(key__signature__in=rows)
        .order_by()
        .values("key__signature")
        .annotate(n=Count("pk"), outcomes=Count("outcome", distinct=True, filter=Q(outcome__withdrawn_at=None)))
    }
    return {row.public_id: _side(row, keys.get(row.pk, 0), *seen.get(row.pk, (0, 0))) for row in rows}


def _side(row: Signature, keys: int, sightings: int, outcomes: int) -> Side:
    return Side(
        public_id=row.public_id,
        title=row.title,
        kind=row.kind,
        state=row.state,
        owner=row.owner.get_username() if row.owner else "",
        issue_url=row.issue_url,
        keys=keys,
        sightings=sightings,
        outcomes=outcomes,
        first_seen=seen_ref(row.first_seen),
        last_seen=seen_ref(row.last_seen),
        last=Amount(row.last_bytes, row.last_objects, row.last_count),
    )


def outcomes_of(rows: Sequence[Signature]) -> int:
    """Outcomes that show any of them; one that shows two of them counts once."""
    counted = LaneOutcome.objects.filter(sightings__key__signature__in=rows, withdrawn_at=None)
    return counted.order_by().values("pk").distinct().count()


def earliest(refs: Iterable[SeenRef | None]) -> SeenRef | None:
    return min((ref for ref in refs if ref), key=lambda ref: ref.at, default=None)


def latest(refs: Iterable[SeenRef | None]) -> SeenRef | None:
    return max((ref for ref in refs if ref), key=lambda ref: ref.at, default=None)


# --- Keys ------------------------------------------------------------------------------------------------------------


def key_name(key: SignatureKey) -> str:
    """How a decision names a key: never by its row."""
    return f"{key.recipe}:{key.hash}"


def key_rows(keys: Sequence[SignatureKey], chosen: Iterable[str] = ()) -> tuple[KeyRow, ...]:
    wanted = set(chosen)
    seen = {
        row["key"]: (row["n"], row["outcomes"])
        for row in Sighting.objects.filter(key__in=keys)
        .order_by()
        .values("key")
        .annotate(n=Count("pk"), outcomes=Count("outcome", distinct=True, filter=Q(outcome__withdrawn_at=None)))
    }
    return tuple(_key_row(key, *seen.get(key.pk, (0, 0)), chosen=key_name(key) in wanted) for key in keys)


def _key_row(key: SignatureKey, sightings: int, outcomes: int, *, chosen: bool) -> KeyRow:
    return KeyRow(
        name=key_name(key),
        tokens=tuple(key.text.splitlines()),
        signature=key.signature.public_id,
        title=key.signature.title,
        sightings=sightings,
        outcomes=outcomes,
        chosen=chosen,
    )


# --- What speaks against it ------------------------------------------------------------------------------------------


def hindrances(project: Project, rows: Iterable[Signature]) -> list[str]:
    """Why keys of these signatures cannot be moved, whatever is wanted with them."""
    found = [BUSY] if Resign.objects.filter(project=project, state__in=OPEN).exists() else []
    wanted = list(rows)
    for row in wanted:
        if row.merged_into is not None:
            found.append(f"{row.public_id} was merged into {row.merged_into.public_id} already.")
        elif row.gone_at is not None:
            found.append(f"Nothing leads to {row.public_id} any more: its keys went elsewhere.")
    return found + _canaries(project, [row.public_id for row in wanted])


def _canaries(project: Project, public_ids: Sequence[str]) -> list[str]:
    """Whatever leads to a canary counts as planted: a leak that is merged into it would be hidden."""
    expected = LaneExpectation.objects.filter(lane__project=project, valid_to=None, canary__in=public_ids)
    return [
        f"{canary} is the canary of the lane {lane}: what leads to it counts as planted. Change the lane's settings first."
        for canary, lane in expected.order_by("canary", "lane__name").values_list("canary", "lane__name")
    ]


def fingerprint(rows: Sequence[Signature], *more: object) -> str:
    """Follows from what was decided about the signatures and from their keys; a new sighting changes nothing of it."""
    keys = SignatureKey.objects.filter(signature__in=rows).order_by("hash", "recipe")
    content = [
        [
            [r.public_id, r.state, r.owner_id, r.issue_url, r.duplicate_of_id, r.merged_into_id, bool(r.gone_at)]
            for r in rows
        ],
        [list(row) for row in keys.values_list("recipe", "hash", "signature__public_id")],
        more,
    ]
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()[:24]
