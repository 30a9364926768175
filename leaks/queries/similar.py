"""Signatures that may be the same bug, each with the reason. One query over signatures and their keys, never over sightings."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q

from leaks.models import Frame, Project, Signature, SignatureKey
from leaks.rows.signature_parts import SimilarRow

SHOWN = 8
LOOKED_AT = 40
PREFIX_LINES = 3  # of a key: its family, and two functions
LONGEST_PREFIX = 1_000


class Reason(NamedTuple):
    """In order of weight."""

    holds: Callable[[Any, Frame], bool]
    says: str


REASONS = (
    Reason(
        lambda other, own: bool(own.function) and (other.own_frame.function, other.own_frame.file) == (own.function, own.file),
        "same own function",
    ),
    Reason(
        lambda other, own: bool(own.function) and other.own_frame.function == own.function and other.own_frame.file != own.file,
        "same function in another file",
    ),
    Reason(
        lambda other, own: bool(own.file) and other.own_frame.file == own.file and other.own_frame.function != own.function,
        "another function of the same file",
    ),
)  # fmt: skip


def similar_to(project: Project, one: Signature, key_text: str) -> tuple[SimilarRow, ...]:
    """Same own frame, or a key that begins alike."""
    prefix = _prefix(key_text)
    keys = SignatureKey.objects.filter(signature=OuterRef("pk"), text__startswith=prefix)
    wanted = _same_own(one.own_frame) | (Q(Exists(keys)) if prefix else Q(pk__in=[]))
    others = Signature.objects.filter(wanted, project=project, merged_into=None, gone_at=None).exclude(pk=one.pk)
    rows = others.annotate(alike=Exists(keys)).select_related("own_frame").order_by("-last_seen_at", "public_id")
    found = [_row(other, one, prefix) for other in rows[:LOOKED_AT]]
    return tuple(sorted((row for row in found if row.reasons), key=_weight)[:SHOWN])


def _same_own(own: Frame | None) -> Q:
    none = Q(pk__in=[])
    if own is None:
        return none
    by_function = Q(own_frame__function=own.function) if own.function else none
    return by_function | (Q(own_frame__file=own.file) if own.file else none)


def _prefix(key_text: str) -> str:
    """Empty for a key that is shorter than that: its beginning would be all of it."""
    lines = key_text.split("\n")
    return "\n".join(lines[:PREFIX_LINES])[:LONGEST_PREFIX] if len(lines) >= PREFIX_LINES else ""


def _row(other: Any, one: Signature, prefix: str) -> SimilarRow:
    return SimilarRow(
        public_id=other.public_id,
        title=other.title,
        state=other.state,
        life=other.life,
        reasons=tuple(_reasons(other, one, prefix)),
    )


def _reasons(other: Any, one: Signature, prefix: str) -> Iterator[str]:
    if other.own_frame is not None and one.own_frame is not None:
        yield from (reason.says for reason in REASONS if reason.holds(other, one.own_frame))
    if prefix and other.alike:
        yield "the same functions at the end of the stack"


def _weight(row: SimilarRow) -> int:
    order = ["the same functions at the end of the stack", *(reason.says for reason in REASONS)]
    return min(order.index(reason) for reason in row.reasons)
