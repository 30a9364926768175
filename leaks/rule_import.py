"""An existing suppression file taken over: its lines become proposals like any other. None of them is approved by that."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from django.contrib.auth.base_user import AbstractBaseUser

from leaks import review
from leaks.errors import BadSubmission, Conflict
from leaks.models import Project
from leaks.queries.rule_import import MOST_AT_ONCE, checked_text, rules_in, tool_of
from leaks.queries.suppressions_clock import today
from leaks.review_fields import checked_end, needed
from leaks.review_people import require
from leaks.review_rules import tidy
from leaks.rows.suppressions import Proposal
from leaks.rows.suppressions_audit import Taken, TakenLine
from leaks.rules import Rule
from leaks.words import MemberRole


class Wanted(NamedTuple):
    """What is said of all chosen lines at once. `lanes` are names, none: all lanes."""

    reason: str
    ends_on: date | None
    lanes: tuple[str, ...] = ()


class Source(NamedTuple):
    """A file as it was read: `tool` is "" where its form decides."""

    name: str
    tool: str
    text: str


def take_over(
    project: Project, person: AbstractBaseUser, source: Source, lines: Sequence[int], wanted: Wanted
) -> Taken:
    """One proposal a chosen line; a line that is refused hinders no other. Raises BadSubmission where nothing can be taken at all."""
    require(project, person, MemberRole.TRIAGER)
    rules = {rule.line: rule for rule in rules_in(checked_text(source.text))}
    chosen = _chosen(rules, lines)
    needed("reason", wanted.reason, "Say why these may be silent: the reason stands in the served file.")
    checked_end(wanted.ends_on, today(project))
    tool = tool_of(list(rules.values()), source.tool)
    named = [
        (rule, Proposal(tool.value, tidy(tool, rule.text), wanted.reason, wanted.ends_on, wanted.lanes))
        for rule in chosen
    ]
    return Taken(tuple(_proposed(project, person, source.name, rule, given) for rule, given in named))


def _chosen(rules: dict[int, Rule], lines: Sequence[int]) -> list[Rule]:
    wanted = sorted(set(lines))
    missing = [line for line in wanted if line not in rules]
    if missing:
        raise BadSubmission(f"Line {missing[0]} holds no rule. Read the file again.", field="lines")
    if not wanted:
        raise BadSubmission("Choose at least one line.", field="lines")
    if len(wanted) > MOST_AT_ONCE:
        raise BadSubmission(f"At most {MOST_AT_ONCE} lines at once: somebody has to read each of them.", field="lines")
    return [rules[line] for line in wanted]


def _proposed(project: Project, person: AbstractBaseUser, name: str, rule: Rule, given: Proposal) -> TakenLine:
    try:
        one = review.propose(project, person, given, imported_from=f"{name or 'a file'}:{rule.line}")
    except (BadSubmission, Conflict) as error:
        return TakenLine(rule.line, rule.text, "", str(error))
    return TakenLine(rule.line, rule.text, one.public_id)
