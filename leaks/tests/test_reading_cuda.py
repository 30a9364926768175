"""compute-sanitizer and cuda-memcheck: items, their kinds, device and host frames, leaks, races, and what the tools say of themselves."""

import pytest

from leaks.own import Ownership
from leaks.parsing.cuda_frames import device_frame, host_frame
from leaks.parsing.dispatch import read
from leaks.parsing.tools.cuda import sentence_kind
from leaks.words import Detector, MarkKind, Role

END = "========= \n"
WRITE = """\
========= Invalid __global__ write of size 4 bytes
=========     at pack_tiles(float *, int)+0x1a0 in /src/pack.cu:118
=========     by thread (31,0,0) in block (2,0,0)
=========     Address 0x7fa5d1c003fc is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7fa5d1c00000 of size 1,020 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========     Host Frame: [0x2774ec]
=========                in /lib/x86_64-linux-gnu/libcuda.so.1
=========     Host Frame:cudaLaunchKernel [0x6a578]
=========                in ./pack_tests
=========     Host Frame: run_pack(int) in pack_tests.cpp:61 [0x9544] in pack_tests
"""
LEAK = """\
========= Leaked 1,048,576 bytes at 0x7f1c68200000
=========     Saved host backtrace up to driver entry point at allocation time
=========     Host Frame:cudaMalloc [0x6d10f]
=========                in /home/user/build/tests
=========     Host Frame:Arena::grow(unsigned long) [0x1b2d0]
=========                in /home/user/build/tests
"""


def log(*parts):
    return read(["".join(parts).encode()])


def only(*parts):
    (report,) = log(*parts).reports
    return report


def names(frames):
    return [frame.function for frame in frames]


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        (" Invalid __global__ read of size 4 bytes", "invalid-global-read"),
        (" Invalid __global__ write of size 8", "invalid-global-write"),
        (" Invalid __shared__ read of size 4 bytes", "invalid-shared-read"),
        (" Invalid __local__ write of size 4", "invalid-local-write"),
        (" Invalid __global__ atomic of size 4 bytes", "invalid-global-atomic"),
        (" Invalid address space", "invalid-address-space"),
        (' Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.', "api-error"),
        (" Program hit error 11 on CUDA API call to cudaMemcpy", "api-error"),
        (" Leaked 64 bytes at 0x400200200", "leak"),
        (" Error: Race reported between Write access at f()+0x10 in a.cu:1", "shared-race"),
        (" Warning: Race reported between Read access at f()+0x10 in a.cu:1", "shared-race"),
        (" ERROR: Potential WAR hazard detected at __shared__ 0x0 in block (0, 0, 0) :", "shared-race"),
        (" Error: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8 in block (0,0,0)", "shared-race"),
        (" Error: Potential RAW hazard detected at __global__ 0x7f00 in block (0,0,0)", "global-race"),
        (" Uninitialized __global__ memory read of size 4 bytes", "uninitialized-global-read"),
        (" Error: Potential WAW hazard detected", "shared-race"),
        (" Uninitialized memory read of size 4 bytes", "uninitialized-access"),
        (" Host API uninitialized memory access", "uninitialized-host-api-access"),
        (" Host API memory access error at host access to 0x7f3ea4a00000 of size 160 bytes", "uninitialized-host-api-access"),
        ("  Unused memory in allocation 0x7fe0a7200000 of size 16 bytes", "unused-memory"),
        (" Barrier error detected. Divergent thread(s) in warp.", "barrier-error"),
        (" Malloc/Free error encountered : Double free", "double-free"),
        (" Malloc/Free error encountered : Invalid pointer to free", "invalid-free"),
        (" Lane User Stack Overflow", "stack-overflow"),
        (" Target application returned an error", None),
        (" Internal Sanitizer Error: The Sanitizer encountered an error when loading", None),
        (" Error: Target application terminated before first instrumented API call", None),
        (" Error: No attachable process found. compute-sanitizer timed-out.", None),
        (" Error: process didn't terminate successfully", None),
        (" ERROR SUMMARY: 2 errors", None),
        (" COMPUTE-SANITIZER", None),
        (" This is Invalid __global__ read of size 4", None),
    ],
)  # fmt: skip
def test_the_kind_is_told_from_the_sentence(sentence, kind):
    assert sentence_kind(sentence) == kind


