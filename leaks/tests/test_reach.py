"""What suppression rules would hide of the reports of a log, and how sure that is."""

import pytest

from leaks.evidence import Frame, Report, Stack
from leaks.parsing.dispatch import read
from leaks.reach import compile_rules, matches, reach
from leaks.rule_sets import Certainty, RuleSet
from leaks.rule_types import TSAN_TYPES, Suppressor
from leaks.rules import parse_rules, suppressor_of
from leaks.words import Role

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
    assert ready.frame("engine::Pool::grow()", "/src/pool.cpp", None).is_certain
    assert ready.frame("engine::Cache::fill()", "/src/cache.cpp", None).rule is None
    assert ready.frame(None, None, "/opt/build/engine_tests").certainty is UNDECIDABLE
    assert ready.frame("other_077", None, None).rule == parse_rules("\n" * 78 + "leak:other_077")[0]


# --- ThreadSanitizer -------------------------------------------------------------------------------------------------

RACE = b"""==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x7b04 by thread T2:
    #0 net::bump() /src/net.cpp:4 (engine_tests+0x1139)
    #1 second /src/main.cpp:9 (engine_tests+0x1239)

  Previous read of size 8 at 0x7b04 by thread T1 (mutexes: write M9):
    #0 net::total() /src/net.cpp:5 (engine_tests+0x1149)
    #1 first /src/main.cpp:8 (engine_tests+0x1229)

  As if synchronized via sleep:
    #0 usleep <null> (engine_tests+0x31)
    #1 nap /src/nap.cpp:1 (engine_tests+0x32)

  Location is global 'net::counter' of size 8 at 0x5580 (engine_tests+0x4040)

  Mutex M9 (0x5581) created at:
    #0 pthread_mutex_init <null> (engine_tests+0x33)
    #1 make_lock /src/lock.cpp:1 (engine_tests+0x34)

  Thread T2 (tid=9, running) created by main thread at:
    #0 pthread_create <null> (engine_tests+0x35)
    #1 launch /src/launch.cpp:1 (engine_tests+0x36)

SUMMARY: ThreadSanitizer: data race /src/net.cpp:4 in net::bump()
==================
"""


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("race:net::bump", (1, CERTAIN)),
        ("race:net::total", (1, CERTAIN)),
        ("race:^second$", (1, CERTAIN)),
        ("race:net.cpp", (1, CERTAIN)),
        ("race:engine_tests", (1, CERTAIN)),
        ("race:/engine_tests", (1, CERTAIN)),
        ("race:^/opt/build/engine", (1, POSSIBLE)),  # the folder of a module is not printed
        ("race:net::counter", (1, CERTAIN)),
        ("race_top:net::bump", (1, CERTAIN)),
        ("race_top:net::total", (1, CERTAIN)),
        ("race_top:second", None),
        ("race:engine_tests\nrace:net::bump", (2, CERTAIN)),  # here the module is asked for last
        ("race_top:bump\nrace:net.cpp", (2, CERTAIN)),
        ("race_top:bump\nrace:total", (1, CERTAIN)),  # each stack is done with before the next
        ("race:launch", None),
        ("race:make_lock", None),
        ("race:nap", None),
        ("mutex:net::bump", None),
        ("thread:launch", None),
    ],
)
def test_a_race_is_known_by_its_two_sides_and_its_variable(rules: str, found: tuple[int, str] | None) -> None:
    assert told(rules, list(read([RACE]).reports), Suppressor.TSAN) == [found]


def test_a_module_of_which_another_log_prints_the_folder() -> None:
    rules, reports = parse_rules("race:^/opt/build/engine"), read([RACE]).reports
    (match,) = reach(rules, reports, modules=["/opt/build/engine_tests"])
    assert match.is_certain


