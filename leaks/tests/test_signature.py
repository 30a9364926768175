"""What must keep a signature and what must change it."""

import pytest

from leaks.evidence import Frame, Report
from leaks.identity import RECIPE
from leaks.own import Ownership
from leaks.parsing.frames import understood
from leaks.signature import identify, of_any

POOL = (
    "in __interceptor_aligned_alloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:113",
    "in AllocAligned64 src/backend.cpp:20",
    "in Pool::Get(unsigned long) include/pool.h:151",
    "in Buf::Buf(Pool&, unsigned long) (/b/t+0x1012e)",
)
ROPE = "in rope::BuildCache(int) src/rope.cpp:192"
BODY = "in rope::Forward(int) src/rope.cpp:438"
TEST = "in DOCTEST_ANON_FUNC_15 tests/t.cpp:5"


def report(*frames: str, kind: str = "direct-leak", **values: object) -> Report:
    parsed = tuple(map(understood, frames))
    return Report(**{"tool": "lsan", "kind": kind, "line": 1, "headline": "", "frames": parsed, **values})  # type: ignore[arg-type]


def key(*frames: str, kind: str = "direct-leak", **values: object) -> str:
    return identify(report(*frames, kind=kind, **values), Ownership()).hash


BASE = (*POOL, ROPE, BODY, TEST)
SAME = {
    "another line": (*POOL, "in rope::BuildCache(int) src/rope.cpp:207", BODY, TEST),
    "another folder": (*POOL, "in rope::BuildCache(int) /builds/7/src/rope.cpp:192:14", BODY, TEST),
    "another test": (*POOL, ROPE, BODY, "in DOCTEST_ANON_FUNC_17 tests/t.cpp:9"),
    "another entry point": (*POOL, ROPE, "in rope::Warm() src/warm.cpp:3", TEST),
    "a clone suffix": (*POOL, "in rope::BuildCache(int) [clone .constprop.0] src/rope.cpp:192", BODY, TEST),
    "a part suffix": (*POOL, "in rope::BuildCache(int) (.part.2) src/rope.cpp:192", BODY, TEST),
    "other parameters": (*POOL, "in rope::BuildCache(long, int) src/rope.cpp:192", BODY, TEST),
    "no lines": (*POOL, "in rope::BuildCache(int) (/b/t+0x44)", BODY, TEST),
    "a helper inlined away": (*POOL[:2], *POOL[3:], ROPE, BODY, TEST),
    "a shorter stack": (*POOL, ROPE),
    "another allocator": ("in operator new(unsigned long) (/b/t+0x1)", *POOL[1:], ROPE, BODY, TEST),
}
OTHER = {
    "another caller of the pool": (*POOL, "in rope::Mask(int) src/rope.cpp:192", BODY, TEST),
    "another class": (*POOL, "in mask::BuildCache(int) src/rope.cpp:192", BODY, TEST),
}


@pytest.mark.parametrize("frames", SAME.values(), ids=SAME.keys())
def test_a_signature_survives(frames: tuple[str, ...]) -> None:
    assert key(*frames) == key(*BASE)


@pytest.mark.parametrize("frames", OTHER.values(), ids=OTHER.keys())
def test_a_signature_differs_for(frames: tuple[str, ...]) -> None:
    assert key(*frames) != key(*BASE)


def test_direct_and_indirect_records_of_one_place_share_a_signature() -> None:
    assert key(*BASE, kind="indirect-leak") == key(*BASE)


def test_bytes_objects_pids_and_counts_stay_out() -> None:
    assert key(*BASE, bytes=8, objects=1, pid=7, count=3) == key(*BASE, bytes=70_000, objects=9, pid=8)


def test_another_family_is_another_bug() -> None:
    assert key(*BASE, kind="heap-use-after-free") != key(*BASE)


def test_closure_numbers_and_inline_namespaces_stay_out() -> None:
    assert key("in app::Run()::$_3::operator()() const src/a.cpp:1") == key(
        "in app::Run()::$_7::operator()() const src/a.cpp:2"
    )
    assert key("in app::f(std::__1::vector<int>) src/a.cpp:1") == key("in app::f(std::vector<int>) src/a.cpp:1")


def test_a_constructor_called_by_a_test_owns_its_leak() -> None:
    """Else every leak that tests construct directly would be one."""
    test = "in DOCTEST_ANON_FUNC_15 tests/t.cpp:5"
    assert key("in A::A() src/a.cpp:1", test) != key("in B::B() src/b.cpp:1", test)


