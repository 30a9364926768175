"""Texts that stand in the stacks of reports that have nothing to do with each other: a pattern that matches one of them names no bug.

Nothing here is of a certain project. Where only a part of a text is common (the ending of a file, the folder it lies in), the rest is a
character that no pattern holds, so that a pattern which matches it says no more than that part.
"""

from collections.abc import Sequence
from typing import NamedTuple

from leaks.rule_types import Suppressor

ANYTHING = "\x01"

# --- Functions -------------------------------------------------------------------------------------------------------

ALLOCATIONS = (
    *("malloc", "calloc", "realloc", "operator new(unsigned long)", "operator new[](unsigned long)"),
    *("reallocarray", "aligned_alloc", "posix_memalign", "memalign", "valloc", "pvalloc", "strdup", "strndup"),
    *("__interceptor_malloc", "__interceptor_calloc", "__interceptor_realloc", "__interceptor_posix_memalign"),
    *("wrap_malloc", "_Znwm", "_Znam"),
)
MANGLED_ALLOCATIONS = ("_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t")
# Frames in which every main thread, every other thread and every test begins.
ENTRIES = (
    *("main", "_start", "start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl", "(below main)"),
    *("start_thread", "clone", "__clone", "clone3", "_pthread_start", "thread_start", "__tsan_thread_start_func"),
    *("asan_thread_start(void*)", "execute_native_thread_routine", f"void* std::__1::__thread_proxy<{ANYTHING}>(void*)"),
    f"void std::__invoke_impl<void, {ANYTHING}>(std::__invoke_other, {ANYTHING}&&)",
    *("testing::UnitTest::Run()", "testing::internal::UnitTestImpl::RunAllTests()", "testing::Test::Run()", "testing::TestInfo::Run()"),
    *("RUN_ALL_TESTS()", f"{ANYTHING}_Test::TestBody()", "doctest::Context::run()", "DOCTEST_ANON_FUNC_"),
    *("Catch::Session::run()", "Catch::RunContext::invokeActiveTestCase()", "CATCH2_INTERNAL_TEST_", "C_A_T_C_H_T_E_S_T_"),
    *("boost::unit_test::framework::run(unsigned long, bool)", "QTest::qExec(QObject*, int, char**)"),
    *("benchmark::RunSpecifiedBenchmarks()", "fuzzer::RunOneTest(fuzzer::Fuzzer*, char const*, unsigned long)"),
    *("LLVMFuzzerTestOneInput", "test::run_test::{{closure}}", "core::ops::function::FnOnce::call_once"),
)  # fmt: skip
# What names of functions are made of: of a template, an overload, a lambda, a clone.
WORDS = (
    *("operator()", "operator()() const", "{lambda()#1}::operator()() const", "$_0::operator()() const", "'lambda'()"),
    *("(anonymous namespace)::", "std::", "std::__1::", "std::__cxx11::", "__gnu_cxx::", "::", "()", "(void*)", "(char const*)"),
    *("void ", "bool ", "unsigned long", "unsigned char", "short", "long long", "float", "double", "const&", "&&", "int*", "size_t"),
    *("<unknown module>", "[abi:cxx11]", ".isra.0", ".constprop.0", ".part.0", ".cold", ".llvm.", "__interceptor_", "__sanitizer::"),
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
    *("std::vector<", "std::map<", "std::unordered_map<", "std::set<", "std::list<", "std::deque<", "std::function<", "std::optional<"),
    *("std::shared_ptr<", "std::unique_ptr<", "std::make_shared<", "std::make_unique<", "std::allocator_traits<", "std::thread::"),
    *("std::pair<", "std::tuple<", "std::array<", "std::variant<", "std::future<", "std::__invoke<", "std::_Function_handler<"),
)  # fmt: skip
MANGLED_WORDS = (
    f"_ZN{ANYTHING}",
    f"_ZNK{ANYTHING}",
    f"_ZNSt{ANYTHING}",
    f"_ZSt{ANYTHING}",
    f"{ANYTHING}Ev",
    f"_ZZ{ANYTHING}",
)

# --- Files and modules -----------------------------------------------------------------------------------------------

