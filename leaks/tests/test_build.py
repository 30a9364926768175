import pytest

from leaks.parsing import build
from leaks.parsing.build import BROKEN, REPEATED, Reader
from leaks.tests.feeding import feed, needed
from leaks.words import Detector, MarkKind

STEPS = [
    ("[ 31%] Building CXX object CMakeFiles/engine.dir/src/kv/beam.cpp.o", (31, None, None)),
    ("[100%] Built target counter_unit", (100, None, None)),
    ("[212/480] Building CXX object tests/relay.cpp.o", (44, 212, 480)),
    ("[3/5] : && /usr/bin/c++ -o t a.o", (60, 3, 5)),
    ("[1/9] /usr/bin/clang++-19 -c a.cpp -o a.o", (11, 1, 9)),
    ("[1,234 / 2,468] Compiling src/a.cc", (50, 1234, 2468)),
    ("[12/40] Linking target libx.so", (30, 12, 40)),
]
NO_STEPS = [
    "[1/2] calc_shift_test",
    "[1/2] calc_shift_test FAIL (exit status 132)",
    "[ 50%] PASSED tests/test_a.py::test_b",
    "[gw0] [  9%] PASSED tests/test_close.py::test_a",
    "[7/3] Building nonsense",
    "[0/0] Building nothing",
    "lines covered: [ 31%] Building",
]
STOPPED = [
    "make: *** [Makefile:88: check] Error 1",
    "make[2]: *** [Makefile:71: test] Error 8",
    "/usr/bin/gmake: *** [t] Error 1",
    "ninja: build stopped: subcommand failed.",
]
NOT_BROKEN = [
    "make: [Makefile:88: check] Error 1 (ignored)",
    "make: *** Waiting for unfinished jobs....",
    "+ echo 'ninja: build stopped: subcommand failed.'",
    "FAILED: tests/relay_tests",
    "FAILED tests/test_x.py::test_b - assert 0",
    "src/ub.cpp:8:64: runtime error: signed integer overflow",
    "tests/test_memory.cpp:94: ERROR: test case THREW exception: boom",
    "t.cpp(8): error: Value of: x",
    "t.cpp:8: error: Failure in TEST(a, b)",
    "error: test failed, to rerun pass `--lib`",
    "E   error: in a test",
    "config.yaml:12:3: error: bad key",
]
HALTING = [
    "-fsanitize=undefined -fno-sanitize-recover=all",
    "-fsanitize=address,undefined -fno-sanitize-recover=undefined",
    "-fsanitize=undefined -fno-sanitize-recover=address,undefined",
    "-fsanitize=undefined -fno-sanitize-recover",
    "-fsanitize=undefined -fsanitize-trap=all",
    "-fsanitize=undefined -fsanitize-trap",
    "-fsanitize=undefined -fsanitize-undefined-trap-on-error",
]
GOING_ON = [
    "-fsanitize=undefined",
    "-fsanitize=address,undefined -fno-sanitize-recover=address",
    "-fsanitize=undefined -fsanitize-recover=all",
    "-fsanitize=undefined -fno-sanitize-recover=signed-integer-overflow",
]
GCC = "/usr/bin/c++ -O0 -g {} -o a.o -c src/a.cpp"


@pytest.mark.parametrize(("line", "numbers"), STEPS)
def test_it_reads_how_far_the_build_came(line, numbers):
    progress = feed(Reader(), line).finish()
    assert (progress.percent, progress.done, progress.of) == numbers
    assert progress.text == line
    assert needed(build, line)


@pytest.mark.parametrize("line", NO_STEPS)
def test_other_counters_are_no_build(line):
    assert feed(Reader(), line).finish() is None


def test_the_last_step_counts():
    assert feed(Reader(), STEPS[0][0] + "\n" + STEPS[2][0]).finish().done == 212


@pytest.mark.parametrize("row", BROKEN, ids=lambda row: row.sample)
def test_each_way_to_break_is_marked(row):
    (mark,) = feed(Reader(), row.sample).marks()
    assert (mark.kind, mark.text) == (MarkKind.BUILD_FAILED, row.sample)
    assert needed(build, row.sample)


@pytest.mark.parametrize("row", REPEATED, ids=lambda row: row.sample)
def test_a_target_without_a_file_counts_behind_a_step_that_broke(row):
    assert MarkKind.BUILD_FAILED not in kinds(row.sample)
    assert kinds(BROKEN[0].sample + "\n" + row.sample) == [MarkKind.BUILD_FAILED] * 2
    assert needed(build, row.sample)


def kinds(text):
    return [mark.kind for mark in feed(Reader(), text).marks()]


