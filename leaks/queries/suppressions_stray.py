"""Rules that lanes use and that are not approved here: in the files that runs uploaded, and in the tables that their logs print."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Q
from django.db.models.functions import Substr

from leaks.ledger_words import SuppressionState
from leaks.models import LaneOutcome, Log, Project, RuleFile, Suppression
from leaks.queries.suppressions_runs import COMPLETE, Moments, Piece
from leaks.queries.suppressions_uses import templates_of
from leaks.rows.suppressions_audit import StrayRule, Told, UsedTemplate
from leaks.rule_types import SUPPRESSOR_OF_TYPE
from leaks.rules import Rule, parse_rule, parse_rules
from leaks.watching import Origin, origin_of, rule_key
from leaks.witnesses import merged_options

MOST_FILES = 50  # distinct contents, the latest used
MOST_PAIRS = 2_000  # of file, lane and piece of time
LONGEST_FILE = 200_000


class FileUse(NamedTuple):
    """A file that runs of a lane used."""

    file: int
    name: str
    lane: str
    runs: int
    last: datetime


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files that runs used lately, the rules that each holds by what they say, and in how many complete runs each was used."""

    uses: tuple[FileUse, ...]
    rules: Mapping[int, Mapping[Hashable, Rule]]
    complete: Mapping[int, Mapping[Piece, int]]

    def held(self, rule: str) -> dict[Piece, int]:
        """Complete runs with a file that holds the rule; one with two such files is counted twice."""
        key, found = rule_key(parse_rule(rule)), Counter[Piece]()
        for file, keys in self.rules.items():
            if key in keys:
                found.update(self.complete.get(file, {}))
        return dict(found)


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
    texts = RuleFile.objects.filter(pk__in=wanted).annotate(head=Substr("text", 1, LONGEST_FILE))
    rules = {pk: _by_key(text) for pk, text in texts.values_list("pk", "head")}
    return RunFiles(tuple(_uses(rows)), rules, _complete(rows))


def _uses(rows: Iterable[Mapping[str, Any]]) -> Iterable[FileUse]:
    """Over all pieces of time, the latest first."""
    found: dict[tuple[int, str], FileUse] = {}
    for row in rows:
        key = row["file"], row["lane_name"]
        before = found.get(key, FileUse(row["file"], row["file_name"], row["lane_name"], 0, row["last"]))
        found[key] = before._replace(runs=before.runs + row["runs"])
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


# --- Not approved ----------------------------------------------------------------------------------------------------


def strays(
    project: Project,
    known: Sequence[Suppression],
    files: RunFiles,
    used: Sequence[UsedTemplate],
    *,
    since: datetime,
    day: date,
) -> list[StrayRule]:
    """What lanes used since then: those that hid most first. One query."""
    by_key = _by_meaning(known)
    by_name = _by_template(known)
    hits = {(one.lane, one.template): one for one in used}
    found = [row for use in files.uses if use.last >= since for row in _of_file(use, files, by_key, hits, day)]
    said = {(row.lane, name) for row in found for name in _names(row.rule)}
    unexplained = [
        one
        for one in used
        if (one.lane, one.template) not in said
        and not _approved(by_name.get(one.template, ()), one.lane, one.last, day)
    ]
    found += _of_tables(project, unexplained)
    return sorted(_once(found), key=lambda row: (-row.count, row.rule, row.lane))


def _by_meaning(known: Iterable[Suppression]) -> dict[Hashable, list[Suppression]]:
    found: dict[Hashable, list[Suppression]] = {}
    for one in known:
        found.setdefault(rule_key(parse_rule(one.rule)), []).append(one)
    return found


def _by_template(known: Iterable[Suppression]) -> dict[str, list[Suppression]]:
    found: dict[str, list[Suppression]] = {}
    for one in known:
        for name in templates_of(one.tool, one.rule):
            found.setdefault(name, []).append(one)
    return found


