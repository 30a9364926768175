"""How much of what leaks is ours: the latest runs, one of them in full, and the rest by library. Eight queries at most."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import F, Min

from leaks import evidence
from leaks.libraries import library_of
from leaks.models import LaneOutcome, Project, Report, Signature, StackFrame
from leaks.own import Ownership
from leaks.queries.chosen import chosen
from leaks.queries.found import own_places
from leaks.queries.growth import growth_line
from leaks.queries.refs import REF_NEEDS, SUMS, amount, outcome_ref, total
from leaks.rows.leak_pages import Amount
from leaks.rows.own_share import OwnSharePage, RestGroup, RestSignature, Share, ShareRun
from leaks.words import Verdict

RUNS = 100
SIGNATURES = 1500  # of the run that is looked at, the largest first
SIGNATURES_SHOWN = 20
GROUPS = 30
FRAMES = 40  # of a stack: where nothing but the runtime stands on top, the library is not far below
FRAME = ("frame__text", "frame__function", "frame__file", "frame__line", "frame__module")


def own_share_page(project: Project, named: str = "") -> OwnSharePage:
    runs = _runs(project)
    one, missing = _looked_at(project, named, runs)
    shown = tuple(_share_run(run) for run in reversed(runs))
    if one is None:
        return OwnSharePage(runs=shown, missing=missing)
    rows = _by_signature(one)
    own, rest = [row for row in rows if row["own"]], [row for row in rows if not row["own"]]
    groups = _groups(project, rest)
    places, more = own_places(project, one) if own else ((), False)
    word, line = _growth(own)
    return OwnSharePage(
        run=outcome_ref(one),
        shares=_shares(_share_run(one)),
        places=places,
        more_places=more,
        own_signatures=tuple(map(_signature, own[:SIGNATURES_SHOWN])),
        growth=word,
        growth_line=line,
        groups=groups[:GROUPS],
        more_groups=max(0, len(groups) - GROUPS),
        rest=total(group.amount for group in groups) if groups else None,
        runs=shown,
    )


def _runs(project: Project) -> list[LaneOutcome]:
    """The latest in which something was found, newest first."""
    found = LaneOutcome.objects.filter(lane__project=project, verdict=Verdict.FINDINGS, withdrawn_at=None)
    # The latest first, and only then what stands beside them: a sort of all runs with their commits is slow.
    latest = found.order_by("-happened_at", "-pk").values("pk")[:RUNS]
    runs = LaneOutcome.objects.filter(pk__in=latest).select_related(*REF_NEEDS)
    return list(runs.order_by("-happened_at", "-pk"))


def _looked_at(project: Project, named: str, runs: Sequence[LaneOutcome]) -> tuple[LaneOutcome | None, str]:
    if not named:
        return (runs[0] if runs else None), ""
    known = next((run for run in runs if run.public_id == named), None)
    if known is not None:
        return known, ""
    found = chosen(project, named)
    return next(iter(found.lanes.values()), None), found.missing


def _share_run(run: LaneOutcome) -> ShareRun:
    return ShareRun(
        outcome=run.public_id,
        sha=run.run.commit.sha,
        lane=run.lane.name,
        at=run.happened_at,
        own=Amount(run.own_bytes, run.own_objects, run.own_reports),
        all=Amount(run.leaked_bytes, run.leaked_objects, run.reports),
    )


def _shares(run: ShareRun) -> tuple[Share, ...]:
    return (
        _share("records", run.own.count, run.all.count),
        _share("bytes", run.own.bytes, run.all.bytes),
        _share("objects", run.own.objects, run.all.objects),
    )


def _share(what: str, own: int | None, of: int | None) -> Share:
    """Own bytes of a run without a leak check are none and not nothing."""
    if not of or own is None:
        return Share(what, None if of is None else own, of, "")
    return Share(what, own, of, f"{100 * min(own, of) / of:.1f}")


# --- The run that is looked at -----------------------------------------------------------------------------------------

Row = Mapping[str, Any]


def _by_signature(one: LaneOutcome) -> list[Row]:
    """What each signature has in the run, own and other records apart, the most bytes first; with one stack of each."""
    reports = Report.objects.filter(log__part__outcome=one, log__current=True, finding=True)
    by = reports.values("own", "key__signature_id", "key__signature__public_id", "key__signature__title")
    ordered = by.annotate(stack=Min("stack_id"), **SUMS).order_by(F("bytes").desc(nulls_last=True), F("records").desc())
    return list(ordered[:SIGNATURES])


def _signature(row: Row) -> RestSignature:
    return RestSignature(row["key__signature__public_id"], row["key__signature__title"], amount(row))


def _growth(own: Sequence[Row]) -> tuple[str, str]:
    """Of the largest own signature: at exit, growing, or not measured."""
    if not own:
        return "", ""
    found = growth_line(Signature.objects.get(pk=own[0]["key__signature_id"]))
    return found.growth, found.line


def _groups(project: Project, rest: Sequence[Row]) -> tuple[RestGroup, ...]:
    """All records of one signature lie in one library: its identity is made of the first frames that say something."""
    ownership = Ownership(project.own_roots, project.plumbing)
    stacks = _stacks({row["stack"] for row in rest})
    by_library: dict[str, list[Row]] = defaultdict(list)
    for row in rest:
        by_library[library_of(stacks[row["stack"]], ownership)].append(row)
    groups = (_group(library, rows) for library, rows in by_library.items())
    return tuple(sorted(groups, key=lambda group: (-(group.amount.bytes or 0), -group.amount.count, group.library)))


def _group(library: str, rows: Sequence[Row]) -> RestGroup:
    signatures = tuple(_signature(row) for row in rows[:SIGNATURES_SHOWN])
    return RestGroup(library, total(amount(row) for row in rows), len(rows), signatures)


def _stacks(stacks: Iterable[int]) -> Mapping[int, list[evidence.Frame]]:
    found: dict[int, list[evidence.Frame]] = defaultdict(list)
    places = StackFrame.objects.filter(stack__in=list(stacks), position__lt=FRAMES).order_by("stack_id", "position")
    for stack, text, function, file, line, module in places.values_list("stack_id", *FRAME):
        found[stack].append(
            evidence.Frame(text=text, function=function or None, file=file or None, line=line, module=module or None)
        )
    return found
