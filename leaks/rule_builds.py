"""What the reports of one log tell of the build they come from: its modules, and which of them the symbolizer can read."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from leaks.evidence import Frame, Report
from leaks.symbols import stacks_of

# Modules of every program: where the symbolizer works at all, what has no name there has none at run time either.
SYSTEM = re.compile(
    r"/(?:lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s|c\+\+|c\+\+abi)|ld(?:-linux[\w-]*|-\d[\d.]*)?)[.-][\w.-]*$|\[?(?:linux-)?vdso"
)
UNKNOWN_MODULE = "<unknown module>"
LIBRARY = re.compile(r"\.(?:so|dylib|dll|bundle|node|pyd|jnilib)\b|\.framework/|\.apk!|vdso|^\[|^<")
# Newer runtimes print an interceptor by the name of what it stands for.
INTERCEPTOR = re.compile(r"_{2,3}interceptor_|__asan_wrap_")
EVERYWHERE = frozenset({"main", "_start", "start_thread", "clone"})
# Where a module may lie whose folder is not printed.
FOLDERS = ("", "/usr/lib/x86_64-linux-gnu", "/home/runner/build", "/opt")


class Build:
    """What the reports of one build tell of its modules together: which there are, in which of them the symbolizer finds names, and in
    which module a function is that another report prints without one."""

    def __init__(self, reports: Iterable[Report] = ()) -> None:
        self.modules: set[str] = set()
        self.named: set[str] = set()  # modules
        self.names_any = False
        self.prints_prefixes = False  # of interceptors: then every name is printed as it is
        self.walks: dict[object, Any] = {}  # of frames that were asked about before
        self._homes: dict[str, set[str]] = defaultdict(set)
        self._placed: dict[int | None, bool] = {}  # of each process, whether the path of its program is printed
        self._is_told = False
        for report in reports:
            self.learn(report)

    @classmethod
    def anywhere(cls, modules: Iterable[str]) -> "Build":
        """Of no build in particular: a frame without a module may be in any of these, and no process showed where its program lies."""
        build = cls()
        build.modules.update(modules)
        build._placed[None] = False
        return build

    def learn(self, report: Report) -> None:
        self.walks.clear()
        self._placed.setdefault(report.pid, False)
        for frames in stacks_of(report):
            for frame in frames:
                self.learn_frame(frame)
                self._placed[report.pid] |= frame.module is not None and is_program(frame.module)

    def add(self, modules: Iterable[str]) -> None:
        """What is known otherwise than from the reports."""
        given = set(modules)
        self.modules |= given
        self._is_told = self._is_told or any(map(is_program, given))

    @property
    def knows_programs(self) -> bool:
        """Whether each process that reported anything showed where its program lies."""
        return self._is_told or (all(self._placed.values()) and any(map(is_program, self.modules)))

    def learn_frame(self, frame: Frame) -> None:
        if frame.function is not None:
            self.names_any = True
            self.prints_prefixes = self.prints_prefixes or INTERCEPTOR.match(frame.function) is not None
        if frame.module is None or frame.module == UNKNOWN_MODULE:
            return
        self.modules.add(frame.module)
        if frame.function is not None:
            self.named.add(frame.module)
            self._homes[frame.function].add(frame.module)

    def module_of(self, frame: Frame) -> str | None:
        """As printed, or where all other frames of this function are. Each program has a main() of its own."""
        if frame.module is not None or frame.function in EVERYWHERE:
            return frame.module
        homes = self._homes.get(frame.function or "", ())
        return next(iter(homes)) if len(homes) == 1 else None

    def paths_of(self, module: str) -> tuple[str, ...]:
        """ThreadSanitizer prints the last part of a path alone, and asks for all of it: one that ends so is right, or else any may be."""
        if module == UNKNOWN_MODULE:
            return (module, "")  # older runtimes do not ask
        if "/" in module or module[1:2] == ":":
            return (module,)
        known = tuple(sorted(path for path in self.modules if path.endswith(f"/{module}")))
        return known or tuple(f"{folder}/{module}" for folder in FOLDERS)

    def is_nameless_for_good(self, frame: Frame) -> bool:
        """Whether the runtime itself finds no name for it: it finds some in this module, or the module is one of the system's."""
        module = frame.module
        if module is None or module == UNKNOWN_MODULE:
            return self.names_any
        return module in self.named or (self.names_any and SYSTEM.search(module) is not None)


@lru_cache(maxsize=1 << 14)
def is_program(module: str) -> bool:
    return LIBRARY.search(module) is None
