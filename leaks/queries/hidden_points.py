"""Outcomes that prove nothing about a leak because a suppression that they used matches it: what is not shown there was not measured."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import OuterRef, Subquery

from leaks.hiding import hides
from leaks.models import Frame, Signature, SuppressionUse
from leaks.queries.joined import JoinedLines, lines_of
from leaks.rules import parse_rule

LEAK = "leak"


def used_templates() -> Subquery:
    """For an annotation `used` of outcomes: the templates that they used."""
    uses = SuppressionUse.objects.filter(outcome=OuterRef("pk"), log__current=True).order_by().values("outcome")
    return Subquery(uses.annotate(lines=JoinedLines("template")).values("lines"))


def hidden_among(one: Signature, outcomes: Iterable[Any], stacks: Iterable[Sequence[Frame]]) -> set[int]:
    """Of outcomes that do not show it, with `used`, those where it may be hidden.

    As its life has it: a rule that matches one of its stacks is enough for a doubt.
    """
    if one.family != LEAK:
        return set()
    texts = [_texts(stack) for stack in stacks]
    return {outcome.pk for outcome in outcomes if outcome.used and _hidden(outcome.used, texts)}


def _hidden(used: str, stacks: Iterable[set[str]]) -> bool:
    rules = [parse_rule(template) for template in lines_of(used)]
    return any(hides(rules, texts) for texts in stacks)


def _texts(stack: Iterable[Frame]) -> set[str]:
    return {text for frame in stack for text in (frame.function, frame.file, frame.module) if text}
