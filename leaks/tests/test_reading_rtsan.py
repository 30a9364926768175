"""RealtimeSanitizer, its siblings of the same layout, and libFuzzer."""

import os
import shutil
import subprocess

import pytest

from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.names import qualified

STACK = "    #0 0x55b2e83ec460 in malloc /llvm/compiler-rt/lib/rtsan/rtsan_interceptors.cpp:814:3\n    #1 0x55b2e83ecf93 in render src/a.cpp:31:5\n\n"


def log(*parts):
    return read(["".join(parts).encode()])


def only(*parts):
    (report,) = log(*parts).reports
    return report


def own_name(report):
    frame = Ownership().own_frame(report)
    assert frame is not None
    return qualified(frame.function or "")


@pytest.mark.parametrize(
    ("line", "tool", "kind", "pid"),
    [
        ("==9==ERROR: RealtimeSanitizer: unsafe-library-call", "rtsan", "unsafe-library-call", 9),
        ("==9==ERROR: RealtimeSanitizer: blocking-call", "rtsan", "blocking-call", 9),
        ("Real-time violation: intercepted call to real-time unsafe function `malloc` in real-time context!", "rtsan", "unsafe-library-call", None),
        ("==9==ERROR: TypeSanitizer: type-aliasing-violation on address 0x7ffc (pc 0x55 tid 9)", "tysan", "type-aliasing-violation", 9),
        ("WARNING: NumericalStabilitySanitizer: inconsistent shadow results while checking store", "nsan", "unrecognised", None),
        ("==9==ERROR: DataFlowSanitizer: SEGV on unknown address 0x0 (pc 0x1)", "dfsan", "SEGV", 9),
        ("==9== ERROR: libFuzzer: deadly signal", "libfuzzer", "deadly-signal", 9),
        ("==9== ERROR: libFuzzer: timeout after 25 seconds", "libfuzzer", "timeout", 9),
        ("==9== ERROR: libFuzzer: out-of-memory (used: 2049Mb; limit: 2048Mb)", "libfuzzer", "out-of-memory", 9),
        ("==9== ERROR: libFuzzer: fuzz target exited", "libfuzzer", "fuzz-target-exited", 9),
        ("==9== ERROR: libFuzzer: something new", "libfuzzer", "unrecognised", 9),
    ],
)  # fmt: skip
def test_a_banner_is_a_report_with_its_stack(line, tool, kind, pid):
    report = only(line + "\n", STACK)
    assert (report.tool, report.kind, report.pid, len(report.frames)) == (tool, kind, pid, 2)
    assert own_name(report) == "render"


@pytest.mark.parametrize(
    "line",
    [
        "RealtimeSanitizer: CHECK failed: rtsan.cpp:1",
        "==9==ERROR: RealtimeSanitizer: CHECK failed",
        "==9==RealtimeSanitizer exit stats:",
        "==9==WARNING: DataFlowSanitizer: failed to intercept memcpy",
        '+ grep "ERROR: libFuzzer: deadly signal" log',
        "INFO: libFuzzer disabled leak detection after every mutation.",
        "SUMMARY: libFuzzer: deadly signal",
        "MemProfiler: dumped profile",
        "libFuzzer: deadly signal",
    ],
)
def test_what_only_looks_like_one_is_no_report(line):
    assert log(line + "\n", STACK).reports == ()


def test_the_sentence_below_the_banner_belongs_to_the_report():
    sentence = "Intercepted call to real-time unsafe function `malloc` in real-time context!\n"
    end = "SUMMARY: RealtimeSanitizer: unsafe-library-call src/a.cpp:31:5 in render\n"
    evidence = log("==9==ERROR: RealtimeSanitizer: unsafe-library-call\n", sentence, STACK, end)
    assert not evidence.reports[0].truncated
    assert evidence.facts.ends_in_block is None


def test_violations_of_one_place_are_folded():
    banner = "==9==ERROR: RealtimeSanitizer: unsafe-library-call\n"
    end = "SUMMARY: RealtimeSanitizer: unsafe-library-call src/a.cpp:31:5 in render\n"
    assert only(*[banner, STACK, end] * 3).count == 3


@pytest.mark.parametrize(
    ("end", "truncated"), [("SUMMARY: libFuzzer: deadly signal\n", False), ("", True), ("==8==ABORTING\n", True)]
)
def test_a_fuzzer_s_report_ends_with_its_summary(end, truncated):
    assert only("==9== ERROR: libFuzzer: deadly signal\n", STACK, end).truncated is truncated


def test_a_tool_without_summaries_is_not_cut_off():
    line = "==9==ERROR: TypeSanitizer: type-aliasing-violation on address 0x7ffc (pc 0x55 bp 0x7f sp 0x7f tid 9)\n"
    evidence = log(line, "READ of size 4 at 0x7ffc with type float accesses an existing object of type int\n", STACK)
    assert not evidence.reports[0].truncated
    assert evidence.facts.ends_in_block is None


TARGET = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static const char* fault = getenv("FAULT");
__attribute__((noinline)) int parse(const uint8_t* data, size_t size) {
  if (!size) return 0;
  if (fault[0] == 'a') abort();
  if (fault[0] == 't') while (true) asm volatile("");
  if (fault[0] == 'm') { void* volatile p = malloc(600u << 20); memset(p, 1, 600u << 20); }
  return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return parse(data, size); }
"""


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory):
    clang = shutil.which("clang++")
    if clang is None:
        pytest.skip("clang++ is not installed")
    folder = tmp_path_factory.mktemp("fuzzer")
    (folder / "f.cpp").write_text(TARGET)
    flags = ["-g", "-O1", "-fsanitize=fuzzer,address"]
    if subprocess.run([clang, *flags, "f.cpp", "-o", "f"], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("this clang++ has no libFuzzer")
    return folder / "f"


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("fault", "kind", "code"), [("a", "deadly-signal", 77), ("t", "timeout", 70), ("m", "out-of-memory", 71)]
)
def test_a_real_fuzzer_is_read(fuzzer, fault, kind, code):
    memory = 0 if fault == "t" else 400  # on a busy machine the check of memory may come before that of time
    run = subprocess.run(
        [fuzzer, "-runs=100", "-timeout=1", f"-rss_limit_mb={memory}"],
        cwd=fuzzer.parent,
        env={"PATH": os.environ["PATH"], "FAULT": fault},
        capture_output=True,
        timeout=60,
        check=False,
    )
    (report,) = read([run.stderr]).reports
    assert (report.kind, report.truncated, run.returncode) == (kind, False, code)
    assert own_name(report) == "parse"
