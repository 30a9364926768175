"""What an exit code can mean, as data: one row a meaning. A row that names who says it comes before the rows that name nobody.

Upstream: `exitcode` of the sanitizers' flags (ASan 1, LSan 23, TSan 66, MSan 77 until 2016), libFuzzer's `error_exitcode` and its fellows,
the manuals of timeout(1), of Bash ("Exit status"), of pytest, CTest, Bazel, Automake and Cargo. Signals have 128 and their number.
"""

from collections.abc import Collection
from typing import NamedTuple

ANYBODY: tuple[str, ...] = ()


class Meaning(NamedTuple):
    """`who`: words of tools and runners, one of which the log must have shown; nobody where the code speaks for itself."""

    code: int
    who: tuple[str, ...]
    means: str


def _signal(number: int, name: str, note: str) -> Meaning:
    return Meaning(128 + number, ANYBODY, f"the process died by {name}: {note}")


SKIPPERS = ("automake", "meson", "ctest", "tap")
# fmt: off
MEANINGS: tuple[Meaning, ...] = (
    Meaning(2, ("pytest", "pytest-xdist"), "pytest was interrupted"),
    Meaning(3, ("pytest", "pytest-xdist"), "pytest failed internally"),
    Meaning(3, ("bazel",), "Bazel built everything, and a test failed"),
    Meaning(4, ("pytest", "pytest-xdist"), "pytest was called wrongly"),
    Meaning(4, ("bazel",), "Bazel found no test to run"),
    Meaning(5, ("pytest", "pytest-xdist"), "pytest collected no test"),
    Meaning(8, ("ctest",), "CTest says that a test failed, or that there was none"),
    Meaning(8, ("bazel",), "Bazel was interrupted"),
    Meaning(23, ("lsan", "LSAN_OPTIONS"), "LeakSanitizer, which stands alone here, found leaks"),
    Meaning(66, ("tsan", "go-race", "TSAN_OPTIONS", "GORACE"), "ThreadSanitizer reported something, or could not start"),
    Meaning(77, ("msan", "MSAN_OPTIONS"), "MemorySanitizer, old or told so, reported something; a runner around it may count that as skipped"),
    Meaning(77, SKIPPERS, "the test says that it was skipped: a runner counts 77 as no failure, whatever a sanitizer ended with it"),
    Meaning(99, SKIPPERS, "a hard error: the test could not be set up"),
    Meaning(101, ("cargo test",), "a test of cargo failed"),
    Meaning(1, ANYBODY, "a failed test, an AddressSanitizer report, a leak, a leak check that could not run or a suppression file that cannot "
                        "be read: all of them end with 1, so only the text tells which"),
    Meaning(2, ANYBODY, "a command was called wrongly, or make stopped at an error"),
    Meaning(8, ANYBODY, "CTest's code for a failed test"),
    Meaning(23, ANYBODY, "LeakSanitizer's code for leaks where it stands alone"),
    Meaning(66, ANYBODY, "ThreadSanitizer's code for a report or a start that failed"),
    Meaning(70, ANYBODY, "libFuzzer's code for an input that took too long"),
    Meaning(71, ANYBODY, "libFuzzer's code for an input that took too much memory"),
    Meaning(77, ANYBODY, "libFuzzer's code for a crash, an old MemorySanitizer's for a report, and a skipped test's of Automake, Meson and CTest"),
    Meaning(99, ANYBODY, "a hard error of a test under Automake or Meson"),
    Meaning(101, ANYBODY, "a Rust program panicked"),
    Meaning(124, ANYBODY, "timeout(1) ended the command at its time limit"),
    Meaning(125, ANYBODY, "the program that should start the command failed itself (timeout, docker, env), so the command never ran"),
    Meaning(126, ANYBODY, "the command was found and cannot be executed, so it never ran"),
    Meaning(127, ANYBODY, "the command, or a library it needs, was not found, so it never ran"),
    Meaning(128, ANYBODY, "a fatal error of Git, or an exit code that is none"),
    _signal(1, "SIGHUP", "its terminal or session ended"),
    _signal(2, "SIGINT", "somebody interrupted it"),
    _signal(3, "SIGQUIT", "somebody told it to quit, as Go's test time limit does"),
    _signal(4, "SIGILL", "an illegal instruction, which -fsanitize-trap uses on x86 instead of a report"),
    _signal(5, "SIGTRAP", "a trap, which -fsanitize-trap uses on arm64 instead of a report"),
    _signal(6, "SIGABRT", "an assertion, an uncaught exception, or a sanitizer with abort_on_error=1"),
    _signal(7, "SIGBUS", "an access to memory that is not there"),
    _signal(8, "SIGFPE", "an arithmetic error such as a division by zero"),
    _signal(9, "SIGKILL", "killed from outside, most often for want of memory"),
    _signal(10, "SIGUSR1 or, on macOS, SIGBUS", "a signal it did not expect"),
    _signal(11, "SIGSEGV", "an access to memory it may not touch"),
    _signal(13, "SIGPIPE", "whoever read its output stopped reading, as `grep -q` does under pipefail"),
    _signal(15, "SIGTERM", "told from outside to end"),
    _signal(24, "SIGXCPU", "it used more time than its limit allows"),
    _signal(25, "SIGXFSZ", "it wrote more than its limit allows"),
    _signal(31, "SIGSYS", "a system call that it may not make"),
    Meaning(255, ANYBODY, "an error without a number: a program that returned -1, ssh that lost its connection, or 255 failures and more"),
    Meaning(0x80000003, ANYBODY, "the process died at a breakpoint (Windows)"),
    Meaning(0xC0000005, ANYBODY, "the process died by an access violation (Windows)"),
    Meaning(0xC000001D, ANYBODY, "the process died by an illegal instruction (Windows)"),
    Meaning(0xC0000094, ANYBODY, "the process died by a division by zero (Windows)"),
    Meaning(0xC00000FD, ANYBODY, "the process died by a stack overflow (Windows)"),
    Meaning(0xC0000135, ANYBODY, "a library that the command needs was not found, so it never ran (Windows)"),
    Meaning(0xC000013A, ANYBODY, "somebody interrupted it (Windows)"),
    Meaning(0xC0000374, ANYBODY, "the process died by a corrupted heap (Windows)"),
    Meaning(0xC0000409, ANYBODY, "the process ended itself at once, as abort() does (Windows)"),
)
# fmt: on
DEATHS_ON_WINDOWS = frozenset({0x80000003, 0xC0000005, 0xC000001D, 0xC0000094, 0xC00000FD, 0xC0000374, 0xC0000409})
LAST_SIGNAL = 64
SIGNALS = frozenset({*(row.code for row in MEANINGS if 128 < row.code <= 128 + LAST_SIGNAL), *DEATHS_ON_WINDOWS})


def plain(code: int) -> int:
    """One number for one ending: Python and some wrappers print a death by signal as its negative number, and Windows' codes have
    32 bits with or without a sign.
    """
    if -LAST_SIGNAL <= code < 0:
        return 128 - code
    return code % 2**32 if code < 0 else code


def meaning(code: int, seen: Collection[str] = ()) -> str:
    """What the code says where the log showed those words of tools and runners; "" where it says nothing."""
    rows = [row for row in MEANINGS if row.code == code and (not row.who or any(word in seen for word in row.who))]
    return rows[0].means if rows else ""
