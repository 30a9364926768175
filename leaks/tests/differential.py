"""The suppression matcher against the runtimes themselves: `python -m leaks.tests.differential --rules 10000`.

Programs with many faults are compiled, run once without suppressions, and run again under generated suppression files. What vanishes and the
counts of the tables of used suppressions must be what `leaks.reach` says of the first log. Prints a table; exit status 1 on a difference.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaks.rule_types import TSAN_TYPES, UBSAN_KIND, Suppressor
from leaks.tests.differential_programs import (
    ARGUMENT_TESTS,
    UNDEFINED_TESTS,
    VALGRIND_MAIN,
    Program,
    Unbuilt,
    build,
    environment,
    leaks,
    races,
)
from leaks.tests.differential_rules import ALONE, SELDOM_ALONE, Maker, blocks, files, lines
from leaks.tests.differential_runs import Tally, compare, in_children, one_by_one

NONE = "\n"  # a file without a rule
SHARE = 60  # rules at least, of a runtime that takes a run for each file
COMPILERS = ("g++", "clang++")
# Types that are drawn from; a race is what most of the reports are.
TSAN = (*("race",) * 6, *(kind for kind in TSAN_TYPES if kind != "called_from_lib"))
ASAN = ("interceptor_name", "interceptor_via_fun", "interceptor_via_lib")


@dataclass(frozen=True)
class Trial:
    """A compiler's runtime to try `rules` rules on, in a folder of its own."""

    compiler: str
    rules: int
    seed: int

    def __call__(self, folder: Path) -> Tally:
        raise NotImplementedError


@dataclass(frozen=True)
class Leaks(Trial):
    sanitizer: str = "address"
    options: str = ""

    def __call__(self, folder: Path) -> Tally:
        name = f"lsan {self.compiler} -fsanitize={self.sanitizer} {self.options}"
        tally = Tally(name.strip(), Suppressor.LSAN)
        binary = build(leaks(self.seed), folder, self.compiler, f"-fsanitize={self.sanitizer}")
        options = f"suppressions={folder / 'current.supp'}:print_suppressions=1:{self.options}"
        env = environment(LSAN_OPTIONS=options, ASAN_OPTIONS=self.options)
        (plain,) = in_children(binary, folder, [NONE], env)
        assert plain.reports
        modules = (str(binary), str(folder / "libvendor.so"))
        maker = Maker(plain.reports, self.seed, modules)
        texts = lines(maker, ["leak"], modules, self.rules, ALONE)
        for text, after in zip(texts, in_children(binary, folder, texts, env), strict=True):
            compare(tally, text, plain.reports, after, modules)
        return tally


@dataclass(frozen=True)
class Each(Trial):
    """A run for each file. `{}` in the options is its path; without `types` those of the reports are drawn from."""

    suppressor: Suppressor = Suppressor.TSAN
    program: Program | None = None
    flags: tuple[str, ...] = ()
    variable: str = ""
    options: str = ""
    types: tuple[str, ...] = ()

    def __call__(self, folder: Path) -> Tally:
        tally = Tally(f"{self.suppressor} {self.compiler}", self.suppressor)
        binary = build(self.program or races(self.seed), folder, self.compiler, *self.flags)

        def command(path: Path) -> tuple[list[str], dict[str, str]]:
            return [str(binary)], environment(**{self.variable: self.options.format(path)})

        (plain,) = one_by_one(command, folder, [NONE])
        assert plain.reports
        maker = Maker(plain.reports, self.seed)
        types = self.types or sorted({report.kind.removeprefix(UBSAN_KIND) for report in plain.reports})
        texts = lines(maker, types, (str(binary),), self.rules, SELDOM_ALONE)
        for text, after in zip(texts, one_by_one(command, folder, texts), strict=True):
            compare(tally, text, plain.reports, after, (str(binary),))
        return tally


