"""How far a build came, what broke it, and which detectors its compile lines link in.

What make and ninja say of a target without a file (`check`, `all`) tells only that a step below failed: alone it may be a
failed test, so it counts behind a step that is surely one of the build.
"""

import re
from typing import NamedTuple

from leaks.parsing.needles import Rows
from leaks.parsing.runs import Stretch, run
from leaks.rows.facts import BuildProgress, Mark
from leaks.words import Detector, MarkKind

PERCENT = re.compile(r"\[ *(\d{1,3})%\] (?!PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS|Test)[A-Z]")
STEP = re.compile(
    r"\[([\d,]{1,9}) ?/ ?([\d,]{1,9})\] (?:(?:Re-)?(?:Building|Linking|Compiling|Generating|Creating|Archiving|Automatic|"
    r"Scanning|Running utility|Performing|Copying|Install|CXX|CC|LINK|SOLINK|AR|STAMP|ACTION)\b|: && |cd /|ccache |"
    r"/?[\w./+-]*(?:c\+\+|g\+\+|gcc|cc|clang|nvcc)(?:-\d+)? )"
)
# Printable characters are read alike by everybody.
RUN_OF_STEPS = run(
    b"%] Building ",
    rb"(?P<last>(?P<first>\[ {0,2}\d{1,3}%\] Building [ -~]{1,2000}))\n",
    b"[ 31%] Building CXX object a.o\n",
)
COMPILER = re.compile(
    r"(?:^|[\s/])(?:[\w.]+-)*(?:c\+\+|g\+\+|gcc|cc|clang\+\+|clang|nvcc|hipcc|icpx)(?:-\d+)?(?:\.\d+)?\s"
)
SANITIZE = re.compile(r"-(?:fsanitize|Zsanitizer)=([a-z0-9,-]+)")
FLAGS = re.compile(r"FLAGS|-DCMAKE_|(?i:\bflags\b)")
# Without these UBSan goes on behind a report, and the process may end as if nothing was.
HALTING = re.compile(
    r"-fno-sanitize-recover(?:=[\w,-]{0,200}\b(?:all|undefined)\b|(?![=\w-]))|-fsanitize-trap\b|-fsanitize-undefined-trap-on-error"
)
GO_RACE = re.compile(r"\bgo (?:test|build|run|install) (?:\S+ ){0,30}?-race\b")
# Probes of configure, and code that is not of the tested program.
PROBE = re.compile(r"CMakeTmp|CMakeScratch|conftest|/_deps/|third[_-]?party/|3rdparty/|/external/|/vendor/")
DETECTORS = {
    "address": Detector.ADDRESS,
    "hwaddress": Detector.ADDRESS,
    "leak": Detector.LEAK,
    "thread": Detector.THREAD,
    "memory": Detector.MEMORY,
}
# `-fsanitize=` also takes these, which report nothing of their own; every other word is a check of UBSan.
SILENT = frozenset(
    {"fuzzer", "fuzzer-no-link", "cfi", "safe-stack", "shadow-call-stack", "dataflow", "kcfi", "realtime", "type"}
)
# Tools that need no instrumented program.
NEEDS_NONE = ("Memcheck, a memory", ", a thread error detector", "COMPUTE-SANITIZER")
FIRST, LAST = 20, 20  # marks kept from both ends
LONGEST = 4000

SOURCE = r"\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl|ipp|tcc|inc|cu|cuh|m|mm|s|S|rs|go|swift|f90|proto|y|l)"
OBJECT = r"\.(?:o|obj|a|so|lib|dll|exe|lo|la|pch|gch|dylib|ko)"

MAKE = r"\A\S*make(?:\[\d+\])?: \*\*\* "


class Row(NamedTuple):
    """One way in which a build says that it broke: what the line holds, its form, and a line that a test checks.

    `stops`: nothing but make or ninja says so, and not a test.
    """

    needle: str
    form: re.Pattern[str]
    sample: str
    stops: bool = False


