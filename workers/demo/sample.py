"""Sixty days of plausible history, so that each chart has something to show. All of it is invented, and the project says so.

The days are counted back from the newest (0). What happens on which day is a table: the same every time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from workers.demo.layout import RUNTIME, START, Record, building, doctest, leak_report, text, use_after_free

DAYS = 60
ADDRESS_LANE = "asan-ubsan"
UNDEFINED_LANE = "ubsan"
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
BLIND_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
OWN_ROOTS = ("src/", "tests/")
NOTE = "Sample data: every commit, run, log and figure of this project is invented, to show what sixty days look like."

NEW = f"operator new(unsigned long) {RUNTIME}/asan_new_delete.cpp:95"
MALLOC = f"__interceptor_malloc {RUNTIME}/asan_malloc_linux.cpp:69"
MAIN = ("main tests/run_all.cpp:31", *START)
SOURCES = tuple(f"src/{name}.cpp" for name in ("tensor", "pool", "plan", "reader", "tokenizer", "server", "main"))

# First day, last day (days ago, both included), what the lane did instead of an ordinary run.
INCIDENTS: dict[int, str] = {
    57: "cancelled_in_build", 51: "cancelled_unseen", 45: "test_failure", 44: "cancelled_in_build", 39: "cancelled_in_build",
    33: "build_failure", 27: "cancelled_unseen", 25: "zero_tests", 20: "use_after_free", 19: "use_after_free",
    16: "cancelled_in_build", 12: "blinded", 11: "blinded", 10: "blinded", 8: "timed_out", 6: "cancelled_in_build",
    5: "no_log", 3: "cancelled_in_build", 2: "cancelled_unseen",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Day:
    """What one lane did on one day: the CI's word, the exit code, the log (null: none arrived), the options."""

    days_ago: int
    lane: str
    conclusion: str
    exit_code: int | None
    log: bytes | None
    options: dict[str, str] = field(default_factory=dict)


def cache_leak() -> Record:
    """There from the start, mended 38 days ago."""
    return Record(
        4_096,
        1,
        (MALLOC, "engine::PlanCache::load(char const*) src/plan.cpp:118", "engine::warm_up() src/server.cpp:44", *MAIN),
    )


def queue_leak(days_ago: int) -> Record:
    """Came in 30 days ago and grows as more requests are served by the tests."""
    blocks = 8 + (30 - days_ago) // 3
    frames = (
        NEW,
        "engine::Request::clone() const src/server.cpp:203",
        "engine::Queue::retry(engine::Request&) src/server.cpp:240",
    )
    return Record(512 * blocks, blocks, (*frames, *MAIN))


def driver_leak() -> Record:
    library = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    return Record(1_216, 4, (MALLOC, *(f" ({library}+0x{0x2F4A0 + 0x310 * n:x})" for n in range(5))))


def leaks_on(days_ago: int) -> list[Record]:
    records = [driver_leak()] if days_ago % 7 == 0 else []
    if days_ago >= 38:
        records.append(cache_leak())
    if days_ago <= 30:
        records.append(queue_leak(days_ago))
    return records


def passed(days_ago: int) -> int:
    """The suite grows slowly."""
    return 240 + (DAYS - days_ago) // 4


def ordinary(days_ago: int) -> Day:
    records = leaks_on(days_ago)
    lines = [*doctest(passed(days_ago)), *(leak_report(4_000 + days_ago, records) if records else ())]
    red = 1 if records else 0
    return Day(days_ago, ADDRESS_LANE, "failure" if red else "success", red, text(lines), OPTIONS)


def cancelled_in_build(days_ago: int) -> Day:
    lines = [*building("engine", SOURCES, 20 + days_ago), "##[error]The operation was canceled."]
    return Day(days_ago, ADDRESS_LANE, "cancelled", None, text(lines))


def test_failure(days_ago: int) -> Day:
    return Day(days_ago, ADDRESS_LANE, "failure", 1, text(doctest(passed(days_ago) - 2, failed=2)), OPTIONS)


def build_failure(days_ago: int) -> Day:
    lines = [*building("engine", SOURCES, 57), "src/reader.cpp:88:14: error: 'span' is not a member of 'std'",
             "make[2]: *** [CMakeFiles/engine.dir/build.make:132: CMakeFiles/engine.dir/src/reader.cpp.o] Error 1"]  # fmt: skip
    return Day(days_ago, ADDRESS_LANE, "failure", 2, text(lines))


def zero_tests(days_ago: int) -> Day:
    return Day(days_ago, ADDRESS_LANE, "success", 0, text(doctest(0)), OPTIONS)


def blinded(days_ago: int) -> Day:
    return Day(days_ago, ADDRESS_LANE, "success", 0, text(doctest(passed(days_ago))), BLIND_OPTIONS)


def timed_out(days_ago: int) -> Day:
    lines = [
        *building("engine", SOURCES, 100),
        "##[error]The job running on runner ci-4 has exceeded the maximum execution time of 60 minutes.",
    ]
    return Day(days_ago, ADDRESS_LANE, "timed_out", None, text(lines), OPTIONS)


def read_after_free(days_ago: int) -> Day:
    access = (
        "engine::Session::send(char const*) src/server.cpp:151",
        "engine::Server::broadcast() src/server.cpp:177",
        *MAIN,
    )
    freed = (
        f"operator delete(void*) {RUNTIME}/asan_new_delete.cpp:152",
        "engine::Server::drop(engine::Session*) src/server.cpp:166",
        *MAIN,
    )
    lines = use_after_free(
        4_000 + days_ago, access, freed, (NEW, "engine::Server::accept(int) src/server.cpp:132", *MAIN)
    )
    return Day(days_ago, ADDRESS_LANE, "failure", 1, text(lines), OPTIONS)


def without_log(conclusion: str, days_ago: int) -> Day:
    return Day(days_ago, ADDRESS_LANE, conclusion, None, None)


def address_day(days_ago: int) -> Day:
    special = {
        "cancelled_in_build": cancelled_in_build, "test_failure": test_failure, "build_failure": build_failure,
        "zero_tests": zero_tests, "blinded": blinded, "timed_out": timed_out, "use_after_free": read_after_free,
        "cancelled_unseen": lambda day: without_log("cancelled", day), "no_log": lambda day: without_log("success", day),
    }  # fmt: skip
    return special.get(INCIDENTS.get(days_ago, ""), ordinary)(days_ago)


def undefined_day(days_ago: int) -> Day:
    """UBSan prints and exits 0: for two weeks the lane was green with a finding in its log."""
    lines = list(doctest(passed(days_ago)))
    if 14 <= days_ago <= 28:
        lines.insert(
            0, "src/tokenizer.cpp:77:21: runtime error: shift exponent 33 is too large for 32-bit type 'unsigned int'"
        )
    return Day(days_ago, UNDEFINED_LANE, "success", 0, text(lines), {"UBSAN_OPTIONS": "print_stacktrace=0"})


def days() -> Iterator[Day]:
    """Oldest first."""
    for days_ago in range(DAYS - 1, -1, -1):
        yield address_day(days_ago)
        if days_ago % 2 == 0:
            yield undefined_day(days_ago)
