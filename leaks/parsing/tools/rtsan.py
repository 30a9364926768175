"""RealtimeSanitizer, and the tools whose report is laid out like its own: a banner, sentences, one stack, perhaps a SUMMARY.

These are TypeSanitizer, DataFlowSanitizer, NumericalStabilitySanitizer and libFuzzer. A kind is the tool's own word where it has one.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from leaks.evidence import Report
from leaks.parsing.blocks import Block
from leaks.parsing.summaries import NO_REPORT, UNKNOWN, SummarisedBlock

NEEDLES = (
    "RealtimeSanitizer: ",
    "TypeSanitizer: ",
    "DataFlowSanitizer: ",
    "StabilitySanitizer: ",
    "libFuzzer: ",
    "Real-time violation: ",
)


class Tool(NamedTuple):
    """`kinds`: what the sentence begins with, blanks become hyphens. `has_summary`: each report ends with one."""

    word: str
    kinds: re.Pattern[str]
    has_summary: bool = False


HYPHENATED = re.compile(r"[a-z]{1,40}(?:-[a-z]{1,40}){1,8}(?=[ :;(]|$)|[A-Z]{3,7}(?= on unknown address)")
FUZZER = re.compile(
    r"(?:deadly signal|timeout|out-of-memory|fuzz target exited|fuzz target overwrites its const input)(?=[ (]|$)"
)
TOOLS: dict[str, Tool] = {
    "RealtimeSanitizer": Tool("rtsan", HYPHENATED, has_summary=True),
    "TypeSanitizer": Tool("tysan", HYPHENATED),
    "DataFlowSanitizer": Tool("dfsan", HYPHENATED),
    "NumericalStabilitySanitizer": Tool("nsan", HYPHENATED),
    "libFuzzer": Tool("libfuzzer", FUZZER, has_summary=True),
}
HEADER = re.compile(
    r"(?:==(?:[^=\s]{1,100}==)?(?P<pid>\d{1,10})==\s?|(?:^|[^\w\"'`=/.]))(?:ERROR|WARNING): "
    rf"(?P<name>{'|'.join(TOOLS)}): (?P<sentence>\S.*)$"
)
# Before it had banners.
VIOLATION = re.compile(r"(?:^|\s)Real-time violation: intercepted call to real-time unsafe function")
OWN_LINES = re.compile(
    r"Intercepted call to|Call to blocking function|(?:READ|WRITE) of size \d|NOTE: libFuzzer|==\d+==(?:Hint|The signal)"
)
END = re.compile(r"SUMMARY: libFuzzer: |==(?P<pid>\d{1,10})==\s?ABORTING")


class SmallBlock(SummarisedBlock):
    own_lines = OWN_LINES
    end = END

    def __init__(self, number: int, headline: str, pid: int | None, name: str, sentence: str) -> None:
        tool = TOOLS[name]
        super().__init__(number, headline, pid, kind_of(tool, sentence), sentence)
        self.tool, self.sanitizer, self.has_end = tool.word, name, tool.has_summary

    def report(self) -> Report:
        return replace(super().report(), truncated=self.has_end and not self.ended)


def kind_of(tool: Tool, sentence: str) -> str:
    match = tool.kinds.match(sentence)
    return match[0].replace(" ", "-") if match else UNKNOWN


def opens(number: int, text: str) -> Block | None:
    if match := VIOLATION.search(text):
        block = SmallBlock(number, text.strip(), None, "RealtimeSanitizer", "unsafe-library-call")
        block.has_end = False
        return block
    match = HEADER.search(text)
    if match is None or NO_REPORT.match(match["sentence"]):
        return None
    pid = int(match["pid"]) if match["pid"] else None
    return SmallBlock(number, match[0].strip(), pid, match["name"], match["sentence"].rstrip())