BROKEN = (
    Row("error: ", re.compile(SOURCE + r":\d+:\d+: (?:fatal )?error: "), "src/a.cpp:50:20: error: expected ‘)’"),
    Row("fatal error: ", re.compile(SOURCE + r":\d+(?::\d+)?: fatal error: "), "src/a.c:3: fatal error: no such file"),
    Row(": error: ", re.compile(r"\.cuh?\(\d+\): error: "), "src/pack.cu(12): error: identifier is undefined"),
    Row("error C", re.compile(r"\(\d+(?:,\d+)?\) ?: (?:fatal )?error C\d+:"), "a.cpp(57): error C2065: 'x'"),
    Row("error LNK", re.compile(r"error LNK\d+:"), "LINK : fatal error LNK1120: 1 unresolved externals"),
    Row(
        "error: ",
        re.compile(r"\A(?:[\w./+-]*[/-])?(?:c\+\+|g\+\+|gcc|cc|clang|clang\+\+|cc1plus|ld|lld|ld\.lld|ld\.gold|collect2)"
                   r"(?:-\d+)?: (?:fatal )?error: "),
        "c++: fatal error: Killed signal terminated program cc1plus",
    ),
    Row("internal compiler error", re.compile(r": internal compiler error: "), "g++: internal compiler error: Killed"),
    Row("undefined reference to ", re.compile(r"undefined reference to "), "a.cpp:(.text+0x1): undefined reference to `f'"),
    Row("error[E", re.compile(r"\Aerror\[E\d{4}\]: "), "error[E0425]: cannot find value `x` in this scope"),
    Row("could not compile", re.compile(r"\Aerror: could not compile "), "error: could not compile `arena` (lib)"),
    Row("CMake Error", re.compile(r"\ACMake Error(?: at | in |:|$)"), "CMake Error at CMakeLists.txt:12 (find_package):"),
    Row("configure: error", re.compile(r"\Aconfigure: error: "), "configure: error: C compiler cannot create executables"),
    Row("ERROR: ", re.compile(r"\A\S*meson\.build:\d+:\d+: ERROR: "), "meson.build:14:0: ERROR: Dependency \"fmt\" not found"),
    Row("*** [", re.compile(MAKE + r"\[[^\]]*" + OBJECT + r"(?:\.\d+)*\] "), "make[2]: *** [build.make:188: src/a.cpp.o] Error 1"),
    Row("*** No rule", re.compile(MAKE + r"No rule to make target"), "make: *** No rule to make target 'all'.  Stop."),
    Row("FAILED: ", re.compile(r"\AFAILED: (?:\[code=\d+\] )?\S*" + OBJECT + r"(?:\.\d+)*(?:\s|$)"), "FAILED: src/a.cpp.o"),
    Row("ninja: error: ", re.compile(r"\Aninja: error: "), "ninja: error: loading 'build.ninja': No such file or directory"),
    Row("[build failed]", re.compile(r"\AFAIL\t\S+ \[(?:build|setup) failed\]"), "FAIL\texample.com/ledger [build failed]"),
    Row("BUILD FAILED", re.compile(r"\A\*\* BUILD FAILED \*\*"), "** BUILD FAILED **"),
    Row("Build did NOT", re.compile(r"\A(?:ERROR|FAILED): Build did NOT complete"), "FAILED: Build did NOT complete successfully"),
    Row("nvcc fatal", re.compile(r"\Anvcc fatal\s*: "), "nvcc fatal   : Unsupported gpu architecture 'compute_20'"),
)  # fmt: skip
# These only repeat that a step failed; alone they say that make or ninja stopped, at a build or at a test.
REPEATED = (
    Row("*** [", re.compile(MAKE + r"\["), "make: *** [Makefile:136: all] Error 2", stops=True),
    Row("FAILED: ", re.compile(r"\AFAILED: (?:\[code=\d+\] )?[\w.-]+/\S+"), "FAILED: tests/relay_tests"),
    Row(
        "ninja: build stopped",
        re.compile(r"\Aninja: build stopped: "),
        "ninja: build stopped: subcommand failed.",
        stops=True,
    ),
)
ROWS = (*BROKEN, *REPEATED)
WORDS = Rows([row.needle for row in ROWS])
# A word of every row and of every step, as few as possible and none that occurs in a frame or in a report of UBSan.
NEEDLES = (
    "%]", "] Building ", "] Linking ", "] Compiling ", "] Generating ", "] CXX ", "] CC ", " -c ", " -o ", "-fsanitize=", "-Zsanitizer=",
    " -race", ": error: ", "fatal error: ", "compiler error: ", "could not compile", "error C", "error LNK", "undefined reference to ",
    "error[E", "CMake Error", "meson.build:", "*** ", "FAILED: ", "ninja: ", " failed]", "BUILD FAILED", "did NOT complete", "nvcc fatal",
    *NEEDS_NONE,
)  # fmt: skip


