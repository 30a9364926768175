"""HWAddressSanitizer: kinds, causes, stacks with their roles, ends; and what really compiled programs print."""

import os
import shutil
import subprocess

import pytest

from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.parsing.names import qualified
from leaks.words import Detector, Role

HEADER = "==7==ERROR: HWAddressSanitizer: tag-mismatch on address 0x0040712c84ab40 at pc 0x00745d10c5f0\n"
ACCESS = "READ of size 8 at 0x0040712c84ab40 tags: 5b/83(08) (ptr/mem) in thread T3\n"
STACK = "    #0 0x55b2e83ec460 in poll src/a.cpp:11\n    #1 0x55b2e83ecf93 in main src/a.cpp:31\n\n"
CAUSE = "Cause: use-after-free\n0x0040712c84ab40 is located 0 bytes inside a 32-byte region [0x0040712c84ab40,0x0040712c84ab60)\n"
SUMMARY = "SUMMARY: HWAddressSanitizer: tag-mismatch src/a.cpp:11 in poll\n"


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
    ("sentence", "kind"),
    [
        ("tag-mismatch on address 0x00407 at pc 0x00745", "tag-mismatch"),
        ("invalid-free on address 0x680400000000 at pc 0x55c28bd32367 on thread T0", "invalid-free"),
        ("allocation-tail-overwritten; heap object [0x6804,0x6814) of size 20", "allocation-tail-overwritten"),
        ("SEGV on unknown address 0x000000000008 (pc 0x55bd bp 0x7f sp 0x7f T16059)", "SEGV"),
        ("something new", "unrecognised"),
        ("tag-mis", "unrecognised"),
    ],
)
def test_the_kind_is_the_tool_s_own_word(sentence, kind):
    report = only(f"==7==ERROR: HWAddressSanitizer: {sentence}\n", STACK)
    assert (report.tool, report.kind, report.pid, len(report.frames)) == ("hwasan", kind, 7, 2)


@pytest.mark.parametrize(
    "line",
    [
        "FATAL: HWAddressSanitizer requires a kernel with tagged address ABI.",
        "HWAddressSanitizer: CHECK failed: hwasan_allocator.cpp:1",
        "==7==ERROR: HWAddressSanitizer: CHECK failed",
        "==7==HWAddressSanitizer: failed to intercept 'memcpy'",
        "HWAddressSanitizer can not provide additional info.",
        '+ grep "ERROR: HWAddressSanitizer: tag-mismatch" log',
        "Learn more about HWASan reports: https://source.android.com/docs/security/test/memory-safety/hwasan-reports",
    ],
)
def test_what_only_looks_like_one_is_no_report(line):
    assert log(line + "\n", STACK).reports == ()


def test_the_cause_is_told_beside_the_kind():
    report = only(HEADER, ACCESS, STACK, CAUSE, SUMMARY)
    assert (report.kind, "use-after-free" in report.detail, report.truncated) == ("tag-mismatch", True, False)


@pytest.mark.parametrize(
    ("sentence", "role"),
    [
        ("freed by thread T0 here:\n", Role.FREED),
        ("previously allocated here:\n", Role.ALLOCATED),
        ("previously allocated by thread T0 here:\n", Role.ALLOCATED),
        ("allocated here:\n", Role.ALLOCATED),
        ("deallocated here:\n", Role.FREED),
        ("Thread T3 created by T0 here:\n", Role.THREAD_CREATED),
    ],
)
def test_each_sentence_gives_its_stack_a_role(sentence, role):
    report = only(HEADER, ACCESS, STACK, CAUSE, sentence, STACK, SUMMARY)
    assert [stack.role for stack in report.stacks] == [role]
    assert len(report.frames) == 2


def test_a_tail_is_known_by_who_freed_it():
    head = "==7==ERROR: HWAddressSanitizer: allocation-tail-overwritten; heap object [0x68,0x7c) of size 20\n\n"
    end = "SUMMARY: HWAddressSanitizer: allocation-tail-overwritten (/bin/app+0xe367) in __sanitizer_free\n"
    unknown = "Stack of invalid access unknown. Issue detected at deallocation time.\n"
    report = only(head, unknown, "deallocated here:\n", STACK, "allocated here:\n", STACK, end)
    assert [frame.function for frame in report.frames] == ["poll", "main"]
    assert [stack.role for stack in report.stacks] == [Role.ALLOCATED]


def test_a_report_without_its_end_is_truncated():
    evidence = log(HEADER, ACCESS, STACK, CAUSE)
    assert evidence.reports[0].truncated
    assert evidence.facts.ends_in_block.number == 1


def test_a_summary_alone_is_a_report():
    report = only(SUMMARY)
    assert (report.kind, report.place.line, report.truncated) == ("tag-mismatch", 11, True)


def test_a_program_with_it_detects_errors_of_addresses():
    assert log(HEADER, STACK, SUMMARY).facts.detectors == (Detector.ADDRESS,)


PROGRAM = """
#include <stdlib.h>
namespace net { int poll(volatile int* s) { return *s; } }
void drop(char* p) { free(p); }
int main(int argc, char** argv) {
  char* p = (char*)malloc(20);
  if (argv[1][0] == 'u') { drop(p); return net::poll((int*)p); }
  if (argv[1][0] == 'o') return net::poll((int*)(p + 32));
  if (argv[1][0] == 'd') { drop(p); drop(p); }
  if (argv[1][0] == 's') return net::poll((int*)8);
  return 0;
}
"""


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    """Memory tags need Arm; on x86 the runtime can map memory several times instead, if the machine lets it."""
    clang = shutil.which("clang++")
    if clang is None:
        pytest.skip("clang++ is not installed")
    folder = tmp_path_factory.mktemp("hwasan")
    (folder / "a.cpp").write_text(PROGRAM)
    flags = ["-g", "-O0", "-fsanitize=hwaddress", "-fsanitize-hwaddress-experimental-aliasing"]
    done = subprocess.run([clang, *flags, "a.cpp", "-o", "a"], cwd=folder, capture_output=True, check=False)
    if done.returncode or subprocess.run([folder / "a", "0"], capture_output=True, check=False).returncode:
        pytest.skip("this machine cannot build or run HWASan's aliasing mode")
    return folder / "a"


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("fault", "kind", "cause", "own"),
    [
        ("u", "tag-mismatch", "use-after-free", "net::poll"),
        ("o", "tag-mismatch", "heap-buffer-overflow", "net::poll"),
        ("d", "invalid-free", "use-after-free", "drop"),
        ("s", "SEGV", "", "net::poll"),
    ],
)
def test_a_real_program_is_read(binary, fault, kind, cause, own):
    run = subprocess.run([binary, fault], capture_output=True, env={"PATH": os.environ["PATH"]}, check=False)
    (report,) = read([run.stderr]).reports
    assert (report.kind, cause in report.detail, report.truncated) == (kind, True, False)
    assert own_name(report) == own
    assert run.returncode
