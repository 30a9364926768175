"""The second commissioning report: a working detector whose output is lost to cancelled runs, and leaks that the parent has too.

Given by the report: the conclusions of the twelve main runs, the pull-request commit whose first run was cancelled at 31 % of the build with
zero tests and
whose second run skipped its jobs, the lane run at d1b0ea3a8 (57 passed, exit code 1, 50 direct leaks, 91,456 bytes, three named records
and their stack), the parent 6621576ac with the identical leaks. The rest is invented and said so in `NOTE`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workers.demo.layout import RUNTIME, START, Record, building, doctest, leak_report, text, use_after_free

LANE = "asan-ubsan"
COMMIT = "d1b0ea3a8"
PARENT = "6621576ac"
PULL_REQUEST = 1036
PULL_REQUEST_COMMIT = "618924ed53f3f3bdbc0214009df4a5d69c6b41fc"
BYTES = 91_456
LEAKS = 50
TESTS = 57
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:protect_shadow_gap=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
OWN_ROOTS = ("src/", "include/", "tests/")
PLUMBING = ("AllocAligned64", "Alloc", "vllm::DevicePool::Get", "vllm::dense_attn::DBuf::DBuf")

NOTE = (
    "Replay of a public bug report. Given by it: the commits d1b0ea3a8 and 6621576ac, 57 tests passed with exit code 1, 50 direct leaks with "
    "91,456 bytes in all, the records of 65,536, 3,200 and 2,560 bytes, the stack of the first, the parent's identical leaks, the "
    "conclusions of twelve main runs (6 success, 4 cancelled, 1 failure; the twelfth is taken as still running), pull request 1036 whose "
    "run was cancelled at 31 % of the build with zero tests, shown by the CI as a failure, and whose second run skipped its jobs. Invented "
    "here: the other 47 records, where the stacks of the 3,200 and 2,560 byte records differ from the first, addresses and the "
    "source lines that the report leaves out, the logs and commits of the twelve main runs, the commit of the pull request, all times."
)

BINARY = "/home/runner/work/vllm.cpp/build-asan/tests/test_ltx2_video"
GEMMA = "src/vllm/model_executor/models/gemma4.cpp"
POOL = "include/vllm/model_executor/models/device_pool.h"
ENCODER = "src/vllm/multimodal/ltx2_encode.cpp"
VIDEO = "src/vllm/multimodal/ltx2_video.cpp"
TEST = "tests/vllm/multimodal/test_ltx2_video.cpp"

ALLOCATION = (
    f"__interceptor_aligned_alloc {RUNTIME}/asan_malloc_linux.cpp:113",
    "AllocAligned64 src/vt/cpu/cpu_backend.cpp:20",
    "Alloc src/vt/cpu/cpu_backend.cpp:42",
    f"vllm::DevicePool::Get(unsigned long) {POOL}:151",
    f"vllm::dense_attn::DBuf::DBuf(vt::Backend&, unsigned long) ({BINARY}+0x1f2c4e)",
)
RENDER = (
    f"Gemma4Model::ForwardHiddenStates(vt::Tensor const&) {GEMMA}:512",
    f"vllm::Ltx2EncodePromptToConditioning(std::string_view) {ENCODER}:88",
    f"Ltx2VideoEngine::Generate(Ltx2Request const&) {VIDEO}:207",
    f"RenderPrompt {TEST}:3493",
    "DOCTEST_ANON_FUNC_57 " + f"{TEST}:3520",
    "doctest::Context::run() /usr/include/doctest/doctest.h:6930",
    "main /usr/include/doctest/doctest.h:7008",
    *START,
)
# Who took a block of that size out of the pool: function, line, line of the call in ForwardBody. The first is the report's.
NAMED = ((65_536, 1, 192, 438), (3_200, 2, 197, 438), (2_560, 1, 201, 438))
OTHER_CALLERS = (
    ("ApplyRmsNorm", 231), ("ProjectQkv", 264), ("SlidingWindowMask", 289), ("SoftmaxScores", 317),
    ("MergeHeads", 338), ("GeluGate", 361), ("DownProject", 377), ("EmbedTokens", 402),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MainRun:
    """One of the twelve: the CI's word (null: still running), exit code, log, hours before the newest."""

    conclusion: str | None
    exit_code: int | None
    log: bytes | None
    hours: float


def pool_record(size: int, objects: int, caller: str, line: int, body_line: int) -> Record:
    return Record(size, objects, (*ALLOCATION, f"{caller} {GEMMA}:{line}", f"ForwardBody {GEMMA}:{body_line}", *RENDER))


def named_records() -> list[Record]:
    return [pool_record(size, n, "BuildProportionalRopeCache", line, body) for size, n, line, body in NAMED]