@pytest.mark.parametrize(
    "line",
    [
        "========= COMPUTE-SANITIZER",
        "========= CUDA-MEMCHECK",
        "========= Target application returned an error",
        "========= Error: No attachable process found. compute-sanitizer timed-out.",
        "========= ERROR SUMMARY: 0 errors",
        "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations",
        "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
        "========= 3 passed in 0.12s =========",
        "========== Invalid __global__ write of size 4 bytes",
        "==================",
        "Invalid __global__ write of size 4 bytes",
    ],
)
def test_what_the_tool_says_of_itself_is_no_report(line):
    evidence = log(line, "\n")
    assert evidence.reports == ()
    assert evidence.facts.ends_in_block is None


class TestItems:
    def test_device_frames_come_first_and_the_host_goes_on_below_them(self):
        report = only(WRITE, END)
        assert names(report.frames) == ["pack_tiles(float *, int)", None, "cudaLaunchKernel", "run_pack(int)"]
        assert [frame.module for frame in report.frames] == [
            None,
            "/lib/x86_64-linux-gnu/libcuda.so.1",
            "./pack_tests",
            "pack_tests",
        ]
        assert (report.tool, report.kind, report.line, report.pid) == ("cuda", "cuda-invalid-global-write", 1, None)
        assert (report.stacks, report.truncated, report.bytes) == ((), False, None)

    def test_a_kernel_owns_its_error_and_a_caller_that_of_the_api(self):
        api = (
            "========= Program hit error 11 on CUDA API call to cudaMemcpy \n"
            + WRITE[WRITE.index("=========     Saved") :]
        )
        owner = Ownership()
        frames = [owner.own_frame(report) for report in log(WRITE, END, api, END).reports]
        assert names(frames) == ["pack_tiles(float *, int)", "run_pack(int)"]

    def test_thousands_of_threads_report_one_defect(self):
        items = [WRITE.replace("(31,0,0)", f"({n},0,0)").replace("d1c003fc", f"d1c0{n:04x}") + END for n in range(3000)]
        report = only("========= COMPUTE-SANITIZER\n", *items, "========= ERROR SUMMARY: 3000 errors\n")
        assert (report.count, report.line) == (3000, 2)

    def test_output_of_the_program_may_stand_between_the_lines(self):
        lines = WRITE.splitlines(keepends=True)
        report = only(*(line + "step 3 of 7\n" for line in lines), END)
        assert len(report.frames) == 4

    @pytest.mark.parametrize("end", [END, "=========\n", "========= ERROR SUMMARY: 1 error\n"])
    def test_a_line_without_text_or_the_next_item_ends_one(self, end):
        evidence = log(WRITE, end)
        assert not evidence.reports[0].truncated
        assert evidence.facts.ends_in_block is None

    def test_an_item_that_the_log_cuts_is_truncated(self):
        evidence = log(WRITE)
        assert evidence.reports[0].truncated
        assert evidence.facts.ends_in_block.number == 1

    def test_a_prefix_of_the_lane_is_taken_off(self):
        report = only(*(f"12: {line}" for line in (WRITE + END).splitlines(keepends=True)))
        assert len(report.frames) == 4

    def test_the_sentence_of_tomorrow_is_known_by_its_details(self):
        report = only("========= Quantum fluctuation in lane\n=========     at f(int)+0x10 in a.cu:7\n", END)
        assert (report.kind, names(report.frames), report.truncated) == ("unrecognised", ["f(int)"], False)

    def test_another_time_is_another_stack(self):
        more = "=========     Saved host backtrace up to driver entry point at allocation time\n=========     Host Frame:make() [0x1] in t\n"
        report = only(WRITE, more, END)
        assert len(report.frames) == 4
        assert [(stack.role, names(stack.frames)) for stack in report.stacks] == [(Role.ALLOCATED, ["make()"])]

    def test_memcheck_says_of_a_host_access_that_it_is_invalid(self):
        head = "========= Host API memory access error at host access to 0x7f of size 16 bytes\n=========     "
        kinds = {
            report.kind
            for text in (
                "Invalid access of 8 bytes at 0x7f\n",
                "Uninitialized access at 0x7f on access by cudaMemcpy\n",
            )
            for report in log(head, text, END).reports
        }
        assert kinds == {"cuda-invalid-host-api-access", "cuda-uninitialized-host-api-access"}


