"""What runs told of a rule that their logs name and that stands in no file we know: is it linked into the program?

Any run of a lane may prove that, not only the latest: one whose options are known and name no suppression file, or one that named its file
and uploaded it whole, without the rule in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.db.models import Case, F, Q, Value, When

from leaks.models import Project, SuppressionUse
from leaks.queries.suppressions_files import RunFiles
from leaks.rows.suppressions_audit import StrayRule, Told, UsedTemplate
from leaks.watching import BUILT_IN, Origin, origin_of
from leaks.witnesses import merged_options

MOST_ROWS = 2_000  # of run, log and file; the latest run of each template first, then the latest ones
COLUMNS = (
    "template",
    "outcome",
    "outcome__public_id",
    "outcome__options",
    "outcome__rule_files",
    "outcome__rule_files__name",
)
Pair = tuple[str, str]  # a template and a lane


@dataclass
class Run:
    """What one run told. `named` and `files` by the last part of a path."""

    public_id: str
    options: bool = False
    named: set[str] = field(default_factory=set)
    files: dict[str, int] = field(default_factory=dict)

    def told(self, template: str, files: RunFiles) -> Told:
        lacks = bool(self.named) and all(
            name in self.files and files.lacks(self.files[name], template) for name in self.named
        )
        return Told((), options=self.options, named=bool(self.named), lacks=lacks)


def of_tables(project: Project, used: Sequence[UsedTemplate], files: RunFiles, since: datetime) -> Iterator[StrayRule]:
    """One row for each; of its runs speaks the one that proves where it stands, else the latest. One query."""
    runs = _runs(project, used, since)
    for one in used:
        told = [(run, run.told(one.template, files)) for run in runs.get((one.template, one.lane), ())]
        places = [(run, origin_of(one.template, what)) for run, what in told]
        proven = [(run, place) for run, place in places if place.origin != Origin.UNKNOWN]
        for run, place in (proven or places)[:1]:
            yield _row(one, run.public_id, place.origin, place.said)


def _runs(project: Project, used: Sequence[UsedTemplate], since: datetime) -> dict[Pair, list[Run]]:
    """By template and lane, the latest run of each first."""
    found: dict[Pair, dict[int, Run]] = {}
    for row in _rows(project, used, since):
        runs = found.setdefault((row["template"], row["lane_name"]), {})
        run = runs.setdefault(row["outcome"], Run(row["outcome__public_id"]))
        _note(run, row)
    return {pair: list(runs.values()) for pair, runs in found.items()}


def _rows(project: Project, used: Iterable[UsedTemplate], since: datetime) -> Iterable[Mapping[str, Any]]:
    """The runtime's own rules need no proof: of them the latest run is enough."""
    latest, names = {one.newest for one in used}, {one.template for one in used}
    uses = SuppressionUse.objects.filter(
        Q(outcome__in=latest, template__in=names) | Q(template__in=names - BUILT_IN),
        log__current=True,
        outcome__lane__project=project,
        outcome__withdrawn_at=None,
        outcome__happened_at__gte=since,
        outcome__parts__logs__current=True,
    )
    first = Case(When(outcome__in=latest, then=Value(0)), default=Value(1))
    printed = F("outcome__parts__logs__facts__options")
    rows = uses.order_by(first, "-outcome__happened_at", "-outcome", "template")
    return rows.values(*COLUMNS, lane_name=F("outcome__lane__name"), printed=printed)[:MOST_ROWS]


def _note(run: Run, row: Mapping[str, Any]) -> None:
    """By the options that a log of the run prints, and those that came with it."""
    options = merged_options(row["printed"] or {}, row["outcome__options"])
    run.options = run.options or bool(options)
    run.named.update(_last(values["suppressions"]) for values in options.values() if values.get("suppressions"))
    if row["outcome__rule_files"] is not None:
        run.files[_last(row["outcome__rule_files__name"])] = row["outcome__rule_files"]


def _last(path: str) -> str:
    return PurePath(path.replace("\\", "/")).name


def _row(one: UsedTemplate, outcome: str, origin: Origin, said: str) -> StrayRule:
    return StrayRule(
        rule=one.template,
        lane=one.lane,
        origin=origin.value,
        said=said,
        file="",
        line=0,
        count=one.count,
        bytes=one.bytes,
        runs=one.runs,
        last=one.last,
        outcome=outcome,
    )
