"""What a lane is expected to detect and which code is its own, as an outcome is judged by it.

Own code is what was known by the outcome's own time: reports of later runs must not change an older verdict, and the
order of arrival must not either.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import chain

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from leaks.models import Lane, LaneExpectation, LaneOutcome, Report, RuleFile, StackFrame, SuppressionUse
from leaks.rows.facts import LaneView
from leaks.rules import parse_rules
from leaks.words import Detector, Verdict

# Verdicts that hang on whether a suppression rule is too broad.
BY_RULES = (Verdict.CLEAN, Verdict.BLINDED)
ENTRY = "_start"  # of every program on Linux; the dynamic loader has one too
LOADER = "ld-"


def lane_view(outcome: LaneOutcome) -> LaneView:
    """The view of the outcome's lane at its time. `canary_findings` is left to the caller, who knows the part."""
    lane, at = outcome.lane, outcome.happened_at
    expected = expectation(lane, at)
    rules = _rules(outcome)
    weighed = bool(rules) or SuppressionUse.objects.filter(outcome=outcome, log__current=True).exists()
    functions, files = _own_places(lane, at) if weighed else ((), ())
    return LaneView(
        detectors=_detectors(expected),
        own_roots=tuple(lane.project.own_roots),
        own_functions=functions,
        own_files=files,
        rules=rules,
        own_modules=_own_modules(lane, at) if weighed else (),
        canary=expected.canary if expected and expected.canary else None,
    )


def expectation(lane: Lane, at: datetime) -> LaneExpectation | None:
    open_ended = Q(valid_to=None) | Q(valid_to__gt=at)
    return LaneExpectation.objects.filter(open_ended, lane=lane, valid_from__lte=at).first()


def _detectors(expected: LaneExpectation | None) -> tuple[Detector, ...] | None:
    if expected is None or not expected.detectors:
        return None
    # Not `word in Detector`: before Python 3.12 that raises for a plain string.
    return tuple(detector for detector in Detector if detector in expected.detectors)


def _rules(outcome: LaneOutcome) -> tuple[str, ...]:
    files = RuleFile.objects.filter(outcomes=outcome).order_by("sha256")
    return tuple(rule.text for file in files for rule in parse_rules(file.text))


def _own_places(lane: Lane, at: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """One function and one file for each signature, so that a share of them is a share of signatures: the first that its identity names."""
    owned = _owned(lane, at).values("key__signature_id").annotate(text=Min("key__text"), file=Min("own_frame__file"))
    places = list(owned.values_list("text", "file"))
    functions = filter(None, (function_of(text) for text, _ in places))
    return tuple(sorted(functions)), tuple(sorted(filter(None, (file for _, file in places))))


def _own_modules(lane: Lane, at: datetime) -> tuple[str, ...]:
    """The programs that leaked, by what prints a module: the own frames of a log without symbols, and the entry of every program."""
    owned = _owned(lane, at)
    modules = set(owned.exclude(own_frame__module="").values_list("own_frame__module", flat=True).distinct())
    return tuple(sorted(filter(None, modules | _programs(owned))))


def _programs(owned: QuerySet[Report]) -> set[str]:
    entries = StackFrame.objects.filter(frame__function=ENTRY, stack__reports__in=owned).order_by()
    modules = entries.exclude(frame__module="").values_list("frame__module", flat=True).distinct()
    return {module for module in modules if not module.rpartition("/")[2].startswith(LOADER)}


def function_of(key_text: str) -> str:
    """The first name in the text of a key, whose first line is the family."""
    return key_text.partition("\n")[2].partition("\n")[0]


def _owned(lane: Lane, at: datetime) -> QuerySet[Report]:
    return Report.objects.filter(
        own=True,
        log__part__outcome__lane=lane,
        log__part__outcome__happened_at__lte=at,
        log__part__outcome__withdrawn_at=None,
    ).order_by()


# --- Who must be judged again ----------------------------------------------------------------------------------------


def own_traits(outcome: LaneOutcome) -> set[str]:
    """All of the outcome that a rule's breadth is held against: identities and files of its own reports, and the programs they ran in."""
    owned = Report.objects.filter(log__part__outcome=outcome, own=True).order_by()
    texts = owned.values_list("key__text", flat=True).distinct()
    modules = owned.exclude(own_frame__module="").values_list("own_frame__module", flat=True).distinct()
    files = owned.exclude(own_frame__file="").values_list("own_frame__file", flat=True).distinct()
    return {*texts, *filter(None, modules), *filter(None, files), *_programs(owned)}


def judged_by_rules(outcome: LaneOutcome, traits: Iterable[str], *, since: datetime) -> list[int]:
    """Outcomes of the lane whose verdict may hang on these traits: those after this one, until others show them too.

    Empty whenever logs come in the order of the CI.
    """
    wanted = set(traits)
    later = _later(outcome, since) if wanted else []
    if not later:
        return []
    until = _known_otherwise(outcome, wanted)
    open_ended = len(until) < len(wanted)
    last = max(until.values(), default=since)
    return [pk for pk, at in later if open_ended or at < last]


def _later(outcome: LaneOutcome, since: datetime) -> list[tuple[int, datetime]]:
    used = SuppressionUse.objects.filter(outcome=OuterRef("pk"))
    files = RuleFile.objects.filter(outcomes=OuterRef("pk"))
    after = LaneOutcome.objects.filter(lane_id=outcome.lane_id, happened_at__gte=since)
    weighed = after.filter(Exists(used) | Exists(files), verdict__in=BY_RULES).exclude(pk=outcome.pk)
    return list(weighed.values_list("pk", "happened_at"))


def _known_otherwise(outcome: LaneOutcome, traits: set[str]) -> dict[str, datetime]:
    """Trait → when another outcome of the lane first shows it."""
    counted = {"log__part__outcome__lane_id": outcome.lane_id, "log__part__outcome__withdrawn_at": None}
    others = Report.objects.filter(own=True, **counted).exclude(log__part__outcome=outcome)
    programs = {"stack__places__frame__function": ENTRY, "stack__places__frame__module__in": list(traits)}
    found = (
        _first(others.filter(key__text__in=list(traits)), "key__text"),
        _first(others.filter(own_frame__module__in=list(traits)), "own_frame__module"),
        _first(others.filter(own_frame__file__in=list(traits)), "own_frame__file"),
        _first(others.filter(**programs), "stack__places__frame__module"),
    )
    known: dict[str, datetime] = {}
    for trait, at in chain.from_iterable(found):
        known[trait] = min(at, known.get(trait, at))
    return known


def _first(reports: QuerySet[Report], column: str) -> Iterable[tuple[str, datetime]]:
    rows = reports.values(column).annotate(at=Min("log__part__outcome__happened_at")).order_by()
    return list(rows.values_list(column, "at"))
