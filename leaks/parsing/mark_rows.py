"""What single lines say about the lane itself: the table that `leaks/parsing/marks.py` reads a log with.

A line is judged by the rows whose needle it holds.
"""

import re
from typing import NamedTuple

from leaks.words import MarkKind as K


class Row(NamedTuple):
    """`needle` must stand in the line and `form` match; a named group `v` of the form is the mark's value, else `value`.

    `outer`: words of the CI and of the lane, which are a quotation inside the output of a ctest test.
    """

    kind: K
    needle: str
    form: re.Pattern[str]
    sample: str
    value: str = ""
    outer: bool = True


def _ci(kind: K, needle: str, form: str, sample: str, value: str = "") -> Row:
    """A word of the CI or of the shell: at the start of the line, behind its marker or its level."""
    return Row(
        kind, needle, re.compile(r"\A(?:##\[\w+\]|::\w+::|ERROR: |WARNING: |Error: )*(?:" + form + ")"), sample, value
    )


def _any(kind: K, needle: str, form: str, sample: str, value: str = "") -> Row:
    """A line of a program, wherever it comes from."""
    return Row(kind, needle, re.compile(form), sample, value, outer=False)


SHELL = r"(?:\S+: (?:line )?\d+: +(?:\d+ )?)?"  # ./ci.sh: line 12:  4711
# bash pads the word to the longest one, which so stands without a blank in front of what follows; macOS adds the signal's number.
BEHIND = r"(?:: \d+)?(?: ?\(core dumped\)|\s*\Z| {2,})"
DEATHS = (
    "Segmentation fault",
    "Illegal instruction",
    "Aborted",
    "Abort trap",
    "Bus error",
    "Floating point exception",
    "Trace/breakpoint trap",
)

