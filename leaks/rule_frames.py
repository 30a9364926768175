"""Which texts of a report a sanitizer holds against its rules, of which type, and in what order.

Sources: `GetSuppressionForAddr` (lsan_common.cpp), `IsSuppressed` and `OutputReport` (tsan_suppressions.cpp, tsan_rtl_report.cpp),
`IsStackTraceSuppressed` (asan_suppressions.cpp), `IsPCSuppressed` (ubsan_diag.cpp). All walk frames from the innermost outward and ask,
for each text of a frame, for the first rule of the file that matches it: frames are the outer loop, rules the inner one.

A log does not print all of these texts. What it leaves out is a probe without texts; what may have been one of several has them all.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from leaks.evidence import Frame, Report
from leaks.parsing.frames import other_splits
from leaks.rule_builds import INTERCEPTOR, Build
from leaks.rule_cells import GLOBAL
from leaks.rule_types import LEAK_KINDS, TSAN_TYPE_OF_KIND, UBSAN_KIND, Suppressor, ubsan_types
from leaks.words import Role


class Sort(Enum):
    """What of a frame a text is."""

    MODULE = 1
    FUNCTION = 2
    FILE = 3
    NAME = 4  # of a variable or an interceptor
    STACK = 5  # frames that the log lacks, or that were not read


class Probe(NamedTuple):
    """One question to the rules of a type. No text: there is one that the log does not show; several: it is one of them.

    `doubted`: whether the runtime asks at all is not certain.
    """

    kind: str
    sort: Sort
    texts: tuple[str, ...]
    doubted: bool = False


WRAPPER = re.compile(r"wrap_")  # on macOS; elsewhere an ordinary name
PLAIN_NAME = re.compile(r"[a-z_][A-Za-z0-9_]*")
RUNTIME = re.compile(
    r"sanitizer_common|compiler-rt|libsanitizer|lib(?:clang_rt\.)?[alt]san[._-]|\b[alt]san_(?:interceptors|malloc)\w*\.(?:cpp|cc)"
)
BUILT_IN_CALL = "__asan_"  # the compiler's own call goes around the interceptor, and so around the rules about it


# --- The texts of one frame ------------------------------------------------------------------------------------------


def _module(frame: Frame, build: Build, kind: str) -> Probe:
    module = build.module_of(frame)
    return Probe(kind, Sort.MODULE, () if module is None else build.paths_of(module))


def _function(frame: Frame, build: Build, kind: str, *, first: bool = False) -> Iterator[Probe]:
    """Where interceptors stand: innermost, and in the runtime's own files."""
    if frame.function is not None:
        inside = first or is_runtime(frame.file or "")
        exact = not inside or build.prints_prefixes
        names = (frame.function,) if exact else names_of(frame.function, frame.file)
        yield Probe(kind, Sort.FUNCTION, (*names, *(name for name, _ in _others(frame))))
    elif not build.is_nameless_for_good(frame):
        yield Probe(kind, Sort.FUNCTION, ())


def _file(frame: Frame, build: Build, kind: str) -> Iterator[Probe]:
    if frame.file is not None:
        others = (path for _, file in _others(frame) for path in _paths(file))
        yield Probe(kind, Sort.FILE, (*_paths(frame.file), *others))
    elif frame.function is None and not build.is_nameless_for_good(frame):
        yield Probe(kind, Sort.FILE, ())


def _others(frame: Frame) -> tuple[tuple[str, str], ...]:
    """Function and file, as a path with blanks leaves open where it begins."""
    return other_splits(frame.function, frame.file) if frame.function and frame.file else ()


def _paths(file: str) -> tuple[str, ...]:
    """A `./` in front of a relative path is not printed."""
    return (file,) if file.startswith(("/", ".")) or file[1:2] == ":" else (file, f"./{file}")


@lru_cache(maxsize=1 << 14)
def is_runtime(path: str) -> bool:
    """Whether a source file or a module is the sanitizer's own."""
    return RUNTIME.search(path) is not None


@lru_cache(maxsize=1 << 14)
def names_of(name: str, file: str | None) -> tuple[str, ...]:
    """Of a frame that may be an interceptor."""
    if not PLAIN_NAME.fullmatch(name) or INTERCEPTOR.match(name) or name.startswith(BUILT_IN_CALL):
        return (name,)
    if file is not None and not is_runtime(file):
        return (name,)
    return (name, f"__interceptor_{name}", f"___interceptor_{name}")


