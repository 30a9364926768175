"""What single lines say about the lane itself: the CI's own words, the shell's, and the trouble of the detectors.

`ROWS` is the table; a line is judged by the rows whose needle it holds. Two things need more than one line: a pipe into tee,
which masks the exit code only if the shell knows no pipefail, and a symbol count, whose number stands in the next line
(`wants_next` asks for it).
"""

import re
from itertools import chain
from typing import NamedTuple

from leaks.parsing.needles import Rows
from leaks.parsing.runs import Stretch
from leaks.rows.facts import Mark
from leaks.words import MarkKind as K

FIRST, LAST = 10, 10  # marks kept of each kind from both ends of the log
KEPT = {K.TEST_TEXT: (2, 1)}
LONGEST = 2000


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
DEATHS = (
    "Segmentation fault",
    "Illegal instruction",
    "Aborted",
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
    _ci(K.KILLED, "Killed", SHELL + r"Killed(?:: 9)?(?:\s*\Z| {2,})", "./ci.sh: line 12:  4711 Killed                  ./build/tests"),
    _ci(K.KILLED, "Terminated", SHELL + r"Terminated(?:: 15)?(?:\s*\Z| {2,})", "Terminated"),
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
    *(_any(K.TEST_CRASHED, word, r"\A" + SHELL + word + r"(?: \(core dumped\)|\s*\Z| {2,})", f"{word} (core dumped)")
      for word in DEATHS),
    _any(K.TEST_CRASHED, "Fatal Python error", r"Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Illegal)",
         "Fatal Python error: Segmentation fault"),
    # What the C library and the standard library print before they abort.
    _any(K.TEST_CRASHED, " detected ***", r"\*\*\* (?:stack smashing|buffer overflow) detected \*\*\*",
         "*** stack smashing detected ***: terminated"),
    _any(K.TEST_CRASHED, "terminate called ", r"\Aterminate called (?:after throwing|without an active)",
         "terminate called after throwing an instance of 'std::bad_alloc'"),
    _any(K.TEST_CRASHED, "Assertion '", r"\A/\S*/include/c\+\+/\S+:\d+: .{1,600}: Assertion '.{1,200}' failed\.",
         "/usr/include/c++/12/bits/stl_vector.h:1123: f: Assertion '__n < this->size()' failed."),
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

ROWS = CI + PROGRAMS + TROUBLE
TEE = re.compile(r"\A(?:\+ tee(?:\s|\Z)|.*\|&?\s*tee\s)")
# GitLab's runner sets pipefail by itself.
PIPEFAIL = re.compile(r"\bset [-+][^;&|]{0,60}pipefail|-o pipefail|\ARunning with gitlab-runner ")
SYMBOL_COUNT = re.compile(r"\bgrep [^|]{0,80}\b__[a-z]{1,2}san[^|]{0,80}(?:\| *wc -l)?\s*\Z")
COUNTED = re.compile(r"\bgrep (?:-\w+ )*-\w*c|\bwc -l")
# A word of every row, as few as possible and none that occurs in a frame: each one is searched for in every line of a log.
NEEDLES = (
    "was cancel", "Canceling since", "canceled externally", "Aborted by ", "Finished: ABORTED", "nested steps", "exceeded", "timed out after",
    "timeout: sending", "shutdown signal", "Killed", "Terminated", "lost communication", "running your job", "Job failed", "Cannot contact ",
    "went offline", "Unable to resolve action", "exit code", "exit status", "xited with", "exit:", "exit=", "EXIT", "response from daemon",
    "initialize container", "fatal: ", "ailed to download a", "E: Unable", "E: Failed", "Preparation failed", "llegal option", "No space left",
    ": No module named ", "|| ", "+ true", "continue-on-error", "CONTINUE_ON_ERROR", "allow_failure", "allowed to fail", "set +e", "| tee", "& tee",
    "+ tee", "pipefail", "shell: ", "##[group]Run ", "gitlab-runner", "grep ", "***Exception", "(Subprocess ", "test case CRASHED: ", "Segmentation ",
    "Illegal instruction", "Aborted ", "SIGABRT - ", "Bus error", "Floating point e", "Trace/breakpoint", "Fatal Python error",
    " detected ***", "terminate called", "Assertion '",
    "crashed while running", "(signal: ", "[signal SIG", "[ RUN      ] ", "[doctest] ", "TEST CASE:", " Start ", ".py::", " ... ", "=== RUN ",
    "LeakSanitizer has", "Tracer caught", "Could not attach", "suspending threads", "ptrace appears", "was not suspended", "gave up on indirect",
    "CHECK failed", "Shadow memory range", "ShadowMemoryRange failed", "Sanitizer failed to", "FATAL: ", "read suppressions", "parse suppressions",
    "not come first", "incompatible ASan", "valgrind: ", "first instrumented API", "Internal Sanitizer", "check Error", "attachable process",
    "injection library", "nested bug", "Defects: ", "san symbols", "Process terminating", "cudaErrorMemoryAllocation", "OUT_OF_MEMORY",
    "out of memory", "of memory: Kill", "CUDA error", "COMPUTE-SANITIZER", "CUDA-MEMCHECK", " SUMMARY: ", "| while", "OnError: ", "soft_fail: ",
)  # fmt: skip
# A search for the words is not the words; neither is a command that the shell traces.
QUOTED = re.compile(r"\A\s*\++ |\b(?:grep|egrep|rg|sed|awk) ")
# Behind the rows: words without which a line is no command of the shell that matters here.
COMMANDS = ("pipefail", "gitlab-runner", "tee", "grep ", "rg ", "sed ", "awk ", "+ ")
WORDS = Rows([*(row.needle for row in ROWS), *COMMANDS])
Found = tuple[K, int, str, str]  # a mark before it is made: many are found, and few are kept


class Reader:
    def __init__(self) -> None:
        self._marks: dict[K, list[Found]] = {}
        self._tee: list[Found] = []  # pipes into tee whose shell is not known yet
        self._pipefail = False
        self._unsummed: Found | None = None  # a compute-sanitizer that has not printed its summary
        self.wants_next = False  # the next line of the same key is the count that this one asked for

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:
        text = text[:LONGEST]
        outer = not key or not any(part.startswith("ctest:") for part in key)
        places = WORDS.of(text)
        command = bool(places) and places[-1] >= len(ROWS)
        if outer:
            self._shell(number, text, command=command)
        self.wants_next = (command or self.wants_next) and self._symbols(number, text)
        if text.startswith("========= "):
            self._cuda(number, text)
        quoted = command and QUOTED.search(text) is not None
        for place in places:
            row = ROWS[place] if place < len(ROWS) else None
            if row and (outer or not row.outer) and (not quoted or row.kind is K.MASKING):
                self._judge(row, number, text)

    def run(self, tests: Stretch) -> None:
        """What `line` makes of tests that begin."""
        kept = self._marks.get(K.TEST_TEXT, ())
        for line in tests.firsts() if len(kept) < sum(KEPT[K.TEST_TEXT]) else (tests.first(),):
            self._keep(K.TEST_TEXT, line.number, line.text, "")

    def finish(self) -> list[Mark]:
        for mark in self._tee if not self._pipefail else ():
            self._keep(*mark)
        ended = any(kind in self._marks for kind in (K.CANCELLED, K.TIMED_OUT, K.KILLED, K.RUNNER_LOST))
        if self._unsummed and not ended:
            self._keep(*self._unsummed)
        self._tee, self._unsummed = [], None
        marks = [Mark(*mark) for mark in chain.from_iterable(self._marks.values())]
        return sorted(marks, key=lambda mark: mark.number)

    def _judge(self, row: Row, number: int, text: str) -> None:
        if found := row.form.search(text):
            value = found.groupdict().get("v") or row.value
            self._keep(row.kind, number, text, value)

    def _keep(self, kind: K, number: int, text: str, value: str) -> None:
        marks = self._marks.setdefault(kind, [])
        if marks and marks[-1][1] == number:
            return  # one line says a thing once
        first, last = KEPT.get(kind, (FIRST, LAST))
        if len(marks) >= first + last:
            del marks[first]
        marks.append((kind, number, text, value))

    def _shell(self, number: int, text: str, *, command: bool) -> None:
        """GitHub prints a step's commands first and its shell behind them, which decides what the commands mean."""
        if text.startswith("shell: "):
            self._step("pipefail" in text)
        elif text.startswith("##[group]Run "):
            self._step(self._pipefail)
            self._pipefail = False
        if command and PIPEFAIL.search(text):
            self._pipefail = "+o pipefail" not in text
        if command and TEE.match(text) and not self._pipefail and len(self._tee) < FIRST:
            self._tee.append((K.MASKING, number, text, "| tee"))

    def _step(self, pipefail: bool) -> None:
        for mark in () if pipefail or self._pipefail else self._tee:
            self._keep(*mark)
        self._tee, self._pipefail = [], pipefail or self._pipefail

    def _symbols(self, number: int, text: str) -> bool:
        """Whether the next line is the count of symbols that this one asks for."""
        if self.wants_next and text.strip() == "0":
            self._keep(K.NOT_INSTRUMENTED, number, text, "symbols")
        # The shell traces a pipe's commands in any order, all before the first output.
        traced = self.wants_next and text.startswith("+ ")
        return traced or bool(SYMBOL_COUNT.search(text) and COUNTED.search(text))

    def _cuda(self, number: int, text: str) -> None:
        if text.startswith(("========= COMPUTE-SANITIZER", "========= CUDA-MEMCHECK")):
            self._unsummed = (K.DETECTOR_FAILED, number, text, "no_summary")
        elif " SUMMARY: " in text:
            self._unsummed = None
