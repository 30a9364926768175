"""LeakSanitizer: records, leak checks and their sums, suppressions, and how a check may break off."""

from dataclasses import FrozenInstanceError, replace
from textwrap import dedent

import pytest

from leaks.evidence import Report
from leaks.parsing.dispatch import read
from leaks.parsing.frames import understood
from leaks.parsing.tools.lsan import Leak
from leaks.rows.facts import SuppressionHit, Totals
from leaks.words import Detector, MarkKind


def reading(text):
    return read([dedent(text).strip("\n").encode() + b"\n"])


def record(size, objects=1, kind="Direct", frames=("in malloc a.c:1", "in grow src/pool.c:9")):
    lines = [f"    #{n} 0x55b2e83ec46{n} {frame}" for n, frame in enumerate(frames)]
    return "\n".join([f"{kind} leak of {size} byte(s) in {objects} object(s) allocated from:", *lines, "", ""])


def check(pid, *records, size=None, objects=None, tool="AddressSanitizer"):
    text = f"=================================================================\n=={pid}==ERROR: LeakSanitizer: detected memory leaks\n\n"
    text += "".join(records)
    return text + (f"SUMMARY: {tool}: {size} byte(s) leaked in {objects} allocation(s).\n" if size is not None else "")


def log(*parts):
    return read(["".join(parts).encode()])


class TestRecords:
    def test_a_record_has_its_kind_size_and_stack(self):
        (report,) = log(check(7, record(72, 3, "Indirect"), size=72, objects=3)).reports
        assert (report.tool, report.kind, report.bytes, report.objects, report.pid) == (
            "lsan",
            "indirect-leak",
            72,
            3,
            7,
        )
        assert report.line == 4
        assert report.headline == "Indirect leak of 72 byte(s) in 3 object(s) allocated from:"
        assert [frame.function for frame in report.frames] == ["malloc", "grow"]

    def test_the_same_stack_is_one_report_whatever_it_weighs(self):
        evidence = log(check(7, record(72, 3), record(8), record(8, 1, "Indirect"), size=88, objects=5))
        assert [(r.kind, r.bytes, r.objects, r.count) for r in evidence.reports] == [
            ("direct-leak", 80, 4, 2),
            ("indirect-leak", 8, 1, 1),
        ]
        assert evidence.facts.findings == 3

    def test_another_stack_is_another_report(self):
        other = record(8, frames=("in malloc a.c:1", "in grow src/pool.c:10"))
        assert len(log(check(7, record(8), other, size=16, objects=2)).reports) == 2

    def test_a_record_without_a_stack_is_one(self):
        (report,) = log(check(7, record(8, frames=()), size=8, objects=1)).reports
        assert report.frames == ()

    def test_records_need_no_blank_lines_between_them(self):
        # journald drops them
        text = check(
            7, record(8), record(16, frames=("in malloc a.c:1", "in other b.c:2", "in main m.c:1")), size=24, objects=2
        )
        evidence = log(text.replace("\n\n", "\n"))
        assert [len(report.frames) for report in evidence.reports] == [2, 3]
        assert evidence.facts.totals.reconciled

    @pytest.mark.parametrize(
        "noise",
        [
            "addr2line: DWARF error: invalid or unhandled FORM value: 0x23",
            "==7==WARNING: Can't read from symbolizer at fd 7",
            "[srv] request served in 3 ms",
            "",
            "\n\n[srv] binary blob\n\n",
        ],
    )
    def test_foreign_lines_do_not_end_a_stack(self, noise):
        text = check(7, record(8, frames=("in malloc a.c:1", "in grow b.c:2", "in main m.c:1")), size=8, objects=1)
        (report,) = log(text.replace("    #2", f"{noise}\n    #2")).reports
        assert [frame.function for frame in report.frames] == ["malloc", "grow", "main"]

    @pytest.mark.parametrize(
        "line",
        [
            "Direct leak of memory in the old allocator",
            "Direct leak of 72 byte(s)",
            "direct leak of 72 byte(s) in 1 object(s) allocated from:",
            "Direct leak of many byte(s) in 1 object(s) allocated from:",
            "0 byte(s) leaked in 0 allocation(s).",
            "LeakSanitizer: all fine",
        ],
    )
    def test_what_only_speaks_of_leaks_is_none(self, line):
        evidence = log(line + "\n")
        assert evidence.reports == ()
        assert evidence.facts.totals is None

    def test_a_record_whose_banner_was_cut_off_still_counts(self):
        evidence = log(record(8), "SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).\n")
        assert [(r.bytes, r.pid) for r in evidence.reports] == [(8, None)]
        assert evidence.facts.totals == Totals(8, 1, 8, 1, reconciled=True)


