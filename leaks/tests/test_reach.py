"""What suppression rules would hide of the reports of a log, and how sure that is."""

from dataclasses import replace

import pytest

from leaks.evidence import Frame, Report
from leaks.parsing.dispatch import read
from leaks.reach import compile_rules, matches, reach
from leaks.rule_sets import Certainty, RuleSet
from leaks.rule_types import Suppressor
from leaks.rules import parse_rules, suppressor_of

CERTAIN, POSSIBLE, UNDECIDABLE = Certainty
OPENING = "==7==ERROR: LeakSanitizer: detected memory leaks\n\n"
# A program of gcc's, which prints no module where it knows a line.
POOL = """Direct leak of 64 byte(s) in 1 object(s) allocated from:
    #0 0x7f1 in __interceptor_malloc ../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x552 in engine::Pool::grow(int) /src/engine/pool.cpp:12
    #2 0x553 in engine::Cache::fill() /src/engine/cache.cpp:40
    #3 0x554 in main /src/main.cpp:3

"""
HANGING = """Indirect leak of 32 byte(s) in 2 object(s) allocated from:
    #0 0x7f1 in __interceptor_malloc ../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x562 in engine::Entry::make() /src/engine/entry.cpp:5
    #2 0x563 in main /src/main.cpp:9

"""
NAMELESS = """Direct leak of 16 byte(s) in 1 object(s) allocated from:
    #0 0x7f1  (/usr/lib/libasan.so.8+0xb89cf)
    #1 0x571  (/opt/build/engine_tests+0x1139)
    #2 0x572  (/lib/x86_64-linux-gnu/libc.so.6+0x27249)

"""
VENDOR = """Direct leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x7f1 in malloc (/opt/build/engine_tests+0xa414e)
    #1 0x581 in codec_open /vendor/codec.c:7
    #2 0x582 in main /src/main.cpp:11
    #3 0x583  (/lib/x86_64-linux-gnu/libc.so.6+0x27249)
    #4 0x584 in _start (/opt/build/engine_tests+0x1f30)

"""
TIE = VENDOR.replace("codec_open /vendor/codec.c:7", "codec_open (/opt/build/libvendor.so+0x1139)").replace(
    "8 byte", "4 byte"
)


def leak_log(*records: str) -> list[Report]:
    text = OPENING + "".join(records) + "SUMMARY: AddressSanitizer: 1 byte(s) leaked in 1 allocation(s).\n"
    return list(read([text.encode()]).reports)


def told(rules: str, reports: list[Report], suppressor: Suppressor | None = None) -> list[tuple[int, str] | None]:
    """For each report the line of the rule and how sure that is."""
    found = reach(parse_rules(rules), reports, suppressor)
    return [(match.rule.line, str(match.certainty)) if match.rule else None for match in found]


# --- LeakSanitizer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        ("leak:engine::Pool::grow", 1),
        ("leak:pool.cpp", 1),
        ("leak:/src/engine/", 1),
        ("leak:^engine::Pool::grow(int)$", 1),
        ("leak:^main$", 1),
        ("leak:Pool*grow", 1),
        ("leak:main\nleak:Cache\nleak:Pool", 3),  # the count belongs to the innermost frame that matches,
        ("leak:pool.cpp\nleak:Pool", 2),  # there to the function before the file,
        ("leak:Pool\nleak:grow", 1),  # and for one text to the first rule of the file
        ("leak:interceptor_malloc\nleak:main", 1),
        ("leak:^../../src\nleak:main", 1),
    ],
)
def test_the_innermost_frame_that_matches_gives_the_hit_to_the_first_rule(rules: str, line: int) -> None:
    assert told(rules, leak_log(POOL)) == [(line, CERTAIN)]


@pytest.mark.parametrize(
    "rules",
    [
        "leak:Socket",
        "leak:^Pool",
        "leak:grow$",
        "leak:pool.cpp:12",
        "race:Pool",
        "mutex:Pool",
        "leak:engine::Pool # once",
        "",
    ],
)
def test_what_matches_no_text_hides_nothing(rules: str) -> None:
    assert told(rules, leak_log(POOL), Suppressor.LSAN) == [None]


def test_a_frame_that_prints_no_module_may_be_in_one_that_a_rule_names() -> None:
    assert told("leak:libvendor.so", leak_log(POOL, VENDOR)) == [(1, POSSIBLE)] * 2
    assert told("leak:libvendor", leak_log(POOL, VENDOR)) == [(1, POSSIBLE)] * 2


def test_a_module_that_the_log_prints_elsewhere_may_be_that_of_any_frame() -> None:
    assert told("leak:engine_te", leak_log(POOL, VENDOR)) == [(1, POSSIBLE), (1, CERTAIN)]


