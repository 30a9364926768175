"""Whose frame is it: the sanitizer's, the allocator's, the library's, the test framework's, plumbing, or the project's own.

Everything follows from the text of the frame and the project's settings; no file of this machine is looked at. Each distinct frame is
judged once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from leaks.evidence import Frame, Report
from leaks.parsing.names import normal, qualified
from leaks.platforms import CUDA_RUNTIME, KERNEL_ALLOCATOR, KERNEL_CHECKER, KERNEL_HELPER


class Owner(StrEnum):
    """Who a frame belongs to. Only `OWN` frames own a report."""

    __hash__ = str.__hash__  # an enum's own is slow, and every frame of a log is looked up

    RUNTIME = "runtime"
    ALLOCATOR = "allocator"
    LIBC = "libc"
    STANDARD_LIBRARY = "standard library"
    TEST_FRAMEWORK = "test framework"
    LANGUAGE_RUNTIME = "language runtime"
    THIRD_PARTY = "third party"
    UNNAMED = "unnamed"
    PLUMBING = "plumbing"
    OWN = "own"


OWN = Owner.OWN

# Sources of the runtimes as gcc ("../../../../src/libsanitizer/…") and clang ("…/compiler-rt/lib/…", "asan_malloc_linux.cpp.o") print them.
RUNTIME_FILE = re.compile(
    r"(^|/)(compiler-rt|libsanitizer)/|(^|/)(asan|lsan|tsan|ubsan|msan|hwasan|sanitizer)_[a-z0-9_]+\.(cpp|cc|inc|h|S)(\.o)?$"
    r"|(^|/)(vg_replace_\w+|vg_preloaded|[hm][gc]_intercepts|mc_replace_\w+|drd_\w*intercepts)\.c$"
)
RUNTIME_NAME = re.compile(
    r"^(__?(asan|lsan|tsan|ubsan|msan|hwasan|rtsan|dfsan)(_|::)|_{0,3}interceptor_|__sanitizer|__interception::"
    r"|wrap_|(asan|lsan|tsan|msan|hwasan)_thread_|MallocBlock::)"
)
RUNTIME_MODULE = re.compile(
    r"(^|/)vgpreload_|(^|/)(lib)?(clang_rt\.)?(asan|lsan|tsan|ubsan|msan|hwasan)([._-][^/]*)?\.(so|dylib)"
)
ALLOCATOR_NAME = re.compile(
    r"^(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|valloc|pvalloc|strdup|strndup|__strdup|free|cfree"
    r"|malloc_usable_size|operator (new|delete)(\[\])?|_Zn[wa][mj]\w*|_Zd[la]\w*|xmalloc|xcalloc|xrealloc|xstrdup|g_malloc0?|g_realloc"
    r"|_aligned_(malloc|realloc)|_(malloc|calloc|realloc|free)_dbg|(Heap|RtlAllocate|RtlReAllocate)(Alloc|ReAlloc|Heap)"
    r"|__libc_(malloc|calloc|realloc|memalign)|__rust_(re|de)?alloc\w*|__rdl_alloc\w*)$"
)
# Functions of libc that the runtimes intercept or that call back into the program; own code of that name has a file of its own.
LIBC_NAME = re.compile(
    r"^(_start|main_trampoline|start_thread|create_thread|_{0,2}clone(3|_internal)?|__libc_start_\w+|__libc_csu_\w+|__cxa_\w+|__run_exit_handlers|__GI_\w+|_IO_\w+"
    r"|_dl_\w+|dl_\w+|__pthread_\w+|pthread_\w+|__nptl_\w+|call_init\w*|__static_initialization_and_destruction_0|_GLOBAL__sub_I_\w*"
    r"|__(mem|str|wcs|wmem)\w+_(avx|sse|ssse|evex|erms|sve|generic|neon)\w*|_?pthread_start|_?thread_start|_dispatch_\w+"
    r"|invoke_main|__scrt_\w+|w?(main|WinMain)CRTStartup|BaseThreadInitThunk|RtlUserThreadStart|RtlInitializeExceptionChain"
    r"|__call_tls_dtors|_Unwind_\w+|__gthread_\w+|exit|abort|raise|__assert\w*|qsort(_r)?|bsearch)$"
)
LIBC_INTERCEPTED = re.compile(
    r"^(_{0,2}(mem|str|wcs|wmem)[a-z_]{2,12}|_{0,2}v?[fs]?n?w?printf(_chk)?|_{0,2}v?[fs]?w?scanf|puts|fputs|fgets|getline|getdelim"
    r"|f?open(64|dir)?|fdopen|fclose|f?read(dir|link)?|p?read(64)?|p?write(64)?|recv(from|msg)?|send(to|msg)?|getaddrinfo|realpath"
    r"|setenv|getenv|putenv|atoi|atol|strto\w+|sig\w+|scandir\w*|asprintf|vasprintf|getpw\w+|getgr\w+|bcmp|bzero|b?copy)$"
)
SYSTEM_CALL = re.compile(
    r"_*(open(at|64)?|close|p?read(64|v)?|p?write(64|v)?|ioctl|recv\w*|send\w*|connect|bind|poll|stat\w*|fstat\w*)$"
)
LIBC_FILE = re.compile(
    r"(^|/)sysdeps/|/vctools/crt/|(^|/)minkernel/crts/|^(\.\./|\./|csu/)+(csu|nptl|elf|stdlib|string|libio|posix|misc|malloc|sysdeps)/|/glibc[^/]*/"
    r"|^(libc-start|libc_start_call_main|dl-[a-z-]+|allocatestack|v[a-z]{0,4}printf(-internal)?|iof[a-z0-9]+|iogetdelim)\.[chS]$"
)
# Rust's own crates are known by their modules: a project may well have a namespace called core or alloc.
STANDARD_NAME = re.compile(
    r"^(std|__gnu_cxx|__cxxabiv1|__gnu_debug)::|^__rust_|^<?(core::(any|cell|char|clone|cmp|fmt|future|hash|intrinsics|iter|mem|num|ops|option"
    r"|panic|panicking|pin|ptr|result|slice|str|sync|task)|alloc::(alloc|borrow|boxed|collections|fmt|raw_vec|rc|slice|str|string|sync|vec))"
    r"(::|<|>)|^<(std|core|alloc)::[^>]+ as "
)
STANDARD_FILE = re.compile(
    r"/include/([^/]+/)?c\+\+/|/include/v1/|(^|/)bits/(stl|std|basic_|shared_ptr|unique_ptr|alloc|new_alloc|invoke|vector)"
    r"|/VC/Tools/MSVC/[^/]+/include/|/stl/(inc|src)/|(^|/)ext/(new_allocator|aligned_buffer|alloc_traits)|/rustc/[0-9a-f]+/|/gcc[^/]*/libstdc\+\+-v3/"
)
CXX_HEADER = re.compile(r"/include/([^/]+/)?c\+\+/|/include/v1/|/include/[^/]+/bits/")
# Valgrind prints base names, and of an inlined function neither namespace nor class: `allocate (alloc_traits.h:464)`.
STANDARD_HEADER = re.compile(
    r"(stl|std|ranges|locale|regex|atomic|basic|functional|shared_ptr|unique|char|hashtable|alloc|new|gthr|ptr|unordered|postypes|streambuf)"
    r"(_\w+|-\w+)?\.(h|tcc)|(vector|deque|list|forward_list|ostream|istream|sstream|fstream|random)\.tcc"
    r"|(allocator|allocated_ptr|invoke|move|refwrap|node_handle|predefined_ops|cpp_type_traits|exception_ptr|nested_exception)\.h"
    r"|vector|map|set|list|deque|string|functional|memory|thread|mutex|future|tuple|utility|optional|variant|any|new|array|algorithm|chrono"
    r"|condition_variable|shared_mutex|unordered_(map|set)|ostream|istream|fstream|sstream|filesystem|atomic|span|string_view"
)
FRAMEWORK_NAME = re.compile(
    r"^(testing|doctest|Catch|boost::unit_test|CppUnit|benchmark|fuzzer|QTest|test::(run|__rust|assert)\w*)(::|$)|^RUN_ALL_TESTS$"
)
FRAMEWORK_FILE = re.compile(
    r"(^|/)(gtest|gmock|doctest|catch2?)(/|([_-]\w+)*\.[a-z]+$)|(^|/)(googletest|googlemock|Catch2|doctest)(-src)?/"
)
LANGUAGE_NAME = re.compile(
    r"^(_?Py[A-Z_]\w*|_PyEval_\w+|slot_tp_\w+|type_call|method_vectorcall\w*|builtin_exec\w*|import_find\w+|pymain_\w+|cfunction_\w+"
    r"|object_vacall|Builtins_\w+|v8::.*|node::.*|JNI_\w+|JavaCalls::.*|JavaMain|jni_\w+|runtime\.\w.*|testing\.\w.*|ruby_\w+|rb_\w+|vm_exec\w*)$"
)
LANGUAGE_FILE = re.compile(
    r"(^|/)(python3?[^/]*|cpython[^/]*)/(Objects|Python|Modules|Parser)/|^(\./)?(Objects|Python|Modules)/\w+\.c$"
    r"|/go(lang)?[^/]*/src/(runtime|testing)/|/node/(deps|src)/"
)
THIRD_PARTY_FILE = re.compile(
    r"^/usr/(include|lib|local|share|src)/|^/usr/bin/\.\./|^/opt/|^/nix/store/|(^|/)(third[_-]?party|3rd[_-]?party|external|extern|vendor|vendored|_deps|node_modules"
    r"|site-packages|dist-packages|vcpkg_installed|\.cargo/registry|\.conan2?|go/pkg/mod)/|/Xcode\.app/|^C:\\Program Files"
)
SYSTEM_MODULE = re.compile(
    r"^/(usr/)?(lib|lib32|lib64|libexec|bin|sbin)/|^/usr/local/(lib|cuda)|^/opt/|^/nix/store/|^/System/|^/Library/|^/apex/|^/system/|^/vendor/"
    r"|(^|/)(site|dist)-packages/|(^|/)ld-linux|(^|/)lib(c|m|pthread|dl|stdc\+\+|gcc_s|c\+\+|c\+\+abi|cuda|cudart|nvidia[^/]*|cublas\w*|jvm)[.-]"
    r"|^[A-Za-z]:/Windows/|(^|/)(libsystem_\w+|libdispatch|libdyld|libobjc[^/]*|dyld)(\.|$)|^linux-vdso|^\[vdso\]"
)

# What is left of an address or a module where a log ends in the middle of a line.
CUT_OFF = re.compile(r"0(x[0-9a-fA-F]*)?|\([^)]*")

Rule = tuple[str, re.Pattern[str], Owner]

# First matching row decides. "name" is the qualified name, "file" and "module" are as printed with forward slashes, "text" is all of it.
RULES: tuple[Rule, ...] = (
    ("text", KERNEL_CHECKER, Owner.RUNTIME),
    ("text", KERNEL_ALLOCATOR, Owner.ALLOCATOR),
    ("text", KERNEL_HELPER, Owner.STANDARD_LIBRARY),
    ("text", CUDA_RUNTIME, Owner.THIRD_PARTY),
    ("file", RUNTIME_FILE, Owner.RUNTIME),
    ("name", RUNTIME_NAME, Owner.RUNTIME),
    ("name", ALLOCATOR_NAME, Owner.ALLOCATOR),
    ("module", RUNTIME_MODULE, Owner.RUNTIME),
    ("name", LIBC_NAME, Owner.LIBC),
    ("file", LIBC_FILE, Owner.LIBC),
    ("name", STANDARD_NAME, Owner.STANDARD_LIBRARY),
    ("file", STANDARD_FILE, Owner.STANDARD_LIBRARY),
    ("name", FRAMEWORK_NAME, Owner.TEST_FRAMEWORK),
    ("name", LANGUAGE_NAME, Owner.LANGUAGE_RUNTIME),
    ("file", LANGUAGE_FILE, Owner.LANGUAGE_RUNTIME),
)
# Asked after the project's own roots had their say: a root may well lie below /opt or in a folder called external.
LATE_RULES: tuple[Rule, ...] = (
    ("file", FRAMEWORK_FILE, Owner.TEST_FRAMEWORK),
    ("file", THIRD_PARTY_FILE, Owner.THIRD_PARTY),
    ("module", SYSTEM_MODULE, Owner.THIRD_PARTY),
)


def first_rule(rules: Sequence[Rule], texts: dict[str, str]) -> Owner | None:
    return next((owner for where, pattern, owner in rules if texts[where] and pattern.search(texts[where])), None)


def _by_bare_file(texts: dict[str, str]) -> Owner | None:
    """What a name says only where no path contradicts it.

    `read` or `open` may be a project's own function, which then has a source file; the intercepted one has none, or glibc's `read.c`.
    """
    name, file = texts["name"], texts["file"]
    if not file or (SYSTEM_CALL.match(name) and file in (f"{name.strip('_')}.c", f"{name.strip('_')}64.c")):
        return Owner.LIBC if LIBC_INTERCEPTED.match(name) else None
    if "/" not in file and STANDARD_HEADER.fullmatch(file) and "::" not in normal(name):
        return Owner.STANDARD_LIBRARY
    return None


def _inlined_from_a_header(texts: dict[str, str]) -> bool:
    """Where inlined calls are not told apart, the line of an own function may lie in a standard header: then its name says whose it is."""
    if not CXX_HEADER.search(texts["file"]):
        return False
    name = normal(texts["name"])  # without template arguments: they are mostly own, whosever function it is
    return "::" in name and "std::" not in name and not name.startswith("_")


def names_a_culprit(report: Report) -> bool:
    """The place is where something was done, and not where a global is defined twice."""
    return report.place is not None and report.kind != "odr-violation"


class Ownership:
    """Judges frames for one project. `own_roots` are path prefixes (a relative one may start at any folder of the path)."""

    def __init__(self, own_roots: Iterable[str] = (), plumbing: Iterable[str] = ()) -> None:
        self.own_roots = tuple(root.replace("\\", "/") for root in own_roots if root)
        self.plumbing = frozenset(normal(name) for name in plumbing if name)
        self._owners: dict[str, Owner] = {}
        # By frame text: what readers of stacks learn of a frame, for as long as the words of this project hold.
        self.memory: dict[str, Any] = {}
        self.told: dict[str, Any] = {}

    def owner(self, frame: Frame) -> Owner:
        known = self._owners.get(frame.text)
        if known is None:
            known = self._owners[frame.text] = self._judge(frame)
        return known

    def own_frames(self, frames: Iterable[Frame]) -> list[Frame]:
        """The own frames of a stack, innermost first."""
        return [frame for frame in frames if self.owner(frame) is Owner.OWN]

    def own_frame(self, report: Report) -> Frame | None:
        """The frame that owns a report: the first own one of its primary stack; of a report without a stack, the place it names.

        A report whose primary stack shows nothing own (an interceptor called from the runtime) is owned by nobody: the stacks that
        tell who freed or allocated are context, not culprits.
        """
        if not report.frames and names_a_culprit(report) and self._in_roots(report.place) is not False:
            return report.place
        known = self._owners.get
        for frame in report.frames:  # of thousands of stacks: what is known is looked up without a call
            if (known(frame.text) or self.owner(frame)) is OWN:
                return frame
        return None

    def _judge(self, frame: Frame) -> Owner:
        texts = {
            "name": qualified(frame.function) if frame.function else "",
            "file": (frame.file or "").replace("\\", "/"),
            "module": (frame.module or "").replace("\\", "/"),
            "text": frame.text,
        }
        if _inlined_from_a_header(texts):
            frame, texts["file"] = replace(frame, file=None), ""
        early = first_rule(RULES, texts) or _by_bare_file(texts)
        if early is not None:
            return early
        if not frame.function or CUT_OFF.fullmatch(frame.function):
            return Owner.UNNAMED
        return self._plumbing_or_own(frame, texts)

    def _plumbing_or_own(self, frame: Frame, texts: dict[str, str]) -> Owner:
        in_roots = self._in_roots(frame)
        if in_roots is False:
            return first_rule(LATE_RULES, texts) or Owner.THIRD_PARTY
        late = None if in_roots else first_rule(LATE_RULES, texts)
        if late is not None:
            return late
        return Owner.PLUMBING if self._is_plumbing(frame) else Owner.OWN

    def _is_plumbing(self, frame: Frame) -> bool:
        """Named so by the project, or an assignment without a source line: the compiler wrote that one, and who assigned is the owner."""
        name = normal(frame.function or "")
        return name in self.plumbing or (not frame.file and name.endswith("::operator="))

    def _in_roots(self, frame: Frame | None) -> bool | None:
        """Whether the frame's file lies in an own root; null where no roots are given or no folder is printed (Valgrind, macOS)."""
        if not self.own_roots or frame is None or not frame.file:
            return None
        path = frame.file.replace("\\", "/")
        if "/" not in path:
            return None
        return any(self._below(path, root) for root in self.own_roots)

    @staticmethod
    def _below(path: str, root: str) -> bool:
        return path.startswith(root) or (not root.startswith("/") and f"/{root}" in path)