def _of_file(
    use: FileUse,
    files: RunFiles,
    known: Mapping[Hashable, Sequence[Suppression]],
    hits: Mapping[tuple[str, str], UsedTemplate],
    day: date,
) -> Iterator[StrayRule]:
    for key, rule in files.rules.get(use.file, {}).items():
        same = known.get(key, ())
        if _approved(same, use.lane, use.last, day):
            continue
        hit = next((hits[use.lane, name] for name in _names(rule.text) if (use.lane, name) in hits), None)
        other = same[0] if same else None
        yield StrayRule(
            rule=rule.text,
            lane=use.lane,
            origin=Origin.FILE.value,
            said=_standing(other, day),
            file=use.name,
            line=rule.line,
            count=hit.count if hit else 0,
            bytes=hit.bytes if hit else 0,
            runs=use.runs,
            last=use.last,
            known=other.public_id if other else "",
            known_state=_state(other, day) if other else "",
        )


def _names(rule: str) -> tuple[str, ...]:
    kind = parse_rule(rule).kind
    tool = SUPPRESSOR_OF_TYPE.get(kind)
    return templates_of(tool.value, rule) if tool else (rule,)


def _approved(same: Iterable[Suppression], lane: str, at: datetime, day: date) -> bool:
    """Now, or when the lane last used it: a lane that has not run since an end is no stranger."""
    return any((_in_force(one, day) or _was_in_force(one, at)) and _for_lane(one, lane) for one in same)


def _in_force(one: Suppression, day: date) -> bool:
    return one.state == SuppressionState.APPROVED and one.ends_on >= day


def _was_in_force(one: Suppression, at: datetime) -> bool:
    begun = one.approved_at is not None and one.approved_at <= at and one.ends_on >= at.date()
    return begun and (one.ended_at is None or at <= one.ended_at)


def _for_lane(one: Suppression, lane: str) -> bool:
    names = [row.name for row in one.lanes.all()]
    return not names or lane in names


def _state(one: Suppression, day: date) -> str:
    past = one.state == SuppressionState.APPROVED and one.ends_on < day
    return SuppressionState.EXPIRED.value if past else str(one.state)


def _standing(other: Suppression | None, day: date) -> str:
    if other is None:
        return "Nobody approved it here."
    return SAID[SuppressionState(_state(other, day))].format(other.public_id)


SAID = {
    SuppressionState.APPROVED: "{} is approved for other lanes only.",
    SuppressionState.PROPOSED: "{} proposes it, and nobody has approved it yet.",
    SuppressionState.REJECTED: "{} was rejected, and the lane uses it all the same.",
    SuppressionState.EXPIRED: "{} has ended, and the lane uses it all the same.",
    SuppressionState.REVOKED: "{} was revoked, and the lane uses it all the same.",
}


def _once(rows: Iterable[StrayRule]) -> Iterator[StrayRule]:
    """A rule stands in each revision of a lane's file: the latest is shown."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.rule, row.lane) not in seen:
            seen.add((row.rule, row.lane))
            yield row


class RunTold(NamedTuple):
    outcome: str
    told: Told


def _of_tables(project: Project, used: Sequence[UsedTemplate]) -> list[StrayRule]:
    """Templates that stand in no file we know. The latest run of each tells what can be told. One query."""
    told = _told(project, {one.newest for one in used})
    return [_of_table(one, told[one.newest]) for one in used if one.newest in told]


def _told(project: Project, outcomes: set[int]) -> dict[int, RunTold]:
    """By the options that a log of the run prints, and those that came with it."""
    logs = Log.objects.filter(part__outcome__in=outcomes, part__outcome__lane__project=project, current=True)
    rows = logs.values_list("part__outcome", "part__outcome__public_id", "part__outcome__options", "facts__options")
    found: dict[int, RunTold] = {}
    for pk, public_id, given, printed in rows:
        options = merged_options(printed or {}, given)
        named = any(values.get("suppressions") for values in options.values())
        before = found.get(pk, RunTold(public_id, Told())).told
        told = Told((), options=before.options or bool(options), named=before.named or named)
        found[pk] = RunTold(public_id, told)
    return found


def _of_table(one: UsedTemplate, run: RunTold) -> StrayRule:
    place = origin_of(one.template, run.told)
    return StrayRule(
        rule=one.template,
        lane=one.lane,
        origin=place.origin.value,
        said=place.said,
        file="",
        line=0,
        count=one.count,
        bytes=one.bytes,
        runs=one.runs,
        last=one.last,
        outcome=run.outcome,
    )