def other_records() -> list[Record]:
    """The 47 records the report does not list: one block each, adding up to its total."""
    count = LEAKS - len(NAMED)
    rest = BYTES - sum(record.bytes for record in named_records())
    sizes = [256 + 64 * (number % 6) for number in range(count - 1)]
    return [
        pool_record(size, 1, *OTHER_CALLERS[number % len(OTHER_CALLERS)], 440 + number)
        for number, size in enumerate([*sizes, rest - sum(sizes)])
    ]


def leaking_log(pid: int) -> bytes:
    """The lane run by hand: the summary says 57 passed, then the leak check speaks."""
    return text([*doctest(TESTS), *leak_report(pid, named_records() + other_records()), "EXIT=1"])


def step(command: str, options: dict[str, str]) -> Iterator[str]:
    yield from (f"##[group]Run {command}", command, "shell: /usr/bin/bash -e {0}", "env:")
    yield from (f"  {name}: {value}" for name, value in options.items())
    yield "##[endgroup]"


def stamped(lines: list[str]) -> bytes:
    """With the time in front of each line, as a runner's raw log has it. The day is made up."""
    return text(
        f"2026-07-14T09:{n // 60 % 60:02}:{n % 60:02}.{1234567 + 97 * n % 8000000:07}Z {line}"
        for n, line in enumerate(lines)
    )


SOURCES = (
    "src/vt/cpu/cpu_backend.cpp", "src/vllm/model_executor/models/gemma4.cpp", "src/vllm/model_executor/models/qwen3.cpp",
    "src/vllm/multimodal/ltx2_video_vae.cpp", "src/vllm/multimodal/ltx2_encode.cpp", "src/vllm/core/scheduler.cpp",
)  # fmt: skip


def cancelled_in_build(percent: int) -> bytes:
    """Cancelled while compiling: the last progress line, then the runner's own words."""
    return stamped([
        *step("cmake --build build-asan -j 4", {}),
        *building("vllm", SOURCES, percent),
        "##[error]The operation was canceled.",
        "##[group]Post job cleanup",
        "##[endgroup]",
    ])  # fmt: skip


def cancelled_in_tests() -> bytes:
    return stamped([
        *step("ctest --test-dir build-asan --output-on-failure", OPTIONS),
        "      Start  1: test_scheduler",
        " 1/57 Test  #1: test_scheduler ...................   Passed    4.12 sec",
        "      Start  2: test_paged_attention",
        " 2/57 Test  #2: test_paged_attention .............   Passed   11.80 sec",
        "      Start  3: test_gemma4",
        "##[error]The operation was canceled.",
    ])  # fmt: skip


def passing_run() -> bytes:
    return stamped([*step("./build-asan/tests/test_core", OPTIONS), *building("vllm", SOURCES, 100), *doctest(56)])


def failing_run() -> bytes:
    """The one red run: a use-after-free of the kind the report says the same lane had caught."""
    access = (
        "vllm::Scheduler::Preempt(vllm::Sequence*) src/vllm/core/scheduler.cpp:341",
        "vllm::Scheduler::Step() src/vllm/core/scheduler.cpp:210",
        "vllm::Engine::RunOnce() src/vllm/core/engine.cpp:97",
        "DOCTEST_ANON_FUNC_12 tests/vllm/core/test_scheduler.cpp:118",
    )
    freed = (f"operator delete(void*, unsigned long) {RUNTIME}/asan_new_delete.cpp:164",
             "vllm::Scheduler::Finish(vllm::Sequence*) src/vllm/core/scheduler.cpp:288", *access[1:])  # fmt: skip
    allocated = (f"operator new(unsigned long) {RUNTIME}/asan_new_delete.cpp:95",
                 "vllm::Scheduler::Add(vllm::Request const&) src/vllm/core/scheduler.cpp:77", *access[2:])  # fmt: skip
    return stamped([
        *step("./build-asan/tests/test_core", OPTIONS),
        *building("vllm", SOURCES, 100),
        *use_after_free(31_904, access, freed, allocated),
        "##[error]Process completed with exit code 1.",
    ])  # fmt: skip


def main_runs() -> list[MainRun]:
    """Oldest first: 6 success, 4 cancelled, 1 failure, 1 still running."""
    good = passing_run()
    return [
        MainRun("success", 0, good, 16.0),
        MainRun("cancelled", None, cancelled_in_build(12), 14.5),
        MainRun("success", 0, good, 13.0),
        MainRun("success", 0, good, 11.5),
        MainRun("cancelled", None, None, 10.0),
        MainRun("success", 0, good, 9.0),
        MainRun("failure", 1, failing_run(), 7.5),
        MainRun("cancelled", None, cancelled_in_tests(), 6.0),
        MainRun("success", 0, good, 5.5),
        MainRun("success", 0, good, 4.0),
        MainRun("cancelled", None, cancelled_in_build(74), 2.0),
        MainRun(None, None, None, 0.4),
    ]