class TestSums:
    def test_the_last_complete_check_of_a_process_counts(self):
        evidence = log(check(7, record(8), size=8, objects=1), check(7, record(8), record(16), size=24, objects=2))
        assert evidence.facts.totals == Totals(24, 2, 24, 2, reconciled=True)
        assert sum(report.count for report in evidence.reports) == 3

    def test_a_check_that_broke_off_does_not_replace_one_that_did_not(self):
        evidence = log(check(7, record(8), size=8, objects=1), check(7, record(100)))
        assert evidence.facts.totals == Totals(8, 1, 8, 1, reconciled=True)

    def test_processes_are_added_up(self):
        evidence = log(check(7, record(8), size=8, objects=1), check(8, record(16), size=16, objects=1))
        assert evidence.facts.totals == Totals(24, 2, 24, 2, reconciled=True)

    def test_a_summary_that_says_otherwise_is_noticed(self):
        assert log(check(7, record(8), size=4096, objects=9)).facts.totals == Totals(8, 1, 4096, 9, reconciled=False)

    def test_without_a_summary_nothing_is_reconciled(self):
        assert log(check(7, record(8))).facts.totals == Totals(8, 1, None, None, None)

    def test_caps_of_the_runtime_end_in_a_summary_that_differs(self):
        text = check(7, "The 1 top leak(s):\n", record(8), "Omitting 4 more leak(s).\n\n", size=80, objects=5)
        evidence = log(text)
        assert evidence.facts.totals == Totals(8, 1, 80, 5, reconciled=False)
        assert evidence.notes == ("Line 2: the runtime printed only some of the leaks of this check.",)

    def test_two_processes_at_once_are_matched_by_their_sums(self):
        banners = "==7==ERROR: LeakSanitizer: detected memory leaks\n\n" + record(8)
        later = "==9==ERROR: LeakSanitizer: detected memory leaks\n\n" + record(16, 2)
        ends = "SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).\nSUMMARY: AddressSanitizer: 16 byte(s) leaked in 2 allocation(s).\n"
        assert log(banners, later, ends).facts.totals == Totals(24, 3, 24, 3, reconciled=True)

    def test_the_standalone_runtime_is_no_address_sanitizer(self):
        alone = log(check(7, record(8), size=8, objects=1, tool="LeakSanitizer")).facts
        assert alone.detectors == (Detector.LEAK,)
        inside = log(check(7, record(8), size=8, objects=1)).facts
        assert inside.detectors == (Detector.ADDRESS, Detector.LEAK)


class TestSuppressions:
    TABLE = """\
    -----------------------------------------------------
    Suppressions used:
      count      bytes template
          5        500 vendor::init_driver
          1          4 leak in *a b*
    -----------------------------------------------------
    """

    def test_the_table_is_read_without_any_report(self):
        facts = reading(self.TABLE).facts
        assert facts.suppressions == (
            SuppressionHit(5, 500, "vendor::init_driver", 4),
            SuppressionHit(1, 4, "leak in *a b*", 5),
        )
        assert facts.findings == 0

    def test_what_several_processes_hid_is_added_up(self):
        table = dedent(self.TABLE)
        assert log(table, table).facts.suppressions[0] == SuppressionHit(10, 1000, "vendor::init_driver", 4)

    def test_lines_behind_the_table_are_none_of_it(self):
        assert len(log(dedent(self.TABLE), "  7  9 passed\n").facts.suppressions) == 2

    def test_a_rule_that_is_only_spoken_of_is_none(self):
        assert reading("No suppressions used: fine\n      5        500 x").facts.suppressions == ()


