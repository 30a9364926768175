"""What a lane is expected to detect and which code is its own, as an outcome is judged by it.

Own code is what was known by the outcome's own time: reports of later runs must not change an older verdict, and the
order of arrival must not either.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from leaks.models import Frame, Lane, LaneExpectation, LaneOutcome, Report, RuleFile, SuppressionUse
from leaks.rows.facts import LaneView
from leaks.rules import parse_rules
from leaks.words import Detector, Verdict

# Verdicts that hang on whether a suppression rule is too broad.
BY_RULES = (Verdict.CLEAN, Verdict.BLINDED)


def lane_view(outcome: LaneOutcome) -> LaneView:
    """The view of the outcome's lane at its time. `canary_findings` is left to the caller, who knows the part."""
    lane, at = outcome.lane, outcome.happened_at
    expected = expectation(lane, at)
    rules = _rules(outcome)
    weighed = bool(rules) or SuppressionUse.objects.filter(outcome=outcome, log__current=True).exists()
    return LaneView(
        detectors=_detectors(expected),
        own_roots=tuple(lane.project.own_roots),
        own_functions=_own_functions(lane, at) if weighed else (),
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


def _own_functions(lane: Lane, at: datetime) -> tuple[str, ...]:
    """One function for each signature, so that a share of them is a share of signatures."""
    owned = _owned(lane, at).exclude(own_frame__function="").values("key__signature_id")
    return tuple(sorted(owned.annotate(name=Min("own_frame__function")).values_list("name", flat=True)))


def _own_modules(lane: Lane, at: datetime) -> tuple[str, ...]:
    modules = _owned(lane, at).exclude(own_frame__module="").values_list("own_frame__module", flat=True)
    return tuple(sorted(set(modules.distinct())))


def _owned(lane: Lane, at: datetime) -> QuerySet[Report]:
    return Report.objects.filter(
        own=True,
        log__part__outcome__lane=lane,
        log__part__outcome__happened_at__lte=at,
        log__part__outcome__withdrawn_at=None,
    ).order_by()


# --- Who must be judged again ----------------------------------------------------------------------------------------


def own_frames(outcome: LaneOutcome) -> set[int]:
    """Ids of the frames that own the outcome's reports."""
    owned = Report.objects.filter(log__part__outcome=outcome, own=True, own_frame__isnull=False)
    return set(owned.values_list("own_frame_id", flat=True).distinct().order_by())


def judged_by_rules(outcome: LaneOutcome, frames: Iterable[int], *, since: datetime) -> list[int]:
    """Outcomes of the lane whose verdict may hang on these own frames: those after this one, until others show them too.

    Empty whenever logs come in the order of the CI.
    """
    later = _later(outcome, since)
    names = set(Frame.objects.filter(pk__in=list(frames)).values_list("function", flat=True)) if later else set()
    if not names:
        return []
    until = _known_otherwise(outcome, names)
    open_ended = len(until) < len(names)
    last = max(until.values(), default=since)
    return [pk for pk, at in later if open_ended or at < last]


def _later(outcome: LaneOutcome, since: datetime) -> list[tuple[int, datetime]]:
    used = SuppressionUse.objects.filter(outcome=OuterRef("pk"))
    files = RuleFile.objects.filter(outcomes=OuterRef("pk"))
    after = LaneOutcome.objects.filter(lane_id=outcome.lane_id, happened_at__gte=since)
    weighed = after.filter(Exists(used) | Exists(files), verdict__in=BY_RULES).exclude(pk=outcome.pk)
    return list(weighed.values_list("pk", "happened_at"))


def _known_otherwise(outcome: LaneOutcome, names: set[str]) -> dict[str, datetime]:
    """Function → when another outcome of the lane first shows it as its own."""
    others = Report.objects.filter(
        own=True, log__part__outcome__lane_id=outcome.lane_id, own_frame__function__in=list(names)
    ).exclude(log__part__outcome=outcome)
    first = others.values("own_frame__function").annotate(at=Min("log__part__outcome__happened_at")).order_by()
    return dict(first.values_list("own_frame__function", "at"))
