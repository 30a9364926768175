"""Which lane a CI job is of, and which part of it."""

import time

import pytest

from leaks.providers.job_names import Job, compiled_pattern, parse, place, sanitizer_of, suggested_pattern
from leaks.rows.events import JobPlace, LaneNames

ASAN = LaneNames("asan", ("address",), (r"(?i)linux[ -]asan", r"asan-(\w+)"))
TSAN = LaneNames("tsan", ("thread (gcc)",), (r"(?i).*thread.*",))
LANES = [TSAN, ASAN]


@pytest.mark.parametrize(
    ("name", "job", "part"),
    [
        ("asan", Job("asan"), ""),
        ("asan (ubuntu-22.04, gcc-12)", Job("asan", "ubuntu-22.04, gcc-12"), "ubuntu-22.04, gcc-12"),
        ("asan 2/4", Job("asan", "", 2, 4), "2"),
        ("asan (2/4)", Job("asan", "", 2, 4), "2"),
        ("asan (shard 2 of 4)", Job("asan", "", 2, 4), "2"),
        ("asan: [aws, eu]", Job("asan", "aws, eu"), "aws, eu"),
        ("asan (a (b))", Job("asan", "a (b)"), "a (b)"),
        ("ci / asan (gcc)", Job("ci / asan", "gcc"), "gcc"),
        ("asan 5/4", Job("asan", "5/4"), "5/4"),
        ("asan 0/4", Job("asan", "0/4"), "0/4"),
        ("(asan)", Job("(asan)"), ""),
        ("asan)", Job("asan)"), ""),
        ("", Job(""), ""),
    ],
)
def test_a_name_without_matrix_and_shard(name: str, job: Job, part: str) -> None:
    assert parse(name) == job
    assert parse(name).part == part


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("asan", JobPlace("asan")),
        ("asan (gcc)", JobPlace("asan", "gcc")),
        ("asan 2/4", JobPlace("asan", "2", 2, 4)),
        ("address 1/2", JobPlace("asan", "1", 1, 2)),
        ("Linux ASan", JobPlace("asan")),
        ("linux-asan (clang)", JobPlace("asan", "clang")),
        ("asan-gpu", JobPlace("asan", "gpu")),  # what a group caught
        ("thread (gcc)", JobPlace("tsan", "gcc")),  # an alias of the whole name
        ("my threads", JobPlace("tsan")),
        ("no-asan", None),  # a pattern is over the whole name
        ("asan linux asan", None),
        ("lint", None),
    ],
)
def test_the_lane_of_a_job(name: str, found: JobPlace | None) -> None:
    assert place(name, LANES) == found
    assert place(name, reversed(LANES)) == found


def test_a_name_comes_before_an_alias_and_that_before_a_pattern() -> None:
    greedy, named, known = LaneNames("a", (), (".*",)), LaneNames("z"), LaneNames("y", ("z", "x"))
    assert place("z", [greedy, named, known]) == JobPlace("z")
    assert place("x", [greedy, named, known]) == JobPlace("y")
    assert place("w", [greedy, named, known]) == JobPlace("a")


@pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", "(", "a{2000}"])
def test_a_pattern_that_re2_does_not_take_matches_nothing(pattern: str) -> None:
    assert compiled_pattern(pattern) is None
    assert place("aa", [LaneNames("x", (), (pattern,))]) is None


def test_a_hostile_pattern_takes_linear_time() -> None:
    lane = LaneNames("x", (), (r"(a*)*b", r"(a|a)*b", r"(.*)*,(.*)*,(.*)*$b"))
    begun = time.perf_counter()
    assert place("a" * 200, [lane]) is None
    assert place("(" * 200 + ")", [lane]) is None
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize(
    ("name", "lane"),
    [
        ("Linux ASan + UBSan", "asan-ubsan"),
        ("build (AddressSanitizer)", "asan"),
        ("address,undefined", "asan-ubsan"),
        ("thread-sanitizer", "tsan"),
        ("test_valgrind_memcheck", "valgrind"),
        ("hwasan", "hwasan"),
        ("compute-sanitizer racecheck", "compute-sanitizer"),
        ("sanitizers", "sanitizers"),
        ("Leak check", "lsan"),
        ("lint", ""),
        ("titan build", ""),
        ("artisan", ""),
    ],
)
def test_sanitizers_that_a_name_speaks_of(name: str, lane: str) -> None:
    assert sanitizer_of(name) == lane


@pytest.mark.parametrize("name", ["Linux ASan+UBSan", "ci / asan [x]", "a.b", "ASan (debug) build", "a / b: c"])
def test_a_suggested_pattern_finds_the_job_it_was_made_from(name: str) -> None:
    lane = LaneNames("x", (), (suggested_pattern(name),))
    assert place(name, [lane]) is not None
    assert place(name.upper(), [lane]) is not None
    assert place(f"no {name}", [lane]) is None