class TestBreakingOff:
    def test_a_banner_without_records_is_a_lost_report(self):
        facts = log(check(7)).facts
        assert [(mark.kind, mark.number) for mark in facts.marks] == [(MarkKind.LOST_REPORT, 2)]
        assert facts.ends_in_block.number == 2

    def test_a_check_without_its_summary_is_where_the_log_ends(self):
        facts = log(check(7, record(8))).facts
        assert facts.ends_in_block.text == "==7==ERROR: LeakSanitizer: detected memory leaks"

    def test_a_record_that_is_cut_says_so(self):
        text = check(7, record(8), record(16, frames=("in malloc a.c:1", "in a b.c:2")))
        assert [report.truncated for report in log(text[:-3]).reports] == [False, True]

    def test_a_frame_that_is_cut_is_not_kept(self):
        (report,) = log(check(7, record(8))[:-6]).reports
        assert [frame.function for frame in report.frames] == ["malloc"]

    def test_a_log_that_goes_on_does_not_end_there(self):
        noise = "".join(f"line {n}\n" for n in range(40))
        facts = log(check(7, record(8)), noise).facts
        assert facts.ends_in_block is None

    def test_a_summary_alone_is_a_lost_report(self):
        facts = log("SUMMARY: AddressSanitizer: 72 byte(s) leaked in 1 allocation(s).\n").facts
        assert facts.marks[0].kind is MarkKind.LOST_REPORT
        assert facts.totals == Totals(0, 0, 72, 1, reconciled=False)

    def test_a_summary_repeated_by_somebody_is_not(self):
        text = check(7, record(8), size=8, objects=1)
        facts = log(text, "Error: SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).\n").facts
        assert facts.marks == ()
        assert facts.totals.reconciled


class TestMadeOfSums:
    """Reports of many records are not made like others; nothing may tell them apart."""

    def test_a_report_of_many_records_is_a_report_like_any_other(self):
        leak = Leak("direct-leak", ("in malloc a.c:1",), 4, "Direct leak", 7, test="Session.Close")
        leak.count, leak.bytes, leak.objects = 2, 16, 3
        frames = (understood("in malloc a.c:1"),)
        found = leak.report(understood)
        assert found == Report(
            tool="lsan",
            kind="direct-leak",
            line=4,
            headline="Direct leak",
            frames=frames,
            bytes=16,
            objects=3,
            count=2,
            pid=7,
            test="Session.Close",
            detail="Direct leak",
        )
        assert type(found) is Report
        assert hash(found) == hash(replace(found))

    def test_it_is_frozen(self):
        found = Leak("direct-leak", (), 4, "Direct leak", None).report(understood)
        with pytest.raises(FrozenInstanceError):
            found.count = 2  # type: ignore[misc]

    def test_the_first_line_is_the_first_whoever_was_counted_first(self):
        leak = Leak("direct-leak", (), 40, "Direct leak", 7, test="Session.Close")
        leak.count, leak.bytes, leak.objects = 1, 8, 1
        leak.add(
            Report("lsan", "direct-leak", 4, "earlier", bytes=24, objects=2, pid=5, detail="earlier", truncated=True)
        )
        leak.add(Report("lsan", "direct-leak", 50, "later", bytes=1, objects=1, pid=6, detail="later"))
        found = leak.report(understood)
        assert (found.line, found.headline, found.detail, found.pid, found.test) == (4, "earlier", "earlier", 5, None)
        assert (found.count, found.bytes, found.objects, found.truncated) == (3, 33, 4, True)

    def test_records_taken_whole_fold_with_those_read_line_by_line(self):
        broken = record(16).replace("    #1", "addr2line: DWARF error\n    #1")
        for records in ((record(8), record(24), broken), (broken, record(8), record(24))):
            (report,) = log(check(7, *records, size=48, objects=3)).reports
            assert (report.count, report.bytes, report.line) == (3, 48, 4)


def test_a_test_runner_behind_an_open_check_is_heard():
    text = (
        check(7, record(8)) + "[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped\n[doctest] Status: SUCCESS!\n"
    )
    assert log(text).facts.tests.passed == 3