class TestLeaks:
    def test_a_leak_has_bytes_and_the_stack_that_allocated(self):
        report = only(LEAK, END)
        assert (report.kind, report.bytes, report.objects) == ("cuda-leak", 1048576, 1)
        assert names(report.frames) == ["cudaMalloc", "Arena::grow(unsigned long)"]

    def test_the_summary_reconciles_them(self):
        summary = "========= LEAK SUMMARY: 1048640 bytes leaked in 2 allocations\n"
        totals = log(LEAK, END, LEAK.replace("1,048,576", "64"), END, summary).facts.totals
        assert (totals.bytes, totals.objects, totals.summary_bytes, totals.reconciled) == (1048640, 2, 1048640, True)

    def test_a_summary_that_says_more_does_not_reconcile(self):
        assert not log(
            LEAK, END, "========= LEAK SUMMARY: 2,097,152 bytes leaked in 2 allocations\n"
        ).facts.totals.reconciled


class TestRaces:
    def test_both_sides_are_kept(self):
        report = only(
            "========= Error: Race reported between Write access at sum(int *)+0x90 in block.cu:9\n",
            "=========     and Read access at sum(int *)+0x100 in block.cu:11 [4 hazards]\n",
            "=========     Saved host backtrace up to driver entry point at kernel launch time\n",
            "=========     Host Frame:main in block.cu:30 [0x85dd] in block\n",
            END,
        )
        assert [frame.line for frame in report.frames] == [9, 30]
        assert [(stack.role, stack.frames[0].line) for stack in report.stacks] == [(Role.PREVIOUS_ACCESS, 11)]

    def test_both_sides_may_stand_in_one_line(self):
        line = "========= Error: Race reported between Write access at f()+0x1 in a.cu:1 and Read access at g()+0x2 in a.cu:2 [1 hazard]\n"
        report = only(line, END)
        assert (names(report.frames), names(report.stacks[0].frames)) == (["f()"], ["g()"])

    def test_the_threads_of_an_old_hazard_are_its_sides(self):
        report = only(
            "========= ERROR: Potential WAR hazard detected at __shared__ 0x0 in block (0, 0, 0) :\n",
            "=========     Write Thread (0, 0, 0) at 0x140 in race.cu:26:sum(int *)\n",
            "=========     Read Thread (1, 0, 0) at 0x168 in race.cu:28:sum(int *)\n",
            "=========     Current Value : 0, Incoming Value : 2\n",
            END,
        )
        assert ([f.line for f in report.frames], [s.frames[0].line for s in report.stacks]) == ([26], [28])

    def test_what_is_only_an_information_is_no_finding(self):
        assert not only("========= Info: Race reported between Write access at f()+0x1 in a.cu:1\n", END).finding


class TestSummaries:
    @pytest.mark.parametrize(
        "line",
        [
            "ERROR SUMMARY: 1 error",
            "ERROR SUMMARY: 3 errors",
            "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)",
        ],
    )
    def test_errors_that_are_counted_and_not_shown_are_a_lost_report(self, line):
        facts = log("========= COMPUTE-SANITIZER\n", f"========= {line}\n").facts
        assert MarkKind.LOST_REPORT in [mark.kind for mark in facts.marks]

    def test_errors_that_are_shown_are_not(self):
        facts = log("========= COMPUTE-SANITIZER\n", WRITE, END, "========= ERROR SUMMARY: 1 error\n").facts
        assert MarkKind.LOST_REPORT not in [mark.kind for mark in facts.marks]
        assert facts.detectors == (Detector.CUDA,)

    @pytest.mark.parametrize(
        "line",
        ["Error: Target application terminated before first instrumented API call", "Internal Sanitizer Error: broken"],
    )
    def test_a_tool_that_did_not_work_is_marked(self, line):
        facts = log("========= COMPUTE-SANITIZER\n", f"========= {line}\n").facts
        assert MarkKind.DETECTOR_FAILED in [mark.kind for mark in facts.marks]