def _may_be_interceptor(frame: Frame) -> bool:
    return len(names_of(frame.function or "", frame.file)) > 1


Walk = tuple[Probe, ...]


def module_first(frame: Frame, build: Build, kind: str, *, first: bool = False) -> Walk:
    """LeakSanitizer: the module, then function and file. Of frames inlined into each other the module is one, so asking again is idle."""
    key = (frame.function, frame.file, frame.module, kind, first)
    walk: Walk | None = build.walks.get(key)
    if walk is None:
        texts = (*_function(frame, build, kind, first=first), *_file(frame, build, kind))
        walk = build.walks[key] = (_module(frame, build, kind), *texts)
    return walk


def module_last(frame: Frame, build: Build, kind: str, *, first: bool = False) -> Walk:
    """ThreadSanitizer: function, file, module."""
    module, *texts = module_first(frame, build, kind, first=first)
    return (*texts, module)


# --- Whole reports, by runtime ---------------------------------------------------------------------------------------

Probes = Iterator[Probe]


def _unread(report: Report, *kinds: str) -> Probes:
    """A cut report lacks frames, and a format of one's own (`stack_trace_format`) leaves none that could be read."""
    if report.truncated or not report.frames:
        yield from (Probe(kind, Sort.STACK, ()) for kind in kinds)


def lsan_probes(report: Report, build: Build) -> Probes:
    if report.tool == "lsan" and report.kind in LEAK_KINDS:
        for number, frame in enumerate(report.frames):
            yield from module_first(frame, build, "leak", first=not number)
        yield from _unread(report, "leak")


def tsan_probes(report: Report, build: Build) -> Probes:
    kind = TSAN_TYPE_OF_KIND.get(report.kind) if report.tool == "tsan" else None
    if kind is None:
        return
    stacks = suppressable(report)
    for frames in stacks:
        for number, frame in enumerate(frames):
            yield from module_last(frame, build, kind, first=not number)
        if kind == "race" and frames:
            yield from module_last(frames[0], build, "race_top", first=True)
    yield from _global(report, build, kind)
    for frames in stacks:
        yield from _called_from_library(frames, build)
    yield from _unread(report, kind, *(("race_top",) if kind == "race" else ()), "called_from_lib")


def _global(report: Report, build: Build, kind: str) -> Probes:
    """A race on a global variable is also known by its name and module."""
    match = GLOBAL.search(report.detail)
    if match:
        yield Probe(kind, Sort.NAME, (match["name"],))
        yield Probe(kind, Sort.MODULE, build.paths_of(match["module"]))


def _called_from_library(frames: Sequence[Frame], build: Build) -> Probes:
    """What functions of the C library do is not looked at when a library calls them that a rule names."""
    if len(frames) > 1 and _may_be_interceptor(frames[0]):
        yield _module(frames[1], build, "called_from_lib")._replace(doubted=True)


# How many stacks of role `other` a report has that rules are held against; those behind them tell where a mutex was created, or a sleep.
ACQUIRED = re.compile(r"=>")
SEARCHED_ROLES = frozenset({Role.PREVIOUS_ACCESS, Role.OTHER})


def suppressable(report: Report) -> list[Sequence[Frame]]:
    """The stacks that ThreadSanitizer holds against its rules, in its order: not those of allocations, of the creation of threads and
    mutexes, and of sleeps."""
    left = _acquired(report)
    found: list[Sequence[Frame]] = [report.frames]
    for stack in report.stacks:
        if stack.role not in SEARCHED_ROLES:
            continue
        if stack.role is Role.OTHER:
            left -= 1
            if left < 0:
                break
        found.append(stack.frames)
    return found


def _acquired(report: Report) -> int:
    if report.kind == "lock-order-inversion":
        return max(len(ACQUIRED.findall(report.detail)) - 1, 1)
    return 1 if report.kind == "destroy-of-locked-mutex" else 0


# Errors that an interceptor finds in what it was given. What instrumented code does itself no rule hides.
FOUND_BY_INTERCEPTOR = re.compile(
    r"(?:heap|stack|global|container|dynamic-stack)-(?:buffer-)?(?:over|under)flow|heap-use-after-free|stack-use-after-\w+"
    r"|use-after-poison|[a-z]+-param-overlap|unknown-crash|intra-object-overflow"
)
QUOTED = re.compile(r"'(.{1,200}?)' ")