class Reader:
    def __init__(self) -> None:
        self._step: tuple[int, str] | None = None  # the last line that says how far the build is
        self._broken: list[Mark] = []
        self._stopped: list[Mark] = []
        self._halts: Mark | None = None
        self._detectors: set[Detector] = set()
        self._plain: Mark | None = None  # a compile line without any sanitizer
        self._needs_none = False

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        # A test may run a compiler too: what ctest quotes is no build of ours.
        if key and any(part.startswith("ctest:") for part in key):
            return
        if text[:1] == "[" and (PERCENT.match(text) or _steps(text)):
            self._step = number, text
        if not self._needs_none:
            self._needs_none = any(map(text.__contains__, NEEDS_NONE))
        if not self._compiled(number, text):
            self._judge(number, text)

    def run(self, steps: Stretch) -> None:
        """What `line` makes of lines that say how far the build is, and nothing else."""
        last = steps.last()
        self._step = last.number, last.text

    def finish(self) -> BuildProgress | None:
        return _progress(*self._step) if self._step else None

    def marks(self) -> list[Mark]:
        bare = self._plain if not self._detectors and not self._needs_none else None
        return [*self._broken, *self._stopped, *(mark for mark in (bare, self._halts) if mark)]

    def detectors(self) -> frozenset[Detector]:
        return frozenset(self._detectors)

    def _compiled(self, number: int, text: str) -> bool:
        """Take a command of the compiler, or of a tool that gets the compiler's flags."""
        compiles = (" -c " in text or " -o " in text) and COMPILER.search(text[:LONGEST]) is not None
        if "sanitize" in text or " -race" in text:
            if compiles or FLAGS.search(text[:LONGEST]):
                self._detectors |= _detectors(text)
                if not self._halts and HALTING.search(text[:LONGEST]):
                    self._halts = Mark(MarkKind.HALTS, number, text)
            elif GO_RACE.search(text[:LONGEST]):
                self._detectors.add(Detector.THREAD)
        if compiles and not self._plain and not PROBE.search(text) and "-fsanitize=" not in text and " @" not in text:
            self._plain = Mark(MarkKind.NOT_INSTRUMENTED, number, text, "compile_lines")
        return compiles

    def _judge(self, number: int, text: str) -> None:
        rows = [(place, ROWS[place]) for place in WORDS.of(text)]
        said = [(place, row) for place, row in rows if row.form.search(text[:LONGEST])]
        if said and (self._broken or said[0][0] < len(BROKEN)):
            _keep(self._broken, Mark(MarkKind.BUILD_FAILED, number, text))
        elif any(row.stops for _, row in said):
            _keep(self._stopped, Mark(MarkKind.STEP_FAILED, number, text))


def _keep(marks: list[Mark], mark: Mark) -> None:
    if len(marks) >= FIRST + LAST:
        del marks[FIRST]
    marks.append(mark)


def _steps(text: str) -> tuple[int, int] | None:
    """How many steps of how many are done."""
    if found := STEP.match(text):
        done, of = (int(group.replace(",", "") or 0) for group in found.groups())
        return (done, of) if 0 < of >= done else None
    return None


def _progress(number: int, text: str) -> BuildProgress | None:
    if found := PERCENT.match(text):
        return BuildProgress(min(100, int(found[1])), None, None, number, text)
    if steps := _steps(text):
        done, of = steps
        return BuildProgress(done * 100 // of, done, of, number, text)
    return None


def _detectors(text: str) -> set[Detector]:
    words = {word for found in SANITIZE.finditer(text) for word in found[1].split(",") if word}
    return {DETECTORS.get(word, Detector.UNDEFINED) for word in words - SILENT}