SHORT = POOL.replace("engine::Pool::grow(int) /src/engine/pool.cpp", "grow my src/pool (1).cpp")


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("leak:^/opt/build", POSSIBLE),
        ("leak:/engine_tests$", POSSIBLE),
        ("leak:build/", POSSIBLE),
        ("leak:/src/engine/", CERTAIN),
        ("leak:/opt/build/tests.cpp", None),  # the path of a source file
        ("leak:build/Pool::", None),
        ("leak:build", None),
    ],
)
def test_a_path_may_be_that_of_a_program_that_the_log_never_prints(rules: str, found: Certainty | None) -> None:
    assert told(rules, leak_log(POOL)) == [(1, found) if found else None]


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("leak:/opt/build/engine_tests", POSSIBLE),
        ("leak:^/opt/", POSSIBLE),
        ("leak:build/", POSSIBLE),
        ("leak:build/plug", POSSIBLE),  # a library may lie beside the program
        ("leak:/opt/*/plug", POSSIBLE),
        ("leak:^/srv", None),
        ("leak:other/", None),
        ("leak:opt/plug", None),
    ],
)
def test_where_each_program_is_printed_a_path_elsewhere_is_none(rules: str, found: Certainty | None) -> None:
    assert told(rules, leak_log(POOL, VENDOR))[0] == ((1, found) if found else None)


def test_a_program_is_known_of_one_process_and_not_of_another() -> None:
    other = leak_log(POOL)[0]
    assert told("leak:^/srv", [*leak_log(VENDOR), replace(other, pid=8)]) == [(1, POSSIBLE)] * 2


def test_what_is_known_of_programs_otherwise_is_used() -> None:
    rules = parse_rules("leak:^/srv\nleak:^/opt/")
    (match,) = reach(rules, leak_log(POOL), modules=["/opt/build/engine_tests"])
    assert (match.rule, match.certainty, match.rivals) == (rules[1], POSSIBLE, ())


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("leak:^grow$", CERTAIN),
        ("leak:my src", CERTAIN),
        ("leak:(1).cpp$", CERTAIN),
        ("leak:^grow my$", None),
        ("leak:^src", None),
    ],
)
def test_a_path_with_blanks_begins_where_the_name_ends(rules: str, found: Certainty | None) -> None:
    assert told(rules, leak_log(SHORT)) == [(1, found) if found else None]


@pytest.mark.parametrize("pattern", ["^Pool::operator new$", "^my pool.cpp$", "^pool.cpp$", "^Pool::operator new my$"])
def test_where_a_path_may_begin_in_several_places_each_is_possible(pattern: str) -> None:
    log = leak_log(POOL.replace("engine::Pool::grow(int) /src/engine/", "Pool::operator new my "))
    assert told(f"leak:{pattern}", log) == [(1, POSSIBLE)]
    assert told("leak:Pool::operator", log) == [(1, CERTAIN)]


@pytest.mark.parametrize("rules", ["leak:Pool", "leak:libvendor.so", "leak:/opt/build", "leak:pool.cpp"])
def test_without_frames_nothing_can_be_decided(rules: str) -> None:
    unread = [replace(report, frames=()) for report in leak_log(POOL, HANGING)]
    assert told(rules, unread) == [(1, UNDECIDABLE)] * 2


def test_a_cut_stack_may_hold_what_a_rule_names() -> None:
    cut = [replace(report, frames=report.frames[:2], truncated=True) for report in leak_log(POOL)]
    assert told("leak:Cache", cut) == [(1, UNDECIDABLE)]
    assert told("leak:Pool", cut) == [(1, CERTAIN)]


def test_another_report_ties_a_function_to_its_module() -> None:
    assert told("leak:libvendor.so", leak_log(VENDOR, TIE)) == [(1, CERTAIN)] * 2
    assert told("leak:libvendor.so", leak_log(VENDOR)) == [(1, POSSIBLE)]


def test_a_module_rule_may_take_the_hit_of_a_function_rule() -> None:
    (match,) = reach(parse_rules("leak:libvendor.so\nleak:Pool"), leak_log(POOL))
    assert (match.rule.line if match.rule else 0, match.certainty) == (2, CERTAIN)
    assert [rule.line for rule in match.rivals] == [1]


def test_without_names_a_function_rule_cannot_be_decided() -> None:
    assert told("leak:Pool", leak_log(NAMELESS)) == [(1, UNDECIDABLE)]
    assert told("leak:engine_tests", leak_log(NAMELESS)) == [(1, CERTAIN)]
    assert told("leak:libvendor.so", leak_log(NAMELESS)) == [None]


