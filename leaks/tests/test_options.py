import pytest

from leaks.parsing import options
from leaks.parsing.options import Reader, parse
from leaks.tests.feeding import feed, needed

SET = [
    (
        "export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1",
        "ASAN_OPTIONS",
        {"detect_leaks": "0", "abort_on_error": "1"},
    ),
    ("+ export ASAN_OPTIONS=detect_leaks=0", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    (
        "++ export 'UBSAN_OPTIONS=print_stacktrace=1 halt_on_error=1'",
        "UBSAN_OPTIONS",
        {"print_stacktrace": "1", "halt_on_error": "1"},
    ),
    (
        "  ASAN_OPTIONS: detect_leaks=1:protect_shadow_gap=0",
        "ASAN_OPTIONS",
        {"detect_leaks": "1", "protect_shadow_gap": "0"},
    ),
    ("+ ASAN_OPTIONS=detect_leaks=1 ./run_tcl_suite.sh", "ASAN_OPTIONS", {"detect_leaks": "1"}),
    ("+ CC=clang ASAN_OPTIONS=detect_leaks=1 ./t", "ASAN_OPTIONS", {"detect_leaks": "1"}),
    (" MSAN_OPTIONS=exitcode=77", "MSAN_OPTIONS", {"exitcode": "77"}),
    (
        "+ env FOO=1 LSAN_OPTIONS=suppressions=lsan.supp,max_leaks=3 ./x",
        "LSAN_OPTIONS",
        {"suppressions": "lsan.supp", "max_leaks": "3"},
    ),
    (
        "declare -x TSAN_OPTIONS=\"suppressions='/a b:c':history_size=7\"",
        "TSAN_OPTIONS",
        {"suppressions": "/a b:c", "history_size": "7"},
    ),
    ("+ docker run --rm -e ASAN_OPTIONS=detect_leaks=0 image ./t", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ("ASAN_OPTIONS=detect_leaks=1 halt_on_error=0", "ASAN_OPTIONS", {"detect_leaks": "1", "halt_on_error": "0"}),
    ("cd build && ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 ctest", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ("/usr/bin/cmake -E env ASAN_OPTIONS=detect_leaks=0 /build/t", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ('$env:ASAN_OPTIONS="detect_leaks=0"', "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ("-- ASAN_OPTIONS: detect_leaks=0", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ('bash -c "ASAN_OPTIONS=detect_leaks=0 ./t"', "ASAN_OPTIONS", {"detect_leaks": "0"}),
    (
        'set_tests_properties(a PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")',
        "ASAN_OPTIONS",
        {"detect_leaks": "0"},
    ),
    ("mpirun -x ASAN_OPTIONS=detect_leaks=0 ./t", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ("(ASAN_OPTIONS=detect_leaks=0 ./x)", "ASAN_OPTIONS", {"detect_leaks": "0"}),
    ("+ TSAN_OPTIONS= ./t", "TSAN_OPTIONS", {}),
    ('GORACE="exitcode=0 log_path=/tmp/race" go test ./...', "GORACE", {"exitcode": "0", "log_path": "/tmp/race"}),
    ("+ valgrind --leak-check=no -q ./t --leak-check=full", "VALGRIND_OPTS", {"leak-check": "no"}),
    ("$ time valgrind --error-exitcode=1 --quiet ./t --x=1", "VALGRIND_OPTS", {"error-exitcode": "1", "quiet": ""}),
    (
        'Memory check command: /usr/bin/valgrind "--log-file=/b/vg.%p" "-q" "--show-leak-kinds=none"',
        "VALGRIND_OPTS",
        {"log-file": "/b/vg.%p", "show-leak-kinds": "none"},
    ),
    ("+ VALGRIND_OPTS='--leak-check=no --quiet' ctest", "VALGRIND_OPTS", {"leak-check": "no", "quiet": ""}),
    (
        "compute-sanitizer --tool memcheck --error-exitcode 1 ./t --tool x",
        "compute-sanitizer",
        {"tool": "memcheck", "error-exitcode": "1"},
    ),
    ("+ ASAN_OPTIONS=detect_leaks=0 cmake -E env ./t", "ASAN_OPTIONS", {"detect_leaks": "0"}),
]
NOT_SET = [
    "    Hint: use TSAN_OPTIONS=second_deadlock_stack=1 to get more informative warning message",
    "==1==HINT: For debugging, try setting environment variable LSAN_OPTIONS=verbosity=1:log_threads=1",
    "HINT: if you don't care about these errors you may set ASAN_OPTIONS=detect_odr_violation=0",
    "==1==ASan runtime does not come first; preload it with LD_PRELOAD. (ASAN_OPTIONS=verify_asan_link_order=0)",
    "# without ASAN_OPTIONS=protect_shadow_gap=0 nothing runs",
    "+ grep ASAN_OPTIONS=detect_leaks=0 log",
    "see XASAN_OPTIONS=foo=1",
    "$ASAN_OPTIONS=foo=1",
    "==1== Rerun with --leak-check=full to see details of leaked memory",
    "see the manual of valgrind --leak-check=no",
    "    Start 1: valgrind --leak-check=no",
    "    by 0x4846828: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)",
    "+ ASAN_OPTIONS=detect_leaks=0 cmake --build build",
    "$ ASAN_OPTIONS=detect_leaks=0 ./configure --enable-x",
]


def read(line):
    return feed(Reader({}), line).finish()


@pytest.mark.parametrize(("line", "name", "values"), SET)
def test_it_reads_what_a_shell_or_a_list_of_variables_sets(line, name, values):
    assert read(line) == {name: values}
    assert needed(options, line)


@pytest.mark.parametrize("line", NOT_SET)
def test_a_hint_or_a_search_sets_nothing(line):
    assert read(line) == {}


@pytest.mark.parametrize(
    "text", ["a=1:b=2", "a=1,b=2", "a=1 b=2", "a=1\nb=2", "a=1\tb=2", "a='1':b=\"2\"", "a=0:b=2:a=1"]
)
def test_any_separator_parts_options_quotes_protect_and_the_later_one_wins(text):
    assert parse(text) == {"a": "1", "b": "2"}


@pytest.mark.parametrize("text", ["", ":", "detect_leaks", "=", "::=:,"])
def test_what_is_no_option_is_left_out(text):
    assert parse(text) == {}


def test_the_log_stands_nearer_than_the_environment_that_came_with_it():
    reader = Reader({"ASAN_OPTIONS": "detect_leaks=1:exitcode=0", "PATH": "/bin", "TSAN_OPTIONS": ""})
    feed(reader, "+ export ASAN_OPTIONS=detect_leaks=0")
    assert reader.finish() == {"ASAN_OPTIONS": {"detect_leaks": "0", "exitcode": "0"}, "TSAN_OPTIONS": {}}


def test_a_hostile_line_adds_a_bounded_number_of_options():
    line = "+ export ASAN_OPTIONS=" + ":".join(f"o{n}=1" for n in range(5000))
    assert len(read(line)["ASAN_OPTIONS"]) <= options.MOST_NAMES


def test_what_is_unset_is_forgotten():
    reader = feed(Reader({}), "+ export ASAN_OPTIONS=detect_leaks=0\n+ unset ASAN_OPTIONS")
    assert reader.finish() == {}
    assert feed(reader, "+ export ASAN_OPTIONS=exitcode=0").finish() == {"ASAN_OPTIONS": {"exitcode": "0"}}


@pytest.mark.parametrize("text", ["a=yes", "a=true", "a=1", "a=0:a=1", 'b="x:y",a=1', "suppressions='/a b':a=1"])
def test_the_last_value_stands_as_it_was_written(text):
    assert parse(text)["a"] in {"yes", "true", "1"}
