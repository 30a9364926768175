"""The suppression files that runs used lately: which rules each holds, and in which runs of which lanes it was used."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q
from django.db.models.functions import Substr

from leaks.models import LaneOutcome, Project, RuleFile
from leaks.queries.suppressions_runs import COMPLETE, Moments, Piece
from leaks.queries.suppressions_uses import templates_of
from leaks.rule_types import SUPPRESSOR_OF_TYPE
from leaks.rules import Rule, parse_rule, parse_rules
from leaks.watching import rule_key

MOST_FILES = 50  # distinct contents, the latest used
MOST_PAIRS = 2_000  # of file, lane and piece of time
LONGEST_FILE = 200_000


class Ran(NamedTuple):
    """How many runs there were in a piece of time, and when the last of them was."""

    piece: int
    runs: int
    last: datetime


class FileUse(NamedTuple):
    """A file that runs of a lane used; the latest piece of time first."""

    file: int
    name: str
    lane: str
    ran: tuple[Ran, ...]

    @property
    def last(self) -> datetime:
        return max(one.last for one in self.ran)

    def within(self, pieces: Collection[int]) -> tuple[Ran, ...]:
        return tuple(one for one in self.ran if one.piece in pieces)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files that runs used lately, the rules that each holds by what they say, and in how many complete runs each was used.

    `whole`: files that were read to their end.
    """

    uses: tuple[FileUse, ...]
    rules: Mapping[int, Mapping[Hashable, Rule]]
    whole: frozenset[int]
    complete: Mapping[int, Mapping[Piece, int]]

    def held(self, rule: str) -> dict[Piece, int]:
        """Complete runs with a file that holds the rule; one with two such files is counted twice."""
        key, found = rule_key(parse_rule(rule)), Counter[Piece]()
        for file, keys in self.rules.items():
            if key in keys:
                found.update(self.complete.get(file, {}))
        return dict(found)

    def lacks(self, file: int, template: str) -> bool:
        """Whether no rule of the file has this name in a table, as far as to its end."""
        return file in self.whole and all(template not in names_of(rule.text) for rule in self.rules[file].values())


def names_of(rule: str) -> tuple[str, ...]:
    """How a table may name a rule of a file."""
    tool = SUPPRESSOR_OF_TYPE.get(parse_rule(rule).kind)
    return templates_of(tool.value, rule) if tool else (rule,)


def run_files(project: Project, since: datetime, moments: Moments) -> RunFiles:
    """Two queries."""
    pairs = (
        LaneOutcome.objects.filter(
            lane__project=project, withdrawn_at=None, happened_at__gte=since, rule_files__isnull=False
        )
        .annotate(piece=moments.piece())
        .order_by()
        .values("piece", file=F("rule_files"), file_name=F("rule_files__name"), lane_name=F("lane__name"))
        .annotate(runs=Count("pk"), complete=Count("pk", filter=Q(verdict__in=COMPLETE)), last=Max("happened_at"))
        .order_by("-last", "file", "lane_name", "piece")
    )
    rows = list(pairs[:MOST_PAIRS])
    wanted = list(dict.fromkeys(row["file"] for row in rows))[:MOST_FILES]
    texts = RuleFile.objects.filter(pk__in=wanted).annotate(head=Substr("text", 1, LONGEST_FILE + 1))
    heads = dict(texts.values_list("pk", "head"))
    return RunFiles(
        uses=tuple(_uses(rows)),
        rules={pk: _by_key(text[:LONGEST_FILE]) for pk, text in heads.items()},
        whole=frozenset(pk for pk, text in heads.items() if len(text) <= LONGEST_FILE),
        complete=_complete(rows),
    )


def _uses(rows: Iterable[Mapping[str, Any]]) -> Iterable[FileUse]:
    """One for each file and lane, the latest used first."""
    found: dict[tuple[int, str], FileUse] = {}
    for row in rows:
        key = row["file"], row["lane_name"]
        before = found.get(key, FileUse(row["file"], row["file_name"], row["lane_name"], ()))
        found[key] = before._replace(ran=(*before.ran, Ran(row["piece"], row["runs"], row["last"])))
    return found.values()


def _complete(rows: Iterable[Mapping[str, Any]]) -> dict[int, Counter[Piece]]:
    found: dict[int, Counter[Piece]] = {}
    for row in rows:
        found.setdefault(row["file"], Counter())[row["lane_name"], row["piece"]] += row["complete"]
    return found


def _by_key(text: str) -> dict[Hashable, Rule]:
    """Lines of no known type end a program: nothing is hidden by them."""
    found: dict[Hashable, Rule] = {}
    for rule in parse_rules(text):
        if rule.kind in SUPPRESSOR_OF_TYPE:
            found.setdefault(rule_key(rule), rule)
    return found