CI = (
    _ci(K.CANCELLED, "operation was cancel", r"The operation was cancell?ed\.", "##[error]The operation was canceled."),
    _ci(K.CANCELLED, "higher priority waiting", "Canceling since a higher priority waiting request",
        "Canceling since a higher priority waiting request for 'ci-main' exists"),
    _ci(K.CANCELLED, "run was canceled by", "The run was canceled by @", "##[error]The run was canceled by @octocat."),
    _ci(K.CANCELLED, "canceled externally", "script canceled externally", "WARNING: script canceled externally (UI, API)"),
    _ci(K.CANCELLED, "Job failed: canceled", "Job failed: canceled", "ERROR: Job failed: canceled"),
    _ci(K.CANCELLED, "Aborted by ", r"Aborted by \S", "Aborted by Jane Doe"),
    _ci(K.CANCELLED, "Finished: ABORTED", "Finished: ABORTED", "Finished: ABORTED"),
    _ci(K.TIMED_OUT, "maximum execution time", r"The job .{0,300}exceeded the maximum execution time",
        "##[error]The job running on runner GitHub Actions 4 has exceeded the maximum execution time of 360 minutes."),
    _ci(K.TIMED_OUT, " has timed out after", r"The action .{0,300} has timed out after \d",
        "##[error]The action 'Test' has timed out after 10 minutes."),
    _ci(K.TIMED_OUT, "took longer than", "Job failed: execution took longer than", "ERROR: Job failed: execution took longer than 1h0m0s seconds"),
    _ci(K.TIMED_OUT, "due to timeout", "Cancelling nested steps due to timeout", "Cancelling nested steps due to timeout"),
    _ci(K.TIMED_OUT, "Timeout has been exceeded", "Timeout has been exceeded", "Timeout has been exceeded"),
    _ci(K.TIMED_OUT, "maximum time limit", "The job exceeded the maximum time limit", "The job exceeded the maximum time limit for jobs"),
    _ci(K.TIMED_OUT, "sending signal", r"timeout: sending signal (?P<v>\w+) to command", "timeout: sending signal TERM to command ‘./tests’"),
    _ci(K.TIMED_OUT, "with no output", "Too long with no output", "Too long with no output (exceeded 10m0s): context deadline exceeded"),
    _ci(K.KILLED, "shutdown signal", "The runner has received a shutdown signal", "##[error]The runner has received a shutdown signal."),
    _ci(K.KILLED, "Killed", SHELL + "Killed" + BEHIND, "./ci.sh: line 12:  4711 Killed                  ./build/tests"),
    _ci(K.KILLED, "Terminated", SHELL + "Terminated" + BEHIND, "Terminated"),
    _ci(K.KILLED, "CPU time limit exceeded", SHELL + "CPU time limit exceeded" + BEHIND, "CPU time limit exceeded (core dumped)"),
    _ci(K.KILLED, "File size limit exceeded", SHELL + "File size limit exceeded" + BEHIND, "./ci.sh: line 3: 4711 File size limit exceeded   ./t"),
    _ci(K.KILLED, "Alarm clock", SHELL + "Alarm clock" + BEHIND, "./ci.sh: line 12:  4711 Alarm clock             ./build/tests"),
    _ci(K.KILLED, "of memory: Kill", r".{0,100}\b[Oo]ut of memory: Kill", "[  812.1] Out of memory: Killed process 4711 (tests) total-vm:9kB"),
    _ci(K.KILLED, "OOMKilled", r".{0,100}\bOOMKilled\b", "Reason: OOMKilled"),
    _ci(K.RUNNER_LOST, "lost communication", "The .{0,200}lost communication with the server",
        "##[error]The hosted runner lost communication with the server."),
    _ci(K.RUNNER_LOST, "while running your job", "The hosted runner encountered an error",
        "The hosted runner encountered an error while running your job."),
    _ci(K.RUNNER_LOST, "system failure", r"Job failed \(system failure\)", "ERROR: Job failed (system failure): Error response from daemon"),
    _ci(K.RUNNER_LOST, "Cannot contact ", r"Cannot contact \S+: ", "Cannot contact agent-7: java.lang.InterruptedException"),
    _ci(K.RUNNER_LOST, "offline during the build", "Agent went offline during the build", "Agent went offline during the build"),
    _ci(K.SETUP_FAILED, "Unable to resolve action", "Unable to resolve action", "##[error]Unable to resolve action `actions/nowhere@v9`"),
    _ci(K.SETUP_FAILED, "ocker pull failed", "Docker pull failed with exit code", "##[error]Docker pull failed with exit code 1"),
    _ci(K.SETUP_FAILED, "response from daemon", "(?:docker: )?Error response from daemon: ", "docker: Error response from daemon: manifest unknown"),
    _ci(K.SETUP_FAILED, "initialize container", "Failed to initialize container", "##[error]Failed to initialize container ghcr.io/x/y"),
    _ci(K.SETUP_FAILED, "fatal: ", "fatal: (?:unable to access '|could not read |repository '.{0,200}' not found|couldn't find remote)",
        "##[error]fatal: unable to access 'https://example.org/x.git/': The requested URL returned error: 503"),
    _ci(K.SETUP_FAILED, "git' failed", r"The process '\S*/git' failed with exit code",
        "##[error]The process '/usr/bin/git' failed with exit code 128"),
    _ci(K.SETUP_FAILED, "ailed to download a", "Failed to download a(?:ction|rchive)", "##[error]Failed to download archive 'https://example.org/a'"),
    _ci(K.SETUP_FAILED, "E: ", "E: (?:Unable to locate package|Failed to fetch|Unable to fetch some)", "E: Unable to locate package libasan99"),
    _ci(K.SETUP_FAILED, "Preparation failed", "Preparation failed: ", "ERROR: Preparation failed: Cannot connect to the Docker daemon"),
    _ci(K.SETUP_FAILED, "failed to pull image", "Job failed: failed to pull image", "ERROR: Job failed: failed to pull image \"x\""),
    _ci(K.SETUP_FAILED, "llegal option", ".{0,200}[Ii]llegal option -o pipefail", "/bin/sh: 1: set: Illegal option -o pipefail"),
    _ci(K.SETUP_FAILED, "No space left on device", ".{0,400}No space left on device", "tar: a: Cannot write: No space left on device"),
    _ci(K.SETUP_FAILED, ": No module named ", r"\S*python[\d.]*: No module named ", "/usr/bin/python3: No module named pytest"),
    _ci(K.EXIT_CODE, "ompleted with exit code", r"Process completed with exit code (?P<v>\d{1,3})\.", "##[error]Process completed with exit code 1."),
    _ci(K.EXIT_CODE, "exit", r"(?i:(?:lane |step |job )?exit(?:[ _]?code|[ _]?status)?\s?[=:]\s?)(?P<v>\d{1,3})\s*\Z", "lane exit: 124"),
    _ci(K.EXIT_CODE, "EXIT", r"(?:\w+_)?EXIT(?:_CODE|_STATUS)?[=:]\s?(?P<v>\d{1,3})\s*\Z", "EXIT=1"),
    _ci(K.EXIT_CODE, "returned exit code", r"script returned exit code (?P<v>\d{1,3})\s*\Z", "script returned exit code 1"),
    _ci(K.EXIT_CODE, "Job failed: exit", r"Job failed: exit (?:code|status) (?P<v>\d{1,3})\b", "ERROR: Job failed: exit code 137"),
    _ci(K.EXIT_CODE, "Bash exited with", r"Bash exited with code '(?P<v>\d{1,3})'", "##[error]Bash exited with code '1'."),
    _ci(K.EXIT_CODE, "\" exited with ", r"The command \".{0,300}\" exited with (?P<v>\d{1,3})\.", "The command \"make test\" exited with 2."),
    _ci(K.EXIT_CODE, "Exited with code", r"Exited with code (?:exit status )?(?P<v>\d{1,3})\s*\Z", "Exited with code exit status 1"),
    _ci(K.MASKING, "|| ", r"(?!.*\b(?:apt|apt-get|rm|mkdir|grep|killall|pkill|kill|docker|git|ulimit|sysctl|which|command)\s).*"
        r"\|\| (?:true|:|exit 0|echo(?!.*\bexit))(?:[\s;)'\"]|\Z)", "./build/tests || true", "|| true"),
    _ci(K.MASKING, "| while", r".{0,300}\bfind\s.{0,300}\| while\b", "find b -name '*_test' | while read -r t; do $t || bad=1; done", "| while"),
    _ci(K.MASKING, "+ true", r"\+ true\s*\Z", "+ true", "|| true"),
    _ci(K.MASKING, "continue-on-error", r"(?:\s*continue-on-error: (?:true|'true'|\"true\")|continue-on-error is set)",
        "##[notice]continue-on-error is set for this step", "continue-on-error"),
    _ci(K.MASKING, "CONTINUE_ON_ERROR", r"(?:\+ )?(?:export )?\s*CONTINUE_ON_ERROR(?:=|: )[\"']?(?:true|1)\b",
        "CONTINUE_ON_ERROR=true", "continue-on-error"),
    _ci(K.MASKING, ": true", r"\s*(?:continueOnError|soft_fail): true\s*\Z", "  continueOnError: true", "continue-on-error"),
    _ci(K.MASKING, "allow", r"(?:\s*allow_failure: true|job is allowed to fail)", "  allow_failure: true", "continue-on-error"),
    _ci(K.MASKING, "set +e", r"(?:\+ )?\s*set \+e(?:u?x?)\b", "+ set +e", "set +e"),
)  # fmt: skip