def test_where_the_symbolizer_works_a_nameless_frame_of_the_system_has_no_name() -> None:
    assert told("leak:Pool", leak_log(VENDOR)) == [None]


@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("/opt/build/engine_tests", None),  # it has names for the frame below
        ("/lib/x86_64-linux-gnu/libstdc++.so.6", None),
        ("/opt/build/libstripped.so", (1, UNDECIDABLE)),
    ],
)
def test_a_nameless_frame_stays_so_where_its_module_has_names(module: str, found: tuple[int, str] | None) -> None:
    assert told("leak:Pool", leak_log(VENDOR.replace("in codec_open /vendor/codec.c:7", f" ({module}+0x99)"))) == [
        found
    ]


def test_what_lies_in_no_module_is_asked_for_by_that_by_newer_runtimes() -> None:
    assert told("leak:unknown", leak_log(VENDOR.replace("/opt/build/engine_tests+0x1f30", "<unknown module>"))) == [
        (1, POSSIBLE)
    ]


def test_what_hangs_on_a_suppressed_block_may_vanish_with_it() -> None:
    assert told("leak:Pool", leak_log(POOL, HANGING)) == [(1, CERTAIN), (1, POSSIBLE)]
    assert told("leak:Entry", leak_log(POOL, HANGING)) == [None, (1, CERTAIN)]
    assert told("leak:Socket", leak_log(POOL, HANGING)) == [None, None]


def test_of_a_relative_path_the_beginning_is_not_printed() -> None:
    relative = leak_log(POOL.replace("/src/engine/pool.cpp", "engine/pool.cpp"))
    assert told("leak:engine/pool.cpp", relative) == [(1, CERTAIN)]
    assert told("leak:^engine/pool.cpp", relative) == [(1, POSSIBLE)]
    assert told("leak:^./engine/pool.cpp", relative) == [(1, POSSIBLE)]


def test_newer_runtimes_do_not_print_what_an_interceptor_begins_with() -> None:
    shortened = leak_log(POOL.replace("__interceptor_", ""))
    assert told("leak:malloc", shortened) == [(1, CERTAIN)]
    assert told("leak:^malloc$", shortened) == [(1, POSSIBLE)]
    assert told("leak:^__interceptor", shortened) == [(1, POSSIBLE)]
    assert told("leak:^main$", shortened) == [(1, CERTAIN)]


def test_one_report_alone() -> None:
    (report,) = leak_log(POOL)
    assert matches(parse_rules("leak:Pool"), report).is_certain
    assert matches(parse_rules("nonsense"), report).rule is None


def test_other_reports_than_leaks_are_left_alone() -> None:
    report = Report("asan", "heap-use-after-free", 1, "", (Frame("f", "Pool"),))
    assert told("leak:Pool", [report]) == [None]


def test_distinct_frames_are_soon_asked() -> None:
    ready = compile_rules(parse_rules("leak:Pool\n" + "".join(f"leak:other_{number:03}\n" for number in range(100))))
    assert isinstance(ready, RuleSet)
    assert ready.hits("engine::Pool::grow()", "/src/pool.cpp", None)
    assert not ready.hits("engine::Cache::fill()", "/src/cache.cpp", None)
    assert ready.hits("engine::Pool::operator new my", "src/a.cpp", None)
    assert not RuleSet(parse_rules("leak:new my"), Suppressor.LSAN).hits("Pool::operator new my", "src/a.cpp", None)
    assert ready.frame("engine::Pool::grow()", "/src/pool.cpp", None).is_certain
    assert ready.frame("engine::Cache::fill()", "/src/cache.cpp", None).rule is None
    assert ready.frame(None, None, "/opt/build/engine_tests").certainty is UNDECIDABLE
    assert ready.frame("other_077", None, None).rule == parse_rules("\n" * 78 + "leak:other_077")[0]


# --- Whose rules -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "suppressor"),
    [
        ("leak:a", Suppressor.LSAN),
        ("# a comment\nrace:a\nmutex:b", Suppressor.TSAN),
        ("interceptor_via_lib:a", Suppressor.ASAN),
        ("null:a\nsigned-integer-overflow:b", Suppressor.UBSAN),
        ("{\n a\n Memcheck:Leak\n fun:a\n}\n", Suppressor.VALGRIND),
        ("leak:a\nrace:b\nrace:c", Suppressor.TSAN),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_file_says_by_its_form_whose_it_is(rules: str, suppressor: Suppressor | None) -> None:
    assert suppressor_of(parse_rules(rules)) is suppressor
