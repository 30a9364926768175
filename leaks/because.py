"""Which lines of the log a verdict rests on: small pickers that the rows of the verdict's table name."""

from collections.abc import Callable

from leaks.blindness import blinders
from leaks.rows.facts import Line
from leaks.witnesses import Witnesses
from leaks.words import MarkKind

Pick = Callable[[Witnesses], tuple[Line, ...]]
AT_MOST = 5  # lines a person still reads


def marked(*kinds: MarkKind) -> Pick:
    return lambda w: w.lines(*kinds)


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


def log_end(w: Witnesses) -> tuple[Line, ...]:
    ends = (w.facts.ends_in_block, w.facts.ends_in_test)
    return tuple(line for line in ends if line) or last_line(w)


def last_line(w: Witnesses) -> tuple[Line, ...]:
    return (w.facts.last_line,) if w.facts.last_line else ()


def blind_spots(w: Witnesses) -> tuple[Line, ...]:
    return tuple(line for blinder in blinders(w) for line in blinder.shown(w))


def nothing(_: Witnesses) -> tuple[Line, ...]:
    """The row rests on what the CI says, not on a log."""
    return ()


def together(*picks: Pick) -> Pick:
    """What each picks, a line once, the first few."""
    return lambda w: tuple(dict.fromkeys(line for pick in picks for line in pick(w)))[:AT_MOST]


def first_of(*picks: Pick) -> Pick:
    """What the first that picks anything picks."""
    return lambda w: next((lines[:AT_MOST] for pick in picks if (lines := pick(w))), ())
