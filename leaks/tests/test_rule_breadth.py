"""When a rule is too broad: it names no function and hides more than one bug. By its text alone, and by what is known of the project."""

import pytest

from leaks.rule_breadth import OwnCode, too_broad
from leaks.rules import line_rule, parse_rule

# What every report of a program shows, so that a lane with such a rule proves nothing.
BROAD = [
    *("leak:", "leak:*", "leak:^*$", "leak:$", "leak:a", "leak:::", "leak:*a*b*", ".cpp", "cpp", "std::"),
    *("leak:.cpp", "leak:cpp", "leak:*.cpp", "leak:.cpp$", "leak:.cc", "leak:.hpp", "leak:.cu", "leak:.rs", "leak:^/", "leak:../"),
    *("leak:src", "leak:/src/", "leak:include/", "leak:^/home/", "leak:/tmp/", "leak:^/tmp", "leak:build/", "leak:/builds/"),
    *("leak:/home/runner/work/", "leak:tests/", "leak:test", "leak:workspace"),
    *("leak:.so", "leak:lib", "leak:lib*.so", "leak:.dylib", "leak:libc.so", "leak:libc.so.6", "leak:libasan", "leak:libstdc++"),
    *("leak:libpthread", "leak:ld-linux", "leak:libc++.so", "leak:/lib/x86_64-linux-gnu/", "leak:/usr/lib/", "leak:libclang_rt"),
    *("leak:libsanitizer", "leak:asan_malloc_linux", "leak:sanitizer_common", "leak:libc_start_call_main.h"),
    *("leak:malloc", "leak:alloc", "leak:^malloc$", "leak:operator new", "leak:interceptor", "leak:__interceptor_", "leak:_Znwm"),
    *("leak:posix_memalign", "leak:aligned_alloc", "leak:strdup", "leak:__interceptor_malloc"),
    *("leak:main", "leak:^main$", "leak:_start", "leak:__libc_start", "leak:start_thread", "leak:clone", "leak:execute_native_thread"),
    *("leak:testing::", "leak:testing::Test::Run", "leak:TestBody", "leak:RUN_ALL_TESTS", "leak:doctest::", "leak:Catch::", "leak:DOCTEST_ANON"),
    *("leak:int", "leak:std::", "leak:^std::", "leak:void", "leak:unsigned long", "leak:const", "leak:operator()", "leak:^operator()$"),
    *("leak:lambda", "leak:(anonymous namespace)", "leak:std::vector", "leak:basic_string", "leak:allocator", "leak:shared_ptr"),
    *("race:.cpp", "race:main", "race:libtsan", "race:std::", "race_top:.cpp", "race_top:std::", "mutex:^main$", "thread:^main$"),
    *("called_from_lib:*", "called_from_lib:.so", "called_from_lib:libc.so", "interceptor_via_lib:libasan", "interceptor_via_lib:lib"),
    *("interceptor_via_fun:main", "interceptor_via_fun:interceptor", "interceptor_name:*", "odr_violation:*", "vptr:.cpp", "null:src/"),
    *("alloc_dealloc_mismatch:operator new", "alloc_dealloc_mismatch:main"),
]  # fmt: skip
# What names one function, one file or a library that not every program has.
NARROW = [
    *("leak:engine::Pool::get", "leak:Pool::get", "leak:^ab$", "leak:^engine::Pool::get(unsigned long)$", "leak:engine::*::get"),
    *("leak:src/pool.cpp", "leak:pool.cpp", "leak:/home/runner/work/engine/engine/src/pool.cpp", "leak:src/device/", "leak:tests/pool_test.cpp"),
    *("leak:libcuda.so", "leak:libfontconfig.so.1", "leak:/usr/lib/dri/i965_dri.so", "leak:libpython3.11", "leak:libQt5Core"),
    *("leak:*tls_get_addr*", "leak:*pthread_exit*", "*_os_trace*", "engine::Pool::get", "leak:Shape::clone", "leak:main_loop"),
    *("leak:domain::run", "leak:xmalloc_pool", "leak:pool_alloc", "leak:Interceptor::grow", "leak:std::locale::classic", "leak:LibraryCache"),
    *("leak:std::vector<engine::Node, std::allocator<engine::Node> >::push_back", "leak:testing_pool", "leak:TestBodyCache", "leak:Größe"),
    *("race:bump", "race:^g_first$", "race:engine::Queue::push", "called_from_lib:libvendor.so", "deadlock:engine::Lock"),
    *("interceptor_via_fun:engine::copy", "interceptor_name:memcpy", "odr_violation:^kTable$", "odr_violation:main_table", "vptr:engine::Node"),
    *("null:main", "race_top:main", "signed-integer-overflow:src/hash.cpp", "alignment:libvendor.so", "interceptor_via_lib:libvendor.so"),
]  # fmt: skip


@pytest.mark.parametrize("rule", BROAD)
def test_what_stands_in_reports_that_have_nothing_to_do_with_each_other_is_too_broad(rule):
    assert too_broad(line_rule(rule, 1))


@pytest.mark.parametrize("rule", NARROW)
def test_what_names_one_thing_of_a_program_is_not(rule):
    assert too_broad(line_rule(rule, 1)) is None


