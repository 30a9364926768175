"""Go's race detector: ThreadSanitizer's runtime with a report of its own.

Upstream rules (`tsan_report.cpp`, the Go part): a report stands between two fences and says nothing of its process; a frame is a line with
the function and one with its place; there is no SUMMARY. `go test` fails the test that ran, and names it before the report (-v) or
behind it.
"""

import re

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, OpenStack, StackedBlock
from leaks.parsing.summaries import LONGEST_DETAIL, Count
from leaks.words import Role

TOOL = "go-race"
NEEDLES = ("WARNING: DATA RACE", "WARNING: DEADLOCK", " data race(s)")

HEADER = re.compile(r"(?:^|[\s|\])])(?<!// )(?<!# )WARNING: (DATA RACE|DEADLOCK)\s*$")
KINDS = {"DATA RACE": "data-race", "DEADLOCK": "lock-order-inversion"}
COUNT = re.compile(r"(?:^|\s)Found (\d{1,9}) data race\(s\)")
FENCE = re.compile(r"(?:^|[^=])={18}\s*$")

GOROUTINE = r"(?P<thread>main goroutine|goroutine \d{1,19})"
FIRST = re.compile(
    rf"^\s*(?:(?:Read|Write) at (?P<at>0x[0-9a-f]+) by {GOROUTINE}:|Goroutine \d+ lock mutex \d+ while holding)"
)
SECTIONS: tuple[tuple[re.Pattern[str], Role], ...] = tuple(
    (re.compile(pattern), role)
    for pattern, role in (
        (rf"^\s*Previous (?:read|write) at 0x[0-9a-f]+ by {GOROUTINE}:", Role.PREVIOUS_ACCESS),
        (r"^\s*(?P<thread>Goroutine \d{1,19}) \([a-z ]{1,40}\) created at:", Role.THREAD_CREATED),
        (rf"^\s*Heap block of size \d+ at 0x[0-9a-f]+ allocated by {GOROUTINE}:", Role.ALLOCATED),
        (r"^\s*Goroutine \d+ lock mutex \d+ while holding", Role.OTHER),
        (r"^\s*Mutex \d+ was previously locked here:", Role.PREVIOUS_ACCESS),
    )
)
FUNCTION = re.compile(r"^\s*([^\s\[]{1,500}(?:\[[^\]]{0,300}\]\S{0,300})?\(\))\s*$")
PLACE = re.compile(r"^\s*(\S.{0,1000}?):(\d{1,9})(?: \+0x[0-9a-f]+)?\s*$")
NO_FILE = frozenset({"-", "??"})
OWN_LINES = re.compile(r"^\s*(?:Global var .{1,300} declared at |\[failed to restore the stack\])")

FAILED_TEST = re.compile(r"^\s*--- FAIL: (\S+) \(")
DETECTED = "race detected during execution of test"
# Behind them no line names the test of an earlier report.
NO_TEST_FOLLOWS = re.compile(
    r"^(?:FAIL|PASS|ok  )(?:\s|$)|^\s*(?:=== (?:RUN|CONT|PAUSE) |--- PASS: )|^exit status |^(?:panic|fatal error): |Found \d+ data race"
)


class Race(StackedBlock):
    """One report between fences; behind the closing one it waits for the name of its test, if none is known."""

    patience = 500
    sections = SECTIONS

    def __init__(self, number: int, headline: str, kind: str) -> None:
        super().__init__(number, headline, None)
        self.kind = kind
        self.said: list[str] = []
        self._function = ""  # whose place must follow

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  its frames have no numbers
        return False

    def welcomes(self) -> bool:
        return False

    def take(self, number: int, text: str) -> bool:
        if self.ended:
            self._look_for_test(text)
            return False
        if HEADER.search(text):
            self.close()
            return False
        if FENCE.search(text):
            self._fence()
            return True
        taken = self._frame(text) or self._section(text)
        if taken:
            self.last = number
        return taken

    def _fence(self) -> None:
        self.ended = True
        if self.test is not None:
            self.close()

    def _look_for_test(self, text: str) -> None:
        """Of nested tests the innermost is named last before the sentence that a race was detected."""
        failed = FAILED_TEST.match(text)
        if failed and (self.test is None or failed[1].startswith(f"{self.test}/")):
            self.test = failed[1]
        elif failed or DETECTED in text or NO_TEST_FOLLOWS.search(text):
            self.close()

    def _section(self, text: str) -> bool:
        if len(self.stacks) == 1 and not self.stacks[0].size and not self.said and (match := FIRST.match(text)):
            self.stacks[0] = OpenStack(Role.ACCESS, match["thread"])
            self.said.append(text.strip().rstrip(":"))
            return True
        if OWN_LINES.match(text):
            self.said.append(text.strip())
            return True
        return self.introduces(text)

    def _frame(self, text: str) -> bool:
        if match := FUNCTION.match(text):
            self._function = match[1]
            return True
        match = PLACE.match(text) if self._function else None
        if match is None:
            return False
        function, self._function = self._function, ""
        self.stacks[-1].add(frame(function, match[1], int(match[2])))
        return True

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(
            Report(
                tool=TOOL,
                kind=self.kind,
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                stacks=self.other_stacks,
                truncated=not self.ended,
                detail="; ".join(self.said)[:LONGEST_DETAIL],
            )
        )


def frame(function: str, file: str, line: int) -> Frame:
    """Both lines as one. The offset in the function is left out: it is as good as an address."""
    if file in NO_FILE:
        return Frame(function, None if function == "??()" else function)
    return Frame(f"{function} {file}:{line}", function, file, line or None)


def opens(number: int, text: str) -> Block | None:
    if match := HEADER.search(text):
        return Race(number, match[0].strip(), KINDS[match[1]])
    if match := COUNT.search(text):
        return Count(number, match[0].strip(), TOOL, int(match[1]))
    return None