@pytest.mark.parametrize(
    ("text", "function", "file", "line"),
    [
        ("pack(const unsigned int *, int)+0x3c80 in /a b/pack.cu:118", "pack(const unsigned int *, int)", "/a b/pack.cu", 118),
        ("kernel():0x160 in demo.cu:6", "kernel()", "demo.cu", 6),
        ("ns::sum<(int)4>(float*)+0x10 in C:\\a\\race.cu:26", "ns::sum<(int)4>(float*)", "C:\\a\\race.cu", 26),
        ("0x30 in /path/demo.cu:6:kernel(void)", "kernel(void)", "/path/demo.cu", 6),
        ("0x140 in C:\\a\\race.cu:26:ns::sum(int *)", "ns::sum(int *)", "C:\\a\\race.cu", 26),
        ("0x00000148 in void ns::KERNEL<int>(float*)", "void ns::KERNEL<int>(float*)", None, None),
        ("0x60 in a.cu:3", None, "a.cu", 3),
        ("kernel(int)+0x40", "kernel(int)", None, None),
        ("demo.cu:18:f(void) (f(void) : 0x60)", "f(void)", "demo.cu", 18),
        ("run_kernel (0x60)", "run_kernel", None, None),
    ],
)  # fmt: skip
def test_a_place_in_device_code(text, function, file, line):
    frame = device_frame(text)
    assert (frame.function, frame.file, frame.line) == (function, file, line)


@pytest.mark.parametrize(
    ("text", "function", "file", "module", "offset"),
    [
        ("cudaLaunchKernel [0x7e3fb] in pack_tests", "cudaLaunchKernel", None, "pack_tests", "0x7e3fb"),
        ("f(std::vector<int> const&) in a.cpp:61 [0x9544] in t", "f(std::vector<int> const&)", "a.cpp", "t", "0x9544"),
        ("main in /a/b.cpp:90", "main", "/a/b.cpp", None, None),
        ("[0x2b7f10]", None, None, None, "0x2b7f10"),
        ("../csu/libc-start.c:379:__libc_start_main [0x2e07d]", "__libc_start_main", "../csu/libc-start.c", None, "0x2e07d"),
        ("/usr/lib/libcuda.so.1 (cuLaunchKernel + 0x2cd) [0x15865d]", "cuLaunchKernel", None, "/usr/lib/libcuda.so.1", "0x2cd"),
        ("./app [0x1234]", None, None, "./app", "0x1234"),
        ("C:\\W\\nvcuda.dll (cuEventRecord + 0x12) [0x56]", "cuEventRecord", None, "C:\\W\\nvcuda.dll", "0x12"),
    ],
)  # fmt: skip
def test_a_frame_of_the_host(text, function, file, module, offset):
    frame = host_frame(text)
    assert (frame.function, frame.file, frame.module, frame.offset) == (function, file, module, offset)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("cudaMalloc [0x6d10f] in tests", False),
        ("cuMemAlloc_v2 [0x283e84] in /usr/lib/x86_64-linux-gnu/libcuda.so.1", False),
        ("__cudart803 [0xfccb] in tests", False),
        ("cudaError cudaLaunchKernel<char>(char const*, dim3, dim3, void**, unsigned long, CUstream_st*) [0xb535]", False),
        ("__device_stub__Z16kernelv() [0xb22e]", False),
        ("curate(int) [0xb22e] in tests", True),
        ("cudaWrapper::alloc(int) in wrap.cpp:3 [0xb22e] in tests", True),
        ("cudaAlloc(int) in wrap.cpp:3 [0xb22e] in tests", True),
    ],
)  # fmt: skip
def test_the_toolkit_is_not_own(text, own):
    assert bool(Ownership().own_frames([host_frame(text)])) is own


@pytest.mark.parametrize(
    "junk",
    ["at " + "(" * 50_000, "at " + "a:1:" * 20_000, "Host Frame:" + " in a:1" * 20_000, "and x access at " * 9_000],
)
def test_hostile_lines_are_read_in_time(junk):
    assert len(log("========= Invalid __global__ write of size 4 bytes\n", f"=========     {junk}\n", END).reports) == 1


def test_a_cut_log_invents_nothing_and_claims_nothing():
    data = (WRITE + END + LEAK + END + "========= ERROR SUMMARY: 2 errors\n").encode()
    whole = read([data])
    kinds = {"unrecognised", *(report.kind for report in whole.reports)}
    for cut in range(1, len(data), 7):
        evidence = read([data[:cut]])
        assert evidence.facts.findings <= whole.facts.findings
        assert {report.kind for report in evidence.reports} <= kinds
        assert not evidence.reports or not evidence.reports[-1].truncated or evidence.facts.ends_in_block
        assert evidence == read([data[:cut]], fast=False)
