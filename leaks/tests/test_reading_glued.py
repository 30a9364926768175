"""Two processes write one line: what the second one glued on does not take the first one's report away."""

import pytest

from leaks.parsing.dispatch import read

FRAME = "    #1 0x55dff73c1c8d in xmalloc (/usr/bin/bash+0x9ac8d)\n"
HEADLINES = (
    "/src/calc.cpp:8:64: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'",
    "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x603000000040 at pc 0x55b2e83ec461",
    "WARNING: ThreadSanitizer: data race (pid=7)",
    "WARNING: ThreadSanitizer: thread leak",
    "==7==WARNING: MemorySanitizer: use-of-uninitialized-value",
    "==7==ERROR: SomeSanitizer: something new",
)


@pytest.mark.parametrize("headline", HEADLINES)
@pytest.mark.parametrize("frame", [FRAME, FRAME.replace("#1", "#0")])
def test_a_frame_behind_a_headline_does_not_hide_the_report(headline: str, frame: str) -> None:
    data = (headline + frame).encode()
    assert read([data]).facts.findings == 1
    assert read([data]) == read([data], fast=False)