def thread_report(kind: str, *others: tuple[Role, str], detail: str = "") -> Report:
    stacks = tuple(Stack(role, (Frame(name, name, f"/src/{name}.cpp"),)) for role, name in others)
    return Report("tsan", kind, 1, "", (Frame("own", "own", "/src/own.cpp"),), stacks, detail=detail)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("data-race-on-vptr", "race"),
        ("heap-use-after-free", "race"),
        ("lock-order-inversion", "deadlock"),
        ("thread-leak", "thread"),
        ("double-lock", "mutex"),
        ("destroy-of-locked-mutex", "mutex"),
        ("signal-unsafe-call", "signal"),
        ("signal-spoils-errno", "signal"),
    ],
)
def test_each_kind_has_its_type(kind: str, word: str) -> None:
    types = [name for name in TSAN_TYPES if told(f"{name}:own", [thread_report(kind)], Suppressor.TSAN) != [None]]
    assert types == [word, *(["race_top"] if word == "race" else [])]


def test_of_a_lock_order_the_stacks_that_acquire_count() -> None:
    order = "Cycle in lock order graph: M1 (0x1) => M2 (0x2) => M1"
    report = thread_report(
        "lock-order-inversion",
        (Role.OTHER, "acquired"),
        (Role.PREVIOUS_ACCESS, "held"),
        (Role.OTHER, "created"),
        detail=order,
    )
    for name, hidden in (("acquired", True), ("held", True), ("created", False)):
        assert (told(f"deadlock:{name}", [report]) == [(1, CERTAIN)]) is hidden


def test_what_a_library_calls_may_be_ignored() -> None:
    access = (Frame("memcpy", "memcpy", module="libtsan.so"), Frame("send", "send", "/v.c", module="/opt/libvendor.so"))
    assert told("called_from_lib:libvendor", [Report("tsan", "data-race", 1, "", access)]) == [(1, POSSIBLE)]
    assert told("called_from_lib:libvendor", [Report("tsan", "data-race", 1, "", access[1:])]) == [None]


# --- AddressSanitizer and UndefinedBehaviorSanitizer -----------------------------------------------------------------

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


# --- Valgrind --------------------------------------------------------------------------------------------------------

LOST = (
    Frame("malloc", "malloc", module="/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"),
    Frame("grow", "Pool::grow(int)", "pool.cpp", 12),
    Frame("fill", "fill", "cache.c", 40),
    Frame("main", "main", "main.cpp", 3),
)


def lost(kind: str = "valgrind-definitely-lost", detail: str = "") -> Report:
    return Report("valgrind", kind, 1, "", LOST, bytes=64, objects=1, detail=detail)


def block(*lines: str, kind: str = "Memcheck:Leak") -> str:
    return "\n".join(["{", "   a name", f"   {kind}", *(f"   {line}" for line in lines), "}", ""])


@pytest.mark.parametrize(
    ("lines", "certainty"),
    [
        (("fun:malloc",), CERTAIN),
        (("fun:mal*c",), CERTAIN),
        (("fun:malloc", "fun:_ZN4Pool4growEi", "fun:fill"), CERTAIN),
        (("fun:malloc", "fun:*grow*", "fun:fi?l", "fun:main"), CERTAIN),
        (("...", "fun:fill"), CERTAIN),
        (("fun:malloc", "...", "fun:main"), CERTAIN),
        (("fun:malloc", "...", "fun:fill", "...", "fun:main"), CERTAIN),
        (("obj:*vgpreload*", "fun:*"), CERTAIN),
        (("fun:malloc", "src:pool.cpp", "src:*.c"), CERTAIN),
        (("fun:malloc", "src:pool.cpp:12"), CERTAIN),
        (("fun:malloc", "obj:*"), CERTAIN),
        (("fun:malloc", "obj:/opt/build/engine_tests"), POSSIBLE),
        (("...", "fun:main", "fun:(below main)"), POSSIBLE),
        (("fun:fill",), None),
        (("fun:malloc", "fun:fill"), None),
        (("fun:malloc", "fun:Pool::grow*"), None),
        (("fun:malloc", "src:pool.cpp:13"), None),
        (("...", "fun:main", "fun:fill"), None),
        (("match-leak-kinds: definite", "fun:malloc"), CERTAIN),
        (("match-leak-kinds: possible,indirect", "fun:malloc"), None),
        (("match-leak-kinds: all", "fun:malloc"), CERTAIN),
    ],
)
def test_a_block_matches_from_the_innermost_frame_on(lines: tuple[str, ...], certainty: str | None) -> None:
    assert told(block(*lines), [lost()]) == [(1, certainty) if certainty else None]


