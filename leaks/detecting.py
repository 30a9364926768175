"""What two runs differ in so that one says nothing about the other: lane, detectors, options of detection, how far they came.

The runtimes' own defaults decide what an option that nobody set was: a default that is spelled out is no difference.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from leaks.folding import has_verdict
from leaks.rows.comparison import Difference, Side

Options = Mapping[str, Mapping[str, str]]
Option = tuple[str, str]  # variable, name

SUPPRESSIONS = "suppressions"
DETECTING_PREFIXES = ("detect_", "use_")
DETECTING = frozenset(
    {
        "leak_check_at_exit",
        "max_leaks",
        SUPPRESSIONS,
        "halt_on_error",
        "fast_unwind_on_malloc",
        "malloc_context_size",
    }
)
# By variable where tools differ.
DEFAULTS = {
    "detect_leaks": "1",
    "leak_check_at_exit": "1",
    "max_leaks": "0",
    SUPPRESSIONS: "",
    "fast_unwind_on_malloc": "1",
    "malloc_context_size": "30",
    "use_stacks": "1",
    "use_globals": "1",
    "use_registers": "1",
    "use_tls": "1",
    "use_root_regions": "1",
    "use_unaligned": "0",
    "use_poisoned": "0",
    "detect_odr_violation": "2",
    "detect_invalid_pointer_pairs": "0",
}
HALTS_BY_DEFAULT = {"ASAN_OPTIONS": "1", "MSAN_OPTIONS": "1"}
YES_NO = {"true": "1", "yes": "1", "false": "0", "no": "0"}
# The value under which a run reports no less than under any other. Where roots and unwinding change, other leaks are reported, not more.
WIDEST = {"max_leaks": "0", "halt_on_error": "0", "leak_check_at_exit": "1", "detect_leaks": "1"}
NOT_SET = "not set"


def detecting_options(options: Options) -> dict[Option, str]:
    """The options that change what is detected, defaults left out, a file by its name alone."""
    rows = ((var, name, _plain(name, value)) for var, values in options.items() for name, value in values.items())
    return {(var, name): value for var, name, value in rows if _detects(name) and value != _default(var, name)}


def _detects(name: str) -> bool:
    return name in DETECTING or name.startswith(DETECTING_PREFIXES)


def _default(variable: str, name: str) -> str | None:
    return HALTS_BY_DEFAULT.get(variable, "0") if name == "halt_on_error" else DEFAULTS.get(name)


def _plain(name: str, value: str) -> str:
    if name == SUPPRESSIONS:
        return PurePosixPath(value.replace("\\", "/")).name
    return YES_NO.get(value.lower(), value)


# --- What differs ----------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """One thing to look at: whether it keeps the sides apart, and how each side puts it."""

    what: str
    apart: Callable[[Side, Side], bool]
    words: Callable[[Side], str]


def _verdict(side: Side) -> str:
    said = side.verdict.value if side.reason is None else f"{side.verdict.value}: {side.reason.value}"
    return said.replace("_", " ")


def _detectors(side: Side) -> str:
    return ", ".join(sorted(side.detectors)) or "none named"


def ran_fewer_tests(base: Side, head: Side) -> bool:
    return base.tests is not None and head.tests is not None and head.tests < base.tests


ASKED = (
    Asked("verdict", lambda b, h: not (has_verdict(b.verdict) and has_verdict(h.verdict)), _verdict),
    Asked("lane", lambda b, h: b.lane != h.lane, lambda side: side.lane),
    Asked("detectors", lambda b, h: b.detectors != h.detectors, _detectors),
    Asked("log", lambda b, h: b.cut or h.cut, lambda side: "cut off" if side.cut else "whole"),
    Asked("tests", ran_fewer_tests, lambda side: f"{side.tests:,} run"),
    Asked(
        "end of the tests",
        lambda b, h: not (b.tests_complete and h.tests_complete),
        lambda side: "reached" if side.tests_complete else "not reached",
    ),
)


def differences(base: Side, head: Side) -> tuple[Difference, ...]:
    """Everything that keeps the sides apart, or keeps one of them from being complete."""
    told = [Difference(one.what, one.words(base), one.words(head)) for one in ASKED if one.apart(base, head)]
    return (*told, *option_differences(base.options, head.options))


def option_differences(base: Options, head: Options) -> tuple[Difference, ...]:
    return tuple(
        Difference(" ".join(option), _said(option, base), _said(option, head)) for option in _apart(base, head)
    )


def _apart(base: Options, head: Options) -> Iterator[Option]:
    before, after = detecting_options(base), detecting_options(head)
    yield from (option for option in sorted({*before, *after}) if before.get(option) != after.get(option))


def _said(option: Option, options: Options) -> str:
    """As it was set, else what the tool takes when nobody sets it."""
    variable, name = option
    value = options.get(variable, {}).get(name)
    if value is not None:
        return value or "empty"
    default = _default(variable, name)
    return f"{default} by default" if default else NOT_SET


# --- A run that could have shown at least as much ----------------------------------------------------------------------


def as_wide(before: Side, after: Side) -> bool:
    """Whether AFTER had the same or more detectors, the same or wider options, and the same or fewer suppressions."""
    wider = all(_wider(option, after.options) for option in _apart(before.options, after.options))
    return after.detectors >= before.detectors and wider and _suppresses_no_more(before, after)


def _wider(option: Option, after: Options) -> bool:
    variable, name = option
    if name == SUPPRESSIONS:
        return True  # asked by themselves
    value = detecting_options(after).get(option, _default(variable, name))
    return name in WIDEST and value == WIDEST[name]


def _suppresses_no_more(before: Side, after: Side) -> bool:
    """By the rules themselves where both texts are known, else by the names of the files."""
    mine, theirs = _files(after), _files(before)
    if after.rules and (before.rules or not theirs):
        return after.rules <= before.rules
    return mine <= theirs


def _files(side: Side) -> frozenset[tuple[Option, str]]:
    return frozenset(item for item in detecting_options(side.options).items() if item[0][1] == SUPPRESSIONS)


def suppression_differences(before: Side, after: Side) -> tuple[Difference, ...]:
    """The rules that AFTER has in addition, where they are known."""
    added = sorted(after.rules - before.rules)
    return (Difference("suppression rules", "without them", ", ".join(added[:5])),) if added else ()
