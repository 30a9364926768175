"""What single lines say about the lane itself: the CI's own words, the shell's, and the trouble of the detectors.

`leaks/parsing/mark_rows.py` is the table. Two things need more than one line: a pipe into tee, which masks the exit code only if
the shell knows no pipefail, and a symbol count, whose number stands in the next line (`wants_next` asks for it).
"""

import re
from itertools import chain

from leaks.parsing.mark_rows import ROWS, Row
from leaks.parsing.needles import Rows
from leaks.parsing.runs import Stretch
from leaks.rows.facts import Mark
from leaks.words import MarkKind as K

FIRST, LAST = 10, 10  # marks kept of each kind from both ends of the log
KEPT = {K.TEST_TEXT: (2, 1), K.OUTPUT_SHOWN: (3, 1)}
LONGEST = 2000
TEE = re.compile(r"\A(?:\+ tee(?:\s|\Z)|.*\|&?\s*tee\s)")
# GitLab's runner sets pipefail by itself.
PIPEFAIL = re.compile(r"\bset [-+][^;&|]{0,60}pipefail|-o pipefail|\ARunning with gitlab-runner ")
SYMBOL_COUNT = re.compile(r"\bgrep [^|]{0,80}\b__[a-z]{1,2}san[^|]{0,80}(?:\| *wc -l)?\s*\Z")
COUNTED = re.compile(r"\bgrep (?:-\w+ )*-\w*c|\bwc -l")
# A word of every row, as few as possible and none that occurs in a frame: each one is searched for in every line of a log.
NEEDLES = (
    "was cancel", "Canceling since", "canceled externally", "Finished: ABORTED", "nested steps", "exceeded", "timed out after",
    "timeout: sending", "shutdown signal", "Killed", "Terminated", "lost communication", "running your job", "Job failed", "Cannot contact ",
    "went offline", "Unable to resolve action", "exit code", "exit status", "xited with", "exit:", "exit=", "EXIT", "response from daemon",
    "initialize container", "fatal: ", "ailed to download a", "E: Unable", "E: Failed", "Preparation failed", "llegal option", "No space left",
    ": No module named ", "|| ", "+ true", "continue-on-error", "CONTINUE_ON_ERROR", "allow_failure", "allowed to fail", "set +e", "| tee", "& tee",
    "Alarm clock", "+ tee", "pipefail", "shell: ", "##[group]Run ", "gitlab-runner", "grep ", "***Exception", "(Subprocess ", "test case CRASHED: ",
    "Segmentation ", "Illegal instruction", "Aborted", "Abort trap", "SIGABRT - ", "Bus error", "Floating point e", "Trace/breakpoint",
    "Fatal Python error", " detected ***", "terminate called", "Assertion '", "Assertion `", "Assertion failed: ", "dumped core",
    "crashed while running", "(signal: ", "[signal SIG", "[ RUN      ] ", "[doctest] ", "TEST CASE:", " Start ", ".py::", " ... ", "=== RUN ",
    "LeakSanitizer has", "Tracer caught", "Could not attach", "suspending threads", "ptrace appears", "was not suspended", "gave up on indirect",
    "CHECK failed", "Shadow memory range", "ShadowMemoryRange failed", "Sanitizer failed to", "FATAL: ", "read suppressions", "parse suppressions",
    "not come first", "incompatible ASan", "valgrind: ", "first instrumented API", "Internal Sanitizer", "check Error", "attachable process",
    "injection library", "nested bug", "Defects: ", "san symbols", "Process terminating", "cudaErrorMemoryAllocation", "OUT_OF_MEMORY",
    "out of memory", "of memory: Kill", "CUDA error", "COMPUTE-SANITIZER", "CUDA-MEMCHECK", " SUMMARY: ", "| while", "OnError: ", "soft_fail: ",
    "Test command: ", "<end of output>", "  RUNNING", "- stdout -", "- stderr -", "== Test output for ", "(exit status: ", "= PASSES =", "pytest ",
    "--no-capture", "--nocapture", "--success-output", "Memcheck, a memory", ", a thread error detector", "<valgrindoutput>", " MemCheck",
    "valgrind -", "valgrind .", "valgrind /", "valgrind\" ", "valgrind' ", "valgrind \"", "compute-sanitizer ",
)  # fmt: skip
# A search for the words is not the words; neither is a command that the shell traces.
QUOTED = re.compile(r"\A\s*\++ |\b(?:grep|egrep|rg|sed|awk) ")
COMMANDED = frozenset({K.MASKING, K.OUTPUT_SHOWN, K.DETECTOR_RAN})  # ... but what a command does, its trace tells
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
            if row and (outer or not row.outer) and (not quoted or row.kind in COMMANDED):
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
