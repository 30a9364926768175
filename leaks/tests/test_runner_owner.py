"""Which test a report belongs to: for each runner the lines that tell, in front of a report of a whole log."""

import pytest

from leaks.parsing.dispatch import read

REPORT = """==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x55d0 bp 0x7ffc sp 0x7ffc
READ of size 4 at 0x602000000010 thread T0
    #0 0x55d0 in codec::Frame::read() /src/codec/frame.cpp:12:9
    #1 0x55d1 in main /src/codec/main.cpp:3:1

SUMMARY: AddressSanitizer: heap-use-after-free /src/codec/frame.cpp:12:9 in codec::Frame::read()
"""
FENCE = "=" * 20
OWNERS = {
    "ctest": ("1/2 Test #1: codec ...........***Failed    0.12 sec\n", "codec"),
    "gtest": ("[ RUN      ] Codec.Opens\n", "Codec.Opens"),
    "doctest": ("TEST CASE:  opens a codec\n", "opens a codec"),
    "pytest": ("tests/test_codec.py::test_opens[x-1] ", "tests/test_codec.py::test_opens[x-1]"),
    "cargo": ("running 2 tests\ntest codec::opens ... ", "codec::opens"),
    "cargo's output": (
        "running 1 test\ntest codec::opens ... FAILED\n\nfailures:\n\n---- codec::opens stdout ----\n",
        "codec::opens",
    ),
    "go": ("=== RUN   TestOpens\n", "TestOpens"),
    "meson": ("1/2 codec / opens        FAIL            0.41s   exit status 1\n>>> /b/opens\n", "codec / opens"),
    "meson -v": ("1/2 codec / opens        RUNNING\n>>> /b/opens\n", "codec / opens"),
    "testlog": (f"{FENCE} 1/2 {FENCE}\ntest:         opens\n", "opens"),
    "bazel": (f"{FENCE} Test output for //codec:opens_test:\n", "//codec:opens_test"),
    "gtest in bazel": (f"{FENCE} Test output for //codec:opens_test:\n[ RUN      ] Codec.Opens\n", "Codec.Opens"),
    "automake": ("   codec 1.0: ./test-suite.log\n\nFAIL: opens.sh\n===============\n\n", "opens.sh"),
    "node:test": ("TAP version 13\n# Subtest: suite\n    # Subtest: opens\n", "opens"),
    "xctest": ("Test Case '-[CodecTests testOpens]' started.\n", "-[CodecTests testOpens]"),
    "boost": ('Running 2 test cases...\na.cpp(1): Entering test case "opens"\n', "opens"),
    "nobody": ("All 3 tests passed\n", None),
    "a test that has ended": ("[ RUN      ] Codec.Opens\n[       OK ] Codec.Opens (0 ms)\n", None),
    "a fence that was closed": (f"{FENCE} Test output for //codec:opens_test:\n{'=' * 80}\n", None),
}


@pytest.mark.parametrize(("before", "owner"), OWNERS.values(), ids=OWNERS)
@pytest.mark.parametrize("fast", [True, False])
def test_the_test_that_runs_owns_the_report(before, owner, fast):
    (report,) = read([(before + REPORT).encode()], fast=fast).reports
    assert report.test == owner


def test_the_number_in_front_of_each_line_names_the_test_that_ctest_started():
    numbered = "".join(f"12: {line}\n" for line in REPORT.splitlines())
    (report,) = read([f"test 12\n      Start 12: opens\n\n12: Test command: /b/opens\n{numbered}".encode()]).reports
    assert report.test == "opens"


def test_a_runner_inside_a_test_of_ctest_is_nearer():
    text = "      Start 12: codec\n12: [ RUN      ] Codec.Opens\n" + "".join(
        f"12: {line}\n" for line in REPORT.splitlines()
    )
    (report,) = read([text.encode()]).reports
    assert report.test == "Codec.Opens"
