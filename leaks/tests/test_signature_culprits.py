"""Whose bug it is, where the stack alone does not say it: what is restored, and who of several is known for it."""

from collections.abc import Sequence

import pytest

from leaks.culprits import identity_name, scope_of, steps
from leaks.evidence import Frame, Report, Stack
from leaks.own import Ownership
from leaks.parsing.frames import understood
from leaks.signature import identify
from leaks.words import Role

TEST = "in DOCTEST_ANON_FUNC_15 tests/t.cpp:5"
MAIN = "in main tests/main.cpp:5"
DELETE = "in operator delete(void*) (/b/t+0x1)"
MALLOC = "in malloc (/b/t+0x1)"


def frames(*texts: str) -> tuple[Frame, ...]:
    return tuple(map(understood, texts))


def names(*texts: str) -> list[str]:
    return [step.name for step in steps(frames(*texts), Ownership())]


def tokens(
    kind: str, primary: Sequence[str], *others: tuple[Role, Sequence[str]], plumbing: Sequence[str] = ()
) -> list[str]:
    stacks = tuple(Stack(role, frames(*texts), f"T{number}") for number, (role, texts) in enumerate(others, 1))
    report = Report("x", kind, 1, "", frames=frames(*primary), stacks=stacks)
    return identify(report, Ownership(plumbing=plumbing)).text.split("\n")[1:]


# --- Names that compilers print differently --------------------------------------------------------------------------

