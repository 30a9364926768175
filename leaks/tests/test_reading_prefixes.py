"""Prefixes of CI systems and tools: what is one, what only looks like one, and which stream a line belongs to."""

import pytest

from leaks.parsing.prefixes import PREFIXES, Prefixes, unstamped

FRAME = "    #0 0x55b2e83ec460 in net::poll src/asan.cpp:11"

PREFIXED = [
    ("2026-03-14T09:26:53.1234567Z ", ()),
    ("2026-03-14T09:26:53.123456Z 00O ", ()),
    ("2026-03-14T09:26:53.123456Z 01E+", ()),
    ("[2026-03-14T09:26:53.123Z] ", ()),
    ("04:21:10 ", ()),
    ("12: ", ("ctest:12",)),
    ("[gw2] [ 10%] ", ("xdist:gw2",)),
    ("[1,0]<stderr>:", ("mpi:1,0",)),
    ("[prte-node-4711@1,0]<stderr>: ", ("mpi:1,0",)),
    ("[pod/api-7d9/server] ", ("kubectl:pod/api-7d9/server",)),
    ("service-1  | ", ("compose:service-1",)),
    ("service_1  | ", ("compose:service_1",)),
    ("[db] | ", ("podman:db",)),
    ("Mar 14 09:26:53 host relayd[812]: ", ("syslog:relayd[812]",)),
    ("[   24.743678] ", ()),
    ("[   24.743678][  T123] ", ()),
    ("[   24.743678] c4   8262 ", ()),
    ("03-14 08:47:15.118 I/wrap.sh ( 6120): ", ("logcat brief:6120",)),
    ("03-14 08:47:15.118  6120  6177 I wrap.sh: ", ("logcat threadtime:6120",)),
    ("2026-04-02 17:33:08.140 21904-21904 com.example  com.example  I  ", ("logcat long:21904",)),
    ("[  DEATH   ] ", ("death test",)),
    ("tests/tmp/server.3/stderr:", ()),
    ("[asan] ", ("branch:asan",)),
    ("[0] ", ("branch:0",)),
    ("2026-03-14T09:26:53.1234567Z 12: ", ("ctest:12",)),
    ("04:21:10 [asan] ", ("branch:asan",)),
    ("[1,0]<stderr>:12: ", ("mpi:1,0", "ctest:12")),
    ("2026-03-14 09:26:53.123456+0100 xctest[6502:182499] ", ("unified log:6502",)),
    ("2026-03-14 09:26:53.123456 | node-1 | ", ("zuul:node-1",)),
    ("2026-03-14 09:26:53.123456 | ", ("zuul",)),
    ("2026-03-14T09:26:53.123456+00:00 host relayd[812]: ", ("syslog:relayd[812]",)),
    ("Mar 14 09:26:53.123456 host relayd[812]: ", ("syslog:relayd[812]",)),
    ("Mar 14 09:26:53 ", ()),
    ("2026-03-14 09:26:53,123 ", ()),
    ("[2026/03/14 09:26:53.123] ", ()),
    ("2026-03-14T09:26:53.123456 ", ()),
    ("[task 2026-03-14T09:26:53.123Z] 09:26:53     INFO - BROWSER(2131) | ", ("named:BROWSER(2131)",)),
    ("[09:26:53][Step 1/3] ", ()),
    ("[09:26:53]W:\t [Step 1/3] ", ()),
    ("[00:01:23] ", ()),
    ("error\t14-Mar-2026 09:26:53\t", ()),
    ("asan (gcc)\tRun tests\t2026-03-14T09:26:53.1234567Z ", ("gh:asan (gcc)",)),
    ("asan (gcc)\tRun tests\t\ufeff2026-03-14T09:26:53.1234567Z ", ("gh:asan (gcc)",)),
    ("#12 34.56 ", ("buildkit:12",)),
    ("server # [    4.123456] relayd[12]: ", ("nixos:server",)),
    ("relay  | ", ("named:relay",)),
    ("relay> ", ("named:relay",)),
    ("relay_tests\t", ("named:relay_tests",)),
    ("[tests:12] ", ("branch:tests:12",)),
    ("web-1  | 2026-03-14T09:26:53.1234567Z [gw0] ", ("compose:web-1", "xdist:gw0")),
]


@pytest.mark.parametrize(("prefix", "keys"), PREFIXED)
def test_a_prefix_is_stripped_and_its_key_kept(prefix, keys):
    assert Prefixes().strip(prefix + FRAME) == (FRAME, keys)