ENDINGS = (
    "c",
    "cc",
    "cpp",
    "cxx",
    "C",
    "m",
    "mm",
    "cu",
    "cuh",
    "h",
    "hh",
    "hpp",
    "hxx",
    "inl",
    "ipp",
    "tcc",
    "rs",
    "go",
    "f90",
    "d",
)
SOURCES = tuple(
    f"{folder}{ANYTHING}.{ending}" for ending in ENDINGS for folder in (f"/{ANYTHING}/", f"../{ANYTHING}/", "./")
)
FOLDER_NAMES = (
    *(
        "src",
        "source",
        "sources",
        "include",
        "lib",
        "libs",
        "test",
        "tests",
        "app",
        "bin",
        "build",
        "out",
        "home",
        "root",
        "usr",
    ),
    *(
        "opt",
        "tmp",
        "work",
        "workspace",
        "builds",
        "runner",
        "users",
        "Users",
        "github",
        "var",
        "mnt",
        "debug",
        "release",
        "project",
    ),
)
FOLDERS = tuple(f"{front}{name}/{ANYTHING}" for name in FOLDER_NAMES for front in ("/", ""))
# Where machines check out whatever they build.
CHECKOUTS = tuple(
    f"{folder}/{ANYTHING}"
    for folder in (
        *(
            "/home/runner/work",
            "/Users/runner/work",
            "/github/workspace",
            "/__w",
            "/builds",
            "/var/lib/jenkins/workspace",
        ),
        *(
            "/home/jenkins/workspace",
            "/home/circleci/project",
            "/root/project",
            "/home/travis/build",
            "/usr/src",
            "/build",
        ),
    )
)
RUNTIME_FILES = (
    "../../../../src/libsanitizer/asan/asan_malloc_linux.cpp",
    "../../../../src/libsanitizer/lsan/lsan_interceptors.cpp",
    "/build/llvm-project/compiler-rt/lib/asan/asan_new_delete.cpp",
    "/build/llvm-project/compiler-rt/lib/asan/asan_interceptors.cpp",
    "/build/llvm-project/compiler-rt/lib/sanitizer_common/sanitizer_common_interceptors.inc",
    "../sysdeps/nptl/libc_start_call_main.h",
    "../csu/libc-start.c",
    "./nptl/pthread_create.c",
    "../sysdeps/unix/sysv/linux/x86_64/clone3.S",
)
LIBRARY_FOLDERS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/usr/lib",
    "/lib/aarch64-linux-gnu",
)
RUNTIME_MODULES = (
    *(f"{folder}/libc.so.6" for folder in LIBRARY_FOLDERS),
    *(
        f"/usr/lib/x86_64-linux-gnu/{name}"
        for name in (
            *(
                "libc-2.31.so",
                "libpthread.so.0",
                "libpthread-2.31.so",
                "ld-linux-x86-64.so.2",
                "libm.so.6",
                "libgcc_s.so.1",
            ),
            *("libstdc++.so.6", "libstdc++.so.6.0.30", "libc++.so.1", "libc++abi.so.1"),
            *("libasan.so.8", "liblsan.so.0", "libtsan.so.2", "libubsan.so.1", "libhwasan.so.0"),
        )
    ),
    *(f"/usr/lib/clang/18/lib/linux/libclang_rt.{name}-x86_64.so" for name in ("asan", "tsan", "ubsan_standalone")),
    "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so",
)
ANY_MODULE = (
    *(f"/{ANYTHING}/lib{ANYTHING}.{ending}" for ending in ("so", "so.1", "dylib")),
    f"/{ANYTHING}/{ANYTHING}.exe",
)


# --- What a type of rule is held against -----------------------------------------------------------------------------


class Common(NamedTuple):
    """A group of such texts; `why` says what a pattern does that matches `{text}`."""

    texts: Sequence[str]
    why: str


EVERY_FRAME = "it matches the frame {text}, which nearly every report has"
OF_ALLOCATIONS = Common(ALLOCATIONS, EVERY_FRAME)
OF_ENTRIES = Common(ENTRIES, EVERY_FRAME)
OF_WORDS = Common(WORDS, "it names no function: “{text}” stands in the names of many")
OF_SOURCES = Common(SOURCES, "it matches every source file of a language")
OF_FOLDERS = Common((*FOLDERS, *CHECKOUTS), "it matches a folder that whole trees of sources and programs lie in")
OF_RUNTIME_FILES = Common(RUNTIME_FILES, "it matches {text}, a file that nearly every report shows")
OF_MODULES = (
    Common(ANY_MODULE, "it matches every library"),
    Common(RUNTIME_MODULES, "it matches {text}, which every program has loaded"),
    OF_FOLDERS,
)
ONE_FRAME = (OF_WORDS, OF_SOURCES, *OF_MODULES)
ALL_FRAMES = (OF_ENTRIES, *ONE_FRAME, OF_RUNTIME_FILES)
# Of UBSan and of race_top the innermost frame alone is asked, so an entry is a function like others.
COMMON: dict[str, Sequence[Common]] = {
    "": (OF_ALLOCATIONS, *ALL_FRAMES),
    "leak": (OF_ALLOCATIONS, *ALL_FRAMES),
    **dict.fromkeys(("race", "thread", "deadlock", "mutex", "signal"), ALL_FRAMES),
    "called_from_lib": OF_MODULES,
    "interceptor_via_lib": OF_MODULES,
    "interceptor_via_fun": (OF_ENTRIES, OF_WORDS),
    "alloc_dealloc_mismatch": (OF_ALLOCATIONS, OF_ENTRIES, OF_WORDS),
    **dict.fromkeys(("interceptor_name", "odr_violation", "vptr_check"), ()),
}


def commons_of(kind: str) -> Sequence[Common]:
    return COMMON.get(kind, ONE_FRAME)


# --- Valgrind --------------------------------------------------------------------------------------------------------

# By the sort of a line. Entries are left out: what stands below all else says something where every frame above it is named.
OF_LINES: dict[str, Sequence[Common]] = {
    "fun": (Common((*ALLOCATIONS, *MANGLED_ALLOCATIONS), EVERY_FRAME), Common(MANGLED_WORDS, "it names no function")),
    "obj": OF_MODULES,
    "src": (
        Common((*SOURCES, *(f"{ANYTHING}.{ending}" for ending in ENDINGS)), OF_SOURCES.why),
        OF_FOLDERS,
        OF_RUNTIME_FILES,
    ),
}
VALGRIND = Suppressor.VALGRIND.value
