"""Rules that would hide a signature, held against its representative report: proposals and rules in force here, files that runs used, and
what the logs print as used. One query.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db.models import TextField, Value
from django.db.models.functions import Cast

from leaks import evidence
from leaks.ledger_words import SuppressionState
from leaks.models import Frame, Project, Report, RuleFile, Suppression, SuppressionUse
from leaks.reach import matches
from leaks.rows.signature_parts import MatchRow
from leaks.rule_types import Suppressor
from leaks.rules import Rule, parse_rule, parse_rules
from leaks.stored_reports import printed

PROPOSALS = 200
FILES = 20
USED = 200  # rows of the tables, the latest
LONGEST_FILE = 200_000
OPEN = (SuppressionState.PROPOSED, SuppressionState.APPROVED)


class Source(NamedTuple):
    kind: str
    name: str
    state: str
    tool: str
    text: str


def suppressions_matching(project: Project, report: Report | None, frames: Sequence[Frame]) -> tuple[MatchRow, ...]:
    """`frames`: those of the report's primary stack."""
    if report is None:
        return ()
    shown = _evidence(report, frames)
    found = {(row.source, row.name, row.rule): row for source in _sources(project) for row in _rows(source, shown)}
    return tuple(found.values())


def _sources(project: Project) -> Iterator[Source]:
    proposals = Suppression.objects.filter(project=project, state__in=OPEN).order_by("-proposed_at").values("pk")
    files = RuleFile.objects.filter(project=project).order_by("-pk").values("pk")
    uses = SuppressionUse.objects.filter(
        outcome__lane__project=project, outcome__withdrawn_at=None, log__current=True
    ).order_by("-pk")
    rows = (
        _columns(Suppression.objects.filter(pk__in=proposals[:PROPOSALS]), "proposal", "public_id", "state", "tool", "rule")
        .union(_columns(RuleFile.objects.filter(pk__in=files[:FILES]), "file", "name", None, "tool", "text"))
        .union(_columns(SuppressionUse.objects.filter(pk__in=uses.values("pk")[:USED]), "log", None, None, None, "template"))
    )  # fmt: skip
    yield from (Source(*row) for row in sorted(rows, key=lambda row: (ORDER.index(row[0]), *row[1:])))


ORDER = ("proposal", "file", "log")


def _columns(rows: Any, kind: str, *names: str | None) -> Any:
    """The same five columns of each table."""
    columns = {f"column_{place}": _text(name) for place, name in enumerate(names)}
    return rows.annotate(column_kind=Value(kind, output_field=TextField()), **columns).order_by().values_list(
        "column_kind", *columns
    )  # fmt: skip


def _text(name: str | None) -> Any:
    return Value("", output_field=TextField()) if name is None else Cast(name, output_field=TextField())


def _rows(source: Source, shown: evidence.Report) -> Iterator[MatchRow]:
    for rule in _rules(source):
        match = matches([rule], shown, _suppressor(source, shown))
        if match.rule is not None and match.certainty is not None:
            yield MatchRow(source.kind, source.name, rule.text, source.state, match.certainty.value)


def _rules(source: Source) -> Iterable[Rule]:
    return parse_rules(source.text[:LONGEST_FILE]) if source.kind == "file" else [parse_rule(source.text)]


def _suppressor(source: Source, shown: evidence.Report) -> Suppressor | None:
    """LeakSanitizer prints its patterns without their type."""
    if source.tool in set(Suppressor):
        return Suppressor(source.tool)
    bare = parse_rule(source.text).kind == "" and shown.bytes is not None
    return Suppressor.LSAN if source.kind == "log" and bare else None


def _evidence(report: Report, frames: Sequence[Frame]) -> evidence.Report:
    return evidence.Report(
        tool=report.tool,
        kind=report.kind,
        line=report.line,
        headline=report.headline,
        detail=report.detail,
        bytes=report.leaked_bytes,
        objects=report.leaked_objects,
        frames=tuple(map(printed, frames)),
    )
