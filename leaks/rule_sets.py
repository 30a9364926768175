"""A file of a sanitizer's rules, made ready to be held against reports.

The first question that a rule answers decides, as in the runtime, and gives its hit to the first rule of the file that matches. Where a
log does not show what was asked, a rule that might have matched there is remembered: it may hide the report, or take the hit.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from leaks.evidence import Frame, Report
from leaks.parsing.frames import other_splits
from leaks.rule_builds import Build
from leaks.rule_frames import PROBES, Probe, Sort, module_first
from leaks.rule_patterns import Matcher, compiled, literals, matches
from leaks.rule_types import LSAN_TYPES, Suppressor
from leaks.rules import Rule


class Certainty(StrEnum):
    """How sure it is that the rule hides the report."""

    CERTAIN = "certain"
    POSSIBLE = "possible"
    UNDECIDABLE = "undecidable"


class Match(NamedTuple):
    """What the rules do to a report. `rivals`: other rules that may take the hit; with none the count of `rule` is as sure as the rest."""

    rule: Rule | None = None
    certainty: Certainty | None = None
    rivals: tuple[Rule, ...] = ()

    @property
    def is_certain(self) -> bool:
        return self.certainty is Certainty.CERTAIN


NO_MATCH = Match()


class Answer(NamedTuple):
    """Of one probe: the first rule that matches, those before it that may, the first of which nothing can be said."""

    sure: Rule | None = None
    maybe: tuple[Rule, ...] = ()
    unknown: Rule | None = None


# What may name a module that a log does not show. Neither of a function nor of a source file can be said what these say.
MODULE_ALONE = re.compile(r"\.(?:so|dylib|dll|exe|bundle|framework|node|pyd)\b(?!\.(?:c|cc|cpp|h|hpp)\b)")
MODULE_SHAPE = re.compile(
    r"^[\^*]?(?:.*/)?lib[\w+*-]+\*?\$?$|^[\^*]?/(?:usr/|lib|opt/|nix/|snap/)|/bin/|^[\w.+-]*\w-[\w.+-]+\$?$"
    r"|(?:^|[\W_])(?:unit|integration)?_?(?:tests?|bench(?:marks?)?|fuzz(?:er)?)\$?$|\ba\.out\b"
)
NO_MODULE = re.compile(r"::|[(<>)&~,]|\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inc|ipp|rs|go|m|mm|cu|cuh|S)\$?$")

# Where modules of the system lie: what is in their paths too, is in the path of some module of almost every program.
EVERYWHERE = (
    "/usr/lib/x86_64-linux-gnu/libasan.so.8.0.0",
    "/usr/lib/x86_64-linux-gnu/libtsan.so.2.0.0",
    "/usr/lib/x86_64-linux-gnu/liblsan.so.0.0.0",
    "/usr/lib/x86_64-linux-gnu/libubsan.so.1.0.0",
    "/usr/lib/aarch64-linux-gnu/libstdc++.so.6.0.30",
    "/usr/lib64/libasan.so.6",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib64/libc-2.31.so",
)


class Ready(NamedTuple):
    """A rule and its pattern, ready."""

    rule: Rule
    pattern: str
    matches: Matcher


FEW = 8  # rules that are simply tried one by one
PIECE = (
    16  # characters of a rule that are searched for: however rules overlap, so many end at one place of a text at most
)


class Ordered:
    """The rules of a type in the order of the file. A text is searched once for a piece of each of them, however many there are."""

    def __init__(self, rules: list[Ready]) -> None:
        self.all = rules
        self._always: list[int] = []
        self._places: dict[str, list[int]] = {}
        for place, ready in enumerate(rules):
            piece = max(literals(ready.pattern)[0], key=len, default="")[:PIECE]
            (self._places.setdefault(piece, []) if piece else self._always).append(place)
        self._pieces = list(self._places)
        self._search = AhoCorasick(self._pieces) if len(rules) > FEW and self._pieces else None

    def likely(self, text: str) -> Iterable[Ready]:
        """Those that may match the text."""
        if self._search is None:
            return self.all
        found = {piece for piece, _, _ in self._search.find_matches_as_indexes(text, overlapping=True)}
        places = [place for piece in found for place in self._places[self._pieces[piece]]]
        return [self.all[place] for place in sorted([*places, *self._always])]


class RuleSet:
    """Rules of one runtime in the order of their file. What was asked once is known."""

    def __init__(self, rules: Iterable[Rule], suppressor: Suppressor) -> None:
        self.suppressor = suppressor
        by_kind: dict[str, list[Ready]] = defaultdict(list)
        for rule in rules:
            for pattern in rule.patterns[:1]:
                by_kind[rule.kind].append(Ready(rule, pattern, compiled(pattern)))
        self._rules = {kind: Ordered(ready) for kind, ready in by_kind.items()}
        self._answers: dict[Probe, Answer] = {}
        self._nothing_known = Build()
        self._modules: tuple[Build, int, dict[str, Answer]] = (self._nothing_known, 0, {})
        self._probes = PROBES[suppressor]

    def match(self, report: Report, build: Build | None = None) -> Match:
        """What the runtime would do to this report. `build` tells what the other reports of its log show."""
        build = build or self._nothing_known
        return self._match(self._probes(report, build), build)

    def frame(
        self, function: str | None, file: str | None, module: str | None, build: Build | None = None, *, first: bool = True
    ) -> Match:  # fmt: skip
        """What rules about leaks say of one frame alone. `first`: it is the innermost one of its stack, or may be."""
        build = build or self._nothing_known
        return self._match(
            module_first(Frame("", function, file, module=module), build, LSAN_TYPES[0], first=first), build
        )

    def hits(self, function: str | None, file: str | None, module: str | None, kind: str = LSAN_TYPES[0]) -> bool:
        """Whether one of the rules is certain to match a frame."""
        rules = self._rules.get(kind)
        if rules is None:
            return False
        readings = ((function, file), *(other_splits(function, file) if function and file else ()))
        return all(
            any(ready.matches(text) for text in (*reading, module) if text for ready in rules.likely(text))
            for reading in readings
        )

    def _match(self, probes: Iterable[Probe], build: Build) -> Match:
        maybe: dict[Rule, None] = {}
        unknown: Rule | None = None
        for probe in probes:
            if probe.kind not in self._rules:
                continue
            found = self._answer(probe, build)
            maybe.update(dict.fromkeys(found.maybe))
            unknown = unknown or found.unknown
            if found.sure and not probe.doubted:
                maybe.pop(found.sure, None)
                return Match(found.sure, Certainty.CERTAIN, tuple(maybe))
            if found.sure:
                maybe[found.sure] = None
        if maybe:
            first, *others = maybe
            return Match(first, Certainty.POSSIBLE, tuple(others))
        return Match(unknown, Certainty.UNDECIDABLE) if unknown else NO_MATCH

    def _answer(self, probe: Probe, build: Build) -> Answer:
        if not probe.texts and probe.sort is Sort.MODULE:
            return self._unseen_module(probe.kind, build)
        found = self._answers.get(probe)
        if found is None:
            found = self._answers[probe] = self._asked(probe)
        return found

    def _asked(self, probe: Probe) -> Answer:
        if probe.sort is Sort.STACK:
            return Answer(unknown=self._rules[probe.kind].all[0].rule)
        if not probe.texts:
            nameable = (ready.rule for ready in self._rules[probe.kind].all if not MODULE_ALONE.search(ready.pattern))
            return Answer(unknown=next(nameable, None))
        maybe: list[Rule] = []
        rules = self._rules[probe.kind]
        base = probe.sort is Sort.MODULE and len(probe.texts) > 1
        for ready in rules.all if base else rules.likely("\n".join(probe.texts)):
            told = [ready.matches(text) for text in probe.texts]
            if all(told):
                return Answer(ready.rule, tuple(maybe))
            if any(told) or (base and could_lie_in(ready.pattern, probe.texts[0])):
                maybe.append(ready.rule)
        return Answer(maybe=tuple(maybe))

    def _unseen_module(self, kind: str, build: Build) -> Answer:
        """A frame was printed without its module: it may be any that is known, or one that a rule names."""
        asked, count, answers = self._modules
        if asked is not build or count != len(build.modules):
            answers = {}
            self._modules = (build, len(build.modules), answers)
        if kind not in answers:
            known = build.knows_programs
            likely = (
                ready for ready in self._rules[kind].all if could_name_module(ready, build.modules, programs=known)
            )
            answers[kind] = Answer(maybe=tuple(ready.rule for ready in likely))
        return answers[kind]


def could_name_module(ready: Ready, modules: Iterable[str], *, programs: bool = True) -> bool:
    """`programs`: each program is among the modules. A path that is no source file's may be that of one that is not."""
    if MODULE_ALONE.search(ready.pattern):
        return True
    if not NO_MODULE.search(ready.pattern):
        if MODULE_SHAPE.search(ready.pattern) or ("/" in ready.pattern and not programs):
            return True
        if any(_could_lie_beside(ready.pattern, module) for module in modules):
            return True
    return any(ready.matches(module) for module in (*EVERYWHERE, *modules))


def _could_lie_beside(pattern: str, module: str) -> bool:
    """Whether it names something in the folder where a module lies."""
    wanted, folder = pattern.rpartition("/")[0], module.rpartition("/")[0]
    tail = wanted.rpartition("*")[2].lstrip("^")
    return bool(wanted.strip("^*")) and folder.endswith(tail) and matches(f"{wanted}/", f"{folder}/")


def could_lie_in(pattern: str, base: str) -> bool:
    """Whether a pattern that names a folder may match a module of which the last part alone is known (`/name`)."""
    folder, slash, name = pattern.rpartition("/")
    if not slash or base.rfind("/"):
        return False
    is_tied = pattern.endswith("$") and bool(name)
    return (bool(folder and name) and matches(f"^/{name}", base)) or not (is_tied or NO_MODULE.search(pattern))
