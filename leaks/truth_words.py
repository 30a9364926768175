"""The examples of the published tables: judged by the real code, and told in words."""

from collections.abc import Iterable

from leaks import verdict
from leaks.parsing.dispatch import read
from leaks.rows.comparison import Side
from leaks.rows.facts import Judgement, LaneView, Line, MergedClaim
from leaks.rows.truth import Example
from leaks.truth_logs import Told

NOTHING_KNOWN = "nothing at all"


def judged(told: Told) -> Judgement:
    facts = None if told.log is None else read([told.log.encode()], env=told.claim.env).facts
    return verdict.judge(facts, told.claim, told.lane)


def worked(told: Told) -> Example:
    found = judged(told)
    answer = result(found.verdict, found.reason) + "".join(f" +{word(flag)}" for flag in found.flags)
    return Example(told.log or "", said(told), answer, tuple(_line(line) for line in found.because))


def _line(line: Line) -> str:
    return f"line {line.number}: {line.text.strip()}" if line.number else line.text


def said(told: Told) -> str:
    """What was known beside the log, in words."""
    words = [*_of_claim(told.claim), *_of_lane(told.lane)]
    if told.log is None:
        words.append("no log")
    return ", ".join(words) or NOTHING_KNOWN


def _of_claim(claim: MergedClaim) -> Iterable[str]:
    if claim.conclusion is not None:
        yield f"the CI says {claim.conclusion}"
    if claim.exit_code is not None:
        yield f"exit code {claim.exit_code}"
    yield from (f"{name}={value}" for name, value in claim.env.items())
    yield from (words for holds, words in _circumstances(claim) if holds)


def _circumstances(claim: MergedClaim) -> tuple[tuple[bool, str], ...]:
    return (
        (claim.ended is True, "it has ended"),
        (claim.has_job is False, "none of its jobs started"),
        (claim.newer_run and not claim.same_commit_run, "a newer run is known"),
        (claim.same_commit_run, "a newer run of the same commit is known"),
        (claim.silent, "its signs of life stopped"),
    )


def _of_lane(lane: LaneView) -> Iterable[str]:
    if lane.detectors:
        yield f"the lane expects {' and '.join(lane.detectors)}"
    if lane.rules:
        yield f"suppression rules {', '.join(lane.rules)}"
    if lane.canary:
        yield f"the lane expects the canary {lane.canary}"


def side(one: Side) -> str:
    """A side of a comparison in words: lane, verdict and what differs from an ordinary run."""
    words = [f"{one.lane} {result(one.verdict, one.reason)}"]
    words += [f"{name} {measure.bytes} B in {measure.objects}" for name, measure in one.signatures.items()]
    words += [f"{name}={value}" for options in one.options.values() for name, value in options.items()]
    if one.detectors:
        words.append(f"detects {' and '.join(sorted(one.detectors))}")
    if one.suppressed_bytes:
        words.append(f"{one.suppressed_bytes} B suppressed")
    if one.cut:
        words.append("log cut off")
    if one.tests is not None:
        words.append(f"{one.tests} tests")
    return f"({', '.join(words)})"


def result(verdict_word: str, reason: str | None) -> str:
    return f"{word(verdict_word)}: {word(reason)}" if reason else word(verdict_word)


def word(value: str) -> str:
    return str(value).replace("_", " ")