@pytest.mark.parametrize("prefix", [prefix for prefix, _ in PREFIXED if not prefix.startswith("tests/")])
def test_a_blank_line_has_its_prefix_too(prefix):
    strip = Prefixes().strip
    strip(prefix + FRAME)
    assert strip(prefix)[0].strip() == ""


def test_every_row_of_the_table_has_an_example():
    shown = {key.partition(":")[0] for _, keys in PREFIXED for key in keys}
    keyed = {prefix.name for prefix in PREFIXES if "key" in prefix.pattern.groupindex}
    assert keyed <= shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        FRAME,
        "==13346==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040",
        "[==========] Running 3 tests from 1 test suite.",
        "[ RUN      ] Session.Close",
        "[  PASSED  ] 3 tests.",
        "[----------] 1 test from Session",
        "[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped",
        "[ 31%] Building CXX object relay.cpp.o",
        "[212/480] Linking CXX executable relay_tests",
        "[Pipeline] stage",
        "[ERROR] something else",
        "src/calc.cpp:8:64: runtime error: signed integer overflow: 1 + 1",
        "src/calc.cpp:12: error: expected ';'",
        "    12: indented",
        "1234567890: too long for a test number",
        "12:34 half a clock",
        "Total Test time (real) =   0.12 sec",
        "Direct leak of 72 byte(s) in 1 object(s) allocated from:",
        "SUMMARY: AddressSanitizer: 72 byte(s) leaked in 1 allocation(s).",
        "| cell-1 | of a table |",
        "##[group]Run tests",
        "name | of a | table",
        "relay> All tests passed",
        "#12 [build 3/4] RUN make test",
        "[1/3] Session.Close (0 ms)",
        "make\ttest\tclean",
        "Mar 14 is a day",
    ],
)
def test_what_only_looks_like_a_prefix_stays(text):
    assert Prefixes().strip(text) == (text, ())


RANK = "[1,0]<stderr>:"


def test_of_the_blanks_behind_an_mpi_rank_one_may_be_its_own():
    first, second = Prefixes(), Prefixes()
    assert first.strip(RANK + " [  PASSED  ] 3 tests.") == ("[  PASSED  ] 3 tests.", ("mpi:1,0",))
    assert second.strip(RANK + FRAME) == (FRAME, ("mpi:1,0",))


def test_a_name_in_brackets_counts_once_a_report_stood_behind_it():
    strip = Prefixes().strip
    assert strip("[asan] All tests passed")[1] == ()
    strip("[asan] ==15244==ERROR: LeakSanitizer: detected memory leaks")
    assert strip("[asan] All tests passed") == ("All tests passed", ("branch:asan",))
    assert strip("[other] All tests passed")[1] == ()


def test_jenkins_names_its_branches_beforehand():
    strip = Prefixes().strip
    strip("04:21:10 [Pipeline] { (Branch: tsan)")
    assert strip("04:21:10 [tsan] Tests: 9 passed") == ("Tests: 9 passed", ("branch:tsan",))


def test_a_prefix_that_repeats_is_not_taken_for_another_test():
    strip = Prefixes().strip
    assert strip("1: a") == ("a", ("ctest:1",))
    assert strip("1: 2: a") == ("a", ("ctest:1", "ctest:2"))
    assert strip("12: a") == ("a", ("ctest:12",))


class TestStampsOfWholeBatches:
    STAMP = b"2026-03-14T09:26:53.1234567Z "

    def test_go_together(self):
        assert unstamped(b"".join(self.STAMP + line + b"\n" for line in (b"a", b"", b"c"))) == b"a\n\nc\n"

    def test_stay_away_from_lines_that_have_none(self):
        assert unstamped(self.STAMP + b"a\nbare\n" + self.STAMP + b"c\n" + self.STAMP) == b"a\nbare\nc\n"

    def test_are_looked_for_only_if_the_first_line_has_one(self):
        data = b"bare\n" + self.STAMP + b"b\n"
        assert unstamped(data) == data


def test_a_name_stays_a_prefix_whatever_stands_between():
    bare = Prefixes().strip
    assert bare("[relay] ready") == ("[relay] ready", ())
    bare("[relay] ==7==ERROR: AddressSanitizer: SEGV")
    bare("12: ready")
    assert bare("[relay] ready") == ("ready", ("branch:relay",))
    assert bare("12: [relay] ready") == ("ready", ("ctest:12", "branch:relay"))