PROGRAMS = (
    _any(K.TEST_CRASHED, "***Exception", r"\*\*\*Exception", "1/1 Test #1: codec ....***Exception: SegFault  0.10 sec"),
    _any(K.TEST_CRASHED, "Subprocess aborted", r"Subprocess aborted", "\t  4 - y (Subprocess aborted)"),
    _any(K.TEST_CRASHED, "case CRASHED: SIG", "test case CRASHED: SIG(?!TERM|INT)",
         "a.cpp:94: FATAL ERROR: test case CRASHED: SIGSEGV - Segmentation violation signal"),
    _any(K.TEST_CRASHED, "SIG", r"\A\s*SIG(?:SEGV|ABRT|FPE|ILL|BUS) - \w", "  SIGSEGV - Segmentation violation signal"),
    *(_any(K.TEST_CRASHED, word, r"\A" + SHELL + word + BEHIND, f"{word} (core dumped)") for word in DEATHS),
    _any(K.TEST_CRASHED, "Floating point exception", r"\A\S+: (?:line )?\d+: +\d+ Floating point exception\S",
         "bash: line 1:  5883 Floating point exceptionbash -c ./t"),
    _any(K.TEST_CRASHED, "dumped core", r"\A\S*timeout: the monitored command dumped core", "timeout: the monitored command dumped core"),
    _any(K.TEST_CRASHED, "Fatal Python error", r"Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Illegal)",
         "Fatal Python error: Segmentation fault"),
    # What the C library and the standard library print before they abort.
    _any(K.TEST_CRASHED, " detected ***", r"\*\*\* (?:stack smashing|buffer overflow) detected \*\*\*",
         "*** stack smashing detected ***: terminated"),
    _any(K.TEST_CRASHED, "terminate called ", r"\Aterminate called (?:after throwing|without an active)",
         "terminate called after throwing an instance of 'std::bad_alloc'"),
    _any(K.TEST_CRASHED, "Assertion '", r"\A/\S*/include/c\+\+/\S+:\d+: .{1,600}: Assertion '.{1,200}' failed\.",
         "/usr/include/c++/12/bits/stl_vector.h:1123: f: Assertion '__n < this->size()' failed."),
    # A test may look for this of a child; inside a ctest test it is the test's own matter, as the words of a shell are.
    _ci(K.TEST_CRASHED, "Assertion `", r"\S{1,300}: \S{1,600}:\d+: .{1,800}: Assertion `.{1,600}' failed\.",
        "tests: src/a.cpp:3: int main(): Assertion `x == 1' failed."),
    _ci(K.TEST_CRASHED, "Assertion failed: ", r"Assertion failed: .{1,600}"
        r"(?:, function .{1,300}, file .{1,600}, line \d+\.| \(\S{1,600}: .{1,300}: \d+\))\s*\Z",
        "Assertion failed: (x == 1), function main, file a.cpp, line 3."),
    _any(K.TEST_CRASHED, "crashed while running", r"worker '?gw\d+'? crashed while running", "worker 'gw0' crashed while running 'tests/a.py::b'"),
    _any(K.TEST_CRASHED, "Process terminating with default", r"default action of signal \d+ \(SIG(?:SEGV|ABRT|BUS|FPE|ILL|TRAP)\)",
         "==9== Process terminating with default action of signal 6 (SIGABRT)"),
    _any(K.TEST_CRASHED, "(signal: ", r"\(signal: (?:4|5|6|7|8|11), SIG", "  process didn't exit successfully: `/x/a` (signal: 11, SIGSEGV)"),
    _any(K.TEST_CRASHED, "[signal SIG", r"\A\[signal SIG(?:SEGV|ABRT|BUS|FPE)", "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4]"),
    _any(K.TEST_CRASHED, "exit", r"(?i)\bexit(?:ed with)?(?: status| code):? ?(?:132|133|134|135|136|139)\b",
         "[1/2] calc_shift_test FAIL (exit status 132)"),
    _any(K.TEST_TEXT, "[ RUN      ] ", r"\A\[ RUN      \] \S", "[ RUN      ] A.B"),
    _any(K.TEST_TEXT, "[doctest] run with", r"\A\[doctest\] run with ", "[doctest] run with \"--help\" for options"),
    _any(K.TEST_TEXT, "TEST CASE:", r"\ATEST CASE:", "TEST CASE:  Suite.hang"),
    _any(K.TEST_TEXT, " Start ", r"\A\s*Start +\d+: \S", "    Start 1: smoke"),
    _any(K.TEST_TEXT, ".py::", r"\A(?:\[gw\d+\] \[ *\d+%\] )?(?:(?:PASSED|FAILED|ERROR) )?\S+\.py::\w",
         "[gw0] [  9%] PASSED tests/test_close.py::test_a"),
    _any(K.TEST_TEXT, " ... ok", r"\Atest \S.* \.\.\. ok", "test tests::adds ... ok"),
    _any(K.TEST_TEXT, "=== RUN ", r"\A=== RUN +\S", "=== RUN   TestRun"),
)  # fmt: skip

