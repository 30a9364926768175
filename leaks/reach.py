"""What a file of suppression rules would hide: of one report, of one frame, of a whole log.

`compile_rules` makes rules ready; `reach` answers for the reports of one log together, which is more than each of them alone: one report
may show the module that another leaves out, what LeakSanitizer ignores takes along whatever hangs on it, and Valgrind tries first what
matched last. For a history, hold each distinct frame (`RuleSet.hits`, `RuleSet.frame`) or each distinct stack against the rules, never each
sighting.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from leaks.evidence import Report
from leaks.rule_builds import Build
from leaks.rule_cells import Cell, cell_of, cell_of_global
from leaks.rule_sets import NO_MATCH, Certainty, Match, RuleSet
from leaks.rule_types import INDIRECT_LEAK, Suppressor
from leaks.rules import Rule, suppressor_of
from leaks.rules_valgrind import BlockSet

RuleFile = RuleSet | BlockSet


def compile_rules(rules: Sequence[Rule], suppressor: Suppressor | None = None) -> RuleFile | None:
    """Ready to be held against reports; null where no rule says which runtime it is for."""
    suppressor = suppressor or suppressor_of(rules)
    if suppressor is None:
        return None
    return BlockSet(rules) if suppressor is Suppressor.VALGRIND else RuleSet(rules, suppressor)


def matches(rules: Sequence[Rule], report: Report, suppressor: Suppressor | None = None) -> Match:
    """What the rules do to a report of which nothing else is known."""
    ready = compile_rules(rules, suppressor)
    return ready.match(report) if ready else NO_MATCH


def reach(
    rules: Sequence[Rule],
    reports: Sequence[Report],
    suppressor: Suppressor | None = None,
    modules: Iterable[str] = (),
) -> list[Match]:
    """What the rules do to each report of one log, in the order of the log.

    `modules`: paths of programs and libraries that are known otherwise, because other logs print them.
    """
    ready = compile_rules(rules, suppressor)
    return reach_of(ready, reports, modules) if ready else [NO_MATCH] * len(reports)


def reach_of(ready: RuleFile, reports: Sequence[Report], modules: Iterable[str] = ()) -> list[Match]:
    build = Build(reports)
    build.add(modules)
    if isinstance(ready, BlockSet):
        return ready.in_order(reports, build)
    found = [ready.match(report, build) for report in reports]
    along = ALONG.get(ready.suppressor)
    return along(reports, found, ready, build) if along else found


# --- What vanishes with others -----------------------------------------------------------------------------------------


def _spread(reports: Sequence[Report], found: list[Match], _ready: RuleSet, _build: Build) -> list[Match]:
    """Every block that a suppressed one leads to is ignored with it. Which those are no log tells; they are leaked indirectly."""
    spreading = _first_hit(found)
    if spreading is None:
        return found
    along = Match(spreading, Certainty.POSSIBLE)
    return [
        along if report.kind == INDIRECT_LEAK and match.certainty in (None, Certainty.UNDECIDABLE) else match
        for report, match in zip(reports, found, strict=True)
    ]


def _first_hit(found: Iterable[Match]) -> Rule | None:
    """A rule that hides something, rather for certain."""
    hits = sorted(
        (match for match in found if match.rule),
        key=lambda match: list(Certainty).index(match.certainty or Certainty.UNDECIDABLE),
    )
    return hits[0].rule if hits and hits[0].certainty is not Certainty.UNDECIDABLE else None


def _in_one_cell(reports: Sequence[Report], found: list[Match], ready: RuleSet, build: Build) -> list[Match]:
    """A race that shares a cell with a global variable by whose name another one was hidden before."""
    fired: dict[Cell, Rule] = {}
    told = []
    for report, match in zip(reports, found, strict=True):
        rule = fired.get(cell) if fired and (cell := cell_of(report)) else None
        told.append(match if rule is None or match.is_certain else _also(match, rule))
        if match.rule and _by_global(report, match, ready, build) and (begun := cell_of_global(report)):
            fired.setdefault(begun, match.rule)
    return told


def _also(match: Match, rule: Rule) -> Match:
    """It is possible that another rule hides the report too."""
    if match.certainty is not Certainty.POSSIBLE or match.rule is None:
        return Match(rule, Certainty.POSSIBLE)
    others = dict.fromkeys((*match.rivals, rule))
    others.pop(match.rule, None)
    return match._replace(rivals=tuple(others))


def _by_global(report: Report, match: Match, ready: RuleSet, build: Build) -> bool:
    """Whether it may be the variable that a rule matched: without it the stacks would not be certain to be hidden."""
    if match.certainty is Certainty.UNDECIDABLE or cell_of_global(report) is None:
        return False
    return not ready.match(replace(report, detail=""), build).is_certain


ALONG = {Suppressor.LSAN: _spread, Suppressor.TSAN: _in_one_cell}
