"""Rules over the text of keys, as far as keys are looked up: which signature a new key belongs to.

Rules are made and ended in `leaks.rule_changes`. The rule that was made last wins: whoever made it saw the ones before.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from leaks.globs import Glob, glob
from leaks.lineage import roots_of
from leaks.models import KeyRule, Signature, SignatureKey

Name = TypeVar("Name", bound=Hashable)
READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """`signature` is the living end of what the rule names."""

    glob: Glob
    signature: int


def active_rules(project_id: int) -> list[ActiveRule]:
    """The last one first. A rule whose signature is gone gives nothing away."""
    rules = KeyRule.objects.filter(project=project_id, ended_at=None).order_by("-made_at", "-public_id")
    rows = list(rules.values_list("pattern", "signature_id"))
    roots = roots_of({pk for _, pk in rows}) if rows else {}
    gone = set(Signature.objects.filter(pk__in=set(roots.values()), gone_at__isnull=False).values_list("pk", flat=True))
    return [ActiveRule(glob(pattern), roots[pk]) for pattern, pk in rows if roots[pk] not in gone]


def claimed(project_id: int, texts: Mapping[Name, str]) -> dict[Name, int]:
    """Name → id of the signature that a rule gives it to, for the keys (by any name) whose text matches one."""
    rules = active_rules(project_id) if texts else []
    found = ((name, owner_of(text, rules)) for name, text in texts.items())
    return {name: owner for name, owner in found if owner is not None}


def owner_of(text: str, rules: Iterable[ActiveRule]) -> int | None:
    return next((rule.signature for rule in rules if rule.glob.matches(text)), None)


def matching(project_id: int, pattern: str) -> Iterator[SignatureKey]:
    """The known keys whose text matches, in the order of their hashes, with their signatures."""
    wanted = glob(pattern)
    keys = SignatureKey.objects.filter(project=project_id, text__contains=wanted.literal)
    for key in keys.select_related("signature").order_by("hash", "recipe").iterator(chunk_size=READ_AT_ONCE):
        if wanted.matches(key.text):
            yield key