def test_the_reason_names_what_was_met_and_no_character_that_cannot_be_seen():
    reasons = {rule: too_broad(line_rule(rule, 1)) or "" for rule in BROAD}
    assert (
        reasons["leak:operator new"]
        == "it matches the frame operator new(unsigned long), which nearly every report has"
    )
    assert reasons["leak:.cpp"] == "it matches every source file of a language"
    assert reasons["leak:libc.so"] == "it matches /lib/x86_64-linux-gnu/libc.so.6, which every program has loaded"
    assert all(reason.isprintable() for reason in reasons.values())


# --- By what is known of the project ---------------------------------------------------------------------------------

FILES = ("/x/proj/net/a.cpp", "/x/proj/net/b.cpp", "/x/proj/db/c.cpp", "/x/proj/ui/d.cpp")
FUNCTIONS = ("net::Session::open", "net::Session::read", "db::Session::read", "view::Session::draw")


@pytest.mark.parametrize(
    ("rule", "own", "broad"),
    [
        ("leak:Session", OwnCode(functions=FUNCTIONS), True),
        ("leak:Session::", OwnCode(functions=FUNCTIONS), True),
        ("leak:net::", OwnCode(functions=FUNCTIONS), True),
        ("leak:view::", OwnCode(functions=FUNCTIONS), False),
        ("leak:net::Session::open", OwnCode(functions=FUNCTIONS), False),
        ("leak:Session::read", OwnCode(functions=FUNCTIONS), False),
        ("leak:draw", OwnCode(functions=("draw_a", "draw_b", "draw_c")), True),
        ("leak:draw", OwnCode(functions=("draw_a", "draw_b")), False),
        ("leak:draw", OwnCode(functions=("draw", "draw", "draw")), False),
        ("leak:draw", OwnCode(functions=(*(f"draw_{n}" for n in range(8)), "paint", "print")), False),
        ("leak:/x/proj/", OwnCode(roots=("/x/proj/code",)), True),
        ("leak:/x/proj/code/a.cpp", OwnCode(roots=("/x/proj/code",)), False),
        ("leak:/x/proj/", OwnCode(files=FILES), True),
        ("leak:proj", OwnCode(files=FILES), True),
        ("leak:proj/net/", OwnCode(files=FILES), False),
        ("leak:/x/proj/ui/d.cpp", OwnCode(files=FILES[3:] * 4), False),
        ("leak:/x/proj/", OwnCode(files=FILES[2:]), False),
        ("leak:unit", OwnCode(modules=("/x/out/unit_checks",)), True),
        ("leak:unit_of_work", OwnCode(modules=("/x/out/unit_checks",)), False),
    ],
)
def test_what_a_lane_knows_of_its_own_code_says_which_rule_hides_nearly_all_of_it(rule, own, broad):
    assert bool(too_broad(line_rule(rule, 1), own)) is broad


# --- Valgrind --------------------------------------------------------------------------------------------------------


def block(*lines: str, kind: str = "Memcheck:Leak") -> str:
    return "\n".join(("{", "name", kind, *lines, "}"))


@pytest.mark.parametrize(
    "text",
    [
        block("..."),
        block("fun:*"),
        block("fun:malloc"),
        block("fun:malloc", "..."),
        block("fun:_Znwm", "fun:ma*"),
        block("match-leak-kinds: definite", "fun:*alloc", "...", "fun:main"),
        block("...", "fun:main"),
        block("fun:*", "fun:main"),
        block("fun:malloc", "...", "fun:(below main)"),
        block("...", "fun:start_thread"),
        block("...", "fun:_ZN*"),
        block("...", "fun:_ZNSt*"),
        block("...", "obj:*"),
        block("...", "obj:*.so*"),
        block("...", "obj:*/libc.so*"),
        block("...", "src:*.cpp"),
        *(block("fun:*", kind=kind) for kind in ("Memcheck:Cond", "Helgrind:Race", "drd:ConflictingAccess")),
    ],
)
def test_a_block_without_a_line_that_says_something_is_too_broad(text):
    assert too_broad(parse_rule(text))


@pytest.mark.parametrize(
    "text",
    [
        block("fun:main", kind="Memcheck:Cond"),
        block("fun:malloc", "fun:main"),
        block("fun:malloc", "...", "fun:_ZN6engine4Pool3getEm"),
        block("...", "fun:*4Pool3get*"),
        block("fun:malloc", "...", "obj:*/libvendor.so*"),
        block("...", "fun:pool_get", "...", "fun:main"),
        block("...", "src:pool.cpp"),
        block("fun:malloc", "...", "obj:/lib/x86_64-linux-gnu/libc.so.6", "fun:pool_get"),
    ],
)
def test_a_block_is_laid_upon_the_innermost_frames_and_one_line_is_enough(text):
    assert too_broad(parse_rule(text)) is None


def test_of_a_block_one_line_that_says_something_outweighs_the_module_of_the_tests():
    own = OwnCode(modules=("/x/out/unit_checks",))
    assert too_broad(parse_rule(block("fun:malloc", "...", "obj:*/unit_checks")), own)
    assert too_broad(parse_rule(block("fun:pool_get", "...", "obj:*/unit_checks")), own) is None