@pytest.mark.parametrize(
    ("kind", "report", "hidden"),
    [
        ("Memcheck:Addr4", lost("valgrind-invalid-read", "Invalid read of size 4"), True),
        ("Memcheck:Addr8", lost("valgrind-invalid-read", "Invalid read of size 4"), False),
        ("Memcheck:Addr4", lost("valgrind-invalid-write", "Invalid write of size 4"), True),
        ("Memcheck:Cond", lost("valgrind-uninitialised-condition"), True),
        ("Memcheck:Value8", lost("valgrind-uninitialised-value", "Use of uninitialised value of size 8"), True),
        ("Memcheck:Free", lost("valgrind-mismatched-free"), True),
        ("Helgrind:Race", lost("data-race", "Possible data race during read of size 4"), True),
        ("drd:ConflictingAccess", lost("data-race", "Conflicting load by thread 1"), True),
        ("drd:ConflictingAccess", lost("data-race", "Possible data race during read of size 4"), False),
        ("Helgrind:Race", lost(), False),
        ("Other,Memcheck:Leak", lost(), True),
        ("Other:Leak", lost(), False),
    ],
)
def test_a_block_is_about_one_kind_of_error(kind: str, report: Report, hidden: bool) -> None:
    assert told(block("fun:malloc", kind=kind), [report]) == [(1, CERTAIN) if hidden else None]


def test_a_system_call_is_named_in_full() -> None:
    report = lost("valgrind-syscall-param", "Syscall param write(buf) points to uninitialised byte(s)")
    assert told(block("write(buf)", "fun:malloc", kind="Memcheck:Param"), [report]) == [(1, CERTAIN)]
    assert told(block("read(buf)", "fun:malloc", kind="Memcheck:Param"), [report]) == [None]


def test_the_last_block_is_tried_first_and_what_matched_goes_to_the_head() -> None:
    one, two = block("match-leak-kinds: possible", "fun:malloc"), block("fun:malloc")
    possible, definite = lost("valgrind-possibly-lost"), lost()
    assert told(one + two, [definite, possible]) == [(7, CERTAIN), (7, CERTAIN)]
    assert told(two + one, [definite, possible, definite]) == [(1, CERTAIN), (1, CERTAIN), (1, CERTAIN)]
    assert told(two + one, [possible, definite, possible]) == [(6, CERTAIN), (1, CERTAIN), (1, CERTAIN)]


def test_a_block_that_valgrind_would_refuse_hides_nothing() -> None:
    assert told(block("..."), [lost()]) == [None]


# --- Whose rules -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "suppressor"),
    [
        ("leak:a", Suppressor.LSAN),
        ("# a comment\nrace:a\nmutex:b", Suppressor.TSAN),
        ("interceptor_via_lib:a", Suppressor.ASAN),
        ("null:a\nsigned-integer-overflow:b", Suppressor.UBSAN),
        (block("fun:a"), Suppressor.VALGRIND),
        ("leak:a\nrace:b\nrace:c", Suppressor.TSAN),
        ("nonsense", None),
        ("", None),
    ],
)
def test_a_file_says_by_its_form_whose_it_is(rules: str, suppressor: Suppressor | None) -> None:
    assert suppressor_of(parse_rules(rules)) is suppressor
