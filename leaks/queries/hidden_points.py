"""Outcomes that prove nothing about a leak because a suppression that they used matches it: what is not shown there was not measured."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from django.db.models import OuterRef, Subquery

from leaks.hiding import hides
from leaks.models import Frame, Signature, StackFrame, SuppressionUse
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


def hidden_of_many(
    silent: Mapping[int, Iterable[Any]], shown_in: Mapping[int, Iterable[int]]
) -> Mapping[int, set[int]]:
    """The same for many signatures, all of them leaks: `silent` has the outcomes that do not show one, `shown_in` the ids of those whose
    stacks of it are held against the rules. One query, and none where no outcome used a rule, which is the ordinary case.
    """
    asked = {pk: [one for one in outcomes if one.used] for pk, outcomes in silent.items()}
    asked = {pk: outcomes for pk, outcomes in asked.items() if outcomes}
    if not asked:
        return {}
    texts = _texts_of(asked, {outcome for pk in asked for outcome in shown_in[pk]})

    @cache
    def hides_it(used: str, signature: int) -> bool:
        return _hidden(used, [texts[signature]])

    return {pk: {one.pk for one in outcomes if hides_it(one.used, pk)} for pk, outcomes in asked.items()}


def _texts_of(signatures: Collection[int], outcomes: Collection[int]) -> Mapping[int, set[str]]:
    """Signature → what frames of it say in these outcomes."""
    texts: dict[int, set[str]] = defaultdict(set)
    places = StackFrame.objects.filter(
        stack__sightings__key__signature__in=list(signatures), stack__sightings__outcome__in=list(outcomes)
    )
    columns = ("stack__sightings__key__signature", "frame__function", "frame__file", "frame__module")
    for signature, *named in places.values_list(*columns).distinct().order_by():
        texts[signature].update(filter(None, named))
    return texts


def _hidden(used: str, stacks: Iterable[set[str]]) -> bool:
    rules = [parse_rule(template) for template in lines_of(used)]
    return any(hides(rules, texts) for texts in stacks)


def _texts(stack: Iterable[Frame]) -> set[str]:
    return {text for frame in stack for text in (frame.function, frame.file, frame.module) if text}
