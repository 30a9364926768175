"""Which lines of the log a verdict rests on: small pickers that the rows of the verdict's table name."""

from collections.abc import Callable

from leaks.blindness import blinders, narrowed
from leaks.exit_codes import SIGNALS, meaning
from leaks.rows.facts import Line
from leaks.situation import stopped_builds as stopped
from leaks.witnesses import Witnesses
from leaks.words import MarkKind

Pick = Callable[[Witnesses], tuple[Line, ...]]
AT_MOST = 5  # lines a person still reads


def marked(*kinds: MarkKind) -> Pick:
    return lambda w: w.lines(*kinds)


def stopped_builds(w: Witnesses) -> tuple[Line, ...]:
    """What stopped the build first: the tests may have run what an earlier one left."""
    return tuple(Line(mark.number, mark.text, mark.log) for mark in stopped(w)[:1])


def findings(w: Witnesses) -> tuple[Line, ...]:
    return w.facts.finding_lines


def summary(w: Witnesses) -> tuple[Line, ...]:
    tests = w.facts.tests
    return (Line(tests.line, tests.text, tests.log),) if tests else ()


def build_progress(w: Witnesses) -> tuple[Line, ...]:
    build = w.facts.build
    return (Line(build.line, build.text),) if build else ()


def exit_code(w: Witnesses) -> tuple[Line, ...]:
    """The last exit code that the log prints."""
    return w.lines(MarkKind.EXIT_CODE)[-1:]


def exit_meaning(w: Witnesses) -> tuple[Line, ...]:
    """What the exit code says. It is a line of no log."""
    code = w.exit_code
    says = meaning(code, words_of(w)) if code else ""
    if not says or code is None:
        return ()
    printed = f"{code}" if w.claim.exit_code in (None, code) else f"{w.claim.exit_code} ({code})"
    return (Line(0, f"Exit code {printed}: {says}{_behind_green(w, code)}."),)


def telling_exit(w: Witnesses) -> tuple[Line, ...]:
    """... unless it is the 1 that everything ends with."""
    return exit_meaning(w) if w.exit_code != 1 else ()


def words_of(w: Witnesses) -> frozenset[str]:
    """The tools, options and runners that the log showed."""
    runners = (tests.runner for tests in (w.facts.tests, *w.facts.inner_tests) if tests)
    return frozenset((*w.facts.tools, *w.options, *runners))


def _behind_green(w: Witnesses, code: int) -> str:
    tests = w.facts.tests
    green = tests is not None and tests.complete and bool(tests.passed) and not tests.failed
    return ", behind a test summary in which nothing failed" if green and code in SIGNALS else ""


def log_end(w: Witnesses) -> tuple[Line, ...]:
    ends = (w.facts.ends_in_block, w.facts.ends_in_test)
    return tuple(line for line in ends if line) or last_line(w)


def last_line(w: Witnesses) -> tuple[Line, ...]:
    return (w.facts.last_line,) if w.facts.last_line else ()


def blind_spots(w: Witnesses) -> tuple[Line, ...]:
    return tuple(line for blinder in blinders(w) for line in blinder.shown(w))


def caveats(w: Witnesses) -> tuple[Line, ...]:
    """What a success does not say, though it proves nothing wrong; and the canary that sang."""
    return (*canary(w), *narrowed(w)[:AT_MOST])


def canary(w: Witnesses) -> tuple[Line, ...]:
    """The planted finding, as expected: it is recorded like any other and counts for no verdict."""
    sung = w.lane.canary_findings
    if not sung:
        return ()
    records = f"{sung} record" if sung == 1 else f"{sung} records"
    return (Line(0, f"The canary {w.lane.canary} was found, as expected: {records}, which count as no finding."),)


def canary_and_exit(w: Witnesses) -> tuple[Line, ...]:
    """An exit code that the canary alone may have caused proves nothing about the rest."""
    if not canary(w):
        return ()
    return (
        *canary(w),
        Line(
            0, "Its report may have caused the exit code: let the lane run the canary apart, and check that it fails."
        ),
    )


def nothing(_: Witnesses) -> tuple[Line, ...]:
    """The row rests on what the CI says, not on a log."""
    return ()


def together(*picks: Pick) -> Pick:
    """What each picks, a line once, the first few."""
    return lambda w: tuple(dict.fromkeys(line for pick in picks for line in pick(w)))[:AT_MOST]


def ending_with(last: Pick, pick: Pick) -> Pick:
    """What `pick` picks, and behind it what must not be lost among many lines."""
    return lambda w: tuple(dict.fromkeys((*pick(w), *last(w))))


def first_of(*picks: Pick) -> Pick:
    """What the first that picks anything picks."""
    return lambda w: next((lines[:AT_MOST] for pick in picks if (lines := pick(w))), ())
