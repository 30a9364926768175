"""Which known leaks a run's suppression rules keep from being shown, and which of them a growing total is made of."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from leaks.rows.comparison import Measure
from leaks.rule_patterns import matches
from leaks.rules import Rule

# The runtime of LeakSanitizer drops a leak when a rule matches the function, the file or the module of one of its frames.
LEAK_KINDS = frozenset({"leak", ""})  # the table of used rules prints them without their kind
MOST_TRIED = 12  # signatures of which all choices are tried: 4,096


def hides(rules: Iterable[Rule], texts: Iterable[str]) -> bool:
    """Whether one of the rules drops a leak; `texts` are the functions, files and modules of its frames."""
    patterns = [pattern for rule in rules if rule.kind in LEAK_KINDS for pattern in rule.patterns]
    known = set(texts)
    return any(matches(pattern, text) for pattern in patterns for text in known)


def explaining(grown: tuple[int, int], hidden: Mapping[str, Measure]) -> tuple[str, ...]:
    """Of what a run may hide the fewest that come to just these bytes and objects; all of it where no choice does, or more than one."""
    names = sorted(hidden)
    if len(names) > MOST_TRIED or grown <= (0, 0):
        return tuple(names)
    for size in range(1, len(names)):
        found = [choice for choice in combinations(names, size) if _sum(choice, hidden) == grown]
        if found:
            return found[0] if len(found) == 1 else tuple(names)
    return tuple(names)


def _sum(names: Iterable[str], hidden: Mapping[str, Measure]) -> tuple[int, int]:
    chosen = [hidden[name] for name in names]
    return sum(one.bytes or 0 for one in chosen), sum(one.objects or 0 for one in chosen)
