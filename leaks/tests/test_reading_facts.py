"""What a log proves besides its reports: tests, options, marks, detectors, and how it ends."""

import gzip
from pkgutil import iter_modules

import pytest
import zstandard

from leaks.errors import Unreadable
from leaks.evidence import Evidence
from leaks.parsing import dispatch, runners, tools
from leaks.parsing.dispatch import read, read_path
from leaks.parsing.lines import Limits
from leaks.words import Detector, MarkKind

RECORD = b"Direct leak of 8 byte(s) in 1 object(s) allocated from:\n    #0 0x55b2e83ec460 in f%d a.c:%d\n\n"
BANNER = b"==7==ERROR: LeakSanitizer: detected memory leaks\n\n"


def facts(text, **options):
    return read([text.encode()], **options).facts


def test_nothing_proves_nothing():
    evidence = read([])
    assert evidence == Evidence()


def test_lines_and_bytes_are_counted():
    assert (facts("a\nb\nc").lines, facts("a\nb\nc").bytes) == (3, 5)
    assert facts("a\nb\n").lines == 2


def test_the_last_line_is_the_last_that_is_not_blank():
    last = facts("one\n12: two  \n\n   \n").last_line
    assert (last.number, last.text) == (2, "two")
    assert facts("\n\n").last_line is None


def test_the_outermost_runner_speaks_for_the_log():
    text = "1: [==========] 3 tests from 1 test suite ran.\n1: [  PASSED  ] 3 tests.\n100% tests passed, 0 tests failed out of 1\n"
    found = facts(text)
    assert (found.tests.runner, found.tests.total) == ("ctest", 1)
    assert [summary.runner for summary in found.inner_tests] == ["gtest"]


def test_summaries_of_one_level_are_added_up():
    summary = "[doctest] test cases: 3 | 2 passed | 1 failed | 0 skipped\n[doctest] Status: FAILURE!\n"
    found = facts(summary + summary).tests
    assert (found.total, found.passed, found.failed) == (6, 4, 2)


def test_options_come_from_the_log_and_from_outside():
    found = facts("+ ASAN_OPTIONS=detect_leaks=0 ./relay_tests\n", env={"UBSAN_OPTIONS": "print_stacktrace=1"})
    assert found.options["ASAN_OPTIONS"]["detect_leaks"] == "0"
    assert found.options["UBSAN_OPTIONS"]["print_stacktrace"] == "1"
    assert set(found.detectors) == {Detector.ADDRESS, Detector.UNDEFINED}


def test_compile_lines_tell_the_detectors():
    assert facts("g++ -fsanitize=thread -c src/a.cpp -o a.o\n").detectors == (Detector.THREAD,)


def test_a_test_that_never_ended_is_where_the_log_ends():
    assert facts("[ RUN      ] Session.Close\n").ends_in_test.number == 1


def test_marks_stand_in_the_order_of_their_lines():
    text = "==9==LeakSanitizer has encountered a fatal error.\n##[error]The operation was canceled.\n"
    found = facts(text).marks
    assert [mark.number for mark in found] == sorted(mark.number for mark in found)
    assert {MarkKind.DETECTOR_FAILED, MarkKind.CANCELLED} <= {mark.kind for mark in found}


def test_every_tool_and_every_runner_has_its_row():
    assert {module.name for module in iter_modules(runners.__path__)} == {
        m.__name__.rpartition(".")[2] for m in dispatch.RUNNERS
    }
    opened = {tool.opens.__module__.rpartition(".")[2] for tool in dispatch.TOOLS}
    assert {module.name for module in iter_modules(tools.__path__)} == opened
    assert dispatch.TOOLS[-1].opens.__module__.endswith("unrecognised")


class TestBounds:
    def test_reports_past_the_bound_are_counted_and_not_kept(self):
        text = BANNER + b"".join(RECORD % (n, n + 1) for n in range(30))
        evidence = read([text], limits=Limits(reports=10))
        assert len(evidence.reports) == 10
        assert evidence.facts.findings == 30
        assert [mark.value for mark in evidence.facts.marks] == ["reports"]

    def test_the_bound_is_on_distinct_reports(self):
        text = BANNER + (RECORD % (1, 1)) * 30
        assert read([text], limits=Limits(reports=1)).facts.marks == ()

    def test_bytes_past_the_bound_are_a_mark_and_what_was_read_stays(self):
        text = BANNER + b"".join(RECORD % (n, n + 1) for n in range(30))
        evidence = read([text], limits=Limits(bytes=600))
        assert [mark.value for mark in evidence.facts.marks] == ["bytes"]
        assert len(evidence.reports) > 3
        assert evidence.facts.bytes == 600
        assert evidence.facts.ends_in_block

    def test_an_endless_log_ends(self):
        def endless():
            while True:
                yield b"line\n" * 10_000

        assert read(endless(), limits=Limits(bytes=1_000_000)).facts.bytes == 1_000_000

    def test_a_line_past_the_bound_is_a_mark_and_is_read(self):
        text = (
            b"one\n"
            + b"x" * 2_000_000
            + b"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040\n"
        )
        evidence = read([text])
        assert [(mark.kind, mark.number, mark.value) for mark in evidence.facts.marks] == [
            (MarkKind.BOUND, 2, "line_length")
        ]
        assert [(report.line, report.pid) for report in evidence.reports] == [(2, 7)]

    def test_a_stack_of_any_depth_is_kept_to_a_bound(self):
        text = "==7==ERROR: AddressSanitizer: stack-overflow on address 0x7ffe\n" + "".join(
            f"    #{n} 0x1 in f{n} a.c:1\n" for n in range(9000)
        )
        (report,) = read([text.encode()]).reports
        assert 4000 < len(report.frames) < 9000


class TestFiles:
    TEXT = BANNER + RECORD % (1, 1)

    @pytest.mark.parametrize("packed", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
    def test_a_file_is_read_packed_or_not(self, packed, tmp_path):
        path = tmp_path / "a.log"
        path.write_bytes(packed(self.TEXT))
        assert read_path(path) == read([self.TEXT])

    @pytest.mark.parametrize("packed", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
    def test_what_claims_to_be_packed_and_is_not_is_refused(self, packed, tmp_path):
        path = tmp_path / "a.log"
        path.write_bytes(packed(self.TEXT * 50)[:40] + b"nonsense" * 10)
        with pytest.raises(Unreadable):
            read_path(path)

    def test_a_file_that_is_not_there_is_refused(self, tmp_path):
        with pytest.raises(Unreadable, match="cannot be read"):
            read_path(tmp_path / "none.log")
        with pytest.raises(Unreadable):
            read_path(tmp_path)

    def test_the_bound_on_bytes_counts_what_comes_out(self, tmp_path):
        path = tmp_path / "a.log.gz"
        path.write_bytes(gzip.compress(b"line\n" * 100_000))
        assert read_path(path, limits=Limits(bytes=1000)).facts.bytes == 1000