def asan_probes(report: Report, build: Build) -> Probes:
    if report.tool != "asan":
        return
    if report.kind == "odr-violation":
        yield from (Probe("odr_violation", Sort.NAME, (name,), doubted=True) for name in QUOTED.findall(report.detail))
    elif report.kind == "alloc-dealloc-mismatch":
        yield from _via("alloc_dealloc_mismatch", report.frames, build)
        yield from _unread(report, "alloc_dealloc_mismatch")
    elif FOUND_BY_INTERCEPTOR.fullmatch(report.kind):
        yield from _intercepted(report.frames, build) if report.frames else ()
        yield from _unread(report, "interceptor_name", "interceptor_via_fun", "interceptor_via_lib")


def _via(kind: str, frames: Sequence[Frame], build: Build) -> Probes:
    for frame in frames:
        yield from (probe._replace(doubted=True) for probe in _function(frame, build, kind))


# What interceptors of one family share stands above them in the stack.
SHARED = re.compile(r"\w*InterceptorCommon\b|Str\w+Check\b|\w*(?:printf|scanf)_common\b|(?:read|write)_\w+\(")
MOST_SHARED = 2


def _intercepted(frames: Sequence[Frame], build: Build) -> Probes:
    at = _interceptor(frames)
    name = frames[at].function or ""
    if name.startswith(BUILT_IN_CALL):
        return
    sure = bool(INTERCEPTOR.match(name)) or is_runtime(f"{frames[at].file} {frames[at].module}")
    if not sure and not _may_be_interceptor(frames[at]):
        return
    plain = WRAPPER.sub("", INTERCEPTOR.sub("", name, count=1), count=1)
    yield Probe("interceptor_name", Sort.NAME, (plain,), doubted=not sure)
    for number, frame in enumerate(frames):
        yield _module(frame, build, "interceptor_via_lib")._replace(doubted=not sure)
        for probe in _function(frame, build, "interceptor_via_fun", first=number == at):
            yield probe._replace(doubted=not sure)


def _interceptor(frames: Sequence[Frame]) -> int:
    """Where in the stack it stands: mostly it is the innermost frame."""
    for at in range(min(MOST_SHARED, len(frames) - 1)):
        if not SHARED.match(frames[at].function or ""):
            return at
    return min(MOST_SHARED, len(frames) - 1)


def ubsan_probes(report: Report, build: Build) -> Probes:
    if report.tool != "ubsan" or not report.kind.startswith(UBSAN_KIND):
        return
    kinds = ubsan_types(report.kind)
    for kind in kinds:
        for probe in _at_place(report, build, kind):
            yield probe._replace(doubted=probe.doubted or len(kinds) > 1)
    if report.kind == f"{UBSAN_KIND}vptr":
        yield Probe("vptr_check", Sort.NAME, ())  # the mangled name of the type


def _written(file: str, frames: Sequence[Frame]) -> str:
    """What stands in front of it in its line is taken for words before it, up to the last blank. A frame has it whole."""
    whole = frames[0].file if frames else None
    return whole if whole is not None and whole.endswith(f" {file}") else file


def _at_place(report: Report, build: Build, kind: str) -> Probes:
    """The file that the compiler wrote down, then the innermost frame alone."""
    if report.place is not None and report.place.file is not None:
        yield Probe(kind, Sort.FILE, _paths(_written(report.place.file, report.frames)))
    if not report.frames:
        module = report.place.module if report.place else None
        yield Probe(kind, Sort.MODULE, (module,) if module else ())
        yield Probe(kind, Sort.FUNCTION, ())
        return
    yield from module_first(report.frames[0], build, kind)
    # Older runtimes ask for the place they return to, which may lie behind what was inlined there.
    for frame in report.frames[1:2]:
        yield from (
            probe._replace(doubted=True) for probe in module_last(frame, build, kind) if probe.sort is not Sort.MODULE
        )


PROBES: dict[Suppressor, Callable[[Report, Build], Probes]] = {
    Suppressor.LSAN: lsan_probes,
    Suppressor.ASAN: asan_probes,
    Suppressor.TSAN: tsan_probes,
    Suppressor.UBSAN: ubsan_probes,
}
