"""What the rules of AddressSanitizer and UndefinedBehaviorSanitizer would hide."""

import pytest

from leaks.evidence import Frame, Report
from leaks.rule_sets import Certainty
from leaks.rule_types import Suppressor
from leaks.tests.test_reach import told

CERTAIN, POSSIBLE, UNDECIDABLE = Certainty

COPY = (
    Frame("memcpy", "__interceptor_memcpy", "/x/libsanitizer/sanitizer_common/interceptors.inc", 827),
    Frame("pack", "pack(char*)", "/src/pack.cpp", 3),
)


@pytest.mark.parametrize(
    ("rules", "kind", "frames", "found"),
    [
        ("interceptor_name:memcpy", "heap-buffer-overflow", COPY, (1, CERTAIN)),
        ("interceptor_name:^memcpy$", "memcpy-param-overlap", COPY, (1, CERTAIN)),
        ("interceptor_via_fun:pack", "heap-buffer-overflow", COPY, (1, CERTAIN)),
        ("interceptor_via_lib:libvendor.so", "heap-buffer-overflow", COPY, (1, POSSIBLE)),
        ("interceptor_name:memset", "heap-buffer-overflow", COPY, None),
        ("interceptor_via_fun:pack", "heap-buffer-overflow", COPY[1:], None),  # its own access no rule hides
        ("interceptor_via_fun:pack", "double-free", COPY, None),
        ("interceptor_via_fun:pack", "SEGV", COPY, None),
        ("interceptor_via_fun:pack", "heap-use-after-free", (Frame("m", "__asan_memcpy"), COPY[1]), None),
        (
            "interceptor_via_fun:pack",
            "heap-use-after-free",
            (Frame("m", "memcpy", module="/a"), COPY[1]),
            (1, POSSIBLE),
        ),
    ],
)
def test_an_interceptor_can_be_silenced(rules: str, kind: str, frames, found) -> None:
    assert told(rules, [Report("asan", kind, 1, "", frames)]) == [found]


SHIFT = Report(
    "ubsan",
    "undefined-behavior:shift-exponent",
    1,
    "",
    (Frame("a", "pack(int)", "/src/pack.cpp", 3), Frame("b", "main", "/src/main.cpp", 9)),
    place=Frame("p", file="pack.cpp", line=3),
)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("shift-exponent:pack", (1, CERTAIN)),
        ("shift-exponent:pack.cpp$", (1, CERTAIN)),
        ("shift-exponent:^/src/pack.cpp", (1, CERTAIN)),
        (
            "shift-exponent:main",
            (1, POSSIBLE),
        ),  # only the innermost frame is asked; old runtimes may miss what is inlined
        ("shift-base:pack", None),
        ("undefined:pack", None),
        ("shift-exponent:libvendor.so", (1, POSSIBLE)),
    ],
)
def test_a_check_is_known_by_its_place(rules: str, found: tuple[int, str] | None) -> None:
    assert told(rules, [SHIFT], Suppressor.UBSAN) == [found]


def test_a_check_without_a_stack_does_not_show_its_function() -> None:
    bare = Report("ubsan", SHIFT.kind, 1, "", place=SHIFT.place)
    assert told("shift-exponent:pack.cpp", [bare]) == [(1, CERTAIN)]
    assert told("shift-exponent:pack(", [bare]) == [(1, UNDECIDABLE)]


def test_checks_that_share_a_sentence_are_not_told_apart() -> None:
    report = Report("ubsan", "undefined-behavior:implicit-conversion", 1, "", SHIFT.frames, place=SHIFT.place)
    assert told("implicit-signed-integer-truncation:pack", [report]) == [(1, POSSIBLE)]


def test_a_path_with_blanks_is_whole_in_the_stack_alone() -> None:
    frames = (Frame("a", "pack(int)", "my src/pack.cpp", 3),)
    report = Report("ubsan", SHIFT.kind, 1, "", frames, place=Frame("p", file="src/pack.cpp", line=3))
    assert told("shift-exponent:^src/pack.cpp", [report]) == [None]
    assert told("shift-exponent:my src", [report]) == [(1, CERTAIN)]


def test_without_frames_nothing_can_be_decided() -> None:
    assert told("interceptor_via_fun:pack", [Report("asan", "heap-buffer-overflow", 1, "")]) == [(1, UNDECIDABLE)]
    assert told("interceptor_via_fun:pack", [Report("asan", "double-free", 1, "")]) == [None]