SAME_STEPS = {
    "a function in a namespace": (
        ["in net::drop(int*) src/a.cpp:3:1", "in net::Pump::run(int) src/a.cpp:9:1"],
        ["in drop src/a.cpp:3", "in net::Pump::run(int) src/a.cpp:9"],
        ["net::drop", "net::Pump::run"],
    ),
    "in an unnamed namespace": (
        ["in net::(anonymous namespace)::drop(int*) src/a.cpp:3:1", "in net::run(int) src/a.cpp:9:1"],
        ["in drop src/a.cpp:3", "in net::run(int) src/a.cpp:9"],
        ["net::drop", "net::run"],
    ),
    "a class in an unnamed namespace": (
        ["in net::(anonymous namespace)::Session::beat() src/a.cpp:3:1", "in net::run(int) src/a.cpp:9:1"],
        ["in beat src/a.cpp:3", "in net::run(int) src/a.cpp:9"],
        ["net::beat", "net::run"],
    ),
    "a closure of a thread": (
        [
            "in net::run(int)::$_3::operator()() const src/a.cpp:3:1",
            "in void std::__invoke_impl<void, net::run(int)::$_3>(std::__invoke_other, net::run(int)::$_3&&) /usr/include/c++/12/bits/invoke.h:61",
            "in start_thread nptl/pthread_create.c:442",
        ],
        [
            "in operator() src/a.cpp:3",
            "in __invoke_impl<void, net::run(int)::<lambda()> > /usr/include/c++/12/bits/invoke.h:61",
            "in start_thread nptl/pthread_create.c:442",
        ],
        ["net::run"],
    ),
    "a static function in a closure": (
        ["in net::drop(int*) src/a.cpp:3:1", "in net::run(int)::$_3::operator()() const src/a.cpp:3:1"],
        [
            "in drop src/a.cpp:3",
            "in operator() src/a.cpp:3",
            "in __invoke_impl<void, net::run(int)::<lambda()>&> /usr/include/c++/12/bits/invoke.h:61",
        ],
        ["net::drop", "net::run"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("clang", "gcc", "expected"), SAME_STEPS.values(), ids=SAME_STEPS.keys())
def test_gcc_and_clang_agree_on(clang, gcc, expected):
    assert names(*clang) == names(*gcc) == expected


def test_a_closure_that_was_inlined_into_the_library_is_found_in_its_template_arguments():
    state = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<net::run(int)::{lambda()#1}> > >::_M_run()"
    assert names(f"in {state} (/b/t+0x1)", " (/lib/libstdc++.so.6+0xd44a2)") == ["net::run"]
    handler = "std::_Function_handler<void (), net::run(int)::{lambda()#1}>::_M_invoke(std::_Any_data const&)"
    assert names(f"in {handler} (/b/t+0x1)", "in net::Pool::loop() src/pool.cpp:3") == ["net::run", "net::Pool::loop"]


def test_a_library_that_stores_a_closure_owns_no_step():
    made = "std::function<void ()>::function<net::run(int)::{lambda()#1}, void>(net::run(int)::{lambda()#1}&&)"
    assert names(f"in {made} (/b/t+0x1)", "in net::start() src/a.cpp:3") == ["net::start"]


def test_a_bare_name_whose_caller_is_elsewhere_stays_bare():
    assert names("in drop src/a.cpp:3", "in net::run(int) src/b.cpp:9") == ["drop", "net::run"]
    assert names("in drop src/a.c:3", "in run src/a.c:9") == ["drop", "run"]


def test_a_closure_nobody_names_is_known_by_its_file():
    assert names("in operator() src/a.cpp:3") == ["operator() a.cpp"]


IDENTITY_NAMES = [
    ("net::run(int)::$_3::operator()() const", "net::run"),
    ("net::run(int)::{lambda(int)#2}::operator()(int) const", "net::run"),
    ("relay::run::{closure#0}::{closure#1}", "relay::run"),
    ("example.com/ledger.(*Ledger).Add.func1.2", "example.com/ledger.(*Ledger).Add"),
    ("closure #1 in closure #2 in Run.go(_:)", "Run.go"),
    ("__22-[Ledger add:to:]_block_invoke", "-[Ledger add:to:]"),
    ("net::(anonymous namespace)::drop(int*)", "net::drop"),
    ("net::(anonymous namespace)::Session::Session()", "net::Session"),
    ("(anonymous namespace)::Session::beat()", "Session::beat"),
    ("(anonymous namespace)::drop()", "drop"),
    ("{lambda()#1}::operator()()", "{lambda}::operator()"),
]  # fmt: skip


@pytest.mark.parametrize(("printed", "name"), IDENTITY_NAMES, ids=[printed[:40] for printed, _ in IDENTITY_NAMES])
def test_the_name_that_identity_goes_by(printed, name):
    assert identity_name(printed) == name


def test_a_scope_is_what_stands_around_the_class():
    assert scope_of("a::b::Pump::run") == "a::b"
    assert scope_of("a::pump::pump") == scope_of("a::pump::~pump") == "a"
    assert scope_of("a::run") == "a"
    assert scope_of("Pump::run") == scope_of("run") == scope_of("") == ""


# --- Sides of a race -------------------------------------------------------------------------------------------------

WRITER = ["in net::Meter::add(int) src/a.cpp:3", "in net::write() src/a.cpp:9"]
READER = ["in net::Meter::get() src/a.cpp:5", "in net::read() src/a.cpp:19"]


def test_a_race_is_one_from_either_side():
    there = tokens("data-race", WRITER, (Role.PREVIOUS_ACCESS, READER))
    assert (
        there == tokens("data-race", READER, (Role.PREVIOUS_ACCESS, WRITER)) == ["net::Meter::add", "net::Meter::get"]
    )


def test_a_race_of_one_function_with_itself_is_known_by_it():
    assert tokens("data-race", WRITER, (Role.PREVIOUS_ACCESS, WRITER)) == ["net::Meter::add"]


def test_a_side_that_was_not_restored_or_is_a_test_leaves_the_other():
    for other in ([], [TEST], ["in memcpy (/b/t+0x1)"]):
        assert tokens("data-race", WRITER, (Role.PREVIOUS_ACCESS, other)) == ["net::Meter::add"]
        assert tokens("data-race", other, (Role.PREVIOUS_ACCESS, WRITER)) == ["net::Meter::add"]


def test_a_shared_counter_that_is_plumbing_leaves_its_callers():
    found = tokens("data-race", WRITER, (Role.PREVIOUS_ACCESS, READER), plumbing=["net::Meter::add", "net::Meter::get"])
    assert found == ["net::read", "net::write"]


def test_plumbing_that_a_test_calls_itself_still_owns_what_nobody_else_does():
    assert tokens("data-race", [WRITER[0], TEST], plumbing=["net::Meter::add"]) == ["net::Meter::add"]


def test_a_lock_order_is_the_set_of_those_who_acquire():
    lock = "in pthread_mutex_lock (/b/t+0x1)"
    one, other = [lock, "in net::a() src/a.cpp:1"], [lock, "in net::b() src/a.cpp:1"]
    made = (Role.THREAD_CREATED, ["in net::start() src/a.cpp:1"])
    assert tokens("lock-order-inversion", one, (Role.OTHER, other), made) == ["net::a", "net::b"]
    assert tokens("lock-order-inversion", other, (Role.OTHER, one), made) == ["net::a", "net::b"]
    assert tokens("lock-order-inversion", [lock], (Role.OTHER, [lock]), made) == ["net::start"]


# --- Blocks and values -----------------------------------------------------------------------------------------------

HELPER, OWNER = "in net::drop(int*) src/a.cpp:3", "in net::load(int) src/b.cpp:9"


def test_a_helper_that_releases_what_its_caller_made_is_not_the_culprit():
    made = (Role.ALLOCATED, [MALLOC, OWNER, TEST])
    for kind in ("double-free", "alloc-dealloc-mismatch", "new-delete-type-mismatch"):
        assert tokens(kind, [DELETE, HELPER, OWNER, TEST], made) == ["net::load"]
        assert tokens(kind, [DELETE, OWNER, TEST], made) == ["net::load"], "the helper was inlined"


def test_who_releases_what_somebody_else_made_is_the_culprit():
    made = (Role.ALLOCATED, [MALLOC, "in net::make() src/c.cpp:1", TEST])
    assert tokens("alloc-dealloc-mismatch", [DELETE, HELPER, OWNER, TEST], made) == ["net::drop"]


def test_of_an_act_that_was_inlined_into_its_test_the_act_before_tells():
    freed = (Role.FREED, [DELETE, HELPER, "in net::other() src/c.cpp:1", TEST])
    assert tokens("double-free", [DELETE, TEST], freed) == ["net::drop"]


def test_an_uninitialized_value_used_by_a_test_is_known_by_who_stored_or_made_it():
    assert tokens("use-of-uninitialized-value", [TEST], (Role.STACK_VARIABLE, [OWNER])) == ["net::load"]
    assert tokens("use-of-uninitialized-value", [HELPER, TEST], (Role.STACK_VARIABLE, [OWNER])) == ["net::drop"]


def test_what_a_test_does_itself_is_told_apart_by_its_file_or_name_and_by_who_made_the_block():
    made = (Role.ALLOCATED, [MALLOC, OWNER, TEST])
    assert tokens("heap-use-after-free", [TEST], made) == ["{test} t.cpp", "(allocated)", "net::load"]
    assert tokens("heap-use-after-free", [TEST]) == ["{test} t.cpp"]
    assert tokens("heap-use-after-free", ["in Pump_Stops_Test::TestBody() (/b/t+0x1)"]) == ["Pump_Stops_Test"]
    assert tokens("heap-use-after-free", [MAIN]) == ["main main.cpp"]


def test_a_helper_of_a_test_owns_what_nobody_else_does():
    assert tokens("direct-leak", [MALLOC, "in make_session() tests/fixtures.cpp:3", TEST]) == ["make_session"]


def test_a_stack_overflow_is_known_by_all_that_recur_whoever_came_last():
    turn = ["in a::parse(int) src/a.cpp:1", "in a::value(int) src/a.cpp:2"]
    one = tokens("stack-overflow", ["in a::leaf() src/a.cpp:3", *turn * 40, MAIN])
    assert one == tokens("stack-overflow", [turn[1], *turn * 40, MAIN]) == ["a::parse", "a::value"]
    assert tokens("stack-overflow", ["in a::deep() src/a.cpp:3", MAIN]) == ["a::deep"]


# --- Where there is no own step --------------------------------------------------------------------------------------


def test_a_stack_without_any_name_is_known_by_all_its_offsets():
    pool = [" (/b/t+0xcb5cf)", " (/b/t+0x10)"]
    assert tokens("direct-leak", [*pool, " (/b/t+0x20)"]) == ["t+0xcb5cf", "t+0x10", "t+0x20"]
    assert tokens("direct-leak", [*pool, " (/b/t+0x20)"]) != tokens("direct-leak", [*pool, " (/b/t+0x30)"])


def test_a_summary_without_its_stack_counts_like_the_stack():
    place = Frame("src/a.cpp:3 in net::drop", function="net::drop", file="src/a.cpp", line=3)
    lost = identify(Report("asan", "heap-use-after-free", 1, "", place=place), Ownership())
    whole = identify(Report("asan", "heap-use-after-free", 1, "", frames=frames(HELPER)), Ownership())
    assert lost.hash == whole.hash


def test_a_global_defined_twice_is_known_by_its_name_and_files():
    def of(*files: str) -> str:
        text = "; ".join(f"limits {file} in build/x.so" for file in files)
        place = Frame(text, function="limits", file=files[0].partition(":")[0])
        return identify(Report("asan", "odr-violation", 1, "", place=place), Ownership()).text

    assert (
        of("src/a.cpp:3", "src/b.cpp:4:2")
        == of("/x/src/a.cpp:9", "/x/src/b.cpp:1")
        == "odr-violation\nlimits\na.cpp\nb.cpp"
    )
    assert of("src/a.cpp:3", "src/b.cpp:4") != of("src/a.cpp:3", "src/c.cpp:4")


# --- Reports that the end of the log cut -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts", [[], ["0"], ["0x"], ["in __interceptor_malloc (/b/t+0x1)"], ["(libx.so.2"], [" (/b/t+0x1)"]]
)
def test_how_far_a_cut_report_came_says_nothing_before_the_first_telling_frame(texts):
    cut = Report("lsan", "direct-leak", 1, "", frames=frames(*texts), truncated=True, detail="Direct leak of 8 byte")
    assert identify(cut, Ownership()).text == "leak\n(cut short)"
    assert identify(cut, Ownership()).title == "leak · (cut short)"
    assert identify(cut, Ownership()).own_frame is None


def test_a_pool_whose_caller_was_cut_off_is_not_taken_for_the_one_that_leaks():
    pool, user = "in dev::Pool::get() src/p.cpp:1", "in models::rope() src/r.cpp:1"

    def text(*texts: str, truncated: bool) -> str:
        return identify(
            Report("lsan", "direct-leak", 1, "", frames=frames(*texts), truncated=truncated), Ownership()
        ).text

    assert text(MALLOC, pool, truncated=True) == "leak\ndev::Pool::get\n(cut short)"
    assert text(MALLOC, pool, truncated=False) == "leak\ndev::Pool::get"
    assert text(MALLOC, pool, user, truncated=True) == text(MALLOC, pool, user, truncated=False)