@pytest.mark.parametrize("line", NOT_BROKEN)
def test_a_failed_test_is_no_broken_build(line):
    assert feed(Reader(), line).marks() == []


@pytest.mark.parametrize("line", STOPPED)
def test_make_or_ninja_that_stops_may_have_stopped_at_a_test(line):
    assert kinds(line) == [MarkKind.STEP_FAILED]
    assert needed(build, line)
    assert feed(Reader(), line, ("ctest:3",)).marks() == []


def test_what_a_ctest_test_prints_is_no_build_of_ours():
    reader = feed(Reader(), BROKEN[0].sample + "\n" + STEPS[0][0], ("ctest:3",))
    assert (reader.marks(), reader.finish()) == ([], None)


@pytest.mark.parametrize(
    ("flags", "detectors"),
    [
        ("-fsanitize=address,undefined", {Detector.ADDRESS, Detector.UNDEFINED}),
        ("-fsanitize=thread", {Detector.THREAD}),
        ("-fsanitize=memory -fsanitize=fuzzer", {Detector.MEMORY}),
        ("-fsanitize=leak", {Detector.LEAK}),
        ("-fsanitize=signed-integer-overflow,shift", {Detector.UNDEFINED}),
        ("-fsanitize=hwaddress", {Detector.ADDRESS}),
        ("-fno-sanitize=address", set()),
    ],
)
def test_the_compile_lines_tell_which_detectors_are_linked_in(flags, detectors):
    assert feed(Reader(), GCC.format(flags)).detectors() == detectors


@pytest.mark.parametrize(
    ("line", "detectors"),
    [
        ("+ cmake -B build -DCMAKE_CXX_FLAGS=-fsanitize=address", {Detector.ADDRESS}),
        ("  CXXFLAGS: -g -fsanitize=thread", {Detector.THREAD}),
        ("+ RUSTFLAGS=-Zsanitizer=address cargo test", {Detector.ADDRESS}),
        ("+ go test -v -race ./...", {Detector.THREAD}),
        ("+ grep -R -e -fsanitize=address .", set()),
    ],
)
def test_flags_tell_it_too_and_a_search_does_not(line, detectors):
    assert feed(Reader(), line).detectors() == detectors


def test_compile_lines_without_a_sanitizer_prove_that_nothing_is_instrumented():
    (mark,) = feed(Reader(), GCC.format("-Wall")).marks()
    assert (mark.kind, mark.value) == (MarkKind.NOT_INSTRUMENTED, "compile_lines")


@pytest.mark.parametrize(
    "other",
    [
        GCC.format("-fsanitize=address"),
        "==16779== Memcheck, a memory error detector",
        "========= COMPUTE-SANITIZER",
    ],
)
def test_one_instrumented_line_or_a_tool_that_needs_none_takes_the_proof_away(other):
    assert feed(Reader(), GCC.format("-Wall") + "\n" + other).marks() == []


@pytest.mark.parametrize(
    "line",
    [
        "/usr/bin/cc -o CMakeFiles/CMakeTmp/a.o -c a.c",
        "gcc -c conftest.c -o conftest.o",
        "c++ -c build/_deps/fmt-src/a.cc -o a.o",
        "c++ @flags.rsp -c a.cc -o a.o",
        "echo c++ compiles",
    ],
)
def test_probes_foreign_code_and_unseen_flags_prove_nothing(line):
    assert feed(Reader(), line).marks() == []


def test_a_flood_of_errors_is_bounded_and_keeps_both_ends():
    flood = "\n".join(f"src/a.cpp:{n}:1: error: x" for n in range(1, 1001))
    numbers = [mark.number for mark in feed(Reader(), flood).marks()]
    assert len(numbers) == build.FIRST + build.LAST
    assert (numbers[0], numbers[-1]) == (1, 1000)


@pytest.mark.parametrize("flags", HALTING)
@pytest.mark.parametrize("line", [GCC, "+ cmake -B build -DCMAKE_CXX_FLAGS='{}'", "  CXXFLAGS: {}"])
def test_compile_flags_tell_whether_undefined_behaviour_ends_the_process(line, flags):
    assert kinds(line.format(flags)) == [MarkKind.HALTS]


@pytest.mark.parametrize("flags", GOING_ON)
def test_flags_that_let_some_of_it_go_on_tell_nothing(flags):
    assert kinds(GCC.format(flags)) == []


def test_a_flood_of_stops_is_bounded_and_keeps_both_ends():
    flood = "\n".join(f"make: *** [Makefile:{n}: t] Error 1" for n in range(1, 1001))
    numbers = [mark.number for mark in feed(Reader(), flood).marks()]
    assert (len(numbers), numbers[0], numbers[-1]) == (build.FIRST + build.LAST, 1, 1000)