# Who shows what passing tests print. CTest does with -V, and in LastTest.log; meson with -v, and in testlog.txt; Bazel with
# --test_output=all; the parallel harness of Automake in each test's own log; pytest where it captures nothing, or is told -rP or -rA.
SHOWN = (
    _any(K.OUTPUT_SHOWN, "Test command: ", r"\A(?:\d{1,9}: )?Test command: ", "3: Test command: /w/build/t", "ctest"),
    _any(K.OUTPUT_SHOWN, "<end of output>", r"\A<end of output>", "<end of output>", "ctest"),
    _any(K.OUTPUT_SHOWN, "  RUNNING", r"\A\s*\d{1,9}/\d{1,9} \S.{0,400}\s{2,}RUNNING\s*\Z", "1/2 cache        RUNNING", "meson"),
    _any(K.OUTPUT_SHOWN, "- stdout -", r"\A-{3,} stdout -{3,}", "------------- stdout -------------", "meson"),
    _any(K.OUTPUT_SHOWN, "- stderr -", r"\A-{3,} stderr -{3,}", "------------- stderr -------------", "meson"),
    _any(K.OUTPUT_SHOWN, "== Test output for ", r"\A={10,40} Test output for \S", "==================== Test output for //src:cache_test:", "bazel"),
    _any(K.OUTPUT_SHOWN, "(exit status: ", r"\APASS \S{1,300} \(exit status: 0\)\s*\Z", "PASS cache_test (exit status: 0)", "automake"),
    _any(K.OUTPUT_SHOWN, "= PASSES =", r"\A=+ PASSES =+\s*\Z", "============ PASSES ============", "pytest"),
    _any(K.OUTPUT_SHOWN, "pytest ", r"\b(?:pytest|py\.test) (?:.{0,400} )?(?:-[a-qt-z]*s\b|--capture[= ](?:no|sys|tee-sys)\b)",
         "+ pytest -vs tests", "pytest"),
    _any(K.OUTPUT_SHOWN, "--no-capture", r"\bnextest run .{0,400}--no-?capture\b", "+ cargo nextest run --no-capture", "cargo test"),
    _any(K.OUTPUT_SHOWN, "--nocapture", r"\bnextest run .{0,400}--no-?capture\b", "+ cargo nextest run --nocapture", "cargo test"),
    _any(K.OUTPUT_SHOWN, "--success-output", r"\bnextest run .{0,400}--success-output[= ](?:immediate|final)",
         "+ cargo nextest run --success-output final", "cargo test"),
)  # fmt: skip
# Tools that a program need not be built for say who they are, unless told to be quiet; the command that calls them counts as well.
CALLED = r"\A(?!.*\b(?:grep|egrep|rg|sed|awk|apt|apt-get|dnf|yum|brew|which) )(?:.*[\s/\"'=])?"
RAN = (
    _any(K.DETECTOR_RAN, "Memcheck, a memory", r"== Memcheck, a memory error detector", "==9== Memcheck, a memory error detector", "memcheck"),
    _any(K.DETECTOR_RAN, ", a thread error detector", r"== (?i:helgrind|drd), a thread error detector",
         "==9== drd, a thread error detector", "threads"),
    _any(K.DETECTOR_RAN, "<valgrindoutput>", r"<valgrindoutput>", "<valgrindoutput>", "valgrind"),
    _any(K.DETECTOR_RAN, " MemCheck", r"\A\s*\d+/\d+ MemCheck:?\s+#\d+: ", "1/2 MemCheck #1: pool .....   Passed", "valgrind"),
    _any(K.DETECTOR_RAN, "== ERROR SUMMARY: ", r"==\d{1,10}== ERROR SUMMARY: \d",
         "==9== ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)", "valgrind"),
    _any(K.DETECTOR_RAN, "valgrind", CALLED + r"valgrind[\"']?,? +[\"']?(?:--?[a-z]|\.{0,2}/\S)", "+ valgrind ./build/tests", "valgrind"),
    _any(K.DETECTOR_RAN, "COMPUTE-SANITIZER", r"={9} COMPUTE-SANITIZER", "========= COMPUTE-SANITIZER", "cuda"),
    _any(K.DETECTOR_RAN, "CUDA-MEMCHECK", r"={9} CUDA-MEMCHECK", "========= CUDA-MEMCHECK", "cuda"),
    _any(K.DETECTOR_RAN, "compute-sanitizer ", CALLED + r"compute-sanitizer[\"']? +[\"']?(?:--?[a-z]|\.{0,2}/\S)",
         "+ compute-sanitizer ./build/tests", "cuda"),
)  # fmt: skip

