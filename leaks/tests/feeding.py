"""Feeding a reader of the parsing rooms by hand: lines in, what it says of them out."""

from textwrap import dedent

from leaks.rows.facts import TestSummary


def feed(reader, text, key=()):
    """The lines of `text`, numbered from 1, as one stream. A block of its own lines may be indented."""
    block = dedent(text).strip("\n") if text.startswith("\n") else text
    for number, line in enumerate(block.splitlines(), 1):
        reader.line(number, line, key)
    return reader


def counts(summary: TestSummary):
    return summary.total, summary.passed, summary.failed, summary.skipped


def only(summaries):
    (summary,) = summaries
    return summary


def needed(module, text):
    """Whether the dispatch would hand the line to the module's reader."""
    return any(needle in text for needle in module.NEEDLES)
