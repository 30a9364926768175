"""A program run under suppression files, and what vanished held against what was predicted."""

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from leaks.evidence import Evidence, Report
from leaks.parsing.dispatch import read
from leaks.reach import reach
from leaks.rule_sets import Certainty, Match
from leaks.rule_types import LEAK_KINDS, Suppressor
from leaks.rules import Rule, parse_rules
from leaks.tests.differential_programs import steady

MARK = "\n=== "
LIMIT = 300
ASKING_MORE = frozenset({Suppressor.ASAN})  # for what lies at return addresses
COUNTING = frozenset({Suppressor.LSAN, Suppressor.TSAN, Suppressor.VALGRIND})  # they print a table of what was used


@dataclass
class Tally:
    """What came of the files of one program. A difference is a sentence."""

    name: str
    suppressor: Suppressor
    rules: int = 0
    files: int = 0
    reports: int = 0
    certain: int = 0
    possible: int = 0
    undecidable: int = 0
    counts: int = 0  # of hits, compared exactly
    unforeseen: int = (
        0  # vanished although no rule was said to hide them, where the runtime asks for more than a log prints
    )
    differences: list[str] = field(default_factory=list)

    def add(self, rules: int, matches: Iterable[Match]) -> None:
        self.rules += rules
        self.files += 1
        for match in matches:
            self.reports += 1
            self.certain += match.certainty is Certainty.CERTAIN
            self.possible += match.certainty is Certainty.POSSIBLE
            self.undecidable += match.certainty is Certainty.UNDECIDABLE


Key = tuple[str, ...]


def key_of(report: Report) -> Key:
    """What a report is known by in another run of the program. Sizes are not in it: a report may come with fewer objects."""
    words = report.kind if report.tool != "ubsan" else report.headline
    return (
        words,
        *(frame.text for frame in report.frames),
        *(frame.text for stack in report.stacks[:1] for frame in stack.frames),
    )


def compare(tally: Tally, text: str, before: Sequence[Report], after: Evidence, modules: Sequence[str] = ()) -> None:
    """One file: `before` are the reports without it, `after` what the log under it shows."""
    rules = parse_rules(text)
    matches = reach(rules, before, tally.suppressor, modules)
    tally.add(len(rules), matches)
    left = {key_of(report) for report in after.reports}
    for report, match in zip(before, matches, strict=True):
        gone = key_of(report) not in left
        unforeseen = match.rule is None and gone
        tally.unforeseen += unforeseen
        if (match.is_certain and not gone) or (unforeseen and tally.suppressor not in ASKING_MORE):
            said = match.rule.text if match.rule else "no rule"
            verb = "hides" if gone else "leaves"
            tally.differences.append(f"{tally.name}: {said!r} {verb} {key_of(report)} in {text[:LIMIT]!r}")
    if tally.suppressor in COUNTING:
        _compare_counts(tally, before, matches, after, text)


def _compare_counts(
    tally: Tally, before: Sequence[Report], matches: Sequence[Match], after: Evidence, text: str
) -> None:
    """Of each rule at least what it hides for certain and nobody else can take, at most that and all that is open."""
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for report, match in zip(before, matches, strict=True):
        size = _size(report)
        sure = match.is_certain and not match.rivals
        for rule in (match.rule, *match.rivals):
            if rule:
                most[name_of(rule)] += size
                least[name_of(rule)] += size if sure else 0
    told = Counter({hit.template: hit.count for hit in after.facts.suppressions})
    for name in {*least, *most, *told} - {""}:  # an empty pattern leaves an empty cell, which nobody reads
        tally.counts += least[name] == most[name]
        if not least[name] <= told[name] <= most[name]:
            said = f"{least[name]} to {most[name]} hits of {name!r} predicted, {told[name]} counted"
            tally.differences.append(f"{tally.name}: {said} in {text[:LIMIT]!r}")


def _size(report: Report) -> int:
    return report.objects or 0 if report.kind in LEAK_KINDS else report.count


def name_of(rule: Rule) -> str:
    """As the runtime's table names the rule: LeakSanitizer by its pattern, ThreadSanitizer with its type, Valgrind by its name."""
    if rule.kind == "leak":
        return rule.patterns[0].strip()
    return rule.text.split("\n")[1].strip() if rule.kind == "valgrind" else rule.text


# --- Runs ------------------------------------------------------------------------------------------------------------


def in_children(binary: Path, folder: Path, texts: Sequence[str], env: dict[str, str]) -> Iterator[Evidence]:
    """The program once for all files: each is read by the leak check of a child. See `LEAKS_MAIN`."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.supp")
        paths[-1].write_text(text)
    done = subprocess.run(
        [str(binary), str(folder / "current.supp")],
        input="".join(f"{path}\n" for path in paths),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env=env,
        timeout=3600,
        check=False,
    )
    parts = done.stderr.split(MARK)
    assert len(parts) == len(texts) + 1, done.stderr[-2000:]
    return (
        read([part.partition("\n")[2].encode() if number else part.encode()]) for number, part in enumerate(parts[:-1])
    )


def one_by_one(
    command: Callable[[Path], tuple[list[str], dict[str, str]]], folder: Path, texts: Sequence[str]
) -> list[Evidence]:
    """A run for each file, two at a time."""

    def run(numbered: tuple[int, str]) -> Evidence:
        path = folder / f"{numbered[0]}.supp"
        path.write_text(numbered[1])
        arguments, env = command(path)
        done = subprocess.run(
            [*steady(), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=env,
            timeout=300,
            check=False,
        )
        return read([done.stderr])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, enumerate(texts)))