LSAN, SHADOW, CHECK, CUDA = "lsan_fatal", "shadow_memory", "check_failed", "compute_sanitizer"
TROUBLE = (
    *(_any(K.DETECTOR_FAILED, needle, form or re.escape(needle), sample, value)
    for value, needle, form, sample in (
        (LSAN, "LeakSanitizer has encountered a fatal error", "", "==9==LeakSanitizer has encountered a fatal error."),
        (LSAN, "Tracer caught signal ", r"Tracer caught signal \d", "Tracer caught signal 11: addr=0x0 pc=0x7fa1 sp=0x7fa0"),
        (LSAN, "Could not attach to thread", "", "==9==Could not attach to thread 12 (errno 1)."),
        (LSAN, "Failed suspending threads", "", "==9==Failed suspending threads."),
        (LSAN, "ptrace appears to be blocked", "", "==9==WARNING: ptrace appears to be blocked (is seccomp enabled?). LeakSanitizer may hang."),
        ("leaks_unsure", "was not suspended. False leaks", "", "==9==Running thread 12 was not suspended. False leaks are possible."),
        ("leaks_unsure", "gave up on indirect leaks", "", "WARNING: LeakSanitizer gave up on indirect leaks suppression."),
        (CHECK, "CHECK failed", r"Sanitizer:? CHECK failed: ", "AddressSanitizer: CHECK failed: sanitizer_thread_registry.cpp:316"),
        (SHADOW, "Shadow memory range interleaves", "", "==9==Shadow memory range interleaves with an existing memory mapping."),
        (SHADOW, "ReserveShadowMemoryRange failed", "", "==9==ERROR: AddressSanitizer: ReserveShadowMemoryRange failed"),
        (SHADOW, "Sanitizer failed to ", r"ERROR: \w+Sanitizer failed to (?:allocate|deallocate|map|mmap)",
         "==9==ERROR: AddressSanitizer failed to allocate 0xdfff0001000 bytes"),
        (SHADOW, "FATAL: ", r"FATAL: (?:\w+Sanitizer|Code 0x)", "FATAL: ThreadSanitizer: unexpected memory mapping 0x5b1f90c2d000-0x5b1f90c88000"),
        ("suppressions", "to read suppressions file", r"[Ff]ailed to read suppressions file",
         "==9==AddressSanitizer: failed to read suppressions file 'x'"),
        ("suppressions", "to parse suppressions", r"[Ff]ailed to parse suppressions", "AddressSanitizer: failed to parse suppressions."),
        ("link_order", "runtime does not come first", "", "==9==ASan runtime does not come first in initial library list"),
        ("link_order", "incompatible ASan runtimes", "", "==9==Your application is linked against incompatible ASan runtimes."),
        ("valgrind", "valgrind: ",
         r"\Avalgrind: (?:failed to start|Fatal error|(?:Unknown|Bad) option|\S+: (?:command not found|No such)|.{0,80}'impossible' happened)",
         "valgrind: failed to start tool 'memcheck' for platform 'amd64-linux'"),
        (CUDA, "before first instrumented API call", "", "========= Error: Target application terminated before first instrumented API call"),
        (CUDA, "Internal Sanitizer Error", "", "========= Internal Sanitizer Error"),
        (CUDA, "check Error", r"={9} ?Internal (?:Mem|Race|Init|Sync)check Error", "========= Internal Memcheck Error: Initialization failed"),
        (CUDA, "No attachable process found", "", "========= Error: No attachable process found. compute-sanitizer timed-out."),
        (CUDA, "Unable to find injection library", "", "========= Error: Unable to find injection library libsanitizer-collection.so"),
    )),
    _any(K.LOST_REPORT, "nested bug in the same thread", r"Sanitizer: nested bug in the same thread",
         "AddressSanitizer: nested bug in the same thread, aborting."),
    _any(K.LOST_REPORT, "Defects: ", r"\A\s*\d+/\d+ MemCheck:? ?#\d+: .{1,300} Defects: [1-9]", "1/2 MemCheck: #1: pool ........   Defects: 5"),
    _any(K.NOT_INSTRUMENTED, "san symbols", r"(?i)\b_*[atm]san symbols\b.{0,80}[:=] ?0\s*\Z", "__asan symbols: 0", "symbols"),
    *(_any(K.SETUP_ERROR, needle, form or re.escape(needle), sample, "protect_shadow_gap") for needle, form, sample in (
        ("cudaErrorMemoryAllocation", "", "ERROR: test case THREW exception: cudaErrorMemoryAllocation: out of memory (context creation)"),
        ("CUDA_ERROR_OUT_OF_MEMORY", "", "cuInit failed: CUDA_ERROR_OUT_OF_MEMORY"),
        ("out of memory", r"(?i)\b(?:CUDA|cuda\w+)\b.{0,80}\bout of memory\b", "CUDA error: out of memory"),
        ("CUDA error", r"(?i)CUDA error:? ?(?:code ?[=:]? ?)?\(?2\b", "CUDA error 2 at device.cu:14"),
    )),
)  # fmt: skip

ROWS = CI + PROGRAMS + TROUBLE + SHOWN + RAN