@dataclass(frozen=True)
class Valgrind(Trial):
    def __call__(self, folder: Path) -> Tally:
        tally = Tally(f"valgrind {self.compiler}", Suppressor.VALGRIND)
        binary = build(leaks(self.seed, VALGRIND_MAIN), folder, self.compiler)
        options = ["--leak-check=full", "--show-leak-kinds=all"]

        def command(path: Path) -> tuple[list[str], dict[str, str]]:
            return ["valgrind", "-v", *options, f"--suppressions={path}", str(binary)], environment()

        (plain,) = one_by_one(command, folder, [NONE])
        assert plain.reports
        maker = Maker(plain.reports, self.seed)
        rule = blocks(maker, _proposed(["valgrind", "-q", *options, "--gen-suppressions=all", str(binary)]))
        texts = ["\n".join([*one, ""]) for one in files(self.rules, maker.random, rule, SELDOM_ALONE)]
        for text, after in zip(texts, one_by_one(command, folder, texts), strict=True):
            compare(tally, text, plain.reports, after)
        return tally


def _proposed(command: list[str]) -> list[str]:
    """The blocks that Valgrind proposes for what it found."""
    text = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False).stderr
    found: list[str] = []
    block: list[str] = []
    for line in text.splitlines():
        block = [line] if line == "{" else [*block, line]
        if line == "}":
            found.append("\n".join(block))
    return found


def trials(rules: int, seed: int) -> list[Trial]:
    """`rules` of LeakSanitizer, and a share of that for each of the others, which take a run for each file."""
    found: list[Trial] = []
    few = max(SHARE, rules // 40)
    for number, compiler in enumerate(COMPILERS):
        shared = (compiler, few, seed + number)
        found += [Leaks(compiler, -(-rules // 4), seed + number, sanitizer) for sanitizer in ("address", "leak")]
        found += [
            Leaks(*shared, "address", "symbolize=0"),
            Each(*shared, Suppressor.TSAN, None, ("-fsanitize=thread",), "TSAN_OPTIONS", TSAN_OPTIONS, TSAN),
            Each(*shared, Suppressor.UBSAN, UNDEFINED_TESTS, ("-fsanitize=undefined",), "UBSAN_OPTIONS", UBSAN_OPTIONS),
            Each(*shared, Suppressor.ASAN, ARGUMENT_TESTS, RECOVERING, "ASAN_OPTIONS", ASAN_OPTIONS, ASAN),
        ]
    return [*found, Valgrind("g++", 2 * few, seed)]


TSAN_OPTIONS = "exitcode=0:print_suppressions=1:detect_deadlocks=1:suppressions={}"
UBSAN_OPTIONS = "print_stacktrace=1:suppressions={}"
ASAN_OPTIONS = "halt_on_error=0:detect_leaks=0:suppressions={}"
RECOVERING = ("-fsanitize=address", "-fsanitize-recover=address", "-fno-builtin")
HEADS = (
    "Runtime",
    "Rules",
    "Files",
    "Reports",
    "Certain",
    "Possible",
    "Undecidable",
    "Hits exact",
    "Unforeseen",
    "Differences",
)


def table(tallies: Sequence[Tally]) -> str:
    numbers = [
        (t.rules, t.files, t.reports, t.certain, t.possible, t.undecidable, t.counts, t.unforeseen, len(t.differences))
        for t in tallies
    ]
    rows = [(tally.name, *map("{:,}".format, row)) for tally, row in zip(tallies, numbers, strict=True)]
    sums = ("all", *map("{:,}".format, map(sum, zip(*numbers, strict=True))))
    lines_of_cells = [HEADS, ("---",) * len(HEADS), *rows, sums]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines_of_cells)


def tried(trial: Callable[[Path], Tally]) -> Tally | str:
    """What came of a trial, or why it was left out."""
    folder = Path(tempfile.mkdtemp(prefix="differential-"))
    try:
        return trial(folder)
    except (Unbuilt, FileNotFoundError) as error:
        return str(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=10_000, help="of LeakSanitizer; the others get a share")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = []
    for trial in trials(given.rules, given.seed):
        found.append(tried(trial))
        print(".", end="", file=sys.stderr, flush=True)
    tallies = [one for one in found if isinstance(one, Tally)]
    print("\n".join(f"Left out: {one}" for one in found if isinstance(one, str)))
    if tallies:
        print(table(tallies))
    differences = [line for tally in tallies for line in tally.differences]
    print("\n".join(differences[:50]))
    return 1 if differences or not tallies else 0


if __name__ == "__main__":
    sys.exit(main())
