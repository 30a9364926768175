"""What is to be said of suppressions while they live: rows in, findings out.

A rule is watched by what the runs print (the tables "Suppressions used") and by the files that they say they used. Both tables below are
asked whole: a rule may be past its end and too broad at once; where a stray rule comes from is told by the first row that holds.
"""

from collections.abc import Callable, Hashable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from leaks.rows.suppressions_audit import Told, WatchFacts, WatchFinding
from leaks.rule_types import Suppressor
from leaks.rules import Rule
from leaks.valgrind_blocks import BlockError, parse_block

NEVER_USED_AFTER = 20  # complete runs that ran with the rule
ANNOUNCED_DAYS = 14
# The sanitizers' common flag print_suppressions is on for LeakSanitizer alone; Valgrind tells with -v; the other two never tell.
PRINTED = frozenset({Suppressor.LSAN})
PRINTED_WHEN_ASKED = {Suppressor.TSAN: "print_suppressions=1", Suppressor.VALGRIND: "-v"}
# kStdSuppressions of lsan_common.cpp: rules that the runtime brings along.
BUILT_IN = frozenset({"*tls_get_addr*", "*pthread_exit*", "*_os_trace*"})


class Watch(StrEnum):
    PAST_END = "past_end"
    OVER_CAP = "over_cap"
    TOO_BROAD = "too_broad"
    NOT_DEPLOYED = "not_deployed"
    NEVER_USED = "never_used"
    ENDS_SOON = "ends_soon"


class Origin(StrEnum):
    """Where a rule stands that a lane uses and nobody approved here."""

    FILE = "file"
    BUILT_IN = "built_in"
    CODE = "code"
    UNKNOWN = "unknown"


# --- Rules in force --------------------------------------------------------------------------------------------------


class Check(NamedTuple):
    word: Watch
    holds: Callable[[WatchFacts], bool]
    says: Callable[[WatchFacts], str]
    grave: bool = False


def findings_of(facts: WatchFacts) -> tuple[WatchFinding, ...]:
    """Everything that is to be said, the gravest first."""
    return tuple(WatchFinding(check.word, check.says(facts), check.grave) for check in CHECKS if check.holds(facts))


def _never_used(facts: WatchFacts) -> bool:
    told = facts.tool in PRINTED or facts.tool in PRINTED_WHEN_ASKED
    return told and facts.hits == 0 and facts.held >= NEVER_USED_AFTER


def _says_never_used(facts: WatchFacts) -> str:
    said = f"Never used in {facts.held:,} complete runs that ran with it: what it was for is gone, or it has a slip."
    flag = PRINTED_WHEN_ASKED.get(Suppressor(facts.tool))
    return f"{said} The runtime prints hits only with {flag}." if flag else said


def _not_deployed(facts: WatchFacts) -> bool:
    return facts.runs > 0 and facts.held == 0 and facts.hits == 0


def _says_not_deployed(facts: WatchFacts) -> str:
    runs = f"{facts.runs:,} complete run{'s' if facts.runs != 1 else ''}"
    if facts.told == 0:
        return f"Not deployed, as far as can be told: none of {runs} since its approval told which files it used."
    return f"Not deployed: no file of {runs} since its approval holds it ({facts.told:,} told their files)."


def _hanging(facts: WatchFacts) -> str:
    return f", besides {facts.hanging:,} that may hang on them" if facts.hanging else ""


CHECKS: Sequence[Check] = (
    Check(
        Watch.PAST_END,
        lambda facts: facts.ends_on < facts.today,
        lambda facts: f"Its last day was {facts.ends_on}: it is served no longer.",
        grave=True,
    ),
    Check(
        Watch.OVER_CAP,
        lambda facts: facts.over_cap,
        lambda _facts: "In one run it hid more than was agreed.",
        grave=True,
    ),
    Check(
        Watch.TOO_BROAD,
        lambda facts: facts.reached > 1,
        lambda facts: f"Too broad: when it was decided it reached {facts.reached:,} signatures{_hanging(facts)}.",
    ),
    Check(Watch.NOT_DEPLOYED, _not_deployed, _says_not_deployed),
    Check(Watch.NEVER_USED, _never_used, _says_never_used),
    Check(
        Watch.ENDS_SOON,
        lambda facts: facts.today <= facts.ends_on <= facts.today + timedelta(days=ANNOUNCED_DAYS),
        lambda facts: f"It ends on {facts.ends_on}; it can be proposed again now.",
    ),
)


# --- Rules that nobody approved --------------------------------------------------------------------------------------


class Place(NamedTuple):
    origin: Origin
    holds: Callable[[str, Told], bool]
    said: str


def origin_of(template: str, told: Told) -> Place:
    """Where a template that no rule in force explains stands, as far as its run tells. `told.files`: uploaded files that hold it."""
    return next(place for place in PLACES if place.holds(template, told))


PLACES: Sequence[Place] = (
    Place(Origin.FILE, lambda _template, told: bool(told.files), "It stands in a file of the run."),
    Place(
        Origin.BUILT_IN,
        lambda template, _told: template in BUILT_IN,
        "The runtime brings it along; it hides what the system's own libraries keep.",
    ),
    Place(
        Origin.CODE,
        lambda _template, told: told.options and not told.named,
        "No option of the run names a suppression file: it is linked into the program (__lsan_default_suppressions).",
    ),
    Place(
        Origin.CODE,
        lambda _template, told: told.lacks,
        "The file that the run names was uploaded whole and does not hold it: it is linked into the program (__lsan_default_suppressions).",
    ),
    Place(
        Origin.UNKNOWN,
        lambda _template, _told: True,
        "It stands in no file that the run uploaded: in one that it kept to itself, or in the program.",
    ),
)


def rule_key(rule: Rule) -> Hashable:
    """What two rules have in common that say the same: of a block its meaning without its name, else type and pattern."""
    if rule.kind != Suppressor.VALGRIND:
        return rule.kind, rule.patterns
    try:
        return parse_block(rule)._replace(rule=Rule("", (), ""), name="")
    except BlockError:
        return rule.text