def test_an_access_is_known_by_its_own_top_frame_whoever_called() -> None:
    top = "in ThreadPool::Loop() src/pool.cpp:5"
    assert key(top, "in a() src/a.cpp:1", kind="heap-use-after-free") == key(
        top, "in b() src/b.cpp:1", kind="heap-use-after-free"
    )


def test_a_report_without_own_frames_is_known_by_its_foreign_names() -> None:
    cuda = "in cuInit (/usr/lib/libcuda.so.1+0x12)"
    assert key("in malloc (/b/t+0x1)", cuda) == key("in malloc (/b/t+0x2)", cuda.replace("0x12", "0x18"))


def test_a_report_without_names_is_known_by_module_and_offset() -> None:
    first = "/usr/lib/x86_64-linux-gnu/libcuda.so.1+0x2f4a0"
    assert key("in malloc (/b/t+0x1)", f" ({first})") == key(
        "in malloc (/b/t+0x1)", " (/lib/libcuda.so.1+0x2f4a0)", " (/b/t+0x9)"
    )
    assert key(f" ({first})") != key(" (/lib/libcuda.so.1+0x2f4b0)")


def test_a_place_without_a_stack_counts_by_its_file() -> None:
    def ub(line: int, file: str) -> str:
        place = Frame(f"{file}:{line}", file=file, line=line)
        return identify(report(kind="undefined-behavior:null", place=place), Ownership()).hash

    assert ub(3, "/x/src/a.cpp") == ub(9, "src/a.cpp")
    assert ub(3, "src/a.cpp") != ub(3, "src/b.cpp")


def test_a_report_of_a_sentence_alone_counts_without_its_numbers() -> None:
    first = identify(report(kind="unrecognised", detail="FooSanitizer: lost 12 at 0x1f"), Ownership())
    second = identify(report(kind="unrecognised", detail="FooSanitizer: lost 77 at 0x2f"), Ownership())
    assert first.hash == second.hash


def test_the_title_names_the_owner_and_its_caller() -> None:
    identity = identify(report(ROPE, BODY, TEST), Ownership())
    assert identity.title == "leak · rope::BuildCache ← rope::Forward"
    assert identity.public_id == f"LKS-{identity.hash[:10].upper()}"
    assert identity.recipe == RECIPE


def test_a_stack_that_ends_in_the_standard_library_counts_by_its_names_and_not_by_its_size() -> None:
    new = "in operator new(unsigned long) (/b/t+0x1)"
    grow = "in std::string::_M_mutate(unsigned long) (/usr/lib/libstdc++.so.6+0x14)"
    make = "in std::string::_M_construct(char) (/usr/lib/libstdc++.so.6+0x18)"
    assert key(new, grow, bytes=8) == key(new, grow, bytes=99)
    assert key(new, grow) != key(new, make)
    sized = report(new, grow, headline="Indirect leak of 707 byte(s) in 7 object(s) allocated from:")
    assert identify(sized, Ownership()).title == "leak · std::string::_M_mutate"


STRANGERS = {
    "a library of the system": (
        "in malloc (/b/t+0x1)",
        "in png_read (/usr/lib/libpng.so+0x2)",
        "in load (/usr/lib/libgtk.so+0x3)",
    ),
    "an own function below": ("in malloc (/b/t+0x1)", "in png_read (/usr/lib/libpng.so+0x2)", ROPE),
    "the runtime alone": ("in malloc (/b/t+0x1)", "(/lib/libc.so.6+0x9)"),
    "no name": ("(/usr/lib/libx.so+0x9)", "(/usr/lib/libx.so+0x19)"),
    "nothing": (),
}


@pytest.mark.parametrize("kind", ["direct-leak", "indirect-leak", "cuda-leak", "heap-use-after-free"])
@pytest.mark.parametrize("frames", STRANGERS.values(), ids=STRANGERS)
def test_leaks_of_nobody_get_by_the_short_way_what_the_long_way_gives(kind: str, frames: tuple[str, ...]) -> None:
    for values in ({"bytes": 8, "objects": 1}, {"bytes": 8, "objects": 1, "truncated": True}, {}):
        for roots in ((), ("src/",)):
            found = report(*frames, kind=kind, **values)
            assert identify(found, Ownership(roots)) == of_any(found, Ownership(roots))
